//! Where in the program's own code the steps of executions were made.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use threadbare_target::{Execution, Modules, Symbols};
use threadbare_trace::Event;

/// Finds places, and remembers them for as long as the same code is loaded.
#[derive(Default)]
pub(crate) struct Places {
    known: Option<Known>,
}

struct Known {
    modules: Arc<Modules>,
    symbols: Symbols,
    /// Which code addresses are in the program's own code.
    own: RefCell<HashMap<u64, bool>>,
}

impl Places {
    /// Calls `look` with a function that tells the places of an execution's steps.
    pub(crate) fn show(&mut self, run: &Execution, look: impl FnOnce(&dyn Fn(&Event) -> u64)) {
        let is_other = |known: &Known| *known.modules != *run.modules;
        // A program's servers load it alike, and most executions share one list.
        if self
            .known
            .as_ref()
            .is_some_and(|known| !Arc::ptr_eq(&known.modules, &run.modules) && is_other(known))
        {
            self.known = None;
        }
        let known = self.known.get_or_insert_with(|| Known {
            modules: Arc::clone(&run.modules),
            symbols: Symbols::new(&run.modules),
            own: RefCell::default(),
        });
        look(&|event| known.place(event, run));
    }
}

impl Known {
    /// The innermost address in the program's own code, or that of the step itself if nothing of its own led to it.
    fn place(&self, event: &Event, run: &Execution) -> u64 {
        if self.is_own(event.pc) {
            return event.pc;
        }
        let call = |number: u32| run.contexts.get((number as usize).checked_sub(1)?);
        let mut callers = std::iter::successors(call(event.context), |inner| call(inner.parent));
        callers.find(|caller| self.is_own(caller.pc)).map_or(event.pc, |caller| caller.pc)
    }

    fn is_own(&self, pc: u64) -> bool {
        *self.own.borrow_mut().entry(pc).or_insert_with(|| self.symbols.own_frame(pc).is_some())
    }
}
