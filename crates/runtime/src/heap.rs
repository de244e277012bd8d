//! The program's heap: blocks get stable names, and freed ones are recognised when touched.

use std::collections::{BTreeMap, HashMap};
use std::ffi::c_void;
use std::hash::BuildHasherDefault;
use std::ops::Range;

use threadbare_sched::Op;
use threadbare_trace::{Event, EventKind, FailureKind, ThreadId};
use threadbare_wire::LearnedRecord;

use crate::engine::engine;
use crate::hash::AddressHasher;
use crate::interpose::controlled;
use crate::shadow::{self, FREED, GRAIN_BITS, SHARED};
use crate::{access, record};

/// A block of the program's heap.
#[derive(Clone, Copy)]
pub struct Block {
    /// Its address.
    pub start: usize,
    /// Its size as asked for.
    pub size: usize,
    /// The code that asked.
    pub site: u64,
    /// The calls in progress then.
    context: u32,
    /// Who asked, at which of its operations, and for the how many-th time at this site.
    by: ThreadId,
    op: u32,
    ordinal: u64,
    /// The trace has its allocation.
    told: bool,
    /// Allocated after the snapshot: its address depends on the interleaving.
    pub young: bool,
    /// It has been freed.
    pub freed: bool,
    /// Where, and in which context.
    pub freed_at: (u64, u32),
    /// By whom.
    pub freed_by: ThreadId,
}

/// What is known of the heap.
#[derive(Default)]
pub struct Heap {
    blocks: BTreeMap<usize, Block>,
    /// The block asked about last, and where blocks have been at all: most questions end here.
    last_told: Range<usize>,
    extent: Range<usize>,
    ordinals: HashMap<(u64, u16), u64, BuildHasherDefault<AddressHasher>>,
    learned: HashMap<u64, Vec<u64>, BuildHasherDefault<AddressHasher>>,
}

impl Heap {
    fn block_at(&self, addr: usize) -> Option<&Block> {
        let (_, block) = self.blocks.range(..=addr).next_back()?;
        (addr < block.start + block.size.max(1).next_multiple_of(4)).then_some(block)
    }

    /// The allocation of the block around an address, if the trace does not have it yet. Only blocks
    /// that visible steps touch are worth an event.
    #[inline(always)]
    pub fn untold(&mut self, addr: usize) -> Option<Event> {
        if self.last_told.contains(&addr) || !self.extent.contains(&addr) {
            return None;
        }
        self.look_up_untold(addr)
    }

    #[inline(never)]
    fn look_up_untold(&mut self, addr: usize) -> Option<Event> {
        let start = self.block_at(addr)?.start;
        let block = self.blocks.get_mut(&start)?;
        self.last_told = start..start + block.size.max(1);
        if std::mem::replace(&mut block.told, true) {
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

    /// Takes in a place that another execution found to be shared.
    pub fn learn(&mut self, record: LearnedRecord) {
        if record.site == 0 {
            // SAFETY: the shadow is up before anything can be learned.
            unsafe { *shadow::cell((record.place as usize) << GRAIN_BITS) |= SHARED };
        } else {
            self.learned.entry(record.site).or_default().push(record.place);
        }
    }
}

/// The live block around an address, if it was allocated after the snapshot.
pub fn young_block_at(addr: usize) -> Option<Block> {
    engine().world.heap.block_at(addr).filter(|block| block.young && !block.freed).copied()
}

/// The freed block around an address.
pub fn freed_block_at(addr: usize) -> Option<Block> {
    engine().world.heap.block_at(addr).filter(|block| block.freed).copied()
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
    engine.complete_write();
    let start_address = start as usize;
    let fiber = engine.current();
    let (by, op, context) = (fiber.id, fiber.ops, engine.context_of(fiber.id));
    let heap = &mut engine.world.heap;
    heap.last_told = 0..0;
    heap.extent = match heap.extent.is_empty() {
        true => start_address..start_address + size.max(1),
        false => heap.extent.start.min(start_address)..heap.extent.end.max(start_address + size.max(1)),
    };
    let ordinal = heap.ordinals.entry((site, by.0)).or_default();
    *ordinal += 1;
    let ordinal = *ordinal;
    // The allocator may have merged freed blocks into this one.
    let overlapped: Vec<usize> =
        heap.blocks.range(start_address..start_address + size.max(1)).map(|(address, _)| *address).collect();
    for address in overlapped {
        heap.blocks.remove(&address);
    }
    if let Some((&before, block)) = heap.blocks.range(..start_address).next_back()
        && block.freed
        && before + block.size > start_address
    {
        heap.blocks.remove(&before);
    }
    heap.blocks.insert(
        start_address,
        Block {
            start: start_address,
            size,
            site,
            context,
            by,
            op,
            ordinal,
            told: false,
            young: engine.running,
            freed: false,
            freed_at: (0, 0),
            freed_by: ThreadId::MAIN,
        },
    );
    // SAFETY: notes on memory that now belongs to a new block.
    unsafe {
        shadow::fill(start_address, size.max(1), 0);
        if let Some(places) = heap.learned.get(&site) {
            for place in places {
                let offset = (*place as usize) << GRAIN_BITS;
                if offset < size {
                    *shadow::cell(start_address + offset) |= SHARED;
                }
            }
        }
    }
    start
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
    engine.complete_write();
    let fiber = engine.current();
    let address = start as usize;
    let Some(size) = live_size(address, site) else { return false };
    // Taking memory away is a write to all of it. If others touch the block it has its turn.
    let mut visible = false;
    engine.see_before_release();
    if engine.running {
        fiber.ops += 1;
        // SAFETY: the runtime is up.
        let shared = unsafe { access::touch_range(fiber, address, size.min(WATCHED_BYTES), true) };
        // Where all is reasoned about, it must not depend on what others have done whether this is a step.
        let always = engine.world.regions.are_wanted();
        visible = shared || always || fiber.ops == fiber.stop_at;
        if visible {
            let op = Op {
                kind: EventKind::Free,
                object: start as u64,
                size: size as u32,
                site,
                index: fiber.ops,
                place: 0,
            };
            engine.point(op, None, false);
            if live_size(address, site).is_none() {
                return false;
            }
            engine.changed();
        }
    }
    let by = engine.current_id();
    let context = engine.context_of(by);
    if let Some(block) = engine.world.heap.blocks.get_mut(&address) {
        block.freed = true;
        block.freed_at = (site, context);
        block.freed_by = by;
        visible |= block.told;
    }
    // SAFETY: notes on the block's own memory. Very large blocks go back to the system, where
    // touching them faults by itself.
    unsafe {
        if size <= 1 << 20 {
            shadow::fill(address, size.max(1), FREED);
        }
    }
    if visible {
        let pending = std::mem::replace(&mut fiber.pending.site, site);
        engine.note(EventKind::Free, address, 0, size as u64, 0);
        fiber.pending.site = pending;
    }
    visible
}

/// The size of a known block. One that has been freed already is a failure.
fn live_size(address: usize, site: u64) -> Option<usize> {
    let block = *engine().world.heap.blocks.get(&address)?;
    if block.freed {
        engine().current().pending.site = site;
        record::fail(
            FailureKind::UseAfterFree,
            format_args!(
                "double free of a heap block of {} bytes that {} freed first, at <pc {:#x} in {}>",
                block.size, block.freed_by, block.freed_at.0, block.freed_at.1
            ),
        );
    }
    Some(block.size)
}

/// Whether the program's blocks are being followed (the runtime's own detours are not).
pub fn watching() -> bool {
    controlled() && !engine().world.detour
}

/// A failed `realloc` leaves the block as it was.
///
/// # Safety
/// As for `realloc`.
pub unsafe fn revive(start: *mut c_void) {
    if !watching() {
        return;
    }
    if let Some(block) = engine().world.heap.blocks.get_mut(&(start as usize)) {
        block.freed = false;
        // SAFETY: notes on the block's own memory.
        unsafe { shadow::fill(block.start, block.size.max(1), 0) };
    }
}
