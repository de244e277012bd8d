//! Ctrl-C and friends.

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::error::CliError;
use crate::output;

/// How long the results of what was found may take after a signal. They are made within a second; whatever keeps them from it must not keep
/// the tool as well.
const RESULTS: Duration = Duration::from_secs(2);
/// The same for a command that finds nothing which would be lost.
const NO_RESULTS: Duration = Duration::from_millis(800);

/// A flag that is raised by the first SIGINT, SIGTERM or SIGHUP. The second ends the tool at once;
/// the processes of the tested program end with it, since their pipes close.
pub fn stop_flag() -> Result<Arc<AtomicBool>, CliError> {
    stop_flag_with(RESULTS)
}

/// The same for a command that only shows again what is known.
pub fn stop_flag_of_showing() -> Result<Arc<AtomicBool>, CliError> {
    stop_flag_with(NO_RESULTS)
}

fn stop_flag_with(patience: Duration) -> Result<Arc<AtomicBool>, CliError> {
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
        // Where there is no thread for it, a second signal does the same.
        let _ = thread::Builder::new().spawn(move || {
            thread::sleep(patience);
            output::say("what was being done could not be ended in time and was left");
            std::process::exit(i32::from(crate::UNABLE));
        });
    })
    .map_err(CliError::Signals)?;
    Ok(stop)
}
