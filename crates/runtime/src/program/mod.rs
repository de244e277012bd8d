//! What the program asks of the system, apart from synchronization.

mod blocking_call;
pub mod io;
pub mod poll;
pub mod promises;
pub mod pthreads;
pub mod streams;
pub mod strings;
pub mod syscall;
