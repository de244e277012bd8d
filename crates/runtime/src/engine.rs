//! The one state of the runtime. Which thread runs is decided in `scheduler`; all else is done by the parts of the state
//! that it belongs to.

use std::cell::{Cell, UnsafeCell};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use threadbare_sched::{AnyPolicy, Candidate, Policy as _, PolicySpec, Random, Rng};
use threadbare_trace::ThreadId;
use threadbare_wire::flags;

use crate::exclusive::Exclusive;
use crate::fiber::Fiber;
use crate::recorder::Recorder;
use crate::scheduler::Turn;
use crate::shared_memory::Shared;
use crate::spin::SpinDetector;
use crate::thread_table::ThreadTable;
use crate::{thread_state_hash, threads};

/// The state of the runtime.
pub struct Engine {
    /// The memory shared with the driver.
    pub shared: Shared,
    /// All threads.
    pub threads: ThreadTable,
    /// The running thread.
    current: Cell<&'static Fiber>,
    pub(crate) policy: Exclusive<AnyPolicy>,
    /// Room for the candidates of a decision, empty between two of them.
    pub(crate) candidates: Exclusive<Vec<Candidate<'static>>>,
    /// What is written down of the execution.
    pub recorder: Recorder,
    /// Counts steps that changed something another thread may wait for.
    pub progress: Cell<u64>,
    /// Finds threads that spin for ever.
    pub(crate) spin_detector: SpinDetector,
    /// The turn that a thread has because it was starved.
    pub(crate) turn: Cell<Option<Turn>>,
    /// Until so many steps are made nobody can have been starved.
    pub(crate) none_starves_before: Cell<u64>,
    /// The steps made at the last decision.
    pub(crate) decided_at: Cell<u64>,
    /// Time passes only when no thread is runnable, and the earliest deadline comes first.
    pub(crate) time_is_ordered: Cell<bool>,
    /// The steps made when it last passed.
    pub(crate) time_passed_at: Cell<u64>,
    /// The step at which it is looked next whether time passes although threads are runnable.
    pub(crate) next_look_at_time: Cell<u64>,
    /// Times in a row that all runnable threads gave way to each other.
    pub(crate) spins: Cell<u64>,
    /// Executions begin at the snapshot; before it there is one thread and nothing to decide.
    pub running: Cell<bool>,
    /// Every thread is an operating-system thread.
    pub os_threads: Cell<bool>,
    /// Condition waits may wake by themselves.
    pub spurious: Cell<bool>,
    /// Only what can matter is a step: the program offers a closure, and small differences cost much there.
    pub(crate) brief: Cell<bool>,
    /// The driver decides, beyond the choices of the plan.
    pub(crate) steered: Cell<bool>,
    /// Decides where private accesses become scheduling points, in a probing execution.
    pub(crate) probe: Exclusive<Option<Rng>>,
    /// All state of the other modules.
    pub world: crate::world::World,
}

struct Place(UnsafeCell<MaybeUninit<Engine>>);

// SAFETY: one thread at a time runs runtime code.
unsafe impl Sync for Place {}

static ENGINE: Place = Place(UnsafeCell::new(MaybeUninit::uninit()));

/// How many bytes may be handed out without any being handed out again, where nothing is claimed: enough for tests, and little beside what an
/// execution takes.
const SAMPLED_REGIONS: usize = 32 << 20;

/// The running fiber while memory accesses are watched, else null; see [`watched`]. The first thing that the
/// access hooks look at.
pub static WATCHED: AtomicPtr<Fiber> = AtomicPtr::new(ptr::null_mut());

/// The running fiber while the process is under control, else null; see [`running`].
static RUNNING: AtomicPtr<Fiber> = AtomicPtr::new(ptr::null_mut());

/// The running fiber, if memory accesses are watched.
#[inline(always)]
pub fn watched() -> Option<&'static Fiber> {
    // SAFETY: a fiber that runs is not dropped.
    unsafe { WATCHED.load(Ordering::Relaxed).as_ref() }
}

/// The running fiber, if the process is under control.
#[inline(always)]
pub fn running() -> Option<&'static Fiber> {
    // SAFETY: a fiber that runs is not dropped.
    unsafe { RUNNING.load(Ordering::Relaxed).as_ref() }
}

/// The state of the runtime, shared by all of it; see [`exclusive`](crate::exclusive) for how it is changed.
#[inline(always)]
pub fn engine() -> &'static Engine {
    // SAFETY: initialised before control is taken, and never written as a whole after that.
    unsafe { (*ENGINE.0.get()).assume_init_ref() }
}

/// Sets up the state around the main thread.
pub fn init(shared: Shared, main: Box<Fiber>) {
    let threads = ThreadTable::new();
    let current = threads.add(main);
    let engine = Engine {
        shared,
        threads,
        current: Cell::new(current),
        policy: Exclusive::default(),
        candidates: Exclusive::new(Vec::with_capacity(64)),
        recorder: Recorder::default(),
        progress: Cell::new(0),
        spin_detector: SpinDetector::default(),
        turn: Cell::new(None),
        none_starves_before: Cell::new(0),
        decided_at: Cell::new(0),
        time_is_ordered: Cell::new(false),
        time_passed_at: Cell::new(0),
        next_look_at_time: Cell::new(0),
        spins: Cell::new(0),
        running: Cell::new(false),
        os_threads: Cell::new(false),
        spurious: Cell::new(false),
        brief: Cell::new(false),
        steered: Cell::new(false),
        probe: Exclusive::default(),
        world: crate::world::World::default(),
    };
    // SAFETY: called once, before anybody asks for the state.
    unsafe { (*ENGINE.0.get()).write(engine) };
    note_running(current);
}

/// From now on this fiber runs.
pub fn note_running(fiber: &'static Fiber) {
    RUNNING.store(ptr::from_ref(fiber).cast_mut(), Ordering::Relaxed);
}

/// From now on the accesses of this fiber, which runs, are watched; those of nobody if they are not wanted.
pub fn note_watched(fiber: &'static Fiber) {
    let wanted = !crate::call_profile::leaves_memory_unwatched();
    WATCHED.store(if wanted { ptr::from_ref(fiber).cast_mut() } else { ptr::null_mut() }, Ordering::Relaxed);
}

impl Engine {
    /// The running thread.
    #[inline(always)]
    pub fn current(&self) -> &'static Fiber {
        self.current.get()
    }

    /// From now on this thread is the running one.
    pub fn set_current(&self, fiber: &'static Fiber) {
        self.current.set(fiber);
    }

    /// Counts a step that changed something another thread may wait for.
    #[inline(always)]
    pub fn count_progress(&self) {
        self.progress.set(self.progress.get() + 1);
    }

    /// The number of the running thread.
    pub fn current_id(&self) -> ThreadId {
        self.current.get().id
    }

    /// The thread proper that runs, be it in a handler.
    pub fn host(&self) -> &'static Fiber {
        self.fiber(self.host_id())
    }

    /// Its number.
    pub fn host_id(&self) -> ThreadId {
        self.current().owner()
    }

    /// The running thread's calls, innermost first, beginning with the site of its operation.
    pub fn call_stack(&self) -> impl Iterator<Item = u64> + use<> {
        let fiber = self.current();
        std::iter::once(fiber.site()).filter(|pc| *pc != 0).chain(fiber.call_stack())
    }

    /// The calls in progress in a thread, as a number in the table of contexts.
    #[inline(always)]
    pub fn context_of(&self, fiber: &Fiber) -> u32 {
        fiber.context(&mut self.world.contexts.borrow_mut(), &self.shared)
    }

    /// The thread with this number.
    pub fn fiber(&self, id: ThreadId) -> &'static Fiber {
        self.threads.fiber(id)
    }

    /// Whether no other thread can have come to its accesses earlier or later than it did. One that has ended and was not joined might as
    /// well still be running; where closures are repeated, nothing is claimed and speed counts.
    pub fn is_alone(&self) -> bool {
        let is_past = |fiber: &Fiber| !fiber.done.get() || fiber.joined.get();
        self.threads.live_count() == 1
            && (!thread_state_hash::are_merged() || self.threads.all().all(is_past))
    }

    /// Begins an execution under the plan in shared memory.
    pub fn begin(&self) {
        crate::checkpoints::stop_at_the_beginning(self);
        let control = self.shared.control();
        self.policy.set(threads::build_policy(&self.shared));
        self.os_threads.set(control.plan.flags & flags::OS_THREADS != 0);
        self.spurious.set(control.plan.flags & flags::SPURIOUS != 0);
        self.time_is_ordered.set(control.plan.flags & flags::LOOSE_TIME == 0);
        let room = if control.plan.flags & flags::CLAIMS != 0 { usize::MAX } else { SAMPLED_REGIONS };
        self.world.regions.borrow_mut().begin(control.plan.flags & flags::THREAD_HEAPS != 0, room);
        self.steered.set(control.plan.flags & flags::STEERED != 0);
        let merges_states = control.plan.flags & flags::PROGRAM_STATES != 0;
        self.brief.set(control.repetition.offered == 1 || merges_states);
        self.recorder.takes_all.set(control.plan.flags & flags::RECORD_ALL != 0);
        self.begin_fairly();
        self.running.set(true);
        self.probe.set((control.plan.flags & flags::PROBE != 0).then(|| Rng::new(control.plan.seed)));
        self.update_stop();
        thread_state_hash::begin(self);
        note_watched(self.current.get());
        if self.os_threads.get() {
            crate::raw_system_calls::leave_alone();
        }
        crate::sync::begin();
        crate::signals::begin();
        crate::dependences::write_again();
        crate::files::begin();
    }

    /// Begins what is no execution of the driver's: whoever is runnable runs.
    pub fn begin_by_itself(&self) {
        const SEED: u64 = 1;
        self.policy.set(PolicySpec::new(Random, SEED).start());
        self.running.set(true);
        self.update_stop();
        thread_state_hash::begin(self);
        note_watched(self.current.get());
        crate::signals::begin();
    }

    /// Adds a thread.
    pub fn add(&self, mut fiber: Box<Fiber>) -> ThreadId {
        let id = fiber.id;
        let parent = self.current_id();
        fiber.creator = parent;
        let (low, high) = fiber.stack.get();
        let stacks = self.world.stacks.take();
        self.world.stacks.set(stacks.start.min(low)..stacks.end.max(high));
        thread_state_hash::look_at_own_memory(self, self.threads.add(fiber));
        self.policy.borrow_mut().created(id, parent);
        let mut control = self.shared.control();
        control.threads = self.threads.count() as u32;
        control.peak_threads = control.peak_threads.max(self.threads.live_count() as u32);
        id
    }

    /// In a process that the program forked: only the calling thread is left.
    pub fn leave_shared_memory(&self) {
        self.shared.detach();
        self.threads.end_others(self.current_id());
    }
}
