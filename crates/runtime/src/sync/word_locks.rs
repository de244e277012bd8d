//! Who holds a lock that is nothing but a word of memory, as far as the trace shows.

use threadbare_trace::{EventKind, ThreadId};

use crate::engine::engine;

/// The bits of a word that say that it is held; the others may say that somebody waits.
const HELD: u64 = 0x3fff_ffff;

/// Who took a word, and where.
#[derive(Clone, Copy)]
pub struct Taken {
    /// The thread.
    pub by: ThreadId,
    /// The code address, and the calls in progress.
    pub at: (u64, u32),
}

/// The thread that changed the word from free to taken and has not given it back. None if anything else was done
/// to the word: then it may be no lock, or one that several hold.
pub fn holder(address: usize) -> Option<Taken> {
    let mut taken = None;
    for event in engine().shared.events().iter().filter(|event| event.addr == address as u64) {
        let (old, value) = (event.old & HELD, event.value & HELD);
        match event.kind() {
            Some(EventKind::AtomicUpdate) if old == 0 && value != 0 => {
                taken = Some(Taken { by: event.thread, at: (event.pc, event.context) });
            }
            Some(EventKind::AtomicUpdate | EventKind::AtomicWrite | EventKind::Write) if old != value => {
                taken = None
            }
            _ => {}
        }
    }
    // SAFETY: somebody sleeps on the word.
    let word = unsafe { *(address as *const u32) };
    taken.filter(|_| u64::from(word) & HELD != 0)
}
