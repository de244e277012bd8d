//! The control block.

use threadbare_sched::COUNTERS;
use threadbare_trace::ThreadId;

use crate::checkpoint::{CheckpointRecord, Leaving, MOST_LEFT};
use crate::own_code::CodeRange;

/// Marks the memory as ours, with the layout's version in the low bits.
pub const MAGIC: u64 = 0x7468_7265_6164_0005;

/// Room for a failure's message.
pub const MESSAGE_BYTES: usize = 4096;

/// Room for functions that run what threads are given: tests that start more kinds of threads are rare.
pub const THREAD_BODIES: usize = 512;

/// Room for a failure's stack.
pub const STACK_DEPTH: usize = 48;

/// A text of bounded length.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Text<const N: usize> {
    /// How many bytes are used.
    pub len: u32,
    /// The bytes, UTF-8 as far as the program's own texts are.
    pub bytes: [u8; N],
}

impl<const N: usize> Text<N> {
    /// The text so far.
    pub fn read(&self) -> String {
        String::from_utf8_lossy(&self.bytes[..(self.len as usize).min(N)]).into_owned()
    }

    /// Forgets the text.
    pub fn clear(&mut self) {
        self.len = 0;
    }
}

impl<const N: usize> std::fmt::Write for Text<N> {
    /// Appends what fits and drops the rest: a message cut short beats none.
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let start = (self.len as usize).min(N);
        let mut take = text.len().min(N - start);
        while !text.is_char_boundary(take) {
            take -= 1;
        }
        self.bytes[start..start + take].copy_from_slice(&text.as_bytes()[..take]);
        self.len = (start + take) as u32;
        Ok(())
    }
}

/// What the driver asks of a server, one byte on the request pipe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Request {
    /// Run the plan in a fresh copy of the program.
    Run = b'r',
    /// Run the plan's script in a fresh copy of the program, which then stops at each decision and
    /// takes orders; see [`Order`].
    Steer = b's',
    /// Repeat the program's closure in one fresh copy, as [`Control::repetition`] says.
    Repeat = b'p',
    /// End.
    Quit = b'q',
}

/// What the tested process reports to the driver, on the reply pipe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Reply {
    /// A [`ReplyKind`] by number.
    pub kind: u32,
    /// The process it is about.
    pub process: i32,
    /// For the end of a process: its wait status.
    pub status: i32,
}

/// What a [`Reply`] says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum ReplyKind {
    /// The snapshot is taken; requests are served.
    Serving = 1,
    /// A copy has ended.
    Ended = 2,
    /// A steered copy is stopped at a decision and waits for an order.
    Paused = 3,
    /// A steered copy was ordered to split and could not; `Control::message` says why.
    Refused = 4,
    /// All steered copies have ended.
    AllEnded = 5,
}

impl Reply {
    /// What it says, if it is one of ours.
    pub fn kind(&self) -> Option<ReplyKind> {
        [ReplyKind::Serving, ReplyKind::Ended, ReplyKind::Paused, ReplyKind::Refused, ReplyKind::AllEnded]
            .into_iter()
            .find(|kind| *kind as u32 == self.kind)
    }
}

/// What a steered copy is ordered to do, in the word of its [`Slot`]. With each of them but the last, the policy
/// area holds the choices to follow from here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Order {
    /// No order yet.
    Wait = 0,
    /// Continue.
    Go = 1,
    /// Stay, and let a copy continue.
    Split = 2,
    /// End.
    End = 3,
}

/// Where a steered copy takes its orders.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Slot {
    /// An [`Order`] by number; the copy sleeps on it.
    pub order: u32,
    /// For [`Order::Split`]: the slot of the new copy.
    pub heir: u32,
}

/// A thread that is runnable at a decision, and what it would do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct OfferRecord {
    /// The code address of its next operation.
    pub site: u64,
    /// The address that the operation touches.
    pub object: u64,
    /// The size of the access.
    pub size: u32,
    /// The thread.
    pub thread: ThreadId,
    /// An `EventKind` by number.
    pub kind: u8,
    /// Always 0.
    pub spare: u8,
}

/// Where the tested process stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Status {
    /// The runtime has not come up.
    Absent = 0,
    /// Start-up code is running.
    Starting = 1,
    /// The snapshot is taken; requests are served.
    Serving = 2,
    /// An execution is under way.
    Running = 3,
    /// The execution reached an end of its own: `exit` was called, or a failure was recorded.
    Ended = 4,
}

impl Status {
    /// The status with this number.
    pub fn from_number(number: u32) -> Status {
        [Status::Absent, Status::Starting, Status::Serving, Status::Running, Status::Ended]
            .into_iter()
            .find(|status| *status as u32 == number)
            .unwrap_or(Status::Absent)
    }
}

/// Bits of [`PlanRecord::flags`].
pub mod flags {
    /// Every thread of the program is an operating-system thread.
    pub const OS_THREADS: u32 = 1 << 0;
    /// Condition waits may wake without a signal.
    pub const SPURIOUS: u32 = 1 << 1;
    /// Write the decision area.
    pub const DECISIONS: u32 = 1 << 2;
    /// A non-zero exit status is not a failure.
    pub const ANY_EXIT: u32 = 1 << 3;
    /// Do not write the event area.
    pub const NO_EVENTS: u32 = 1 << 4;
    /// Make scheduling points at private accesses too, densely at first: memory that is shared,
    /// but not known to be, shows itself sooner.
    pub const PROBE: u32 = 1 << 5;
    /// The driver takes the events of failing executions only.
    pub const EVENTS_OF_FAILURES: u32 = 1 << 6;
    /// The copy stops at each decision beyond its script and takes orders.
    pub const STEERED: u32 = 1 << 7;
    /// Measure calls: which functions run under which locks, and when; events are only those that order threads.
    pub const CALLS: u32 = 1 << 8;
    /// Write the touch area, and add to every event the hash of its thread's state.
    pub const THREAD_STATES: u32 = 1 << 9;
    /// The copy stops before its first step and takes orders. Ordered to split, it lets a copy of itself run the plan,
    /// which may leave copies behind on its way, to be given the same order.
    pub const CHECKPOINTS: u32 = 1 << 10;
    /// The program runs one test of Rust's test harness. The first thread that it asks for is refused, as by a system
    /// that has no more of them: the harness then runs the test on the thread that it has, and the first thread is the
    /// test's own. A thread that ends by a panic which nobody hears of is a failure.
    pub const RUST_TEST: u32 = 1 << 11;
    /// Atomic operations are events even in code that is passed over: they order what others do.
    pub const RECORD_ALL: u32 = 1 << 12;
    /// Add to every decision a hash of the program's state. Accesses that a lock guards are no steps.
    pub const PROGRAM_STATES: u32 = 1 << 13;
    /// A thread that keeps reading the same lets others go first only when it comes back to a state that it was in.
    pub const EXACT_LOOPS: u32 = 1 << 14;
    /// Sleeps and waits may end by time at any point, in any order.
    pub const LOOSE_TIME: u32 = 1 << 15;
    /// The driver may claim that nothing is left to try: note what it then looks up in the code.
    pub const CLAIMS: u32 = 1 << 16;
    /// Let the address of a heap block depend on nothing but what its thread has allocated, and hand out none twice.
    pub const THREAD_HEAPS: u32 = 1 << 17;
    /// In a state that is known already, try of one's own accord only who is about to do what depends on what was tried there.
    pub const REDUCED: u32 = 1 << 18;
}

/// What the program does not need any more while a call is in progress.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct DeadRegistersRecord {
    /// Where the call returns to, by its address in the executable file.
    pub after: u64,
    /// A bit for each general register, as the machine counts them.
    pub registers: u64,
}

/// A state of the program, and who has not been scheduled in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct UntriedRecord {
    /// A hash of the state; 0 where there is none.
    pub state: u64,
    /// The threads, a bit each.
    pub untried: u64,
}

/// Everything that decides one execution.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct PlanRecord {
    /// Who picks the next thread, by a number that `threadbare_sched` gives a meaning to.
    pub policy: u32,
    /// See [`flags`].
    pub flags: u32,
    /// Decides every random choice.
    pub seed: u64,
    /// The policy's parameters: words in the policy area.
    pub policy_words: u64,
    /// Visible steps after which the execution is cut.
    pub max_steps: u64,
    /// How many threads to have borrowed before the copy is made.
    pub pool: u32,
    /// For how many nanoseconds nobody outside may come before the execution is at its end, as one that passed; 0 is for ever.
    pub idle: u64,
}

/// The head of the shared memory.
#[repr(C)]
pub struct Control {
    /// [`MAGIC`].
    pub magic: u64,
    /// Where the areas lie.
    pub layout: crate::Layout,
    /// A [`Status`] by number.
    pub status: u32,
    /// The process id of the running copy.
    pub child: i32,
    /// Set while the driver binds the server to one processor, which copies shall not notice.
    pub is_bound: u8,
    /// What to run.
    pub plan: PlanRecord,
    /// Records in the learned area that the server has to apply before the next copy.
    pub learned_in: u64,
    /// Records in the own-code area; only policies that look at where locks are taken need them.
    pub own_code: u64,
    /// Records in the whole-code area: where threads are not switched in a program that offers a closure.
    pub whole_code: u64,
    /// Records behind them in the same area: what is the program's own.
    pub program_code: u64,
    /// Records in the discovered area that this execution has added.
    pub learned_out: u64,
    /// Events written.
    pub events: u64,
    /// Events that were left out, since there is room only for so many.
    pub events_left_out: u64,
    /// Switches written.
    pub switches: u64,
    /// Decisions written.
    pub decisions: u64,
    /// Offers written by the steered copy that paused last.
    pub offers: u64,
    /// Contexts written; the first one has number 1.
    pub contexts: u64,
    /// Calls that need not be announced: records in the uninstrument area.
    pub uninstrument: u64,
    /// Records in the area of dead registers.
    pub dead_registers: u64,
    /// Kinds of calls written.
    pub calls: u64,
    /// Sets of locks written; the first one has number 1.
    pub lock_sets: u64,
    /// Touches that the execution made, those for which there was no room included.
    pub touches: u64,
    /// What the execution depended on: records in that area, those for which there was no room included.
    pub dependences: u64,
    /// Bytes of records on what was in files before they were changed, those of the start included.
    pub file_changes: u64,
    /// Set when the program took a name that only one process can have at a time: a port, or the like.
    pub took_name: u8,
    /// Visible steps made.
    pub steps: u64,
    /// Threads created, main included.
    pub threads: u32,
    /// The largest number of threads alive at once, main included.
    pub peak_threads: u32,
    /// A bit for each of the first threads that has ended, and that nobody has asked how.
    pub unheard: u64,
    /// The thread that ended the process in order, as one more than its number; 0 if none did.
    pub ended_by: u32,
    /// A bit for each of the first threads that somebody has joined.
    pub joined: u64,
    /// How many of `thread_bodies` are used.
    pub thread_body_count: u32,
    /// The functions through which threads of a Rust test run what the test gave them, as far as they fit.
    pub thread_bodies: [CodeRange; THREAD_BODIES],
    /// A `FailureKind` by number, 0 for none.
    pub failure_kind: u8,
    /// Set when the runtime could not continue by no fault of the program; `message` says why.
    pub uncontrolled: u8,
    /// Set when the execution reached its limit of steps, and was ended there.
    pub cut: u8,
    /// Set when the runtime cannot run the plan that it was given; `message` says why.
    pub plan_refused: u8,
    /// The thread that failed.
    pub failure_thread: ThreadId,
    /// The entries used in `stack`.
    pub stack_len: u32,
    /// The failing stack, innermost first.
    pub stack: [u64; STACK_DEPTH],
    /// The failure's message, or why control was lost.
    pub message: Text<MESSAGE_BYTES>,
    /// Things the user should know although the run went on, one a line.
    pub warnings: Text<MESSAGE_BYTES>,
    /// The longest time for which a runnable thread was not scheduled, where sleeps and waits may end at any point: in
    /// nanoseconds of the sleep or wait that ended before it; 0 if there was none.
    pub delay: u64,
    /// The thread that was delayed.
    pub delayed_thread: ThreadId,
    /// The code address of the operation that it was about to make.
    pub delayed_site: u64,
    /// For a replay: the first switch that did not happen as asked, counted from 1; 0 for none.
    pub diverged_at: u64,
    /// For a replay: what happened instead.
    pub divergence: Text<MESSAGE_BYTES>,
    /// Figures that the policy counted, and only it knows of what.
    pub policy_counters: [u64; COUNTERS],
    /// Repeating a closure.
    pub repetition: crate::Repetition,
    /// Where copies are to be left behind.
    pub leaving: Leaving,
    /// The copies that were.
    pub checkpoints: [CheckpointRecord; MOST_LEFT],
}

/// One decision: who could go, and who went.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct DecisionRecord {
    /// The threads that could go, a bit each (threads beyond 63 are not shown).
    pub enabled: u64,
    /// The thread that went.
    pub chosen: ThreadId,
    /// The thread that had run before.
    pub current: ThreadId,
    /// The visible steps made before.
    pub step: u32,
    /// A hash of the program's state, if the plan asks for it.
    pub state: u64,
    /// The object of the operation that the chosen thread makes.
    pub object: u64,
    /// How many events were recorded before.
    pub events: u64,
    /// How many times functions of Rust's standard library did something unseen before.
    pub unseen: u32,
    /// How many blocks of the heap were handed out before.
    pub allocated: u32,
    /// How many were given back before.
    pub freed: u32,
    /// The kind of the operation that the chosen thread makes.
    pub kind: u8,
    /// 1 if so far a thread was kept back because it waits in a loop, or a lock that guards memory was given back by another thread than had
    /// taken it.
    pub irregular: u8,
    /// Nothing.
    pub spare: [u8; 2],
}

/// Code that touches memory which is its thread's own, or which everybody only reads. It is no step.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[repr(C)]
pub struct TouchRecord {
    /// The return address of the call that announced the access.
    pub pc: u64,
    /// Where the memory begins.
    pub addr: u64,
    /// How many bytes.
    pub len: u32,
    /// Who touches it.
    pub thread: ThreadId,
    /// 1 if it writes.
    pub writes: u8,
    /// Always 0.
    pub spare: u8,
}

/// Calls of one function that are alike in all that decides what they can run at the same time with.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[repr(C)]
pub struct CallRecord {
    /// A code address in the function.
    pub site: u64,
    /// The locks held when it was entered, by the number of their set; 0 for none.
    pub at_entry: u32,
    /// Those that were held without a break until it was left.
    pub throughout: u32,
    /// How many steps that order threads its thread had made when it was entered.
    pub entered: u32,
    /// And when it was left.
    pub left: u32,
    /// The thread.
    pub thread: ThreadId,
    /// Always 0.
    pub spare: [u16; 3],
}

/// A set of locks: another set and one more lock.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[repr(C)]
pub struct LockSetRecord {
    /// The lock.
    pub lock: u64,
    /// The other set; 0 for the empty one.
    pub others: u32,
    /// 1 if the lock is held for reading.
    pub shared: u32,
}

/// A memory location known to be shared, by its stable name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[repr(C)]
pub struct LearnedRecord {
    /// For a heap block: the code address that allocated it. 0: `place` is an address.
    pub site: u64,
    /// The address, or the offset in blocks allocated at `site`; in units of the shadow's grain. See also
    /// [`LearnedRecord::EXPOSED`].
    pub place: u64,
}

impl LearnedRecord {
    /// Added to the place of memory that is touched without the lock that guards it elsewhere.
    pub const EXPOSED: u64 = 1 << 63;
}
