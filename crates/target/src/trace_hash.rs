//! One number for what happened in an execution.

use std::collections::HashMap;

use sha2::{Digest as _, Sha256};
use threadbare_trace::{EventKind, Outcome};

use crate::execution::Execution;
use crate::object_names::ObjectNames;
use crate::symbols::Symbols;

/// How many values are remembered with what they point to.
const MOST_KNOWN: usize = 100_000;

/// A hash of an execution that is equal for equal interleavings, wherever the program was loaded.
///
/// Objects count by their stable names and code by module and offset; values that are addresses
/// count by the name of what they point to.
pub fn stable_hash(execution: &Execution, symbols: &Symbols) -> u64 {
    let mut hash = Sha256::new();
    let mut names = ObjectNames::new(symbols, &execution.contexts);
    let mut sites: HashMap<u64, (String, u64)> = HashMap::new();
    // Names are the same until memory is used for something else.
    let mut objects: HashMap<(u64, u8), String> = HashMap::new();
    let mut values: HashMap<u64, Option<String>> = HashMap::new();
    for event in &execution.events {
        names.observe(event);
        if matches!(event.kind(), Some(EventKind::Alloc | EventKind::Start | EventKind::Frame)) {
            objects.clear();
            values.clear();
        }
        if values.len() > MOST_KNOWN {
            values.clear();
        }
        let (module, offset) = sites.entry(event.pc).or_insert_with(|| {
            let modules = symbols.modules();
            match modules.find(event.pc) {
                // What the executable is called depends on the folder it was built in.
                Some((0, offset)) => ("program".to_string(), offset),
                Some((index, offset)) => (modules.all()[index].name.clone(), offset),
                None => Default::default(),
            }
        });
        hash.update([event.kind, event.size]);
        hash.update(event.thread.0.to_le_bytes());
        hash.update(event.op.to_le_bytes());
        hash.update(&*module);
        hash.update(offset.to_le_bytes());
        hash.update([0]);
        let object = objects.entry((event.addr, event.kind));
        hash.update(object.or_insert_with(|| names.of_event(event).unwrap_or_default()).as_bytes());
        // A start carries the bounds of its stack, which are nothing but addresses.
        let carried = if event.kind() == Some(EventKind::Start) { [0; 2] } else { [event.value, event.old] };
        for value in carried {
            hash.update([0]);
            match values.entry(value).or_insert_with(|| names.known(value)) {
                Some(name) => hash.update(name.as_bytes()),
                None => hash.update(value.to_le_bytes()),
            }
        }
    }
    hash.update(match &execution.outcome {
        Outcome::Passed => "passed",
        Outcome::Failed(failure) => failure.kind.word(),
        Outcome::Cut(_) => "cut",
        Outcome::Uncontrolled(_) => "uncontrolled",
    });
    let digest = hash.finalize();
    digest.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modules::Modules;
    use threadbare_trace::{Event, ThreadId};

    /// A process with a library, a stack and a heap at places that depend on `shift`.
    fn execution(shift: u64, value: u64) -> (Execution, Symbols) {
        let (code, stack, heap) = (0x40_0000 + shift, 0x7000_0000 + shift, 0x100_0000 + shift);
        let event = |kind: EventKind, addr, value, old| Event {
            pc: code + 0x123,
            addr,
            value,
            old,
            op: 1,
            thread: ThreadId(1),
            kind: kind as u8,
            size: 8,
            ..Event::default()
        };
        let events = vec![
            event(EventKind::Start, stack, stack + 0x1000, 0),
            event(EventKind::Alloc, heap, 64, 1),
            event(EventKind::Write, heap + 8, stack + 16, 0),
            event(EventKind::Read, code + 0x2000, value, 0),
        ];
        let execution = Execution {
            outcome: Outcome::Passed,
            events,
            switches: Vec::new(),
            decisions: Vec::new(),
            calls: Vec::new(),
            lock_sets: Vec::new(),
            contexts: Vec::new(),
            modules: Default::default(),
            steps: 4,
            threads: 2,
            peak_threads: 2,
            discovered: Vec::new(),
            touches: None,
            warnings: Vec::new(),
            output: Vec::new(),
            stalled: false,
            manner: crate::Manner::default(),
            unheard_panics: Vec::new(),
            delay: None,
            divergence: None,
            policy_counters: Default::default(),
            own_code: Default::default(),
            depended_on: Vec::new(),
            ended_by: None,
            leaves_code_unexplored: false,
        };
        (execution, Symbols::new(&Modules::with_one("lib.so", code, 0x4000)))
    }

    fn hash((execution, symbols): (Execution, Symbols)) -> u64 {
        stable_hash(&execution, &symbols)
    }

    #[test]
    fn where_things_are_loaded_does_not_matter_but_values_do() {
        assert_eq!(hash(execution(0, 5)), hash(execution(0x1000, 5)));
        assert_ne!(hash(execution(0, 5)), hash(execution(0, 6)));
    }
}
