//! The examples of the thesis, figure by figure.

mod affects;
mod graph;
mod manners;
mod race_checks;
mod table;
mod use_define;
mod variants;

use threadbare_trace::{Event, EventKind, ThreadId};

use super::{DataFlow, Location, Use, UseDefine};

pub(super) const X: u64 = 0x100;
pub(super) const Y: u64 = 0x200;
pub(super) const N: u64 = 0x300;
pub(super) const REF1: u64 = 0x400;
pub(super) const REF2: u64 = 0x500;
pub(super) const A: u64 = 0x1000;
pub(super) const B: u64 = 0x2000;

/// The events of a trace from lists of thread, line, kind and operand.
pub(super) fn trace(steps: &[(u16, u64, EventKind, u64)]) -> Vec<Event> {
    let mut ops = std::collections::HashMap::new();
    let event = |(thread, line, kind, operand): &(u16, u64, EventKind, u64)| {
        let op = ops.entry(*thread).or_insert(0u32);
        *op += u32::from(*kind != EventKind::Exit);
        let size = if kind.accesses_memory() { 8 } else { 0 };
        let is_thread = matches!(kind, EventKind::Create | EventKind::Join);
        let (addr, value) = if is_thread { (0, *operand) } else { (*operand, 0) };
        Event {
            pc: *line,
            addr,
            value,
            op: *op,
            thread: ThreadId(*thread),
            kind: *kind as u8,
            size,
            ..Event::default()
        }
    };
    steps.iter().map(event).collect()
}

/// The same, with the ends of all threads.
pub(super) fn ended(steps: &[(u16, u64, EventKind, u64)]) -> Vec<Event> {
    let threads: std::collections::BTreeSet<u16> = steps.iter().map(|it| it.0).collect();
    let ends = threads.into_iter().map(|thread| (thread, 0, EventKind::Exit, 0));
    trace(&steps.iter().copied().chain(ends).collect::<Vec<_>>())
}

pub(super) fn at(thread: u16, line: u64) -> Location {
    Location { thread: ThreadId(thread), site: line }
}

/// `ud(variable, use, define)`, each with its thread.
pub(super) fn ud(variable: u64, used: (u16, u64), defined: (u16, u64)) -> UseDefine {
    let used = Use { variable, at: at(used.0, used.1) };
    UseDefine { used, defined: Some(at(defined.0, defined.1)) }
}

/// Data flow by hand: which lines' reads decide which branches, and go into which lines' writes.
#[derive(Default)]
pub(super) struct Flow {
    pub(super) branches: Vec<(u64, Vec<u64>)>,
    pub(super) writes: Vec<(u64, Vec<u64>)>,
    pub(super) steers: Vec<u64>,
}

fn look_up(list: &[(u64, Vec<u64>)], site: u64) -> &[u64] {
    list.iter().find(|(it, _)| *it == site).map_or(&[], |(_, found)| found)
}

impl DataFlow for Flow {
    fn branches(&self, site: u64) -> &[u64] {
        look_up(&self.branches, site)
    }

    fn writes(&self, site: u64) -> &[u64] {
        look_up(&self.writes, site)
    }

    fn steers(&self, site: u64) -> bool {
        self.steers.contains(&site)
    }
}

/// The execution of §3.6, of the program in Figures 24 and 41.
pub(super) fn section_3_6() -> Vec<Event> {
    use EventKind::{Read, Write};
    trace(&[
        (1, 1, Read, X),
        (2, 10, Write, X),
        (1, 1, Read, Y),
        (1, 1, Write, N),
        (1, 2, Read, N),
        (2, 11, Write, Y),
        (1, 7, Read, Y),
        (2, 12, Read, X),
        (1, 0, EventKind::Exit, 0),
        (2, 0, EventKind::Exit, 0),
    ])
}

/// Its data flow: `n = x + y` in line 1, and the branch in line 2.
pub(super) fn flow_3_6() -> Flow {
    Flow { branches: vec![(2, vec![2])], writes: vec![(1, vec![1])], ..Flow::default() }
}

/// The execution of Figure 33; the third thread's `ref2 = ref1` comes last.
pub(super) fn figure_33() -> Vec<Event> {
    use EventKind::{Exit, Lock, Read, Unlock, Write};
    trace(&[
        (1, 1, Write, X),
        (1, 2, Write, Y),
        (1, 3, Read, X),
        (1, 3, Read, Y),
        (1, 3, Write, N),
        (1, 4, Read, N),
        (2, 20, Write, X),
        (2, 23, Write, REF2),
        (2, 25, Read, X),
        (2, 26, Lock, B),
        (2, 27, Read, REF2),
        (2, 28, Unlock, B),
        (3, 30, Read, REF1),
        (3, 30, Write, REF2),
        (1, 0, Exit, 0),
        (2, 0, Exit, 0),
        (3, 0, Exit, 0),
    ])
}

/// Its data flow: `n = x + y` in line 3, the branch in line 4, and `ref2.credit = 7` in line 27.
pub(super) fn flow_33() -> Flow {
    Flow { branches: vec![(4, vec![4])], writes: vec![(3, vec![3]), (30, vec![30])], steers: vec![27] }
}
