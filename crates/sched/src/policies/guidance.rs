//! Makes a read see the value of a chosen write: the test cases of a guideline (Algorithms 10 and 11 of Setiadi, "Total
//! replay").
//!
//! Where use and define are of different threads, both threads are held back before them until the other one is there too;
//! then define and use are made one after the other. Where one thread makes both, nobody else goes from the define up
//! to the use. A use that shall find what was there before all writes goes first. Everything else is a
//! random walk. Critical sections that both need would exclude each other; so a thread can be stopped at a *gate*, where the lock is
//! taken, instead. When nobody else is runnable, or somebody spins, one of those held back is let go: the
//! policy never makes a deadlock of its own, and the guideline is then not kept to.
//!
//! A *lead* can be given: switches that are made first, so that the walk begins at a checkpoint of another execution (§7.6.4).

use threadbare_trace::ThreadId;

use super::replay::ReplayPolicy;
use crate::{Candidate, Choice, Malformed, Op, Policy, Replay, Rng, Specification, SwitchPoint, Words};

/// A step by who makes it, where, and the how many-th time there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StepInstance {
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
pub type WantedUse = (StepInstance, Option<StepInstance>);

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
    instance: StepInstance,
    made: u32,
}

impl Counted {
    /// Whether this is the operation before which the thread waits.
    fn stops(&self, candidate: &Candidate<'_>) -> bool {
        let StepInstance { thread, site, number, gate } = self.instance;
        candidate.thread == thread
            && self.made + 1 == number
            && (candidate.op.site == site || (gate != 0 && candidate.op.site == gate))
    }

    /// Counts a step; says whether it is the one that is wanted.
    fn observe(&mut self, thread: ThreadId, site: u64) -> bool {
        if (thread, site) != (self.instance.thread, self.instance.site) {
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
    fn new((used, defined): WantedUse) -> Pair {
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

/// What a guideline asks for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Guidance {
    /// Tells test cases of one guideline apart, which otherwise differ in nothing: what is left open is drawn by it,
    /// together with the seed.
    pub variation: u64,
    /// The use-defines, any number of them.
    pub wanted: Vec<WantedUse>,
    /// The switches that are made first. After the last of them everything is open; one to the thread itself says up to where.
    pub lead: Vec<SwitchPoint>,
}

impl StepInstance {
    fn encode(&self, words: &mut Vec<u64>) {
        words.extend([u64::from(self.thread.0), self.site, u64::from(self.number), self.gate]);
    }

    fn decode(words: &mut Words<'_>) -> Result<StepInstance, Malformed> {
        Ok(StepInstance {
            thread: words.thread()?,
            site: words.word()?,
            number: words.number()?,
            gate: words.word()?,
        })
    }
}

impl Specification for Guidance {
    type Policy = GuidancePolicy;

    fn name(&self) -> String {
        "guideline".to_string()
    }

    fn encode(&self, words: &mut Vec<u64>) {
        words.extend([self.variation, self.wanted.len() as u64]);
        for (used, defined) in &self.wanted {
            used.encode(words);
            words.push(u64::from(defined.is_some()));
            defined.iter().for_each(|defined| defined.encode(words));
        }
        words.push(self.lead.len() as u64);
        self.lead.iter().for_each(|switch| switch.encode(words));
    }

    fn decode(words: &mut Words<'_>) -> Result<Guidance, Malformed> {
        let variation = words.word()?;
        let wanted = words.list(|words| {
            let used = StepInstance::decode(words)?;
            let defined = if words.flag()? { Some(StepInstance::decode(words)?) } else { None };
            Ok((used, defined))
        })?;
        Ok(Guidance { variation, wanted, lead: words.list(SwitchPoint::decode)? })
    }

    fn start(self, seed: u64) -> GuidancePolicy {
        GuidancePolicy {
            lead: Replay { switches: self.lead, main_last: false }.start(seed),
            rng: Rng::new(seed.wrapping_add(self.variation)),
            pairs: self.wanted.into_iter().map(Pair::new).collect(),
            somebody_spins: false,
        }
    }
}

/// See the module's description.
#[derive(Clone, Debug)]
pub struct GuidancePolicy {
    lead: ReplayPolicy,
    rng: Rng,
    pairs: Vec<Pair>,
    /// Somebody spins: it may wait for one that is held back.
    somebody_spins: bool,
}

impl GuidancePolicy {
    fn count(&mut self, thread: ThreadId, site: u64) {
        for pair in self.pairs.iter_mut().filter(|pair| pair.stage != Stage::Done) {
            if pair.defined.as_mut().is_some_and(|define| define.observe(thread, site)) {
                pair.stage = Stage::Using;
            }
            if pair.used.observe(thread, site) {
                pair.stage = Stage::Done;
            }
        }
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

impl Policy for GuidancePolicy {
    fn choose(&mut self, choice: &Choice<'_>) -> ThreadId {
        if self.lead.has_switches_left() {
            let chosen = self.lead.choose(choice);
            // Where the lead ends with the running thread, what comes next is open.
            if self.lead.has_switches_left() || chosen != choice.current {
                return chosen;
            }
        }
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
        self.count(thread, op.site);
    }

    fn yielded(&mut self, _thread: ThreadId) {
        self.somebody_spins = true;
    }

    fn spin_limit(&self) -> u32 {
        // Without switches left, a replay has the limit of everybody else.
        self.lead.spin_limit()
    }

    fn forces_switches(&self) -> bool {
        self.lead.has_switches_left()
    }

    fn has_switches_left(&self) -> bool {
        self.lead.has_switches_left()
    }

    fn reached(&mut self, thread: ThreadId, op: u32) {
        self.lead.reached(thread, op);
    }

    fn stop_before(&self, thread: ThreadId) -> Option<u32> {
        self.lead.stop_before(thread)
    }

    fn executed_before(&mut self, thread: ThreadId, site: u64) {
        self.count(thread, site);
    }
}
