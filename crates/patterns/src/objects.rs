//! Turns raw events into accesses to variables with stable names.
//!
//! A variable is a piece of memory that is accessed by itself (see `word.rs`): fields and array
//! elements are variables of their own. Its name is the same in all executions of a campaign:
//!
//! * on the heap: the site of the allocation, the allocating thread, the how many-th allocation of this thread
//!   there, and the offset in the block;
//! * on a thread's stack: the thread and the distance from the stack's end;
//! * in a module: the module and the offset, if the modules were named, and otherwise the
//!   address, like everything that was there before the first thread: address-space randomization is off.
//!
//! Memory that is allocated again, or belongs to another call, is another variable. Releasing a block is a write
//! to all of it. Reading and writing long ranges are accesses to every piece of them, up to
//! [`Limits::words`] words; what a longer write overwrites beyond that is forgotten, so that no
//! pattern steps over it.

use std::ops::Range;
use std::sync::Arc;

use rpds::RedBlackTreeMapSync;
use threadbare_happens_before::AccessedBytes;
use threadbare_trace::{Event, EventKind};

use super::key::{ObjectId, SiteId};
use super::limits::Limits;
use super::region::{Region, Touched, in_image};
use super::word::WORD_BITS;
use super::{AccessType, MemoryAccess};

/// What an event means for variables, in the order in which it has to be taken in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VariableChange {
    /// A variable is accessed.
    Access(MemoryAccess),
    /// A part of a variable is one by itself from now on, with the same past.
    Split {
        /// The variable so far.
        whole: ObjectId,
        /// The new one.
        part: ObjectId,
    },
    /// A variable is no more.
    Forget(ObjectId),
}

/// Where a module lies in the program's memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModuleRange {
    /// Where it lies.
    pub range: Range<u64>,
    /// A number that is its own wherever it lies, such as a hash of its name.
    pub name: u64,
}

/// Names the variables of a trace, one event at a time. Cheap to copy.
#[derive(Clone)]
pub struct Objects {
    images: Arc<[ModuleRange]>,
    /// Heap blocks and stacks by their first byte; they do not overlap.
    regions: RedBlackTreeMapSync<u64, Region>,
    elsewhere: Region,
    most_words: u64,
    skipped: u64,
}

impl Objects {
    /// Knows nothing yet. Modules that are not named count by address.
    pub fn new(images: impl Into<Arc<[ModuleRange]>>, limits: &Limits) -> Objects {
        Objects {
            images: images.into(),
            regions: RedBlackTreeMapSync::new_sync(),
            elsewhere: Region::elsewhere(),
            most_words: limits.words as u64,
            skipped: 0,
        }
    }

    /// How many words of ranges were not looked at.
    pub fn skipped_words(&self) -> u64 {
        self.skipped
    }

    /// The stable name of a place in the code.
    pub fn site(&self, pc: u64) -> SiteId {
        SiteId(in_image(&self.images, pc).unwrap_or(pc))
    }

    /// Adds to `changes` what the event at this place in the trace means.
    pub fn observe(&mut self, index: usize, event: &Event, changes: &mut Vec<VariableChange>) {
        let Some(kind) = event.kind() else { return };
        let Event { addr, value, .. } = *event;
        match kind {
            EventKind::Alloc => {
                let range = addr..addr.saturating_add(value.max(1));
                self.begin(Region::heap(range, event.pc, event.thread.0, event.old), changes);
            }
            EventKind::Start if value > addr => {
                self.begin(Region::stack(addr..value, event.thread.0), changes);
            }
            EventKind::Frame if addr > value => {
                let (start, _) = self.locate(value);
                let Objects { images, regions, elsewhere, .. } = self;
                let region = start.and_then(|start| regions.get_mut(&start)).unwrap_or(elsewhere);
                region.forget(value >> WORD_BITS, (addr - 1) >> WORD_BITS, images, changes);
            }
            // `AccessedBytes` knows which of the other kinds access memory.
            _ => {
                if let Some(touch) = AccessedBytes::of(event, kind) {
                    self.access(index, event, touch, changes);
                }
            }
        }
    }

    /// A new block or stack, instead of what was there before.
    fn begin(&mut self, new: Region, changes: &mut Vec<VariableChange>) {
        let mut old: Vec<u64> = self.regions.range(new.range.clone()).map(|(start, _)| *start).collect();
        let before = self.regions.range(..new.range.start).next_back();
        old.extend(before.filter(|(_, it)| it.range.end > new.range.start).map(|(start, _)| *start));
        for start in old {
            if let Some(region) = self.regions.get(&start).cloned() {
                region.forget_all(&self.images, changes);
            }
            self.regions.remove_mut(&start);
        }
        self.regions.insert_mut(new.range.start, new);
    }

    /// The beginning of the block or stack around an address, if it is in one, and the last address up to which that
    /// holds.
    fn locate(&self, address: u64) -> (Option<u64>, u64) {
        match self.regions.range(..=address).next_back() {
            Some((start, region)) if region.range.contains(&address) => (Some(*start), region.range.end - 1),
            _ => (None, self.regions.range(address..).next().map_or(u64::MAX, |(start, _)| start - 1)),
        }
    }

    fn access(
        &mut self,
        index: usize,
        event: &Event,
        touch: AccessedBytes,
        changes: &mut Vec<VariableChange>,
    ) {
        let access = MemoryAccess {
            event: index,
            thread: event.thread,
            site: self.site(event.pc),
            object: ObjectId::default(),
            manner: AccessType::of(touch.writes),
        };
        let (mut first, last) = (touch.addr, touch.addr + (touch.len - 1));
        let mut room = self.most_words;
        loop {
            let (start, region_last) = self.locate(first);
            let end = last.min(region_last);
            let Objects { images, regions, elsewhere, skipped, .. } = self;
            let touched = Touched { access, reads: touch.reads, writes: touch.writes, images };
            let region = start.and_then(|start| regions.get_mut(&start)).unwrap_or(elsewhere);
            let (low, high) = (first >> WORD_BITS, end >> WORD_BITS);
            let near = (high - low + 1).min(room);
            (low..low + near).for_each(|word| region.touch(word, first, end, &touched, changes));
            if low + near <= high {
                *skipped += high - (low + near) + 1;
                if touch.writes {
                    region.forget(low + near, high, images, changes);
                }
            }
            room -= near;
            if end == last {
                return;
            }
            first = end + 1;
        }
    }
}
