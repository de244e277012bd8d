//! Which pairs of places have not been covered yet, as the synchronization-pair controller looks at them.

use crate::{Malformed, Words};

/// A place by its number among the places of the requirements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PlaceId(u32);

/// Pairs of places in the code where one lock is taken twice in a row, as far as no execution has shown them.
///
/// A table of bits: thousands of pairs are looked at in a few nanoseconds, and travel as one piece.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Requirements {
    /// The places that occur, in order.
    places: Vec<u64>,
    /// A row for each place that comes first, with a bit for each place that comes second.
    uncovered: Vec<u64>,
    /// Words in a row.
    width: usize,
    /// For each place, the uncovered pairs that it is in.
    relevant: Vec<u32>,
}

impl Requirements {
    /// These pairs are uncovered.
    pub fn new(pairs: impl IntoIterator<Item = (u64, u64)>) -> Requirements {
        let pairs: Vec<(u64, u64)> = pairs.into_iter().collect();
        let mut places: Vec<u64> = pairs.iter().flat_map(|(first, second)| [*first, *second]).collect();
        places.sort_unstable();
        places.dedup();
        let mut requirements = Requirements::without_pairs(places);
        for (first, second) in pairs {
            if let (Some(first), Some(second)) = (requirements.id(first), requirements.id(second)) {
                requirements.add(first, second);
            }
        }
        requirements
    }

    fn without_pairs(places: Vec<u64>) -> Requirements {
        let (count, width) = (places.len(), places.len().div_ceil(64));
        Requirements { places, uncovered: vec![0; count * width], width, relevant: vec![0; count] }
    }

    /// Appends the number of places, the places, and the rows.
    pub(super) fn encode(&self, words: &mut Vec<u64>) {
        words.push(self.places.len() as u64);
        words.extend(&self.places);
        words.extend(&self.uncovered);
    }

    pub(super) fn decode(words: &mut Words<'_>) -> Result<Requirements, Malformed> {
        let count = words.word()?;
        let places = words.take(count)?;
        if !places.is_sorted_by(|one, next| one < next) {
            return Err(Malformed);
        }
        let rows = words.take(count.saturating_mul(count.div_ceil(64)))?;
        let mut requirements = Requirements::without_pairs(places.to_vec());
        for (index, row) in rows.iter().enumerate() {
            let (first, block) = (index / requirements.width, index % requirements.width * 64);
            let mut bits = *row;
            while bits != 0 {
                let second = block + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                if second >= requirements.places.len() {
                    return Err(Malformed);
                }
                requirements.add(PlaceId(first as u32), PlaceId(second as u32));
            }
        }
        Ok(requirements)
    }

    /// The number of a place, if it is in an uncovered pair or was.
    pub(crate) fn id(&self, place: u64) -> Option<PlaceId> {
        self.places.binary_search(&place).ok().map(|index| PlaceId(index as u32))
    }

    /// Whether the pair is uncovered.
    pub(crate) fn is_uncovered(&self, first: PlaceId, second: PlaceId) -> bool {
        let (word, bit) = self.bit(first, second);
        self.uncovered[word] & bit != 0
    }

    /// In how many uncovered pairs a place is (`num_cov_req`).
    pub(crate) fn relevant(&self, place: PlaceId) -> u32 {
        self.relevant[place.0 as usize]
    }

    /// The pair has been covered.
    pub(crate) fn cover(&mut self, first: PlaceId, second: PlaceId) {
        let (word, bit) = self.bit(first, second);
        if self.uncovered[word] & bit != 0 {
            self.uncovered[word] &= !bit;
            self.count(first, second, u32::wrapping_sub);
        }
    }

    fn add(&mut self, first: PlaceId, second: PlaceId) {
        let (word, bit) = self.bit(first, second);
        if self.uncovered[word] & bit == 0 {
            self.uncovered[word] |= bit;
            self.count(first, second, u32::wrapping_add);
        }
    }

    /// A pair of a place with itself counts once.
    fn count(&mut self, first: PlaceId, second: PlaceId, change: fn(u32, u32) -> u32) {
        let first_count = &mut self.relevant[first.0 as usize];
        *first_count = change(*first_count, 1);
        if first != second {
            let second_count = &mut self.relevant[second.0 as usize];
            *second_count = change(*second_count, 1);
        }
    }

    fn bit(&self, first: PlaceId, second: PlaceId) -> (usize, u64) {
        (first.0 as usize * self.width + second.0 as usize / 64, 1 << (second.0 % 64))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::Rng;

    #[test]
    fn a_set_of_pairs_says_the_same_before_and_after_travelling() {
        let mut rng = Rng::new(3);
        for case in 0..50 {
            let places: Vec<u64> = (0..1 + rng.below(150)).map(|place| 1000 + place * 7).collect();
            let mut any = || places[rng.below(places.len() as u64) as usize];
            let mut pairs: BTreeSet<(u64, u64)> = (0..places.len() * 3).map(|_| (any(), any())).collect();
            let made = Requirements::new(pairs.iter().copied());
            let mut words = Vec::new();
            made.encode(&mut words);
            let mut travelled = Requirements::decode(&mut Words::new(&words)).unwrap();
            assert_eq!(made, travelled, "case {case}");
            for _ in 0..20 {
                let (first, second) = (any(), any());
                let ids = (travelled.id(first), travelled.id(second));
                let (Some(first_id), Some(second_id)) = ids else { continue };
                assert_eq!(travelled.is_uncovered(first_id, second_id), pairs.contains(&(first, second)));
                travelled.cover(first_id, second_id);
                pairs.remove(&(first, second));
                let relevant = pairs.iter().filter(|pair| pair.0 == first || pair.1 == first).count();
                assert_eq!(travelled.relevant(first_id) as usize, relevant);
            }
        }
    }

    #[test]
    fn words_that_break_off_are_refused() {
        let mut words = Vec::new();
        Requirements::new([(1, 2), (2, 3), (3, 3)]).encode(&mut words);
        for length in 0..words.len() {
            assert_eq!(Requirements::decode(&mut Words::new(&words[..length])), Err(Malformed), "{length}");
        }
        assert_eq!(Requirements::decode(&mut Words::new(&[u64::MAX])), Err(Malformed));
    }

    #[test]
    fn places_out_of_order_and_pairs_of_no_place_are_refused() {
        for words in [&[2, 7, 7, 0, 0][..], &[2, 7, 5, 0, 0], &[1, 7, 0b10]] {
            assert_eq!(Requirements::decode(&mut Words::new(words)), Err(Malformed), "{words:?}");
        }
    }
}
