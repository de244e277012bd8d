//! What the value that a test returns says of it.

use std::process::ExitCode;

/// What a test may return.
pub trait TestReturn {
    /// What a test returns that has passed.
    fn passed() -> Self;

    /// Whether it says that the test failed.
    fn is_failure(&self) -> bool;
}

impl TestReturn for () {
    fn passed() {}

    fn is_failure(&self) -> bool {
        false
    }
}

impl TestReturn for ExitCode {
    fn passed() -> ExitCode {
        ExitCode::SUCCESS
    }

    fn is_failure(&self) -> bool {
        *self != ExitCode::SUCCESS
    }
}

impl<T: TestReturn, E> TestReturn for Result<T, E> {
    fn passed() -> Result<T, E> {
        Ok(T::passed())
    }

    fn is_failure(&self) -> bool {
        self.as_ref().map_or(true, TestReturn::is_failure)
    }
}
