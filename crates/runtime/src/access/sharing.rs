//! Who has touched what: the notes on memory, and what they come to.

use threadbare_trace::FailureKind;
use threadbare_wire::LearnedRecord;

use super::READ;
use crate::engine::engine;
use crate::fiber::Fiber;
use crate::shadow::{self, Cell, EXPOSED, FREED, GRAIN_BITS, MANY, OWNER, SHARED, WRITTEN};
use crate::{heap, repeat, shared_memory};

/// Whether anybody but this thread has touched some of a range, as far as its notes show.
///
/// # Safety
/// The runtime must be initialised.
pub unsafe fn is_touched_by_others(fiber: &Fiber, addr: usize, size: usize) -> bool {
    let (first, last) = (addr >> GRAIN_BITS, (addr + size.max(1) - 1) >> GRAIN_BITS);
    // SAFETY: the notes on a range lie together.
    let cells = unsafe { std::slice::from_raw_parts(shadow::cell(first << GRAIN_BITS), last - first + 1) };
    cells.iter().any(|cell| cell & (MANY | SHARED) != 0 || (cell & OWNER != 0 && cell & OWNER != fiber.tag))
}

/// Updates the notes on a word that lies as the machine wants it; says whether it is shared.
///
/// # Safety
/// The runtime must be initialised.
#[inline(always)]
pub unsafe fn touch_word(fiber: &Fiber, addr: usize, size: usize, write: bool) -> bool {
    let settled = if write { SHARED | WRITTEN } else { SHARED };
    // SAFETY: as the caller vouches. Both ends of a word are noted in one note or in two that lie together.
    unsafe {
        let (first, last) = (*shadow::cell(addr), *shadow::cell(addr + size - 1));
        let is_settled = |cell: Cell| cell & (settled | FREED) == settled;
        (size <= 8 && is_settled(first) && is_settled(last)) || touch_range(fiber, addr, size, write)
    }
}

/// Whether all of a range is the thread's own, as the hooks of aligned accesses see it: nothing needs to be noted.
///
/// # Safety
/// The runtime must be initialised.
#[inline(always)]
pub unsafe fn is_own(fiber: &Fiber, addr: usize, size: usize, write: bool) -> bool {
    /// So many notes are looked at together.
    const TOGETHER: usize = size_of::<u64>() / size_of::<Cell>();
    const EACH: u64 = 0x0001_0001_0001_0001;
    let (first, last) = (addr >> GRAIN_BITS, (addr + size - 1) >> GRAIN_BITS);
    let (mask, own) = if write { (!0, fiber.tag | WRITTEN) } else { (READ as Cell, fiber.tag) };
    let (masks, owns) = (u64::from(mask) * EACH, u64::from(own) * EACH);
    let (mut notes, mut left) = (shadow::cell(first << GRAIN_BITS), last - first + 1);
    // SAFETY: as the caller vouches; the notes on a range lie together.
    unsafe {
        while left >= TOGETHER {
            if notes.cast::<u64>().read_unaligned() & masks != owns {
                return false;
            }
            (notes, left) = (notes.add(TOGETHER), left - TOGETHER);
        }
        (0..left).all(|index| *notes.add(index) & mask == own)
    }
}

/// Updates the notes on a range; says whether any of it is shared.
///
/// # Safety
/// The runtime must be initialised.
pub unsafe fn touch_range(fiber: &Fiber, addr: usize, size: usize, write: bool) -> bool {
    let mut shared = false;
    let (first, last) = (addr >> GRAIN_BITS, (addr + size.max(1) - 1) >> GRAIN_BITS);
    let (mask, own) = if write { (!0, fiber.tag | WRITTEN) } else { (READ as Cell, fiber.tag) };
    let notes = shadow::cell(first << GRAIN_BITS);
    for grain in first..=last {
        // SAFETY: as the caller vouches; the notes on a range lie together.
        let (before, after) = unsafe {
            let cell = *notes.add(grain - first);
            if cell & mask == own {
                continue;
            }
            // Who came first does not matter any more.
            if cell & (SHARED | FREED) == SHARED && (!write || cell & WRITTEN != 0) {
                shared = true;
                continue;
            }
            shadow::touch(grain << GRAIN_BITS, fiber.tag, write)
        };
        if before & FREED != 0 {
            use_after_free(addr.max(grain << GRAIN_BITS), write);
        }
        if (before ^ after) & WRITTEN != 0 {
            repeat::about_to_write(engine(), grain << GRAIN_BITS);
        }
        if after & SHARED != 0 {
            shared = true;
            if before & SHARED == 0 {
                discover(grain << GRAIN_BITS);
            }
        }
    }
    shared
}

/// Ends the execution if this is freed memory, where a synchronization object is used.
pub fn must_be_allocated(addr: usize) {
    // SAFETY: the shadow is up.
    if unsafe { *shadow::cell(addr) } & FREED != 0 {
        use_after_free(addr, true);
    }
}

/// Ends the execution: freed memory was touched.
pub(super) fn use_after_free(addr: usize, write: bool) -> ! {
    let verb = if write { "write to" } else { "read of" };
    match heap::freed_block_at(addr) {
        Some(block) => shared_memory::fail(
            FailureKind::UseAfterFree,
            format_args!(
                "{verb} offset {} in a heap block of {} bytes that {} freed at <pc {:#x} in {}>",
                addr - block.start,
                block.size,
                block.freed_by,
                block.freed_at.0,
                block.freed_at.1
            ),
        ),
        None => shared_memory::fail(FailureKind::UseAfterFree, format_args!("{verb} freed heap memory")),
    }
}

/// A shared place turned out not to be guarded by a lock.
pub fn expose(addr: usize) {
    // SAFETY: the shadow is up.
    unsafe { *shadow::cell(addr) |= EXPOSED };
    report(addr, LearnedRecord::EXPOSED);
}

/// Whether a place has turned out not to be guarded by a lock; or, if it is a lock, to be tried by who does not wait for it.
pub fn is_exposed(addr: usize) -> bool {
    // SAFETY: the shadow is up.
    unsafe { *shadow::cell(addr) & EXPOSED != 0 }
}

/// A place turned out to be shared.
fn discover(addr: usize) {
    crate::thread_state_hash::is_shared(addr);
    report(addr, 0);
}

/// Reports a place to the driver, by a name that holds in other executions.
fn report(addr: usize, how: u64) {
    let mut record = match heap::young_block_at(addr) {
        Some(block) => LearnedRecord { site: block.site, place: ((addr - block.start) >> GRAIN_BITS) as u64 },
        // What lies between blocks has no name that holds in other executions.
        None if heap::thread_regions::contains(addr as *const _) => return,
        None => LearnedRecord { site: 0, place: (addr >> GRAIN_BITS) as u64 },
    };
    record.place |= how;
    let engine = engine();
    // Where a closure is repeated, the next repetition has to know it, and the same place comes again and again.
    if engine.recorder.is_on.get() || engine.world.heap.borrow_mut().learn_anew(record) {
        engine.shared.discovered(record);
    }
}
