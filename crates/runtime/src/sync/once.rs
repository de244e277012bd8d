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

impl Once {
    /// Its routine is left: others may run it, unless it has come to its end.
    fn is_left(&self, is_done: bool) {
        self.running.set(None);
        engine().changed();
        note(EventKind::OnceEnd, self.address, u64::from(!is_done));
    }
}

/// A thread ends, maybe in a routine: a stack is not unwound any further than there is information about its frames.
pub fn gives_up_routines(fiber: &Fiber) {
    while let Some(once) = fiber.once_routines.borrow_mut().pop() {
        once.is_left(false);
    }
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
        engine().current().once_routines.borrow_mut().retain(|once| !std::ptr::eq(*once, self.once));
        self.once.is_left(self.is_done);
    }
}

/// Waits until nobody runs the routine of a control, and begins to run it unless that has been done; says whether it has begun.
pub fn begin(address: usize, is_done: impl FnOnce() -> bool, pc: u64) -> bool {
    let once = at(address);
    step_when(EventKind::OnceBegin, address, pc, Some(once), None);
    if is_done() {
        note(EventKind::OnceSeen, address, 0);
        return false;
    }
    once.running.set(Some(engine().current_id()));
    engine().current().once_routines.borrow_mut().push(once);
    note(EventKind::OnceBegin, address, 0);
    true
}

/// The routine is left, by its end or in another way.
pub fn end(address: usize, is_done: bool, pc: u64) {
    step(EventKind::OnceEnd, address, pc);
    drop(Unfinished { once: at(address), is_done });
}

fn at(address: usize) -> &'static Once {
    engine().world.onces.at(address, || Once { address, running: Cell::new(None) })
}

/// Runs the routine unless that has been done.
///
/// # Safety
/// The control must be one, and the routine callable.
pub unsafe fn run(control: *mut c_int, routine: impl FnOnce(), pc: u64) {
    let registers = arch::registers();
    let address = control as usize;
    // SAFETY: the control is the program's.
    unsafe {
        if !begin(address, || *control == DONE, pc) {
            return;
        }
        let mut unfinished = Unfinished { once: at(address), is_done: false };
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
        run(control, || routine(), pc);
        0
    }
    /// Asks whether the caller is to initialise a local variable.
    fn __cxa_guard_acquire(guard: *const u8) -> c_int {
        let pc = site();
        c_int::from(begin(guard as usize, || *guard == INITIALISED, pc))
    }
    /// A local variable is initialised.
    fn __cxa_guard_release(guard: *mut u8) {
        let pc = site();
        atomics::store_for_library(guard as usize, INITIALISED, pc);
        end(guard as usize, true, pc);
    }
    /// The initialisation of a local variable was left by an exception.
    fn __cxa_guard_abort(guard: *mut u8) {
        end(guard as usize, false, site());
    }
}
