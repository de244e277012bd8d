//! The blocks of the program's heap, by address.

use std::collections::BTreeMap;
use std::ptr;

use threadbare_trace::ThreadId;

/// A block of the program's heap.
#[derive(Clone, Copy)]
pub struct Block {
    /// Its address.
    pub start: usize,
    /// Its size as asked for.
    pub size: usize,
    /// From its address on, so much is known to have no other block in it.
    pub room: usize,
    /// The code that asked.
    pub site: u64,
    /// The calls in progress then.
    pub context: u32,
    /// Who asked, at which of its operations, and for the how many-th time at this site.
    pub by: ThreadId,
    /// See `by`.
    pub op: u32,
    /// See `by`.
    pub ordinal: u64,
    /// The trace has its allocation.
    pub is_recorded: bool,
    /// Allocated after the snapshot: its address depends on the interleaving.
    pub young: bool,
    /// In which repetition of a closure.
    pub born: u64,
    /// It has been freed.
    pub freed: bool,
    /// Where, and in which context.
    pub freed_at: (u64, u32),
    /// By whom.
    pub freed_by: ThreadId,
}

/// How many of the blocks last asked for are found without a search.
const NEAR: usize = 256;

/// Blocks, freed ones too, none of which overlap.
pub struct Blocks {
    #[allow(clippy::box_collection, reason = "blocks stay where they are, so that `near` may point to them")]
    by_address: BTreeMap<usize, Box<Block>>,
    near: [*mut Block; NEAR],
}

impl Default for Blocks {
    fn default() -> Blocks {
        Blocks { by_address: BTreeMap::new(), near: [ptr::null_mut(); NEAR] }
    }
}

/// The allocator aligns to sixteen bytes.
fn slot(start: usize) -> usize {
    (start >> 4 ^ start >> 12) % NEAR
}

impl Blocks {
    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &Block> {
        self.by_address.values().map(|block| &**block)
    }

    /// The block that begins at an address.
    #[inline]
    pub fn at(&mut self, start: usize) -> Option<&mut Block> {
        let near = &mut self.near[slot(start)];
        // SAFETY: blocks are boxed, and leave `near` when they are dropped.
        if let Some(block) = unsafe { near.as_mut() }
            && block.start == start
        {
            return Some(block);
        }
        let block = &mut **self.by_address.get_mut(&start)?;
        *near = block;
        Some(block)
    }

    /// The block around an address.
    pub fn around(&self, addr: usize) -> Option<&Block> {
        let (_, block) = self.by_address.range(..=addr).next_back()?;
        (addr < block.start + block.size.max(1).next_multiple_of(4)).then_some(block)
    }

    /// Adds a block, in the place of freed ones that the allocator has merged into it.
    #[inline]
    pub fn put(&mut self, block: Block) {
        // Nearly always the allocator gives what was given back before: nobody else has been in there since.
        match self.at(block.start).filter(|known| known.room >= block.size) {
            Some(known) => *known = Block { room: known.room, ..block },
            None => self.put_anew(block),
        }
    }

    fn put_anew(&mut self, block: Block) {
        let (start, end) = (block.start, block.start + block.size.max(1));
        let overlapped: Vec<usize> = self.by_address.range(start..end).map(|(address, _)| *address).collect();
        for address in overlapped {
            self.remove(address);
        }
        if let Some((&before, known)) = self.by_address.range_mut(..start).next_back() {
            if known.freed && before + known.size > start {
                self.remove(before);
            } else {
                known.room = known.room.min(start - before);
            }
        }
        self.by_address.insert(start, Box::new(block));
    }

    fn remove(&mut self, start: usize) {
        self.near[slot(start)] = ptr::null_mut();
        self.by_address.remove(&start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(start: usize, size: usize) -> Block {
        Block {
            start,
            size,
            room: size,
            site: 0,
            context: 0,
            by: ThreadId::MAIN,
            op: 0,
            ordinal: 0,
            is_recorded: false,
            young: false,
            born: 0,
            freed: false,
            freed_at: (0, 0),
            freed_by: ThreadId::MAIN,
        }
    }

    fn starts(blocks: &Blocks) -> Vec<usize> {
        blocks.all().map(|block| block.start).collect()
    }

    #[test]
    fn a_block_is_found_by_its_start_and_around_its_bytes() {
        let mut blocks = Blocks::default();
        blocks.put(block(0x1000, 10));
        assert!(blocks.at(0x1000).is_some() && blocks.at(0x1008).is_none());
        assert_eq!(blocks.around(0x1009).map(|block| block.start), Some(0x1000));
        assert_eq!(blocks.around(0x100b).map(|block| block.start), Some(0x1000), "whole grains belong to it");
        assert!(blocks.around(0x100c).is_none() && blocks.around(0xfff).is_none());
    }

    #[test]
    fn a_block_in_the_place_of_freed_ones_replaces_them() {
        let mut blocks = Blocks::default();
        for start in [0x1000, 0x1010, 0x1020, 0x1030] {
            blocks.put(Block { freed: true, ..block(start, 16) });
            blocks.at(start);
        }
        blocks.put(block(0x1008, 32));
        assert_eq!(starts(&blocks), [0x1008, 0x1030]);
        assert!(blocks.at(0x1010).is_none(), "what is near must not outlive its block");
    }

    #[test]
    fn a_block_that_is_given_again_keeps_the_room_that_was_known() {
        let mut blocks = Blocks::default();
        blocks.put(block(0x1000, 64));
        blocks.put(block(0x1000, 16));
        assert_eq!(blocks.at(0x1000).map(|block| (block.size, block.room)), Some((16, 64)));
        // A neighbour inside that room takes it away.
        blocks.put(block(0x1020, 16));
        assert_eq!(blocks.at(0x1000).map(|block| block.room), Some(0x20));
        assert_eq!(starts(&blocks), [0x1000, 0x1020]);
    }

    #[test]
    fn two_blocks_that_share_a_near_place_are_distinguished() {
        let mut blocks = Blocks::default();
        let other = (1..).map(|index| 0x1000 + index * 16).find(|start| slot(*start) == slot(0x1000));
        let other = other.unwrap_or_default();
        blocks.put(block(0x1000, 16));
        blocks.put(block(other, 16));
        assert_eq!(blocks.at(0x1000).map(|block| block.start), Some(0x1000));
        assert_eq!(blocks.at(other).map(|block| block.start), Some(other));
    }
}
