//! Routines that run once.

use std::cell::Cell;
use std::ffi::c_int;

use threadbare_trace::{EventKind, ThreadId};

use super::{note, step, step_when};
use crate::arch;
use crate::engine::engine;
use crate::exclusive::nothing_is_borrowed;
use crate::fiber::{Fiber, Waitable};
use crate::interpose::{interpose, site};

/// What a control holds once its routine has run, as the C library writes it.
const DONE: c_int = 2;

/// A once-control. Whether its routine has run is recorded in its own memory, which may be given back
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

/// The routine has come to its end.
pub fn end(address: usize, pc: u64) {
    step(EventKind::OnceEnd, address, pc);
    drop(Unfinished { once: at(address), is_done: true });
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
}
