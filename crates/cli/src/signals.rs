//! Ctrl-C and friends.

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::CliError;
use crate::output;

/// A flag that is raised by the first SIGINT, SIGTERM or SIGHUP. The second ends the tool at once;
/// the processes of the tested program end with it, since their pipes close.
pub fn stop_flag() -> Result<Arc<AtomicBool>, CliError> {
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
