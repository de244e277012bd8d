//! When the user no longer waits for a diagnosis.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the user asked for the diagnosis to end.
///
/// A signal that ended the search asked for what was found, so the diagnosis is still made; a signal that comes while it
/// is made asks for what there is.
#[derive(Clone)]
pub struct Cancellation(Option<Arc<AtomicBool>>);

impl Cancellation {
    /// It is requested when the flag is raised; never, if it was raised before.
    pub fn from_now_on(stop: &Arc<AtomicBool>) -> Cancellation {
        Cancellation((!stop.load(Ordering::SeqCst)).then(|| Arc::clone(stop)))
    }

    /// Whether the user wants it to end.
    pub fn is_requested(&self) -> bool {
        self.0.as_ref().is_some_and(|stop| stop.load(Ordering::SeqCst))
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
        assert!(!Cancellation::from_now_on(&stop).is_requested());
    }
}
