//! Systematic search: every interleaving once, optionally within a bound on preemptions.
//!
//! An execution that follows a prefix and then preempts no thread shows all decisions on its path.
//! Each decision beyond the prefix is a place to branch: the same path up to there, then another
//! thread. So the tree is walked without ever running a leaf twice. Since the tree depends on
//! what counts as a scheduling point, the walk begins anew whenever more memory turns out to be
//! shared, and only a walk that learned nothing can claim to be complete.
//!
//! With *states*, every thread is tried once in each state that an execution comes to: whatever can happen from there is the same,
//! however it was reached. An execution that has tried what it was planned for goes on in the same way, by a table that the runtime
//! keeps. So the walk grows with the number of states, not with the number of orders that lead to them. As long as what the executions
//! show allows it, only those threads are tried in a state that the [reduction](super::reduction) asks for.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use threadbare_library::Dependence;
use threadbare_sched::{Parameters, Prefix};
use threadbare_target::Execution;
use threadbare_trace::{Outcome, ThreadId};
use threadbare_wire::{DecisionRecord, flags};

use crate::claims::{Claims, Doubt};
use crate::error::ExploreError;
use crate::history::History;
use crate::search_effort::SearchEffort;
use crate::strategies::reduction::{CIRCLE, Irreducible, Reduction};
use crate::strategy::{Plan, Strategy};

/// As many as a decision record has bits for.
const MOST_THREADS: u32 = 64;

/// A decision with alternatives.
struct Branch {
    /// The choices of the execution that showed the decision.
    path: Rc<[ThreadId]>,
    /// Which decision of that execution it is.
    at: usize,
    /// The threads that have to be tried and have not been, a bit each.
    untried: u64,
}

impl Branch {
    /// The way to the next thread that has not been tried.
    fn next(&mut self) -> Vec<ThreadId> {
        let thread = ThreadId(self.untried.trailing_zeros() as u16);
        self.untried &= self.untried - 1;
        let mut path = self.path[..self.at].to_vec();
        path.push(thread);
        path
    }
}

/// A state that executions have come to.
struct State {
    /// How it was found, and who is untried.
    branch: Branch,
    /// How many were found before.
    found: usize,
    /// The threads that have been tried, a bit each.
    tried: u64,
}

/// The states that executions have come to.
struct States {
    known: HashMap<u64, State>,
    /// Those in which some thread may not have been tried, by how deep they are and when they were found. The first has one that
    /// was not. Who begins where the fewest steps were made comes to the most that was not tried on the way: there are fewer
    /// executions than states then, and several times as many the other way round.
    open: BTreeMap<(usize, usize), u64>,
    /// Says who has to be tried in which state. Without it, every thread has to be tried in every one.
    reduction: Option<Reduction>,
}

impl States {
    fn none_yet(are_reduced: bool) -> States {
        let reduction = are_reduced.then(Reduction::default);
        States { known: HashMap::new(), open: BTreeMap::new(), reduction }
    }

    /// Takes in what an execution has tried.
    fn branch_out(&mut self, path: &Rc<[ThreadId]>, run: &Execution) -> Result<(), Irreducible> {
        for (at, decision) in run.decisions.iter().enumerate() {
            let found = self.known.len();
            let known = self.known.entry(decision.state).or_insert_with(|| {
                let branch = Branch { path: Rc::clone(path), at, untried: 0 };
                State { branch, found, tried: 0 }
            });
            known.tried |= bit(decision.chosen);
            known.branch.untried &= !known.tried;
            let is_new = found < self.known.len();
            if is_new && self.reduction.is_none() {
                self.ask_for(decision.state, decision.enabled);
            }
        }
        if let Some(reduction) = &mut self.reduction {
            let requests = reduction.take_in(run)?;
            requests.iter().for_each(|request| self.ask_for(request.state, request.threads));
        }
        self.drop_tried();
        match &self.reduction {
            // In a circle a thread could be left out for ever.
            Some(reduction) if self.open.is_empty() && !reduction.is_acyclic() => Err(CIRCLE),
            _ => Ok(()),
        }
    }

    /// These threads have to be tried in a known state.
    fn ask_for(&mut self, state: u64, threads: u64) {
        if let Some(known) = self.known.get_mut(&state) {
            known.branch.untried |= threads & !known.tried;
            self.open.insert((known.branch.at, known.found), state);
        }
    }

    fn next_path(&mut self) -> Option<Vec<ThreadId>> {
        let (_, state) = self.open.first_key_value()?;
        let path = self.known.get_mut(state)?.branch.next();
        self.drop_tried();
        Some(path)
    }

    fn drop_tried(&mut self) {
        while let Some(first) = self.open.first_entry().filter(|it| self.known[it.get()].branch.untried == 0)
        {
            first.remove();
        }
    }
}

/// A depth-first walk over the tree of decisions.
pub(crate) struct Dfs {
    name: &'static str,
    seed: u64,
    preemption_bound: Option<u32>,
    /// The deepest branch is on top.
    branches: Vec<Branch>,
    /// One execution has looked for shared memory before the walk begins.
    probed: bool,
    begun: bool,
    bound_was_met: bool,
    /// The states that executions have come to, if in each of them every thread is tried once.
    states: Option<States>,
    /// A thread that reads the same again and again lets others go first only when it comes back to a state: it has been seen to do
    /// so.
    exact_loops: bool,
    /// Why every thread is tried in every state.
    irreducible: Option<Irreducible>,
    /// Why nothing can be claimed even if nothing is left.
    doubt: Option<String>,
    claims: Claims,
}

impl Dfs {
    pub(crate) fn new(
        name: &'static str,
        seed: u64,
        preemption_bound: Option<u32>,
        sharing_is_known: bool,
    ) -> Dfs {
        Dfs {
            name,
            seed,
            preemption_bound,
            branches: Vec::new(),
            probed: sharing_is_known,
            begun: false,
            bound_was_met: false,
            states: None,
            exact_loops: false,
            irreducible: None,
            doubt: None,
            claims: Claims::of_all_orders(),
        }
    }

    /// A walk that branches out from every state once.
    pub(crate) fn over_states(name: &'static str, seed: u64, sharing_is_known: bool) -> Dfs {
        let mut claims = Claims::of_all_orders();
        claims.exclude_races(true);
        Dfs { states: Some(States::none_yet(true)), claims, ..Dfs::new(name, seed, None, sharing_is_known) }
    }

    /// A walk over the interleavings with at most this many preemptions, where all shared memory is
    /// known already.
    pub(crate) fn within(bound: u32) -> Dfs {
        Dfs::new("minimise", 0, Some(bound), true)
    }

    /// The same, passing over doubts of this kind.
    pub(crate) fn overlooking(mut self, kind: Option<Dependence>) -> Dfs {
        self.claims.overlook(kind);
        self
    }

    /// What a walk over states that was not completed has left to try, as a sentence.
    pub(crate) fn what_is_left(&self) -> Option<String> {
        let states = self.states.as_ref()?;
        let open = states.open.values().filter(|state| states.known[state].branch.untried != 0).count();
        let known = states.known.len();
        let why = self.irreducible.map_or(String::new(), |Irreducible(why)| {
            format!(" (each thread is tried in each of them, because {why})")
        });
        (open > 0).then(|| {
            format!(
                "the walk over states was not completed: it came to {known} states{why}, and in {open} of them some thread has not been tried; \
                 more --time or --executions would take it further"
            )
        })
    }

    /// Whether there is nothing left to run.
    fn is_through(&self) -> bool {
        self.begun && self.branches.is_empty() && self.states.as_ref().is_none_or(|it| it.open.is_empty())
    }

    fn follow(&self, threads: Vec<ThreadId>) -> Plan {
        // One seed for all: whatever else it decides has to be the same on every path.
        let mut plan = Plan::new(Prefix { choices: threads }, self.seed, self.name);
        plan.flags = flags::DECISIONS | flags::CLAIMS | self.flags();
        plan.trace = self.is_reduced();
        plan
    }

    fn begin_anew(&mut self) {
        self.branches.clear();
        self.begun = false;
        self.bound_was_met = false;
        let are_reduced = self.is_reduced();
        self.states = self.states.take().map(|_| States::none_yet(are_reduced));
    }

    /// Whether only some threads are tried in each state.
    fn is_reduced(&self) -> bool {
        self.states.as_ref().is_some_and(|states| states.reduction.is_some())
    }

    fn flags(&self) -> u32 {
        let bit = |set: bool, flag: u32| if set { flag } else { 0 };
        bit(self.states.is_some(), flags::PROGRAM_STATES)
            | bit(self.exact_loops, flags::EXACT_LOOPS)
            | bit(self.is_reduced(), flags::REDUCED | flags::RECORD_ALL)
            | bit(self.states.is_some() || self.exact_loops, flags::THREAD_HEAPS)
    }

    fn next_path(&mut self) -> Option<Vec<ThreadId>> {
        if let Some(states) = &mut self.states {
            return states.next_path();
        }
        let branch = self.branches.last_mut()?;
        let path = branch.next();
        if branch.untried == 0 {
            self.branches.pop();
        }
        Some(path)
    }

    /// Adds a branch for every decision that this execution shows beyond its prefix.
    fn branch_out(&mut self, prefix: &[ThreadId], run: &Execution) {
        let decisions = &run.decisions;
        let followed = decisions.len() >= prefix.len()
            && prefix.iter().zip(decisions).all(|(thread, decision)| *thread == decision.chosen);
        if !followed {
            self.doubt.get_or_insert_with(|| {
                "the program did not take the same path when it was given the same choices, so nothing is \
                 claimed to be complete; look for input that changes from run to run"
                    .to_string()
            });
            return;
        }
        let path: Rc<[ThreadId]> = decisions.iter().map(|decision| decision.chosen).collect();
        if let Some(states) = &mut self.states {
            if let Err(irreducible) = states.branch_out(&path, run) {
                states.reduction = None;
                self.irreducible = Some(irreducible);
                self.claims.exclude_races(false);
                self.begin_anew();
            }
            return;
        }
        let mut preemptions = 0;
        for (at, decision) in decisions.iter().enumerate() {
            if at >= prefix.len() {
                let untried = self.alternatives(decision, preemptions);
                if untried != 0 {
                    self.branches.push(Branch { path: Rc::clone(&path), at, untried });
                }
            }
            preemptions += u32::from(is_preemption(decision));
        }
    }

    /// The threads that could have been scheduled instead, within the bound.
    fn alternatives(&mut self, decision: &DecisionRecord, preemptions: u32) -> u64 {
        let others = decision.enabled & !bit(decision.chosen);
        let spent = self.preemption_bound.is_some_and(|bound| preemptions >= bound);
        if !spent || decision.enabled & bit(decision.current) == 0 {
            return others;
        }
        let staying = others & bit(decision.current);
        self.bound_was_met |= others != staying;
        staying
    }
}

fn bit(thread: ThreadId) -> u64 {
    1u64.checked_shl(u32::from(thread.0)).unwrap_or(0)
}

/// Whether a thread that was enabled was preempted.
fn is_preemption(decision: &DecisionRecord) -> bool {
    decision.chosen != decision.current && decision.enabled & bit(decision.current) != 0
}

impl Strategy for Dfs {
    fn plan(&mut self, _first: u64, count: usize, _history: &History) -> Vec<Plan> {
        if !self.probed {
            self.probed = true;
            let mut probe = Plan::probe(self.seed, format!("{} (probe)", self.name));
            probe.flags |= self.flags();
            return vec![probe];
        }
        if !self.begun {
            self.begun = true;
            return vec![self.follow(Vec::new())];
        }
        // What is untried depends on the execution before, which has tried more than it was asked to.
        let count = if self.states.is_some() { 1 } else { count };
        let paths: Vec<Vec<ThreadId>> = (0..count).map_while(|_| self.next_path()).collect();
        paths.into_iter().map(|path| self.follow(path)).collect()
    }

    fn learn(
        &mut self,
        runs: &[(&Plan, &Execution)],
        sharing_grew: bool,
        _is_over: &dyn Fn() -> bool,
    ) -> Result<(), ExploreError> {
        if let Some((_, run)) = runs.iter().find(|(_, run)| run.threads > MOST_THREADS) {
            let (strategy, most, started) = (self.name, MOST_THREADS, run.threads);
            return Err(ExploreError::TooManyThreads { strategy, most, started });
        }
        runs.iter().for_each(|(_, run)| self.claims.take_in(run));
        let waits = runs.iter().any(|(_, run)| run.depended_on.iter().any(|it| it.kind == Dependence::Yield));
        if sharing_grew || (waits && !self.exact_loops) {
            self.exact_loops |= waits;
            self.begin_anew();
            return Ok(());
        }
        if waits {
            self.doubt.get_or_insert_with(|| {
                "loops that wait for a value were followed a few times round only, so nothing is claimed to be \
                 complete"
                    .to_string()
            });
        }
        // The first execution's branches end on top, so that the walk stays depth first.
        for (plan, run) in runs.iter().rev().filter(|(plan, _)| plan.flags & flags::PROBE == 0) {
            if let Outcome::Uncontrolled(_) = run.outcome {
                self.doubt.get_or_insert_with(|| {
                    "some executions could not be kept under control, so nothing is claimed to be complete"
                        .to_string()
                });
            }
            let prefix = match &plan.policy.parameters {
                Parameters::Prefix(prefix) => prefix.choices.as_slice(),
                _ => &[],
            };
            self.branch_out(prefix, run);
        }
        Ok(())
    }

    fn exhausted(&self) -> bool {
        self.is_through() && self.doubt.is_none() && self.claims.may_be_made()
    }

    fn effort(&self) -> SearchEffort {
        let states = self.states.as_ref().map_or(0, |states| states.known.len() as u64);
        SearchEffort { states, ..SearchEffort::default() }
    }

    fn bound(&self) -> Option<u32> {
        self.preemption_bound.filter(|_| self.bound_was_met)
    }

    fn doubts(&self) -> Vec<Doubt> {
        // What a claim rests on is of interest only where one is made.
        let is_told = self.is_through() && (self.doubt.is_none() || !self.claims.may_be_made());
        if is_told { self.claims.remarks() } else { Vec::new() }
    }

    fn warnings(&self, _speaker: &str) -> Vec<String> {
        let left = if self.doubt.is_none() { self.what_is_left() } else { None };
        self.doubt.iter().cloned().chain(left).collect()
    }
}
