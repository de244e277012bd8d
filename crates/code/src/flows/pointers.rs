//! What functions do with the pointers they are given, as far as these point into the frames of their callers.
//!
//! A compiler that knows that a callee does not keep a pointer need not announce what the caller does with its own
//! frame, so what goes through such a pointer has to be followed here.

use std::collections::BTreeSet;

use super::announces::{Announces, Atomic};
use super::evaluate::Facts;
use super::program::{Known, Program};
use super::value::{Position, Value};
use crate::Callee;
use crate::isa::{ALL_ARGUMENTS, ARGUMENTS};
use threadbare_library::{Extent, Format, Function, Range, Role, function, role};

/// How far from an argument's pointer a function reads or writes.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Reach {
    /// Offsets and sizes.
    pub ranges: BTreeSet<(i64, i64)>,
}

/// Offset and size of what may lie anywhere.
pub const ANYWHERE: (i64, i64) = (i64::MIN, i64::MAX);

/// Offset and size of a time to wait, behind a pointer to it.
pub const TIME: (i64, i64) = (0, 32);

impl Reach {
    const MOST: usize = 64;

    fn add(&mut self, range: (i64, i64)) -> bool {
        if self.ranges.contains(&ANYWHERE) {
            return false;
        }
        if range == ANYWHERE || self.ranges.len() >= Reach::MOST {
            self.ranges = BTreeSet::from([ANYWHERE]);
            return true;
        }
        self.ranges.insert(range)
    }
}

/// An argument, and offset and size of what is touched behind it.
type Touched = (usize, (i64, i64));

/// A range behind a pointer that is itself so far behind another one.
pub fn shifted(range: (i64, i64), by: Option<i64>) -> (i64, i64) {
    match by {
        Some(by) if range != ANYWHERE => (range.0.saturating_add(by), range.1),
        _ => ANYWHERE,
    }
}

/// The argument that an address is counted from, and the offset if it is known.
pub fn pointed(facts: &Facts, address: Value) -> Option<(usize, Option<i64>)> {
    let (register, offset) = facts.values.behind_entry(address)?;
    let argument = facts.convention.arguments.iter().position(|it| *it == register)?;
    Some((argument, offset))
}

impl Program<'_> {
    /// The parts of memory behind argument pointers that a call reads and writes: argument, offset and size.
    pub(super) fn touched(&self, known: &Known<'_>, place: usize) -> (Vec<Touched>, Vec<Touched>) {
        let callee = known.body.calls[&place];
        let all = |arguments: &[usize]| arguments.iter().map(|it| (*it, ANYWHERE)).collect();
        if let Some(Announces::Makes(Atomic::CompareInto, size)) = Announces::of(callee) {
            return (vec![(1, (0, size))], vec![(1, (0, size))]);
        }
        if let Some(callee) = self.callee(callee) {
            let list = |reach: &[Reach; ARGUMENTS]| {
                let ranges = |(argument, reach): (usize, &Reach)| {
                    reach.ranges.iter().map(move |range| (argument, *range)).collect::<Vec<_>>()
                };
                reach.iter().enumerate().flat_map(ranges).collect()
            };
            return (list(&self.known[callee].behind), list(&self.known[callee].left));
        }
        let Callee::Import(name) = callee else { return (Vec::new(), Vec::new()) };
        match role(name) {
            Role::Copies(to, from) => {
                let length = self.length(known, place);
                (vec![(from, (0, length))], vec![(to, (0, length))])
            }
            Role::Waits => (ALL_ARGUMENTS.into_iter().map(|argument| (argument, TIME)).collect(), Vec::new()),
            Role::Appends => (all(&[0, 1]), all(&[0])),
            Role::Fills => (Vec::new(), vec![(0, (0, self.length(known, place)))]),
            Role::Looks(2) => (all(&[0, 1]), Vec::new()),
            Role::Looks(_) | Role::Duplicates => (all(&[0]), Vec::new()),
            Role::Unknown if Announces::of(callee).is_none() => (all(&ALL_ARGUMENTS), Vec::new()),
            Role::Unknown => (Vec::new(), Vec::new()),
            _ => match function(name) {
                Some(row) => self.described(known, place, row),
                // Nobody has said what memory the functions of a family touch, except that those that steer have objects of their own.
                None if role(name) == Role::Steers => (Vec::new(), Vec::new()),
                None => (all(&ALL_ARGUMENTS), all(&ALL_ARGUMENTS)),
            },
        }
    }

    /// What a call touches whose row says so.
    fn described(&self, known: &Known<'_>, place: usize, row: &Function) -> (Vec<Touched>, Vec<Touched>) {
        let range = |range: Range| {
            let pointer = usize::from(range.pointer);
            match range.extent {
                Extent::Bytes(bytes) => vec![(pointer, (0, i64::from(bytes)))],
                Extent::Time => vec![(pointer, TIME)],
                Extent::Argument(argument) => {
                    let facts = known.facts.as_ref();
                    let given =
                        facts.and_then(|facts| Some(facts.arguments.get(&place)?[usize::from(argument)]));
                    let length = given.and_then(|given| facts?.values.as_constant(given));
                    vec![(
                        pointer,
                        length.filter(|length| *length > 0).map_or(ANYWHERE, |length| (0, length)),
                    )]
                }
                Extent::Rest => (pointer..ARGUMENTS).map(|argument| (argument, ANYWHERE)).collect(),
                _ => vec![(pointer, ANYWHERE)],
            }
        };
        let reads: Vec<Touched> = row.read_ranges().flat_map(range).collect();
        let mut writes: Vec<Touched> = row.written_ranges().flat_map(range).collect();
        // `%n` writes.
        let rest = row.read_ranges().filter(|it| it.extent == Extent::Rest);
        if !self.prints_plainly(known, place) {
            writes.extend(rest.flat_map(range));
        }
        (reads, writes)
    }

    /// Whether a call prints by a format that is known, and neither writes memory nor may refuse what it is given.
    pub(super) fn prints_plainly(&self, known: &Known<'_>, place: usize) -> bool {
        let format = || {
            let Callee::Import(name) = known.body.calls.get(&place)? else { return None };
            let rest = function(name)?.read_ranges().find(|it| it.extent == Extent::Rest)?;
            let facts = known.facts.as_ref()?;
            let address =
                facts.values.as_address(facts.arguments.get(&place)?[usize::from(rest.pointer) - 1])?;
            self.image.constant(address)?.split(|byte| *byte == 0).next()
        };
        format().is_some_and(Format::is_plain)
    }

    /// Finds out what functions touch behind the pointers that they are given.
    pub(super) fn reach(&mut self) {
        for known in &mut self.known {
            let Some(facts) = &known.facts else {
                for argument in ALL_ARGUMENTS {
                    known.behind[argument].add(ANYWHERE);
                    known.left[argument].add(ANYWHERE);
                }
                continue;
            };
            for (place, addresses) in facts.addresses.iter().enumerate() {
                for (memory, address) in known.body.semantics[place].effect.memory.iter().zip(addresses) {
                    let Some((argument, offset)) = pointed(facts, *address) else { continue };
                    let size = i64::from(memory.size);
                    let range = offset.filter(|_| size > 0).map_or(ANYWHERE, |offset| (offset, size));
                    if memory.read {
                        known.behind[argument].add(range);
                    }
                    if memory.written {
                        known.left[argument].add(range);
                    }
                }
            }
        }
        let callers = self.callers();
        let mut left: BTreeSet<usize> = (0..self.known.len()).collect();
        while let Some(number) = left.pop_last() {
            let (mut read, mut written) = (Vec::new(), Vec::new());
            let known = &self.known[number];
            let Some(facts) = &known.facts else { continue };
            for (place, arguments) in &facts.arguments {
                let is_given = arguments.iter().any(|value| pointed(facts, *value).is_some());
                if !is_given || !known.body.calls.contains_key(place) {
                    continue;
                }
                let (reads, writes) = self.touched(known, *place);
                let shift = |(argument, range): &Touched| {
                    let (mine, offset) = pointed(facts, arguments[*argument])?;
                    Some((mine, shifted(*range, offset)))
                };
                read.extend(reads.iter().filter_map(shift));
                written.extend(writes.iter().filter_map(shift));
            }
            let known = &mut self.known[number];
            let mut changed = false;
            for (argument, range) in read {
                changed |= known.behind[argument].add(range);
            }
            for (argument, range) in written {
                changed |= known.left[argument].add(range);
            }
            if changed {
                left.extend(&callers[number]);
            }
        }
    }

    /// Finds out which arguments are pointers into frames whoever calls.
    pub(super) fn framed(&mut self) {
        for known in &mut self.known {
            known.framed = [!known.body.function.is_pointed_to; ARGUMENTS];
        }
        let mut left: BTreeSet<usize> = (0..self.known.len()).collect();
        while let Some(caller) = left.pop_last() {
            let known = &self.known[caller];
            let mut not = Vec::new();
            for (place, callee) in &known.body.calls {
                let Some(callee) = self.callee(callee) else { continue };
                let gives = |argument: &usize| {
                    self.known[callee].framed[*argument] && !self.is_framed(known, *place, *argument)
                };
                not.extend(ALL_ARGUMENTS.into_iter().filter(gives).map(|argument| (callee, argument)));
            }
            for (callee, argument) in not {
                self.known[callee].framed[argument] = false;
                left.insert(callee);
            }
        }
    }

    fn is_framed(&self, known: &Known<'_>, place: usize, argument: usize) -> bool {
        let Some(facts) = &known.facts else { return false };
        // A call that is never reached does not count.
        let Some(arguments) = facts.arguments.get(&place) else { return true };
        let value = arguments[argument];
        let is_own = matches!(facts.values.position(value), Some(Position::At(_) | Position::Somewhere));
        is_own || pointed(facts, value).is_some_and(|(mine, _)| known.framed[mine])
    }
}
