//! What a detector has to say.

use std::collections::HashMap;
use std::fmt;

use threadbare_trace::{Event, EventKind, ThreadId};

/// The kind of a finding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FindingKind {
    /// Two conflicting accesses that are neither ordered nor mutually excluded.
    Race,
    /// Accesses that were meant to be atomic and can be interrupted by another thread's.
    Atomicity,
    /// Accesses that come in an order with which the program fails.
    Order,
    /// Threads that can wait for each other's locks in a cycle.
    Deadlock,
    /// A variable that no lock protects consistently.
    LockDiscipline,
}

impl FindingKind {
    /// The word shown to people and in JSON.
    pub fn word(self) -> &'static str {
        match self {
            FindingKind::Race => "race",
            FindingKind::Atomicity => "atomicity",
            FindingKind::Order => "order",
            FindingKind::Deadlock => "deadlock",
            FindingKind::LockDiscipline => "lock-discipline",
        }
    }

    /// The kind with this word.
    pub fn from_word(word: &str) -> Option<FindingKind> {
        use FindingKind::*;
        [Race, Atomicity, Order, Deadlock, LockDiscipline].into_iter().find(|kind| kind.word() == word)
    }
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// How much a trace says for a finding, weakest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Certainty {
    /// The accesses are such as correct programs often make too: values handed over under a lock, a variable
    /// used again in a later critical section. Worth trying, not worth reporting unless it fails.
    Suspected,
    /// Nothing in the program's synchronization keeps it from happening in another run.
    Predicted,
    /// It is there in the observed run itself.
    Observed,
}

/// One step that a finding is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// The place of the step in the trace.
    pub event: usize,
    /// The thread that made it.
    pub thread: ThreadId,
    /// The code that made it.
    pub pc: u64,
    /// The calls in progress.
    pub context: u32,
    /// What it did.
    pub kind: EventKind,
    /// The memory or lock it was about.
    pub object: u64,
}

impl Access {
    /// The access that an event is.
    pub fn of(index: usize, event: &Event, kind: EventKind) -> Access {
        Access {
            event: index,
            thread: event.thread,
            pc: event.pc,
            context: event.context,
            kind,
            object: event.addr,
        }
    }
}

/// Something suspicious in a trace, once for each set of sites.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// What it is.
    pub kind: FindingKind,
    /// How sure it is.
    pub certainty: Certainty,
    /// The number of its memory-access pattern, if it has one.
    pub pattern: Option<u8>,
    /// The address of the memory or the first lock.
    pub object: u64,
    /// The event at which `object` is to be named: what an address means changes with time.
    pub at: usize,
    /// The steps, in the order of their roles: as they would follow each other for races and atomicity
    /// violations; for deadlocks each thread's acquisition of the lock it holds, then of the one it wants.
    pub accesses: Vec<Access>,
    /// The locks of a deadlock's cycle, or those that are held but do not help.
    pub locks: Vec<u64>,
    /// How often it was found.
    pub count: u64,
}

/// What makes two findings the same: kind, sites, and the pattern where the roles of the sites matter.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Key {
    kind: FindingKind,
    pattern: Option<u8>,
    sites: Vec<u64>,
}

impl Key {
    /// The code addresses, in the order of their roles where that matters.
    pub fn sites(&self) -> &[u64] {
        &self.sites
    }

    /// The pattern, where the roles of the sites matter.
    pub fn pattern(&self) -> Option<u8> {
        self.pattern
    }
}

impl Finding {
    /// What makes it the same as another one.
    pub fn key(&self) -> Key {
        let mut sites: Vec<u64> = self.accesses.iter().map(|access| access.pc).collect();
        let mut pattern = self.pattern;
        match self.kind {
            FindingKind::Race | FindingKind::LockDiscipline => {
                pattern = None;
                sites.sort_unstable();
                sites.dedup();
            }
            FindingKind::Deadlock => {
                // A cycle has no beginning: of all the places where it could, the lowest.
                let turned = |by: usize| [&sites[by..], &sites[..by]].concat();
                sites = (0..sites.len()).step_by(2).map(turned).min().unwrap_or_default();
            }
            FindingKind::Atomicity | FindingKind::Order => {}
        }
        Key { kind: self.kind, pattern, sites }
    }
}

/// Findings without duplicates, in the order in which they were first found.
#[derive(Clone, Default, Debug)]
pub struct FindingSet {
    findings: Vec<Finding>,
    places: HashMap<Key, usize>,
}

impl FindingSet {
    /// Adds a finding and returns its place. Counts of equal ones are added up, and the surest stands for all.
    pub fn add(&mut self, finding: Finding) -> usize {
        self.merge(finding, |a, b| a + b)
    }

    /// Counts the finding at this place once more, if it is at least that sure; says whether it is.
    pub(crate) fn met_again(&mut self, place: usize, certainty: Certainty) -> bool {
        let known = &mut self.findings[place];
        if known.certainty < certainty {
            return false;
        }
        known.count += 1;
        true
    }

    /// Adds what another detector found in the same trace: equal findings are the same occurrences.
    pub fn add_same(&mut self, finding: Finding) {
        self.merge(finding, u64::max);
    }

    fn merge(&mut self, finding: Finding, counts: impl Fn(u64, u64) -> u64) -> usize {
        let key = finding.key();
        match self.places.get(&key) {
            Some(&place) => {
                let known = &mut self.findings[place];
                let count = counts(known.count, finding.count);
                if finding.certainty > known.certainty {
                    *known = finding;
                }
                known.count = count;
                place
            }
            None => {
                self.places.insert(key, self.findings.len());
                self.findings.push(finding);
                self.findings.len() - 1
            }
        }
    }

    /// The finding with this key.
    pub fn get(&self, key: &Key) -> Option<&Finding> {
        self.places.get(key).map(|place| &self.findings[*place])
    }

    /// The findings so far.
    pub fn iter(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter()
    }

    /// The findings, surest first, then in the order of the trace.
    pub fn into_sorted(self) -> Vec<Finding> {
        let mut findings = self.findings;
        findings.sort_by(|a, b| {
            let first = |finding: &Finding| finding.accesses.iter().map(|access| access.event).min();
            (b.certainty.cmp(&a.certainty))
                .then_with(|| a.kind.cmp(&b.kind))
                .then_with(|| first(a).cmp(&first(b)))
                .then_with(|| a.key().cmp(&b.key()))
        });
        findings
    }
}
