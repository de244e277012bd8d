//! Deadlock prediction for locks that are nothing but words of memory: spinlocks, and the locks of Rust.
//!
//! A word that an update takes from zero may be a lock, held until it is zero again; it may as well be a counter or a
//! flag. So the cycles found here are only suspected: worth trying.

use std::collections::BTreeMap;

use threadbare_trace::{Event, EventKind, ThreadId};

use super::Deadlock;
use crate::detector::Detector;
use crate::finding::{Certainty, Finding};

/// Suspects deadlocks.
#[derive(Default)]
pub struct WordDeadlock {
    inner: Deadlock,
    /// Who took each word from zero.
    holders: BTreeMap<u64, ThreadId>,
}

impl Detector for WordDeadlock {
    fn name(&self) -> &'static str {
        "deadlocks over words"
    }

    fn observe(&mut self, index: usize, event: &Event) {
        use EventKind::*;
        let Some(kind) = event.kind() else { return };
        let as_if = |kind: EventKind, thread: ThreadId| Event { kind: kind as u8, thread, old: 0, ..*event };
        match kind {
            AtomicUpdate if event.old == 0 && event.value != 0 => {
                // The last holder has released it where nobody saw it.
                if let Some(holder) = self.holders.insert(event.addr, event.thread) {
                    self.inner.observe(index, &as_if(Unlock, holder));
                }
                self.inner.observe(index, &as_if(Lock, event.thread));
            }
            AtomicUpdate | AtomicWrite if event.value == 0 => {
                if let Some(holder) = self.holders.remove(&event.addr) {
                    self.inner.observe(index, &as_if(Unlock, holder));
                }
            }
            // These would order whoever takes the word after whoever had it.
            AtomicUpdate | AtomicRead | AtomicFailed if self.holders.contains_key(&event.addr) => {}
            FutexWait | FutexWoken | FutexWake | FutexTimeout => {}
            // The other detector decides about all other kinds.
            _ => self.inner.observe(index, event),
        }
    }

    fn findings(self: Box<Self>) -> Vec<Finding> {
        let found = Box::new(self.inner).findings();
        let is_about_words =
            |finding: &Finding| finding.accesses.iter().any(|access| access.kind == EventKind::Lock);
        let suspected = |finding| Finding { certainty: Certainty::Suspected, ..finding };
        found.into_iter().filter(is_about_words).map(suspected).collect()
    }
}
