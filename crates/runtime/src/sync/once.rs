//! Routines that run once.

use std::ffi::c_int;

use threadbare_trace::{EventKind, ThreadId};

use super::{note, step_when};
use crate::engine::engine;
use crate::fiber::{Fiber, Waitable};
use crate::interpose::{interpose, site};

/// How far a once-control has come.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Fresh,
    Running(ThreadId),
    Done,
}

/// A once-control.
#[derive(Default)]
pub struct Once {
    address: usize,
    state: State,
}

impl Waitable for Once {
    fn ready(&self, _fiber: &Fiber) -> bool {
        !matches!(self.state, State::Running(_))
    }

    fn what(&self) -> String {
        format!("the once-routine of <obj {:#x}>", self.address)
    }

    fn holder(&self) -> Option<ThreadId> {
        match self.state {
            State::Running(thread) => Some(thread),
            _ => None,
        }
    }
}

/// Puts a control back to fresh if its routine leaves by an exception or the thread's end.
struct Unfinished(*mut Once);

impl Drop for Unfinished {
    fn drop(&mut self) {
        // SAFETY: table entries are never dropped.
        unsafe { (*self.0).state = State::Fresh };
        engine().changed();
    }
}

/// Runs the routine unless that has been done.
///
/// # Safety
/// The routine must be callable.
pub unsafe fn run(control: usize, routine: unsafe extern "C-unwind" fn(), pc: u64) {
    let place = engine().world.onces.entry(control).or_default();
    place.address = control;
    let once: *mut Once = &mut **place;
    step_when(EventKind::OnceBegin, control, pc, Some(once as *const Once), false);
    // SAFETY: boxed and never dropped.
    unsafe {
        if (*once).state == State::Done {
            note(EventKind::OnceSeen, control, 0);
            return;
        }
        (*once).state = State::Running(engine().current_id());
        note(EventKind::OnceBegin, control, 0);
        let unfinished = Unfinished(once);
        routine();
        std::mem::forget(unfinished);
        (*once).state = State::Done;
    }
    engine().changed();
    note(EventKind::OnceEnd, control, 0);
}

interpose! {
    /// Runs a routine once.
    fn pthread_once(control: *mut c_int, routine: unsafe extern "C-unwind" fn()) -> c_int {
        let pc = site();
        run(control as usize, routine, pc);
        0
    }
}
