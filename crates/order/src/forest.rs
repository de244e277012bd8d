//! Steps under names that hold in all executions of a program.
//!
//! A thread is determined by what it has observed. So the steps of a thread in all executions form a tree: where two
//! executions part, the same operation saw different things. A step's place in its thread's tree is its name;
//! two executions in which a thread goes through the same steps have that thread in the same states.

use std::collections::{BTreeSet, HashMap, HashSet};

use threadbare_trace::{Event, ThreadId};

use crate::action::{AccessMode, Action, MemoryRange};
use crate::doubt::Doubt;
use crate::reading::{ReadStep, Reading};

/// The name of a step.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StepId(pub u32);

impl StepId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A step of a thread, after the steps that lead to it.
#[derive(Clone, Debug)]
pub struct ForestStep {
    /// Who makes it.
    pub thread: ThreadId,
    /// The step before it in its thread.
    pub parent: Option<StepId>,
    /// Which operation of its thread it is, counted from 1; 0 is the start.
    pub op: u32,
    /// The code that announces it.
    pub pc: u64,
    /// What it does.
    pub actions: Box<[Action]>,
    /// The latest step before it at which the thread's state was the same: it has gone round a loop and changed
    /// nothing of its own.
    pub came_round: Option<StepId>,
    /// A hash of the thread's state; 0 if that is not known.
    state_hash: u32,
    /// How often in a row the thread has made the same observation before and done nothing else: it spins.
    pub repeats: u32,
    /// The steps that were seen to follow it in its thread.
    pub children: Vec<StepId>,
    /// After it the thread ends the process, or brings it down: nobody makes another step.
    pub is_final: bool,
}

impl ForestStep {
    /// Whether it is the end of its thread, and no operation. What the thread did in its last operation is another step.
    pub fn only_ends(&self) -> bool {
        self.actions.first() == Some(&Action::Exit)
    }

    /// Whether the step only looks, so that making it again and again is spinning.
    fn only_looks(&self) -> bool {
        use Action::*;
        self.actions.iter().all(|action| match action {
            Read(..) | Touch(_, AccessMode::Reads) | Idle(_) | Refused(_) | Empty(_) => true,
            Write(..) | Update(..) | Touch(_, AccessMode::Writes) | Free(_) | Renew { .. } => false,
            Acquire { .. } | Release(_) | Wait { .. } | Wake { .. } | Timeout { .. } | Signal { .. } => false,
            Arrive(_) | Leave(..) | Take(_) | Post(_) => false,
            Create(_) | Start(_) | Exit | Join(_) | Unended(_) | Keep(..) | Watershed(..) => false,
        })
    }
}

/// An execution as steps.
#[derive(Clone, Default, Debug)]
pub struct Path {
    /// The steps in order.
    pub steps: Vec<StepId>,
    /// The place in `steps` of each event, [`Path::NO_STEP`] for events that are no steps.
    pub of_event: Vec<u32>,
    /// How many of the steps no execution had shown before.
    pub new_steps: usize,
    /// What was in memory before, as far as the first access to it shows.
    pub(crate) initial: HashMap<MemoryRange, u64>,
    /// How many tokens semaphores had before.
    pub(crate) tokens: HashMap<u64, u64>,
}

impl Path {
    /// Stands for no step.
    pub const NO_STEP: u32 = Reading::NO_STEP;

    /// What was in memory before, if the first access to just that memory showed it.
    pub fn initial(&self, extent: MemoryRange) -> Option<u64> {
        self.initial.get(&extent).copied()
    }

    /// The step of an event.
    pub fn step_of(&self, event: usize) -> Option<StepId> {
        self.steps.get(*self.of_event.get(event)? as usize).copied()
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Name {
    parent: Option<StepId>,
    thread: ThreadId,
    op: u32,
    pc: u64,
    actions: Box<[Action]>,
}

/// The steps of any number of executions.
#[derive(Clone, Default, Debug)]
pub struct Forest {
    steps: Vec<ForestStep>,
    names: HashMap<Name, StepId>,
    roots: HashMap<ThreadId, Vec<StepId>>,
    pub(crate) initial: HashMap<MemoryRange, u64>,
    pub(crate) tokens: HashMap<u64, u64>,
    doubts: BTreeSet<Doubt>,
    /// Memory that did not hold the same in the beginning of all executions.
    pub(crate) unsteady: HashSet<MemoryRange>,
    /// Whoever asks sees to it that nothing is used before it is there or after it is gone.
    pub(crate) lifetimes_are_asked: bool,
}

/// How many steps a round of a loop may have to be recognised.
const LONGEST_ROUND: usize = 4096;

/// How far back a repeated observation is looked for.
const WINDOW: usize = 16;

impl Forest {
    /// A forest without steps.
    pub fn new() -> Forest {
        Forest::default()
    }

    /// From now on, memory that is freed is never used again, and [`Model::of_all`](crate::Model::of_all) has
    /// no rules for who uses what after its end or before its beginning: whoever asks has to ask for that as well.
    pub fn leave_lifetimes_to_the_asker(&mut self) {
        self.lifetimes_are_asked = true;
    }

    /// Adds an execution.
    pub fn add(&mut self, events: &[Event]) -> Path {
        let path = self.add_what_matters(events, &|_| true);
        if !self.unsteady.is_empty() {
            self.doubts.insert(Doubt::Start);
        }
        path
    }

    /// Adds an execution of which it is known for each access whether anything depends on the values. That has to be
    /// said of all executions in the same way.
    pub fn add_what_matters(&mut self, events: &[Event], matters: &dyn Fn(&Event) -> bool) -> Path {
        let reading = Reading::of(events, matters);
        for (extent, value) in &reading.initial {
            if *self.initial.entry(*extent).or_insert(*value) != *value {
                self.unsteady.insert(*extent);
            }
        }
        for (semaphore, count) in &reading.tokens {
            if *self.tokens.entry(*semaphore).or_insert(*count) != *count {
                self.doubts.insert(Doubt::Start);
            }
        }
        let mut latest: HashMap<ThreadId, StepId> = HashMap::new();
        let Reading { steps, of_event, initial, tokens } = reading;
        let mut path = Path { of_event, initial, tokens, ..Path::default() };
        for step in steps {
            let parent = latest.get(&step.thread).copied();
            let before = self.steps.len();
            let id = self.grow(parent, &step);
            path.new_steps += self.steps.len() - before;
            latest.insert(step.thread, id);
            path.steps.push(id);
        }
        path
    }

    /// Notes that a thread brought the process down after its last step in an execution, by what it
    /// had seen itself. Wherever it makes that step, nobody makes another.
    pub fn ends_with(&mut self, path: &Path, thread: ThreadId) {
        let last = path.steps.iter().rev().find(|id| self.step(**id).thread == thread);
        if let Some(last) = last {
            self.steps[last.index()].is_final = true;
        }
    }

    fn grow(&mut self, parent: Option<StepId>, step: &ReadStep) -> StepId {
        let name = Name {
            parent,
            thread: step.thread,
            op: step.op,
            pc: step.pc,
            actions: step.actions.as_slice().into(),
        };
        if let Some(id) = self.names.get(&name) {
            return *id;
        }
        let id = StepId(self.steps.len() as u32);
        let Name { thread, op, pc, ref actions, .. } = name;
        let mut new = ForestStep {
            thread,
            parent,
            op,
            pc,
            actions: actions.clone(),
            came_round: None,
            state_hash: step.state_hash,
            repeats: 0,
            children: Vec::new(),
            is_final: false,
        };
        new.repeats = self.repeats(&new);
        new.came_round = self.same_state(&new);
        let siblings = match parent {
            Some(parent) => &mut self.steps[parent.index()].children,
            None => self.roots.entry(thread).or_default(),
        };
        let first = siblings.first().copied();
        siblings.push(id);
        // After the same observations the next operation has to be the same; only what it sees may differ.
        if let Some(first) = first {
            let known = &self.steps[first.index()];
            if (known.op, known.pc) != (op, pc) {
                self.doubts.insert(Doubt::Undetermined);
            }
        }
        self.steps.push(new);
        self.names.insert(name, id);
        id
    }

    fn same_state(&self, new: &ForestStep) -> Option<StepId> {
        if new.state_hash == 0 {
            return None;
        }
        let mut at = new.parent;
        for _ in 0..LONGEST_ROUND {
            let id = at?;
            let step = &self.steps[id.index()];
            if (step.pc, step.state_hash) == (new.pc, new.state_hash) {
                return Some(id);
            }
            at = step.parent;
        }
        None
    }

    /// A step, and those at which its thread had the same state before, latest first.
    pub fn rounds(&self, id: StepId) -> impl Iterator<Item = StepId> + '_ {
        std::iter::successors(Some(id), |id| self.step(*id).came_round)
    }

    fn repeats(&self, new: &ForestStep) -> u32 {
        if !new.only_looks() {
            return 0;
        }
        let mut at = new.parent;
        for _ in 0..WINDOW {
            let Some(step) = at.map(|id| &self.steps[id.index()]) else { break };
            if !step.only_looks() {
                break;
            }
            if step.pc == new.pc && step.actions == new.actions {
                return step.repeats + 1;
            }
            at = step.parent;
        }
        0
    }

    /// How often in a row the thread would have made the same observation before and done nothing else, if this step read
    /// that value there.
    pub fn repeats_with(&self, id: StepId, extent: MemoryRange, value: u64) -> u32 {
        let mut other = self.step(id).clone();
        for action in &mut other.actions {
            if let Action::Read(read, seen) = action
                && *read == extent
            {
                *seen = Some(value);
            }
        }
        self.repeats(&other)
    }

    /// A step by its name.
    pub fn step(&self, id: StepId) -> &ForestStep {
        &self.steps[id.index()]
    }

    /// How many steps there are.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether no execution has been added.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// All steps, each after the one before it in its thread.
    pub fn ids(&self) -> impl Iterator<Item = StepId> + use<> {
        (0..self.steps.len() as u32).map(StepId)
    }

    /// The first steps of a thread.
    pub fn roots(&self, thread: ThreadId) -> &[StepId] {
        self.roots.get(&thread).map_or(&[], Vec::as_slice)
    }

    /// What the same operation was seen to do in all executions: the step and its siblings.
    pub fn siblings(&self, id: StepId) -> &[StepId] {
        match self.step(id).parent {
            Some(parent) => &self.step(parent).children,
            None => self.roots(self.step(id).thread),
        }
    }

    /// The next operation of a thread after a step, or its first one: its number and the code that
    /// announces it. Accesses to private memory are operations too, so it need not be the next number; and they are
    /// announced before what was announced earlier has happened, so only the next one that counts will do.
    pub fn next_operation(&self, thread: ThreadId, after: Option<StepId>) -> (u32, u64) {
        let next = match after {
            Some(after) => self.step(after).children.first(),
            None => self.roots(thread).first(),
        };
        match (next.map(|next| self.step(*next)), after) {
            // The end of a thread is no operation, and has the number of the one before.
            (Some(end), Some(_)) if end.only_ends() => (end.op + 1, 0),
            (Some(next), _) => (next.op, next.pc),
            (None, Some(after)) => (self.step(after).op + 1, 0),
            (None, None) => (1, 0),
        }
    }

    /// What was in memory before, if the first access to just that memory showed it in some execution.
    pub fn initial(&self, extent: MemoryRange) -> Option<u64> {
        self.initial.get(&extent).copied()
    }

    /// Why the executions together may not record all that a thread observes.
    pub fn doubts(&self) -> &BTreeSet<Doubt> {
        &self.doubts
    }
}
