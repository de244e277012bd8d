//! Whether every doubt is needed: with one kind of them passed over, somebody has to claim something false.

use std::path::Path;

use threadbare_library::Dependence;

use super::trial::{self, Effort, Kind};
use crate::Result;

/// Features whose programs have doubts of these kinds. Of other kinds, all features are tried.
const FEATURES: &[(Dependence, &[&str])] = &[
    (Dependence::Clock, &["clocks"]),
    (Dependence::Randomness, &["randomness"]),
    (Dependence::Files, &["files", "states of streams", "pipes"]),
    (Dependence::Identity, &["identities"]),
    (Dependence::LibraryState, &["states of the library", "states of streams"]),
    (Dependence::TimeOut, &["pthread_cond_timedwait", "pthread_mutex_timedlock", "sem_trywait and its like"]),
    (Dependence::Refusal, &["pthread_mutex_trylock", "pthread_rwlock_try…", "sem_trywait and its like"]),
    (Dependence::UnannouncedAccess, &["strings, not announced", "texts and numbers", "sorting"]),
    (Dependence::Processes, &["other processes"]),
    (Dependence::UnknownCall, &["functions without a row"]),
    (Dependence::UnknownCallWithSharedMemory, &["memory given to functions without a row"]),
    (Dependence::UninstrumentedCode, &["a library without instrumentation"]),
    (Dependence::UnknownSystemCall, &["calls of the system that nobody knows"]),
    (Dependence::UnseenCalls, &["functions found by name"]),
    (Dependence::AliasedMemory, &["memory that is mapped twice"]),
    (Dependence::Instruction, &["instructions that ask"]),
    (Dependence::SilentAccess, &["assembly", "uninstrumented function", "copies that compilers write out"]),
    (Dependence::EarlyEnd, &["failing at once"]),
    (Dependence::LoopAtEnd, &["yielding for long"]),
    (Dependence::ChosenEnd, &["ending the process"]),
    (Dependence::UnrecordedStep, &["read-write locks that let writers first", "changing handlers"]),
];

/// No small program has these doubts: where it is loaded is up to the system, and notes are many before they are too many.
const OF_NO_PROGRAM: [Dependence; 2] = [Dependence::RandomAddresses, Dependence::Overflow];

/// Prints for each kind of doubt after how many programs a claim was false; says whether that was so for each that was asked for.
pub fn print(seed: u64, most: u64, wanted: Option<Dependence>, effort: Effort, keep: &Path) -> Result<bool> {
    let has_programs = |kind: &Dependence| kind.is_doubt() && !OF_NO_PROGRAM.contains(kind);
    let mut is_each_needed = true;
    println!("{:<28} {:>9}  a false claim if it is passed over", "doubt", "programs");
    let is_wanted = |kind: &Dependence| wanted.is_none_or(|it| it == *kind);
    for kind in Dependence::ALL.into_iter().filter(has_programs).filter(is_wanted) {
        let features: Vec<String> = FEATURES
            .iter()
            .filter(|(of, _)| *of == kind)
            .flat_map(|(_, features)| features.iter().map(ToString::to_string))
            .collect();
        let effort = Effort { overlook: Some(kind), ..effort };
        let found = (1..=most).find_map(|number| {
            let trial = trial::run(seed, number, &features, effort, keep).ok()?;
            let wrong = trial.disagreements.into_iter().find(|it| it.kind == Kind::FalseClaim)?;
            Some((number, format!("{} of {}", wrong.by, trial.features.join(", "))))
        });
        is_each_needed &= found.is_some();
        match found {
            Some((number, by)) => println!("{:<28} {number:>9}  by {by}", format!("{kind:?}")),
            None => println!("{:<28} {most:>9}  none", format!("{kind:?}")),
        }
    }
    Ok(is_each_needed)
}
