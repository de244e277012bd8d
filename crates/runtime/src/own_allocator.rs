//! The runtime's own allocator: it must neither call the program's nor move its addresses.
//!
//! Free lists by power of two over mapped chunks. Only the thread that holds control allocates,
//! so there is no lock.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::UnsafeCell;

use crate::sys;

const CHUNK: usize = 1 << 20;
const LARGE: usize = 1 << 17;

struct Lists {
    free: [usize; 18],
    next: usize,
    end: usize,
}

struct Own(UnsafeCell<Lists>);

// SAFETY: one thread at a time runs runtime code (see the module comment).
unsafe impl Sync for Own {}

#[cfg_attr(not(test), global_allocator)]
static ALLOCATOR: Own = Own(UnsafeCell::new(Lists { free: [0; 18], next: 0, end: 0 }));

fn class(layout: &Layout) -> usize {
    layout.size().max(layout.align()).max(16).next_power_of_two()
}

// SAFETY: blocks are disjoint, aligned to their power-of-two size class and sized to it.
unsafe impl GlobalAlloc for Own {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let size = class(&layout);
        if size >= LARGE {
            return sys::map(size);
        }
        // SAFETY: single-threaded by construction.
        let lists = unsafe { &mut *self.0.get() };
        let list = &mut lists.free[size.trailing_zeros() as usize];
        if *list != 0 {
            let block = *list;
            // SAFETY: free blocks hold the address of the next one in their first word.
            *list = unsafe { *(block as *const usize) };
            return block as *mut u8;
        }
        lists.next = lists.next.next_multiple_of(size);
        if lists.next + size > lists.end {
            lists.next = sys::map(CHUNK) as usize;
            lists.end = lists.next + CHUNK;
        }
        let block = lists.next;
        lists.next += size;
        block as *mut u8
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let size = class(&layout);
        // SAFETY: the block came from `alloc` with this layout.
        unsafe {
            if size >= LARGE {
                sys::call(libc::SYS_munmap, [block as usize, size, 0, 0, 0, 0]);
                return;
            }
            let lists = &mut *self.0.get();
            let list = &mut lists.free[size.trailing_zeros() as usize];
            *(block as *mut usize) = *list;
            *list = block as usize;
        }
    }
}
