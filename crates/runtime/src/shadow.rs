//! Which memory is touched by more than one thread: two bytes of notes for every four bytes.
//!
//! A cell names the first thread that touched the place and whether it was written. When a
//! second thread comes and one of them writes, the place is *shared* from then on. Accesses that
//! stay with one thread cost this table look-up and nothing else.

use std::ptr;

use crate::sys;

/// The notes on one grain of memory.
pub type Cell = u16;

/// How many address bits one cell covers: a cell for every four bytes.
pub const GRAIN_BITS: u32 = 2;

/// The low bits name the owner (its number plus one).
pub const OWNER: Cell = 0x07ff;
/// It was touched without the lock that guards it elsewhere.
pub const EXPOSED: Cell = 0x0800;
/// The place was written while under watch.
pub const WRITTEN: Cell = 0x1000;
/// More than one thread read it.
pub const MANY: Cell = 0x2000;
/// More than one thread touched it and one of them wrote.
pub const SHARED: Cell = 0x4000;
/// The heap block it belonged to is freed.
pub const FREED: Cell = 0x8000;

/// Where the notes lie: between where programs are loaded low and where they are loaded high. Only
/// what is touched takes memory.
pub const BASE: usize = 0x1000_0000_0000;
/// How many bits of an address count.
pub const ADDRESS_BITS: u32 = 47;
const BYTES: usize = (1 << (ADDRESS_BITS - GRAIN_BITS)) * size_of::<Cell>();

/// Reserves the place of the notes.
pub fn init() {
    if !sys::map_there(BASE, BYTES) {
        sys::die("the system does not allow the address space that watching memory takes (ulimit -v?)");
    }
}

/// From where to where the notes reach.
pub fn reserved() -> std::ops::Range<usize> {
    BASE..BASE + BYTES
}

/// The cell for an address.
#[inline(always)]
pub fn cell(address: usize) -> *mut Cell {
    let index = (address & ((1 << ADDRESS_BITS) - 1)) >> GRAIN_BITS;
    (BASE + index * size_of::<Cell>()) as *mut Cell
}

/// Sets every cell of a range.
///
/// # Safety
/// [`init`] must have run.
pub unsafe fn fill(start: usize, bytes: usize, value: Cell) {
    const LARGE: usize = 65_536;
    let (first, end) = (cell(start), cell(start + bytes.max(1) - 1).wrapping_add(1));
    let cells = (end as usize - first as usize) / size_of::<Cell>();
    // SAFETY: the reserved place covers every address.
    unsafe {
        if value == 0 && cells > LARGE {
            // Whole pages are given back; what is left at both ends is cleared by hand.
            sys::forget(first as usize, end as usize);
            let edge = 4096 / size_of::<Cell>();
            ptr::write_bytes(first, 0, edge);
            ptr::write_bytes(end.sub(edge), 0, edge);
        } else {
            std::slice::from_raw_parts_mut(first, cells).fill(value);
        }
    }
}

/// Takes these bits out of every cell of a range.
///
/// # Safety
/// [`init`] must have run.
pub unsafe fn clear(range: std::ops::Range<usize>, bits: Cell) {
    for address in (range.start & !3..range.end).step_by(1 << GRAIN_BITS) {
        // SAFETY: the reserved place covers every address.
        unsafe {
            let place = cell(address);
            // What nobody has touched takes no memory, and shall take none.
            if *place & bits != 0 {
                *place &= !bits;
            }
        }
    }
}

/// Notes that `owner` touches one grain. Says what the cell held before and holds now.
///
/// # Safety
/// [`init`] must have run.
#[inline(always)]
pub unsafe fn touch(address: usize, owner: Cell, write: bool) -> (Cell, Cell) {
    // SAFETY: as the caller vouches.
    unsafe {
        let place = cell(address);
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
