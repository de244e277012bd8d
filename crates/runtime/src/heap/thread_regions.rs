//! A heap whose addresses do not depend on who allocates first: every thread has a region of its own, and no block is
//! handed out twice.
//!
//! So a thread that has seen the same gets the same addresses in every interleaving, and memory that was given back stays gone:
//! whoever still uses it is found out. Only executions that are reasoned about as a whole have such a heap.

use std::ffi::c_void;

use threadbare_trace::ThreadId;

use crate::sys;

/// Where the first region lies: above the runtime's own memory and where programs are loaded, below libraries and stacks.
const BASE: usize = 0x6000_0000_0000;
/// The size of a region. Only what is touched takes memory.
const REGION: usize = 1 << 34;
/// How many regions there are.
const MOST: usize = 1 << 10;
/// What comes before a block.
const HEADER: usize = 16;
/// Blocks from this size on give their pages back to the system when they are freed.
const LARGE: usize = 1 << 16;

/// The regions of all threads.
#[derive(Default)]
pub struct Regions {
    wanted: bool,
    /// How much of all regions may be handed out before threads share a heap again.
    room: usize,
    /// By thread: the first byte that has not been handed out, 0 if there is no region yet.
    next: Vec<usize>,
    /// Who got the first block.
    first: Option<ThreadId>,
    /// Some block was given back.
    gave_back: bool,
    /// It was said that addresses are others than those of one heap for all threads.
    is_different: bool,
}

/// Whether a block lies in a region.
pub fn contains(block: *const c_void) -> bool {
    (BASE..BASE + MOST * REGION).contains(&(block as usize))
}

impl Regions {
    /// Whether allocations of this execution come from regions, and up to how many bytes.
    pub fn begin(&mut self, wanted: bool, room: usize) {
        self.wanted = wanted;
        self.room = room;
    }

    /// Whether they do.
    pub fn are_wanted(&self) -> bool {
        self.wanted
    }

    /// A block is given back.
    pub fn give_back(&mut self) {
        self.gave_back = true;
    }

    /// A thread is about to get a block: whether one heap for all threads might now, for the first time, hand out another address in another order, or one
    /// that was given back.
    pub fn begins_to_differ(&mut self, thread: ThreadId) -> bool {
        let first = *self.first.get_or_insert(thread);
        let differs = self.gave_back || first != thread;
        differs && !std::mem::replace(&mut self.is_different, true)
    }

    /// A block of zeroes for a thread; null if there is no room.
    pub fn allocate(&mut self, thread: ThreadId, alignment: usize, size: usize) -> *mut c_void {
        let index = thread.index();
        if index >= MOST || size >= REGION || !alignment.is_power_of_two() || alignment > REGION {
            return std::ptr::null_mut();
        }
        if self.next.len() <= index {
            self.next.resize(index + 1, 0);
        }
        let begin = BASE + index * REGION;
        if self.next[index] == 0 {
            if !reserve(begin) {
                return std::ptr::null_mut();
            }
            self.next[index] = begin;
        }
        let block = (self.next[index] + HEADER).next_multiple_of(alignment.max(HEADER));
        let room = size.max(1).next_multiple_of(HEADER);
        if block + room > begin + REGION {
            return std::ptr::null_mut();
        }
        self.next[index] = block + room;
        self.room = self.room.saturating_sub(room);
        self.wanted &= self.room > 0;
        // The C library takes it for a block that was mapped by itself, and reads its size off that.
        const MAPPED: usize = 2;
        // SAFETY: the header lies in the region, and nobody has it.
        unsafe { *((block - size_of::<usize>()) as *mut usize) = (room + HEADER) | MAPPED };
        block as *mut c_void
    }
}

/// The block will not be used again.
///
/// # Safety
/// It has to lie in a region, and be of this size.
pub unsafe fn release(block: *mut c_void, size: usize) {
    if size >= LARGE {
        // SAFETY: private memory that nobody may touch any more.
        unsafe { sys::forget(block as usize, block as usize + size) };
    }
}

fn reserve(begin: usize) -> bool {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
    let protection = (libc::PROT_READ | libc::PROT_WRITE) as usize;
    // SAFETY: the kernel refuses if anything is mapped there.
    let got =
        unsafe { sys::call(libc::SYS_mmap, [begin, REGION, protection, flags as usize, usize::MAX, 0]) };
    got == begin as isize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_depend_on_the_thread_and_on_what_it_asked_for_before() {
        let mut regions = Regions::default();
        regions.begin(true, usize::MAX);
        let first = regions.allocate(ThreadId(1), 16, 24) as usize;
        let other = regions.allocate(ThreadId(2), 16, 24) as usize;
        let second = regions.allocate(ThreadId(1), 16, 24) as usize;
        assert_eq!(other - first, REGION);
        assert_eq!(second - first, 48, "a header, and whole units of sixteen");
        let aligned = regions.allocate(ThreadId(1), 4096, 1) as usize;
        assert!(aligned.is_multiple_of(4096) && aligned > second);
        assert!(contains(aligned as *const c_void) && !contains(std::ptr::null()));
    }

    #[test]
    fn addresses_differ_once_another_thread_allocates_or_a_block_came_back() {
        let (one, other) = (ThreadId(1), ThreadId(2));
        let mut by_two = Regions::default();
        assert_eq!([one, one, other, one].map(|it| by_two.begins_to_differ(it)), [false, false, true, false]);
        let mut by_one = Regions::default();
        assert!(!by_one.begins_to_differ(one));
        by_one.give_back();
        assert!(by_one.begins_to_differ(one));
    }

    #[test]
    fn threads_share_a_heap_again_when_much_was_handed_out() {
        let mut regions = Regions::default();
        regions.begin(true, 64);
        regions.allocate(ThreadId(5), 16, 32);
        assert!(regions.are_wanted());
        regions.allocate(ThreadId(5), 16, 32);
        assert!(!regions.are_wanted());
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let mut regions = Regions::default();
        assert!(regions.allocate(ThreadId(3), 16, REGION).is_null());
        assert!(regions.allocate(ThreadId(3), 3, 16).is_null());
        assert!(regions.allocate(ThreadId(MOST as u16), 16, 16).is_null());
    }
}
