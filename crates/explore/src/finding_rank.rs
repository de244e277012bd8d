//! Which findings would not be there without another one, and which come first.
//!
//! Where a pointer is handed over without synchronization, all that it leads to is accessed without any: those are
//! consequences of one fault, and are reported after it.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use threadbare_detect::Finding;
use threadbare_target::Execution;
use threadbare_trace::{Event, EventKind};

use crate::check::Examined;

/// Puts those first that make the program fail, then those that follow from no other one, then those that are confirmed or happened; and says
/// what the others follow from.
pub(crate) fn rank(findings: &mut [Examined]) {
    let mut pointers = Pointers::default();
    let origins: Vec<Option<usize>> =
        (0..findings.len()).map(|at| origin(findings, at, &mut pointers)).collect();
    let key = |at: usize| {
        let examined: &Examined = &findings[at];
        (!examined.fails, origins[at].is_some(), !examined.is_confirmed(), examined.confirmed.is_none())
    };
    let mut order: Vec<usize> = (0..findings.len()).collect();
    order.sort_by_key(|at| key(*at));
    let mut places = vec![0; findings.len()];
    order.iter().enumerate().for_each(|(now, was)| places[*was] = now);
    for (examined, origin) in findings.iter_mut().zip(&origins) {
        examined.follows_from = origin.map(|was| places[was]);
    }
    for at in 0..findings.len() {
        while places[at] != at {
            let to = places[at];
            findings.swap(at, to);
            places.swap(at, to);
        }
    }
}

/// The finding about the pointer that leads to this one's memory.
fn origin(findings: &[Examined], at: usize, pointers: &mut Pointers) -> Option<usize> {
    let Examined { finding, run, .. } = &findings[at];
    let block = pointers.block_of(finding, run)?;
    let sites = pointers.into(&block, run);
    (0..findings.len()).find(|other| {
        let known = &findings[*other].finding;
        *other != at
            && known.object != finding.object
            && known.accesses.len() > 1
            && known.accesses.iter().all(|access| sites.contains(&access.pc))
    })
}

/// A heap block.
type Block = Range<u64>;

/// What executions show of pointers into heap blocks. Many findings are about the same few blocks of the same execution.
#[derive(Default)]
struct Pointers {
    /// The blocks of each execution, in the order in which they were handed out.
    blocks: HashMap<*const Execution, Vec<Block>>,
    /// The code that reads or writes pointers into a block.
    into: HashMap<(*const Execution, Block), Rc<HashSet<u64>>>,
}

impl Pointers {
    /// The heap block that a finding is about.
    fn block_of(&mut self, finding: &Finding, run: &Arc<Execution>) -> Option<Block> {
        let blocks = self.blocks.entry(Arc::as_ptr(run)).or_insert_with(|| {
            let allocations = run.events.iter().filter(|event| event.kind() == Some(EventKind::Alloc));
            allocations.map(|event| event.addr..event.addr.saturating_add(event.value.max(1))).collect()
        });
        blocks.iter().find(|block| block.contains(&finding.object)).cloned()
    }

    /// The code that reads or writes, in other memory, pointers into a block.
    fn into(&mut self, block: &Block, run: &Arc<Execution>) -> Rc<HashSet<u64>> {
        let sites = self.into.entry((Arc::as_ptr(run), block.clone())).or_insert_with(|| {
            let points_there = |event: &&Event| {
                event.size == 8
                    && block.contains(&event.value)
                    && !block.contains(&event.addr)
                    && event.kind().is_some_and(EventKind::accesses_memory)
            };
            Rc::new(run.events.iter().filter(points_there).map(|event| event.pc).collect())
        });
        Rc::clone(sites)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use threadbare_detect::{Access, Certainty, FindingKind};
    use threadbare_target::Execution;
    use threadbare_trace::{Failure, FailureKind, ThreadId};

    use super::*;

    fn event(pc: u64, kind: EventKind, addr: u64, value: u64) -> Event {
        Event { pc, kind: kind as u8, addr, value, size: 8, ..Event::default() }
    }

    fn examined(object: u64, sites: [u64; 2], run: &Arc<Execution>, happened: bool) -> Examined {
        let access = |pc| Access::of(0, &event(pc, EventKind::Read, object, 0), EventKind::Read);
        Examined {
            finding: Finding {
                kind: FindingKind::Race,
                certainty: Certainty::Predicted,
                pattern: None,
                object,
                at: 0,
                accesses: sites.map(access).to_vec(),
                locks: Vec::new(),
                count: 1,
            },
            run: Arc::clone(run),
            confirmed: happened.then(|| Arc::clone(run)),
            fails: false,
            follows_from: None,
        }
    }

    #[test]
    fn what_a_racing_pointer_leads_to_follows_from_it() {
        use EventKind::*;
        let (pointer, block) = (0x100, 0x9000);
        let failure = Failure {
            kind: FailureKind::Abort,
            message: String::new(),
            thread: ThreadId(0),
            stack: Vec::new(),
        };
        let mut run = Execution::before_threads(failure, String::new());
        run.events = vec![
            event(1, Alloc, block, 64),
            event(2, Write, block + 8, 5),
            event(3, Write, pointer, block),
            event(4, Read, pointer, block),
            event(5, Read, block + 8, 5),
        ];
        let run = Arc::new(run);
        let mut findings = vec![
            examined(block + 8, [2, 5], &run, true),
            examined(0x500, [7, 8], &run, false),
            examined(pointer, [3, 4], &run, true),
        ];
        rank(&mut findings);
        let ranked: Vec<_> = findings.iter().map(|it| (it.finding.object, it.follows_from)).collect();
        assert_eq!(ranked, [(pointer, None), (0x500, None), (block + 8, Some(0))]);
    }
}
