//! One thread of the program: a borrowed pthread whose stack and thread pointer the scheduling
//! thread runs itself.

mod frames;

use std::ffi::c_void;
use std::ops::Range;

use threadbare_sched::Op;
use threadbare_trace::{EventKind, ThreadId};

use crate::arch::StackPointer;
use crate::scheduler::PrivateStretch;
use crate::shadow::{self, Cell};
use crate::signals::Interrupt;
use crate::sys;

/// Something a thread can wait for.
pub trait Waitable {
    /// Whether the thread could go on now.
    fn ready(&self, fiber: &Fiber) -> bool;

    /// What it waits for, in words; `<obj …>` stands for the name of an address.
    fn what(&self) -> String;

    /// The thread that would have to act first, if it is known.
    fn holder(&self) -> Option<ThreadId> {
        None
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
    told: bool,
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
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Cancel {
    /// Somebody asked.
    pub requested: bool,
    /// The thread lets itself be cancelled.
    pub enabled: bool,
    /// It may be cancelled at any scheduling point, not only at cancellation points.
    pub asynchronous: bool,
}

/// A thread-exit function registered by the language runtime.
pub type ExitFunction = (unsafe extern "C-unwind" fn(*mut c_void), *mut c_void);

/// One thread of the program.
#[repr(C)]
pub struct Fiber {
    /// Operations announced so far, private ones included.
    pub ops: u32,
    /// The operation before which a replay wants to decide, `u32::MAX` for none.
    pub stop_at: u32,
    /// What cells of memory hold that only this thread has read, and written; for one cell and for
    /// two at once.
    pub owns: u32,
    /// See `owns`.
    pub owns_written: u32,
    /// See `owns`.
    pub owns_both: u32,
    /// See `owns`.
    pub owns_both_written: u32,
    /// One number for what it has changed in memory of its own that is not on its stack, while that is looked at.
    pub own_content: u64,
    /// Such memory that it is about to write.
    pub own_write: Option<(usize, usize)>,
    /// Where it stood when it announced its operation, while that is looked at.
    pub state_hash: u32,
    /// The owner tag in shadow cells.
    pub tag: Cell,
    /// The thread's number.
    pub id: ThreadId,
    /// The number of its creator.
    pub creator: ThreadId,
    /// Visible steps made so far.
    pub steps: u32,
    /// The saved context while another fiber runs.
    pub sp: StackPointer,
    /// Its thread pointer.
    pub thread_pointer: usize,
    /// Its identity for the C library.
    pub pthread: libc::pthread_t,
    /// The pool slot it borrows, if it does.
    pub slot: Option<usize>,
    /// The lowest and the highest address of its stack.
    pub stack: (usize, usize),
    /// The creator, while the new thread is run up to its first visible operation.
    pub starting: Option<ThreadId>,
    /// It has ended.
    pub done: bool,
    /// Nobody will join it.
    pub detached: bool,
    /// Somebody has joined it.
    pub joined: bool,
    /// It belongs to a scope, which passes on how it ended.
    pub answers_to_scope: bool,
    /// It has told its scope that it ends.
    pub left_scope: bool,
    /// The next thread that it creates will belong to a scope.
    pub admits_to_scope: bool,
    /// A panic or an exception has begun in it.
    pub raised: bool,
    /// What it runs for the program has caught the last one.
    pub caught: bool,
    /// What `main` or `pthread_exit` gave.
    pub result: *mut c_void,
    /// What to run, and with what.
    pub routine: Option<(unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void, *mut c_void)>,
    /// The operation it will make when chosen.
    pub pending: Op,
    /// What must be ready before it can be chosen.
    pub wait: Option<*const dyn Waitable>,
    /// The wait may also end by time.
    pub timed: bool,
    /// The handler that has to return before it goes on.
    pub interrupted_by: Option<ThreadId>,
    /// A handler to be run where it stands, before it goes on.
    pub to_deliver: Option<ThreadId>,
    /// A handler ended the wait.
    pub broken_off: bool,
    /// For the handler of a signal: which, and where it runs.
    pub interrupt: Option<Box<Interrupt>>,
    /// It is in the standard library's wait on a condition: the word of the lock that it will take again; 0 for none.
    pub takes_again: usize,
    /// It is in the standard library's wait on a condition, which may end without a notification.
    pub waits_on_condition: bool,
    /// Words that functions of the standard library in progress may change, innermost last, and what each is known to hold.
    pub looks: Vec<(usize, u64)>,
    /// The word that it has just found to be another one than it wanted to replace.
    pub found_taken: usize,
    /// Where it found its token when it was unparked last, 0 if it never was.
    pub token: usize,
    /// It is in the standard library's notification of those who wait on this word; 0 for none.
    pub notifies: usize,
    /// The access it is about to make is to something volatile.
    pub volatile_access: bool,
    /// What its atomic step does not order, as an event says it.
    pub weakness: u32,
    /// Fruitless re-reads in a row.
    pub fruitless: u32,
    /// What it has done since its last step.
    pub private_stretch: PrivateStretch,
    /// It gave way and is passed over until the progress counter leaves this value.
    pub gave_way_at: Option<u64>,
    recent: [Seen; RECENT],
    /// Cancellation.
    pub cancel: Cancel,
    /// Clean-up buffers pushed by C code, innermost last.
    pub cleanups: Vec<*mut c_void>,
    /// Functions to run when the thread ends, last first.
    pub at_exit: Vec<ExitFunction>,
    /// For the handler of a signal: the part of its thread's stack that is its own.
    pub own_stack: (usize, usize),
    /// Handlers that run on this thread's stack, innermost last.
    pub handlers: Vec<ThreadId>,
    /// It had to wait when a handler interrupted it.
    pub was_blocked: bool,
    /// Signals sent before executions begin, and blocked then; a bit each.
    pub early_signals: u64,
    /// Signals the thread has blocked, a bit each.
    pub blocked_signals: u64,
    /// Signals that it has been told to have blocked: to the trace those are locks.
    pub mask_locks: u64,
    /// How many signal handlers have run in this thread.
    pub handled_signals: u64,
    /// Those of them that what follows is not yet known to come after, each with its signal.
    pub past_handlers: Vec<(ThreadId, i32)>,
    /// The stack that the program gave for its handlers.
    pub alternate_stack: Option<(usize, usize)>,
    /// For OS-thread mode: 1 when the thread may run.
    pub baton: u32,
    /// Mutexes held, for deadlock reports and robust mutexes.
    pub held: Vec<usize>,
    /// Words that are locks, and held.
    pub words: Vec<usize>,
    frames: *mut Frame,
    depth: usize,
}

impl Fiber {
    /// What shadow cells call the thread with this number.
    pub fn owner_tag(id: ThreadId) -> Cell {
        (id.0 % (shadow::OWNER - 1)) + 1
    }

    /// A thread that has not run yet.
    pub fn new(id: ThreadId, frames: *mut Frame) -> Box<Fiber> {
        let tag = Self::owner_tag(id);
        let (owns, owns_written) = (u32::from(tag), u32::from(tag | shadow::WRITTEN));
        Box::new(Fiber {
            ops: 0,
            stop_at: u32::MAX,
            owns,
            owns_written,
            owns_both: owns | owns << 16,
            owns_both_written: owns_written | owns_written << 16,
            own_content: 0,
            own_write: None,
            state_hash: 0,
            tag,
            id,
            creator: ThreadId::MAIN,
            steps: 0,
            sp: 0,
            thread_pointer: 0,
            pthread: 0,
            slot: None,
            stack: (0, 0),
            starting: None,
            done: false,
            detached: false,
            joined: false,
            answers_to_scope: false,
            left_scope: false,
            admits_to_scope: false,
            raised: false,
            caught: false,
            result: std::ptr::null_mut(),
            routine: None,
            pending: Op { kind: EventKind::Start, object: 0, size: 0, site: 0, index: 0, place: 0 },
            wait: None,
            timed: false,
            takes_again: 0,
            waits_on_condition: false,
            looks: Vec::new(),
            found_taken: 0,
            token: 0,
            notifies: 0,
            volatile_access: false,
            weakness: 0,
            fruitless: 0,
            private_stretch: PrivateStretch::default(),
            gave_way_at: None,
            recent: [Seen::default(); RECENT],
            cancel: Cancel { requested: false, enabled: true, asynchronous: false },
            cleanups: Vec::new(),
            at_exit: Vec::new(),
            interrupt: None,
            own_stack: (0, 0),
            handlers: Vec::new(),
            interrupted_by: None,
            to_deliver: None,
            was_blocked: false,
            broken_off: false,
            early_signals: 0,
            blocked_signals: 0,
            mask_locks: 0,
            handled_signals: 0,
            past_handlers: Vec::new(),
            alternate_stack: None,
            baton: 0,
            held: Vec::new(),
            words: Vec::new(),
            frames,
            depth: 0,
        })
    }

    /// Makes the thread look as if its execution began here.
    pub fn begin_anew(&mut self, ops: u32) {
        self.ops = ops;
        self.steps = 0;
        self.fruitless = 0;
        self.private_stretch.end();
        self.gave_way_at = None;
        self.recent = [Seen::default(); RECENT];
        self.words.clear();
        self.found_taken = 0;
        self.looks.clear();
        self.token = 0;
        self.raised = false;
    }

    /// From where to where its stack reaches.
    pub fn stack_range(&self) -> Range<usize> {
        self.stack.0..self.stack.1
    }

    /// Memory for the call stack of one thread.
    pub fn new_frames() -> *mut Frame {
        sys::map(FRAMES * size_of::<Frame>()).cast()
    }

    /// Whether the thread could go on now.
    #[inline(always)]
    pub fn ready(&self) -> bool {
        if self.interrupted_by.is_some() {
            return false;
        }
        match self.wait {
            None => true,
            // SAFETY: what a thread waits for outlives the wait: it is a table entry that is
            // never dropped while waited for, or lives on the waiting thread's own stack.
            Some(wait) => self.timed || self.broken_off || unsafe { (*wait).ready(self) },
        }
    }

    /// Whether the wait that was just left ended by time rather than by what was waited for.
    pub fn timed_out(&self) -> bool {
        // SAFETY: as in `ready`.
        self.wait.is_some_and(|wait| self.timed && !unsafe { (*wait).ready(self) })
    }

    /// Notes a read. A value seen before at the same place brings nothing new: a spinning thread
    /// does nothing else.
    #[inline(always)]
    pub fn saw(&mut self, pc: u64, addr: u64, value: u64) {
        let seen = Seen { pc, addr, value };
        let slot = ((pc ^ (pc >> 5) ^ addr ^ (addr >> 4)) as usize) % RECENT;
        let before = std::mem::replace(&mut self.recent[slot], seen);
        if before.pc == pc && before.addr == addr && before.value == value {
            self.fruitless += 1;
        } else {
            self.fruitless = 0;
        }
    }

    /// The thread changed something: what it reads from now on counts as new.
    #[inline(always)]
    pub fn changed_something(&mut self) {
        self.fruitless = 0;
    }

    /// What giving way counts for: a thread that makes private accesses only has gone round far more often than one that was seen
    /// to read.
    pub fn rounds(&self) -> u64 {
        if self.private_stretch.turns > 0 { 8 } else { 1 }
    }

    /// An operation that by its nature brings nothing (a yield, a failed try).
    pub fn made_no_progress(&mut self) {
        self.fruitless += 1;
    }
}
