//! The one state of the runtime. What it does with it is in `scheduler` (which thread runs) and `recorder`
//! (the trace).

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use threadbare_sched::{AnyPolicy, Candidate, Policy as _, Rng};
use threadbare_trace::ThreadId;
use threadbare_wire::flags;

use crate::fiber::Fiber;
use crate::recorder::UnfinishedWrite;
use crate::shared_memory::Shared;
use crate::threads;

/// The state of the runtime.
pub struct Engine {
    /// The memory shared with the driver.
    pub shared: Shared,
    /// Every thread there ever was, by number.
    #[allow(clippy::vec_box, reason = "a running thread must not move when another is added")]
    pub fibers: Vec<Box<Fiber>>,
    pub(crate) current: *mut Fiber,
    pub(crate) policy: AnyPolicy,
    pub(crate) live: Vec<ThreadId>,
    pub(crate) candidates: Vec<Candidate<'static>>,
    pub(crate) unfinished: Option<UnfinishedWrite>,
    /// Counts steps that changed something another thread may wait for.
    pub progress: u64,
    pub(crate) fruitless_rounds: u64,
    /// Whether threads are looked at because they may spin for ever.
    pub(crate) spinning: crate::spin::Spinning,
    /// The steps made when the running thread was switched to, or last gave way.
    pub(crate) turn_began: u64,
    /// Executions begin at the snapshot; before it there is one thread and nothing to decide.
    pub running: bool,
    /// Every thread is an operating-system thread.
    pub os_threads: bool,
    /// Condition waits may wake by themselves.
    pub spurious: bool,
    /// Events and switches are written down; not so where a closure is repeated.
    pub(crate) records: bool,
    /// What is passed over is written down as well.
    pub(crate) records_all: bool,
    /// Only what can matter is a step: the program offers a closure, and small differences cost much there.
    pub(crate) brief: bool,
    /// The driver decides, beyond the script.
    pub(crate) steered: bool,
    /// Decides where private accesses become scheduling points, in a probing execution.
    pub(crate) probe: Option<Rng>,
    /// All state of the other modules.
    pub world: crate::world::World,
}

struct Place(UnsafeCell<MaybeUninit<Engine>>);

// SAFETY: one thread at a time runs runtime code.
unsafe impl Sync for Place {}

static ENGINE: Place = Place(UnsafeCell::new(MaybeUninit::uninit()));

/// The running fiber while memory accesses are watched, else null. The first thing that the
/// access hooks look at.
pub static WATCHED: AtomicPtr<Fiber> = AtomicPtr::new(ptr::null_mut());

/// The running fiber while the process is under control, else null.
pub static RUNNING: AtomicPtr<Fiber> = AtomicPtr::new(ptr::null_mut());

/// The state of the runtime. Never keep the reference across a switch of fibers.
#[inline(always)]
pub fn engine() -> &'static mut Engine {
    // SAFETY: initialised before control is taken; one thread at a time runs runtime code.
    unsafe { (*ENGINE.0.get()).assume_init_mut() }
}

/// Sets up the state around the main thread.
pub fn init(shared: Shared, main: Box<Fiber>) {
    let engine = Engine {
        shared,
        fibers: vec![main],
        current: ptr::null_mut(),
        policy: AnyPolicy::default(),
        live: vec![ThreadId::MAIN],
        candidates: Vec::with_capacity(64),
        unfinished: None,
        progress: 0,
        fruitless_rounds: 0,
        spinning: crate::spin::Spinning::default(),
        turn_began: 0,
        running: false,
        os_threads: false,
        spurious: false,
        records: true,
        records_all: false,
        brief: false,
        steered: false,
        probe: None,
        world: crate::world::World::default(),
    };
    // SAFETY: called once, before anybody asks for the state.
    unsafe { (*ENGINE.0.get()).write(engine) };
    let engine = self::engine();
    engine.current = &mut *engine.fibers[0];
    RUNNING.store(engine.current, Ordering::Relaxed);
}

impl Engine {
    /// The running thread.
    #[inline(always)]
    pub fn current(&mut self) -> &'static mut Fiber {
        // SAFETY: fibers are boxed and never dropped.
        unsafe { &mut *self.current }
    }

    /// The number of the running thread.
    pub fn current_id(&self) -> ThreadId {
        // SAFETY: as in `current`.
        unsafe { (*self.current).id }
    }

    /// The running thread's calls, innermost first, beginning with the site of its operation.
    pub fn call_stack(&mut self) -> impl Iterator<Item = u64> + use<> {
        let fiber = self.current();
        std::iter::once(fiber.pending.site).filter(|pc| *pc != 0).chain(fiber.call_stack())
    }

    /// The calls in progress in a thread, as a number in the table of contexts.
    pub fn context_of(&mut self, id: ThreadId) -> u32 {
        self.fiber(id).context(&mut self.world.contexts, &self.shared)
    }

    /// The threads that have not ended.
    pub fn live(&self) -> &[ThreadId] {
        &self.live
    }

    /// The thread with this number.
    pub fn fiber(&mut self, id: ThreadId) -> &'static mut Fiber {
        let fiber: *mut Fiber = &mut *self.fibers[id.index()];
        // SAFETY: fibers are boxed and never dropped.
        unsafe { &mut *fiber }
    }

    /// Begins an execution under the plan in shared memory.
    pub fn begin(&mut self) {
        crate::checkpoints::stand_at_the_beginning(self);
        let control = self.shared.control();
        self.policy = threads::build_policy(&self.shared);
        self.os_threads = control.plan.flags & flags::OS_THREADS != 0;
        self.spurious = control.plan.flags & flags::SPURIOUS != 0;
        self.steered = control.plan.flags & flags::STEERED != 0;
        self.brief = control.repetition.offered == 1;
        self.records_all = control.plan.flags & flags::RECORD_ALL != 0;
        self.running = true;
        self.probe = (control.plan.flags & flags::PROBE != 0).then(|| Rng::new(control.plan.policy.seed));
        self.update_stop();
        self.begin_state_hashes();
        WATCHED.store(crate::call_profile::unless_unwatched(self.current), Ordering::Relaxed);
        crate::signals::begin();
        crate::dependences::write_again();
    }

    /// Adds a thread.
    pub fn add(&mut self, mut fiber: Box<Fiber>) -> ThreadId {
        let id = fiber.id;
        let parent = self.current_id();
        fiber.creator = parent;
        let stacks = &mut self.world.stacks;
        *stacks = stacks.start.min(fiber.stack.0)..stacks.end.max(fiber.stack.1);
        self.fibers.push(fiber);
        self.live.push(id);
        self.look_at_own_memory(id);
        self.policy.created(id, parent);
        let control = self.shared.control();
        control.threads = self.fibers.len() as u32;
        control.peak_threads = control.peak_threads.max(self.live.len() as u32);
        id
    }

    /// In a process that the program forked: only the calling thread is left.
    pub fn leave_shared_memory(&mut self) {
        self.shared.detach();
        let current = self.current_id();
        self.live.retain(|id| *id == current);
    }
}
