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
    pub told: bool,
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
