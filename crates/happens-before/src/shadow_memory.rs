//! What is known of each byte of memory, kept for as few groups of bytes as possible.
//!
//! Memory is looked at in words of eight bytes. The bytes of a word that have always been accessed
//! together share one state; an access to some of them splits it. So accesses of mixed sizes
//! that overlap share a state exactly where they overlap, and nowhere else.

use crate::address_table::AddressTable;

const WORD_BITS: u32 = 3;
const WORD: u64 = 1 << WORD_BITS;

struct Word<S> {
    /// Which bytes the first state is for; none in a word that is being made.
    mask: u8,
    state: S,
    /// The states of the word's other bytes: seldom any, hence the box.
    #[allow(clippy::box_collection)]
    rest: Option<Box<Vec<(u8, S)>>>,
}

impl<S: Default> Default for Word<S> {
    fn default() -> Self {
        Word { mask: 0, state: S::default(), rest: None }
    }
}

impl<S: Default + Clone> Word<S> {
    /// Splits states so that each is inside or outside the mask, and covers the whole mask.
    fn split(&mut self, mask: u8) {
        let mut added: Vec<(u8, S)> = Vec::new();
        let mut covered = self.mask;
        let first = (&mut self.mask, &mut self.state);
        let rest = self.rest.iter_mut().flat_map(|rest| rest.iter_mut()).map(|(mask, state)| (mask, state));
        for (own, state) in std::iter::once(first).chain(rest) {
            covered |= *own;
            let inside = *own & mask;
            if inside != 0 && inside != *own {
                added.push((*own & !mask, state.clone()));
                *own = inside;
            }
        }
        if mask & !covered != 0 {
            added.push((mask & !covered, S::default()));
        }
        if !added.is_empty() {
            self.rest.get_or_insert_default().append(&mut added);
        }
    }

    #[inline]
    fn visit(&mut self, base: u64, mask: u8, f: &mut impl FnMut(u64, &mut S)) {
        if self.mask != mask {
            if self.mask == 0 {
                self.mask = mask;
            } else {
                self.split(mask);
            }
        }
        self.visit_existing(base, mask, f);
    }

    #[inline]
    fn visit_existing(&mut self, base: u64, mask: u8, f: &mut impl FnMut(u64, &mut S)) {
        let address = |own: u8| base + u64::from(own.trailing_zeros());
        if self.mask & mask != 0 {
            f(address(self.mask), &mut self.state);
        }
        for (own, state) in self.rest.iter_mut().flat_map(|rest| rest.iter_mut()) {
            if *own & mask != 0 {
                f(address(*own), state);
            }
        }
    }
}

/// A state for every byte that has been accessed.
pub struct ShadowMemory<S> {
    words: AddressTable<Word<S>>,
}

impl<S> Default for ShadowMemory<S> {
    fn default() -> Self {
        ShadowMemory { words: AddressTable::default() }
    }
}

/// The bytes of `first..=last` that lie in a word.
fn mask(word: u64, first: u64, last: u64) -> u8 {
    let base = word << WORD_BITS;
    let low = first.saturating_sub(base).min(WORD);
    let high = (last - base).min(WORD - 1);
    ((0xff_u64 << low) & (0xff >> (WORD - 1 - high))) as u8
}

impl<S: Default + Clone> ShadowMemory<S> {
    /// Shows the state of every byte in the range, making what is missing.
    #[inline]
    pub fn visit(&mut self, addr: u64, len: u64, mut f: impl FnMut(u64, &mut S)) {
        let last = addr + (len.max(1) - 1);
        for word in addr >> WORD_BITS..=last >> WORD_BITS {
            self.words.entry(word).visit(word << WORD_BITS, mask(word, addr, last), &mut f);
        }
    }

    /// Shows the states that overlap the range, making none.
    pub fn visit_existing(&mut self, addr: u64, len: u64, mut f: impl FnMut(u64, &mut S)) {
        let last = addr + (len.max(1) - 1);
        if addr >> WORD_BITS == last >> WORD_BITS {
            let word = addr >> WORD_BITS;
            if let Some(found) = self.words.get(word) {
                found.visit_existing(word << WORD_BITS, mask(word, addr, last), &mut f);
            }
            return;
        }
        for word in self.words.addresses(addr >> WORD_BITS, last >> WORD_BITS) {
            if let Some(found) = self.words.get(word) {
                found.visit_existing(word << WORD_BITS, mask(word, addr, last), &mut f);
            }
        }
    }

    /// Forgets the bytes `first..=last`.
    pub fn forget(&mut self, first: u64, last: u64) {
        for word in self.words.addresses(first >> WORD_BITS, last >> WORD_BITS) {
            let gone = mask(word, first, last);
            let Some(found) = self.words.get(word) else { continue };
            if let Some(rest) = &mut found.rest {
                rest.iter_mut().for_each(|(mask, _)| *mask &= !gone);
                rest.retain(|(mask, _)| *mask != 0);
            }
            found.mask &= !gone;
            if found.mask == 0 {
                match found.rest.as_mut().and_then(|rest| rest.pop()) {
                    Some((mask, state)) => (found.mask, found.state) = (mask, state),
                    None => {
                        self.words.remove(word);
                    }
                }
            }
        }
    }
}

impl<S> ShadowMemory<S> {
    /// How many words were known at most.
    pub fn peak(&self) -> usize {
        self.words.peak()
    }
}

#[cfg(test)]
mod tests {
    use threadbare_sched::Rng;

    use super::*;

    /// Lists who touched each byte, by the table and by a plain array, and compares.
    #[test]
    fn mixed_sizes_and_overlaps_agree_with_a_state_for_every_byte() {
        for seed in 0..200 {
            let mut rng = Rng::new(seed);
            let mut memory: ShadowMemory<Vec<u64>> = ShadowMemory::default();
            let mut bytes: Vec<Option<Vec<u64>>> = vec![None; 64];
            for step in 0..40 {
                let addr = rng.below(40);
                let len = 1 + rng.below(if step % 9 == 0 { 24 } else { 8 });
                if rng.below(6) == 0 {
                    memory.forget(addr, addr + len - 1);
                    bytes[addr as usize..(addr + len) as usize].fill(None);
                } else {
                    memory.visit(addr, len, |_, state| state.push(step));
                    for byte in &mut bytes[addr as usize..(addr + len) as usize] {
                        byte.get_or_insert_default().push(step);
                    }
                }
                let mut seen: Vec<Option<Vec<u64>>> = Vec::new();
                for addr in 0..64 {
                    let mut found = None;
                    memory.visit_existing(addr, 1, |_, state| found = Some(state.clone()));
                    seen.push(found);
                }
                assert_eq!(seen, bytes, "seed {seed}, step {step}");
            }
        }
    }

    #[test]
    fn accesses_of_one_size_keep_one_state() {
        let mut memory: ShadowMemory<u32> = ShadowMemory::default();
        for _ in 0..3 {
            memory.visit(0x1000, 4, |_, count| *count += 1);
        }
        let mut states = Vec::new();
        memory.visit_existing(0x1000, 8, |addr, count| states.push((addr, *count)));
        assert_eq!(states, [(0x1000, 3)]);
        assert_eq!(memory.peak(), 1);
    }
}
