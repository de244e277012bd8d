//! What is done once: routines with a control, and the initialisation of local variables of C++ with a guard.

use std::cell::Cell;
use std::ffi::c_int;

use threadbare_trace::{EventKind, ThreadId};

use super::{note, step, step_when};
use crate::engine::engine;
use crate::exclusive::nothing_is_borrowed;
use crate::fiber::{Fiber, Waitable};
use crate::interpose::{interpose, site};
use crate::{arch, atomics};

/// What a control holds once its routine has run, as the C library writes it.
const DONE: c_int = 2;

/// What the first byte of a guard holds once its variable is initialised, as the C++ ABI has it. Compiled code looks at this byte itself, and
/// calls only if it finds something else.
const INITIALISED: u8 = 1;

/// A once-control, or a guard. Whether it is done is recorded in its own memory, which may be given back
/// and become another control.
pub struct Once {
    address: usize,
    running: Cell<Option<ThreadId>>,
}

impl Waitable for Once {
    fn ready(&self, _fiber: &Fiber) -> bool {
        self.running.get().is_none()
    }

    fn what(&self) -> String {
        format!("the once-routine of <obj {:#x}>", self.address)
    }

    fn holder(&self) -> Option<ThreadId> {
        self.running.get()
    }
}

/// Lets others at a control when its routine is left: by its end, an exception or the thread's end.
struct Unfinished {
    once: &'static Once,
    /// The routine has come to its end.
    is_done: bool,
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        self.once.end(self.is_done);
    }
}

impl Once {
    fn at(address: usize) -> &'static Once {
        engine().world.onces.at(address, || Once { address, running: Cell::new(None) })
    }

    /// Waits while another thread is at it; says whether the running thread is to do it now.
    fn begin(&self, is_done: impl Fn() -> bool, pc: u64) -> bool {
        step_when(EventKind::OnceBegin, self.address, pc, Some(self), None);
        if is_done() {
            note(EventKind::OnceSeen, self.address, 0);
            return false;
        }
        self.running.set(Some(engine().current_id()));
        note(EventKind::OnceBegin, self.address, 0);
        true
    }

    /// The running thread is no longer at it.
    fn end(&self, is_done: bool) {
        self.running.set(None);
        engine().changed();
        note(EventKind::OnceEnd, self.address, u64::from(!is_done));
    }
}

/// Runs the routine unless that has been done.
///
/// # Safety
/// The control must be one, and the routine callable.
pub unsafe fn run(control: *mut c_int, routine: unsafe extern "C-unwind" fn(), pc: u64) {
    let registers = arch::registers();
    let address = control as usize;
    let once = Once::at(address);
    // SAFETY: the control is the program's.
    unsafe {
        if !once.begin(|| *control == DONE, pc) {
            return;
        }
        let mut unfinished = Unfinished { once, is_done: false };
        nothing_is_borrowed();
        routine();
        // The routine has called the runtime; and others that come meanwhile wait.
        arch::set_registers(registers);
        step(EventKind::OnceEnd, address, pc);
        *control = DONE;
        unfinished.is_done = true;
    }
}

interpose! {
    /// Runs a routine once.
    fn pthread_once(control: *mut c_int, routine: unsafe extern "C-unwind" fn()) -> c_int {
        let pc = site();
        run(control, routine, pc);
        0
    }
    /// Asks whether the caller is to initialise a local variable.
    fn __cxa_guard_acquire(guard: *const u8) -> c_int {
        let pc = site();
        c_int::from(Once::at(guard as usize).begin(|| *guard == INITIALISED, pc))
    }
    /// A local variable is initialised.
    fn __cxa_guard_release(guard: *mut u8) {
        let pc = site();
        atomics::store_for_library(guard as usize, INITIALISED, pc);
        step(EventKind::OnceEnd, guard as usize, pc);
        Once::at(guard as usize).end(true);
    }
    /// The initialisation of a local variable was left by an exception.
    fn __cxa_guard_abort(guard: *mut u8) {
        let pc = site();
        step(EventKind::OnceEnd, guard as usize, pc);
        Once::at(guard as usize).end(false);
    }
}
