//! What an execution may depend on besides the input given and the order of its threads' visible steps.
//!
//! Whoever claims that nothing is left to try has to know that nothing else decides how the program goes. The runtime therefore
//! notes, while an execution runs, each kind of dependence with the place it comes from. What a function of the table stands
//! for is in its row ([`crate::Function::dependences`]); the rest is what the runtime sees.

use crate::function::{Effect, Function, Hidden, Provision};

/// A kind of dependence.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Dependence {
    /// A clock was read.
    Clock = 1,
    /// A random number was drawn.
    Randomness = 2,
    /// The environment, the machine or a limit was asked for.
    Environment = 3,
    /// Something was read from a file or a descriptor, or it was asked what there is.
    Files = 4,
    /// Other processes had a say.
    Processes = 5,
    /// The number of a process or thread was asked for.
    Identity = 6,
    /// A function uses variables of its own that calls share.
    LibraryState = 7,
    /// A wait could have ended because time was up.
    TimeOut = 8,
    /// An operation could have been refused.
    Refusal = 9,
    /// A function of the table touched memory that threads share, without announcing it.
    UnannouncedAccess = 10,
    /// A function without a row was called, or one of which nobody has said what it does.
    UnknownCall = 11,
    /// Such a function was given memory that threads share.
    UnknownCallWithSharedMemory = 12,
    /// Code without instrumentation ran while other threads were runnable.
    UninstrumentedCode = 13,
    /// A system call was made by a number that nobody knows.
    UnknownSystemCall = 14,
    /// Calls of a function cannot be seen.
    UnseenCalls = 15,
    /// The code has an instruction that asks the processor, or the system, past everybody.
    Instruction = 16,
    /// There were more than could be noted.
    Overflow = 17,
    /// The process ended while other threads still had steps to make.
    EarlyEnd = 18,
    /// A thread that kept reading what it had read was made to let others go first.
    Yield = 19,
    /// Memory that threads share was accessed with an order weaker than sequentially consistent, as `volatile`, or by plain accesses that race.
    WeakOrder = 20,
    /// The system chose the load addresses at random, and did not let anybody change that.
    RandomAddresses = 21,
    /// The process ended while other threads slept, or were about to end it: which of them goes first was a choice like any other.
    ChosenEnd = 22,
    /// The code has an access to memory that no announcement belongs to.
    SilentAccess = 23,
    /// A step was made that is not in the trace.
    UnrecordedStep = 24,
    /// The same memory can be reached by several addresses.
    AliasedMemory = 25,
    /// Memory that threads share was written, as one plain access.
    PlainWrite = 26,
    /// A block of the heap had another address than it would have had if threads had allocated in another order, or a block that was given back had
    /// been handed out again.
    HeapAddress = 27,
    /// The process ended while another thread seemed to wait in a loop, and may have had steps to make after it.
    LoopAtEnd = 28,
}

impl Dependence {
    /// Every kind.
    pub const ALL: [Dependence; 28] = [
        Dependence::Clock,
        Dependence::Randomness,
        Dependence::Environment,
        Dependence::Files,
        Dependence::Processes,
        Dependence::Identity,
        Dependence::LibraryState,
        Dependence::TimeOut,
        Dependence::Refusal,
        Dependence::UnannouncedAccess,
        Dependence::UnknownCall,
        Dependence::UnknownCallWithSharedMemory,
        Dependence::UninstrumentedCode,
        Dependence::UnknownSystemCall,
        Dependence::UnseenCalls,
        Dependence::Instruction,
        Dependence::Overflow,
        Dependence::EarlyEnd,
        Dependence::Yield,
        Dependence::WeakOrder,
        Dependence::RandomAddresses,
        Dependence::ChosenEnd,
        Dependence::SilentAccess,
        Dependence::UnrecordedStep,
        Dependence::AliasedMemory,
        Dependence::PlainWrite,
        Dependence::HeapAddress,
        Dependence::LoopAtEnd,
    ];

    /// The kind with this number.
    pub fn from_number(number: u8) -> Option<Dependence> {
        Dependence::ALL.into_iter().find(|kind| *kind as u8 == number)
    }

    /// Its word, for scripts.
    pub const fn word(self) -> &'static str {
        match self {
            Dependence::Clock => "clock",
            Dependence::Randomness => "randomness",
            Dependence::Environment => "environment",
            Dependence::Files => "files",
            Dependence::Processes => "processes",
            Dependence::Identity => "identity",
            Dependence::LibraryState => "library-state",
            Dependence::TimeOut => "time-out",
            Dependence::Refusal => "refusal",
            Dependence::UnannouncedAccess => "unannounced-access",
            Dependence::UnknownCall => "unknown-call",
            Dependence::UnknownCallWithSharedMemory => "unknown-call-with-shared-memory",
            Dependence::UninstrumentedCode => "uninstrumented-code",
            Dependence::UnknownSystemCall => "unknown-system-call",
            Dependence::UnseenCalls => "unseen-calls",
            Dependence::Instruction => "instruction",
            Dependence::Overflow => "overflow",
            Dependence::EarlyEnd => "early-end",
            Dependence::Yield => "yield",
            Dependence::WeakOrder => "weak-order",
            Dependence::RandomAddresses => "random-addresses",
            Dependence::ChosenEnd => "chosen-end",
            Dependence::SilentAccess => "silent-access",
            Dependence::UnrecordedStep => "unrecorded-step",
            Dependence::AliasedMemory => "aliased-memory",
            Dependence::PlainWrite => "plain-write",
            Dependence::HeapAddress => "heap-address",
            Dependence::LoopAtEnd => "loop-at-end",
        }
    }

    /// Whether an execution with it may have been different although the input and the order of steps were the same, or whether
    /// there are steps that nobody has seen. The environment is input: it is the same in every execution. Whether loops
    /// were followed far enough is for each strategy to say, and all is said of sequentially consistent memory. Whether code that writes reads as
    /// well is looked up, and what other addresses of the heap come to is tried.
    pub const fn is_doubt(self) -> bool {
        !matches!(
            self,
            Dependence::Environment
                | Dependence::Yield
                | Dependence::WeakOrder
                | Dependence::PlainWrite
                | Dependence::HeapAddress
        )
    }

    /// Whether it is a doubt only to who works out from traces which orders are possible: who runs every order of the steps has run both
    /// sides of it.
    pub const fn is_settled_by_running_all(self) -> bool {
        matches!(self, Dependence::Refusal | Dependence::ChosenEnd | Dependence::UnrecordedStep)
    }
}

/// A set of kinds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Dependences(u32);

impl Dependences {
    /// None.
    pub const NONE: Dependences = Dependences(0);

    /// These and one more, if that is so.
    #[must_use]
    pub const fn with(self, kind: Dependence, is_so: bool) -> Dependences {
        if is_so { Dependences(self.0 | 1 << kind as u32) } else { self }
    }

    /// These without one of them, if that is so.
    #[must_use]
    pub const fn without(self, kind: Dependence, is_so: bool) -> Dependences {
        if is_so { Dependences(self.0 & !(1 << kind as u32)) } else { self }
    }

    /// Those of both.
    #[must_use]
    pub const fn and(self, others: Dependences) -> Dependences {
        Dependences(self.0 | others.0)
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether this is one of them.
    pub const fn has(self, kind: Dependence) -> bool {
        self.0 & 1 << kind as u32 != 0
    }

    /// The kinds, in order.
    pub fn iter(self) -> impl Iterator<Item = Dependence> {
        Dependence::ALL.into_iter().filter(move |kind| self.has(*kind))
    }
}

impl Function {
    /// What a call of it makes an execution depend on, whatever it is given. Memory is another matter: see
    /// [`Function::touches_memory`].
    pub const fn dependences(&self) -> Dependences {
        let hidden = self.hidden;
        // The library's own function runs, and what it does besides is not in its row.
        let is_out_of_sight = matches!(self.provision, Provision::LeftAlone)
            && (self.blocks
                || self.is_unsupported
                || (matches!(self.effect, Effect::Opaque) && !self.touches_memory() && hidden.is_nothing()));
        Dependences::NONE
            .with(Dependence::Clock, hidden.has(Hidden::CLOCK))
            .with(Dependence::Randomness, hidden.has(Hidden::RANDOMNESS))
            .with(Dependence::Environment, hidden.has(Hidden::ENVIRONMENT))
            .with(Dependence::Files, hidden.has(Hidden::FILES))
            .with(Dependence::Processes, hidden.has(Hidden::PROCESSES))
            .with(Dependence::Identity, hidden.has(Hidden::IDENTITY))
            .with(Dependence::LibraryState, hidden.has(Hidden::STATE))
            .with(Dependence::TimeOut, self.times_out)
            .with(Dependence::Refusal, self.refuses)
            .with(Dependence::UnseenCalls, self.leads_out_of_sight)
            .with(Dependence::UnknownCall, is_out_of_sight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str) -> Vec<Dependence> {
        crate::function(name).expect("a row").dependences().iter().collect()
    }

    extern crate std;
    use std::vec::Vec;

    #[test]
    fn every_kind_has_a_number_of_its_own() {
        for (place, kind) in Dependence::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, place + 1);
            assert_eq!(Dependence::from_number(kind as u8), Some(kind));
        }
        assert_eq!(Dependence::from_number(0), None);
        assert_eq!(Dependence::from_number(Dependence::ALL.len() as u8 + 1), None);
    }

    #[test]
    fn a_row_says_what_calls_depend_on() {
        use Dependence::{Clock, Environment, LibraryState, Randomness, Refusal, TimeOut, UnseenCalls};
        assert_eq!(of("time"), [Clock]);
        assert_eq!(of("rand"), [Randomness]);
        assert_eq!(of("getenv"), [Environment]);
        assert_eq!(of("strtok"), [LibraryState]);
        assert_eq!(of("cnd_timedwait"), [TimeOut]);
        assert_eq!(of("pthread_mutex_trylock"), [Refusal]);
        assert_eq!(of("sem_getvalue"), [Refusal]);
        assert_eq!(of("dlsym"), [UnseenCalls]);
        for harmless in ["printf", "pthread_mutex_lock", "pthread_create", "malloc", "sin", "atoi", "sprintf"]
        {
            assert_eq!(of(harmless), [], "{harmless}");
        }
    }

    #[test]
    fn what_nobody_has_described_is_unknown_unless_the_runtime_supplies_it() {
        assert_eq!(of("mremap"), [Dependence::UnknownCall]);
        assert_eq!(of("getcontext"), [Dependence::UnknownCall]);
        assert_eq!(of("timer_delete"), []);
    }

    #[test]
    fn input_and_what_is_looked_at_elsewhere_are_no_doubts() {
        use Dependence::{Environment, HeapAddress, PlainWrite, WeakOrder, Yield};
        let harmless: Vec<Dependence> = Dependence::ALL.into_iter().filter(|kind| !kind.is_doubt()).collect();
        assert_eq!(harmless, [Environment, Yield, WeakOrder, PlainWrite, HeapAddress]);
    }
}
