//! Campaigns that are given up where they do not end in time.
//!
//! A campaign looks at the clock, and whether the user wants it to end, before each execution and within all that is known to take long.
//! But one step of a strategy, one look at a long trace, or one execution can take longer than anybody wants to wait, and there will
//! always be one that nobody thought of. So a campaign works on a thread of its own. Where it is not through soon after its time, it is left
//! alone, and what it has told so far is all that is known.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::progress::{FailedJustNow, Progress};
use crate::error::ExploreError;

/// How long a campaign may take to end after its time, or after it was asked to: together with the results that are made of what it found, it
/// has a second.
const GRACE: Duration = Duration::from_millis(400);

/// How often it is looked whether there is still hope.
const LOOK: Duration = Duration::from_millis(20);

/// What came of a campaign.
pub(crate) enum Ending<T> {
    /// It came to its end.
    Whole(T),
    /// It was left alone.
    GivenUp(Heard),
}

/// What was heard of a campaign that was given up.
#[derive(Default)]
pub(crate) struct Heard {
    /// How far it had come.
    pub(crate) last: Option<Progress>,
    /// Failures that it had found.
    pub(crate) failed: Vec<FailedJustNow>,
    /// How long it took.
    pub(crate) elapsed: Duration,
    /// The user ended it.
    pub(crate) interrupted: bool,
}

impl Heard {
    /// What the user should know of its account.
    pub(crate) fn warning(&self) -> String {
        let why = if self.interrupted { "it was interrupted" } else { "the time was up" };
        format!(
            "{why} in the middle of a step that takes long, which was given up: failures are reported, but nothing else that the search \
             may have found"
        )
    }
}

/// Runs a campaign that has so much time. It tells how far it is through what it is given, and that is handed on.
///
/// The first execution is waited for even if the time is up: a campaign of none would say nothing.
pub(crate) fn within<T: Send + 'static>(
    time: Option<Duration>,
    stop: &AtomicBool,
    progress: &dyn Fn(&Progress),
    campaign: impl FnOnce(&dyn Fn(&Progress)) -> T + Send + 'static,
) -> Result<Ending<T>, ExploreError> {
    let begin = Instant::now();
    let (sender, messages) = channel();
    let work = move || {
        let told = |progress: &Progress| {
            // Nobody listens to what has been given up.
            let _ = sender.send(Message::Progress(Box::new(progress.clone())));
        };
        let result = campaign(&told);
        let _ = sender.send(Message::Ended(result));
    };
    let thread =
        thread::Builder::new().name("campaign".into()).spawn(work).map_err(ExploreError::NoThread)?;
    let mut heard = Heard::default();
    let mut over: Option<Instant> = None;
    loop {
        match messages.recv_timeout(LOOK) {
            Ok(Message::Progress(told)) => {
                progress(&told);
                heard.failed.extend(told.failed.clone());
                heard.last = Some(*told);
            }
            Ok(Message::Ended(result)) => {
                // Whatever it has left behind, such as a program that has to be ended, is gone when it has ended.
                let _ = thread.join();
                return Ok(Ending::Whole(result));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => match thread.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(()) => unreachable!("it says how it ended"),
            },
        }
        let interrupted = stop.load(Ordering::Relaxed);
        let has_begun = heard.last.as_ref().is_some_and(|last| last.executions > 0);
        let is_late = has_begun && time.is_some_and(|time| begin.elapsed() >= time);
        if interrupted || is_late {
            let since = *over.get_or_insert_with(Instant::now);
            if since.elapsed() >= GRACE {
                heard.elapsed = begin.elapsed();
                heard.interrupted = interrupted;
                return Ok(Ending::GivenUp(heard));
            }
        }
    }
}

enum Message<T> {
    Progress(Box<Progress>),
    Ended(T),
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc::channel;

    use super::*;

    fn never() -> Arc<AtomicBool> {
        Arc::default()
    }

    fn progress(executions: u64) -> Progress {
        Progress { executions, ..Progress::default() }
    }

    #[test]
    fn what_ends_in_time_is_whole() {
        let ending = within(None, &never(), &|_| {}, |told| {
            told(&progress(3));
            7
        });
        assert!(matches!(ending, Ok(Ending::Whole(7))));
    }

    #[test]
    fn what_never_ends_is_given_up_with_what_it_has_told() {
        let (hold, held) = channel::<()>();
        let ending = within(Some(Duration::ZERO), &never(), &|_| {}, move |told| {
            told(&progress(3));
            // Until the test is over.
            let _ = held.recv();
        });
        let Ok(Ending::GivenUp(heard)) = ending else { panic!("it had not ended") };
        assert_eq!(heard.last.map(|last| last.executions), Some(3));
        assert!(!heard.interrupted);
        drop(hold);
    }

    #[test]
    fn the_first_execution_is_waited_for_unless_the_user_ends_it() {
        let stop = never();
        let raised = Arc::clone(&stop);
        let (hold, held) = channel::<()>();
        let ending =
            within(Some(Duration::ZERO), &stop, &|_| raised.store(true, Ordering::Relaxed), move |told| {
                told(&progress(0));
                let _ = held.recv();
            });
        assert!(matches!(ending, Ok(Ending::GivenUp(Heard { interrupted: true, .. }))));
        drop(hold);
    }
}
