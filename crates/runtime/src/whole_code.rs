//! Code that is taken in one piece in a program that has a closure repeated: in it no thread is switched, and nobody
//! takes note of what it touches. The driver says which it is.

use threadbare_wire::CodeRange;

use crate::engine::Engine;
use crate::record::Shared;

/// A set of code addresses, a bit each.
#[derive(Default)]
struct Addresses {
    start: u64,
    bits: Vec<u64>,
}

impl Addresses {
    fn of(ranges: &[CodeRange]) -> Addresses {
        const LARGEST: u64 = 1 << 28;
        let (Some(first), Some(last)) = (ranges.first(), ranges.last()) else { return Addresses::default() };
        let start = first.start;
        // Ranges are in order. Those far behind, in another library, are left out.
        let bytes = (last.end - start).min(LARGEST);
        let mut bits = vec![0u64; (bytes / 64 + 1) as usize];
        for range in ranges.iter().filter(|range| range.end - start <= bytes) {
            for address in range.start - start..range.end - start {
                bits[(address / 64) as usize] |= 1 << (address % 64);
            }
        }
        Addresses { start, bits }
    }

    /// Whether the call that returns to `pc` is among them.
    #[inline(always)]
    fn contain(&self, pc: u64) -> bool {
        let address = pc.wrapping_sub(1).wrapping_sub(self.start);
        self.bits.get((address / 64) as usize).is_some_and(|word| word >> (address % 64) & 1 != 0)
    }
}

/// What is known of the program's code; nothing as long as everything is looked at.
#[derive(Default)]
pub struct WholeCode {
    known: bool,
    whole: Addresses,
    own: Addresses,
}

impl WholeCode {
    /// Takes in what the driver has told, once. Called at the snapshot, where none of that code runs.
    pub fn take_in(&mut self, shared: &Shared) {
        let (whole, own) = shared.whole_code();
        if !self.known && !whole.is_empty() {
            *self = WholeCode { known: true, whole: Addresses::of(whole), own: Addresses::of(own) };
            crate::quiet::apply_to(whole);
        }
    }

    /// Whether the call that returns to `pc` is in such code; none if it is nobody's, and so its caller's.
    #[inline(always)]
    fn owns(&self, pc: u64) -> Option<bool> {
        match self.whole.contain(pc) {
            true => Some(true),
            false => self.own.contain(pc).then_some(false),
        }
    }
}

impl Engine {
    /// Whether the running thread's operation, announced at `pc`, is passed over.
    #[inline(always)]
    pub fn passes_over(&mut self, pc: u64) -> bool {
        self.world.whole_code.known && self.is_in_whole_code(pc)
    }

    fn is_in_whole_code(&mut self, pc: u64) -> bool {
        let (fiber, code) = (self.current(), &self.world.whole_code);
        let mut callers = fiber.call_stack();
        let passes = code.owns(pc).or_else(|| callers.find_map(|caller| code.owns(caller))) == Some(true);
        if passes && fiber.ops == fiber.stop_at {
            self.update_stop();
        }
        passes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_belongs_to_the_code_that_it_is_in_and_not_to_what_it_returns_to() {
        let ranges = [CodeRange { start: 1000, end: 1010 }, CodeRange { start: 1100, end: 1200 }];
        let code = Addresses::of(&ranges);
        let found: Vec<u64> = (900..1300).filter(|pc| code.contain(*pc)).collect();
        assert_eq!(found, (1001..=1010).chain(1101..=1200).collect::<Vec<u64>>());
    }

    #[test]
    fn without_ranges_there_is_none() {
        assert!(!Addresses::of(&[]).contain(1));
        assert_eq!(WholeCode::default().owns(0), None);
    }
}
