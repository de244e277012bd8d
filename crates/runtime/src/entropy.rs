//! Randomness for the program: the same in every run.

use std::ffi::{c_int, c_uint, c_void};

use threadbare_sched::Rng;

use crate::engine::engine;
use crate::interpose::interpose;
use crate::sys;

/// The generator behind the program's random numbers.
#[derive(Clone)]
pub struct Entropy(Rng);

impl Default for Entropy {
    fn default() -> Entropy {
        Entropy(Rng::new(0x7468_7265_6164))
    }
}

/// Fills memory with random bytes.
///
/// # Safety
/// The memory must be writable.
pub unsafe fn fill(place: *mut c_void, bytes: usize) {
    for index in 0..bytes {
        // SAFETY: as the caller vouches.
        unsafe { *place.cast::<u8>().add(index) = engine().world.entropy.borrow_mut().0.next_u64() as u8 };
    }
}

/// Replaces the bytes that the system gives every program to begin with. The C library has used them already, for what the program does
/// not see.
pub fn init() {
    const BYTES: usize = 16;
    // SAFETY: the system has put them there, on the stack.
    unsafe {
        let place = libc::getauxval(libc::AT_RANDOM) as *mut c_void;
        if !place.is_null() {
            fill(place, BYTES);
        }
    }
}

/// Whether reading from a descriptor, which is about to happen, gives random bytes.
pub fn is_read_from(fd: c_int) -> bool {
    let is_source = is_source(fd);
    if is_source {
        crate::dependences::note_random_bytes(crate::interpose::site());
    }
    is_source
}

/// Whether it is `/dev/random` or `/dev/urandom`, however it came about.
fn is_source(fd: c_int) -> bool {
    const MAJOR: u32 = 1;
    const MINORS: [u32; 2] = [8, 9];
    // SAFETY: the record is filled if the call succeeds.
    unsafe {
        let mut status: libc::stat = std::mem::zeroed();
        let found = sys::call(libc::SYS_fstat, [fd as usize, (&raw mut status) as usize, 0, 0, 0, 0]) == 0;
        found
            && status.st_mode & libc::S_IFMT == libc::S_IFCHR
            && libc::major(status.st_rdev) == MAJOR
            && MINORS.contains(&libc::minor(status.st_rdev))
    }
}

/// A random byte.
pub fn byte() -> c_int {
    (next() & 0xff) as c_int
}

fn next() -> u32 {
    engine().world.entropy.borrow_mut().0.next_u64() as u32
}

interpose! {
    /// Random bytes.
    fn getrandom(place: *mut c_void, bytes: usize, flags: c_uint) -> isize {
        fill(place, bytes);
        bytes as isize
    }
    /// Random bytes.
    fn getentropy(place: *mut c_void, bytes: usize) -> c_int {
        fill(place, bytes);
        0
    }
    /// A random number.
    fn arc4random() -> u32 { next() }
    /// Random bytes.
    fn arc4random_buf(place: *mut c_void, bytes: usize) { fill(place, bytes) }
    /// A random number below a bound.
    fn arc4random_uniform(bound: u32) -> u32 { if bound == 0 { 0 } else { next() % bound } }
    /// `std::random_device`'s numbers come from the processor otherwise.
    fn _ZNSt13random_device9_M_getvalEv(device: *mut c_void) -> c_uint { next() }
}
