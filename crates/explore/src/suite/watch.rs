//! Which functions of an executable are watched, and which announcements are taken out of its code.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use threadbare_code::{Announcement, Code, Inheritance};
use threadbare_coverage::cfp::{FunctionAddress, FunctionPair, inherit};

/// What makes measuring cheaper.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Optimizations {
    /// Functions that touch nothing but their own stack are not watched.
    pub skip_stack_only: bool,
    /// Functions that are concurrent with whatever their callers are concurrent with are not watched.
    pub skip_inherited: bool,
}

impl Default for Optimizations {
    fn default() -> Optimizations {
        Optimizations { skip_stack_only: true, skip_inherited: true }
    }
}

/// How the executable of a suite is watched.
pub struct Watch {
    code: Arc<Code>,
    inherits: Inheritance,
    /// Functions that touch nothing but their stack.
    on_stack: BTreeSet<FunctionAddress>,
    announcements: Arc<Vec<u64>>,
}

impl Watch {
    /// Decides what is watched.
    pub fn new(code: Code, optimizations: Optimizations) -> Watch {
        let inherits = if optimizations.skip_inherited { code.inheritance() } else { Inheritance::new() };
        let announced = || code.functions().iter().filter(|function| function.is_announced());
        let on_stack: BTreeSet<FunctionAddress> = announced()
            .filter(|function| optimizations.skip_stack_only && code.touches_only_its_stack(function))
            .map(|function| function.start)
            .collect();
        // A function without accesses is of no interest itself, but others may inherit from it.
        let bequeaths: BTreeSet<FunctionAddress> = inherits.values().flatten().copied().collect();
        let unwatched = |start: u64| {
            inherits.contains_key(&start) || on_stack.contains(&start) && !bequeaths.contains(&start)
        };
        let mut announcements = Vec::new();
        for function in code.functions() {
            let skipped = unwatched(function.part_of.unwrap_or(function.start));
            announcements.extend(function.announcements().filter_map(|(call, what)| match what {
                Announcement::Access => Some(call.at),
                Announcement::Entrance | Announcement::Exit => skipped.then_some(call.at),
                Announcement::Operation => None,
            }));
        }
        Watch { code: Arc::new(code), inherits, on_stack, announcements: Arc::new(announcements) }
    }

    /// The code that is watched.
    pub fn code(&self) -> &Code {
        &self.code
    }

    /// The same for workers, which may outlive whoever asks for it.
    pub(super) fn shared_code(&self) -> Arc<Code> {
        Arc::clone(&self.code)
    }

    /// The announcements that measuring does without.
    pub fn announcements(&self) -> Arc<Vec<u64>> {
        Arc::clone(&self.announcements)
    }

    /// How many functions are not watched because they inherit.
    pub fn inherited(&self) -> usize {
        self.inherits.len()
    }

    /// The announcements of accesses in functions that were not selected.
    pub fn announcements_outside(&self, selected: &BTreeSet<FunctionAddress>) -> Arc<Vec<u64>> {
        let is_left_out = |start: u64| !selected.contains(&start);
        let functions = self.code.functions().iter();
        let left_out = functions.filter(|it| is_left_out(it.part_of.unwrap_or(it.start)));
        let accesses = left_out.flat_map(|function| function.announcements());
        let only_announce = |what: &Announcement| *what == Announcement::Access;
        Arc::new(accesses.filter(|(_, what)| only_announce(what)).map(|(call, _)| call.at).collect())
    }

    /// Where functions lie that were not selected, in a process where the executable's addresses have this bias added.
    pub(super) fn outside(&self, selected: &BTreeSet<FunctionAddress>, bias: u64) -> Vec<Range<u64>> {
        let functions = self.code.functions().iter();
        let left_out = functions.filter(|it| !selected.contains(&it.part_of.unwrap_or(it.start)));
        left_out.map(|it| it.start.wrapping_add(bias)..it.end.wrapping_add(bias)).collect()
    }

    /// Adds what was not watched because it follows, and takes away what touches no memory.
    pub(super) fn complete(
        &self,
        pairs: &mut BTreeSet<FunctionPair>,
        executed: &mut BTreeSet<FunctionAddress>,
    ) {
        inherit(pairs, &self.inherits);
        pairs.retain(|pair| !pair.functions().iter().any(|function| self.on_stack.contains(function)));
        let mut new: Vec<FunctionAddress> = Vec::new();
        loop {
            let calls = |callers: &BTreeSet<u64>| callers.iter().any(|caller| executed.contains(caller));
            new.extend(self.inherits.iter().filter(|(_, callers)| calls(callers)).map(|(callee, _)| *callee));
            let known = executed.len();
            executed.extend(new.drain(..));
            if executed.len() == known {
                break;
            }
        }
        executed.retain(|function| !self.on_stack.contains(function));
    }
}
