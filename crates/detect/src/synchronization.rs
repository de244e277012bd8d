//! What predicting detectors ask of a trace's synchronization: the enforced order, the locks held, and
//! where values were handed over under a lock.

use threadbare_happens_before::{LockChange, LockSetId, LockSets, Rules, ThreadClocks};
use threadbare_trace::{Event, EventKind, ThreadId};

/// Two orders and the locks, kept up to date step by step.
pub struct Synchronization {
    /// The order that holds in every run that makes the same steps.
    pub enforced: ThreadClocks,
    /// The order that holds as long as threads see each other's values as they did here.
    pub handed_over: ThreadClocks,
    /// The locks held.
    pub locks: LockSets,
}

impl Default for Synchronization {
    fn default() -> Self {
        Synchronization {
            enforced: ThreadClocks::new(Rules::Enforced),
            handed_over: ThreadClocks::new(Rules::HandedOver),
            locks: LockSets::default(),
        }
    }
}

impl Synchronization {
    /// The same, with signal handlers taken as concurrent with those whom they interrupt.
    pub fn with_concurrent_interrupts() -> Synchronization {
        Synchronization {
            enforced: ThreadClocks::new(Rules::Enforced).with_concurrent_interrupts(),
            handed_over: ThreadClocks::new(Rules::HandedOver).with_concurrent_interrupts(),
            locks: LockSets::default(),
        }
    }

    /// The part of a step that comes before its access to memory; says what it does to locks.
    #[inline]
    pub fn before(&mut self, index: usize, event: &Event, kind: EventKind) -> Option<LockChange> {
        self.enforced.before(event, kind);
        self.handed_over.before(event, kind);
        self.locks.observe(index, event, kind)
    }

    /// The part of a step that comes after its access to memory.
    #[inline]
    pub fn after(&mut self, event: &Event, kind: EventKind) {
        self.enforced.after(event, kind);
        self.handed_over.after(event, kind);
    }
}

/// Who wrote a piece of memory last, and under which locks.
#[derive(Clone, Default, Debug)]
pub struct LastValue {
    writer: Option<(ThreadId, LockSetId)>,
    /// The threads, as far as there are bits, that have received the value.
    received: u64,
}

impl LastValue {
    /// A thread writes under these locks.
    #[inline]
    pub fn written(&mut self, thread: ThreadId, locks: LockSetId) {
        *self = LastValue { writer: Some((thread, locks)), received: 0 };
    }

    /// A thread reads under these locks. If they exclude it from the writer, the value is
    /// handed over, and with it what came before.
    #[inline]
    pub fn read(
        &mut self,
        thread: ThreadId,
        locks: LockSetId,
        all: &LockSets,
        handed_over: &mut ThreadClocks,
    ) {
        let Some((from, written_under)) = self.writer else { return };
        let bit = 1u64.checked_shl(u32::from(thread.0)).unwrap_or(0);
        if from == thread || self.received & bit != 0 {
            return;
        }
        self.received |= bit;
        if all.exclude(written_under, locks) {
            for lock in all.common(written_under, locks) {
                handed_over.hand_over(lock, from, thread);
            }
        }
    }
}
