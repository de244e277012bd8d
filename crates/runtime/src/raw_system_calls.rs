//! System calls that code of the program makes by the processor's instruction: inline assembly, and libraries such as GCC's for OpenMP.
//!
//! Where code that is loaded looks as if it had such an instruction, the kernel is told to make an exception of each call that comes from
//! outside of the C library (Syscall User Dispatch), and the call is answered as if it had come by the function `syscall`. That happens on the
//! stack of the thread, so others may run before it is answered.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::ops::Range;

use crate::engine::engine;
use crate::{arch, dependences, interpose, program, signals, spin, sys, thread_state_hash};

/// What the kernel says of an exception that it was told to make of a system call.
const MADE_OF_A_CALL: c_int = 2;

/// Where calls are looked at, and where they come from that are not.
#[derive(Default)]
pub struct RawSystemCalls {
    allowed: Cell<Option<(u64, u64)>>,
}

/// Begins to look at such calls, if the program may make any.
pub fn init() {
    let libraries = engine().world.libraries();
    if !libraries.program_code().any(arch::may_make_system_calls) {
        return;
    }
    let Some(allowed) = libraries.c_library_proper() else { return };
    // SAFETY: the handler lives as long as the process, and takes the kernel's records.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = caught as *const () as usize;
        // On the thread's own stack: another thread may make such a call before this one is answered.
        action.sa_flags = libc::SA_SIGINFO | libc::SA_NODEFER;
        signals::real_sigaction(libc::SIGSYS, &action, std::ptr::null_mut());
    }
    if watch(allowed.clone()) {
        engine().world.raw_system_calls.allowed.set(Some((allowed.start, allowed.end)));
    } else {
        dependences::note_unseen("instructions that make system calls");
    }
}

/// This process is a copy, of which the kernel knows nothing yet.
pub fn watch_again() {
    if let Some((start, end)) = engine().world.raw_system_calls.allowed.get() {
        watch(start..end);
    }
}

/// Threads are the system's own: their calls are left alone.
pub fn leave_alone() {
    if engine().world.raw_system_calls.allowed.take().is_some() {
        arch::trap_no_system_calls();
        engine().shared.warn(
            "system calls that the program's code makes by instructions, as OpenMP's library does, are not controlled with --threads os",
        );
    }
}

fn watch(allowed: Range<u64>) -> bool {
    arch::trap_system_calls(allowed)
}

/// Whether a handler is this one.
pub fn is_handler(handler: usize) -> bool {
    handler == caught as *const () as usize
}

extern "C" fn caught(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes valid records.
    if unsafe { (*info).si_code } != MADE_OF_A_CALL {
        return signals::caught(signal, info, context);
    }
    // SAFETY: as above; the program vouches for the call as it made it. Its `errno` is not for us to change.
    unsafe {
        let errno = libc::__errno_location();
        let before = *errno;
        let (number, arguments, _) = arch::trapped_system_call(context);
        let result = if interpose::controlled() {
            arch::enter_by_exception(context);
            engine().recorder.complete_write();
            spin::called();
            thread_state_hash::called(&arguments);
            program::syscall::answer(number, arguments)
        } else {
            sys::call(number, arguments)
        };
        *libc::__errno_location() = before;
        arch::answer_system_call(context, result);
    }
}
