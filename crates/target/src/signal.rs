//! Names of signals.

/// The name of a signal, and what it commonly means.
pub(crate) fn describe(signal: i32) -> (&'static str, &'static str) {
    match signal {
        libc::SIGSEGV => ("SIGSEGV", "invalid memory access"),
        libc::SIGBUS => ("SIGBUS", "invalid memory access"),
        libc::SIGILL => ("SIGILL", "illegal instruction"),
        libc::SIGFPE => ("SIGFPE", "arithmetic error"),
        libc::SIGTRAP => ("SIGTRAP", "trap"),
        libc::SIGSYS => ("SIGSYS", "forbidden system call"),
        libc::SIGABRT => ("SIGABRT", "abort"),
        libc::SIGKILL => ("SIGKILL", "killed"),
        libc::SIGTERM => ("SIGTERM", "asked to end"),
        libc::SIGINT => ("SIGINT", "interrupted"),
        libc::SIGHUP => ("SIGHUP", "hung up"),
        libc::SIGPIPE => ("SIGPIPE", "write to a closed pipe"),
        libc::SIGALRM => ("SIGALRM", "alarm"),
        libc::SIGXCPU => ("SIGXCPU", "processor time limit"),
        libc::SIGXFSZ => ("SIGXFSZ", "file size limit"),
        libc::SIGUSR1 => ("SIGUSR1", "user signal"),
        libc::SIGUSR2 => ("SIGUSR2", "user signal"),
        _ => ("a signal", "unknown to threadbare"),
    }
}
