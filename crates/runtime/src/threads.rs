//! Creating, starting and ending threads: borrowed identities and the pool they come from.

mod os;

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use threadbare_library::HiddenObject;
use threadbare_sched::{AnyPolicy, PolicySpec};
use threadbare_trace::{EventKind, ThreadId};

use os::create_os_thread;
pub use os::pass_baton;

use crate::arch;
use crate::engine::{Engine, engine};
use crate::exclusive::nothing_is_borrowed;
use crate::fiber::{Fiber, Frame};
use crate::interpose::real;
use crate::shadow;
use crate::shared_memory::{Shared, refuse_plan};
use crate::sys;

/// What a new thread runs.
pub type Routine = unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void;

type CreateFn = unsafe extern "C-unwind" fn(
    *mut libc::pthread_t,
    *const libc::pthread_attr_t,
    extern "C-unwind" fn(*mut c_void) -> *mut c_void,
    *mut c_void,
) -> c_int;

/// A real pthread whose kernel thread is parked for ever, so that the scheduling thread may use
/// its stack and thread pointer.
pub struct Slot {
    pthread: libc::pthread_t,
    thread_pointer: usize,
    /// Where a fiber's stack begins.
    top: usize,
    stack: (usize, usize),
    frames: *mut Frame,
    /// The thread block as it was when borrowed, to make it new again after a first use.
    pristine: Vec<u8>,
    /// The stack that was asked for. Memory that was placed by the program may be wanted back.
    wanted: Stack,
    /// The owner tag of the thread that used it last, 0 for nobody.
    used_by: Cell<shadow::Cell>,
    free: Cell<bool>,
}

impl Slot {
    /// From where to where its stack reaches.
    pub fn stack_range(&self) -> std::ops::Range<usize> {
        self.stack.0..self.stack.1
    }

    /// Whether a thread that wants such a stack may use it.
    fn fits(&self, stack: Stack) -> bool {
        !stack.placed && self.wanted == stack
    }

    /// The thread block from the lowest thread-local variable to the end of the C library's own
    /// record: everything between the borrowed stack's top and the end of its mapping.
    fn block(&self) -> (usize, usize) {
        (self.top, self.stack.1)
    }

    /// Makes the thread block new again, from an address on, and all but some of it.
    ///
    /// # Safety
    /// Nobody may run on the stack.
    unsafe fn renew(&self, from: usize, but: std::ops::Range<usize>) {
        let (start, end) = self.block();
        let within = |address: usize| address.clamp(start, end);
        let copy = |from: usize, to: usize| {
            if from < to {
                let pristine = &self.pristine[from - start..to - start];
                // SAFETY: within the block, of which `pristine` is a copy.
                unsafe { std::ptr::copy_nonoverlapping(pristine.as_ptr(), from as *mut u8, to - from) };
            }
        };
        copy(within(from), within(but.start));
        copy(within(but.end), end);
    }
}

/// The policy that the plan in shared memory asks for. Where there is none, no execution is made.
pub fn build_policy(shared: &Shared) -> AnyPolicy {
    let plan = &shared.control().plan;
    match PolicySpec::decode(plan.policy, plan.seed, &shared.policy_words()) {
        Ok(spec) => spec.start(),
        Err(error) => refuse_plan(error),
    }
}

/// Describes the stack of a live pthread.
///
/// # Safety
/// `pthread` must be a thread of this process.
pub unsafe fn stack_of(pthread: libc::pthread_t) -> (usize, usize) {
    // SAFETY: the attribute object is initialised by the first call and destroyed by the last.
    unsafe {
        let mut attributes = std::mem::MaybeUninit::<libc::pthread_attr_t>::uninit();
        // What the program is told of its threads is another matter.
        if real!(
            pthread_getattr_np
                as unsafe extern "C-unwind" fn(libc::pthread_t, *mut libc::pthread_attr_t) -> c_int
        )(pthread, attributes.as_mut_ptr())
            != 0
        {
            return (0, 0);
        }
        let (mut low, mut size) = (std::ptr::null_mut(), 0);
        libc::pthread_attr_getstack(attributes.as_ptr(), &mut low, &mut size);
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        (low as usize, low as usize + size)
    }
}

/// What the borrowed kernel thread says of itself before it parks.
#[derive(Default)]
struct Loan {
    thread_pointer: AtomicUsize,
    top: AtomicUsize,
    /// Where the stack ends on which it parks.
    parking: usize,
    /// 1 once all is said. It also sleeps on this word, for ever.
    ready: AtomicU32,
}

/// Runs on the borrowed kernel thread: lend the stack, then sleep on a small one for ever.
extern "C-unwind" fn lend(loan: *mut c_void) -> *mut c_void {
    let marker = 0u8;
    // SAFETY: the record lives as long as the process.
    unsafe {
        let place = &*loan.cast_const().cast::<Loan>();
        place.thread_pointer.store(arch::thread_pointer(), Ordering::Relaxed);
        // Leave room for this frame: its contents are not needed again, but its caller's are.
        place.top.store((&raw const marker as usize - 512) & !63, Ordering::Relaxed);
        arch::abandon_stack(place.parking, loan as usize, park)
    }
}

extern "C" fn park(loan: usize) -> ! {
    // SAFETY: as in `lend`. All signals are blocked: this kernel thread runs no program code.
    unsafe {
        let ready = &(*(loan as *const Loan)).ready;
        let all = u64::MAX;
        let (call, word) = (arch::syscall_of_parked, ready.as_ptr() as usize);
        call(libc::SYS_rt_sigprocmask, [libc::SIG_BLOCK as usize, &raw const all as usize, 0, 8, 0, 0]);
        ready.store(1, Ordering::Release);
        call(libc::SYS_futex, [word, libc::FUTEX_WAKE as usize, i32::MAX as usize, 0, 0, 0]);
        loop {
            call(libc::SYS_futex, [word, libc::FUTEX_WAIT as usize, 1, 0, 0, 0]);
        }
    }
}

/// Borrows one more pthread from the C library. Returns its error number if it refuses.
fn borrow(attributes: *const libc::pthread_attr_t, wanted: Stack) -> Result<&'static Slot, c_int> {
    const PARKING: usize = 16_384;
    let parking = sys::map(PARKING) as usize + PARKING;
    let loan: &'static Loan = Box::leak(Box::new(Loan { parking, ..Loan::default() }));
    let mut pthread = 0;
    engine().world.detour.set(true);
    // SAFETY: the new kernel thread touches only the record, which stays where it is.
    let (error, stack) = unsafe {
        let place = std::ptr::from_ref(loan).cast_mut().cast();
        let error = real!(pthread_create as CreateFn)(&mut pthread, attributes, lend, place);
        while error == 0 && loan.ready.load(Ordering::Acquire) == 0 {
            sys::futex_wait(loan.ready.as_ptr(), 0);
        }
        (error, if error == 0 { stack_of(pthread) } else { (0, 0) })
    };
    engine().world.detour.set(false);
    if error != 0 {
        refuse_limited_memory();
        return Err(error);
    }
    let (top, end) = (loan.top.load(Ordering::Relaxed), stack.1);
    let slot: &'static Slot = Box::leak(Box::new(Slot {
        pthread,
        thread_pointer: loan.thread_pointer.load(Ordering::Relaxed),
        top,
        stack,
        frames: Fiber::new_frames(),
        // SAFETY: the thread's block, which nobody changes while it is parked.
        pristine: unsafe { std::slice::from_raw_parts(top as *const u8, end - top).to_vec() },
        wanted,
        used_by: Cell::new(0),
        free: Cell::new(true),
    }));
    engine().world.slots.borrow_mut().push(slot);
    Ok(slot)
}

/// Ends the program if memory may have been refused because there is a limit to which the runtime's counts.
pub fn refuse_limited_memory() {
    // SAFETY: asks only.
    let is_limited = unsafe {
        let mut limit = std::mem::zeroed::<libc::rlimit>();
        libc::getrlimit(libc::RLIMIT_AS, &mut limit) == 0 && limit.rlim_cur != libc::RLIM_INFINITY
    };
    if is_limited {
        crate::shared_memory::unsupported(
            "a limit of its address space (RLIMIT_AS), to which our memory counts",
        );
    }
}

/// Makes sure that at least `wanted` idle pthreads are at hand.
pub fn fill_pool(wanted: usize) {
    let free = || engine().world.slots.borrow_mut().iter().filter(|slot| slot.free.get()).count();
    while free() < wanted {
        if borrow(std::ptr::null(), Stack::usual()).is_err() {
            return;
        }
    }
}

/// In a process that the program forked the C library has taken back all pthreads but the running
/// one: none of the idle ones may be used.
pub fn forget_pool() {
    engine().world.slots.borrow_mut().iter().for_each(|slot| slot.free.set(false));
}

/// An idle pthread that has such a stack, rather one that a thread with the same owner tag has used.
fn fitting_slot(stack: Stack, tag: shadow::Cell) -> Option<&'static Slot> {
    let slots = engine().world.slots.borrow_mut();
    let mut fitting = slots.iter().copied().filter(|slot| slot.free.get() && slot.fits(stack)).enumerate();
    let found = if engine().recorder.is_on.get() {
        fitting.next()
    } else {
        // What is noted of its stack is then the thread's own, and may stay.
        fitting.max_by_key(|(index, slot)| {
            let used_by = slot.used_by.get();
            (used_by == tag, used_by == 0, std::cmp::Reverse(*index))
        })
    };
    found.map(|(_, slot)| slot)
}

/// Takes a pthread for a new thread of the program.
fn take_slot(attributes: *const libc::pthread_attr_t, tag: shadow::Cell) -> Result<&'static Slot, c_int> {
    let stack = Stack::asked(attributes)?;
    let slot = match fitting_slot(stack, tag) {
        Some(slot) => slot,
        None => borrow(attributes, stack)?,
    };
    slot.free.set(false);
    let used_by = slot.used_by.replace(tag);
    if used_by != 0 {
        // SAFETY: the slot's thread has ended; nobody runs on its stack.
        unsafe {
            if engine().recorder.is_on.get() {
                slot.renew(0, usize::MAX..usize::MAX);
            } else {
                let libraries = engine().world.libraries();
                // What the allocator keeps for the thread would be lost, over and over.
                slot.renew(
                    libraries.first_variable(slot.thread_pointer),
                    libraries.allocator_variables(slot.thread_pointer),
                );
            }
            if used_by != tag || engine().recorder.is_on.get() {
                shadow::fill(slot.stack.0, slot.stack.1 - slot.stack.0, 0);
            }
        }
    }
    Ok(slot)
}

/// What a program wants of a thread's stack.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Stack {
    size: usize,
    /// How much memory behind its end may not be touched.
    guard: usize,
    /// It lies where the program wants it.
    placed: bool,
}

impl Stack {
    /// What such a thread wants; an error number if there cannot be one.
    fn asked(attributes: *const libc::pthread_attr_t) -> Result<Stack, c_int> {
        if attributes.is_null() {
            return Ok(Stack::usual());
        }
        // SAFETY: the program passed initialised attributes.
        unsafe {
            match refused_processors(attributes) {
                0 => Ok(Stack::of(attributes)),
                error => Err(error),
            }
        }
    }

    /// # Safety
    /// The attributes must be initialised.
    unsafe fn of(attributes: *const libc::pthread_attr_t) -> Stack {
        let (mut low, mut placed_size, mut size, mut guard) = (std::ptr::null_mut(), 0usize, 0, 0);
        // SAFETY: as the caller vouches.
        unsafe {
            let placed = libc::pthread_attr_getstack(attributes, &mut low, &mut placed_size) == 0
                && !low.is_null()
                && (low as usize).wrapping_add(placed_size) != 0;
            libc::pthread_attr_getstacksize(attributes, &mut size);
            libc::pthread_attr_getguardsize(attributes, &mut guard);
            Stack { size, guard, placed }
        }
    }

    /// What threads have of which nobody says anything.
    fn usual() -> Stack {
        if let Some(known) = engine().world.usual_stack.get() {
            return known;
        }
        let mut fresh = std::mem::MaybeUninit::<libc::pthread_attr_t>::uninit();
        // SAFETY: the attribute object is initialised by the first call and destroyed by the last.
        let usual = unsafe {
            libc::pthread_attr_init(fresh.as_mut_ptr());
            let usual = Stack::of(fresh.as_ptr());
            libc::pthread_attr_destroy(fresh.as_mut_ptr());
            usual
        };
        engine().world.usual_stack.set(Some(usual));
        usual
    }
}

/// Whether a thread with these attributes could run nowhere: an error number.
///
/// # Safety
/// The attributes must be initialised.
unsafe fn refused_processors(attributes: *const libc::pthread_attr_t) -> c_int {
    unsafe extern "C" {
        fn pthread_attr_getaffinity_np(
            attributes: *const libc::pthread_attr_t,
            bytes: usize,
            set: *mut libc::cpu_set_t,
        ) -> c_int;
    }
    // SAFETY: as the caller vouches. Where no processors are asked for, the answer is all of them.
    unsafe {
        let mut set = std::mem::zeroed::<libc::cpu_set_t>();
        match pthread_attr_getaffinity_np(attributes, size_of_val(&set), &mut set) {
            0 => crate::processors::refused((&raw const set).cast(), size_of_val(&set)),
            // It asks for more of them than fit. The C library will see.
            _ => 0,
        }
    }
}

/// Creates a thread that is ready to start; returns its number.
pub fn create(
    attributes: *const libc::pthread_attr_t,
    routine: Routine,
    argument: *mut c_void,
    detached: bool,
) -> Result<ThreadId, c_int> {
    let engine = engine();
    let answers_to_scope = engine.current().admits_to_scope.take();
    let Ok(number) = u16::try_from(engine.threads.count()) else {
        crate::shared_memory::cut(format_args!(
            "it has made {} threads, and more cannot be told apart",
            1 << 16
        ));
    };
    let id = ThreadId(number);
    let fiber = if engine.os_threads.get() {
        create_os_thread(id, attributes)?
    } else {
        let slot = take_slot(attributes, Fiber::owner_tag(id))?;
        let fiber = Fiber::new(id, slot.frames);
        fiber.slot.set(Some(slot));
        fiber.pthread.set(slot.pthread);
        fiber.thread_pointer.set(slot.thread_pointer);
        fiber.stack.set(slot.stack);
        // SAFETY: the slot's stack is unused from `top` down.
        fiber.sp.set(unsafe { arch::prepare(slot.top, first_step) });
        fiber
    };
    fiber.routine.set(Some((routine, argument)));
    fiber.detached.set(detached);
    fiber.answers_to_scope.set(answers_to_scope);
    let mask = mask_asked(attributes).unwrap_or_else(|| engine.host().blocked_signals.get());
    fiber.blocked_signals.set(mask);
    Ok(engine.add(fiber))
}

/// The signals that a new thread blocks, if its attributes say so.
fn mask_asked(attributes: *const libc::pthread_attr_t) -> Option<u64> {
    type AskFn = unsafe extern "C" fn(*const libc::pthread_attr_t, *mut libc::sigset_t) -> c_int;
    if attributes.is_null() {
        return None;
    }
    // SAFETY: the name is a text; older C libraries have no such function. The program passed initialised attributes.
    unsafe {
        let ask = libc::dlsym(libc::RTLD_DEFAULT, c"pthread_attr_getsigmask_np".as_ptr());
        if ask.is_null() {
            return None;
        }
        let ask: AskFn = std::mem::transmute(ask);
        let mut mask = std::mem::MaybeUninit::<libc::sigset_t>::zeroed();
        (ask(attributes, mask.as_mut_ptr()) == 0).then(|| crate::signals::mask::bits(mask.as_ptr()))
    }
}

/// The first thing a fiber runs on its own stack.
extern "C-unwind" fn first_step() -> ! {
    let engine = engine();
    let fiber = engine.current();
    fiber.clear_frames();
    note_start(engine);
    crate::signals::mask::begin(fiber);
    nothing_is_borrowed();
    if let Some((routine, argument)) = fiber.routine.take() {
        // SAFETY: the program gave the routine and its argument.
        fiber.result.set(unsafe { routine(argument) });
    }
    end_current()
}

/// Ends the running thread: exit functions first, as the C library would.
pub fn end_current() -> ! {
    crate::thread_specific::run_exit_functions();
    let engine = engine();
    let fiber = engine.current();
    enter_look_before_end();
    crate::sync::once::gives_up_routines(fiber);
    if crate::signals::deliver::is_last_thread(fiber.id) {
        // It runs the functions of the end, as threads do: it may make steps, and be sent signals.
        engine.world.ends_last.set(Some(fiber.id));
        crate::process::end_of_last_thread();
    }
    crate::sync::mutex::owner_died(fiber);
    crate::sync::rust_std::gives_back_itself(fiber);
    fiber.set_site(0);
    crate::sync::see_that_all_is_recorded(fiber);
    engine.recorder.complete_write();
    engine.recorder.note(EventKind::Exit, 0, 0, fiber.result.get() as u64, 0);
    if fiber.detached.get() {
        release(fiber);
    }
    engine.leave_for_good()
}

/// The last moment at which others can come before the running thread's end, where somebody can tell.
extern "C-unwind" fn look_before_end() {
    let engine = engine();
    if !engine.running.get() {
        return;
    }
    crate::hidden_objects::look_at(HiddenObject::Calls, 0);
    if !engine.current().held.borrow_mut().is_empty() {
        // Who tries to take its locks is told whether it has ended.
        crate::sync::step(EventKind::Exit, 0, 0);
    }
}

/// The state of the thread is that in which it comes here.
#[unsafe(naked)]
extern "C-unwind" fn enter_look_before_end() {
    crate::arch::enter!(look_before_end)
}

/// A thread that has ended and will not be asked for again gives its pthread back.
pub fn release(fiber: &Fiber) {
    if let Some(slot) = fiber.slot.take() {
        slot.free.set(true);
    }
}

fn note_start(engine: &Engine) {
    let fiber = engine.current();
    let (low, high) = fiber.stack.get();
    let routine = fiber.routine.get().map_or(0, |(routine, _)| routine as usize as u64);
    engine.recorder.note(EventKind::Start, low, 0, high as u64, routine);
    crate::library_calls::note_routine(routine as usize);
}

/// Hands over to a thread that has just been created (kept here so that creation and start read
/// together).
pub fn start(new: ThreadId) {
    engine().run_new_thread(new);
}
