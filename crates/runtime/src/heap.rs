//! The program's heap: blocks get stable names, and freed ones are recognised when touched.

mod blocks;
pub mod thread_regions;

use std::collections::HashMap;
use std::ffi::c_void;
use std::hash::BuildHasherDefault;
use std::ops::Range;

use threadbare_sched::Op;
use threadbare_trace::{Event, EventKind, FailureKind, ThreadId};
use threadbare_wire::LearnedRecord;

pub use blocks::Block;
use blocks::Blocks;

use crate::address_hash::AddressHasher;
use crate::engine::engine;
use crate::interpose::controlled;
use crate::shadow::{self, EXPOSED, FREED, GRAIN_BITS, SHARED};
use crate::sync::rust_std;
use crate::{access, shared_memory, thread_state_hash};

/// What is known of the heap.
#[derive(Default)]
pub struct Heap {
    blocks: Blocks,
    /// The block asked about last, and where blocks have been at all: most questions end here.
    last_recorded: Range<usize>,
    extent: Range<usize>,
    ordinals: HashMap<(u64, u16), u64, BuildHasherDefault<AddressHasher>>,
    learned: HashMap<u64, Vec<u64>, BuildHasherDefault<AddressHasher>>,
}

impl Heap {
    fn block_at(&self, addr: usize) -> Option<&Block> {
        self.blocks.around(addr)
    }

    /// From where to where the blocks reach that have not been freed.
    pub fn live_blocks(&self) -> impl Iterator<Item = Range<usize>> {
        self.blocks.all().filter(|block| !block.freed).map(|block| block.start..block.start + block.size)
    }

    /// The allocation of the block around an address, if the trace does not have it yet. Only blocks
    /// that visible steps touch are worth an event.
    #[inline(always)]
    pub fn unrecorded(&mut self, addr: usize) -> Option<Event> {
        if self.last_recorded.contains(&addr) || !self.extent.contains(&addr) {
            return None;
        }
        self.look_up_unrecorded(addr)
    }

    #[inline(never)]
    fn look_up_unrecorded(&mut self, addr: usize) -> Option<Event> {
        let start = self.block_at(addr)?.start;
        let block = self.blocks.at(start)?;
        self.last_recorded = start..start + block.size.max(1);
        if std::mem::replace(&mut block.is_recorded, true) {
            return None;
        }
        Some(Event {
            pc: block.site,
            addr: start as u64,
            value: block.size as u64,
            old: block.ordinal,
            op: block.op,
            thread: block.by,
            kind: EventKind::Alloc as u8,
            size: 0,
            context: block.context,
            flags: 0,
        })
    }

    /// For the how many-th time a thread asks at this site.
    fn next_ordinal(&mut self, site: u64, by: ThreadId) -> u64 {
        let ordinal = self.ordinals.entry((site, by.0)).or_default();
        *ordinal += 1;
        *ordinal
    }

    /// Takes in a place that another execution found to be shared.
    pub fn learn(&mut self, record: LearnedRecord) {
        if record.site == 0 {
            // SAFETY: the shadow is up before anything can be learned.
            thread_state_hash::was_shared(unsafe { mark(0, record.place) });
        } else {
            self.learned.entry(record.site).or_default().push(record.place);
        }
    }

    /// Takes in a place that was just found to be shared; says whether that is new.
    pub fn learn_anew(&mut self, record: LearnedRecord) -> bool {
        if record.site == 0 {
            return true;
        }
        let places = self.learned.entry(record.site).or_default();
        let is_new = !places.contains(&record.place);
        if is_new {
            places.push(record.place);
        }
        is_new
    }
}

/// The live block around an address, if it was allocated after the snapshot.
pub fn young_block_at(addr: usize) -> Option<Block> {
    live_block_at(addr).filter(|block| block.young)
}

/// The live block around an address.
pub fn live_block_at(addr: usize) -> Option<Block> {
    engine().world.heap.borrow_mut().block_at(addr).filter(|block| !block.freed).copied()
}

/// The freed block around an address.
pub fn freed_block_at(addr: usize) -> Option<Block> {
    engine().world.heap.borrow_mut().block_at(addr).filter(|block| block.freed).copied()
}

/// The program has got a block.
///
/// # Safety
/// The block must be new, and of this size.
pub unsafe fn allocated(start: *mut c_void, size: usize, site: u64) -> *mut c_void {
    if start.is_null() || !watching() {
        return start;
    }
    let engine = engine();
    engine.recorder.complete_write();
    let start_address = start as usize;
    let fiber = engine.current();
    let (by, op, young, records) =
        (fiber.id, fiber.ops.get(), engine.running.get(), engine.recorder.is_on.get());
    let context = if records { engine.context_of(fiber) } else { 0 };
    let born = engine.world.writes.borrow_mut().repetition();
    let mut heap = engine.world.heap.borrow_mut();
    heap.last_recorded = 0..0;
    heap.extent = match heap.extent.is_empty() {
        true => start_address..start_address + size.max(1),
        false => heap.extent.start.min(start_address)..heap.extent.end.max(start_address + size.max(1)),
    };
    let ordinal = if records { heap.next_ordinal(site, by) } else { 0 };
    heap.blocks.put(Block {
        start: start_address,
        size,
        room: size,
        site,
        context,
        by,
        op,
        ordinal,
        is_recorded: false,
        young,
        born,
        freed: false,
        freed_at: (0, 0),
        freed_by: ThreadId::MAIN,
    });
    // SAFETY: notes on memory that now belongs to a new block.
    unsafe {
        shadow::fill(start_address, size.max(1), 0);
        if let Some(places) = heap.learned.get(&site) {
            for place in places {
                if (*place << GRAIN_BITS) < size as u64 {
                    thread_state_hash::is_shared(mark(start_address, *place));
                }
            }
        }
    }
    start
}

/// Marks a learned place in a block, or anywhere for a block from 0 on; returns its address.
///
/// # Safety
/// The shadow must be up.
unsafe fn mark(start: usize, place: u64) -> usize {
    let exposed = if place & LearnedRecord::EXPOSED != 0 { EXPOSED } else { 0 };
    // The shift drops the mark of exposed places.
    let address = start + ((place as usize) << GRAIN_BITS);
    // SAFETY: as the caller vouches.
    unsafe { *shadow::cell(address) |= SHARED | exposed };
    address
}

/// How much of a freed block is compared with what other threads touched.
const WATCHED_BYTES: usize = 1 << 16;

/// A block is about to be given back; says whether others may notice.
///
/// # Safety
/// As for `free`.
pub unsafe fn about_to_free(start: *mut c_void, site: u64) -> bool {
    if start.is_null() || !watching() {
        return false;
    }
    let engine = engine();
    engine.recorder.complete_write();
    let fiber = engine.current();
    let address = start as usize;
    let Some(size) = live_size(address, site) else {
        must_be_block(address, site);
        return false;
    };
    // Taking memory away is a write to all of it. If others touch the block it has a scheduling point.
    let mut visible = false;
    thread_state_hash::see_before_release(engine);
    if engine.running.get() {
        fiber.count_operation();
    }
    if engine.running.get() && !engine.passes_over(site) && !engine.is_inside_c_library() {
        // SAFETY: the runtime is up.
        let shared = unsafe {
            let watched = size.min(WATCHED_BYTES);
            access::is_touched_by_others(fiber, address, watched)
                && access::touch_range(fiber, address, watched, true)
        };
        // Who gives a block back without the lock under which others use it may come between two of their accesses.
        if shared && engine.brief.get() {
            engine.world.guarding_locks.is_guarded(fiber, address, size.min(WATCHED_BYTES));
        }
        // Where all is reasoned about, it must not depend on what others have done whether this is a step.
        let always = engine.world.regions.borrow_mut().are_wanted();
        visible = shared || always || fiber.is_stop_due();
        if visible {
            let op = Op {
                kind: EventKind::Free,
                object: start as u64,
                size: size as u32,
                site,
                index: fiber.ops.get(),
                place: 0,
            };
            engine.point(op, None, None);
            if live_size(address, site).is_none() {
                return false;
            }
            engine.changed();
        }
    }
    let by = engine.current_id();
    let context = if engine.recorder.is_on.get() { engine.context_of(fiber) } else { 0 };
    if let Some(block) = engine.world.heap.borrow_mut().blocks.at(address) {
        block.freed = true;
        block.freed_at = (site, context);
        block.freed_by = by;
        visible |= block.is_recorded;
    }
    crate::sync::lifetime::end_with_memory(address..address + size);
    engine.world.tokens.borrow_mut().retain(|word| !(address..address + size).contains(word));
    // SAFETY: notes on the block's own memory. Blocks that were mapped by themselves go back to the system: touching them faults, and others may
    // get the memory, without asking for a block.
    unsafe {
        if size <= 1 << 20 && (thread_regions::contains(start) || !is_mapped_by_itself(address)) {
            shadow::fill(address, size.max(1), FREED);
        }
    }
    if visible {
        let pending = fiber.replace_site(site);
        // All that a thread has left to do once it has left its scope is the library's.
        if fiber.left_scope.get() || rust_std::gave_back_unseen(fiber, &(address..address + size)) {
            // The library gave back the last handle, by the count in front of the block.
            engine.recorder.note(EventKind::AtomicUpdate, address, size_of::<u64>() as u8, 0, 1);
        }
        engine.recorder.note(EventKind::Free, address, 0, size as u64, 0);
        fiber.set_site(pending);
    }
    visible
}

/// The size of a known block. One that has been freed already is a failure.
fn live_size(address: usize, site: u64) -> Option<usize> {
    let block = *engine().world.heap.borrow_mut().blocks.at(address)?;
    if block.freed {
        engine().current().set_site(site);
        shared_memory::fail(
            FailureKind::UseAfterFree,
            format_args!(
                "double free of a heap block of {} bytes that {} freed first, at <pc {:#x} in {}>",
                block.size, block.freed_by, block.freed_at.0, block.freed_at.1
            ),
        );
    }
    Some(block.size)
}

/// Ends the execution if a pointer that is given back leads to no block of the heap. Not all blocks are known: some are older than we are, and
/// `valloc` and its like get theirs inside the C library.
fn must_be_block(address: usize, site: u64) {
    if may_be_block(address) {
        return;
    }
    engine().current().set_site(site);
    shared_memory::fail(
        FailureKind::Misuse,
        format_args!(
            "{} gives back <obj {address:#x}>, which is no block of the heap (free(): invalid pointer)",
            engine().current_id()
        ),
    );
}

/// Whether the C library has mapped a block by itself, which it writes before the block.
fn is_mapped_by_itself(address: usize) -> bool {
    // SAFETY: the length of a block of the C library's lies before it.
    unsafe { *((address - size_of::<usize>()) as *const usize) & MAPPED != 0 }
}

/// A flag in the length of a block.
const MAPPED: usize = 2;

fn may_be_block(address: usize) -> bool {
    let is_inside = live_block_at(address).is_some();
    let is_of_region = thread_regions::contains(address as *const c_void);
    if is_inside || is_of_region || !address.is_multiple_of(ALIGNMENT) || is_elsewhere(address) {
        return false;
    }
    has_header(address)
}

/// How the C library aligns blocks.
const ALIGNMENT: usize = 16;

/// Whether an address is on the stack of the running thread or among the variables of the program or of a library.
fn is_elsewhere(address: usize) -> bool {
    let fiber = engine().current();
    let is_on = |(low, high): (usize, usize)| (low..high).contains(&address);
    // SAFETY: a record without pointers to begin with, which is only written to.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: looks up an address, whatever it is.
    let is_variable = unsafe { libc::dladdr(address as *const c_void, &raw mut info) } != 0;
    is_on(fiber.own_stack.get()) || is_on(fiber.stack.get()) || is_variable
}

/// Whether what lies before an address can be what the C library writes before its blocks.
fn has_header(address: usize) -> bool {
    const FLAGS: usize = 7;
    const LEAST: usize = 32;
    const PAGE: usize = 4096;
    let start = address - ALIGNMENT;
    let word = |at: usize| crate::signals::guarded_load(at, 8).map(|word| word as usize);
    let (Some(before), Some(size)) = (word(start), word(start + size_of::<usize>())) else { return false };
    let length = size & !FLAGS;
    if size & MAPPED != 0 {
        let (begin, end) = (start.wrapping_sub(before), start.wrapping_add(length));
        return length != 0 && (begin | end).is_multiple_of(PAGE);
    }
    length >= LEAST && length.is_multiple_of(ALIGNMENT) && start.checked_add(length).is_some()
}

/// Whether the program's blocks are being followed (the runtime's own detours are not).
pub fn watching() -> bool {
    controlled() && !engine().world.detour.get()
}

/// A failed `realloc` leaves the block as it was.
///
/// # Safety
/// As for `realloc`.
pub unsafe fn revive(start: *mut c_void) {
    if !watching() {
        return;
    }
    if let Some(block) = engine().world.heap.borrow_mut().blocks.at(start as usize) {
        block.freed = false;
        // SAFETY: notes on the block's own memory.
        unsafe { shadow::fill(block.start, block.size.max(1), 0) };
    }
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init, reason = "lists of ranges are what is tested")]
mod tests {
    use super::*;

    fn heap_with(start: usize, size: usize) -> Heap {
        let mut heap = Heap { extent: start..start + size, ..Heap::default() };
        heap.blocks.put(Block {
            start,
            size,
            room: size,
            site: 5,
            context: 2,
            by: ThreadId(3),
            op: 9,
            ordinal: 4,
            is_recorded: false,
            young: true,
            born: 0,
            freed: false,
            freed_at: (0, 0),
            freed_by: ThreadId::MAIN,
        });
        heap
    }

    #[test]
    fn the_trace_gets_a_block_once() {
        let mut heap = heap_with(0x1000, 64);
        assert!(heap.unrecorded(0x2000).is_none());
        let event = heap.unrecorded(0x1010).expect("the block is not in the trace yet");
        assert_eq!((event.addr, event.value, event.old, event.pc), (0x1000, 64, 4, 5));
        assert!(heap.unrecorded(0x1010).is_none());
        heap.last_recorded = 0..0;
        assert!(heap.unrecorded(0x1010).is_none(), "the block itself remembers, too");
    }

    #[test]
    fn ordinals_count_by_site_and_thread() {
        let mut heap = Heap::default();
        let ordinals =
            [(1, 0), (1, 0), (1, 1), (2, 0), (1, 0)].map(|(site, by)| heap.next_ordinal(site, ThreadId(by)));
        assert_eq!(ordinals, [1, 2, 1, 1, 3]);
    }

    #[test]
    fn a_place_in_a_block_is_new_once() {
        let mut heap = Heap::default();
        let record = LearnedRecord { site: 5, place: 1 };
        assert!(heap.learn_anew(record));
        assert!(!heap.learn_anew(record));
        assert!(heap.learn_anew(LearnedRecord { site: 5, place: 2 }));
        let anywhere = LearnedRecord { site: 0, place: 1 };
        assert!(
            heap.learn_anew(anywhere) && heap.learn_anew(anywhere),
            "such a place has no block to remember it"
        );
    }

    #[test]
    fn freed_blocks_are_not_live() {
        let mut heap = heap_with(0x1000, 64);
        assert_eq!(heap.live_blocks().collect::<Vec<_>>(), [0x1000..0x1040]);
        heap.blocks.at(0x1000).expect("just put").freed = true;
        assert_eq!(heap.live_blocks().count(), 0);
    }
}
