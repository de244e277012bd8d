//! What the program asks of the system, apart from synchronization.

pub mod io;
pub mod poll;
pub mod promises;
pub mod streams;
pub mod strings;
pub mod syscall;
pub mod threads;
mod turn;
