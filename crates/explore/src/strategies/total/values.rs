//! Which code reads and writes which memory.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use threadbare_trace::{Event, EventKind, kinds};
use threadbare_wire::TouchRecord;

/// Memory is distinguished in pieces of this many bytes.
const GRAIN: u64 = 4;

/// All code that was seen to access memory, by the address that announces the access.
#[derive(Default)]
pub(crate) struct Sites {
    reads: BTreeMap<u64, BTreeSet<u64>>,
    writers: HashMap<u64, BTreeSet<u64>>,
    updates: BTreeSet<u64>,
}

impl Sites {
    /// Records an access to memory of the thread's own.
    pub(crate) fn touch(&mut self, touch: &TouchRecord) {
        self.access(touch.pc, touch.addr, u64::from(touch.len), touch.writes == 0, touch.writes != 0);
    }

    /// Records a step.
    pub(crate) fn step(&mut self, event: &Event) {
        let Some(kind) = event.kind() else { return };
        use EventKind::*;
        let len = match kind {
            ReadRange | WriteRange | Free => event.value,
            Read | Write | kinds!(atomic) => u64::from(event.size),
            // These access no memory.
            Alloc | Fence | Signal | Frame | kinds!(lock | condition | barrier | semaphore | once) => return,
            kinds!(futex | thread | object | pause | outside) => return,
        };
        // What a comparison fails with decides that it writes nothing, and that it would have written.
        let updates = matches!(kind, AtomicUpdate | AtomicFailed);
        if updates {
            self.updates.insert(event.pc);
        }
        self.access(event.pc, event.addr, len, updates || !kind.writes(), updates || kind.writes());
    }

    fn access(&mut self, pc: u64, addr: u64, len: u64, reads: bool, writes: bool) {
        for grain in addr / GRAIN..=(addr + len.max(1) - 1) / GRAIN {
            if reads {
                self.reads.entry(pc).or_default().insert(grain);
            }
            if writes {
                self.writers.entry(grain).or_default().insert(pc);
            }
        }
    }

    /// The code that reads.
    pub(crate) fn reads(&self) -> impl Iterator<Item = u64> + '_ {
        self.reads.keys().copied()
    }

    /// The code that reads and writes at once.
    pub(crate) fn updates(&self) -> impl Iterator<Item = u64> + '_ {
        self.updates.iter().copied()
    }

    /// By code that reads: the code that writes the same memory.
    pub(crate) fn writers_of_reads(&self) -> HashMap<u64, BTreeSet<u64>> {
        let writers = |grains: &BTreeSet<u64>| {
            grains.iter().filter_map(|grain| self.writers.get(grain)).flatten().copied().collect()
        };
        self.reads.iter().map(|(read, grains)| (*read, writers(grains))).collect()
    }
}
