//! Which use-defines decide a branch (Algorithm 3).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use threadbare_happens_before::AccessedBytes;
use threadbare_trace::{Event, ThreadId};

use super::operation::Location;
use super::use_define::{UseDefine, UseDefines};

/// Where values go between memory and branches, as the program's code says. Sites are those of events.
pub trait DataFlow {
    /// The branches that a value read at this site may decide.
    fn branches(&self, site: u64) -> &[u64];

    /// The sites of the writes into whose values a value read at this site may go.
    fn writes(&self, site: u64) -> &[u64];

    /// Whether a value read at this site may decide which memory, lock or file a step is about.
    fn steers(&self, site: u64) -> bool;
}

/// `b(i,j)`: a branch that a thread came to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BranchInstance {
    /// The branch and who came to it.
    pub at: Location,
    /// How often it had come to it before.
    pub instance: u32,
    /// The last read that decides it.
    pub decided_by: usize,
}

/// The branches of an execution that reads decide, in the order in which they are decided.
///
/// Branches themselves leave no events. A thread comes to a branch anew when it makes a read again that decides it.
pub fn branch_instances(events: &[Event], flow: &dyn DataFlow) -> Vec<BranchInstance> {
    struct Latest {
        place: usize,
        sites: BTreeSet<(u64, u64)>,
        count: u32,
    }
    let mut found: Vec<BranchInstance> = Vec::new();
    let mut latest: HashMap<(ThreadId, u64), Latest> = HashMap::new();
    for (index, event) in events.iter().enumerate() {
        if !event.kind().and_then(|kind| AccessedBytes::of(event, kind)).is_some_and(|touch| touch.reads) {
            continue;
        }
        for branch in flow.branches(event.pc) {
            let read = (event.pc, event.addr);
            let at = Location { thread: event.thread, site: *branch };
            if let Some(known) = latest.get_mut(&(event.thread, *branch))
                && known.sites.insert(read)
            {
                found[known.place].decided_by = index;
                continue;
            }
            let count = latest.get(&(event.thread, *branch)).map_or(0, |known| known.count + 1);
            let (place, sites) = (found.len(), BTreeSet::from([read]));
            found.push(BranchInstance { at, instance: count, decided_by: index });
            latest.insert((event.thread, *branch), Latest { place, sites, count });
        }
    }
    found.sort_by_key(|it| it.decided_by);
    found
}

/// `BranchRelUD(b, V)` (Algorithm 3): the use-defines of shared variables that decide a branch, directly or through other memory.
pub fn branch_related(
    branch: &BranchInstance,
    seen: &UseDefines,
    flow: &dyn DataFlow,
) -> BTreeSet<UseDefine> {
    let mut search = Search::new(branch, seen, flow);
    let (thread, site) = (branch.at.thread, branch.at.site);
    let sources: Vec<Location> = search.reads.keys().copied().collect();
    for at in sources {
        if at.thread == thread && flow.branches(at.site).contains(&site) {
            search.include(at, branch.decided_by + 1);
        }
    }
    search.run();
    search.related.into_iter().filter(|it| seen.is_shared(it.used.variable)).collect()
}

struct Search<'a> {
    branch: &'a BranchInstance,
    seen: &'a UseDefines,
    /// The reads at each location, as places among the instances.
    reads: BTreeMap<Location, Vec<usize>>,
    /// The reads whose values go into a write, by the write.
    sources: HashMap<Location, Vec<Location>>,
    /// The event before which reads at a location are taken in already.
    bounds: HashMap<Location, usize>,
    open: Vec<(Location, usize)>,
    related: BTreeSet<UseDefine>,
}

impl<'a> Search<'a> {
    fn new(branch: &'a BranchInstance, seen: &'a UseDefines, flow: &dyn DataFlow) -> Search<'a> {
        let mut reads: BTreeMap<Location, Vec<usize>> = BTreeMap::new();
        for (place, instance) in seen.instances.iter().enumerate() {
            reads.entry(seen.location(instance.used)).or_default().push(place);
        }
        let mut sources: HashMap<Location, Vec<Location>> = HashMap::new();
        for at in reads.keys() {
            for site in flow.writes(at.site) {
                sources.entry(Location { thread: at.thread, site: *site }).or_default().push(*at);
            }
        }
        let (bounds, open, related) = (HashMap::new(), Vec::new(), BTreeSet::new());
        Search { branch, seen, reads, sources, bounds, open, related }
    }

    /// Takes in the reads at a location that come before an event.
    fn include(&mut self, at: Location, before: usize) {
        let bound = self.bounds.entry(at).or_insert(0);
        if *bound < before {
            self.open.push((at, std::mem::replace(bound, before)));
        }
    }

    fn run(&mut self) {
        while let Some((at, from)) = self.open.pop() {
            let to = self.bounds[&at];
            let places = self.reads.get(&at).cloned().unwrap_or_default();
            for place in places {
                let instance = self.seen.instances[place];
                if !(from..to).contains(&instance.used) || self.is_after_branch(instance.used) {
                    continue;
                }
                self.related.insert(self.seen.by_location(&instance));
                let Some(define) = instance.defined.filter(|it| !self.is_after_branch(*it)) else { continue };
                for source in self.sources.get(&self.seen.location(define)).cloned().unwrap_or_default() {
                    // What reads and writes in one event goes into its own value.
                    self.include(source, define + 1);
                }
            }
        }
    }

    fn is_after_branch(&self, event: usize) -> bool {
        self.seen.location(event).thread == self.branch.at.thread && event > self.branch.decided_by
    }
}
