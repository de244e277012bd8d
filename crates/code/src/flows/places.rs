//! Where a function keeps values: the parts of registers, and the slots of its frame.

use crate::isa::Registers;

/// A place for a value, by number. Registers come first; the slots of a function's frame follow.
pub type Place = usize;

/// How many places registers have.
pub const REGISTERS: Place = Registers::BITS as usize;

/// The places in a set.
pub fn each(mut set: Registers) -> impl Iterator<Item = Place> {
    std::iter::from_fn(move || {
        let place = set.trailing_zeros() as usize;
        set &= set.wrapping_sub(1);
        (place < REGISTERS).then_some(place)
    })
}
