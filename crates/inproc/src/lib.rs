//! Tests that explore interleavings, for `dev-dependencies`.
//!
//! ```
//! use std::sync::Arc;
//! use std::sync::atomic::{AtomicUsize, Ordering};
//!
//! #[threadbare::test]
//! fn both_votes_count() {
//!     let votes = Arc::new(AtomicUsize::new(0));
//!     let other = Arc::clone(&votes);
//!     let voter = std::thread::spawn(move || other.fetch_add(1, Ordering::SeqCst));
//!     votes.fetch_add(1, Ordering::SeqCst);
//!     voter.join().unwrap();
//!     assert_eq!(votes.load(Ordering::SeqCst), 2);
//! }
//! ```
//!
//! Under `threadbare hunt` and `cargo threadbare test` the closure is called again and again inside one process,
//! each time with threads switched elsewhere: hundreds of thousands of times a second for a small test. It uses std's
//! own threads, locks and atomics. Under plain `cargo test` the closure runs once, and a line on standard error says
//! so.
//!
//! Every call has to begin as the first one did. A closure that leaves threads running or changes memory that
//! outlives it (a `static`, something captured) is found out, and then each execution is a process of its own: slower,
//! but right. The same goes for a failure that does not come again in a process of its own.

mod runtime;
mod test_return;

use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;

#[cfg(feature = "macros")]
pub use threadbare_macros::test;

pub use test_return::TestReturn;

use runtime::Wishes;

/// Explores the interleavings of a closure, with the defaults of [`Hunt`].
///
/// # Panics
/// If the closure does.
pub fn hunt(closure: impl Fn()) {
    Hunt::new().run(closure);
}

/// Who decides which thread runs next, where executions are drawn one after the other inside one process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum HuntStrategy {
    /// Uniform choice among the runnable threads.
    Random = 1,
    /// Random priorities with two change points.
    Pct = 2,
    /// Partial order sampling.
    Pos = 3,
    /// A walk that is uniform over interleavings, by the numbers of steps seen so far.
    Urw = 4,
    /// Threads preempted at every place of one kind, then where one acts on what it has read, then all the others.
    Mixed = 5,
}

/// What to explore, and for how long. Whoever runs the tests may overrule it on the command line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[must_use = "nothing is explored before `run`"]
pub struct Hunt {
    executions: u64,
    seed: Option<u64>,
    strategy: Option<HuntStrategy>,
}

impl Hunt {
    /// Everything as whoever runs the tests has it.
    pub fn new() -> Hunt {
        Hunt::default()
    }

    /// The most executions to make.
    pub fn executions(self, executions: u64) -> Hunt {
        Hunt { executions, ..self }
    }

    /// The seed: the same one gives the same executions.
    pub fn seed(self, seed: u64) -> Hunt {
        Hunt { seed: Some(seed), ..self }
    }

    /// Who decides.
    pub fn strategy(self, strategy: HuntStrategy) -> Hunt {
        Hunt { strategy: Some(strategy), ..self }
    }

    /// Explores the closure.
    ///
    /// # Panics
    /// If the closure does.
    pub fn run(self, closure: impl Fn()) {
        self.run_returning(closure);
    }

    /// Explores a closure that may also fail by what it returns, as a `#[test]` may. Returns what the failing call
    /// returned, so that whoever runs the test can report it, or what passes.
    ///
    /// # Panics
    /// If the closure does.
    pub fn run_returning<T: TestReturn, F: Fn() -> T>(self, closure: F) -> T {
        let wishes = Wishes {
            executions: self.executions,
            seed: self.seed.unwrap_or(0),
            has_seed: u32::from(self.seed.is_some()),
            strategy: self.strategy.map_or(0, |strategy| strategy as u32),
        };
        let mut call = Call { closure: &closure, failed: None };
        if !runtime::repeat(once::<T, F>, (&raw mut call).cast(), &wishes) {
            eprintln!(
                "threadbare: not under control, so the closure runs once, in whatever order comes; \
                 run the test with `cargo threadbare test`"
            );
            return closure();
        }
        match call.failed {
            None => T::passed(),
            Some(Ok(value)) => value,
            Some(Err(panic)) => resume_unwind(panic),
        }
    }
}

/// A closure on its way through the runtime, and how its last call failed. A call that passes leaves nothing behind:
/// each has to find what the first one found.
struct Call<'a, T, F> {
    closure: &'a F,
    failed: Option<thread::Result<T>>,
}

/// Calls the closure; returns 0, or 1 if it failed.
unsafe extern "C-unwind" fn once<T: TestReturn, F: Fn() -> T>(call: *mut c_void) -> c_int {
    // SAFETY: `Hunt::run_returning` passed a `Call` of this very type, and nobody else uses it meanwhile.
    let call = unsafe { &mut *call.cast::<Call<'_, T, F>>() };
    let end = catch_unwind(AssertUnwindSafe(call.closure));
    if end.as_ref().is_ok_and(|value| !value.is_failure()) {
        return 0;
    }
    call.failed = Some(end);
    1
}
