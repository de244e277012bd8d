//! What the program wants done on a signal: the kernel keeps that.

use std::collections::BTreeMap;
use std::ffi::c_int;

use super::interrupt::before_disposition;
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

    /// The one that `signal` makes of a handler.
    pub fn by(handler: usize) -> Disposition {
        Disposition { handler, ..Disposition::default() }
    }

    /// Has this done on a signal.
    pub fn install(&self, signal: c_int) {
        let place = std::ptr::from_ref(self) as usize;
        // SAFETY: the record has the kernel's layout, and came from there.
        unsafe { sys::call(libc::SYS_rt_sigaction, [signal as usize, place, 0, 8, 0, 0]) };
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

/// Reads up to eight bytes of program memory; none where nothing can be read. Faults of the runtime are not for the program's
/// handlers.
#[inline(always)]
pub fn guarded_load(addr: usize, size: u8) -> Option<u64> {
    if engine().world.signals.handles_faults.get() {
        return load_past_handlers(addr, size);
    }
    crate::arch::guarded_load(addr, size)
}

#[cold]
fn load_past_handlers(addr: usize, size: u8) -> Option<u64> {
    const FAULTS: [c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];
    let before = FAULTS.map(Disposition::of);
    FAULTS.iter().for_each(|signal| super::catch(*signal));
    let value = crate::arch::guarded_load(addr, size);
    FAULTS.iter().zip(&before).for_each(|(signal, disposition)| disposition.install(*signal));
    value
}

/// Whether the program has its own way of dealing with a signal.
pub fn handles(signal: c_int) -> bool {
    let handler = Disposition::of(signal).handler;
    handler != libc::SIG_DFL && !is_ours(handler)
}

/// Whether the program has a handler for a signal.
pub fn has_handler(signal: c_int) -> bool {
    Disposition::of(signal).is_handled()
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

/// Flags and masks that the program gave for fatal signals, by signal.
pub type Faults = BTreeMap<c_int, (c_int, u64)>;

/// The program's wish for a fault, as the kernel is told: one kernel thread runs all threads, so a fault of another thread may come while a
/// handler runs, and is no fault of the handler.
///
/// # Safety
/// As `sigaction`.
unsafe fn fault_action(signal: c_int, action: *const libc::sigaction, old: *mut libc::sigaction) -> c_int {
    const FAULTS: u64 = 1 << (libc::SIGSEGV - 1) | 1 << (libc::SIGBUS - 1);
    let signals = &engine().world.signals;
    let before = signals.faults.borrow_mut().get(&signal).copied();
    // SAFETY: as the caller vouches.
    unsafe {
        let wish = action.as_ref().copied();
        let told = wish.map(|mut told| {
            told.sa_flags |= libc::SA_NODEFER;
            *(&raw mut told.sa_mask).cast::<u64>() &= !FAULTS;
            told
        });
        let told = told.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        let result = real_sigaction(signal, told, old);
        if result == 0
            && let (Some(old), Some((flags, mask))) = (old.as_mut(), before)
        {
            old.sa_flags = flags;
            *(&raw mut old.sa_mask).cast::<u64>() = mask;
        }
        if result == 0
            && let Some(wish) = wish
        {
            signals.handles_faults.set(true);
            let mask = *(&raw const wish.sa_mask).cast::<u64>();
            signals.faults.borrow_mut().insert(signal, (wish.sa_flags, mask));
        }
        result
    }
}

interpose! {
    /// Says what is to be done on a signal.
    fn sigaction(signal: c_int, action: *const libc::sigaction, old: *mut libc::sigaction) -> c_int {
        let pc = site();
        if let Some(action) = action.as_ref() {
            before_disposition(signal, action.sa_sigaction, pc);
        }
        let is_fault = matches!(signal, libc::SIGSEGV | libc::SIGBUS);
        let result = if is_fault { fault_action(signal, action, old) } else { real_sigaction(signal, action, old) };
        if result == 0 && !action.is_null() {
            crate::processor_clock::handler_changed();
            mask::handler_changed(signal, pc);
        }
        result
    }
    /// Says what is to be done on a signal, in the old way.
    fn signal(signal: c_int, handler: usize) -> usize {
        let pc = site();
        before_disposition(signal, handler, pc);
        let before = real!(signal as unsafe extern "C-unwind" fn(c_int, usize) -> usize)(signal, handler);
        if matches!(signal, libc::SIGSEGV | libc::SIGBUS) && before != libc::SIG_ERR {
            // Faults of several threads have to get through.
            let mut action: libc::sigaction = std::mem::zeroed();
            real_sigaction(signal, std::ptr::null(), &mut action);
            fault_action(signal, &action, std::ptr::null_mut());
        }
        crate::processor_clock::handler_changed();
        mask::handler_changed(signal, pc);
        before
    }
    /// Gives handlers a stack of their own. The kernel is given it too: it calls handlers of faults.
    fn sigaltstack(stack: *const libc::stack_t, old: *mut libc::stack_t) -> c_int {
        // One kernel thread runs all threads: whoever is on this stack must not have it overwritten by the next fault.
        const DISARMED_IN_USE: c_int = 1 << 31;
        let told = stack.as_ref().map(|stack| libc::stack_t { ss_flags: stack.ss_flags | DISARMED_IN_USE, ..*stack });
        let result = real_alternate_stack(told.as_ref().map_or(std::ptr::null(), std::ptr::from_ref), old);
        if result == 0 && let Some(old) = old.as_mut() {
            old.ss_flags &= !DISARMED_IN_USE;
        }
        if result == 0 && let Some(stack) = stack.as_ref() {
            let unusable = stack.ss_flags & libc::SS_DISABLE != 0;
            let low = stack.ss_sp as usize;
            engine().host().alternate_stack.set((!unusable).then_some((low, low + stack.ss_size)));
        }
        result
    }
}
