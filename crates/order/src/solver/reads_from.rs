//! A read sees a value: some step that writes it comes before, and nobody who writes something else in between.
//!
//! The step that wrote the value when it was recorded is tried first, the others only if that cannot be. And that a
//! certain other write is not in between is said only when it once was.

use std::collections::HashSet;

use batsat::Lit;

use super::literals::{Habit, Literals, Term};
use crate::model::{InThread, Ix, Model, Value};

/// Where a value may come from: a step, or from before the first one.
pub type Source = Option<Ix>;

/// The ways in which one read can see one value.
pub struct ReadsFrom {
    read: Ix,
    segment: u32,
    value: Value,
    tried: Vec<(Source, Lit)>,
    /// The others, the most likely last.
    rest: Vec<Source>,
    /// One of the others it is.
    other: Option<Lit>,
    /// Writes that are known not to come between.
    apart: HashSet<(Source, Ix)>,
    next_chunk: usize,
}

impl ReadsFrom {
    pub fn new(read: Ix, segment: u32, value: Value, model: &Model, literals: &mut Literals) -> ReadsFrom {
        let mut rest = sources(read, segment, value, model);
        rest.reverse();
        let mut reads_from = ReadsFrom {
            read,
            segment,
            value,
            tried: Vec::new(),
            rest,
            other: None,
            apart: HashSet::new(),
            next_chunk: 1,
        };
        reads_from.open_chunk(model, literals);
        reads_from
    }

    /// At least one of them has to hold for the read to see the value.
    pub fn ways(&self) -> Vec<Lit> {
        self.tried.iter().map(|(_, lit)| *lit).chain(self.other).collect()
    }

    /// Takes the next few sources; returns the literals of which one has to hold.
    fn open_chunk(&mut self, model: &Model, literals: &mut Literals) -> Vec<Lit> {
        let count = self.next_chunk.min(self.rest.len());
        self.next_chunk *= 8;
        let chunk: Vec<Source> = self.rest.drain(self.rest.len() - count..).rev().collect();
        self.other = (!self.rest.is_empty()).then(|| literals.fresh(Habit::No));
        let mut ways: Vec<Lit> = self.other.into_iter().collect();
        for (place, source) in chunk.into_iter().enumerate() {
            // The first is what remains when all others are denied.
            let lit = literals.fresh(if place == 0 { Habit::Follows } else { Habit::No });
            if let Some(writer) = source {
                let made = literals.included(writer, model);
                literals.clause([!lit, made]);
                literals.orders.mean(lit, [(writer, self.read)]);
                if model.reads_first(writer, self.segment) {
                    let recorded = literals.as_recorded(writer, model);
                    literals.clause([!lit, recorded]);
                }
            }
            self.tried.push((source, lit));
            ways.push(lit);
        }
        ways
    }

    /// In the last order the read saw what this step wrote, and that was something else. Says whether that taught
    /// anything.
    pub fn learn(&mut self, wrote: Option<Ix>, model: &Model, literals: &mut Literals) -> bool {
        let claimed: Vec<(Source, Lit)> =
            self.tried.iter().copied().filter(|(_, lit)| literals.holds(*lit)).collect();
        let mut learned = false;
        for (source, lit) in &claimed {
            let Some(writer) = wrote.filter(|writer| Some(*writer) != *source) else { continue };
            if self.apart.insert((*source, writer)) {
                self.exclude_between(*source, *lit, writer, model, literals);
                learned = true;
            }
        }
        if claimed.is_empty()
            && let Some(other) = self.other.filter(|other| literals.holds(*other))
        {
            let ways = self.open_chunk(model, literals);
            literals.clause([!other].into_iter().chain(ways));
            learned = true;
        }
        learned
    }

    fn exclude_between(&self, source: Source, lit: Lit, writer: Ix, model: &Model, literals: &mut Literals) {
        let made = literals.included(writer, model);
        let mut clause = vec![!lit, !made];
        // An update leaves the right value if it sees what it saw.
        if model.writes(writer, self.segment) == Some(self.value) && model.updates(writer, self.segment) {
            clause.push(literals.as_recorded(writer, model));
        }
        let before = match source {
            Some(source) => literals.before(writer, source, model),
            None => Term::False,
        };
        let after = literals.before(self.read, writer, model);
        literals.clause_with(clause, &[before, after]);
    }
}

/// Where the value may come from, the most likely first.
pub fn sources(read: Ix, segment: u32, value: Value, model: &Model) -> Vec<Source> {
    let writers = &model.writers[segment as usize];
    let mut own: Option<(Ix, Value)> = None;
    let (mut earlier, mut later) = (Vec::new(), Vec::new());
    for &(writer, written) in writers {
        match model.order_in_thread(writer, read) {
            // Of the thread's own writes only the last one can be seen.
            InThread::Before
                if own.is_none_or(|(last, _)| model.step(last).depth <= model.step(writer).depth) =>
            {
                own = Some((writer, written));
            }
            InThread::DifferentThreads if written == value && writer < read => earlier.push(writer),
            InThread::DifferentThreads if written == value => later.push(writer),
            _ => {}
        }
    }
    if let Some((writer, _)) = own.filter(|(_, written)| *written == value) {
        let place = earlier.partition_point(|other| *other < writer);
        earlier.insert(place, writer);
    }
    let from_the_start = own.is_none() && model.initial[segment as usize] == value;
    let mut sources: Vec<Source> = earlier.into_iter().rev().map(Some).collect();
    if from_the_start {
        sources.push(None);
    }
    sources.extend(later.into_iter().map(Some));
    // As it was recorded comes first.
    if from_the_start && writers.first().is_none_or(|(writer, _)| *writer > read) {
        sources.retain(Option::is_some);
        sources.insert(0, None);
    }
    sources
}
