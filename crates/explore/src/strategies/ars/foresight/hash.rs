//! Numbers for things that have been seen.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use rpds::HashTrieMapSync;

/// A map by addresses, or by numbers that are mixed.
pub(in crate::strategies::ars) type Table<K, V> = HashMap<K, V, BuildHasherDefault<NumberHasher>>;

/// A set of numbers that are mixed.
pub(super) type Numbers = HashSet<u64, BuildHasherDefault<NumberHasher>>;

/// The same as [`Table`], cheap to copy.
pub(super) type SharedTable<V> = HashTrieMapSync<u64, V, BuildHasherDefault<NumberHasher>>;

/// A table that shares nothing yet.
pub(super) fn shared_table<V>() -> SharedTable<V> {
    SharedTable::new_with_hasher_and_ptr_kind(BuildHasherDefault::default())
}

/// Mixes a word into a number.
pub(super) fn mix(state: u64, word: u64) -> u64 {
    let mixed = (state ^ word.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(word);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) ^ (mixed >> 32)
}

/// Hashes numbers; nobody chooses them to do harm.
#[derive(Default)]
pub(in crate::strategies::ars) struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = mix(self.0, number);
    }
}
