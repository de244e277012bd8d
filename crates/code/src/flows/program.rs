//! What is known of all functions before their values are followed.

use std::collections::{BTreeSet, HashMap};

use super::announced_accesses::{Bindings, bind};
use super::announces::Announces;
use super::body::Body;
use super::evaluate::{Facts, evaluate};
use super::pointers::{ANYWHERE, Reach};
use super::slots::Slots;
use super::value::{Position, Value};
use crate::image::Image;
use crate::isa::{ARGUMENTS, CallingConvention, Control, Registers};
use crate::{Callee, Code};

/// A function and what is known of it.
pub struct Known<'a> {
    /// Its code.
    pub body: Body<'a>,
    /// What its registers hold; none if its code cannot be followed.
    pub facts: Option<Facts>,
    /// Its accesses and their announcements.
    pub bindings: Bindings,
    /// Its frame.
    pub slots: Slots,
    /// Registers whose first value it may use.
    pub live: Registers,
    /// Registers that it may overwrite.
    pub overwrites: Registers,
    /// For each argument register: what it reads behind the pointer there.
    pub behind: [Reach; ARGUMENTS],
    /// What it writes there.
    pub left: [Reach; ARGUMENTS],
    /// Whether all callers give it a pointer into a frame there.
    pub framed: [bool; ARGUMENTS],
}

/// All functions.
pub struct Program<'a> {
    /// The file.
    pub image: &'a Image<'a>,
    /// How they call each other.
    pub convention: &'static CallingConvention,
    /// The functions.
    pub known: Vec<Known<'a>>,
    /// Their numbers, by where they begin.
    pub numbers: HashMap<u64, usize>,
    /// It may look at the error number.
    pub asks_for_errno: bool,
    /// It may have C++ streams that do not lead out of the process.
    pub has_streams_of_its_own: bool,
}

impl<'a> Program<'a> {
    /// Reads all functions.
    pub fn read(code: &'a Code, image: &'a Image<'a>) -> Program<'a> {
        let mut known = Vec::new();
        let mut numbers = HashMap::new();
        for function in code.functions() {
            let Some(body) = Body::read(code, image, function) else { continue };
            let mut facts = evaluate(&body, image).filter(|facts| is_clear(&body, facts));
            let bindings = match &mut facts {
                Some(facts) => bind(&body, facts, |facts, address| is_free(image, facts, address)),
                None => Bindings::default(),
            };
            numbers.insert(function.start, known.len());
            known.push(Known {
                body,
                facts,
                bindings,
                slots: Slots::default(),
                live: 0,
                overwrites: 0,
                behind: Default::default(),
                left: Default::default(),
                framed: [false; ARGUMENTS],
            });
        }
        let convention = image.instruction_set.convention();
        let calls = |means: fn(&str) -> bool| {
            let mut callees = known.iter().flat_map(|known: &Known<'_>| known.body.calls.values());
            callees.any(|callee| matches!(callee, Callee::Import(name) if means(name)))
        };
        let asks_for_errno = calls(|name| name == "__errno_location");
        let has_streams_of_its_own = calls(is_about_streams);
        let mut program =
            Program { image, convention, known, numbers, asks_for_errno, has_streams_of_its_own };
        program.reach();
        program.framed();
        for number in 0..program.known.len() {
            program.known[number].slots = program.slots(number);
        }
        program.overwrites();
        let callers = program.callers();
        let mut left: BTreeSet<usize> = (0..program.known.len()).collect();
        while let Some(number) = left.pop_last() {
            if program.live(number) {
                left.extend(&callers[number]);
            }
        }
        program
    }

    /// The number of the function that a call reaches.
    pub fn callee(&self, callee: &Callee) -> Option<usize> {
        match callee {
            Callee::Function(start) => self.numbers.get(start).copied(),
            _ => None,
        }
    }

    /// For each function, by number, those that call it.
    pub fn callers(&self) -> Vec<BTreeSet<usize>> {
        let mut callers = vec![BTreeSet::new(); self.known.len()];
        for (number, known) in self.known.iter().enumerate() {
            for callee in known.body.calls.values().filter_map(|callee| self.callee(callee)) {
                callers[callee].insert(number);
            }
        }
        callers
    }

    /// Whether an argument of a function of memory says how many bytes it touches. Otherwise what it finds there does.
    pub fn has_length(&self, known: &Known<'_>, place: usize) -> bool {
        let Callee::Import(name) = known.body.calls[&place] else { return true };
        !name.strip_suffix("_chk").unwrap_or(name).ends_with("strcpy")
    }

    /// How many bytes a function of memory touches, where its third argument says so.
    pub fn length(&self, known: &Known<'_>, place: usize) -> i64 {
        let Callee::Import(name) = known.body.calls[&place] else { return i64::MAX };
        let argument = if name.ends_with("bzero") { 1 } else { 2 };
        let facts = known.facts.as_ref().filter(|_| self.has_length(known, place));
        let length = facts.and_then(|facts| facts.values.as_constant(facts.arguments.get(&place)?[argument]));
        length.filter(|length| *length > 0).unwrap_or(i64::MAX)
    }

    fn slots(&self, number: usize) -> Slots {
        let known = &self.known[number];
        let Some(facts) = &known.facts else { return Slots::default() };
        let mut reached = Vec::new();
        for (place, arguments) in &facts.arguments {
            for value in arguments {
                if let Some(Position::At(offset)) = facts.values.position(*value) {
                    reached.push((offset, 1));
                }
            }
            if !known.body.calls.contains_key(place) {
                continue;
            }
            let (reads, writes) = self.touched(known, *place);
            for (argument, (offset, size)) in reads.into_iter().chain(writes) {
                if let Some(Position::At(start)) = facts.values.position(arguments[argument])
                    && (offset, size) != ANYWHERE
                    && size < i64::from(u32::MAX)
                {
                    reached.push((start + offset, size));
                }
            }
        }
        Slots::cut(&known.body, facts, &reached)
    }

    /// Finds out which registers functions may overwrite, by themselves and by what they call.
    fn overwrites(&mut self) {
        for known in &mut self.known {
            let own = known.body.semantics.iter().fold(0, |all, it| all | it.effect.writes);
            known.overwrites = if known.facts.is_some() { own } else { self.convention.volatile };
        }
        let callers = self.callers();
        let mut left: BTreeSet<usize> = (0..self.known.len()).collect();
        while let Some(number) = left.pop_last() {
            let of = |callee: &Callee| match self.callee(callee) {
                Some(callee) => self.known[callee].overwrites,
                None => self.convention.volatile,
            };
            let known = &self.known[number];
            let all = known.body.calls.values().fold(known.overwrites, |all, callee| all | of(callee));
            if std::mem::replace(&mut self.known[number].overwrites, all) != all {
                left.extend(&callers[number]);
            }
        }
    }

    /// Finds out which registers a function may use as they were given; says whether there are more than before.
    fn live(&mut self, number: usize) -> bool {
        let body = &self.known[number].body;
        let mut begins = vec![0; body.pieces.len()];
        let mut left: BTreeSet<usize> = (0..body.pieces.len()).collect();
        while let Some(piece) = left.pop_last() {
            let mut live: Registers =
                body.pieces[piece].next.iter().map(|next| begins[*next]).fold(0, |all, more| all | more);
            for place in body.pieces[piece].code.clone().rev() {
                let effect = &body.semantics[place].effect;
                match (body.calls.get(&place), body.code[place].control) {
                    (Some(callee), _) => live = self.live_before(callee, live),
                    (None, Control::Return) => live |= self.convention.returned,
                    (None, Control::JumpThrough(_)) => live |= self.convention.passed,
                    (None, _) => {}
                }
                if !body.calls.contains_key(&place) {
                    live &= !(effect.writes & !effect.keeps);
                }
                live |= effect.reads;
                live |= effect.memory.iter().fold(0, |all, memory| all | memory.registers);
            }
            if live != begins[piece] {
                begins[piece] = live;
                left.extend(&body.pieces[piece].before);
            }
        }
        let passed = self.convention.passed;
        let live = if self.known[number].facts.is_some() { begins[body.entrance] & passed } else { passed };
        std::mem::replace(&mut self.known[number].live, live) != live
    }

    fn live_before(&self, callee: &Callee, after: Registers) -> Registers {
        if let Some(callee) = self.callee(callee) {
            return after | self.known[callee].live;
        }
        let used = match Announces::of(callee) {
            Some(Announces::Access { .. } | Announces::Nothing) => self.convention.argument(0),
            _ => self.convention.passed,
        };
        (after & !self.convention.volatile) | used
    }
}

/// Whether a function is about C++ streams whose content the program may see again.
fn is_about_streams(name: &str) -> bool {
    ["tringstream", "fstream", "streambuf", "stringbuf", "filebuf", "syncbuf", "spanbuf"]
        .iter()
        .any(|it| name.contains(it))
}

/// Whether what lies at an address is known without an announcement: the function's own frame, data that never changes.
fn is_free(image: &Image<'_>, facts: &Facts, address: Value) -> bool {
    if matches!(facts.values.position(address), Some(Position::At(_) | Position::Somewhere)) {
        return true;
    }
    let fixed = [facts.convention.thread_pointer, facts.convention.canary];
    let is_of_thread = facts.values.in_thread_block(address).is_some_and(|at| fixed.contains(&Some(at)));
    is_of_thread || is_constant(image, facts, address)
}

/// Whether an address lies in data that never changes.
pub fn is_constant(image: &Image<'_>, facts: &Facts, address: Value) -> bool {
    facts.values.counted_from(address).is_some_and(|from| image.constant(from).is_some())
}

/// Whether all jumps are known: through a table, or out of the function with the frame gone.
fn is_clear(body: &Body<'_>, facts: &Facts) -> bool {
    let unclear = body.code.iter().enumerate().filter(|(place, it)| {
        matches!(it.control, Control::JumpThrough(_))
            && !body.switches.contains(place)
            && !body.calls.contains_key(place)
            && facts.tops.get(place).is_some_and(|top| *top != Some(0))
    });
    let returns_twice = |callee: &&&Callee| matches!(callee, Callee::Import(name) if name.contains("setjmp"));
    { unclear }.next().is_none() && !body.calls.values().any(|it| returns_twice(&it))
}
