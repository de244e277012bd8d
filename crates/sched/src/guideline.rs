//! Makes a read see the value of a chosen write: the test cases of a guideline (Algorithms 10 and 11 of Setiadi, "Total
//! replay").
//!
//! Where use and define are of different threads, both threads are held back before them until the other one is there too;
//! then define and use are made one after the other. Where one thread makes both, nobody else goes from the define up
//! to the use. A use that shall find what was there before all writes goes first. Everything else is a
//! random walk. Critical sections that both need would keep the two apart; so a thread can be stopped at a *gate*, where the lock is
//! taken, instead. When nobody else can go on, or somebody spins, one of those held back is let go: the
//! policy never makes a deadlock of its own, and the guideline is then not kept to.
//!
//! A *lead* can be given: switches that are made first, so that the walk begins at a checkpoint of another execution (§7.6.4).

use threadbare_trace::ThreadId;

use crate::{Candidate, Choice, Op, Policy, Replay, Rng, Turn};

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

/// What a guideline asks for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Guidance {
    /// What is left open differs from one number to the next.
    pub seed: u64,
    /// The use-defines, any number of them.
    pub wanted: Vec<Wanted>,
    /// The switches that are made first. After the last of them everything is open; one to the thread itself says up to where.
    pub lead: Vec<Turn>,
}

impl Guidance {
    /// As words, to be handed over.
    pub fn to_words(&self) -> Vec<u64> {
        let instance = |it: &Instance| [it.site, it.gate, u64::from(it.thread.0), u64::from(it.number)];
        let pair = |(used, defined): &Wanted| {
            let defined = defined.as_ref().map_or([0; 4], instance);
            instance(used).into_iter().chain(defined).collect::<Vec<u64>>()
        };
        let turn = |it: &Turn| [u64::from(it.from.0) << 32 | u64::from(it.op), u64::from(it.to.0)];
        let mut words = vec![self.seed, self.wanted.len() as u64];
        words.extend(self.wanted.iter().flat_map(pair));
        words.extend(self.lead.iter().flat_map(turn));
        words
    }

    /// Back from words. What is missing is not asked for.
    pub fn from_words(words: impl Iterator<Item = u64>) -> Guidance {
        let words: Vec<u64> = words.collect();
        let [seed, count, rest @ ..] = &words[..] else { return Guidance::default() };
        let pairs = (*count as usize).min(rest.len() / 8);
        let (wanted, lead) = rest.split_at(8 * pairs);
        let instance = |it: &[u64]| {
            let (thread, number) = (ThreadId(it[2] as u16), it[3] as u32);
            (it[0] != 0).then_some(Instance { thread, site: it[0], number, gate: it[1] })
        };
        let pair = |it: &[u64]| Some((instance(&it[..4])?, instance(&it[4..])));
        let turn = |it: &[u64]| Turn {
            from: ThreadId((it[0] >> 32) as u16),
            op: it[0] as u32,
            to: ThreadId(it[1] as u16),
        };
        Guidance {
            seed: *seed,
            wanted: wanted.chunks_exact(8).filter_map(pair).collect(),
            lead: lead.chunks_exact(2).map(turn).collect(),
        }
    }
}

/// See the module's description.
#[derive(Clone, Debug)]
pub struct Guideline {
    pub(crate) lead: Replay,
    rng: Rng,
    pairs: Vec<Pair>,
    /// Somebody only goes round in circles: it may wait for one that is held back.
    somebody_spins: bool,
}

impl Guideline {
    /// Keeps to these use-defines, after the switches that come first.
    pub fn new(seed: u64, guidance: Guidance) -> Guideline {
        Guideline {
            lead: Replay::new(guidance.lead),
            rng: Rng::new(seed.wrapping_add(guidance.seed)),
            pairs: guidance.wanted.into_iter().map(Pair::new).collect(),
            somebody_spins: false,
        }
    }

    /// Notes a step.
    pub(crate) fn count(&mut self, thread: ThreadId, site: u64) {
        for pair in self.pairs.iter_mut().filter(|pair| pair.stage != Stage::Done) {
            if pair.defined.as_mut().is_some_and(|define| define.observe(thread, site)) {
                pair.stage = Stage::Using;
            }
            if pair.used.observe(thread, site) {
                pair.stage = Stage::Done;
            }
        }
    }

    /// Whether there are switches left that are made first.
    pub fn is_led(&self) -> bool {
        self.lead.left() > 0
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

impl Policy for Guideline {
    fn choose(&mut self, choice: &Choice<'_>) -> ThreadId {
        if self.is_led() {
            let chosen = self.lead.choose(choice);
            // Where the lead ends with the running thread, what comes next is open.
            if self.is_led() || chosen != choice.current {
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

    fn gave_way(&mut self, _thread: ThreadId) {
        self.somebody_spins = true;
    }

    fn patience(&self) -> u32 {
        // Without switches left, a replay is as patient as everybody else.
        self.lead.patience()
    }
}
