//! Ways for threads and processes to wait for each other that nobody controls: whoever uses one is told so by name.

use std::ffi::{c_char, c_int, c_void};

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
