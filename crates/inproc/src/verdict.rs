//! What the value that a test returns says of it.

use std::process::ExitCode;

/// What a test may return.
pub trait Verdict {
    /// What a test returns that has passed.
    fn passed() -> Self;

    /// Whether it says that the test failed.
    fn is_failure(&self) -> bool;
}

impl Verdict for () {
    fn passed() {}

    fn is_failure(&self) -> bool {
        false
    }
}

impl Verdict for ExitCode {
    fn passed() -> ExitCode {
        ExitCode::SUCCESS
    }

    fn is_failure(&self) -> bool {
        *self != ExitCode::SUCCESS
    }
}

impl<T: Verdict, E> Verdict for Result<T, E> {
    fn passed() -> Result<T, E> {
        Ok(T::passed())
    }

    fn is_failure(&self) -> bool {
        self.as_ref().map_or(true, Verdict::is_failure)
    }
}
