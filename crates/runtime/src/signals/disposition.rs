//! What the program wants done on a signal: the kernel keeps that.

use std::ffi::c_int;

use super::{is_ours, kinds, mask};
use crate::engine::engine;
use crate::interpose::{interpose, real, site};
use crate::sys;

/// The kernel's record of what is to be done.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct Disposition {
    /// The handler, or `SIG_DFL`, or `SIG_IGN`.
    pub handler: usize,
    flags: u64,
    restorer: usize,
    /// What is blocked while the handler runs.
    pub mask: u64,
}

impl Disposition {
    /// What is to be done on a signal now.
    pub fn of(signal: c_int) -> Disposition {
        let mut disposition = Disposition::default();
        // SAFETY: only reads; the record has the kernel's layout.
        unsafe {
            sys::call(libc::SYS_rt_sigaction, [signal as usize, 0, &raw mut disposition as usize, 8, 0, 0])
        };
        disposition
    }

    /// Whether the program has a handler of its own.
    pub fn is_handled(&self) -> bool {
        self.handler != libc::SIG_DFL && self.handler != libc::SIG_IGN && !is_ours(self.handler)
    }

    /// Whether nothing happens.
    pub fn is_ignored(&self, signal: c_int) -> bool {
        self.handler == libc::SIG_IGN
            || (self.handler == libc::SIG_DFL && kinds::is_ignored_by_default(signal))
    }

    /// Whether the handler was registered with a flag.
    pub fn has(&self, flag: c_int) -> bool {
        self.flags & flag as u32 as u64 != 0
    }
}

/// Whether the program has its own way of dealing with a signal.
pub fn handles(signal: c_int) -> bool {
    let handler = Disposition::of(signal).handler;
    handler != libc::SIG_DFL && !is_ours(handler)
}

/// Whether this runtime catches a signal.
pub fn catches(signal: c_int) -> bool {
    is_ours(Disposition::of(signal).handler)
}

/// The signals among these that the program has handlers for.
pub fn handled(among: u64) -> u64 {
    let handled = super::signals_in(among).filter(|signal| Disposition::of(*signal).is_handled());
    handled.fold(0, |mask, signal| mask | super::bit(signal))
}

type SigactionFn = unsafe extern "C-unwind" fn(c_int, *const libc::sigaction, *mut libc::sigaction) -> c_int;
type AlternateFn = unsafe extern "C-unwind" fn(*const libc::stack_t, *mut libc::stack_t) -> c_int;

/// The C library's function.
///
/// # Safety
/// As the C function.
pub unsafe fn real_sigaction(
    signal: c_int,
    action: *const libc::sigaction,
    old: *mut libc::sigaction,
) -> c_int {
    // SAFETY: as the caller vouches.
    unsafe { real!(sigaction as SigactionFn)(signal, action, old) }
}

/// The C library's function.
///
/// # Safety
/// As the C function.
pub unsafe fn real_alternate_stack(stack: *const libc::stack_t, old: *mut libc::stack_t) -> c_int {
    // SAFETY: as the caller vouches.
    unsafe { real!(sigaltstack as AlternateFn)(stack, old) }
}

interpose! {
    /// Says what is to be done on a signal.
    fn sigaction(signal: c_int, action: *const libc::sigaction, old: *mut libc::sigaction) -> c_int {
        let pc = site();
        let result = real_sigaction(signal, action, old);
        if result == 0 && !action.is_null() {
            crate::processor_clock::handler_changed();
            mask::handler_changed(signal, pc);
        }
        result
    }
    /// Says what is to be done on a signal, in the old way.
    fn signal(signal: c_int, handler: usize) -> usize {
        let pc = site();
        let before = real!(signal as unsafe extern "C-unwind" fn(c_int, usize) -> usize)(signal, handler);
        crate::processor_clock::handler_changed();
        mask::handler_changed(signal, pc);
        before
    }
    /// Gives handlers a stack of their own. The kernel is given it too: it calls handlers of faults.
    fn sigaltstack(stack: *const libc::stack_t, old: *mut libc::stack_t) -> c_int {
        let result = real_alternate_stack(stack, old);
        if result == 0 && let Some(stack) = stack.as_ref() {
            let unusable = stack.ss_flags & libc::SS_DISABLE != 0;
            let low = stack.ss_sp as usize;
            engine().host().alternate_stack.set((!unusable).then_some((low, low + stack.ss_size)));
        }
        result
    }
}
