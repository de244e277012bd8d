//! System calls made directly: the C library's wrappers are interposed by this very library.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::arch;

/// Makes a system call; errors come back as negative numbers.
///
/// # Safety
/// The arguments must be what the kernel expects for this call.
#[inline(always)]
pub unsafe fn call(number: i64, args: [usize; 6]) -> isize {
    // SAFETY: as the caller vouches.
    unsafe { arch::syscall(number, args) }
}

/// Where the runtime's own memory lies: above the notes on the program's memory, apart from everything that the
/// program maps.
const OWN: usize = 0x5000_0000_0000;

/// Where its next piece shall be. One thread at a time runs runtime code.
static NEXT: AtomicUsize = AtomicUsize::new(OWN);

/// From where to where the runtime's own memory reaches.
pub fn own_memory() -> Range<usize> {
    OWN..NEXT.load(Ordering::Relaxed)
}

/// Maps fresh private memory that costs nothing until touched.
pub fn map(bytes: usize) -> *mut u8 {
    let bytes = bytes.next_multiple_of(4096);
    let place = NEXT.fetch_add(bytes, Ordering::Relaxed);
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: the kernel takes the address as a wish: an anonymous mapping where nothing is disturbs nothing.
    let address = unsafe {
        call(
            libc::SYS_mmap,
            [place, bytes, (libc::PROT_READ | libc::PROT_WRITE) as usize, flags as usize, usize::MAX, 0],
        )
    };
    if address < 0 {
        crate::threads::refuse_limited_memory();
        die("out of memory in the threadbare runtime");
    }
    address as *mut u8
}

/// Reserves memory at this very place. Says whether it could be had: not if anything is there already.
pub fn map_there(start: usize, bytes: usize) -> bool {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
    let protection = (libc::PROT_READ | libc::PROT_WRITE) as usize;
    // SAFETY: the kernel refuses if anything is mapped there.
    let got = unsafe { call(libc::SYS_mmap, [start, bytes, protection, flags as usize, usize::MAX, 0]) };
    got == start as isize
}

/// Gives the pages inside a range back, so that they read as zero again.
///
/// # Safety
/// The range must be private anonymous memory owned by the caller.
pub unsafe fn forget(start: usize, end: usize) {
    let (first, last) = (start.next_multiple_of(4096), end & !4095);
    if first < last {
        // SAFETY: as the caller vouches.
        unsafe { call(libc::SYS_madvise, [first, last - first, libc::MADV_DONTNEED as usize, 0, 0, 0]) };
    }
}

/// Whether the eight bytes around an address can be read.
pub fn is_readable(addr: usize) -> bool {
    // The kernel copies the new mask before it looks at what is to be done with it, and there is nothing of this number.
    const NOTHING: usize = usize::MAX;
    let mask = addr & !(size_of::<u64>() - 1);
    // SAFETY: changes nothing; memory that cannot be read is an error.
    let error = unsafe { call(libc::SYS_rt_sigprocmask, [NOTHING, mask, 0, size_of::<u64>(), 0, 0]) };
    error != -(libc::EFAULT as isize)
}

/// Writes all bytes to a descriptor, as far as it takes them.
pub fn write(fd: i32, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        // SAFETY: the slice is readable.
        let n =
            unsafe { call(libc::SYS_write, [fd as usize, bytes.as_ptr() as usize, bytes.len(), 0, 0, 0]) };
        match n {
            n if n > 0 => bytes = &bytes[n as usize..],
            n if n == -(libc::EINTR as isize) => {}
            _ => return,
        }
    }
}

/// Ends the process at once.
pub fn exit(status: i32) -> ! {
    loop {
        // SAFETY: exit_group has no precondition.
        unsafe { call(libc::SYS_exit_group, [status as usize, 0, 0, 0, 0, 0]) };
    }
}

/// Ends the process because the runtime itself cannot continue.
pub fn die(reason: &str) -> ! {
    write(2, b"threadbare runtime: ");
    write(2, reason.as_bytes());
    write(2, b"\n");
    exit(125)
}

/// Sleeps while `*word == value`.
///
/// # Safety
/// `word` must be readable for as long as the call lasts.
pub unsafe fn futex_wait(word: *const u32, value: u32) {
    // SAFETY: as the caller vouches.
    unsafe { call(libc::SYS_futex, [word as usize, libc::FUTEX_WAIT as usize, value as usize, 0, 0, 0]) };
}

/// Wakes everybody who sleeps on `word`.
///
/// # Safety
/// `word` must be a valid address.
pub unsafe fn futex_wake(word: *const u32) {
    // SAFETY: as the caller vouches.
    unsafe { call(libc::SYS_futex, [word as usize, libc::FUTEX_WAKE as usize, i32::MAX as usize, 0, 0, 0]) };
}

/// Copies the calling thread into a new process, past the C library's fork handlers.
///
/// # Safety
/// Only the calling thread exists in the copy.
pub unsafe fn fork() -> i32 {
    // SAFETY: as the caller vouches; no stack is given, so memory is copied.
    unsafe { copy(libc::SIGCHLD) }
}

/// As [`fork`], but the new process is a child of this one's parent.
///
/// # Safety
/// Only the calling thread exists in the copy.
pub unsafe fn fork_sibling() -> i32 {
    // SAFETY: as the caller vouches; no stack is given, so memory is copied as by fork.
    unsafe { copy(libc::CLONE_PARENT | libc::SIGCHLD) }
}

unsafe fn copy(flags: i32) -> i32 {
    // SAFETY: as the caller vouches.
    let child = unsafe { call(libc::SYS_clone, [flags as usize, 0, 0, 0, 0, 0]) as i32 };
    if child == 0 {
        crate::raw_system_calls::watch_again();
    }
    child
}

/// The number of this process, as the kernel knows it.
pub fn process() -> i32 {
    // SAFETY: has no precondition.
    unsafe { call(libc::SYS_getpid, [0; 6]) as i32 }
}
