//! What POSIX and Linux say of single signals.

use std::ffi::c_int;

/// The first signal of which several can wait at the same time.
pub const FIRST_QUEUED: c_int = 32;

/// Whether a second one is lost while a first one waits.
pub fn coalesces(signal: c_int) -> bool {
    signal < FIRST_QUEUED
}

/// Whether nothing happens by default.
pub fn is_ignored_by_default(signal: c_int) -> bool {
    matches!(signal, libc::SIGCHLD | libc::SIGURG | libc::SIGWINCH | libc::SIGCONT)
}

/// Whether it stops the process by default.
pub fn stops(signal: c_int) -> bool {
    matches!(signal, libc::SIGSTOP | libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU)
}

/// Signals that nobody can block or handle.
pub const UNSTOPPABLE: u64 = (1 << (libc::SIGKILL - 1)) | (1 << (libc::SIGSTOP - 1));
