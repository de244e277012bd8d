//! Events and switches in one row.

use crate::{Event, SwitchRecord, ThreadId};

/// An event or a switch, by its index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Moment {
    /// A step of a thread.
    Event(usize),
    /// A context switch.
    Switch(usize),
}

/// Events and switches about in the order they happened.
///
/// A switch comes before the first event of the thread it leads to. That is near enough for a file that was cut to
/// have the switches it needs; which operations of the old thread were still made is for reports to say.
pub fn moments(events: &[Event], switches: &[SwitchRecord]) -> Vec<Moment> {
    let mut moments = Vec::with_capacity(events.len() + switches.len());
    let mut running = ThreadId::MAIN;
    let mut pending = switches.iter().enumerate();
    for (index, event) in events.iter().enumerate() {
        while event.thread != running {
            let Some((index, switch)) = pending.next() else { break };
            running = switch.to;
            moments.push(Moment::Switch(index));
        }
        moments.push(Moment::Event(index));
    }
    moments.extend(pending.map(|(index, _)| Moment::Switch(index)));
    moments
}
