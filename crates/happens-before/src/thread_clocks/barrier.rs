//! Barriers: all who arrived in a round come before all who leave it.

use crate::clocks::VectorClock;

/// The rounds of a barrier that somebody still has to leave.
#[derive(Default)]
pub struct Barrier {
    arrived: VectorClock,
    arrivals: u32,
    open: Vec<Round>,
}

struct Round {
    number: u64,
    clock: VectorClock,
    inside: u32,
}

impl Barrier {
    /// A thread that knows this arrives.
    pub fn arrive(&mut self, clock: &VectorClock) {
        self.arrived.join(clock);
        self.arrivals += 1;
    }

    /// A thread leaves the round with this number, and learns what those who arrived in it knew. The first
    /// to leave a round closes it for arrivals: those after it belong to the next one.
    pub fn leave(&mut self, number: u64) -> VectorClock {
        let place = match self.open.iter().position(|round| round.number == number) {
            Some(place) => place,
            None => {
                let clock = std::mem::take(&mut self.arrived);
                let inside = std::mem::take(&mut self.arrivals);
                self.open.push(Round { number, clock, inside });
                self.open.len() - 1
            }
        };
        let round = &mut self.open[place];
        round.inside = round.inside.saturating_sub(1);
        if round.inside == 0 { self.open.swap_remove(place).clock } else { round.clock.clone() }
    }
}
