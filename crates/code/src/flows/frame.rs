//! Follows values through the slots of a function's frame.
//!
//! Where nobody knows which slot is meant, all that can be are. In a frame with many slots that is too much to follow: what is
//! stored somewhere is then taken to be everywhere, at any time.

use std::ops::Range;

use super::graph::{CLEAN, Name, Node};
use super::instructions::Wiring;
use super::places::Place;

impl Wiring<'_> {
    /// How many slots a frame may have whose slots are distinguished when it is unknown which is meant.
    const FEW: usize = 48;

    /// Prepares for a frame with many slots.
    pub(super) fn open_wide(&mut self) {
        if self.known.slots.all().len() <= Self::FEW {
            return;
        }
        let (stored, somewhere) = (self.graph.node(), self.graph.node());
        self.graph.flow(somewhere, stored);
        for (start, _) in self.known.slots.given(self.convention) {
            let given = self.graph.named(Name::GivenOnStack(self.number, start));
            self.graph.flow(given, stored);
        }
        self.wide = Some((stored, somewhere));
    }

    /// What slots hold.
    pub(super) fn read_slots(&mut self, slots: Range<Place>) -> Vec<Node> {
        let mut nodes: Vec<Node> = slots.map(|slot| self.read(slot)).collect();
        nodes.extend(self.wide.map(|(_, somewhere)| somewhere));
        nodes
    }

    /// Lets slots hold something else.
    pub(super) fn write_slots(&mut self, slots: Range<Place>, node: Node) {
        for slot in slots {
            self.write(slot, node);
        }
        if let Some((stored, _)) = self.wide {
            self.graph.flow(node, stored);
        }
    }

    /// What some of these slots hold.
    pub(super) fn read_somewhere(&mut self, slots: Range<Place>) -> Vec<Node> {
        match self.wide {
            Some((stored, _)) => vec![stored],
            None => slots.map(|slot| self.read(slot)).collect(),
        }
    }

    /// Lets some of these slots hold something else.
    pub(super) fn write_somewhere(&mut self, slots: Range<Place>, node: Node) {
        match self.wide {
            _ if node == CLEAN => {}
            Some((_, somewhere)) => self.graph.flow(node, somewhere),
            None => slots.for_each(|slot| self.blend(slot, node)),
        }
    }
}
