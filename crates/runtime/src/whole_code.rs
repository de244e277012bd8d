//! Code that is taken in one piece in a program that has a closure repeated: in it no thread is switched, and nobody takes note of
//! what it touches. The driver says which it is.

use threadbare_wire::CodeRange;

use crate::engine::Engine;
use crate::record::Shared;

/// The addresses of such code, a bit each; none as long as everything is looked at.
#[derive(Default)]
pub struct WholeCode {
    start: u64,
    bits: Vec<u64>,
}

impl WholeCode {
    /// Takes in what the driver has told, once. Called at the snapshot, where none of that code runs.
    pub fn take_in(&mut self, shared: &Shared) {
        if self.bits.is_empty() {
            let told = shared.whole_code();
            *self = Self::of(told);
            crate::quiet::apply_to(told);
        }
    }

    fn of(ranges: &[CodeRange]) -> WholeCode {
        const LARGEST: u64 = 1 << 28;
        let (Some(first), Some(last)) = (ranges.first(), ranges.last()) else { return WholeCode::default() };
        let start = first.start;
        // Ranges are in order. Those far behind, in another library, are looked at.
        let bytes = (last.end - start).min(LARGEST);
        let mut bits = vec![0u64; (bytes / 64 + 1) as usize];
        for range in ranges.iter().filter(|range| range.end - start <= bytes) {
            for address in range.start - start..range.end - start {
                bits[(address / 64) as usize] |= 1 << (address % 64);
            }
        }
        WholeCode { start, bits }
    }

    /// Whether the call that returns to `pc` is in such code.
    #[inline(always)]
    pub fn contains(&self, pc: u64) -> bool {
        let address = pc.wrapping_sub(1).wrapping_sub(self.start);
        self.bits.get((address / 64) as usize).is_some_and(|word| word >> (address % 64) & 1 != 0)
    }
}

impl Engine {
    /// Whether the running thread's operation, announced at `pc`, is passed over.
    #[inline(always)]
    pub fn passes_over(&mut self, pc: u64) -> bool {
        let passes = self.world.whole_code.contains(pc);
        if passes {
            let fiber = self.current();
            if fiber.ops == fiber.stop_at {
                self.update_stop();
            }
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
        let code = WholeCode::of(&ranges);
        let found: Vec<u64> = (900..1300).filter(|pc| code.contains(*pc)).collect();
        assert_eq!(found, (1001..=1010).chain(1101..=1200).collect::<Vec<u64>>());
    }

    #[test]
    fn without_ranges_there_is_none() {
        assert!(!WholeCode::of(&[]).contains(1));
        assert!(!WholeCode::default().contains(0));
    }
}
