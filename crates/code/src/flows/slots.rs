//! The frame of a function, cut into slots: no access touches only a part of one.

use std::ops::Range;

use super::body::Body;
use super::evaluate::Facts;
use super::places::{Place, REGISTERS};
use super::value::Position;
use crate::isa::CallingConvention;

/// The slots, by their bounds.
#[derive(Default, Debug)]
pub struct Slots {
    cuts: Vec<i64>,
}

impl Slots {
    /// Cuts the frame of a function. `reached` are parts of it that functions reach which it calls, beside those that it touches itself.
    pub fn cut(body: &Body<'_>, facts: &Facts, reached: &[(i64, i64)]) -> Slots {
        let mut cuts = Vec::new();
        for (place, addresses) in facts.addresses.iter().enumerate() {
            for (memory, address) in body.semantics[place].effect.memory.iter().zip(addresses) {
                if let Some(Position::At(offset)) = facts.values.position(*address) {
                    cuts.extend([offset, offset + i64::from(memory.size.max(1))]);
                }
            }
        }
        for (offset, size) in reached {
            cuts.extend([*offset, offset.saturating_add(*size)]);
        }
        cuts.sort_unstable();
        cuts.dedup();
        Slots { cuts }
    }

    /// The places of the slots that some bytes lie in.
    pub fn within(&self, offset: i64, size: i64) -> Range<Place> {
        let end = offset.saturating_add(size);
        let first = self.cuts.partition_point(|cut| *cut <= offset).saturating_sub(1);
        let last = self.cuts.partition_point(|cut| *cut < end).min(self.cuts.len().saturating_sub(1));
        REGISTERS + first.min(last)..REGISTERS + last
    }

    /// The places of all slots.
    pub fn all(&self) -> Range<Place> {
        REGISTERS..REGISTERS + self.cuts.len().saturating_sub(1)
    }

    /// What can be reached from a pointer into the frame, if nobody knows how far. Arguments lie behind the frame's end.
    pub fn from(&self, offset: i64) -> Range<Place> {
        let size = if offset < 0 { -offset } else { i64::MAX };
        self.within(offset, size)
    }

    /// Where a slot begins and ends.
    pub fn bounds(&self, place: Place) -> (i64, i64) {
        (self.cuts[place - REGISTERS], self.cuts[place - REGISTERS + 1])
    }

    /// The slots that the caller fills: arguments.
    pub fn given(&self, convention: &CallingConvention) -> impl Iterator<Item = (i64, i64)> {
        let first = convention.return_address;
        self.cuts.windows(2).map(|cut| (cut[0], cut[1])).filter(move |(start, _)| *start >= first)
    }
}
