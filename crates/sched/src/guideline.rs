//! Makes a read see the value of a chosen write: the test cases of a guideline (Algorithms 10 and 11 of Setiadi, "Total
//! replay").
//!
//! Where use and define are of different threads, both threads are held back before them until the other one is there too;
//! then define and use are made one after the other. Where one thread makes both, nobody else goes from the define up
//! to the use. A use that shall find what was there before all writes goes first. Everything else is a
//! random walk. Critical sections that both need would keep the two apart; so a thread can be stopped at a *gate*, where the lock is
//! taken, instead. When nobody else can go on, or somebody spins, one of those held back is let go: the
//! policy never makes a deadlock of its own, and the guideline is then not kept to.

use threadbare_trace::ThreadId;

use crate::{Candidate, Choice, Op, Policy, PolicyKind, PolicySpec, Rng};

/// A step by who makes it, where, and the how many-th time there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Instance {
    /// Who makes it.
    pub thread: ThreadId,
    /// The code address that announces it; never 0.
    pub site: u64,
    /// Counted from 1.
    pub number: u32,
    /// The code address of the lock before which the thread waits instead; 0 for none.
    pub gate: u64,
}

/// A use, and the define whose value it shall see; none for what was there before.
pub type Wanted = (Instance, Option<Instance>);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// Threads are held back until both are there.
    Gathering,
    /// The define is next.
    Defining,
    /// The use is next.
    Using,
    /// The use has been made, in whatever way.
    Done,
}

#[derive(Clone, Copy, Debug)]
struct Counted {
    instance: Instance,
    made: u32,
}

impl Counted {
    /// Whether this is the operation before which the thread waits.
    fn stops(&self, candidate: &Candidate<'_>) -> bool {
        let Instance { thread, site, number, gate } = self.instance;
        candidate.thread == thread
            && self.made + 1 == number
            && (candidate.op.site == site || (gate != 0 && candidate.op.site == gate))
    }

    /// Counts a step; says whether it is the one that is wanted.
    fn observe(&mut self, thread: ThreadId, op: &Op) -> bool {
        if (thread, op.site) != (self.instance.thread, self.instance.site) {
            return false;
        }
        self.made += 1;
        self.made == self.instance.number
    }
}

#[derive(Clone, Copy, Debug)]
struct Pair {
    used: Counted,
    defined: Option<Counted>,
    stage: Stage,
}

impl Pair {
    fn new((used, defined): Wanted) -> Pair {
        let counted = |instance| Counted { instance, made: 0 };
        let stage = if defined.is_some() { Stage::Gathering } else { Stage::Using };
        Pair { used: counted(used), defined: defined.map(counted), stage }
    }

    /// The define, where another thread makes it.
    fn remote(&self) -> Option<&Counted> {
        self.defined.as_ref().filter(|it| it.instance.thread != self.used.instance.thread)
    }

    fn holds(&self, candidate: &Candidate<'_>) -> bool {
        let Some(define) = self.remote() else { return false };
        match self.stage {
            Stage::Gathering => self.used.stops(candidate) || define.stops(candidate),
            Stage::Defining => self.used.stops(candidate),
            Stage::Using | Stage::Done => false,
        }
    }

    fn is_gathered(&self, choice: &Choice<'_>) -> bool {
        let is_there = |it: &Counted| choice.candidates.iter().any(|candidate| it.stops(candidate));
        self.stage == Stage::Gathering
            && self.remote().is_some_and(|define| is_there(define) && is_there(&self.used))
    }

    /// Who goes before all others.
    fn first(&self) -> Option<ThreadId> {
        match self.stage {
            Stage::Defining => self.defined.as_ref().map(|it| it.instance.thread),
            Stage::Using => Some(self.used.instance.thread),
            Stage::Gathering | Stage::Done => None,
        }
    }
}

/// See the module's description.
#[derive(Clone, Debug)]
pub struct Guideline {
    rng: Rng,
    pairs: Vec<Pair>,
    /// Somebody only goes round in circles: it may wait for one that is held back.
    somebody_spins: bool,
}

impl Guideline {
    /// So many use-defines can be asked for at once.
    pub const MOST: usize = PolicySpec::MAX_SITES / 4;

    /// Keeps to the use-defines in the specification; see [`PolicySpec::guideline`].
    pub fn new(spec: &PolicySpec) -> Guideline {
        let instance = |place: usize| {
            let (site, gate) = (spec.sites[2 * place], spec.sites[2 * place + 1]);
            let (thread, number) = (spec.weights[2 * place], spec.weights[2 * place + 1]);
            (site != 0).then_some(Instance { thread: ThreadId(thread as u16), site, number, gate })
        };
        let wanted = (0..Self::MOST).filter_map(|pair| Some((instance(2 * pair)?, instance(2 * pair + 1))));
        Guideline { rng: Rng::new(spec.seed), pairs: wanted.map(Pair::new).collect(), somebody_spins: false }
    }

    fn is_held(&self, candidate: &Candidate<'_>) -> bool {
        self.pairs.iter().any(|pair| pair.holds(candidate))
    }

    /// One of those who are held back or not, each as likely as the others.
    fn any(&mut self, choice: &Choice<'_>, held: bool) -> Option<ThreadId> {
        let count = choice.candidates.iter().filter(|it| self.is_held(it) == held).count();
        let pick = self.rng.below(count.max(1) as u64) as usize;
        let mut fitting = choice.candidates.iter().filter(|it| self.is_held(it) == held);
        fitting.nth(pick).map(|candidate| candidate.thread)
    }
}

impl PolicySpec {
    /// A policy that makes these uses see these defines; none if there are too many.
    pub fn guideline(wanted: &[Wanted], seed: u64) -> Option<PolicySpec> {
        if wanted.len() > Guideline::MOST {
            return None;
        }
        let mut spec = PolicySpec::new(PolicyKind::Guideline, seed);
        for (pair, (used, defined)) in wanted.iter().enumerate() {
            for (place, instance) in [(2 * pair, Some(used)), (2 * pair + 1, defined.as_ref())] {
                let Some(it) = instance else { continue };
                (spec.sites[2 * place], spec.sites[2 * place + 1]) = (it.site, it.gate);
                (spec.weights[2 * place], spec.weights[2 * place + 1]) = (u32::from(it.thread.0), it.number);
            }
        }
        Some(spec)
    }
}

impl Policy for Guideline {
    fn choose(&mut self, choice: &Choice<'_>) -> ThreadId {
        for pair in &mut self.pairs {
            if pair.is_gathered(choice) {
                pair.stage = Stage::Defining;
            }
        }
        let chosen = if std::mem::take(&mut self.somebody_spins) { self.any(choice, true) } else { None };
        let first = self
            .pairs
            .iter()
            .filter_map(Pair::first)
            .find(|thread| choice.candidate(*thread).is_some_and(|candidate| !self.is_held(candidate)));
        let chosen = chosen.or(first).or_else(|| self.any(choice, false)).or_else(|| self.any(choice, true));
        chosen.unwrap_or(choice.candidates[0].thread)
    }

    fn executed(&mut self, thread: ThreadId, op: &Op) {
        for pair in self.pairs.iter_mut().filter(|pair| pair.stage != Stage::Done) {
            if pair.defined.as_mut().is_some_and(|define| define.observe(thread, op)) {
                pair.stage = Stage::Using;
            }
            if pair.used.observe(thread, op) {
                pair.stage = Stage::Done;
            }
        }
    }

    fn gave_way(&mut self, _thread: ThreadId) {
        self.somebody_spins = true;
    }
}
