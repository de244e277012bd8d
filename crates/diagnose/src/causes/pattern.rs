//! Which memory-access pattern separates failing executions from those that passed.
//!
//! As in Falcon and Unicorn (papers: ARS §II), the suspiciousness of a pattern is the number of failing executions
//! that show it, divided by the number of all failing ones and of the passing ones that show
//! it: 1 for what all failing executions do and no passing one. All seventeen patterns are compared, with
//! their variables and by their code alone, and the larger suspiciousness counts: in one program the failure hangs on
//! one variable, in another on what the code does to any node of a list.
//!
//! A failure often comes before the access that would have completed a pattern, so what a thread would have done
//! next counts as done in failing executions.
//!
//! What the program's structure orders in every execution (creation, join) is no cause, however well it correlates.
//! Of equally suspicious patterns the one that a person understands best is taken: three accesses to one
//! variable that no serial order explains (they are preferred even to slightly more suspicious
//! ones, and here they may step over other accesses), then two accesses to one variable, and two variables only where no
//! variable by itself distinguishes the executions, or where they say more of the same. What is not in the chain of
//! accesses that leads to the failure weighs less. Then one that happened to the end, the one that ends closest to the
//! failure, and of two variables the one that lies closest together.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use threadbare_patterns::{Limits, Occurrence, PatternKey, SiteId, TraceMatcher};
use threadbare_trace::{Event, EventKind, ThreadId};

use super::failure_chain::Chain;
use super::reversible::Moments;
use super::torn_update::Torn;
use threadbare_detect::Access;

/// Of longer executions the last events are compared.
const LONGEST: usize = 100_000;
/// When this many events have been looked at, no further execution is.
const MOST_EVENTS: usize = 400_000;
/// No cause needs more: a short wait for a sentence that helps is better than a long one for all there is.
const LIMITS: Limits =
    Limits { partners: 32, readers: 32, recent: 32, crossings: 32, patterns: 1 << 16, words: 64 };

/// The pattern that distinguishes failing executions from passing ones.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cause {
    /// The number of the pattern.
    pub pattern: u8,
    /// Its accesses in the failing execution that is shown, in order.
    pub accesses: Vec<Access>,
    /// The last access was not made: the execution ended before it.
    pub last_is_pending: bool,
    /// How many of the failing executions do it, the shown one included.
    pub in_failing: usize,
    /// How many failing executions were compared.
    pub failing: usize,
    /// How many of the passing executions do it too.
    pub in_passing: usize,
    /// How many passing executions were compared.
    pub passing: usize,
}

impl Cause {
    /// From 0 to 1: how well it distinguishes failing from passing executions.
    pub fn suspiciousness(&self) -> f64 {
        self.in_failing as f64 / (self.failing + self.in_passing) as f64
    }
}

/// A pattern by its code alone.
type Code = (u8, [SiteId; 4]);

fn code(occurrence: &Occurrence) -> Code {
    let mut sites = [SiteId::default(); 4];
    for (site, access) in sites.iter_mut().zip(occurrence.accesses()) {
        *site = access.site;
    }
    (occurrence.pattern, sites)
}

/// An execution to be compared.
#[derive(Clone, Copy, Debug)]
pub struct Compared<'a> {
    /// What happened.
    pub events: &'a [Event],
    /// What threads would have done next, if it failed; see [`super::pending`].
    pub pending: &'a [Vec<Event>],
}

/// How many executions show something.
#[derive(Clone, Copy, Default)]
struct Count {
    failing: usize,
    passing: usize,
}

impl Count {
    /// The suspiciousness, given how many executions failed.
    fn suspiciousness(self, failed: usize) -> f64 {
        self.failing as f64 / (failed + self.passing) as f64
    }
}

/// The patterns of the shown execution, and who else shows them.
#[derive(Default)]
struct Comparison {
    candidates: Vec<Occurrence>,
    by_key: HashMap<PatternKey, Count>,
    by_code: HashMap<Code, Count>,
    failing: usize,
    passing: usize,
    events: usize,
}

impl Comparison {
    /// Counts the patterns of an execution; says whether there was time for it.
    fn add(&mut self, execution: &Compared<'_>, failed: bool) -> bool {
        if self.events >= MOST_EVENTS {
            return false;
        }
        self.events += execution.events.len().min(LONGEST);
        let is_shown = self.failing == 0;
        *(if failed { &mut self.failing } else { &mut self.passing }) += 1;
        let mut codes = HashSet::new();
        let count = |count: &mut Count| *(if failed { &mut count.failing } else { &mut count.passing }) += 1;
        for occurrence in occurrences(execution) {
            if is_shown {
                self.by_key.insert(occurrence.key, Count::default());
                self.by_code.entry(code(&occurrence)).or_default();
                self.candidates.push(occurrence);
            }
            if let Some(known) = self.by_key.get_mut(&occurrence.key) {
                count(known);
            }
            if codes.insert(code(&occurrence))
                && let Some(known) = self.by_code.get_mut(&code(&occurrence))
            {
                count(known);
            }
        }
        true
    }

    /// The larger suspiciousness of an occurrence, and the counts that it comes from.
    fn judge(&self, occurrence: &Occurrence) -> (f64, Count) {
        let both = [self.by_key[&occurrence.key], self.by_code[&code(occurrence)]];
        let [exact, general] = both.map(|count| (count.suspiciousness(self.failing), count));
        if general.0 > exact.0 { general } else { exact }
    }

    /// A candidate with the events of the shown execution.
    fn cause(&self, best: &Occurrence, shown: &Compared<'_>) -> Cause {
        let made = shown.events.len();
        let access = |place: usize| {
            let event =
                shown.events.get(place).or_else(|| shown.pending.iter().flatten().nth(place - made))?;
            Some(Access::of(place, event, event.kind()?))
        };
        let (_, Count { failing: in_failing, passing: in_passing }) = self.judge(best);
        Cause {
            pattern: best.pattern,
            accesses: best.accesses().iter().filter_map(|it| access(it.event)).collect(),
            last_is_pending: best.accesses().iter().any(|it| it.event >= made),
            in_failing,
            failing: self.failing,
            in_passing,
            passing: self.passing,
        }
    }

    /// The candidates, most suspicious first; `chain` is what leads to the failure of the shown execution.
    fn ranked(&self, shown: &Compared<'_>, chain: &Chain) -> Vec<&Occurrence> {
        let events = shown.events.len();
        let rank = |it: &Occurrence| {
            let clarity = clarity(it.pattern);
            let weight = if clarity == 2 { WEIGHT_OF_TRIPLES } else { 1.0 };
            let in_chain = it
                .accesses()
                .iter()
                .any(|access| shown.events.get(access.event).is_none_or(|event| chain.contains(event)));
            let distance = if in_chain { 1.0 } else { WEIGHT_OF_THE_UNRELATED };
            let is_made = it.accesses().iter().all(|access| access.event < events);
            (self.judge(it).0 * weight * distance, (clarity, is_made, nearness(it), it.key))
        };
        let mut ranked: Vec<_> = self.candidates.iter().map(|it| (rank(it), it)).collect();
        ranked.sort_by(|(a, _), (b, _)| b.0.total_cmp(&a.0).then_with(|| b.1.cmp(&a.1)));
        ranked.into_iter().map(|(_, it)| it).collect()
    }

    /// A pattern that says all that another one does and more, and separates as well.
    fn fuller<'a>(
        &self,
        than: &'a Occurrence,
        ranked: &[&'a Occurrence],
        shown: &Compared<'_>,
    ) -> Option<&'a Occurrence> {
        let at = |it: &Occurrence| it.accesses().iter().map(|access| access.event).collect::<Vec<_>>();
        let (mine, known) = (at(than), self.judge(than).1);
        let mut fuller: Vec<_> = (ranked.iter().copied())
            .filter(|it| it.accesses().len() > mine.len())
            .filter(|it| mine.iter().all(|event| at(it).contains(event)) && is_one_go(it, shown))
            .filter(|it| {
                let count = self.judge(it).1;
                count.failing >= known.failing && count.passing <= known.passing
            })
            .collect();
        fuller.sort_by_key(|it| (it.accesses().len(), nearness(it).0));
        fuller.first().copied()
    }
}

/// How much more three accesses weigh that no serial order explains.
const WEIGHT_OF_TRIPLES: f64 = 1.1;
/// How much less what nothing links to the failure weighs.
const WEIGHT_OF_THE_UNRELATED: f64 = 0.8;

/// How well a person understands a pattern.
fn clarity(pattern: u8) -> u8 {
    match pattern {
        4..=7 => 2,
        1..=3 | 8 => 1,
        _ => 0,
    }
}

/// Whether each thread makes its accesses of a pattern in one piece: in between it does not do the same to any of the
/// variables again, as it would in another round of a loop.
fn is_one_go(occurrence: &Occurrence, shown: &Compared<'_>) -> bool {
    let event = |at: usize| {
        shown.events.get(at).or_else(|| shown.pending.iter().flatten().nth(at - shown.events.len()))
    };
    let accesses = occurrence.accesses();
    let variables: Vec<u64> = accesses.iter().filter_map(|it| Some(event(it.event)?.addr)).collect();
    let writes = |event: &Event| event.kind().is_some_and(EventKind::writes);
    (1..accesses.len()).all(|later| {
        let last = &accesses[later];
        let Some(first) = accesses[..later].iter().rev().find(|it| it.thread == last.thread) else {
            return true;
        };
        let mut between = (first.event + 1..last.event).filter_map(event);
        let again = |it: &Event| {
            it.thread == last.thread
                && it.kind().is_some_and(EventKind::accesses_memory)
                && variables.contains(&it.addr)
                && event(last.event).is_some_and(|last| writes(last) == writes(it))
        };
        !between.any(again)
    })
}

/// How close to the failure an occurrence is, or how close together if it has two variables.
fn nearness(occurrence: &Occurrence) -> (Reverse<usize>, usize) {
    let accesses = occurrence.accesses();
    let (first, last) = (accesses[0].event, accesses[accesses.len() - 1].event);
    (Reverse(if accesses.len() == 4 { last - first } else { 0 }), last)
}

/// Every pattern of an execution, once.
fn occurrences(execution: &Compared<'_>) -> Vec<Occurrence> {
    let mut matcher = TraceMatcher::new(Vec::new(), LIMITS);
    let mut torn = Torn::new(&LIMITS);
    let mut found = Vec::new();
    let events = execution.events;
    let (skipped, compared) = events.split_at(events.len().saturating_sub(LONGEST));
    for event in skipped {
        matcher.pass_over(event);
        torn.pass_over(event);
    }
    for event in compared {
        matcher.observe(event, &mut found);
        torn.observe(event, &mut found);
    }
    let mut beyond = 0;
    for accesses in execution.pending {
        // Any of the threads was enabled, so none comes after another one.
        let (mut next, mut torn) = (matcher.clone(), torn.clone());
        next.leave_out(beyond);
        torn.leave_out(beyond);
        for event in accesses {
            next.observe(event, &mut found);
            torn.observe(event, &mut found);
        }
        beyond += accesses.len();
    }
    let mut keys: HashSet<PatternKey> = HashSet::new();
    found.retain(|it| keys.insert(it.key));
    found
}

/// The most suspicious patterns of a failing execution, best first and at most so many, compared with others that
/// failed in the same way and with some that passed. Without any that passed nothing is suspicious. `thread` is the one
/// that failed.
pub fn causes<'a>(
    shown: &Compared<'_>,
    thread: ThreadId,
    failing: impl IntoIterator<Item = Compared<'a>>,
    passing: impl IntoIterator<Item = Compared<'a>>,
    most: usize,
) -> Vec<Cause> {
    let mut comparison = Comparison::default();
    comparison.add(shown, true);
    let first = shown.events.len().saturating_sub(LONGEST);
    let moments = Moments::of(shown.events, shown.pending.iter().flatten(), first);
    comparison.candidates.retain(|it| moments.can_be_otherwise(it));
    let (mut failing, mut passing) = (failing.into_iter(), passing.into_iter());
    // By turns, so that both kinds are looked at however little time there is.
    loop {
        let passed = passing.next().is_some_and(|execution| comparison.add(&execution, false));
        let failed = failing.next().is_some_and(|execution| comparison.add(&execution, true));
        if !passed && !failed {
            break;
        }
    }
    if comparison.passing == 0 {
        return Vec::new();
    }
    let ranked = comparison.ranked(shown, &Chain::of(shown.events, thread));
    let to_cause =
        |it: &&Occurrence| comparison.cause(comparison.fuller(it, &ranked, shown).unwrap_or(it), shown);
    let mut causes: Vec<Cause> = ranked.iter().take(4 * most).map(to_cause).collect();
    let mut seen: Vec<Vec<usize>> = Vec::new();
    causes.retain(|cause| {
        let places: Vec<usize> = cause.accesses.iter().map(|access| access.event).collect();
        let is_new = !seen.contains(&places);
        seen.push(places);
        is_new
    });
    causes.truncate(most);
    causes
}

#[cfg(test)]
mod tests;
