//! Ctrl-C and friends.

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::CliError;
use crate::output;

/// How long the user waits for the words about what was found.
///
/// A signal that ended the search asked for what was found, and its words are worth the wait; one that comes while
/// they are made asks for what there is.
#[derive(Clone)]
pub struct Patience(Option<Arc<AtomicBool>>);

impl Patience {
    /// It ends when the flag is raised; never, if it was raised before.
    pub fn from_now_on(stop: &Arc<AtomicBool>) -> Patience {
        Patience((!stop.load(Ordering::SeqCst)).then(|| Arc::clone(stop)))
    }

    /// Whether the user wants it to end.
    pub fn is_over(&self) -> bool {
        self.0.as_ref().is_some_and(|stop| stop.load(Ordering::SeqCst))
    }
}

/// A flag that is raised by the first SIGINT, SIGTERM or SIGHUP. The second ends the tool at once;
/// the processes of the tested program end with it, since their pipes close.
pub fn flag() -> Result<Arc<AtomicBool>, CliError> {
    let stop = Arc::new(AtomicBool::new(false));
    let raised = stop.clone();
    ctrlc::set_handler(move || {
        if raised.swap(true, Ordering::SeqCst) {
            std::process::exit(i32::from(crate::UNABLE));
        }
        if io::stderr().is_terminal() {
            // The line may hold a progress bar.
            eprint!("\r\x1b[K");
        }
        output::say("stopping; what was found is kept (once more to end at once)");
    })
    .map_err(CliError::Signals)?;
    Ok(stop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_signal_that_comes_later_ends_patience() {
        let stop = Arc::new(AtomicBool::new(false));
        let before = Patience::from_now_on(&stop);
        assert!(!before.is_over());
        stop.store(true, Ordering::SeqCst);
        assert!(before.is_over());
        assert!(!Patience::from_now_on(&stop).is_over());
    }
}
