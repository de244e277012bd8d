//! Campaigns that are given up where they do not end in time.
//!
//! A campaign looks at the clock, and whether the user wants it to end, before each execution and within all that is known to take long.
//! But one step of a strategy, one look at a long trace, or one execution can take longer than anybody wants to wait, and there will
//! always be one that nobody thought of. So a campaign works on a thread of its own. Where it is not through soon after its time, it is left
//! alone, and what it has told so far is all that is known.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::progress::{FailedJustNow, Progress};
use crate::check::Examined;
use crate::error::ExploreError;

use threadbare_detect::Key;

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
    pub(crate) last: Option<Box<Progress>>,
    /// Failures that it had found.
    pub(crate) failed: Vec<FailedJustNow>,
    /// What else it had found, as it was told last.
    pub(crate) found: Vec<Examined>,
    /// Where each of that is.
    places: HashMap<Key, usize>,
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
            "{why} in the middle of a step that takes long, which was given up: failures and findings are reported, but nothing else that \
             the search may have come to"
        )
    }

    fn hear(&mut self, told: Box<Progress>) {
        self.failed.extend(told.failed.clone());
        for examined in &told.found {
            match self.places.entry(examined.finding.key()) {
                Entry::Occupied(place) => self.found[*place.get()] = examined.clone(),
                Entry::Vacant(place) => {
                    place.insert(self.found.len());
                    self.found.push(examined.clone());
                }
            }
        }
        self.last = Some(told);
    }
}

/// Runs a campaign that has so much time. It tells how far it is through what it is given, and that is handed on. Where nobody waits for it any
/// more, it does not come back from telling: it ends there, and leaves the processors to others.
///
/// Where nothing was run before, the first execution is waited for even if the time is up: a campaign of none would say nothing.
pub(crate) fn within<T: Send + 'static>(
    time: Option<Duration>,
    stop: &AtomicBool,
    waits_for_first: bool,
    progress: &dyn Fn(&Progress),
    campaign: impl FnOnce(&dyn Fn(&Progress)) -> T + Send + 'static,
) -> Result<Ending<T>, ExploreError> {
    let begin = Instant::now();
    let (sender, messages) = channel();
    let work = move || {
        let told = |progress: &Progress| {
            if sender.send(Message::Progress(Box::new(progress.clone()))).is_err() {
                resume_unwind(Box::new("nobody waits for it"));
            }
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
                heard.hear(told);
            }
            Ok(Message::Ended(result)) => {
                // Whatever it has left behind, such as a program that has to be ended, is gone when it has ended.
                let _ = thread.join();
                return Ok(Ending::Whole(result));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => match thread.join() {
                Err(panic) => resume_unwind(panic),
                Ok(()) => unreachable!("it says how it ended"),
            },
        }
        let interrupted = stop.load(Ordering::Relaxed);
        let has_begun = !waits_for_first || heard.last.as_ref().is_some_and(|last| last.executions > 0);
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
    use std::sync::mpsc::channel;

    use threadbare_detect::{Access, Certainty, Finding, FindingKind};
    use threadbare_target::Execution;
    use threadbare_trace::{Event, EventKind, Failure, FailureKind, ThreadId};

    use std::sync::Arc;

    use super::*;
    use crate::check::Check;

    fn never() -> Arc<AtomicBool> {
        Arc::default()
    }

    fn progress(executions: u64) -> Progress {
        Progress { executions, ..Progress::default() }
    }

    #[test]
    fn what_ends_in_time_is_whole() {
        let ending = within(None, &never(), true, &|_| {}, |told| {
            told(&progress(3));
            7
        });
        assert!(matches!(ending, Ok(Ending::Whole(7))));
    }

    #[test]
    fn what_never_ends_is_given_up_with_what_it_has_told() {
        let (hold, held) = channel::<()>();
        let ending = within(Some(Duration::ZERO), &never(), true, &|_| {}, move |told| {
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
    fn findings_of_what_was_given_up_are_known_as_they_were_told_last() {
        let failure = Failure {
            kind: FailureKind::Abort,
            message: String::new(),
            thread: ThreadId::MAIN,
            stack: Vec::new(),
        };
        let run = Arc::new(Execution::before_threads(failure, String::new()));
        let race = |site: u64, confirmed: bool| Examined {
            confirmed: confirmed.then(|| Arc::clone(&run)),
            ..Examined::predicted(
                Finding {
                    kind: FindingKind::Race,
                    certainty: Certainty::Predicted,
                    pattern: None,
                    object: 1,
                    at: 0,
                    accesses: vec![Access::of(0, &Event { pc: site, ..Event::default() }, EventKind::Read)],
                    locks: Vec::new(),
                    count: 1,
                },
                Arc::clone(&run),
            )
        };
        let told = vec![vec![race(1, false), race(2, false)], vec![race(2, true)]];
        let (hold, held) = channel::<()>();
        let ending = within(Some(Duration::ZERO), &never(), true, &|_| {}, move |tell| {
            told.into_iter().for_each(|found| tell(&Progress { found, ..progress(3) }));
            let _ = held.recv();
        });
        let Ok(Ending::GivenUp(heard)) = ending else { panic!("it had not ended") };
        let check = Check::given_up(heard);
        let known = |it: &Examined| (it.finding.accesses[0].pc, it.confirmed.is_some());
        // What happened comes first.
        assert_eq!(check.findings.iter().map(known).collect::<Vec<_>>(), [(2, true), (1, false)]);
        drop(hold);
    }

    #[test]
    fn the_first_execution_is_waited_for_unless_the_user_ends_it() {
        let stop = never();
        let raised = Arc::clone(&stop);
        let (hold, held) = channel::<()>();
        let ending = within(
            Some(Duration::ZERO),
            &stop,
            true,
            &|_| raised.store(true, Ordering::Relaxed),
            move |told| {
                told(&progress(0));
                let _ = held.recv();
            },
        );
        assert!(matches!(ending, Ok(Ending::GivenUp(Heard { interrupted: true, .. }))));
        drop(hold);
    }

    #[test]
    fn what_follows_others_is_not_waited_for_and_ends_when_nobody_listens() {
        let (held_to_the_end, ended) = channel::<()>();
        let ending = within(Some(Duration::ZERO), &never(), false, &|_| {}, move |told| {
            let _held = held_to_the_end;
            loop {
                told(&progress(0));
            }
        });
        let ending: Result<Ending<()>, _> = ending;
        assert!(matches!(ending, Ok(Ending::GivenUp(Heard { interrupted: false, .. }))));
        // It comes back with an error when the other end is gone, and never if the campaign goes on.
        assert!(ended.recv().is_err());
    }
}
