//! Many inputs of one program, without repeating the work: measure which functions can run at the same time under each input, select
//! inputs and functions that together show every such pair, and look for races and atomicity violations only there.

mod measure;
mod watch;

pub use measure::{Measured, measure};
pub use watch::{Optimizations, Watch};
