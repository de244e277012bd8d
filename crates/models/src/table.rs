//! The branch-condition table and the choice of test cases from it (Algorithm 5, steps 2 and 3).

use std::collections::{BTreeMap, BTreeSet};

/// How a branch goes: the truth value of a condition, or the number of a loop's iterations.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum BranchOutcome {
    /// The condition's value.
    Truth(bool),
    /// How often the loop goes round.
    Iterations(u64),
}

/// A combination of branch outcomes: one possible `PATHS`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutcomeRow<B, V> {
    /// The outcome of every branch.
    pub outcomes: BTreeMap<B, BranchOutcome>,
    /// The variant that showed it.
    pub tested_by: Option<V>,
}

#[derive(Clone, Debug)]
struct Group<V> {
    members: BTreeSet<V>,
    outcome: Option<BranchOutcome>,
}

/// What is known of the outcomes of branches `B` under execution-variants `V`.
#[derive(Clone, Debug)]
pub struct BranchTable<B, V> {
    groups: BTreeMap<B, Vec<Group<V>>>,
    /// The outcomes that each branch may have.
    possible: BTreeMap<B, BTreeSet<BranchOutcome>>,
    tested: BTreeMap<BTreeMap<B, BranchOutcome>, V>,
}

impl<B: Ord + Clone, V: Ord + Clone> Default for BranchTable<B, V> {
    fn default() -> Self {
        BranchTable { groups: BTreeMap::new(), possible: BTreeMap::new(), tested: BTreeMap::new() }
    }
}

impl<B: Ord + Clone, V: Ord + Clone> BranchTable<B, V> {
    /// More rows are not looked at one by one: what matters of them is found by untested groups.
    pub const MOST_ROWS: usize = 4096;

    /// Adds a branch-affect group of a branch; an if-statement may be true or false whatever was seen.
    pub fn add_group(&mut self, branch: B, members: impl IntoIterator<Item = V>) {
        let truths = [BranchOutcome::Truth(true), BranchOutcome::Truth(false)];
        self.possible.entry(branch.clone()).or_insert_with(|| truths.into());
        let members = members.into_iter().collect();
        self.groups.entry(branch).or_default().push(Group { members, outcome: None });
    }

    /// Adds a new variant to the group of a branch in which another one is.
    pub fn add_to_group_of(&mut self, branch: &B, variant: V, like: &V) {
        let groups = self.groups.get_mut(branch).into_iter().flatten();
        if let Some(group) = groups.into_iter().find(|group| group.members.contains(like)) {
            group.members.insert(variant);
        }
    }

    /// A variant has been executed, and the branches went like this.
    pub fn tested(&mut self, variant: &V, outcomes: &BTreeMap<B, BranchOutcome>) {
        for (branch, outcome) in outcomes {
            let possible = self.possible.entry(branch.clone()).or_default();
            if matches!(outcome, BranchOutcome::Iterations(_)) {
                possible.retain(|it| matches!(it, BranchOutcome::Iterations(_)));
            }
            possible.insert(*outcome);
            let groups = self.groups.get_mut(branch).into_iter().flatten();
            groups.filter(|it| it.members.contains(variant)).for_each(|it| it.outcome = Some(*outcome));
        }
        self.tested.entry(outcomes.clone()).or_insert_with(|| variant.clone());
    }

    /// All combinations of outcomes, up to [`BranchTable::MOST_ROWS`].
    pub fn rows(&self) -> Vec<OutcomeRow<B, V>> {
        let mut rows: Vec<BTreeMap<B, BranchOutcome>> = vec![BTreeMap::new()];
        for (branch, outcomes) in &self.possible {
            let with = |row: &BTreeMap<B, BranchOutcome>, outcome: &BranchOutcome| {
                let mut row = row.clone();
                row.insert(branch.clone(), *outcome);
                row
            };
            // True comes first, as in the figures.
            let longer = rows.iter().flat_map(|row| outcomes.iter().rev().map(move |it| with(row, it)));
            rows = longer.take(Self::MOST_ROWS).collect();
        }
        rows.into_iter()
            .map(|outcomes| OutcomeRow { tested_by: self.tested.get(&outcomes).cloned(), outcomes })
            .collect()
    }

    /// Step 2: whether all rows, or all groups, have been tested.
    pub fn is_complete(&self) -> bool {
        self.groups.values().flatten().all(|group| group.outcome.is_some())
            || self.rows().iter().all(|row| row.tested_by.is_some())
    }

    /// Step 3: the variants to execute next. For each untested row, one whose groups are known to lead there; if there is none for any
    /// row, a member of an untested group.
    pub fn next(&self) -> Vec<V> {
        let mut cases: Vec<V> = Vec::new();
        if self.is_complete() {
            return cases;
        }
        for row in self.rows().iter().filter(|row| row.tested_by.is_none()) {
            if let Some(variant) = self.candidates(row).into_iter().find(|it| !cases.contains(it)) {
                cases.push(variant);
            }
        }
        if cases.is_empty() {
            let mut untested = self.groups.values().flatten().filter(|group| group.outcome.is_none());
            cases.extend(untested.find_map(|group| group.members.first().cloned()));
        }
        cases
    }

    fn candidates(&self, row: &OutcomeRow<B, V>) -> BTreeSet<V> {
        let mut candidates: Option<BTreeSet<V>> = None;
        for (branch, outcome) in &row.outcomes {
            let groups = self.groups.get(branch).into_iter().flatten();
            let fitting = groups.filter(|group| group.outcome == Some(*outcome));
            let members: BTreeSet<V> = fitting.flat_map(|group| group.members.iter().cloned()).collect();
            candidates = Some(match candidates {
                None => members,
                Some(others) => others.intersection(&members).cloned().collect(),
            });
        }
        candidates.unwrap_or_default()
    }
}
