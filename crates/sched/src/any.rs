//! Any policy, built from its specification, without a pointer to call through.

use threadbare_trace::ThreadId;

use crate::{
    Between, Choice, Delay, Directed, Guidance, Guideline, Interruptions, Journal, Op, Pct, Policy,
    PolicyKind, PolicySpec, Pos, Prefix, Random, Replay, Requirements, RoundRobin, Surw, Tsa, Turn,
};

/// One of the policies.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "each variant is the policy of its name")]
pub enum AnyPolicy {
    Random(Random),
    Pct(Pct),
    Pos(Pos),
    Surw(Surw),
    Delay(Delay),
    RoundRobin(RoundRobin),
    Prefix(Prefix),
    Replay(Replay),
    Directed(Directed),
    Tsa(Box<Tsa>),
    Guideline(Guideline),
    Interruptions(Interruptions),
    Between(Between),
    Journal(Journal),
}

macro_rules! each {
    ($any:expr, $policy:ident => $body:expr) => {
        match $any {
            AnyPolicy::Random($policy) => $body,
            AnyPolicy::Pct($policy) => $body,
            AnyPolicy::Pos($policy) => $body,
            AnyPolicy::Surw($policy) => $body,
            AnyPolicy::Delay($policy) => $body,
            AnyPolicy::RoundRobin($policy) => $body,
            AnyPolicy::Prefix($policy) => $body,
            AnyPolicy::Replay($policy) => $body,
            AnyPolicy::Directed($policy) => $body,
            AnyPolicy::Tsa($policy) => $body,
            AnyPolicy::Guideline($policy) => $body,
            AnyPolicy::Interruptions($policy) => $body,
            AnyPolicy::Between($policy) => $body,
            AnyPolicy::Journal($policy) => $body,
        }
    };
}

/// Builds the policy that this specification asks for.
///
/// A replay follows `switches` (who stops, before which of its operations, who goes on), a prefix
/// follows `choices`, a controller of synchronization pairs reads its requirements from `words`, and so does a
/// guideline; the other policies leave all of them alone. An unknown number means a random walk.
pub fn build(
    spec: &PolicySpec,
    switches: impl Iterator<Item = (ThreadId, u32, ThreadId)>,
    choices: impl Iterator<Item = ThreadId>,
    words: impl Iterator<Item = u64>,
) -> AnyPolicy {
    match PolicyKind::from_number(spec.kind) {
        Some(PolicyKind::Random) | None => AnyPolicy::Random(Random::new(spec)),
        Some(PolicyKind::Pct) => AnyPolicy::Pct(Pct::new(spec)),
        Some(PolicyKind::Pos) => AnyPolicy::Pos(Pos::new(spec)),
        Some(PolicyKind::Surw) => AnyPolicy::Surw(Surw::new(spec)),
        Some(PolicyKind::Delay) => AnyPolicy::Delay(Delay::new(spec)),
        Some(PolicyKind::RoundRobin) => AnyPolicy::RoundRobin(RoundRobin::new(spec)),
        Some(PolicyKind::Directed) => AnyPolicy::Directed(Directed::new(spec)),
        Some(PolicyKind::Tsa) => AnyPolicy::Tsa(Box::new(Tsa::new(spec, Requirements::from_words(words)))),
        Some(PolicyKind::Guideline) => {
            AnyPolicy::Guideline(Guideline::new(spec.seed, Guidance::from_words(words)))
        }
        Some(PolicyKind::Interruptions) => AnyPolicy::Interruptions(Interruptions::new(spec)),
        Some(PolicyKind::Between) => AnyPolicy::Between(Between::new(spec)),
        Some(PolicyKind::Journal) => AnyPolicy::Journal(Journal::default()),
        Some(PolicyKind::Prefix) => AnyPolicy::Prefix(Prefix::new(choices.collect())),
        Some(kind @ (PolicyKind::Replay | PolicyKind::Follow)) => {
            let turns = switches.map(|(from, op, to)| Turn { from, op, to }).collect();
            let follows = kind == PolicyKind::Follow;
            AnyPolicy::Replay(if follows { Replay::with_main_last(turns) } else { Replay::new(turns) })
        }
    }
}

impl Default for AnyPolicy {
    /// Nobody is preempted.
    fn default() -> AnyPolicy {
        AnyPolicy::Prefix(Prefix::new(Vec::new()))
    }
}

impl AnyPolicy {
    /// Whether this is a replay: it is asked even if only one thread can go on.
    #[inline]
    pub fn is_replay(&self) -> bool {
        match self {
            AnyPolicy::Replay(_) => true,
            AnyPolicy::Guideline(guideline) => guideline.is_led(),
            _ => false,
        }
    }

    /// Whether this is a replay that has switches left to make.
    #[inline]
    pub fn is_unfinished_replay(&self) -> bool {
        match self {
            AnyPolicy::Replay(replay) => replay.left() > 0,
            AnyPolicy::Guideline(guideline) => guideline.is_led(),
            _ => false,
        }
    }

    /// Whether it looks at where in the program's own code locks are taken.
    #[inline]
    pub fn needs_places(&self) -> bool {
        matches!(self, AnyPolicy::Tsa(_))
    }

    /// What was written down, if this is a journal.
    pub fn journal(&self) -> Option<&Journal> {
        match self {
            AnyPolicy::Journal(journal) => Some(journal),
            _ => None,
        }
    }

    /// How often each rule of a controller decided; see [`Tsa::fired`].
    pub fn fired(&self) -> [u64; Tsa::RULES] {
        match self {
            AnyPolicy::Tsa(tsa) => tsa.fired(),
            _ => [0; Tsa::RULES],
        }
    }

    /// A step was made before the policy came into being; those who count steps do so.
    pub fn caught_up(&mut self, thread: ThreadId, site: u64) {
        if let AnyPolicy::Guideline(guideline) = self {
            guideline.count(thread, site);
        }
    }

    /// The prefix that is followed, if this is one.
    pub fn prefix(&mut self) -> Option<&mut Prefix> {
        match self {
            AnyPolicy::Prefix(prefix) => Some(prefix),
            _ => None,
        }
    }

    /// Tells a replay where the running thread stands; see [`Replay::at`].
    pub fn at(&mut self, current: ThreadId, index: u32) {
        match self {
            AnyPolicy::Replay(replay) => replay.at(current, index),
            AnyPolicy::Guideline(guideline) => guideline.lead.at(current, index),
            _ => {}
        }
    }

    /// The operation before which `thread` has to stop although it may be no scheduling point;
    /// `u32::MAX` for none.
    #[inline]
    pub fn stop_at(&self, thread: ThreadId) -> u32 {
        match self {
            AnyPolicy::Replay(replay) => replay.stop_at(thread),
            AnyPolicy::Guideline(guideline) => guideline.lead.stop_at(thread),
            _ => u32::MAX,
        }
    }

    fn tell_executed(&mut self, thread: ThreadId, op: &Op) {
        each!(self, policy => policy.executed(thread, op))
    }

    /// Where a forced policy first left its list: the number of the switch or choice, counted from
    /// 1, and what was in the way.
    pub fn divergence(&self) -> Option<(u64, String)> {
        let divergence = match self {
            AnyPolicy::Prefix(prefix) => prefix.divergence(),
            AnyPolicy::Replay(replay) => replay.divergence(),
            _ => None,
        };
        divergence.map(|divergence| (divergence.number, divergence.reason.to_string()))
    }
}

impl Policy for AnyPolicy {
    #[inline]
    fn choose(&mut self, choice: &Choice<'_>) -> ThreadId {
        each!(self, policy => policy.choose(choice))
    }

    fn created(&mut self, thread: ThreadId, parent: ThreadId) {
        each!(self, policy => policy.created(thread, parent))
    }

    #[inline(always)]
    fn executed(&mut self, thread: ThreadId, op: &Op) {
        // A plain walk keeps no account, and most repetitions of a closure are plain walks.
        if !matches!(self, AnyPolicy::Random(_)) {
            self.tell_executed(thread, op);
        }
    }

    fn took(&mut self, thread: ThreadId, op: &Op) {
        each!(self, policy => policy.took(thread, op))
    }

    fn gave_way(&mut self, thread: ThreadId) {
        each!(self, policy => policy.gave_way(thread))
    }

    fn patience(&self) -> u32 {
        each!(self, policy => policy.patience())
    }
}
