//! OpenMP, as GCC compiles it: the functions of its library (libgomp) by which threads wait for each other.
//!
//! The library does the work: it makes threads, shares out loops and runs tasks, and where its threads sleep they make system calls
//! that are seen ([`crate::raw_system_calls`]). But before it sleeps it looks at words of its own, so which thread comes after which is said here:
//! by the start and the end of a team and of a task, and by its barriers. Its locks and critical sections are mutexes.

use std::ffi::{c_char, c_int, c_long, c_uint, c_void};

use crate::annotations::{acquire, release};
use crate::engine::engine;
use crate::interpose::{interpose, real, site};
use crate::shared_memory::unsupported;
use crate::sync::{Limit, barrier, mutex};

type Body = unsafe extern "C-unwind" fn(*mut c_void);
type Copy = unsafe extern "C-unwind" fn(*mut c_void, *mut c_void);

/// The threads that run one parallel region; lies on the stack of the one that began it. The addresses of the single bytes are what is ordered.
pub struct Team {
    body: Body,
    data: *mut c_void,
    begin: u8,
    end: u8,
    barrier: u8,
    copied: u8,
    ordered: u8,
    tasks: u8,
}

/// What tasks outside of any team are ordered by.
static NO_TEAM: u8 = 0;

/// What stands for the critical section without a name, and for atomic statements that are too large for the processor.
#[allow(non_upper_case_globals)]
static omp_critical: u64 = 0;
#[allow(non_upper_case_globals)]
static omp_atomic: u64 = 0;

fn address<T>(place: &T) -> usize {
    std::ptr::from_ref(place) as usize
}

impl Team {
    fn new(body: Body, data: *mut c_void) -> Team {
        Team { body, data, begin: 0, end: 0, barrier: 0, copied: 0, ordered: 0, tasks: 0 }
    }

    fn as_data(&self) -> *mut c_void {
        std::ptr::from_ref(self).cast_mut().cast()
    }
}

/// A thread of the team runs its part.
unsafe extern "C-unwind" fn run(team: *mut c_void) {
    // SAFETY: the region ends after all of its threads, and the team lies where the region began.
    let team: &'static Team = unsafe { &*team.cast::<Team>() };
    let fiber = engine().current();
    let outer = fiber.team.replace(Some(team));
    acquire(address(&team.begin));
    // SAFETY: the program's function, with the data that it gave.
    unsafe { (team.body)(team.data) };
    release(address(&team.end));
    fiber.team.set(outer);
}

fn team() -> Option<&'static Team> {
    engine().current().team.get()
}

/// The place by which the ends of the running team's tasks are ordered.
fn tasks() -> usize {
    team().map_or(address(&NO_TEAM), |team| address(&team.tasks))
}

/// Waits for the other threads of the team. The library's own barrier comes behind it, and finishes what tasks are left.
fn meet(pc: u64) {
    let Some(team) = team() else { return };
    // SAFETY: only asks.
    let threads = unsafe { real!(omp_get_num_threads as unsafe extern "C-unwind" fn() -> c_int)() };
    if engine().running.get() && threads > 1 {
        barrier::meet(address(&team.barrier), threads as u32, pc);
    }
}

/// A parallel region by the library's function of this name, whose first arguments are what is run and the data.
macro_rules! region {
    ($name:ident, $body:expr, $data:expr, ($($rest:ident: $type:ty),*) $(-> $ret:ty)?) => {{
        let team = Team::new($body, $data);
        release(address(&team.begin));
        let result = real!($name as unsafe extern "C-unwind" fn(Body, *mut c_void $(, $type)*) $(-> $ret)?)(
            run, team.as_data() $(, $rest)*);
        acquire(address(&team.end));
        result
    }};
}

/// What precedes the data of a task.
#[repr(C)]
struct Task {
    body: Body,
    /// Where the data are.
    data: *mut c_void,
    /// It comes after others.
    depends: bool,
}

/// A task that is about to be made; lies on the stack of the thread that makes it.
struct Given {
    body: Body,
    copy: Option<Copy>,
    data: *mut c_void,
    bytes: usize,
    align: usize,
    depends: bool,
}

/// Gives the task its data.
unsafe extern "C-unwind" fn copy_task(to: *mut c_void, given: *mut c_void) {
    // SAFETY: the library gives what it was given, and as much memory as was asked for.
    unsafe {
        let given = &*given.cast::<Given>();
        let data = (to as usize + size_of::<Task>()).next_multiple_of(given.align) as *mut c_void;
        to.cast::<Task>().write(Task { body: given.body, data, depends: given.depends });
        match given.copy {
            Some(copy) => copy(data, given.data),
            None => std::ptr::copy_nonoverlapping(given.data.cast::<u8>(), data.cast::<u8>(), given.bytes),
        }
        release(to as usize);
    }
}

/// Some thread of the team runs a task.
unsafe extern "C-unwind" fn run_task(task: *mut c_void) {
    // SAFETY: `copy_task` has put it there.
    let Task { body, data, depends } = unsafe { task.cast::<Task>().read() };
    acquire(task as usize);
    if depends {
        acquire(tasks());
    }
    // SAFETY: the program's function, with the data that it gave.
    unsafe { body(data) };
    release(tasks());
}

interpose! {
    /// Runs a region in a team of threads.
    fn GOMP_parallel(body: Body, data: *mut c_void, threads: c_uint, flags: c_uint) {
        region!(GOMP_parallel, body, data, (threads: c_uint, flags: c_uint))
    }
    /// The same, with reductions that tasks take part in.
    fn GOMP_parallel_reductions(body: Body, data: *mut c_void, threads: c_uint, flags: c_uint) -> c_uint {
        region!(GOMP_parallel_reductions, body, data, (threads: c_uint, flags: c_uint) -> c_uint)
    }
    /// The same, with a few pieces of code that are shared out.
    fn GOMP_parallel_sections(body: Body, data: *mut c_void, threads: c_uint, count: c_uint, flags: c_uint) {
        region!(GOMP_parallel_sections, body, data, (threads: c_uint, count: c_uint, flags: c_uint))
    }
    /// The same, with a loop that is shared out.
    fn GOMP_parallel_loop_static(body: Body, data: *mut c_void, threads: c_uint, start: c_long, end: c_long, step: c_long, chunk: c_long, flags: c_uint) {
        region!(GOMP_parallel_loop_static, body, data, (threads: c_uint, start: c_long, end: c_long, step: c_long, chunk: c_long, flags: c_uint))
    }
    /// The same.
    fn GOMP_parallel_loop_dynamic(body: Body, data: *mut c_void, threads: c_uint, start: c_long, end: c_long, step: c_long, chunk: c_long, flags: c_uint) {
        region!(GOMP_parallel_loop_dynamic, body, data, (threads: c_uint, start: c_long, end: c_long, step: c_long, chunk: c_long, flags: c_uint))
    }
    /// The same.
    fn GOMP_parallel_loop_guided(body: Body, data: *mut c_void, threads: c_uint, start: c_long, end: c_long, step: c_long, chunk: c_long, flags: c_uint) {
        region!(GOMP_parallel_loop_guided, body, data, (threads: c_uint, start: c_long, end: c_long, step: c_long, chunk: c_long, flags: c_uint))
    }
    /// The same.
    fn GOMP_parallel_loop_nonmonotonic_dynamic(body: Body, data: *mut c_void, threads: c_uint, start: c_long, end: c_long, step: c_long, chunk: c_long, flags: c_uint) {
        region!(GOMP_parallel_loop_nonmonotonic_dynamic, body, data, (threads: c_uint, start: c_long, end: c_long, step: c_long, chunk: c_long, flags: c_uint))
    }
    /// The same.
    fn GOMP_parallel_loop_nonmonotonic_guided(body: Body, data: *mut c_void, threads: c_uint, start: c_long, end: c_long, step: c_long, chunk: c_long, flags: c_uint) {
        region!(GOMP_parallel_loop_nonmonotonic_guided, body, data, (threads: c_uint, start: c_long, end: c_long, step: c_long, chunk: c_long, flags: c_uint))
    }
    /// The same.
    fn GOMP_parallel_loop_runtime(body: Body, data: *mut c_void, threads: c_uint, start: c_long, end: c_long, step: c_long, flags: c_uint) {
        region!(GOMP_parallel_loop_runtime, body, data, (threads: c_uint, start: c_long, end: c_long, step: c_long, flags: c_uint))
    }
    /// The same.
    fn GOMP_parallel_loop_nonmonotonic_runtime(body: Body, data: *mut c_void, threads: c_uint, start: c_long, end: c_long, step: c_long, flags: c_uint) {
        region!(GOMP_parallel_loop_nonmonotonic_runtime, body, data, (threads: c_uint, start: c_long, end: c_long, step: c_long, flags: c_uint))
    }
    /// The same.
    fn GOMP_parallel_loop_maybe_nonmonotonic_runtime(body: Body, data: *mut c_void, threads: c_uint, start: c_long, end: c_long, step: c_long, flags: c_uint) {
        region!(GOMP_parallel_loop_maybe_nonmonotonic_runtime, body, data, (threads: c_uint, start: c_long, end: c_long, step: c_long, flags: c_uint))
    }
    /// Waits for the team.
    fn GOMP_barrier() {
        meet(site());
        real!(GOMP_barrier as unsafe extern "C-unwind" fn())();
        acquire(tasks());
    }
    /// Waits for the team, and says whether the region is cancelled.
    fn GOMP_barrier_cancel() -> bool {
        meet(site());
        let cancelled = real!(GOMP_barrier_cancel as unsafe extern "C-unwind" fn() -> bool)();
        acquire(tasks());
        cancelled
    }
    /// A loop ends for the team.
    fn GOMP_loop_end() {
        meet(site());
        real!(GOMP_loop_end as unsafe extern "C-unwind" fn())();
        acquire(tasks());
    }
    /// A loop that may be cancelled ends for the team.
    fn GOMP_loop_end_cancel() -> bool {
        meet(site());
        let cancelled = real!(GOMP_loop_end_cancel as unsafe extern "C-unwind" fn() -> bool)();
        acquire(tasks());
        cancelled
    }
    /// Sections end for the team.
    fn GOMP_sections_end() {
        meet(site());
        real!(GOMP_sections_end as unsafe extern "C-unwind" fn())();
        acquire(tasks());
    }
    /// Sections that may be cancelled end for the team.
    fn GOMP_sections_end_cancel() -> bool {
        meet(site());
        let cancelled = real!(GOMP_sections_end_cancel as unsafe extern "C-unwind" fn() -> bool)();
        acquire(tasks());
        cancelled
    }
    /// One thread runs what comes next, and gets a null pointer; the others get what it has made.
    fn GOMP_single_copy_start() -> *mut c_void {
        let made = real!(GOMP_single_copy_start as unsafe extern "C-unwind" fn() -> *mut c_void)();
        if let Some(team) = team().filter(|_| !made.is_null()) {
            acquire(address(&team.copied));
        }
        made
    }
    /// The thread has made it.
    fn GOMP_single_copy_end(made: *mut c_void) {
        if let Some(team) = team() {
            release(address(&team.copied));
        }
        real!(GOMP_single_copy_end as unsafe extern "C-unwind" fn(*mut c_void))(made);
    }
    /// The part of a loop begins that is run in the order of its rounds.
    fn GOMP_ordered_start() {
        real!(GOMP_ordered_start as unsafe extern "C-unwind" fn())();
        if let Some(team) = team() {
            acquire(address(&team.ordered));
        }
    }
    /// It ends.
    fn GOMP_ordered_end() {
        if let Some(team) = team() {
            release(address(&team.ordered));
        }
        real!(GOMP_ordered_end as unsafe extern "C-unwind" fn())();
    }
    /// Makes a task, or runs it at once.
    fn GOMP_task(body: Body, data: *mut c_void, copy: Option<Copy>, bytes: c_long, align: c_long, is_deferred: bool, flags: c_uint, depends: *mut *mut c_void, priority: c_int, detach: *mut c_void) {
        const DEPENDS: c_uint = 8;
        let align = (align as usize).max(align_of::<Task>());
        let given = Given { body, copy, data, bytes: bytes as usize, align, depends: flags & DEPENDS != 0 };
        let size = size_of::<Task>().next_multiple_of(align) + bytes as usize;
        let place = (&raw const given).cast_mut().cast::<c_void>();
        real!(GOMP_task as unsafe extern "C-unwind" fn(Body, *mut c_void, Option<Copy>, c_long, c_long, bool, c_uint, *mut *mut c_void, c_int, *mut c_void))(
            run_task, place, Some(copy_task), size as c_long, align as c_long, is_deferred, flags, depends, priority, detach);
        if !is_deferred {
            acquire(tasks());
        }
    }
    /// Waits for the tasks that this one has made.
    fn GOMP_taskwait() {
        real!(GOMP_taskwait as unsafe extern "C-unwind" fn())();
        acquire(tasks());
    }
    /// Waits for tasks that work on some memory.
    fn GOMP_taskwait_depend(depends: *mut *mut c_void) {
        real!(GOMP_taskwait_depend as unsafe extern "C-unwind" fn(*mut *mut c_void))(depends);
        acquire(tasks());
    }
    /// Waits for the tasks of a group.
    fn GOMP_taskgroup_end() {
        real!(GOMP_taskgroup_end as unsafe extern "C-unwind" fn())();
        acquire(tasks());
    }
    /// Makes tasks of a loop.
    fn GOMP_taskloop(body: Body) { unsupported("OpenMP's taskloop (GOMP_taskloop)") }
    /// Makes tasks of a loop over large numbers.
    fn GOMP_taskloop_ull(body: Body) { unsupported("OpenMP's taskloop (GOMP_taskloop_ull)") }
    /// Says that a round of a loop has come to a point that others wait for.
    fn GOMP_doacross_post(round: *mut c_long) { unsupported("OpenMP's ordered loops with depend (GOMP_doacross_post)") }
    /// The same for large numbers.
    fn GOMP_doacross_ull_post(round: *mut c_long) { unsupported("OpenMP's ordered loops with depend (GOMP_doacross_ull_post)") }
    /// Enters the critical section that has no name.
    fn GOMP_critical_start() {
        let pc = site();
        mutex::lock(mutex::plain_at(address(&omp_critical)), Limit::Forever, pc);
    }
    /// Leaves it.
    fn GOMP_critical_end() {
        let pc = site();
        mutex::unlock(mutex::plain_at(address(&omp_critical)), pc);
    }
    /// Enters a critical section; each has a word of its own.
    fn GOMP_critical_name_start(name: *mut *mut c_void) {
        let pc = site();
        mutex::lock(mutex::plain_at(name as usize), Limit::Forever, pc);
    }
    /// Leaves it.
    fn GOMP_critical_name_end(name: *mut *mut c_void) {
        let pc = site();
        mutex::unlock(mutex::plain_at(name as usize), pc);
    }
    /// Begins an atomic statement.
    fn GOMP_atomic_start() {
        let pc = site();
        mutex::lock(mutex::plain_at(address(&omp_atomic)), Limit::Forever, pc);
    }
    /// Ends it.
    fn GOMP_atomic_end() {
        let pc = site();
        mutex::unlock(mutex::plain_at(address(&omp_atomic)), pc);
    }
    /// Initialises a lock.
    fn omp_init_lock(lock: *mut c_char) { mutex::begin_plain(lock as usize, site()) }
    /// Initialises a lock, with a hint on how it is used.
    fn omp_init_lock_with_hint(lock: *mut c_char, hint: c_int) { mutex::begin_plain(lock as usize, site()) }
    /// Destroys a lock.
    fn omp_destroy_lock(lock: *mut c_char) { mutex::end_life(lock as usize, false, site()) }
    /// Takes a lock.
    fn omp_set_lock(lock: *mut c_char) {
        let pc = site();
        mutex::lock(mutex::plain_at(lock as usize), Limit::Forever, pc);
    }
    /// Takes a lock if it is free.
    fn omp_test_lock(lock: *mut c_char) -> c_int {
        let pc = site();
        c_int::from(mutex::lock(mutex::plain_at(lock as usize), Limit::Try, pc) == 0)
    }
    /// Gives a lock back.
    fn omp_unset_lock(lock: *mut c_char) {
        let pc = site();
        mutex::unlock(mutex::plain_at(lock as usize), pc);
    }
    /// Initialises a lock that its owner may take again.
    fn omp_init_nest_lock(lock: *mut c_char) { mutex::begin_recursive(lock as usize, site()) }
    /// The same, with a hint on how it is used.
    fn omp_init_nest_lock_with_hint(lock: *mut c_char, hint: c_int) { mutex::begin_recursive(lock as usize, site()) }
    /// Destroys it.
    fn omp_destroy_nest_lock(lock: *mut c_char) { mutex::end_life(lock as usize, false, site()) }
    /// Takes it.
    fn omp_set_nest_lock(lock: *mut c_char) {
        let pc = site();
        mutex::lock(mutex::recursive_at(lock as usize), Limit::Forever, pc);
    }
    /// Takes it if nobody else has it; says how often it is taken.
    fn omp_test_nest_lock(lock: *mut c_char) -> c_int {
        let pc = site();
        let nest = mutex::recursive_at(lock as usize);
        if mutex::lock(nest, Limit::Try, pc) == 0 { nest.levels() as c_int } else { 0 }
    }
    /// Gives it back.
    fn omp_unset_nest_lock(lock: *mut c_char) {
        let pc = site();
        mutex::unlock(mutex::recursive_at(lock as usize), pc);
    }
}
