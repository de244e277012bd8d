//! Reading and writing descriptors, as far as a trace records them.

use threadbare_trace::Event;

/// What is awaited of a descriptor, as the system numbers it.
const INPUT: u64 = 1;
const OUTPUT: u64 = 4;

/// Whether the step takes what was written to a descriptor, or learns that it is there. Which descriptors belong together
/// is not known, so a read comes after all writes.
pub fn is_input(event: &Event) -> bool {
    event.value & INPUT != 0 || event.value == 0 && event.addr == 0
}

/// Whether the step writes to a descriptor, or closes it.
pub fn is_output(event: &Event) -> bool {
    event.value & OUTPUT != 0 || event.value == 0 && event.addr != 0
}
