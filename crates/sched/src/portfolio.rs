//! Which policy runs the next of many executions: a portfolio, because no single way of sampling finds every bug
//! quickly.
//!
//! A portfolio begins with its *opening*: one execution of each sort that finds many bugs at once. One of them preempts
//! nobody; its [`Journal`] shows where a thread acts on what it has read and what another thread could do meanwhile
//! ([`Intrusions`]). From there on these take turns with the *members*. The portfolios for copies of a process and for
//! repetitions of a closure differ in these lists only; a single sampler is a portfolio of one member.

use crate::{
    Between, Experience, Interruption, Interruptions, Intrusions, Journal, Journaled, Parameters, PolicySpec,
    Rng, RoundRobin, Sampler,
};

/// Who may run an execution.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Member {
    /// A policy that is drawn by its seed alone.
    Sampler(Sampler),
    /// Preempts threads at all places of one kind.
    Interrupt(Interruption),
    /// Preempts threads at places of one kind, which is drawn as is the probability.
    InterruptSome,
    /// Preempts nobody, to learn who could come in between.
    Journal,
    /// Each thread one step in turn.
    RoundRobin,
}

/// In which order members have their turns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Order {
    /// Each of them once a round, in an order drawn for each round.
    Rounds,
    /// Drawn anew for each execution.
    AtRandom,
}

/// See the module's description.
#[derive(Clone, Debug)]
pub struct Portfolio {
    seed: u64,
    opening: &'static [Member],
    members: Vec<Member>,
    order: Order,
    /// Whether an execution is one for an intrusion, as long as there are any.
    is_for_intrusions: fn(u64) -> bool,
    /// The executions, counted from 1, that look for shared memory whoever runs them: those first ones that do not go
    /// after places of one kind.
    looks: std::ops::RangeInclusive<u64>,
    intrusions: Intrusions,
}

/// Whether execution `index`, counted from 1, is one of ever fewer that look for shared memory after the first ones.
pub fn probes_later(index: u64) -> bool {
    index.is_power_of_two() && index.trailing_zeros().is_multiple_of(3)
}

/// An execution that was drawn.
#[derive(Clone, PartialEq, Debug)]
pub struct Drawn {
    /// Who decides in it.
    pub policy: PolicySpec,
    /// Whether it also looks for shared memory that no execution before has shown to be shared, by making scheduling
    /// points at private accesses.
    pub probes: bool,
}

impl Portfolio {
    /// For executions that are copies of a process each. A delaying member delays an operation with this probability.
    pub fn for_processes(seed: u64, delay_probability: f64) -> Portfolio {
        const OPENING: [Member; 7] = [
            // To learn what is shared.
            Member::Sampler(Sampler::Random),
            Member::Interrupt(Interruption::BeforeStore),
            Member::Interrupt(Interruption::AfterStore),
            Member::Interrupt(Interruption::AfterLock),
            Member::Journal,
            Member::Interrupt(Interruption::BeforeLock),
            Member::RoundRobin,
        ];
        let delay = |longest_micros| Sampler::Delay { longest_micros, probability: delay_probability };
        let members = [
            Sampler::Random,
            Sampler::Pct { depth: 2 },
            Sampler::Pos,
            Sampler::Surw,
            Sampler::Pct { depth: 3 },
            delay(0),
            Sampler::Random,
            Sampler::Pos,
            delay(10_000),
        ];
        Portfolio {
            seed,
            opening: &OPENING,
            members: members.map(Member::Sampler).to_vec(),
            order: Order::Rounds,
            is_for_intrusions: |index| index.is_multiple_of(2),
            looks: 1..=1,
            intrusions: Intrusions::default(),
        }
    }

    /// For executions that are repetitions of a closure in one process. They are short and many, so what costs least,
    /// the plain walk, is drawn most often, and intrusions are tried sooner.
    pub fn for_closures(seed: u64) -> Portfolio {
        const OPENING: [Member; 5] = [
            Member::Interrupt(Interruption::BeforeStore),
            Member::Interrupt(Interruption::AfterStore),
            Member::Interrupt(Interruption::AfterLock),
            Member::Interrupt(Interruption::BeforeLock),
            Member::Journal,
        ];
        const RANDOM: Member = Member::Sampler(Sampler::Random);
        const POS: Member = Member::Sampler(Sampler::Pos);
        const PCT: Member = Member::Sampler(Sampler::Pct { depth: 3 });
        const UNIFORM: Member = Member::Sampler(Sampler::Surw);
        let members = [
            [Member::InterruptSome, RANDOM, POS, RANDOM, PCT, RANDOM, RANDOM, RANDOM],
            [UNIFORM, RANDOM, POS, RANDOM, PCT, RANDOM, RANDOM, RANDOM],
        ];
        Portfolio {
            seed,
            opening: &OPENING,
            members: members.concat(),
            order: Order::AtRandom,
            is_for_intrusions: |index| !index.is_multiple_of(8),
            looks: 5..=6,
            intrusions: Intrusions::default(),
        }
    }

    /// One sampler for all executions.
    pub fn only(sampler: Sampler, seed: u64) -> Portfolio {
        Portfolio {
            seed,
            opening: &[],
            members: vec![Member::Sampler(sampler)],
            order: Order::AtRandom,
            is_for_intrusions: |_| false,
            looks: 1..=2,
            intrusions: Intrusions::default(),
        }
    }

    /// Draws execution `index`, counted from 1.
    pub fn draw(&mut self, index: u64, experience: &impl Experience) -> Drawn {
        let seed = Rng::derive(self.seed, index);
        let looks = self.looks.contains(&index);
        let place = (index as usize).saturating_sub(1);
        if let Some(member) = self.opening.get(place) {
            let parameters = member.parameters(seed, &mut Rng::new(seed), experience);
            return Drawn { policy: PolicySpec { seed, parameters }, probes: looks };
        }
        if (self.is_for_intrusions)(index)
            && let Some((held, other)) = self.intrusions.take()
        {
            // Nothing in it is drawn.
            return Drawn { policy: PolicySpec::new(Between { held, other }, 0), probes: looks };
        }
        let mut rng = Rng::new(seed);
        let member = self.member(place - self.opening.len(), &mut rng);
        let parameters = member.parameters(seed, &mut rng, experience);
        Drawn { policy: PolicySpec { seed, parameters }, probes: looks || probes_later(index) }
    }

    /// Who runs the execution with this number among those after the opening, counted from 0.
    fn member(&self, number: usize, rng: &mut Rng) -> Member {
        let size = self.members.len();
        match self.order {
            Order::Rounds => {
                let mut rng = Rng::new(Rng::derive(!self.seed, (number / size) as u64));
                let mut order = self.members.clone();
                rng.shuffle(&mut order);
                order[number % size]
            }
            Order::AtRandom => self.members[rng.below(size as u64) as usize],
        }
    }

    /// Takes note of what an execution did in which nobody was preempted.
    pub fn learn(&mut self, journal: &Journal) {
        self.intrusions = Intrusions::shown_by(journal, self.seed);
    }
}

impl Member {
    fn parameters(self, seed: u64, rng: &mut Rng, experience: &impl Experience) -> Parameters {
        match self {
            Member::Sampler(sampler) => sampler.parameters(seed, experience),
            Member::Interrupt(at) => Interruptions { at, probability: 1.0 }.into(),
            Member::InterruptSome => {
                let at = Interruption::ALL[rng.below(Interruption::ALL.len() as u64) as usize];
                Interruptions { at, probability: rng.unit() }.into()
            }
            Member::Journal => Journaled.into(),
            Member::RoundRobin => RoundRobin { turn: 1 }.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::Counts;

    fn names(portfolio: &mut Portfolio, count: u64) -> Vec<String> {
        let counts = Counts::default();
        (1..=count).map(|index| portfolio.draw(index, &counts).policy.parameters.name()).collect()
    }

    #[test]
    fn the_mixture_has_every_execution_drawn_anew() {
        let counts = Counts::default();
        let mut portfolio = Portfolio::for_closures(7);
        let seeds: BTreeSet<u64> =
            (1..=100).map(|index| portfolio.draw(index, &counts).policy.seed).collect();
        assert_eq!(seeds.len(), 100);
    }

    #[test]
    fn every_member_has_its_turn_once_a_round() {
        let mut portfolio = Portfolio::for_processes(3, 0.1);
        let drawn = names(&mut portfolio, 7 + 2 * 9);
        let sorted = |round: &[String]| {
            let mut round = round.to_vec();
            round.sort();
            round
        };
        let (first, second) = (sorted(&drawn[7..16]), sorted(&drawn[16..]));
        assert_eq!(first, second);
        assert_ne!(drawn[7..16], drawn[16..], "in an order of its own");
        assert_eq!(first.iter().filter(|name| *name == "random").count(), 2);
    }

    #[test]
    fn executions_that_look_for_shared_memory_become_rarer() {
        let counts = Counts::default();
        let probing = |mut portfolio: Portfolio| -> Vec<u64> {
            (1..=600).filter(|index| portfolio.draw(*index, &counts).probes).collect()
        };
        assert_eq!(probing(Portfolio::only(Sampler::Pos, 1)), [1, 2, 8, 64, 512]);
        assert_eq!(probing(Portfolio::for_processes(1, 0.1)), [1, 8, 64, 512]);
        assert_eq!(probing(Portfolio::for_closures(1)), [5, 6, 8, 64, 512]);
    }
}
