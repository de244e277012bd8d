//! The functions by which a program gets memory and gives it back.
//!
//! The C library's own allocator does the work, so addresses are what they always were; except where an execution is
//! reasoned about as a whole (`regions`).

use std::ffi::{c_int, c_void};

use threadbare_trace::EventKind;

use crate::engine::engine;
use crate::heap::thread_regions;
use crate::heap::{about_to_free, allocated, revive, watching};
use crate::interpose::{interpose_always, site};

unsafe extern "C-unwind" {
    fn __libc_malloc(size: usize) -> *mut c_void;
    fn __libc_calloc(count: usize, size: usize) -> *mut c_void;
    fn __libc_realloc(block: *mut c_void, size: usize) -> *mut c_void;
    fn __libc_free(block: *mut c_void);
    fn __libc_memalign(alignment: usize, size: usize) -> *mut c_void;
    fn malloc_usable_size(block: *mut c_void) -> usize;
}

/// Every block is aligned as the C library does it.
const MINIMUM: usize = 16;

/// The site of the call, if anybody wants to know.
fn where_from() -> u64 {
    if watching() { site() } else { 0 }
}

/// A block from the running thread's region, if that is where blocks come from.
unsafe fn from_region(alignment: usize, size: usize) -> Option<*mut c_void> {
    if !has_regions() {
        return None;
    }
    let engine = engine();
    let thread = engine.current_id();
    if engine.world.regions.borrow_mut().begins_to_differ(thread) {
        crate::dependences::note_heap_address(site());
    }
    engine.world.allocated.set(engine.world.allocated.get().wrapping_add(1));
    let block = engine.world.regions.borrow_mut().allocate(thread, alignment, size);
    if block.is_null() {
        // SAFETY: every thread has an errno.
        unsafe { *libc::__errno_location() = libc::ENOMEM };
    }
    Some(block)
}

/// Whether blocks come from regions, and none that is given back is used again.
fn has_regions() -> bool {
    watching() && engine().running.get() && engine().world.regions.borrow_mut().are_wanted()
}

/// A block with an alignment, from wherever blocks come.
unsafe fn aligned(alignment: usize, size: usize) -> *mut c_void {
    // SAFETY: as the C function demands of its caller.
    unsafe {
        from_region(alignment.max(1).next_power_of_two(), size)
            .unwrap_or_else(|| __libc_memalign(alignment, size))
    }
}

unsafe fn give_back(block: *mut c_void) {
    if has_regions() && !block.is_null() {
        engine().world.regions.borrow_mut().give_back();
        engine().world.freed.set(engine().world.freed.get().wrapping_add(1));
    }
    // SAFETY: as the caller vouches; what came from the C library goes back there, unless it shall stay gone.
    unsafe {
        if thread_regions::contains(block) {
            let size = malloc_usable_size(block);
            thread_regions::release(block, size);
        } else if !has_regions() {
            __libc_free(block);
        }
    }
}

/// Moves a block within or into a region.
unsafe fn move_to_region(block: *mut c_void, size: usize, pc: u64) -> *mut c_void {
    // SAFETY: as `realloc` demands of its caller.
    unsafe {
        let old = malloc_usable_size(block);
        let shows = about_to_free(block, pc);
        if size == 0 {
            give_back(block);
            return std::ptr::null_mut();
        }
        let Some(moved) = from_region(MINIMUM, size).filter(|moved| !moved.is_null()) else {
            revive(block);
            return std::ptr::null_mut();
        };
        std::ptr::copy_nonoverlapping(block.cast::<u8>(), moved.cast::<u8>(), old.min(size));
        give_back(block);
        allocated(moved, size, pc);
        if shows {
            // What others had written there is in the new block now.
            engine().recorder.note(EventKind::WriteRange, moved as usize, 0, size as u64, 0);
        }
        moved
    }
}

interpose_always! {
    fn malloc(size: usize) -> *mut c_void {
        let pc = where_from();
        allocated(from_region(MINIMUM, size).unwrap_or_else(|| __libc_malloc(size)), size, pc)
    }
    fn calloc(count: usize, size: usize) -> *mut c_void {
        let pc = where_from();
        let whole = count.saturating_mul(size);
        allocated(from_region(MINIMUM, whole).unwrap_or_else(|| __libc_calloc(count, size)), whole, pc)
    }
    fn realloc(block: *mut c_void, size: usize) -> *mut c_void {
        let pc = where_from();
        if has_regions() || thread_regions::contains(block) {
            return match block.is_null() {
                true => allocated(from_region(MINIMUM, size).unwrap_or(std::ptr::null_mut()), size, pc),
                false => move_to_region(block, size, pc),
            };
        }
        if !block.is_null() {
            about_to_free(block, pc);
        }
        let moved = __libc_realloc(block, size);
        if moved.is_null() && size != 0 {
            revive(block);
            return moved;
        }
        allocated(moved, size, pc)
    }
    fn free(block: *mut c_void) {
        let pc = where_from();
        about_to_free(block, pc);
        give_back(block);
    }
    fn memalign(alignment: usize, size: usize) -> *mut c_void {
        let pc = where_from();
        allocated(aligned(alignment, size), size, pc)
    }
    fn aligned_alloc(alignment: usize, size: usize) -> *mut c_void {
        let pc = where_from();
        allocated(aligned(alignment, size), size, pc)
    }
    fn posix_memalign(place: *mut *mut c_void, alignment: usize, size: usize) -> c_int {
        let pc = where_from();
        if !alignment.is_power_of_two() || !alignment.is_multiple_of(size_of::<usize>()) {
            return libc::EINVAL;
        }
        let block = allocated(aligned(alignment, size), size, pc);
        if block.is_null() {
            return libc::ENOMEM;
        }
        *place = block;
        0
    }
}
