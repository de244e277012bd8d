//! The x86-64 side of the runtime.

mod switch;

pub use switch::{StackPointer, abandon_stack, call_on_stack, init, prepare, switch, thread_pointer};
