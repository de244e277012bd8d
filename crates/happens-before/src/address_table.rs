//! A table by address that finds entries fast and forgets whole ranges cheaply.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

const PAGE_BITS: u32 = 9;
const PAGE: usize = 1 << PAGE_BITS;
const NONE: u32 = u32::MAX;

/// Mixes the bits of one number: addresses differ in few of them.
#[derive(Default)]
pub struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        let mixed = (self.0.rotate_left(23) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    #[inline]
    fn write_u16(&mut self, number: u16) {
        self.write_u64(u64::from(number));
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// A hash map whose keys are numbers that nobody chose with evil intent.
pub type NumberMap<K, V> = HashMap<K, V, BuildHasherDefault<NumberHasher>>;

struct Page {
    key: u64,
    used: u32,
    slots: Box<[u32; PAGE]>,
}

/// Entries by address. Neighbouring addresses share a page, so that forgetting a range costs what
/// is in it and not its length.
pub struct AddressTable<T> {
    pages: NumberMap<u64, u32>,
    page_store: Vec<Page>,
    free_pages: Vec<u32>,
    last: (u64, u32),
    entries: Vec<Option<T>>,
    free: Vec<u32>,
    live: usize,
    peak: usize,
}

impl<T> Default for AddressTable<T> {
    fn default() -> Self {
        AddressTable {
            pages: NumberMap::default(),
            page_store: Vec::new(),
            free_pages: Vec::new(),
            last: (u64::MAX, NONE),
            entries: Vec::new(),
            free: Vec::new(),
            live: 0,
            peak: 0,
        }
    }
}

impl<T> AddressTable<T> {
    /// How many entries there are.
    pub fn live(&self) -> usize {
        self.live
    }

    /// How many entries there were at most.
    pub fn peak(&self) -> usize {
        self.peak
    }

    #[inline]
    fn page(&mut self, key: u64) -> Option<u32> {
        if self.last.0 == key {
            return Some(self.last.1);
        }
        let page = *self.pages.get(&key)?;
        self.last = (key, page);
        Some(page)
    }

    /// The entry at an address.
    #[inline]
    pub fn get(&mut self, address: u64) -> Option<&mut T> {
        let page = self.page(address >> PAGE_BITS)?;
        let slot = self.page_store[page as usize].slots[address as usize % PAGE];
        self.entries.get_mut(slot as usize)?.as_mut()
    }

    /// The entry at an address, made if there is none.
    #[inline]
    pub fn entry(&mut self, address: u64) -> &mut T
    where
        T: Default,
    {
        let page = match self.page(address >> PAGE_BITS) {
            Some(page) => page,
            None => self.add_page(address >> PAGE_BITS),
        };
        let page = &mut self.page_store[page as usize];
        let place = &mut page.slots[address as usize % PAGE];
        if *place == NONE {
            page.used += 1;
            self.live += 1;
            self.peak = self.peak.max(self.live);
            *place = match self.free.pop() {
                Some(slot) => slot,
                None => {
                    self.entries.push(None);
                    (self.entries.len() - 1) as u32
                }
            };
        }
        self.entries[*place as usize].get_or_insert_with(T::default)
    }

    fn add_page(&mut self, key: u64) -> u32 {
        let page = match self.free_pages.pop() {
            Some(page) => {
                self.page_store[page as usize].key = key;
                page
            }
            None => {
                self.page_store.push(Page { key, used: 0, slots: Box::new([NONE; PAGE]) });
                (self.page_store.len() - 1) as u32
            }
        };
        self.pages.insert(key, page);
        self.last = (key, page);
        page
    }

    fn slot(&self, address: u64) -> Option<u32> {
        let key = address >> PAGE_BITS;
        let page = if self.last.0 == key { self.last.1 } else { *self.pages.get(&key)? };
        let slot = self.page_store[page as usize].slots[address as usize % PAGE];
        (slot != NONE).then_some(slot)
    }

    /// The addresses in `first..=last` that have an entry, in order.
    pub fn addresses(&self, first: u64, last: u64) -> Vec<u64> {
        if last - first < PAGE as u64 / 4 {
            return (first..=last).filter(|address| self.slot(*address).is_some()).collect();
        }
        let (low, high) = (first >> PAGE_BITS, last >> PAGE_BITS);
        // A long range over few pages is asked the other way round.
        let mut pages: Vec<u32> = if high - low < self.pages.len() as u64 {
            (low..=high).filter_map(|key| self.pages.get(&key).copied()).collect()
        } else {
            self.pages.iter().filter(|(key, _)| (low..=high).contains(key)).map(|(_, page)| *page).collect()
        };
        pages.sort_unstable_by_key(|page| self.page_store[*page as usize].key);
        let mut found = Vec::new();
        for page in pages {
            let page = &self.page_store[page as usize];
            for (index, slot) in page.slots.iter().enumerate() {
                let address = (page.key << PAGE_BITS) + index as u64;
                if *slot != NONE && (first..=last).contains(&address) {
                    found.push(address);
                }
            }
        }
        found
    }

    /// Removes an entry.
    pub fn remove(&mut self, address: u64) -> Option<T> {
        let key = address >> PAGE_BITS;
        let number = self.page(key)?;
        let page = &mut self.page_store[number as usize];
        let slot = std::mem::replace(&mut page.slots[address as usize % PAGE], NONE);
        if slot == NONE {
            return None;
        }
        self.live -= 1;
        self.free.push(slot);
        page.used -= 1;
        if page.used == 0 {
            self.pages.remove(&key);
            self.free_pages.push(number);
            self.last = (u64::MAX, NONE);
        }
        self.entries[slot as usize].take()
    }

    /// Removes all entries in `first..=last`.
    pub fn forget(&mut self, first: u64, last: u64) {
        for address in self.addresses(first, last) {
            self.remove(address);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_found_by_address_and_forgotten_by_range() {
        let mut table: AddressTable<u32> = AddressTable::default();
        for address in [0x1000, 0x1001, 0x5000, 0xffff_ffff_0000] {
            *table.entry(address) = address as u32;
        }
        assert_eq!(table.get(0x1001), Some(&mut 0x1001));
        table.forget(0x1001, 0x5000);
        assert_eq!(table.get(0x1001), None);
        assert_eq!(table.get(0x5000), None);
        assert_eq!(table.get(0x1000), Some(&mut 0x1000));
        assert_eq!((table.live(), table.peak()), (2, 4));
        *table.entry(0x5000) = 7;
        assert_eq!(table.addresses(0, u64::MAX), [0x1000, 0x5000, 0xffff_ffff_0000]);
    }

    #[test]
    fn memory_is_used_again() {
        let mut table: AddressTable<u32> = AddressTable::default();
        for round in 0..1000u64 {
            *table.entry(round * 0x10_000) = 1;
            table.forget(0, u64::MAX);
        }
        assert_eq!((table.entries.len(), table.page_store.len()), (1, 1));
    }
}
