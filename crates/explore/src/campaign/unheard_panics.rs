//! Panics in threads of a test that never asks how they ended.
//!
//! Such a test passes in `cargo test`, and some tests want their threads to panic: one of a thread pool that goes on
//! after that, or of what a panic leaves behind. What a test wants happens in every interleaving. So a panic of this kind is
//! held back until an execution is known that came to its end without it, which shows that it depends on the
//! interleaving, and that nobody wants it.

use std::collections::BTreeSet;
use std::sync::Arc;

use threadbare_library::Dependence;
use threadbare_target::{Execution, UnheardPanic, unheard_failure};
use threadbare_trace::Outcome;

use super::results::{Found, MOST_FOUND, Signature};

/// What is known of them so far.
#[derive(Default)]
pub(crate) struct UnheardPanics {
    /// The places of panics that all whole executions have: those that ended when no thread had a step to make.
    in_whole: Common,
    /// The same of all executions, for tests that end before their threads do.
    in_all: Common,
    held: Vec<(Signature, Found)>,
}

/// What is common to some sets; nothing is known of none.
#[derive(Default)]
struct Common(Option<BTreeSet<String>>);

impl Common {
    fn meet(&mut self, panics: &[UnheardPanic]) {
        let places: BTreeSet<&str> = panics.iter().map(|panic| panic.place.as_str()).collect();
        match &mut self.0 {
            Some(common) => common.retain(|place| places.contains(place.as_str())),
            none => *none = Some(places.into_iter().map(str::to_string).collect()),
        }
    }
}

/// Whether an execution failed for such a panic alone.
pub(crate) fn is_unheard(run: &Execution) -> bool {
    !run.unheard_panics.is_empty()
}

/// Whether all threads made their steps before the end.
fn is_whole(run: &Execution) -> bool {
    let left = |kind| matches!(kind, Dependence::EarlyEnd | Dependence::ChosenEnd);
    !run.depended_on.iter().any(|dependency| left(dependency.kind))
}

impl UnheardPanics {
    /// Learns from an execution; returns whether it is to be held back.
    pub(crate) fn learn(&mut self, run: &Execution) -> bool {
        if matches!(run.outcome, Outcome::Passed) || is_unheard(run) {
            self.in_all.meet(&run.unheard_panics);
            if is_whole(run) {
                self.in_whole.meet(&run.unheard_panics);
            }
        }
        is_unheard(run)
    }

    /// Learns from whole executions that passed.
    pub(crate) fn learn_of_passed(&mut self) {
        self.in_all.meet(&[]);
        self.in_whole.meet(&[]);
    }

    /// Holds an execution back.
    pub(crate) fn hold(&mut self, signature: Signature, found: Found) {
        if let Some((_, known)) = self.held.iter_mut().find(|(known, _)| *known == signature) {
            known.count += 1;
        } else if self.held.len() < MOST_FOUND {
            self.held.push((signature, found));
        }
    }

    /// Those held back that nobody wants, as far as whole executions say so.
    pub(crate) fn proven(&mut self) -> Vec<Found> {
        match &self.in_whole.0 {
            Some(common) => take_others(&mut self.held, common),
            None => Vec::new(),
        }
    }

    /// The same when no further execution comes. If none was whole, all say it.
    pub(crate) fn settle(&mut self) -> Vec<Found> {
        let Some(common) = self.common().cloned() else { return Vec::new() };
        take_others(&mut self.held, &common)
    }

    /// Where threads panicked in all executions.
    pub(crate) fn wanted(&self) -> Vec<String> {
        self.common().into_iter().flatten().cloned().collect()
    }

    fn common(&self) -> Option<&BTreeSet<String>> {
        self.in_whole.0.as_ref().or(self.in_all.0.as_ref())
    }
}

/// Takes out what panicked somewhere else than in these places, as failures for that alone.
fn take_others(held: &mut Vec<(Signature, Found)>, common: &BTreeSet<String>) -> Vec<Found> {
    let is_other = |panic: &UnheardPanic| !common.contains(&panic.place);
    let has_other = |(_, found): &mut (Signature, Found)| found.run.unheard_panics.iter().any(is_other);
    let alone = |mut found: Found| {
        let run = Arc::make_mut(&mut found.run);
        run.unheard_panics.retain(is_other);
        run.outcome = unheard_failure(&run.unheard_panics).map_or(Outcome::Passed, Outcome::Failed);
        found
    };
    held.extract_if(.., has_other).map(|(_, found)| alone(found)).collect()
}

#[cfg(test)]
mod tests {
    use threadbare_target::Dependency;
    use threadbare_trace::{Failure, FailureKind, ThreadId};

    use super::*;

    /// An execution in which threads panicked at these places.
    fn ended(places: &[&str], is_whole: bool) -> Arc<Execution> {
        let panic = |place: &&str| {
            let (place, message) = (place.to_string(), format!("thread '1' panicked at {place}"));
            UnheardPanic { thread: ThreadId(1), place, message }
        };
        let panics: Vec<UnheardPanic> = places.iter().map(panic).collect();
        let (kind, thread, stack) = (FailureKind::Exit, ThreadId::MAIN, Vec::new());
        let failure = Failure { kind, message: String::new(), thread, stack };
        let mut run = Execution::before_threads(failure, String::new());
        run.outcome = unheard_failure(&panics).map_or(Outcome::Passed, Outcome::Failed);
        if !is_whole {
            let (kind, function, site) = (Dependence::EarlyEnd, String::new(), 0);
            run.depended_on.push(Dependency { kind, function, site });
        }
        run.unheard_panics = panics;
        Arc::new(run)
    }

    /// The places of the failures after each execution, and after the last one.
    fn failures(runs: &[Arc<Execution>]) -> (Vec<Vec<String>>, Vec<String>, Vec<String>) {
        let mut panics = UnheardPanics::default();
        let name = |found: Found| {
            let places: Vec<&str> = found.run.unheard_panics.iter().map(|it| it.place.as_str()).collect();
            places.join(" ")
        };
        let names = |found: Vec<Found>| found.into_iter().map(name);
        let mut each = Vec::new();
        for run in runs {
            if panics.learn(run) {
                let signature = Signature::of(run.outcome.failure().expect("a failure"));
                let run = Arc::clone(run);
                panics.hold(signature, Found { execution: 1, policy: String::new(), run, count: 1 });
            }
            each.push(names(panics.proven()).collect());
        }
        let late = names(panics.settle()).collect();
        (each, late, panics.wanted())
    }

    #[test]
    fn a_panic_in_every_execution_is_wanted() {
        let (each, late, wanted) = failures(&[ended(&["a"], true), ended(&["a"], true)]);
        assert_eq!((each.concat(), late, wanted), (vec![], vec![], vec!["a".to_string()]));
    }

    #[test]
    fn a_panic_that_another_execution_is_without_is_a_failure_whichever_comes_first() {
        for (runs, at) in
            [([ended(&["a"], true), ended(&[], true)], 1), ([ended(&[], true), ended(&["a"], true)], 1)]
        {
            let (each, late, wanted) = failures(&runs);
            assert_eq!((&each[at][..], late, wanted), (&["a".to_string()][..], vec![], vec![]));
        }
    }

    #[test]
    fn an_execution_that_ended_before_its_threads_shows_nothing_if_others_are_whole() {
        let (each, late, wanted) = failures(&[ended(&["a"], true), ended(&[], false)]);
        assert_eq!((each.concat(), late, wanted), (vec![], vec![], vec!["a".to_string()]));
        let (each, late, wanted) = failures(&[ended(&["a"], false), ended(&[], false)]);
        assert_eq!((each.concat(), late, wanted), (vec![], vec!["a".to_string()], vec![]));
    }

    #[test]
    fn one_panic_being_wanted_says_nothing_of_another() {
        let (each, late, wanted) = failures(&[ended(&["a"], true), ended(&["a", "b"], true)]);
        assert_eq!((&each[1][..], late, wanted), (&["b".to_string()][..], vec![], vec!["a".to_string()]));
    }
}
