//! The policies, one file each, and the table of them.
//!
//! A new policy is a file here and a row in the table: its number, which is part of the shared-memory layout, and the
//! type of its parameters. The compiler asks for the rest ([`Specification`], [`Policy`]).

mod between;
mod delay;
mod directed;
mod guidance;
mod in_order;
mod interruptions;
mod journal;
mod pct;
mod pos;
mod prefix;
mod random;
mod replay;
mod requirements;
mod round_robin;
mod surw;
mod tsa;
mod turns;

pub use between::{Between, BetweenPolicy, OpId};
pub use delay::{Delay, DelayPolicy};
pub use directed::{Directed, DirectedGoal, DirectedPolicy};
pub use guidance::{Guidance, GuidancePolicy, StepInstance, WantedUse};
pub use in_order::{InOrder, InOrderPolicy, OrderedOp};
pub use interruptions::{Interruption, Interruptions, InterruptionsPolicy};
pub use journal::{Intrusions, Journal, Journaled};
pub use pct::{Pct, PctPolicy};
pub use pos::{Pos, PosPolicy};
pub use prefix::{Prefix, PrefixPolicy};
pub use random::{Random, RandomPolicy};
pub use replay::{Replay, ReplayPolicy, SwitchPoint};
pub use requirements::Requirements;
pub use round_robin::{RoundRobin, RoundRobinPolicy};
pub use surw::{Surw, SurwPolicy};
pub use tsa::{Tsa, TsaPolicy};
pub use turns::{Instance, Turn, Turns, TurnsPolicy};

use threadbare_trace::ThreadId;

use crate::divergence::Divergence;
use crate::policy::{COUNTERS, Choice, Op, Policy};
use crate::spec::{SpecError, Specification};

macro_rules! policies {
    ($($number:literal => $name:ident,)*) => {
        /// The parameters of any policy.
        #[derive(Clone, PartialEq, Debug)]
        #[allow(missing_docs, reason = "each variant is the policy of its name")]
        pub enum Parameters {
            $($name($name),)*
        }

        /// Any policy, running.
        #[derive(Clone, Debug)]
        #[allow(missing_docs, reason = "each variant is the policy of its name")]
        pub enum AnyPolicy {
            $($name(<$name as Specification>::Policy),)*
        }

        $(impl From<$name> for Parameters {
            fn from(parameters: $name) -> Parameters {
                Parameters::$name(parameters)
            }
        })*

        impl Parameters {
            /// The number of the policy.
            pub fn number(&self) -> u32 {
                match self {
                    $(Parameters::$name(_) => $number,)*
                }
            }

            /// What people call the policy with these parameters.
            pub fn name(&self) -> String {
                match self {
                    $(Parameters::$name(parameters) => parameters.name(),)*
                }
            }

            /// Whether the policy looks at where in the program's own code locks are taken.
            pub fn needs_lock_places(&self) -> bool {
                match self {
                    $(Parameters::$name(_) => <$name as Specification>::Policy::NEEDS_LOCK_PLACES,)*
                }
            }

            /// The parameters as they travel, beside the number.
            pub fn to_words(&self) -> Vec<u64> {
                match self {
                    $(Parameters::$name(parameters) => parameters.to_words(),)*
                }
            }

            /// Back from a number and words.
            pub fn decode(number: u32, words: &[u64]) -> Result<Parameters, SpecError> {
                let malformed = |name| move |_| SpecError::Malformed(name);
                match number {
                    $($number => $name::from_words(words)
                        .map(Parameters::$name)
                        .map_err(malformed(stringify!($name))),)*
                    _ => Err(SpecError::UnknownPolicy(number)),
                }
            }

            /// The policy, before its first decision.
            pub fn start(self, seed: u64) -> AnyPolicy {
                match self {
                    $(Parameters::$name(parameters) => AnyPolicy::$name(parameters.start(seed)),)*
                }
            }
        }

        impl AnyPolicy {
            #[inline(always)]
            fn observes_steps(&self) -> bool {
                match self {
                    $(AnyPolicy::$name(_) => <$name as Specification>::Policy::OBSERVES_STEPS,)*
                }
            }

            /// Whether it looks at where in the program's own code locks are taken.
            #[inline]
            pub fn needs_lock_places(&self) -> bool {
                match self {
                    $(AnyPolicy::$name(_) => <$name as Specification>::Policy::NEEDS_LOCK_PLACES,)*
                }
            }

            #[inline(never)]
            fn observe_step(&mut self, thread: ThreadId, op: &Op) {
                match self {
                    $(AnyPolicy::$name(policy) => policy.executed(thread, op),)*
                }
            }
        }

        // A hook that is not passed on would do nothing, without a word.
        #[warn(clippy::missing_trait_methods)]
        impl Policy for AnyPolicy {
            #[inline]
            fn choose(&mut self, choice: &Choice<'_>) -> ThreadId {
                match self {
                    $(AnyPolicy::$name(policy) => policy.choose(choice),)*
                }
            }

            fn created(&mut self, thread: ThreadId, parent: ThreadId) {
                match self {
                    $(AnyPolicy::$name(policy) => policy.created(thread, parent),)*
                }
            }

            #[inline(always)]
            fn executed(&mut self, thread: ThreadId, op: &Op) {
                // Most repetitions of a closure are plain walks, which keep no account.
                if self.observes_steps() {
                    self.observe_step(thread, op);
                }
            }

            fn acquired(&mut self, thread: ThreadId, op: &Op) {
                match self {
                    $(AnyPolicy::$name(policy) => policy.acquired(thread, op),)*
                }
            }

            fn yielded(&mut self, thread: ThreadId) {
                match self {
                    $(AnyPolicy::$name(policy) => policy.yielded(thread),)*
                }
            }

            fn spin_limit(&self) -> u32 {
                match self {
                    $(AnyPolicy::$name(policy) => policy.spin_limit(),)*
                }
            }

            #[inline]
            fn forces_switches(&self) -> bool {
                match self {
                    $(AnyPolicy::$name(policy) => policy.forces_switches(),)*
                }
            }

            #[inline]
            fn has_switches_left(&self) -> bool {
                match self {
                    $(AnyPolicy::$name(policy) => policy.has_switches_left(),)*
                }
            }

            fn reached(&mut self, thread: ThreadId, op: u32) {
                match self {
                    $(AnyPolicy::$name(policy) => policy.reached(thread, op),)*
                }
            }

            #[inline]
            fn stop_before(&self, thread: ThreadId) -> Option<u32> {
                match self {
                    $(AnyPolicy::$name(policy) => policy.stop_before(thread),)*
                }
            }

            fn divergence(&self) -> Option<Divergence> {
                match self {
                    $(AnyPolicy::$name(policy) => policy.divergence(),)*
                }
            }

            #[inline]
            fn awaits_choices(&self) -> bool {
                match self {
                    $(AnyPolicy::$name(policy) => policy.awaits_choices(),)*
                }
            }

            fn append_choices(&mut self, choices: &[ThreadId]) {
                match self {
                    $(AnyPolicy::$name(policy) => policy.append_choices(choices),)*
                }
            }

            fn executed_before(&mut self, thread: ThreadId, site: u64) {
                match self {
                    $(AnyPolicy::$name(policy) => policy.executed_before(thread, site),)*
                }
            }

            fn counters(&self) -> [u64; COUNTERS] {
                match self {
                    $(AnyPolicy::$name(policy) => policy.counters(),)*
                }
            }

            fn journal(&self) -> Option<&Journal> {
                match self {
                    $(AnyPolicy::$name(policy) => policy.journal(),)*
                }
            }
        }
    };
}

policies! {
    1 => Random,
    2 => Pct,
    3 => Pos,
    4 => Surw,
    5 => Delay,
    6 => RoundRobin,
    7 => Prefix,
    8 => Replay,
    9 => Directed,
    10 => InOrder,
    11 => Tsa,
    12 => Guidance,
    13 => Interruptions,
    14 => Between,
    15 => Journaled,
    16 => Turns,
}

impl Default for AnyPolicy {
    /// Nobody is preempted.
    fn default() -> AnyPolicy {
        Parameters::from(Prefix::default()).start(0)
    }
}
