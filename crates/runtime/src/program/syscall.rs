//! The C library's `syscall`, through which Rust's standard library and others reach the kernel.

use std::ffi::{c_int, c_long, c_void};

use libc::timespec;

use super::{identities, io};
use crate::engine::engine;
use crate::interpose::{instrumented_site, interpose, site};
use crate::sync::{futex, or_errno};
use crate::{entropy, process_identity, sys, time};

/// Answers a system call; errors come back as negative numbers.
///
/// # Safety
/// As the system call.
pub unsafe fn answer(number: c_long, args: [usize; 6]) -> isize {
    let [a, b, c, d, _, f] = args;
    crate::dependences::system_call(number, &args);
    // SAFETY: as the caller vouches.
    unsafe {
        crate::files::before_system_call(number, [a, b, c, d]);
        match number {
            libc::SYS_futex => futex::call(a, b, c, d, f, instrumented_site()),
            libc::SYS_getrandom => {
                entropy::fill(a as *mut c_void, b);
                b as isize
            }
            libc::SYS_sched_yield => {
                time::give_way(site());
                0
            }
            libc::SYS_clock_gettime => {
                of_function(time::clock_gettime(a as c_int, b as *mut timespec) as isize)
            }
            libc::SYS_nanosleep => {
                of_function(time::nanosleep(a as *const timespec, b as *mut timespec) as isize)
            }
            libc::SYS_read => of_function(io::read(a as c_int, b as *mut c_void, c)),
            libc::SYS_write => of_function(io::write(a as c_int, b as *const c_void, c)),
            number if crate::arch::makes_process(number) => {
                crate::shared_memory::unsupported("a system call that makes threads or processes by hand")
            }
            number if identities::changes_one_thread(number) && engine().running.get() => {
                crate::shared_memory::unsupported("a system call that changes the identity of one thread")
            }
            _ => match process_identity::call(number, [a, b, c], site()) {
                Some(result) => result,
                None => sys::call(number, args),
            },
        }
    }
}

/// The result of a C function that reports errors by `errno`, as a system call has it.
fn of_function(result: isize) -> isize {
    // SAFETY: every thread has an errno.
    if result == -1 { -(unsafe { *libc::__errno_location() } as isize) } else { result }
}

interpose! {
    /// A system call by number.
    fn syscall(number: c_long, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> c_long {
        let result = answer(number, [a, b, c, d, e, f]);
        if (-4095..0).contains(&result) {
            return c_long::from(or_errno(-result as c_int));
        }
        result as c_long
    }
}
