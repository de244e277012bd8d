//! Total replay as it was published (Figure 49 of the thesis): what can come to decide a branch, a lock or an address gives
//! *guidelines*, and for each that no execution has kept to, a policy holds threads back until one does (Algorithms 10 and
//! 11). No solver says whether that is possible, and nothing is claimed at the end.
//!
//! Where executions have shown already what each thread does when it sees what a guideline asks for, the guideline puts paths
//! together that are known. If no two of them can race, the test case is left out (Algorithm 12).

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use threadbare_happens_before::LockSets;
use threadbare_models::graph::{DependencyGraph, UseDefineGuideline, satisfies};
use threadbare_models::{Combinations, Label, Location, UseDefine, UseDefines};
use threadbare_sched::{Guidance, StepInstance, SwitchPoint, WantedUse};
use threadbare_target::Execution;
use threadbare_trace::{Event, ThreadId};
use threadbare_wire::{SwitchRecord, flags};

use crate::error::ExploreError;
use crate::history::History;
use crate::strategies::total::{Relevance, graphs};
use crate::strategy::{Plan, Strategy};

/// How often a guideline is tried: what comes before its steps is a random walk.
const TRIES: u64 = 3;

/// See the module's description.
pub(crate) struct Published {
    name: &'static str,
    seed: u64,
    relevance: Relevance,
    probed: bool,
    begun: bool,
    known: BTreeSet<UseDefineGuideline>,
    waiting: VecDeque<Waiting>,
    combinations: Combinations,
    shown: Vec<ShownPaths>,
    /// Test cases that were left out.
    pub(crate) left_out: u64,
}

/// A guideline that no execution has kept to.
struct Waiting {
    guideline: UseDefineGuideline,
    wanted: Vec<WantedUse>,
    /// What led to the place where executions part, in the execution that gave it.
    lead: Vec<SwitchPoint>,
    tries: u64,
    /// The paths of the execution that gave it.
    paths: PathNumbers,
}

/// A path for each thread, by its number in [`Combinations`].
type PathNumbers = BTreeMap<ThreadId, usize>;

/// What the threads of an execution saw, and the paths that they took.
struct ShownPaths {
    paths: PathNumbers,
    saw: BTreeSet<UseDefine>,
}

impl Published {
    pub(crate) fn new(name: &'static str, seed: u64, sharing_is_known: bool) -> Published {
        Published {
            name,
            seed,
            relevance: Relevance::default(),
            probed: sharing_is_known,
            begun: false,
            known: BTreeSet::new(),
            waiting: VecDeque::new(),
            combinations: Combinations::default(),
            shown: Vec::new(),
            left_out: 0,
        }
    }

    /// Adds the guidelines that an execution gives.
    fn derive(&mut self, run: &Execution) {
        let seen = UseDefines::of(&run.events);
        self.waiting.retain(|waiting| !satisfies(&seen, &waiting.guideline));
        let (paths, _) = self.combinations.add(&run.events);
        self.shown.push(ShownPaths { paths: paths.clone(), saw: seen.actual.clone() });
        let graphs = graphs::of_execution(run, &seen, &self.relevance);
        let found: BTreeSet<UseDefineGuideline> =
            graphs.iter().flat_map(DependencyGraph::guidelines).collect();
        for guideline in found {
            if !self.known.insert(guideline.clone()) || satisfies(&seen, &guideline) {
                continue;
            }
            // What this execution has shown by itself is left to come by itself.
            let missing = guideline.iter().filter(|it| !seen.actual.contains(it));
            let wanted: Option<Vec<WantedUse>> = missing.map(|it| wanted(it, &run.events)).collect();
            let Some(wanted) = wanted else { continue };
            let (lead, paths) = (lead(&wanted, run), paths.clone());
            self.waiting.push_back(Waiting { guideline, wanted, lead, tries: 0, paths });
        }
    }

    fn guided(&self, guidance: Guidance) -> Plan {
        Plan { trace: true, checkpoints: true, ..Plan::new(guidance, self.seed, self.name) }
    }

    /// The next guideline that is worth a test case.
    fn next(&mut self) -> Option<Waiting> {
        loop {
            let waiting = self.waiting.pop_front()?;
            if !self.has_no_race(&waiting) {
                return Some(waiting);
            }
            self.left_out += 1;
        }
    }

    /// Whether a guideline only puts paths together that are known, and none of them can race.
    fn has_no_race(&self, waiting: &Waiting) -> bool {
        let mut paths = waiting.paths.clone();
        let threads: BTreeSet<ThreadId> = waiting.guideline.iter().map(|it| it.used.at.thread).collect();
        for thread in threads {
            let wanted = || waiting.guideline.iter().filter(|it| it.used.at.thread == thread);
            let shows = |shown: &&ShownPaths| wanted().all(|it| shown.saw.contains(it));
            let taken = self.shown.iter().find(shows).and_then(|shown| shown.paths.get(&thread));
            let Some(path) = taken else { return false };
            paths.insert(thread, *path);
        }
        self.combinations.label(&paths) == Some(Label::NoRace)
    }
}

/// The switches of an execution up to the first step that is held back for the sake of these use-defines: the checkpoint from
/// which a test case begins (§7.6.4).
fn lead(wanted: &[WantedUse], run: &Execution) -> Vec<SwitchPoint> {
    let instances = || wanted.iter().flat_map(|(used, defined)| std::iter::once(used).chain(defined));
    let stops = |event: &Event| {
        instances().any(|it| it.thread == event.thread && (it.site == event.pc || it.gate == event.pc))
    };
    let mut switches = run.switches.iter().peekable();
    let mut running = ThreadId::MAIN;
    let mut lead = Vec::new();
    for event in run.events.iter().filter(|event| event.kind().is_some_and(|kind| !kind.only_names())) {
        let comes_first = |running: ThreadId, switch: &SwitchRecord| {
            running != event.thread || (switch.from == running && switch.op <= event.op)
        };
        while let Some(switch) = switches.next_if(|switch| comes_first(running, switch)) {
            running = switch.to;
            lead.push(SwitchPoint { from: switch.from, op: switch.op, to: switch.to });
        }
        if stops(event) {
            lead.push(SwitchPoint { from: running, op: event.op, to: running });
            return lead;
        }
    }
    Vec::new()
}

/// A use-define for the policy: the first steps of an execution at its places.
fn wanted(it: &UseDefine, events: &[Event]) -> Option<WantedUse> {
    let used = instance(it.used.at, it.used.variable, events)?;
    match it.defined {
        Some(at) => Some((used, Some(instance(at, it.used.variable, events)?))),
        None => Some((used, None)),
    }
}

fn instance(at: Location, variable: u64, events: &[Event]) -> Option<StepInstance> {
    let mut locks = LockSets::default();
    let mut number = 0;
    for (index, event) in events.iter().enumerate() {
        let Some(kind) = event.kind() else { continue };
        locks.observe(index, event, kind);
        if (event.thread, event.pc) == (at.thread, at.site) {
            number += 1;
            let touches = event.addr <= variable && variable < event.addr + u64::from(event.size.max(1));
            if kind.accesses_memory() && touches {
                let gate = locks.held(event.thread).first().map_or(0, |held| held.pc);
                return Some(StepInstance { thread: at.thread, site: at.site, number, gate });
            }
        }
    }
    None
}

impl Strategy for Published {
    fn plan(&mut self, first: u64, count: usize, _history: &History) -> Vec<Plan> {
        if count == 0 {
            return Vec::new();
        }
        let mut plan = if !self.probed {
            self.probed = true;
            Plan::probe(self.seed, format!("{} (probe)", self.name))
        } else if !self.begun {
            self.begun = true;
            self.guided(Guidance { variation: self.seed, ..Guidance::default() })
        } else {
            let Some(waiting) = self.next() else { return Vec::new() };
            // The first time from where executions part, and then from the beginning, on other paths.
            let lead = if waiting.tries == 0 { waiting.lead.clone() } else { Vec::new() };
            let seed = self.seed.wrapping_add(first);
            let plan = self.guided(Guidance { variation: seed, wanted: waiting.wanted.clone(), lead });
            if waiting.tries + 1 < TRIES {
                self.waiting.push_back(Waiting { tries: waiting.tries + 1, ..waiting });
            }
            plan
        };
        plan.flags |= flags::THREAD_STATES | flags::THREAD_HEAPS;
        vec![plan]
    }

    fn learn(
        &mut self,
        runs: &[(&Plan, &Execution)],
        sharing_grew: bool,
        _is_over: &dyn Fn() -> bool,
    ) -> Result<(), ExploreError> {
        if sharing_grew {
            *self = Published::new(self.name, self.seed, true);
            return Ok(());
        }
        for (_, run) in runs.iter().filter(|(plan, _)| plan.trace) {
            self.relevance.look_at(run);
            self.derive(run);
        }
        Ok(())
    }
}
