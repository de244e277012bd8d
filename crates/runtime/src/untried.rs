//! Which threads have not been scheduled yet in which state of the program.
//!
//! The table lies in memory that all copies of the program share, so an execution that has done what its plan asks for can go on where
//! none has gone before. It is only advice: the driver keeps books of its own, and what has no room here is tried by a
//! plan of its own.

use threadbare_sched::{Candidate, Op};
use threadbare_trace::{EventKind, ThreadId, kinds};
use threadbare_wire::{UntriedRecord, flags};

use crate::engine::Engine;

/// How many places are looked at for a state. Up to three quarters of a table fill before this matters.
const PROBES: u64 = 32;

/// Decides who goes in a state with these threads enabled: the one that the plan or habit wants, `wanted`, unless it
/// has been tried before, is not `asked_for` by the plan, and another one is worth a try. Notes who does.
pub fn choose(
    engine: &Engine,
    state: u64,
    candidates: &[Candidate<'_>],
    wanted: ThreadId,
    asked_for: bool,
) -> ThreadId {
    let enabled = candidates.iter().fold(0, |mask, candidate| mask | bit(candidate.thread));
    let Some(record) = find(engine, state, enabled) else { return wanted };
    // SAFETY: the place lies in shared memory, and one copy of the program runs at a time.
    let record = unsafe { &mut *record };
    let untried = record.untried & enabled;
    let chosen = if asked_for || untried & bit(wanted) != 0 {
        wanted
    } else {
        let is_reduced = engine.shared.control().plan.flags & flags::REDUCED != 0;
        let is_tried = |candidate: &&Candidate<'_>| untried & bit(candidate.thread) == 0;
        let is_worth_it = |candidate: &&Candidate<'_>| {
            let mut tried = candidates.iter().filter(is_tried);
            !is_tried(candidate) && (!is_reduced || tried.any(|other| may_conflict(candidate.op, other.op)))
        };
        candidates.iter().find(is_worth_it).map_or(wanted, |candidate| candidate.thread)
    };
    record.untried &= !bit(chosen);
    chosen
}

/// Whether it may matter which of two operations comes first, as far as can be seen before they are made. The driver knows
/// better, from what was recorded.
fn may_conflict(one: &Op, other: &Op) -> bool {
    let only_reads = |op: &Op| {
        matches!(op.kind, EventKind::Read | EventKind::ReadRange | EventKind::AtomicRead | EventKind::Fence)
    };
    // Whoever waits for a condition has given back a lock, and takes it again.
    let is_about_condition = |op: &Op| matches!(op.kind, kinds!(condition));
    let is_about_lock = |op: &Op| matches!(op.kind, kinds!(condition | lock));
    let share_lock =
        is_about_condition(one) && is_about_lock(other) || is_about_lock(one) && is_about_condition(other);
    let end = |op: &Op| op.object + u64::from(op.size.max(1));
    let meet = one.object < end(other) && other.object < end(one);
    share_lock || meet && !(only_reads(one) && only_reads(other))
}

fn bit(thread: ThreadId) -> u64 {
    1u64.checked_shl(u32::from(thread.0)).unwrap_or(0)
}

/// The record of a state, new or old; none if there is no room.
fn find(engine: &Engine, state: u64, enabled: u64) -> Option<*mut UntriedRecord> {
    let control = engine.shared.control();
    // What counts as a step changes with what is known to be shared, and the same state is another one then.
    let key = crate::thread_state_hash::mix(
        crate::thread_state_hash::mix(state, control.learned_in),
        u64::from(control.plan.flags),
    )
    .max(1);
    let capacity = control.layout.untried.capacity;
    for probe in 0..PROBES {
        let record = engine.shared.untried(key.wrapping_add(probe) % capacity)?;
        // SAFETY: `untried` checked the place.
        unsafe {
            match (*record).state {
                0 => {
                    record.write(UntriedRecord { state: key, untried: enabled });
                    return Some(record);
                }
                known if known == key => return Some(record),
                _ => {}
            }
        }
    }
    None
}
