//! Memory cut into the pieces that accesses have in common.

use std::ops::Range;

use crate::{Event, EventKind, kinds};

/// The pieces of memory, and which variable each is at the moment.
pub(super) struct Cells {
    /// Where pieces begin or end, in order.
    bounds: Vec<u64>,
    /// The variable of the piece that begins at each bound, counted from 1.
    variables: Vec<Option<usize>>,
    names: Vec<Name>,
}

struct Name {
    text: String,
    /// It is the name of an access that began with the piece, not of one around it.
    exact: bool,
}

/// The bytes of an access; none for other events.
fn extent(event: &Event) -> Option<Range<u64>> {
    use EventKind::*;
    let length = match event.kind()? {
        ReadRange | WriteRange => event.value,
        Free => return None,
        Read | Write | kinds!(atomic) => u64::from(event.size).max(1),
        Alloc | Fence | Signal | Frame => return None,
        kinds!(lock | condition | barrier | semaphore | once | futex | thread) => return None,
        kinds!(object | pause | outside) => return None,
    };
    Some(event.addr..event.addr.saturating_add(length))
}

impl Cells {
    /// Cuts memory at the ends of all accesses.
    pub fn of(events: &[Event]) -> Cells {
        let extents = events.iter().filter_map(extent);
        let mut bounds: Vec<u64> = extents.flat_map(|extent| [extent.start, extent.end]).collect();
        bounds.sort_unstable();
        bounds.dedup();
        Cells { variables: vec![None; bounds.len()], bounds, names: Vec::new() }
    }

    /// The variables an access covers, and where each begins.
    pub fn covered(&mut self, event: &Event, name: &str) -> Vec<(usize, u64)> {
        let Some(extent) = extent(event) else { return Vec::new() };
        let cells = self.between(extent.start, extent.end);
        let number = |cell: usize| {
            let start = self.bounds[cell];
            let next = self.names.len() + 1;
            let variable = *self.variables[cell].get_or_insert(next);
            let offset = start - extent.start;
            if variable == next {
                let text = if offset == 0 { name.to_string() } else { format!("{name}, byte {offset}") };
                self.names.push(Name { text, exact: offset == 0 });
            } else if offset == 0 && !self.names[variable - 1].exact {
                self.names[variable - 1] = Name { text: name.to_string(), exact: true };
            }
            (variable, start)
        };
        cells.map(number).collect()
    }

    /// The variables that are in use in a block.
    pub fn in_use(&self, start: u64, length: u64) -> Vec<usize> {
        let cells = self.between(start, start.saturating_add(length.max(1)));
        cells.filter_map(|cell| self.variables[cell]).collect()
    }

    /// Takes note that memory is used for something else from now on.
    pub fn forget(&mut self, start: u64, length: u64) {
        let cells = self.between(start, start.saturating_add(length.max(1)));
        self.variables[cells].fill(None);
    }

    /// What a variable is called.
    pub fn name(&self, variable: usize) -> &str {
        &self.names[variable - 1].text
    }

    /// All variables by number, from 1.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|name| name.text.as_str())
    }

    /// The pieces that begin in a range.
    fn between(&self, start: u64, end: u64) -> Range<usize> {
        let place = |address: u64| self.bounds.partition_point(|bound| *bound < address);
        place(start)..place(end)
    }
}
