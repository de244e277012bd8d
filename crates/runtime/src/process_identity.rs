//! Who the process and its threads are to the program.
//!
//! Every execution is another process, but all of them continue from one beginning, in which the
//! program may have noted its own number. So the number is made up and the same for all: what
//! depends on it, be it a file name or the seed of a random generator, repeats in a replay.

use std::cell::Cell;
use std::ffi::{c_int, c_uint};

use libc::{cpu_set_t, id_t, rlimit, sched_param};
use threadbare_trace::ThreadId;
use threadbare_wire::PROCESS_NUMBER;

use crate::engine::engine;
use crate::fiber::Fiber;
use crate::interpose::{interpose, real};
use crate::signals::send;
use crate::sync::or_errno;
use crate::{processors, sys};

/// What a process that the program made itself has to know.
#[derive(Clone, Copy)]
struct Copied {
    parent: c_int,
    /// What the parent took itself for.
    parent_said: c_int,
    forker: ThreadId,
}

/// Who this process is to the program.
#[derive(Default)]
pub struct Identity {
    copied: Cell<Option<Copied>>,
}

/// The kernel's number for this process.
fn kernel_process() -> c_int {
    // SAFETY: always succeeds.
    unsafe { sys::call(libc::SYS_getpid, [0; 6]) as c_int }
}

/// The program's number for this process.
pub fn process() -> c_int {
    if engine().world.identity.copied.get().is_some() { kernel_process() } else { PROCESS_NUMBER }
}

/// Whether the program has made this process itself.
pub fn is_copy() -> bool {
    engine().world.identity.copied.get().is_some()
}

/// The program's number for a thread: that of the process for the first one.
pub fn thread(fiber: &Fiber) -> c_int {
    let first = engine().world.identity.copied.get().map_or(ThreadId::MAIN, |copied| copied.forker);
    let id = fiber.owner();
    if id == first { process() } else { process() + 1 + c_int::from(id.0) }
}

/// The live thread with this number; zero is the running one.
pub fn find_thread(number: c_int) -> Option<&'static Fiber> {
    let engine = engine();
    if number == 0 {
        return Some(engine.host());
    }
    engine.threads.live().find(|fiber| fiber.interrupt.is_none() && thread(fiber) == number)
}

/// The number that the parent of the tested program has to it.
const PARENT_NUMBER: c_int = PROCESS_NUMBER - 1;

/// The program's number for the parent process.
pub fn parent() -> c_int {
    match engine().world.identity.copied.get() {
        Some(copied) if copied.parent == kernel_parent() => copied.parent_said,
        Some(_) => kernel_parent(),
        None => PARENT_NUMBER,
    }
}

fn kernel_parent() -> c_int {
    // SAFETY: always succeeds.
    unsafe { sys::call(libc::SYS_getppid, [0; 6]) as c_int }
}

/// Whom a signal to this number is for; `None` for this process.
pub fn receiver(number: c_int) -> Option<c_int> {
    match engine().world.identity.copied.get() {
        _ if number == process() => None,
        Some(copied) if copied.parent_said == number => Some(copied.parent),
        None if number == PARENT_NUMBER => Some(kernel_parent()),
        _ => Some(number),
    }
}

/// Called before the program copies itself; the result is for the copy.
pub fn before_copy() -> impl FnOnce() {
    let copied = Copied { parent: kernel_process(), parent_said: process(), forker: engine().current_id() };
    move || engine().world.identity.copied.set(Some(copied))
}

/// The kernel's way to say "the caller" for any thread of this process: one kernel thread runs
/// them all.
fn kernel_number(number: c_int) -> c_int {
    if number == process() || find_thread(number).is_some() { 0 } else { number }
}

interpose! {
    /// The number of this process.
    fn getpid() -> c_int { process() }
    /// The number of the parent process.
    fn getppid() -> c_int { parent() }
    /// The processor that runs this thread: there is one.
    fn sched_getcpu() -> c_int { 0 }
    /// The processor and the node that run this thread.
    fn getcpu(processor: *mut c_uint, node: *mut c_uint) -> c_int {
        for place in [processor, node].into_iter().filter(|place| !place.is_null()) {
            *place = 0;
        }
        0
    }
    /// The number of this thread.
    fn gettid() -> c_int { thread(engine().current()) }
    /// The processors of a thread.
    fn sched_getaffinity(number: c_int, size: usize, set: *mut cpu_set_t) -> c_int {
        real!(sched_getaffinity as unsafe extern "C-unwind" fn(c_int, usize, *mut cpu_set_t) -> c_int)(kernel_number(number), size, set)
    }
    /// Pins a thread: of no effect where one thread runs at a time.
    fn sched_setaffinity(number: c_int, size: usize, set: *const cpu_set_t) -> c_int {
        match kernel_number(number) {
            0 => or_errno(processors::refused(set.cast(), size)),
            other => real!(sched_setaffinity as unsafe extern "C-unwind" fn(c_int, usize, *const cpu_set_t) -> c_int)(other, size, set),
        }
    }
    /// A thread's scheduling policy.
    fn sched_getscheduler(number: c_int) -> c_int {
        real!(sched_getscheduler as unsafe extern "C-unwind" fn(c_int) -> c_int)(kernel_number(number))
    }
    /// Sets a thread's scheduling policy: of no effect here.
    fn sched_setscheduler(number: c_int, policy: c_int, parameters: *const sched_param) -> c_int {
        match kernel_number(number) {
            0 => 0,
            other => real!(sched_setscheduler as unsafe extern "C-unwind" fn(c_int, c_int, *const sched_param) -> c_int)(other, policy, parameters),
        }
    }
    /// A thread's scheduling parameters.
    fn sched_getparam(number: c_int, parameters: *mut sched_param) -> c_int {
        real!(sched_getparam as unsafe extern "C-unwind" fn(c_int, *mut sched_param) -> c_int)(kernel_number(number), parameters)
    }
    /// Sets a thread's scheduling parameters: of no effect here.
    fn sched_setparam(number: c_int, parameters: *const sched_param) -> c_int {
        match kernel_number(number) {
            0 => 0,
            other => real!(sched_setparam as unsafe extern "C-unwind" fn(c_int, *const sched_param) -> c_int)(other, parameters),
        }
    }
    /// A thread's nice value.
    fn getpriority(which: c_int, who: id_t) -> c_int {
        real!(getpriority as unsafe extern "C-unwind" fn(c_int, id_t) -> c_int)(which, whose(which, who))
    }
    /// Sets a thread's nice value: of no effect on threads of this process.
    fn setpriority(which: c_int, who: id_t, priority: c_int) -> c_int {
        if which == libc::PRIO_PROCESS as c_int && whose(which, who) == 0 {
            return 0;
        }
        real!(setpriority as unsafe extern "C-unwind" fn(c_int, id_t, c_int) -> c_int)(which, who, priority)
    }
    /// Reads or sets a limit.
    fn prlimit(number: c_int, resource: c_int, new: *const rlimit, old: *mut rlimit) -> c_int {
        real!(prlimit as unsafe extern "C-unwind" fn(c_int, c_int, *const rlimit, *mut rlimit) -> c_int)(kernel_number(number), resource, new, old)
    }
    /// The group of a process.
    fn getpgid(number: c_int) -> c_int {
        real!(getpgid as unsafe extern "C-unwind" fn(c_int) -> c_int)(kernel_number(number))
    }
    /// The session of a process.
    fn getsid(number: c_int) -> c_int {
        real!(getsid as unsafe extern "C-unwind" fn(c_int) -> c_int)(kernel_number(number))
    }
}

fn whose(which: c_int, who: id_t) -> id_t {
    if which == libc::PRIO_PROCESS as c_int { kernel_number(who as c_int) as id_t } else { who }
}

/// A system call by number that asks who somebody is, or sends somebody a signal; `None` for
/// other calls.
pub fn call(number: i64, args: [usize; 3], pc: u64) -> Option<isize> {
    let word = |index: usize| args[index] as c_int;
    Some(match number {
        libc::SYS_getpid => process() as isize,
        libc::SYS_getppid => parent() as isize,
        libc::SYS_gettid => thread(engine().current()) as isize,
        libc::SYS_kill => -(send::to_process(word(0), word(1), libc::SI_USER, 0, pc) as isize),
        libc::SYS_tkill => -(send::to_thread(find_thread(word(0)), word(1), libc::SI_TKILL, 0, pc) as isize),
        libc::SYS_tgkill => -(send::to_thread(find_thread(word(1)), word(2), libc::SI_TKILL, 0, pc) as isize),
        libc::SYS_sched_getaffinity => {
            // SAFETY: the program's own place for the answer.
            unsafe { sys::call(number, [kernel_number(word(0)) as usize, args[1], args[2], 0, 0, 0]) }
        }
        // SAFETY: the program's own set.
        libc::SYS_sched_setaffinity if kernel_number(word(0)) == 0 => unsafe {
            -(processors::refused(args[2] as *const u8, args[1]) as isize)
        },
        _ => return None,
    })
}
