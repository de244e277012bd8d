//! One thread of the program: a borrowed pthread whose stack and thread pointer the scheduling
//! thread runs itself.

mod frames;

use std::cell::Cell;
use std::ffi::c_void;
use std::ops::Range;
use std::sync::atomic::AtomicU32;

use threadbare_sched::Op;
use threadbare_trace::{EventKind, ThreadId};

use crate::arch::StackPointer;
use crate::exclusive::Exclusive;
use crate::program::openmp::Team;
use crate::scheduler::{PrivateStretch, Waiting};
use crate::shadow;
use crate::signals::Interrupt;
use crate::sync::Limit;
use crate::sync::once::Once;
use crate::sys;
use crate::threads::Slot;
use crate::time;

/// Something a thread can wait for.
pub trait Waitable {
    /// Whether the wait is over.
    fn ready(&self, fiber: &Fiber) -> bool;

    /// What it waits for, as text; `<obj …>` stands for the name of an address.
    fn what(&self) -> String;

    /// The thread that would have to act first, if it is known.
    fn holder(&self) -> Option<ThreadId> {
        None
    }

    /// How that thread keeps this one waiting.
    fn kept_waiting(&self) -> &'static str {
        "held by"
    }

    /// The word of memory that is slept on, if the wait is for one.
    fn word(&self) -> Option<usize> {
        None
    }

    /// The descriptors, with poll events, on which the wait depends.
    fn descriptors(&self) -> Vec<(i32, i16)> {
        Vec::new()
    }

    /// What a signal handler does to the call that waits.
    fn breaks(&self) -> Breaks {
        Breaks::Never
    }

    /// The virtual time at which it may end although it is not over, if there is one.
    fn deadline(&self) -> Option<u64> {
        None
    }

    /// For a wait with a deadline of its own: whether it would go on if there were none.
    fn is_not_over(&self) -> bool {
        false
    }

    /// Whether something outside that has no descriptor may end the wait.
    fn outside(&self) -> bool {
        false
    }
}

/// When a signal handler that has run makes the call that it interrupted end early.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Breaks {
    /// Never: the wait goes on.
    Never,
    /// If the thread had to wait and the handler was not registered to restart calls.
    UnlessRestarted,
    /// If the thread had to wait.
    Always,
    /// The call is nothing but a wait.
    AnyTime,
}

/// A call in progress, as the compiler's function hooks announce it.
#[derive(Clone, Copy)]
pub struct Frame {
    /// Where the function will return to.
    pub pc: u64,
    /// The stack pointer at its entry; stale frames lie below the current one.
    pub sp: usize,
    /// Its number in the table of contexts, 0 while nobody has asked.
    context: u32,
    /// The trace says where its variables are.
    is_recorded: bool,
}

const FRAMES: usize = 1 << 18;

/// How many recent reads a thread compares its next one with.
const RECENT: usize = 16;

/// The last value seen at a site and address.
#[derive(Clone, Copy, Default)]
struct Seen {
    pc: u64,
    addr: u64,
    value: u64,
}

/// How a thread treats requests to cancel it.
pub struct Cancel {
    /// Somebody asked.
    pub requested: Cell<bool>,
    /// The thread lets itself be cancelled.
    pub enabled: Cell<bool>,
    /// It may be cancelled at any scheduling point, not only at cancellation points.
    pub asynchronous: Cell<bool>,
}

/// A thread-exit function registered by the language runtime.
pub type ExitFunction = (unsafe extern "C-unwind" fn(*mut c_void), *mut c_void);

/// One thread of the program.
#[repr(C)]
pub struct Fiber {
    /// Operations announced so far, private ones included.
    pub ops: Cell<u32>,
    /// The operation before which a replay wants to decide, `u32::MAX` for none.
    pub stop_at: Cell<u32>,
    /// What cells of memory hold that only this thread has read, and written; for one cell and for
    /// two at once.
    pub owns: Cell<u32>,
    /// See `owns`.
    pub owns_written: Cell<u32>,
    /// See `owns`.
    pub owns_both: Cell<u32>,
    /// See `owns`.
    pub owns_both_written: Cell<u32>,
    /// One number for what it has changed in memory of its own that is not on its stack, while that is looked at.
    pub own_content: Cell<u64>,
    /// Such memory that it is about to write.
    pub own_write: Cell<Option<(usize, usize)>>,
    /// A hash of its state when it announced its operation, while that is looked at.
    pub state_hash: Cell<u64>,
    /// A hash of what it has given to the library's function that it is in, while that is looked at.
    pub given: Cell<u64>,
    /// Where it is compared whether it spins: a state, for how many rounds, and for how many at most.
    pub spin_mark: Cell<(u64, u32, u32)>,
    /// The owner tag in shadow cells.
    pub tag: shadow::Cell,
    /// The thread's number.
    pub id: ThreadId,
    /// The number of its creator.
    pub creator: ThreadId,
    /// Visible steps made so far.
    pub steps: Cell<u32>,
    /// The saved context while another fiber runs.
    pub sp: Cell<StackPointer>,
    /// Its thread pointer.
    pub thread_pointer: Cell<usize>,
    /// Its identity for the C library.
    pub pthread: Cell<libc::pthread_t>,
    /// The pool slot it borrows, if it does.
    pub slot: Cell<Option<&'static Slot>>,
    /// The lowest and the highest address of its stack.
    pub stack: Cell<(usize, usize)>,
    /// The creator, while the new thread is run up to its first visible operation.
    pub starting: Cell<Option<ThreadId>>,
    /// It has ended.
    pub done: Cell<bool>,
    /// Nobody will join it.
    pub detached: Cell<bool>,
    /// Somebody has joined it.
    pub joined: Cell<bool>,
    /// The team of OpenMP that it works in.
    pub team: Cell<Option<&'static Team>>,
    /// It belongs to a scope, which passes on how it ended.
    pub answers_to_scope: Cell<bool>,
    /// It has reported its end to its scope.
    pub left_scope: Cell<bool>,
    /// The next thread that it creates will belong to a scope.
    pub admits_to_scope: Cell<bool>,
    /// A panic or an exception has begun in it.
    pub raised: Cell<bool>,
    /// What it runs for the program has caught the last one.
    pub caught: Cell<bool>,
    /// What `main` or `pthread_exit` gave.
    pub result: Cell<*mut c_void>,
    /// What to run, and with what.
    pub routine: Cell<Option<(unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void, *mut c_void)>>,
    /// The operation it will make when chosen.
    pub pending: Exclusive<Op>,
    /// What must be ready before it can be chosen.
    pub wait: Cell<Option<*const dyn Waitable>>,
    /// The wait may also end by time: at this virtual time.
    pub until: Cell<Option<u64>>,
    /// The handler that has to return before it continues.
    pub interrupted_by: Cell<Option<ThreadId>>,
    /// A handler to be run where it is stopped, before it continues.
    pub to_deliver: Cell<Option<ThreadId>>,
    /// Handlers are being run there.
    pub delivers: Cell<bool>,
    /// A handler ended the wait.
    pub broken_off: Cell<bool>,
    /// For the handler of a signal: which, and where it runs.
    pub interrupt: Option<Box<Interrupt>>,
    /// It is in the standard library's wait on a condition: the word of the lock that it will take again; 0 for none.
    pub takes_again: Cell<usize>,
    /// It is in the standard library's wait on a condition, which may end without a notification.
    pub waits_on_condition: Cell<bool>,
    /// Words that functions of the standard library in progress may change, innermost last, and what each is known to hold.
    pub looks: Exclusive<Vec<(usize, u64)>>,
    /// The word that it has just found to be another one than it wanted to replace.
    pub found_taken: Cell<usize>,
    /// Where it found its token when it was unparked last, 0 if it never was.
    pub token: Cell<usize>,
    /// The count that it was last seen to bring from one to zero, 0 if there was none.
    pub last_zeroed: Cell<usize>,
    /// It is in the standard library's notification of those who wait on this word; 0 for none.
    pub notifies: Cell<usize>,
    /// The access it is about to make is to something volatile.
    pub volatile_access: Cell<bool>,
    /// How often race detectors were asked to look away from its reads, and not yet to look again.
    pub ignores_reads: Cell<u32>,
    /// The same for its writes.
    pub ignores_writes: Cell<u32>,
    /// What its atomic step does not order, as an event says it.
    pub weakness: Cell<u32>,
    /// Fruitless re-reads in a row.
    pub fruitless: Cell<u32>,
    /// Waits that ended by time, in a row.
    pub naps: Cell<u32>,
    /// How long it has been runnable without being scheduled.
    pub waiting: Waiting,
    /// What it has done since its last step.
    pub private_stretch: PrivateStretch,
    /// It yielded and is passed over until the progress counter leaves this value.
    pub yielded_at: Cell<Option<u64>>,
    recent: [Cell<Seen>; RECENT],
    /// Cancellation.
    pub cancel: Cancel,
    /// How many functions of the library it has called since it made so many steps.
    pub library_calls: Cell<(u32, u32)>,
    /// Clean-up buffers pushed by C code, innermost last.
    pub cleanups: Exclusive<Vec<*mut c_void>>,
    /// Routines that run once and that it is in, innermost last.
    pub once_routines: Exclusive<Vec<&'static Once>>,
    /// Functions to run when the thread ends, last first.
    pub at_exit: Exclusive<Vec<ExitFunction>>,
    /// For the handler of a signal: the part of its thread's stack that is its own.
    pub own_stack: Cell<(usize, usize)>,
    /// Handlers that run on this thread's stack, innermost last.
    pub handlers: Exclusive<Vec<ThreadId>>,
    /// It had to wait when a handler interrupted it.
    pub was_blocked: Cell<bool>,
    /// Signals sent before executions begin, and blocked then; a bit each.
    pub early_signals: Cell<u64>,
    /// Signals the thread has blocked, a bit each.
    pub blocked_signals: Cell<u64>,
    /// Signals that it is recorded to have blocked: in the trace those are locks.
    pub mask_locks: Cell<u64>,
    /// How many signal handlers have run in this thread.
    pub handled_signals: Cell<u64>,
    /// The last step on an object and where it was made, as long as nothing is recorded of it.
    pub unrecorded: Cell<Option<(EventKind, u64)>>,
    /// Those of them that what follows is not yet known to come after, each with its signal.
    pub past_handlers: Exclusive<Vec<(ThreadId, i32)>>,
    /// The stack that the program gave for its handlers.
    pub alternate_stack: Cell<Option<(usize, usize)>>,
    /// For OS-thread mode: 1 when the thread may run.
    pub baton: AtomicU32,
    /// Mutexes held, for deadlock reports and robust mutexes.
    pub held: Exclusive<Vec<usize>>,
    /// Words that are locks, and held.
    pub held_words: Exclusive<Vec<usize>>,
    frames: *mut Frame,
    depth: Cell<usize>,
}

impl Fiber {
    /// What shadow cells call the thread with this number.
    pub fn owner_tag(id: ThreadId) -> shadow::Cell {
        (id.0 % (shadow::OWNER - 1)) + 1
    }

    /// A thread that has not run yet.
    pub fn new(id: ThreadId, frames: *mut Frame) -> Box<Fiber> {
        let tag = Self::owner_tag(id);
        let (owns, owns_written) = (u32::from(tag), u32::from(tag | shadow::WRITTEN));
        Box::new(Fiber {
            ops: Cell::new(0),
            stop_at: Cell::new(u32::MAX),
            owns: Cell::new(owns),
            owns_written: Cell::new(owns_written),
            owns_both: Cell::new(owns | owns << 16),
            owns_both_written: Cell::new(owns_written | owns_written << 16),
            own_content: Cell::new(0),
            own_write: Cell::new(None),
            state_hash: Cell::new(0),
            given: Cell::new(0),
            spin_mark: Cell::new((0, 0, 0)),
            tag,
            id,
            creator: ThreadId::MAIN,
            steps: Cell::new(0),
            sp: Cell::new(0),
            thread_pointer: Cell::new(0),
            pthread: Cell::new(0),
            slot: Cell::new(None),
            stack: Cell::new((0, 0)),
            starting: Cell::new(None),
            done: Cell::new(false),
            detached: Cell::new(false),
            joined: Cell::new(false),
            team: Cell::new(None),
            answers_to_scope: Cell::new(false),
            left_scope: Cell::new(false),
            admits_to_scope: Cell::new(false),
            raised: Cell::new(false),
            caught: Cell::new(false),
            result: Cell::new(std::ptr::null_mut()),
            routine: Cell::new(None),
            pending: Exclusive::new(Op {
                kind: EventKind::Start,
                object: 0,
                size: 0,
                site: 0,
                index: 0,
                place: 0,
            }),
            wait: Cell::new(None),
            until: Cell::new(None),
            takes_again: Cell::new(0),
            waits_on_condition: Cell::new(false),
            looks: Exclusive::default(),
            found_taken: Cell::new(0),
            token: Cell::new(0),
            last_zeroed: Cell::new(0),
            notifies: Cell::new(0),
            volatile_access: Cell::new(false),
            ignores_reads: Cell::new(0),
            ignores_writes: Cell::new(0),
            weakness: Cell::new(0),
            fruitless: Cell::new(0),
            naps: Cell::new(0),
            waiting: Waiting::default(),
            private_stretch: PrivateStretch::default(),
            yielded_at: Cell::new(None),
            recent: [const { Cell::new(Seen { pc: 0, addr: 0, value: 0 }) }; RECENT],
            cancel: Cancel {
                requested: Cell::new(false),
                enabled: Cell::new(true),
                asynchronous: Cell::new(false),
            },
            once_routines: Exclusive::default(),
            library_calls: Cell::new((0, 0)),
            cleanups: Exclusive::default(),
            at_exit: Exclusive::default(),
            interrupt: None,
            own_stack: Cell::new((0, 0)),
            handlers: Exclusive::default(),
            interrupted_by: Cell::new(None),
            to_deliver: Cell::new(None),
            was_blocked: Cell::new(false),
            delivers: Cell::new(false),
            broken_off: Cell::new(false),
            early_signals: Cell::new(0),
            blocked_signals: Cell::new(0),
            mask_locks: Cell::new(0),
            handled_signals: Cell::new(0),
            unrecorded: Cell::new(None),
            past_handlers: Exclusive::default(),
            alternate_stack: Cell::new(None),
            baton: AtomicU32::new(0),
            held: Exclusive::default(),
            held_words: Exclusive::default(),
            frames,
            depth: Cell::new(0),
        })
    }

    /// Counts one more operation; returns its number.
    #[inline(always)]
    pub fn count_operation(&self) -> u32 {
        self.ops.set(self.ops.get() + 1);
        self.ops.get()
    }

    /// Its last step was only made to look whether the place is shared: other executions do not have it.
    pub fn was_a_look(&self) {
        self.steps.set(self.steps.get().saturating_sub(1));
    }

    /// Whether its last operation is the one before which a decision is due.
    #[inline(always)]
    pub fn is_stop_due(&self) -> bool {
        self.ops.get() == self.stop_at.get()
    }

    /// The code address of the operation it will make.
    #[inline(always)]
    pub fn site(&self) -> u64 {
        self.pending.borrow_mut().site
    }

    /// The code address of its operation becomes another one; returns what it was.
    #[inline(always)]
    pub fn replace_site(&self, site: u64) -> u64 {
        std::mem::replace(&mut self.pending.borrow_mut().site, site)
    }

    /// The operation it will make comes from this code address.
    #[inline(always)]
    pub fn set_site(&self, site: u64) {
        self.pending.borrow_mut().site = site;
    }

    /// What it waits for.
    #[inline(always)]
    pub fn waits_for(&self) -> Option<&dyn Waitable> {
        // SAFETY: what a thread waits for outlives the wait.
        self.wait.get().map(|wait| unsafe { &*wait })
    }

    /// Makes the thread look as if its execution began here.
    pub fn begin_anew(&self, ops: u32) {
        self.ops.set(ops);
        self.steps.set(0);
        self.fruitless.set(0);
        self.naps.set(0);
        self.private_stretch.end();
        self.yielded_at.set(None);
        self.recent.iter().for_each(|seen| seen.set(Seen::default()));
        self.held_words.borrow_mut().clear();
        self.found_taken.set(0);
        self.looks.borrow_mut().clear();
        self.token.set(0);
        self.last_zeroed.set(0);
        self.raised.set(false);
    }

    /// It gives back what it took last at this address.
    pub fn no_longer_holds(&self, address: usize) {
        let mut held = self.held.borrow_mut();
        if let Some(index) = held.iter().rposition(|held| *held == address) {
            held.remove(index);
        }
    }

    /// All that is left to do is to end.
    pub fn comes_to_its_end(&self) {
        let index = self.ops.get() + 1;
        self.pending.set(Op { kind: EventKind::Exit, object: 0, size: 0, site: 0, index, place: 0 });
    }

    /// From where to where its stack reaches.
    pub fn stack_range(&self) -> Range<usize> {
        self.stack.get().0..self.stack.get().1
    }

    /// Memory for the call stack of one thread.
    pub fn new_frames() -> *mut Frame {
        sys::map(FRAMES * size_of::<Frame>()).cast()
    }

    /// Whether the thread is runnable.
    #[inline(always)]
    pub fn ready(&self) -> bool {
        if self.interrupted_by.get().is_some() {
            return false;
        }
        self.waits_for().is_none_or(|wait| self.is_time_up() || self.broken_off.get() || wait.ready(self))
    }

    /// Whether the wait may end by time, and the time has come.
    #[inline(always)]
    fn is_time_up(&self) -> bool {
        self.until.get().is_some_and(time::has_come)
    }

    /// The virtual time at which it becomes runnable at the latest, if it waits and there is one.
    pub fn deadline(&self) -> Option<u64> {
        self.waits_for().and_then(|wait| self.until.get().or_else(|| wait.deadline()))
    }

    /// Whether nothing but time ends its wait now.
    pub fn ends_by_time(&self) -> bool {
        self.waits_for().is_some_and(|wait| match self.until.get() {
            Some(_) => !wait.ready(self),
            None => wait.is_not_over(),
        })
    }

    /// Whether the wait that was just left ended by time rather than by what was waited for.
    pub fn timed_out(&self) -> bool {
        self.waits_for().is_some_and(|wait| self.is_time_up() && !wait.ready(self))
    }

    /// Notes a read. A value seen before at the same place brings nothing new: a spinning thread
    /// does nothing else.
    #[inline(always)]
    pub fn saw(&self, pc: u64, addr: u64, value: u64) {
        let seen = Seen { pc, addr, value };
        let slot = ((pc ^ (pc >> 5) ^ addr ^ (addr >> 4)) as usize) % RECENT;
        let before = self.recent[slot].replace(seen);
        if before.pc == pc && before.addr == addr && before.value == value {
            self.fruitless.set(self.fruitless.get() + 1);
        } else {
            self.changed_something();
        }
    }

    /// The thread changed something: what it reads from now on counts as new.
    #[inline(always)]
    pub fn changed_something(&self) {
        self.fruitless.set(0);
        self.naps.set(0);
    }

    /// What a yield counts for: a thread that makes private accesses only has gone round far more often than one that was seen
    /// to read.
    pub fn rounds(&self) -> u64 {
        if self.private_stretch.yields.get() > 0 { 8 } else { 1 }
    }

    /// An operation that by its nature brings nothing (a yield, a failed try).
    pub fn made_no_progress(&self) {
        self.fruitless.set(self.fruitless.get() + 1);
    }

    /// It waited for something and did not get it. Where time passes only when no thread is runnable, others have had their turn
    /// when it is up.
    pub fn waited_in_vain(&self, limit: Limit) {
        if limit.timed() && time::is_ordered() {
            self.fruitless.set(0);
            self.naps.set(self.naps.get() + 1);
        } else {
            self.made_no_progress();
        }
    }

    /// Whether the last that it did brought nothing.
    pub fn is_idle(&self) -> bool {
        self.fruitless.get() > 0 || self.private_stretch.yields.get() > 0 || self.naps.get() > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_reads_that_show_nothing_new_are_fruitless() {
        let fiber = Fiber::new(ThreadId::MAIN, std::ptr::null_mut());
        let fruitless = |pc, addr, value| {
            fiber.saw(pc, addr, value);
            fiber.fruitless.get()
        };
        assert_eq!([(); 3].map(|()| fruitless(1, 0x100, 7)), [0, 1, 2]);
        assert_eq!(fruitless(1, 0x100, 8), 0, "another value");
        assert_eq!([fruitless(1, 0x100, 8), fruitless(2, 0x100, 8), fruitless(1, 0x104, 8)], [1, 0, 0]);
        fiber.made_no_progress();
        assert_eq!(fiber.fruitless.get(), 1);
        fiber.changed_something();
        assert_eq!(fiber.fruitless.get(), 0);
    }

    #[test]
    fn owner_tags_fit_into_a_cell_and_are_never_zero() {
        for id in [0, 1, 2000, u16::MAX] {
            let tag = Fiber::owner_tag(ThreadId(id));
            assert!(tag != 0 && tag & !shadow::OWNER == 0, "thread {id}");
        }
    }

    #[test]
    fn a_thread_that_waits_is_runnable_when_what_it_waits_for_is_or_by_time_or_a_handler() {
        struct Never;
        impl Waitable for Never {
            fn ready(&self, _fiber: &Fiber) -> bool {
                false
            }
            fn what(&self) -> String {
                String::new()
            }
        }
        let (fiber, never) = (Fiber::new(ThreadId::MAIN, std::ptr::null_mut()), Never);
        assert!(fiber.ready());
        fiber.wait.set(Some(&raw const never));
        assert!(!fiber.ready());
        fiber.until.set(Some(0));
        assert!(fiber.ready() && fiber.timed_out());
        fiber.until.set(None);
        fiber.broken_off.set(true);
        assert!(fiber.ready());
        fiber.interrupted_by.set(Some(ThreadId(1)));
        assert!(!fiber.ready(), "its handler has to return first");
    }
}
