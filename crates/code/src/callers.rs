//! Functions that can do at any time what their callers can.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::unavoidable_blocks::passes_through;
use crate::{Call, Callee, Code, CodeFunction};

/// For each function that inherits what its callers are concurrent with: these callers.
pub type Inheritance = BTreeMap<u64, BTreeSet<u64>>;

impl Code {
    /// The functions that need not be watched, because each of their callers surely calls them and synchronizes nowhere beside: whoever can run
    /// at the same time as a caller can run at the same time as they. Only functions whose entrances are announced, and
    /// whose callers are all known, are considered.
    pub fn inheritance(&self) -> Inheritance {
        let callers = self.callers();
        let synchronizes = self.synchronizing(&callers);
        let recursive = self.recursive();
        let mut inherits = Inheritance::new();
        for function in self.functions().iter().filter(|function| function.is_announced()) {
            let Some(callers) = callers.get(&function.start) else { continue };
            let fits = |caller: &u64| {
                self.function_from(*caller)
                    .is_some_and(|caller| surely_calls(caller, function.start, &synchronizes))
            };
            let is_known = !function.is_pointed_to && !recursive.contains(&function.start);
            if is_known && callers.iter().all(fits) {
                inherits.insert(function.start, callers.clone());
            }
        }
        inherits
    }

    /// Who calls each function of the file directly.
    fn callers(&self) -> BTreeMap<u64, BTreeSet<u64>> {
        let mut callers: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
        for function in self.functions() {
            for callee in function.calls.iter().filter_map(own_callee) {
                callers.entry(callee).or_default().insert(function.start);
            }
        }
        callers
    }

    /// The functions that may synchronize, by themselves or by what they call.
    fn synchronizing(&self, callers: &BTreeMap<u64, BTreeSet<u64>>) -> HashSet<u64> {
        let by_itself = |function: &&CodeFunction| {
            !function.is_clear || function.calls.iter().any(|call| may_synchronize(&call.to))
        };
        let mut left: Vec<u64> =
            self.functions().iter().filter(by_itself).map(|function| function.start).collect();
        let mut found: HashSet<u64> = left.iter().copied().collect();
        while let Some(function) = left.pop() {
            let callers = callers.get(&function).into_iter().flatten();
            left.extend(callers.copied().filter(|caller| found.insert(*caller)));
        }
        found
    }

    /// The functions that may, by way of others of this file, call themselves.
    fn recursive(&self) -> HashSet<u64> {
        let callees: HashMap<u64, Vec<u64>> = (self.functions().iter())
            .map(|function| (function.start, function.calls.iter().filter_map(own_callee).collect()))
            .collect();
        let reaches_itself = |start: &u64| {
            let mut seen = HashSet::new();
            let mut left = callees.get(start).cloned().unwrap_or_default();
            while let Some(here) = left.pop() {
                if here == *start {
                    return true;
                }
                if seen.insert(here) {
                    left.extend(callees.get(&here).into_iter().flatten());
                }
            }
            false
        };
        callees.keys().copied().filter(reaches_itself).collect()
    }
}

fn own_callee(call: &Call) -> Option<u64> {
    match call.to {
        Callee::Function(start) => Some(start),
        _ => None,
    }
}

/// Whether the caller surely calls the function, and nothing else that it does may synchronize.
fn surely_calls(caller: &CodeFunction, callee: u64, synchronizes: &HashSet<u64>) -> bool {
    if !caller.is_clear || !caller.is_announced() || caller.part_of.is_some() {
        return false;
    }
    let calls: Vec<&Call> = caller.calls.iter().filter(|call| own_callee(call) == Some(callee)).collect();
    let sure = calls.iter().any(|call| passes_through(&caller.blocks, call.block));
    // Between two calls of a function that synchronizes, the caller may be elsewhere in time than in either.
    let once = calls.len() == 1 || !synchronizes.contains(&callee);
    let beside = caller.calls.iter().filter(|call| own_callee(call) != Some(callee));
    let quiet = |call: &Call| match call.to {
        Callee::Function(start) => !synchronizes.contains(&start),
        _ => !may_synchronize(&call.to),
    };
    sure && once && { beside }.all(quiet)
}

/// Whether a call out of the file may synchronize, or come back into the file.
fn may_synchronize(callee: &Callee) -> bool {
    const STANDARD: &[&str] =
        &["thread", "mutex", "condition_variable", "future", "barrier", "latch", "semaphore"];
    match callee {
        Callee::Function(_) => false,
        Callee::Unknown => true,
        Callee::Import(name) => {
            threadbare_library::function(name).is_some_and(|row| row.synchronizes || row.calls_back)
                || (name.starts_with("_Z") && STANDARD.iter().any(|part| name.contains(part)))
        }
    }
}
