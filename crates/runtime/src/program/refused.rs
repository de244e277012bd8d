//! Ways for threads and processes to wait for each other that nobody controls: whoever uses one is told so by name.

use std::ffi::{CStr, c_char, c_int, c_void};

use crate::engine::engine;
use crate::interpose::interpose;
use crate::shared_memory::unsupported;

interpose! {
    /// System V semaphores live in the kernel, and outlive the process.
    fn semget(key: c_int, count: c_int, flags: c_int) -> c_int {
        unsupported("System V semaphores (semget)")
    }
    /// System V message queues live in the kernel, and outlive the process.
    fn msgget(key: c_int, flags: c_int) -> c_int {
        unsupported("System V message queues (msgget)")
    }
    /// So does System V shared memory.
    fn shmget(key: c_int, bytes: usize, flags: c_int) -> c_int {
        unsupported("System V shared memory (shmget)")
    }
    /// And queues of messages that have a name.
    fn mq_open(name: *const c_char, flags: c_int, mode: libc::mode_t, attributes: *const c_void) -> c_int {
        unsupported("POSIX message queues (mq_open)")
    }
}

/// Ends the program if code at this place makes threads of which nobody sees how they wait.
pub fn refuse_threads_of(pc: u64) {
    if engine().world.libraries().is_of_executable(pc) {
        // To ask the loader would cost each execution a dozen pages.
        return;
    }
    let mut info = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: the loader fills in the record, or says that it knows nothing; its texts stay as long as the library does.
    let is_openmp = unsafe {
        libc::dladdr(pc as *const c_void, info.as_mut_ptr()) != 0 && {
            let file = (*info.as_ptr()).dli_fname;
            !file.is_null() && CStr::from_ptr(file).to_string_lossy().contains("libgomp")
        }
    };
    if is_openmp {
        unsupported("OpenMP by GCC's library (libgomp), whose threads wait in system calls that nobody sees");
    }
}
