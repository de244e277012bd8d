//! All threads of the execution: every one there ever was, by number, and those that have not ended.

use std::ptr::NonNull;

use threadbare_trace::ThreadId;

use crate::exclusive::Exclusive;
use crate::fiber::Fiber;
use crate::sys;

/// The threads of the execution.
pub struct ThreadTable {
    /// By number. The table owns what the pointers point to, which lies in `room`.
    all: Exclusive<Vec<NonNull<Fiber>>>,
    /// A place for every number. Registers that the runtime leaves to a thread's code hold such addresses, and states of
    /// threads are compared: so they must not depend on what was allocated before.
    room: NonNull<Fiber>,
    /// In the order of creation.
    live: Exclusive<Vec<&'static Fiber>>,
}

impl ThreadTable {
    /// A table without threads.
    pub fn new() -> ThreadTable {
        let room = sys::map((usize::from(u16::MAX) + 1) * size_of::<Fiber>()).cast();
        // SAFETY: a mapping does not begin at 0.
        let room = unsafe { NonNull::new_unchecked(room) };
        ThreadTable { all: Exclusive::new(Vec::new()), room, live: Exclusive::new(Vec::new()) }
    }

    /// Where the thread with this number is or will be. The memory is zero until it is added.
    pub fn place(&self, id: ThreadId) -> *const Fiber {
        // SAFETY: there is room for every number.
        unsafe { self.room.add(usize::from(id.0)).as_ptr() }
    }

    /// Adds a thread, whose number has to be the next one.
    pub fn add(&self, fiber: Box<Fiber>) -> &'static Fiber {
        // SAFETY: there is room for every number, and nobody is in the next place: `drop_others` has dropped who was.
        let place = unsafe {
            let place = self.room.add(self.count());
            place.write(*fiber);
            place
        };
        self.all.borrow_mut().push(place);
        // SAFETY: dropped only when nobody has it any more (see `exclusive`).
        let fiber = unsafe { place.as_ref() };
        self.live.borrow_mut().push(fiber);
        fiber
    }

    /// The thread with this number.
    #[inline(always)]
    pub fn fiber(&self, id: ThreadId) -> &'static Fiber {
        let place = self.all.borrow_mut()[id.index()];
        // SAFETY: as in `add`.
        unsafe { place.as_ref() }
    }

    /// How many threads there ever were.
    pub fn count(&self) -> usize {
        self.all.borrow_mut().len()
    }

    /// Every thread there ever was.
    pub fn all(&self) -> impl DoubleEndedIterator<Item = &'static Fiber> {
        (0..self.count()).map(|index| self.fiber(ThreadId(index as u16)))
    }

    /// How many threads have not ended.
    #[inline(always)]
    pub fn live_count(&self) -> usize {
        self.live.borrow_mut().len()
    }

    /// The threads that have not ended. Nothing is borrowed between two of them.
    #[inline(always)]
    pub fn live(&self) -> impl Iterator<Item = &'static Fiber> + Clone {
        (0..).map_while(|index| self.live.borrow_mut().get(index).copied())
    }

    /// A thread has ended.
    pub fn end(&self, id: ThreadId) {
        self.live.borrow_mut().retain(|fiber| fiber.id != id);
    }

    /// All threads but this one have ended.
    pub fn end_others(&self, id: ThreadId) {
        self.live.borrow_mut().retain(|fiber| fiber.id == id);
    }

    /// Drops all threads but the main one.
    ///
    /// # Safety
    /// The main thread runs, and nobody has a reference to another one.
    pub unsafe fn drop_others(&self) {
        self.live.borrow_mut().truncate(1);
        let others = self.all.borrow_mut().split_off(1);
        for place in others {
            // SAFETY: written by `add`, and nobody else has it, as the caller vouches.
            unsafe { place.drop_in_place() };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(count: u16) -> ThreadTable {
        let table = ThreadTable::new();
        for id in 0..count {
            table.add(Fiber::new(ThreadId(id), std::ptr::null_mut()));
        }
        table
    }

    fn live(table: &ThreadTable) -> Vec<u16> {
        table.live().map(|fiber| fiber.id.0).collect()
    }

    #[test]
    fn a_thread_that_has_ended_keeps_its_number() {
        let table = table(4);
        table.end(ThreadId(1));
        assert_eq!(live(&table), [0, 2, 3]);
        assert_eq!((table.count(), table.live_count()), (4, 3));
        assert_eq!(table.fiber(ThreadId(1)).id, ThreadId(1));
        table.end_others(ThreadId(2));
        assert_eq!(live(&table), [2]);
    }

    #[test]
    fn threads_may_end_while_they_are_gone_through() {
        let table = table(3);
        let mut seen = Vec::new();
        for fiber in table.live() {
            seen.push(fiber.id.0);
            table.end(ThreadId(2));
        }
        assert_eq!(seen, [0, 1]);
    }

    #[test]
    fn a_repetition_begins_with_the_main_thread_alone() {
        let table = table(3);
        // SAFETY: no reference to the others is kept.
        unsafe { table.drop_others() };
        assert_eq!((table.count(), live(&table)), (1, vec![0]));
        assert_eq!(table.add(Fiber::new(ThreadId(1), std::ptr::null_mut())).id, ThreadId(1));
    }
}
