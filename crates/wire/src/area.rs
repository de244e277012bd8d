//! Where the record areas lie behind the control block.

use threadbare_trace::{ContextRecord, Event, SwitchRecord};

use crate::control::{
    CallRecord, Control, DeadRegistersRecord, DecisionRecord, LearnedRecord, LockSetRecord, OfferRecord,
    Slot, TouchRecord, UntriedRecord,
};
use crate::dependence::DependenceRecord;
use crate::own_code::CodeRange;

/// One area: an offset from the start of the memory and a capacity in records.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Area {
    /// Bytes from the start of the memory.
    pub offset: u64,
    /// How many records fit.
    pub capacity: u64,
}

/// All areas of one shared memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Layout {
    /// Events, in the order they happened.
    pub events: Area,
    /// Context switches, in order.
    pub switches: Area,
    /// Decisions, in order.
    pub decisions: Area,
    /// The parameters of the plan's policy, as words.
    pub policy: Area,
    /// Call contexts, by number.
    pub contexts: Area,
    /// Learned sharing, driver to server.
    pub learned: Area,
    /// Learned sharing, execution to driver.
    pub discovered: Area,
    /// The threads that are runnable where a steered copy paused.
    pub offers: Area,
    /// Orders to steered copies.
    pub slots: Area,
    /// The program's own code, in order of address.
    pub own_code: Area,
    /// Announcements in the program's code that are not wanted, by their addresses in the executable file.
    pub uninstrument: Area,
    /// Kinds of calls.
    pub calls: Area,
    /// Sets of locks, by number.
    pub lock_sets: Area,
    /// What code touches memory of its own thread.
    pub touches: Area,
    /// What the execution depended on.
    pub dependences: Area,
    /// Code that is taken in one piece, in order of address, and behind it the program's own.
    pub whole_code: Area,
    /// Registers that are dead while a call is in progress, in order of address.
    pub dead_registers: Area,
    /// A hash table of states: who has not been scheduled in each.
    pub untried: Area,
    /// What was in files before they were changed, in bytes.
    pub file_changes: Area,
    /// The size of the whole.
    pub bytes: u64,
}

impl Layout {
    /// Room for all events of so many steps.
    pub fn all_events(steps: u64) -> u64 {
        steps * 2 + 65_536
    }

    /// A layout for executions of up to `steps` visible steps.
    ///
    /// Memory is only used where records are written, so the areas are generous: an event is
    /// never lost for want of room within the step limit.
    ///
    /// Events beyond the most are left out; see [`Layout::all_events`].
    pub fn for_steps(steps: u64, most_events: u64) -> Layout {
        let mut end = size_of::<Control>() as u64;
        let mut area = |record: usize, capacity: u64| {
            let offset = end.next_multiple_of(4096);
            end = offset + record as u64 * capacity;
            Area { offset, capacity }
        };
        let events = area(size_of::<Event>(), Layout::all_events(steps).min(most_events));
        let switches = area(size_of::<SwitchRecord>(), steps * 2 + 1024);
        let decisions = area(size_of::<DecisionRecord>(), steps + 1024);
        // Room for as many switches as can come out, at three words each.
        let policy = area(size_of::<u64>(), steps * 6 + 65_536);
        let contexts = area(size_of::<ContextRecord>(), 1 << 20);
        let learned = area(size_of::<LearnedRecord>(), 1 << 20);
        let discovered = area(size_of::<LearnedRecord>(), 1 << 20);
        let offers = area(size_of::<OfferRecord>(), 1 << 16);
        let slots = area(size_of::<Slot>(), 1 << 10);
        let own_code = area(size_of::<CodeRange>(), 1 << 20);
        let uninstrument = area(size_of::<u64>(), 1 << 22);
        let calls = area(size_of::<CallRecord>(), 1 << 22);
        let lock_sets = area(size_of::<LockSetRecord>(), 1 << 20);
        let touches = area(size_of::<TouchRecord>(), 1 << 21);
        let dependences = area(size_of::<DependenceRecord>(), 1 << 10);
        let whole_code = area(size_of::<CodeRange>(), 1 << 20);
        let dead_registers = area(size_of::<DeadRegistersRecord>(), 1 << 22);
        let untried = area(size_of::<UntriedRecord>(), 1 << 20);
        let file_changes = area(1, 1 << 28);
        Layout {
            events,
            switches,
            decisions,
            policy,
            contexts,
            learned,
            discovered,
            offers,
            slots,
            own_code,
            uninstrument,
            calls,
            lock_sets,
            touches,
            dependences,
            whole_code,
            dead_registers,
            untried,
            file_changes,
            bytes: end.next_multiple_of(4096),
        }
    }
}
