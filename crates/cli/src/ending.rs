//! How a command ends: what was found counts for more than what could not be written.

use crate::error::CliError;
use crate::output;

/// The end of a command, while results are printed and written.
///
/// Each of them is tried whatever became of those before. Where something was found the exit status says so even if a result could not be
/// written; the problem is only said.
pub struct Ending {
    found: bool,
    problem: Option<CliError>,
}

impl Ending {
    /// Of a command that has found something, or nothing.
    pub fn of(found: bool) -> Ending {
        Ending { found, problem: None }
    }

    /// Takes note of what became of a result.
    pub fn note(&mut self, result: Result<(), CliError>) {
        let Err(error) = result else { return };
        match &self.problem {
            None if !self.found => self.problem = Some(error),
            _ => output::say(&error.to_string()),
        }
    }

    /// The exit status.
    pub fn status(self) -> Result<u8, CliError> {
        match (self.found, self.problem) {
            (true, _) => Ok(crate::FOUND),
            (false, None) => Ok(crate::NOTHING),
            (false, Some(problem)) => Err(problem),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem() -> Result<(), CliError> {
        Err(CliError::Usage("no room".into()))
    }

    #[test]
    fn what_was_found_is_in_the_exit_status_whatever_could_not_be_written() {
        for problems in 0..3 {
            let mut found = Ending::of(true);
            (0..problems).for_each(|_| found.note(problem()));
            found.note(Ok(()));
            assert!(matches!(found.status(), Ok(crate::FOUND)), "{problems}");
        }
    }

    #[test]
    fn a_result_that_cannot_be_written_is_an_error_where_nothing_was_found() {
        let mut nothing = Ending::of(false);
        nothing.note(Ok(()));
        nothing.note(problem());
        nothing.note(problem());
        assert!(nothing.status().is_err());
        assert!(matches!(Ending::of(false).status(), Ok(crate::NOTHING)));
    }
}
