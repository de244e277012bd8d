//! Signals, and the masks that block them.

use std::fmt;

use crate::ThreadId;

/// The names of Linux' signals, from 1 on.
const NAMES: [&str; 31] = [
    "SIGHUP",
    "SIGINT",
    "SIGQUIT",
    "SIGILL",
    "SIGTRAP",
    "SIGABRT",
    "SIGBUS",
    "SIGFPE",
    "SIGKILL",
    "SIGUSR1",
    "SIGSEGV",
    "SIGUSR2",
    "SIGPIPE",
    "SIGALRM",
    "SIGTERM",
    "SIGSTKFLT",
    "SIGCHLD",
    "SIGCONT",
    "SIGSTOP",
    "SIGTSTP",
    "SIGTTIN",
    "SIGTTOU",
    "SIGURG",
    "SIGXCPU",
    "SIGXFSZ",
    "SIGVTALRM",
    "SIGPROF",
    "SIGWINCH",
    "SIGIO",
    "SIGPWR",
    "SIGSYS",
];

/// The first signal that programs may use as they like, to the C library.
const FIRST_FREE: i32 = 34;

/// The name of a signal.
pub fn signal_name(signal: i32) -> String {
    let known = usize::try_from(signal - 1).ok().and_then(|index| NAMES.get(index));
    match known {
        Some(name) => (*name).to_string(),
        None if signal == FIRST_FREE => "SIGRTMIN".to_string(),
        None if (FIRST_FREE..=64).contains(&signal) => format!("SIGRTMIN+{}", signal - FIRST_FREE),
        None => format!("signal {signal}"),
    }
}

/// What a thread holds while it blocks a signal, and a handler while it runs: to a trace that is a lock like any other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SignalMask {
    /// The thread whose mask it is.
    pub thread: ThreadId,
    /// The signal that is blocked.
    pub signal: i32,
}

/// No program has anything there.
const BASE: u64 = 0x00f0_0000_0000_0000;

/// Stands for all threads.
const EVERYBODY: ThreadId = ThreadId(u16::MAX);

impl SignalMask {
    /// The address that stands for the handler of a signal: whoever registers it comes before all that it does.
    pub fn handler(signal: i32) -> u64 {
        SignalMask { thread: EVERYBODY, signal }.object()
    }

    /// The address that stands for it in a trace.
    pub fn object(self) -> u64 {
        BASE | u64::from(self.thread.0) << 8 | u64::from(self.signal as u8)
    }

    /// The mask that an address stands for.
    pub fn at(object: u64) -> Option<SignalMask> {
        let thread = ThreadId((object >> 8) as u16);
        let mask = SignalMask { thread, signal: i32::from(object as u8) };
        (mask.object() == object).then_some(mask)
    }
}

impl fmt::Display for SignalMask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.thread == EVERYBODY {
            return write!(f, "the handler of {}", signal_name(self.signal));
        }
        write!(f, "{}'s mask of {}", self.thread, signal_name(self.signal))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_is_known_by_its_address() {
        let mask = SignalMask { thread: ThreadId(700), signal: 64 };
        assert_eq!(SignalMask::at(mask.object()), Some(mask));
        assert_eq!(SignalMask::at(0x7fff_f7d0_1234), None);
        assert_eq!(SignalMask::at(BASE | 1 << 30), None);
    }

    #[test]
    fn signals_have_the_names_of_the_headers() {
        assert_eq!(signal_name(14), "SIGALRM");
        assert_eq!(signal_name(31), "SIGSYS");
        assert_eq!(signal_name(34), "SIGRTMIN");
        assert_eq!(signal_name(36), "SIGRTMIN+2");
        assert_eq!(signal_name(0), "signal 0");
    }
}
