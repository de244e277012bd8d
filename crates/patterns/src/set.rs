//! A set of patterns that is fast to ask and cheap to copy.

use std::sync::Arc;

use super::PatternKey;

/// How many keys a chunk has room for, and from how many on it is too full.
const SLOTS: usize = 128;
const FULL: usize = 96;
/// How many chunks are copied one by one when one of them changes in a shared set.
const GROUP: usize = 64;
/// An empty slot. The key of this number is kept separately.
const EMPTY: u64 = 0;

/// Keys that begin with the same bits, in a table with linear probing.
#[derive(Clone)]
struct Chunk {
    used: usize,
    slots: [u64; SLOTS],
}

impl Chunk {
    const NONE: Chunk = Chunk { used: 0, slots: [EMPTY; SLOTS] };

    /// Where a key is, or would go. There is always an empty slot.
    fn slot(&self, key: u64) -> usize {
        let mut slot = key as usize % SLOTS;
        while self.slots[slot] != key && self.slots[slot] != EMPTY {
            slot = (slot + 1) % SLOTS;
        }
        slot
    }

    fn keys(&self) -> impl Iterator<Item = u64> + '_ {
        self.slots.iter().copied().filter(|key| *key != EMPTY)
    }
}

/// A set of patterns. A copy shares everything with the original until one of them changes, and then
/// all but the chunks that changed. (Keys are hashes, so a table of chunks stays balanced
/// by itself; a hash trie that allocates every key took ten times as long to ask.)
#[derive(Clone)]
pub struct PatternSet {
    /// A power of two of chunks, by the first bits of their keys, in groups.
    groups: Arc<Vec<Arc<Vec<Arc<Chunk>>>>>,
    /// How many of the first bits choose a chunk.
    bits: u32,
    len: usize,
    has_empty: bool,
}

impl Default for PatternSet {
    fn default() -> Self {
        let first = Arc::new(vec![Arc::new(Chunk::NONE)]);
        PatternSet { groups: Arc::new(vec![first]), bits: 0, len: 0, has_empty: false }
    }
}

impl PatternSet {
    /// How many patterns there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The group of a key's chunk, and its place there.
    fn place(&self, key: u64) -> (usize, usize) {
        let chunk = key.checked_shr(64 - self.bits).unwrap_or(0) as usize;
        (chunk / GROUP, chunk % GROUP)
    }

    fn chunk(&self, key: u64) -> &Chunk {
        let (group, place) = self.place(key);
        &self.groups[group][place]
    }

    /// Whether this pattern is there.
    pub fn contains(&self, key: PatternKey) -> bool {
        if key.0 == EMPTY {
            return self.has_empty;
        }
        let chunk = self.chunk(key.0);
        chunk.slots[chunk.slot(key.0)] == key.0
    }

    /// Adds a pattern; says whether it was not there before.
    pub fn insert(&mut self, key: PatternKey) -> bool {
        if self.contains(key) {
            return false;
        }
        self.len += 1;
        if key.0 == EMPTY {
            self.has_empty = true;
            return true;
        }
        while self.chunk(key.0).used >= FULL {
            self.grow();
        }
        let (group, place) = self.place(key.0);
        let group = Arc::make_mut(&mut Arc::make_mut(&mut self.groups)[group]);
        let chunk = Arc::make_mut(&mut group[place]);
        let slot = chunk.slot(key.0);
        chunk.slots[slot] = key.0;
        chunk.used += 1;
        true
    }

    /// Cuts every chunk in two.
    fn grow(&mut self) {
        let bit = 63 - self.bits;
        let mut halves = Vec::with_capacity(2 << self.bits);
        for chunk in self.chunks() {
            let mut two = [Chunk::NONE, Chunk::NONE];
            for key in chunk.keys() {
                let half = &mut two[(key >> bit) as usize & 1];
                let slot = half.slot(key);
                half.slots[slot] = key;
                half.used += 1;
            }
            halves.extend(two.map(Arc::new));
        }
        self.bits += 1;
        self.groups = Arc::new(halves.chunks(GROUP).map(|group| Arc::new(group.to_vec())).collect());
    }

    fn chunks(&self) -> impl Iterator<Item = &Chunk> {
        self.groups.iter().flat_map(|group| group.iter()).map(|chunk| &**chunk)
    }

    /// The patterns, in the order of their keys' first bits.
    pub fn iter(&self) -> impl Iterator<Item = PatternKey> + '_ {
        let empty = self.has_empty.then_some(EMPTY);
        empty.into_iter().chain(self.chunks().flat_map(Chunk::keys)).map(PatternKey)
    }

    /// How many patterns are here and not there: the distance of Definition 4.1.
    pub fn count_beyond(&self, other: &PatternSet) -> usize {
        self.iter().filter(|key| !other.contains(*key)).count()
    }
}

impl Extend<PatternKey> for PatternSet {
    fn extend<T: IntoIterator<Item = PatternKey>>(&mut self, keys: T) {
        for key in keys {
            self.insert(key);
        }
    }
}

impl FromIterator<PatternKey> for PatternSet {
    fn from_iter<T: IntoIterator<Item = PatternKey>>(keys: T) -> Self {
        let mut set = PatternSet::default();
        set.extend(keys);
        set
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::key::mix;
    use super::*;

    fn keys(numbers: std::ops::Range<u64>) -> impl Iterator<Item = PatternKey> {
        numbers.map(|number| PatternKey(if number == 0 { EMPTY } else { mix(number, 1) }))
    }

    #[test]
    fn a_set_of_patterns_is_a_set() {
        let mut set = PatternSet::default();
        let mut plain = BTreeSet::new();
        for key in keys(0..20_000).chain(keys(10_000..30_000)) {
            assert!(!set.contains(key) || plain.contains(&key));
            assert_eq!(set.insert(key), plain.insert(key));
        }
        assert_eq!(set.len(), plain.len());
        assert_eq!(set.iter().collect::<BTreeSet<_>>(), plain);
        assert!(keys(30_000..40_000).all(|key| !set.contains(key)));
    }

    #[test]
    fn distances_count_what_the_other_lacks_and_copies_go_their_own_way() {
        let mut ours: PatternSet = keys(0..100).collect();
        let theirs: PatternSet = keys(50..300).collect();
        assert_eq!((ours.count_beyond(&theirs), theirs.count_beyond(&ours)), (50, 200));
        let copy = ours.clone();
        ours.extend(keys(1000..2000));
        assert_eq!((ours.len(), copy.len(), copy.iter().count()), (1100, 100, 100));
        assert_eq!(ours.count_beyond(&copy), 1000);
    }
}
