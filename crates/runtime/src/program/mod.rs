//! What the program asks of the system, apart from synchronization.

mod blocking_call;
mod duplicates;
pub mod io;
pub mod poll;
pub mod promises;
pub mod pthreads;
mod sockets;
pub mod streams;
pub mod strings;
pub mod syscall;
pub mod timer_descriptors;
