//! A word of memory cut into the pieces that are accessed by themselves.
//!
//! A piece is as large as the accesses to it: eight bytes that are always accessed together are one
//! variable, and two halves of a word, or eight flags in it, are as many as they are. Where accesses of
//! different sizes overlap, the larger one is an access to all pieces. A piece is named by
//! its first byte, so learning of a cut late changes no other piece's name.

pub(super) const WORD_BITS: u32 = 3;
pub(super) const WORD: u64 = 1 << WORD_BITS;

/// Eight bytes of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Word {
    /// Bytes that were accessed.
    known: u8,
    /// Bytes where a piece begins. The byte after a piece is unknown or begins another one.
    starts: u8,
}

impl Word {
    /// Cuts the piece that reaches over the front of a byte, if there is one; gives the piece's first byte.
    fn cut(&mut self, byte: u64) -> Option<u64> {
        let bit = 1u8.checked_shl(byte as u32)?;
        if self.known & bit == 0 || self.starts & bit != 0 {
            return None;
        }
        let whole = (self.starts & (bit - 1)).ilog2();
        self.starts |= bit;
        Some(u64::from(whole))
    }

    /// Makes the bytes from `first` up to `end` whole pieces. `split` is called for pieces that are cut: the first
    /// byte of the piece, and that of its new second part.
    pub fn touch(&mut self, first: u64, end: u64, mut split: impl FnMut(u64, u64)) {
        for byte in [first, end] {
            if let Some(whole) = self.cut(byte) {
                split(whole, byte);
            }
        }
        let mut in_new_piece = false;
        for byte in first..end {
            let bit = 1 << byte;
            let is_new = self.known & bit == 0;
            if is_new && !in_new_piece {
                self.starts |= bit;
            }
            in_new_piece = is_new;
            self.known |= bit;
        }
    }

    /// The first bytes of the pieces from `first` up to `end`.
    pub fn pieces(self, first: u64, end: u64) -> impl Iterator<Item = u64> {
        (first..end).filter(move |byte| self.starts & (1 << byte) != 0)
    }
}

#[cfg(test)]
mod tests {
    use threadbare_sched::Rng;

    use super::*;

    /// Every byte's history, by the pieces and by itself, is the same.
    #[test]
    fn pieces_know_what_happened_to_each_of_their_bytes() {
        for seed in 0..500 {
            let mut rng = Rng::new(seed);
            let mut word = Word::default();
            let mut pieces: [Vec<u64>; 8] = Default::default();
            let mut bytes: [Vec<u64>; 8] = Default::default();
            for step in 0..12 {
                let first = rng.below(8);
                let end = first + 1 + rng.below(8 - first);
                word.touch(first, end, |whole, part| pieces[part as usize] = pieces[whole as usize].clone());
                word.pieces(first, end).for_each(|piece| pieces[piece as usize].push(step));
                (first..end).for_each(|byte| bytes[byte as usize].push(step));
                let mut piece = 0;
                for byte in (0..8).filter(|byte| word.known & (1 << byte) != 0) {
                    piece = if word.starts & (1 << byte) != 0 { byte } else { piece };
                    assert_eq!(pieces[piece], bytes[byte], "seed {seed}, step {step}");
                }
            }
        }
    }

    #[test]
    fn accesses_of_one_size_are_one_piece() {
        let mut word = Word::default();
        for _ in 0..2 {
            word.touch(0, 8, |_, _| panic!("nothing is cut"));
            assert_eq!(word.pieces(0, 8).collect::<Vec<_>>(), [0]);
        }
        let mut cuts = Vec::new();
        word.touch(4, 8, |whole, part| cuts.push((whole, part)));
        assert_eq!((cuts, word.pieces(0, 8).collect::<Vec<_>>()), (vec![(0, 4)], vec![0, 4]));
    }
}
