//! A table with one entry per thread.

use threadbare_trace::ThreadId;

/// Room made at the start, so that ordinary programs cause no allocation while they run.
const USUAL_THREADS: usize = 64;

/// One entry per thread, growing as threads appear.
#[derive(Clone, Debug)]
pub(crate) struct ByThread<T> {
    entries: Vec<T>,
}

impl<T: Clone + Default> ByThread<T> {
    /// An empty table.
    pub(crate) fn new() -> ByThread<T> {
        ByThread { entries: Vec::with_capacity(USUAL_THREADS) }
    }

    /// The entry of this thread, made on first sight.
    pub(crate) fn of(&mut self, thread: ThreadId) -> &mut T {
        let index = thread.index();
        if index >= self.entries.len() {
            self.entries.resize(index + 1, T::default());
        }
        &mut self.entries[index]
    }

    /// All entries so far, each with its thread.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (ThreadId, &mut T)> {
        self.entries.iter_mut().enumerate().map(|(index, entry)| (ThreadId(index as u16), entry))
    }
}
