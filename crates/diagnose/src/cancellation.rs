//! When the user no longer waits for a diagnosis.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Whether the user asked for the diagnosis to end.
///
/// A signal that ended the search asked for what was found, so the diagnosis is still made; a signal that comes while it
/// is made asks for what there is.
#[derive(Clone)]
pub struct Cancellation {
    stop: Option<Arc<AtomicBool>>,
    end: Option<Instant>,
}

impl Cancellation {
    /// It is requested when the flag is raised; never, if it was raised before.
    pub fn from_now_on(stop: &Arc<AtomicBool>) -> Cancellation {
        Cancellation { stop: (!stop.load(Ordering::SeqCst)).then(|| Arc::clone(stop)), end: None }
    }

    /// Requested at this time in any case.
    pub fn at_the_latest(self, end: Option<Instant>) -> Cancellation {
        Cancellation { end, ..self }
    }

    /// Whether the user wants it to end.
    pub fn is_requested(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::SeqCst))
            || self.end.is_some_and(|end| Instant::now() >= end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_signal_that_comes_later_cancels() {
        let stop = Arc::new(AtomicBool::new(false));
        let before = Cancellation::from_now_on(&stop);
        assert!(!before.is_requested());
        stop.store(true, Ordering::SeqCst);
        assert!(before.is_requested());
        let later = Cancellation::from_now_on(&stop);
        assert!(!later.is_requested());
        assert!(later.at_the_latest(Some(Instant::now())).is_requested());
    }
}
