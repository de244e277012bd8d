//! An execution as a criterion looks at it.

use threadbare_trace::Event;

/// The events of an execution, and where in the program's own code each was made.
///
/// Library code is reached from many places: with `std::lock_guard` all mutexes are locked by one instruction in a
/// header of the system. So a step's *place* is the innermost address in the program's own code. Who
/// that belongs to is not known here; the caller supplies it.
pub struct ObservedExecution<'a> {
    /// What happened, in order.
    pub events: &'a [Event],
    place: &'a dyn Fn(&Event) -> u64,
    /// Whether the execution failed. Then threads may not have come to their ends.
    pub failed: bool,
}

impl<'a> ObservedExecution<'a> {
    /// An execution that passed, with its places.
    pub fn new(events: &'a [Event], place: &'a dyn Fn(&Event) -> u64) -> ObservedExecution<'a> {
        ObservedExecution { events, place, failed: false }
    }

    /// An execution of a program all of whose code is its own.
    pub fn plain(events: &'a [Event]) -> ObservedExecution<'a> {
        ObservedExecution { events, place: &|event| event.pc, failed: false }
    }

    /// The same execution, and whether it failed.
    pub fn ended(self, failed: bool) -> ObservedExecution<'a> {
        ObservedExecution { failed, ..self }
    }

    /// Where in the program's own code a step was made, as a code address.
    #[inline]
    pub fn place(&self, event: &Event) -> u64 {
        (self.place)(event)
    }
}
