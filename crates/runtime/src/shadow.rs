//! Which memory is touched by more than one thread: two bytes of notes for every four bytes.
//!
//! A cell names the first thread that touched the place and whether it was written. When a
//! second thread comes and one of them writes, the place is *shared* from then on. Accesses that
//! stay with one thread cost this table look-up and nothing else.

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::sys;

/// The notes on one grain of memory.
pub type Cell = u16;

/// How many address bits one cell covers: a cell for every four bytes.
pub const GRAIN_BITS: u32 = 2;

/// The low bits name the owner (its number plus one).
pub const OWNER: Cell = 0x0fff;
/// The place was written while under watch.
pub const WRITTEN: Cell = 0x1000;
/// More than one thread read it.
pub const MANY: Cell = 0x2000;
/// More than one thread touched it and one of them wrote.
pub const SHARED: Cell = 0x4000;
/// The heap block it belonged to is freed.
pub const FREED: Cell = 0x8000;

const LEAF_BITS: u32 = 24;
const LEAF_CELLS: usize = 1 << (LEAF_BITS - GRAIN_BITS);
const TOP_ENTRIES: usize = 1 << (47 - LEAF_BITS);

static TOP: AtomicPtr<*mut Cell> = AtomicPtr::new(ptr::null_mut());

/// Reserves the table.
pub fn init() {
    TOP.store(sys::map(TOP_ENTRIES * size_of::<*mut Cell>()).cast(), Ordering::Relaxed);
}

/// The cell for an address, or null if nothing near it was ever noted.
///
/// # Safety
/// [`init`] must have run.
#[inline(always)]
pub unsafe fn cell(address: usize) -> *mut Cell {
    let top = TOP.load(Ordering::Relaxed);
    // SAFETY: the masked index is inside the table; leaves have LEAF_CELLS cells.
    unsafe {
        let leaf = *top.add((address >> LEAF_BITS) & (TOP_ENTRIES - 1));
        if leaf.is_null() {
            return leaf;
        }
        leaf.add((address >> GRAIN_BITS) & (LEAF_CELLS - 1))
    }
}

/// The cell for an address; the table grows as needed.
///
/// # Safety
/// [`init`] must have run.
pub unsafe fn cell_or_new(address: usize) -> *mut Cell {
    let top = TOP.load(Ordering::Relaxed);
    // SAFETY: as in `cell`.
    unsafe {
        let leaf = top.add((address >> LEAF_BITS) & (TOP_ENTRIES - 1));
        if (*leaf).is_null() {
            *leaf = sys::map(LEAF_CELLS * size_of::<Cell>()).cast();
        }
        (*leaf).add((address >> GRAIN_BITS) & (LEAF_CELLS - 1))
    }
}

/// Sets every cell of a range.
///
/// # Safety
/// [`init`] must have run.
pub unsafe fn fill(start: usize, bytes: usize, value: Cell) {
    let end = start + bytes;
    let mut at = start;
    while at < end {
        let leaf_end = ((at >> LEAF_BITS) + 1) << LEAF_BITS;
        let stop = end.min(leaf_end);
        let cells = ((stop - 1) >> GRAIN_BITS) - (at >> GRAIN_BITS) + 1;
        // SAFETY: the run of cells stays within one leaf.
        unsafe {
            if value != 0 || !cell(at).is_null() {
                let first = cell_or_new(at);
                if value == 0 && cells > 65_536 {
                    sys::forget(first as usize, first.add(cells) as usize);
                    let (head, tail) = (cells.min(2048), cells.saturating_sub(2048));
                    ptr::write_bytes(first, 0, head);
                    ptr::write_bytes(first.add(tail), 0, cells - tail);
                } else {
                    std::slice::from_raw_parts_mut(first, cells).fill(value);
                }
            }
        }
        at = stop;
    }
}

/// Notes that `owner` touches one grain. Says what the cell held before and holds now.
///
/// # Safety
/// [`init`] must have run.
pub unsafe fn touch(address: usize, owner: Cell, write: bool) -> (Cell, Cell) {
    // SAFETY: the cell exists once asked for.
    unsafe {
        let place = cell_or_new(address);
        let before = *place;
        let mut after = before;
        if before & OWNER == 0 {
            after |= owner;
        } else if before & OWNER != owner {
            after |= MANY;
        }
        if write {
            after |= WRITTEN;
        }
        if after & (MANY | WRITTEN) == MANY | WRITTEN {
            after |= SHARED;
        }
        if after != before {
            *place = after;
        }
        (before, after)
    }
}
