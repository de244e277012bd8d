//! The baseline of the PCR paper: aims at a memory-access pattern that was covered never or seldom, and steers towards it
//! by holding threads back; nothing is solved (Wang et al., "MAP-coverage: a novel coverage criterion for testing
//! thread-safe classes", ASE 2019).
//!
//! What patterns there could be follows from which thread accesses what from where, as far as executions have shown it. Whether
//! a pattern can happen at all, and whether the threads can be held to that order, is not examined: that
//! is left to randomness.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use threadbare_happens_before::LockSets;
use threadbare_patterns::{
    AccessType, Limits, ObjectId, Objects, PATTERNS, Pattern, PatternKey, PatternRole, SiteId, TraceMatcher,
    Variable, VariableChange,
};
use threadbare_sched::{InOrder, OrderedOp, PolicySpec, Random, Rng};
use threadbare_target::Execution;
use threadbare_trace::ThreadId;

use crate::error::ExploreError;
use crate::history::History;
use crate::search_effort::SearchEffort;
use crate::strategies::sampled::probe;
use crate::strategy::{Plan, Strategy};

/// How many patterns are drawn, of which the one that was covered least is aimed at.
const DRAWN: usize = 64;

/// A thread and a site that access a variable.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Accessor {
    thread: ThreadId,
    site: SiteId,
    /// The address of the site.
    pc: u64,
    /// Where the thread can be held back without keeping a lock from others.
    gate: u64,
}

/// A pattern with the accessors that are to make it.
#[derive(Clone, Debug)]
struct Aim {
    key: PatternKey,
    operations: Vec<OrderedOp>,
}

/// See the module's description.
pub(crate) struct MapRandom {
    name: &'static str,
    seed: u64,
    accessors: BTreeMap<(ObjectId, AccessType), BTreeSet<Accessor>>,
    /// Variables that more than one thread accesses.
    shared: Vec<ObjectId>,
    covered: HashMap<PatternKey, u32>,
    aims: HashMap<u64, PatternKey>,
    effort: SearchEffort,
}

impl MapRandom {
    pub(crate) fn new(name: &'static str, seed: u64) -> MapRandom {
        MapRandom {
            name,
            seed,
            accessors: BTreeMap::new(),
            shared: Vec::new(),
            covered: HashMap::new(),
            aims: HashMap::new(),
            effort: SearchEffort::default(),
        }
    }

    /// The pattern that was covered least of some that are drawn at random.
    fn aim(&self, rng: &mut Rng) -> Option<Aim> {
        let drawn = (0..DRAWN).filter_map(|_| self.draw(rng));
        drawn.min_by_key(|aim| self.covered.get(&aim.key).copied().unwrap_or(0))
    }

    /// Some pattern, with sites and variables that fit it.
    fn draw(&self, rng: &mut Rng) -> Option<Aim> {
        let pattern = PATTERNS[rng.below(PATTERNS.len() as u64) as usize];
        let mut variable = || self.shared.get(rng.below(self.shared.len().max(1) as u64) as usize).copied();
        let (x, y) = (variable()?, variable()?);
        if pattern.has_two_variables() && x == y {
            return None;
        }
        self.choose_accessors(&pattern, |variable| if variable == Variable::X { x } else { y }, rng)
    }

    /// Chooses an accessor for each step of a pattern.
    fn choose_accessors(
        &self,
        pattern: &Pattern,
        object: impl Fn(Variable) -> ObjectId,
        rng: &mut Rng,
    ) -> Option<Aim> {
        let mut threads: BTreeMap<PatternRole, ThreadId> = BTreeMap::new();
        let mut steps = Vec::new();
        let mut operations: Vec<OrderedOp> = Vec::new();
        let mut gates: Vec<(ThreadId, u64)> = Vec::new();
        for (role, manner, variable) in pattern.steps {
            let object = object(*variable);
            let fits = |thread: &ThreadId| match threads.get(role) {
                Some(own) => own == thread,
                None => threads.values().all(|other| other != thread),
            };
            let able = self.accessors.get(&(object, *manner))?.iter().filter(|it| fits(&it.thread));
            let able: Vec<&Accessor> = able.collect();
            let &&Accessor { thread, site, pc, gate } =
                able.get(rng.below(able.len().max(1) as u64) as usize)?;
            threads.insert(*role, thread);
            steps.push((site, object));
            // A thread that is in the critical section already does not take the lock again.
            let is_inside = gates.contains(&(thread, gate));
            operations.push(OrderedOp { thread, site: pc, gate: if is_inside { pc } else { gate } });
            gates.push((thread, gate));
        }
        Some(Aim { key: PatternKey::of(pattern, &steps)?, operations })
    }

    fn learn_one(&mut self, plan: &Plan, run: &Execution) {
        let patterns = TraceMatcher::patterns_of(&run.events);
        if let Some(key) = self.aims.remove(&plan.tag) {
            self.effort.aimed += 1;
            self.effort.met += u64::from(patterns.contains(key));
        }
        for key in patterns.iter() {
            *self.covered.entry(key).or_default() += 1;
        }
        let mut objects = Objects::new(Vec::new(), &Limits::default());
        let mut changes = Vec::new();
        let mut locks = LockSets::default();
        for (index, event) in run.events.iter().enumerate() {
            if let Some(kind) = event.kind() {
                locks.observe(index, event, kind);
            }
            objects.observe(index, event, &mut changes);
            for change in changes.drain(..) {
                if let VariableChange::Access(it) = change {
                    let accessors = self.accessors.entry((it.object, it.manner)).or_default();
                    let gate = locks.held(it.thread).first().map_or(event.pc, |held| held.pc);
                    accessors.insert(Accessor { thread: it.thread, site: it.site, pc: event.pc, gate });
                }
            }
        }
        self.find_shared();
    }

    fn find_shared(&mut self) {
        let mut threads: BTreeMap<ObjectId, BTreeSet<ThreadId>> = BTreeMap::new();
        for ((object, _), accessors) in &self.accessors {
            threads.entry(*object).or_default().extend(accessors.iter().map(|it| it.thread));
        }
        let is_written = |object: &ObjectId| self.accessors.contains_key(&(*object, AccessType::Writes));
        let shared = threads.iter().filter(|(object, threads)| threads.len() > 1 && is_written(object));
        self.shared = shared.map(|(object, _)| *object).collect();
    }
}

impl Strategy for MapRandom {
    fn plan(&mut self, first: u64, count: usize, _history: &History) -> Vec<Plan> {
        let mut plans = Vec::new();
        for number in first..first + count as u64 {
            let seed = Rng::derive(self.seed, number);
            let mut rng = Rng::new(Rng::derive(seed, 1));
            let aim = self.aim(&mut rng);
            let policy = aim.as_ref().and_then(|aim| InOrder::new(aim.operations.clone()));
            let mut plan = Plan::new(Random, seed, self.name);
            if let (Some(aim), Some(policy)) = (aim, policy) {
                plan.policy = PolicySpec::new(policy, seed);
                plan.tag = number;
                self.aims.insert(number, aim.key);
            }
            plans.push(Plan { trace: true, flags: probe(number), ..plan });
        }
        plans
    }

    fn learn(
        &mut self,
        runs: &[(&Plan, &Execution)],
        _sharing_grew: bool,
        _is_over: &dyn Fn() -> bool,
    ) -> Result<(), ExploreError> {
        runs.iter().for_each(|(plan, run)| self.learn_one(plan, run));
        Ok(())
    }

    fn effort(&self) -> SearchEffort {
        self.effort
    }
}
