//! What all detectors have in common.

use threadbare_trace::Event;

use crate::finding::Finding;

/// Reads a trace step by step. What it keeps grows with the memory and the locks that are alive, not
/// with the length of the trace.
pub trait Detector {
    /// The name of the detector.
    fn name(&self) -> &'static str;

    /// Takes in the next step of the trace, which is at this place in it.
    fn observe(&mut self, index: usize, event: &Event);

    /// What was found.
    fn findings(self: Box<Self>) -> Vec<Finding>;
}
