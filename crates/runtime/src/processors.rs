//! The processors that the program may run on. The driver binds the server to one of them, and copies shall not notice.

use std::ffi::c_int;

use crate::engine::engine;
use crate::sys;

/// As many as the kernel knows of anywhere.
const MOST: usize = 8192;

/// Where the program may run.
pub struct Processors {
    /// A bit for each of them. Not on the stack: every copy pays for the pages of it that are in use.
    set: Vec<u64>,
    bytes: usize,
}

impl Processors {
    /// Where it may now.
    pub fn look() -> Processors {
        let mut set = vec![0; MOST / 64];
        // SAFETY: the kernel fills in the set and says how many bytes of it.
        let bytes = unsafe {
            let place = set.as_mut_ptr() as usize;
            sys::call(libc::SYS_sched_getaffinity, [0, size_of_val(set.as_slice()), place, 0, 0, 0])
        };
        Processors { set, bytes: bytes.max(0) as usize }
    }

    /// In a copy: lets it run there again.
    pub fn renew(&self) {
        if engine().shared.control().is_bound != 0 && self.bytes != 0 {
            let place = self.set.as_ptr() as usize;
            // SAFETY: the set is as long as is said.
            unsafe { sys::call(libc::SYS_sched_setaffinity, [0, self.bytes, place, 0, 0, 0]) };
        }
    }
}

/// What the kernel would answer who wants a thread of this process to run on these processors: an error number.
///
/// # Safety
/// So many bytes of the set must be readable.
pub unsafe fn refused(set: *const u8, bytes: usize) -> c_int {
    let allowed = Processors::look();
    let allowed = allowed.set.iter().flat_map(|word| word.to_ne_bytes());
    // SAFETY: as the caller vouches.
    let wanted = unsafe { std::slice::from_raw_parts(set, bytes) };
    if wanted.iter().zip(allowed).any(|(wanted, allowed)| wanted & allowed != 0) { 0 } else { libc::EINVAL }
}

/// Attributes say that a thread may run wherever this process may.
///
/// # Safety
/// The attributes must be initialised.
pub unsafe fn write_to(attributes: *mut libc::pthread_attr_t) {
    unsafe extern "C" {
        fn pthread_attr_setaffinity_np(
            attributes: *mut libc::pthread_attr_t,
            bytes: usize,
            set: *const u64,
        ) -> c_int;
    }
    let allowed = Processors::look();
    // SAFETY: as the caller vouches; the set is as long as is said.
    unsafe { pthread_attr_setaffinity_np(attributes, allowed.bytes, allowed.set.as_ptr()) };
}
