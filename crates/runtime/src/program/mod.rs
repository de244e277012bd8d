//! What the program asks of the system, apart from synchronization.

mod blocking_call;
mod duplicates;
mod file_locks;
mod glib;
mod identities;
pub mod io;
pub mod openmp;
pub mod poll;
pub mod promises;
pub mod pthreads;
mod refused;
mod sockets;
pub mod streams;
pub mod strings;
pub mod syscall;
pub mod timer_descriptors;
