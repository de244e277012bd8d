//! Which threads have to be tried in a state, where not all need to be: partial-order reduction on the graph of states.
//!
//! Steps that touch nothing in common can change places, so of their orders one is enough. Which threads a state needs is worked out
//! from what comes after it: if a thread was tried there, and later another one does something that conflicts with that step and that
//! the step did not have to come before, then somebody on the way to it has to be tried in the state as well. This is dynamic
//! partial-order reduction (Flanagan and Godefroid, "Dynamic Partial-Order Reduction for Model Checking Software", 2005).
//! That follows one execution at a time, and would miss what comes after a state in which an execution ends because it is known.
//! So, as in "Efficient Stateful Dynamic Partial Order Reduction" (Yang, Chen, Gopalakrishnan and Kirby, 2008), each state keeps what can come
//! after it, its *future*: every step that any execution has shown, with the threads and objects whose *past* in this state has
//! to come before it. What is new in a future is passed on to the states before.
//!
//! What a step does is read off its events. Where those may not be all, or where it matters how often something comes round, the
//! graph is given up, and every thread is tried in every state; see [`Irreducible`].

use std::collections::HashMap;
use std::hash::Hash;

use rustc_hash::FxHashMap;
use threadbare_detect::{Detector as _, HappensBefore};
use threadbare_target::Execution;
use threadbare_trace::{Event, EventKind, LockManner, Outcome, ThreadId, kinds};
use threadbare_wire::DecisionRecord;

/// Every thread has to be tried in every state, for this reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Irreducible(pub(crate) &'static str);

/// There are more than a set has bits for.
const TOO_MANY_THREADS: Irreducible = Irreducible("there are many threads");
/// The trace is not what the runtime writes.
const NOT_READ: Irreducible = Irreducible("its trace could not be read");
/// A state can be come to again.
pub(crate) const CIRCLE: Irreducible = Irreducible("the program can come back to a state");

/// A state that needs more threads.
pub(crate) struct Request {
    pub(crate) state: u64,
    /// The threads, a bit each.
    pub(crate) threads: u64,
}

/// Threads, a bit each.
type Threads = u64;

fn bit(thread: ThreadId) -> Result<Threads, Irreducible> {
    1u64.checked_shl(u32::from(thread.0)).ok_or(TOO_MANY_THREADS)
}

/// Something that steps can have in common: four bytes of memory, with the objects that begin there, or one of those below.
type Object = u64;

/// The numbers and stacks that threads are given, and which are free again once they are joined, or have been detached and end.
const ALL_THREADS: Object = 1 << 63;
/// Words that Rust's standard library uses without saying so.
const UNSEEN: Object = 1 << 62;
/// Blocks that were given back, and may be handed out again.
const HEAP: Object = 1 << 62 | 1;
/// Files and other descriptors.
const DESCRIPTORS: Object = 1 << 61;

fn life_of(thread: u64) -> Object {
    1 << 60 | thread
}

fn at(address: u64) -> Object {
    address >> 2
}

/// What a step does to an object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
struct Manner(u8);

impl Manner {
    const READ: Manner = Manner(1);
    const WRITE: Manner = Manner(2);
    /// It waits until nobody holds the object, and takes it.
    const ACQUIRE: Manner = Manner(4);
    /// It gives back what its thread held.
    const RELEASE: Manner = Manner(8);

    fn and(self, other: Manner) -> Manner {
        Manner(self.0 | other.0)
    }

    fn has(self, other: Manner) -> bool {
        self.0 & other.0 != 0
    }

    fn changes(self) -> bool {
        self.has(Manner::WRITE.and(Manner::ACQUIRE).and(Manner::RELEASE))
    }

    fn only_locks(self) -> bool {
        !self.has(Manner::READ.and(Manner::WRITE))
    }

    fn only_releases(self) -> bool {
        self.only_locks() && !self.has(Manner::ACQUIRE)
    }

    /// Whether it matters who comes first.
    fn conflicts(self, other: Manner) -> bool {
        // Who gives an object back holds it, so that nobody else can be about to take it, or to give it back.
        let are_apart =
            (self.only_releases() && other.only_locks()) || (self.only_locks() && other.only_releases());
        !are_apart && (self.changes() || other.changes())
    }
}

/// What a thread does from one decision to the next one, or to the step of another thread that nobody decided on.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Step {
    thread: ThreadId,
    /// It, and those that it creates.
    threads: Threads,
    accesses: Vec<(Object, Manner)>,
}

/// The threads and objects of which everything that they have done so far comes before a step in any order.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Past {
    threads: Threads,
    /// In order. If true, of what was done to the object reading counts, too.
    objects: Vec<(Object, bool)>,
}

impl Past {
    /// Whether this step, if it is the last one so far, is part of it.
    fn holds(&self, step: &Step) -> bool {
        let covers = |(object, manner): &(Object, Manner)| {
            let found = self.objects.binary_search_by_key(object, |(object, _)| *object);
            found.is_ok_and(|place| manner.changes() || self.objects[place].1)
        };
        self.threads & step.threads != 0 || step.accesses.iter().any(covers)
    }

    /// The same, seen from before the step.
    fn before(&self, step: &Step) -> Past {
        let mut past = Past { threads: self.threads | step.threads, objects: self.objects.clone() };
        for (object, manner) in &step.accesses {
            match past.objects.binary_search_by_key(object, |(object, _)| *object) {
                Ok(place) => past.objects[place].1 |= manner.changes(),
                Err(place) => past.objects.insert(place, (*object, manner.changes())),
            }
        }
        past
    }

    /// Whether less has to come before the step with this one.
    fn is_within(&self, other: &Past) -> bool {
        let has = |(object, reads): &(Object, bool)| {
            let found = other.objects.binary_search_by_key(object, |(object, _)| *object);
            found.is_ok_and(|place| !reads || other.objects[place].1)
        };
        self.threads & !other.threads == 0 && self.objects.iter().all(has)
    }
}

/// Things with numbers, each of them once.
struct Numbered<T> {
    all: Vec<T>,
    numbers: HashMap<T, u32>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Numbered<T> {
        Numbered { all: Vec::new(), numbers: HashMap::new() }
    }
}

impl<T: Clone + Eq + Hash> Numbered<T> {
    fn number(&mut self, thing: T) -> u32 {
        *self.numbers.entry(thing).or_insert_with_key(|thing| {
            self.all.push(thing.clone());
            self.all.len() as u32 - 1
        })
    }

    fn of(&self, number: u32) -> &T {
        &self.all[number as usize]
    }
}

/// A step that comes after a state, with what of the past has to come before it.
#[derive(Clone, Copy)]
struct Coming {
    step: u32,
    past: u32,
}

/// A state.
struct State {
    number: u64,
    enabled: Threads,
    /// Those that were tried, and those that have been asked for.
    wanted: Threads,
    /// What comes after it: each step with the least pasts.
    future: FxHashMap<u32, Vec<u32>>,
    /// The edges that lead here.
    before: Vec<u32>,
    /// Those that lead away, by thread.
    after: Vec<(ThreadId, u32)>,
}

/// What a decision leads to.
struct Edge {
    from: u32,
    /// The first one is the step that was decided on. Those that follow had no alternative.
    steps: Vec<u32>,
    /// None if the program ends.
    to: Option<u32>,
}

/// The graph of all states that were seen.
#[derive(Default)]
pub(crate) struct Reduction {
    states: Vec<State>,
    by_number: FxHashMap<u64, u32>,
    edges: Vec<Edge>,
    steps: Numbered<Step>,
    pasts: Numbered<Past>,
    /// By past and step: the past seen from before the step, if the step is part of it.
    seen_before: FxHashMap<(u32, u32), Option<u32>>,
    conflicts: FxHashMap<(u32, u32), bool>,
    /// All threads of an execution.
    all: Threads,
}

impl Reduction {
    /// Takes in an execution; gives what has to be tried besides.
    pub(crate) fn take_in(&mut self, run: &Execution) -> Result<Vec<Request>, Irreducible> {
        must_be_whole(run)?;
        must_be_free_of_races(run)?;
        let all = 1u64.checked_shl(run.threads).ok_or(TOO_MANY_THREADS)? - 1;
        if self.all != 0 && self.all != all {
            return Err(Irreducible("not every execution has the same number of threads"));
        }
        self.all = all;
        let path: Vec<u32> = run.decisions.iter().map(|decision| self.state(decision)).collect();
        let mut requests = Vec::new();
        // The last one first: then each state's future is known when the one before asks for it.
        for (place, decision) in run.decisions.iter().enumerate().rev() {
            let from = path[place];
            let (next, to) = (run.decisions.get(place + 1), path.get(place + 1).copied());
            if path[..place].contains(&from) {
                // It matters how often it comes round, and others could be left out for ever.
                return Err(CIRCLE);
            }
            // What is dead in a state and not looked at may be saved and looked at later, so there may be several.
            let is_known = |(thread, edge): &(ThreadId, u32)| {
                *thread == decision.chosen && self.edges[*edge as usize].to == to
            };
            if self.states[from as usize].after.iter().any(is_known) {
                continue;
            }
            let steps = steps(run, decision, next)?;
            let steps = steps.into_iter().map(|step| self.steps.number(step)).collect();
            self.states[from as usize].wanted |= bit(decision.chosen)?;
            self.add(decision.chosen, Edge { from, steps, to }, &mut requests)?;
        }
        Ok(requests)
    }

    /// Whether no state can be come to again.
    pub(crate) fn is_acyclic(&self) -> bool {
        let mut entries: Vec<usize> = self.states.iter().map(|state| state.before.len()).collect();
        let mut open: Vec<usize> = (0..entries.len()).filter(|state| entries[*state] == 0).collect();
        let mut done = 0;
        while let Some(state) = open.pop() {
            done += 1;
            for (_, edge) in &self.states[state].after {
                if let Some(to) = self.edges[*edge as usize].to {
                    entries[to as usize] -= 1;
                    if entries[to as usize] == 0 {
                        open.push(to as usize);
                    }
                }
            }
        }
        done == entries.len()
    }

    fn state(&mut self, decision: &DecisionRecord) -> u32 {
        *self.by_number.entry(decision.state).or_insert_with(|| {
            self.states.push(State {
                number: decision.state,
                enabled: decision.enabled,
                wanted: 0,
                future: FxHashMap::default(),
                before: Vec::new(),
                after: Vec::new(),
            });
            self.states.len() as u32 - 1
        })
    }

    fn add(&mut self, thread: ThreadId, edge: Edge, requests: &mut Vec<Request>) -> Result<(), Irreducible> {
        let number = self.edges.len() as u32;
        self.states[edge.from as usize].after.push((thread, number));
        let mut coming = Vec::new();
        for (place, step) in edge.steps.iter().enumerate() {
            let threads = bit(self.steps.of(*step).thread)?;
            let past = self.pasts.number(Past { threads, objects: Vec::new() });
            coming.push((number, place, Coming { step: *step, past }));
        }
        if let Some(to) = edge.to {
            self.states[to as usize].before.push(number);
            let steps = edge.steps.len();
            let future = self.states[to as usize].future.iter();
            let later =
                future.flat_map(|(step, pasts)| pasts.iter().map(|past| Coming { step: *step, past: *past }));
            coming.extend(later.map(|it| (number, steps, it)));
        }
        self.edges.push(edge);
        while let Some((edge, place, it)) = coming.pop() {
            self.pass_on(edge, place, it, &mut coming, requests)?;
        }
        Ok(())
    }

    /// Something is known to come at this place of an edge, or after it.
    fn pass_on(
        &mut self,
        edge: u32,
        place: usize,
        mut it: Coming,
        coming: &mut Vec<(u32, usize, Coming)>,
        requests: &mut Vec<Request>,
    ) -> Result<(), Irreducible> {
        let from = self.edges[edge as usize].from;
        for earlier in (0..place).rev() {
            let step = self.edges[edge as usize].steps[earlier];
            match self.seen_before(it.past, step) {
                Some(past) => it.past = past,
                None if earlier == 0 => self.see_conflict(from, step, it, requests)?,
                None => {}
            }
        }
        // Whatever comes first in that state, it is part of that.
        let is_settled = self.pasts.of(it.past).threads & self.all == self.all;
        if !is_settled && self.enter(from, it) {
            let before = &self.states[from as usize].before;
            coming.extend(before.iter().map(|edge| (*edge, self.edges[*edge as usize].steps.len(), it)));
        }
        Ok(())
    }

    /// A step was tried in a state although another one that comes later could come before it: somebody has to begin with that.
    fn see_conflict(
        &mut self,
        from: u32,
        step: u32,
        later: Coming,
        requests: &mut Vec<Request>,
    ) -> Result<(), Irreducible> {
        if !self.do_conflict(step, later.step) {
            return Ok(());
        }
        let state = &mut self.states[from as usize];
        let on_the_way = self.pasts.of(later.past).threads & state.enabled;
        let itself = bit(self.steps.of(later.step).thread)?;
        let threads = match on_the_way {
            0 => state.enabled & !state.wanted,
            some if some & state.wanted != 0 => 0,
            some if some & itself != 0 => itself,
            some => 1 << some.trailing_zeros(),
        };
        if threads != 0 {
            state.wanted |= threads;
            requests.push(Request { state: state.number, threads });
        }
        Ok(())
    }

    fn do_conflict(&mut self, one: u32, other: u32) -> bool {
        *self.conflicts.entry((one, other)).or_insert_with(|| {
            let accesses = |step: u32| &self.steps.all[step as usize].accesses;
            let manner = |object: &Object| {
                let found = accesses(other).binary_search_by_key(object, |(object, _)| *object);
                found.ok().map(|place| accesses(other)[place].1)
            };
            let conflicts =
                |(object, own): &(Object, Manner)| manner(object).is_some_and(|manner| own.conflicts(manner));
            accesses(one).iter().any(conflicts)
        })
    }

    /// A past seen from before a step, if that is part of it.
    fn seen_before(&mut self, past: u32, step: u32) -> Option<u32> {
        if let Some(known) = self.seen_before.get(&(past, step)) {
            return *known;
        }
        let (then, what) = (self.pasts.of(past), self.steps.of(step));
        let before = then.holds(what).then(|| then.before(what));
        let before = before.map(|before| self.pasts.number(before));
        self.seen_before.insert((past, step), before);
        before
    }

    /// Whether this is new in the state's future. What has more in its past asks for nothing else.
    fn enter(&mut self, state: u32, it: Coming) -> bool {
        let pasts = self.states[state as usize].future.entry(it.step).or_default();
        let new = self.pasts.of(it.past);
        if pasts.iter().any(|known| *known == it.past || self.pasts.of(*known).is_within(new)) {
            return false;
        }
        pasts.retain(|known| !new.is_within(self.pasts.of(*known)));
        pasts.push(it.past);
        true
    }
}

/// Whether an execution shows all that its threads do: it failed nowhere, nothing was cut, every thread came to its end, and no step went
/// unrecorded.
fn must_be_whole(run: &Execution) -> Result<(), Irreducible> {
    let ended = run.events.iter().filter(|event| event.kind() == Some(EventKind::Exit)).count();
    let reasons = [
        (run.outcome != Outcome::Passed, "an execution did not pass"),
        (ended + 1 != run.threads as usize, "threads were left when the program ended"),
        (run.leaves_code_unexplored, "not all code is explored"),
        (run.depended_on.iter().any(|it| it.kind.is_doubt()), "it depends on more than who runs when"),
        (
            run.decisions.iter().any(|it| it.irregular != 0),
            "a thread waits in a loop, or gives back another's lock",
        ),
    ];
    let reason = reasons.into_iter().find(|(is_so, _)| *is_so);
    reason.map_or(Ok(()), |(_, reason)| Err(Irreducible(reason)))
}

/// Accesses that race have to happen at the same time to be reported, so each order of them with anything else has to be run. If some race, those of some
/// execution do that every order of what conflicts is tried of.
fn must_be_free_of_races(run: &Execution) -> Result<(), Irreducible> {
    let mut detector = Box::new(HappensBefore::default());
    run.events.iter().enumerate().for_each(|(index, event)| detector.observe(index, event));
    if detector.findings().is_empty() { Ok(()) } else { Err(Irreducible("plain accesses race")) }
}

/// What was done from one decision to the next.
fn steps(
    run: &Execution,
    decision: &DecisionRecord,
    next: Option<&DecisionRecord>,
) -> Result<Vec<Step>, Irreducible> {
    let end = next.map_or(run.events.len(), |next| next.events as usize);
    let events = run.events.get(decision.events as usize..end).ok_or(NOT_READ)?;
    // What a detached thread had is free as soon as it ends.
    let detaches = run.events.iter().any(|event| event.kind() == Some(EventKind::Detach));
    let mut steps = vec![Unfinished::of(decision.chosen)?];
    for event in events.iter().filter(|event| event.kind().is_none_or(|kind| !kind.only_names())) {
        let own = bit(event.thread)?;
        let last = steps.last_mut().ok_or(NOT_READ)?;
        if event.kind() == Some(EventKind::Start) {
            last.threads |= own;
        } else if last.threads & own == 0 {
            steps.push(Unfinished::of(event.thread)?);
        }
        let last = steps.last_mut().ok_or(NOT_READ)?;
        last.take_in(event)?;
        if event.kind() == Some(EventKind::Exit) && detaches {
            last.does(ALL_THREADS, Manner::WRITE);
        }
    }
    steps[0].was_to_do(decision)?;
    // What is done after the last decision is not counted.
    let is_done = |count: fn(&DecisionRecord) -> u32| next.is_none_or(|next| count(next) != count(decision));
    let also = [
        (UNSEEN, Manner::WRITE, is_done(|it| it.unseen)),
        (HEAP, Manner::READ, is_done(|it| it.allocated)),
        (HEAP, Manner::WRITE, is_done(|it| it.freed)),
    ];
    let finished = steps.into_iter().map(|mut step| {
        also.iter().filter(|(.., is_so)| *is_so).for_each(|(object, manner, _)| step.does(*object, *manner));
        step.finish()
    });
    Ok(finished.collect())
}

/// A step that is being put together.
struct Unfinished {
    thread: ThreadId,
    threads: Threads,
    accesses: FxHashMap<Object, Manner>,
}

impl Unfinished {
    fn of(thread: ThreadId) -> Result<Unfinished, Irreducible> {
        Ok(Unfinished { thread, threads: bit(thread)?, accesses: FxHashMap::default() })
    }

    fn finish(self) -> Step {
        let mut accesses: Vec<_> = self.accesses.into_iter().collect();
        accesses.sort_unstable_by_key(|(object, _)| *object);
        Step { thread: self.thread, threads: self.threads, accesses }
    }

    fn does(&mut self, object: Object, manner: Manner) {
        let known = self.accesses.entry(object).or_default();
        *known = known.and(manner);
    }

    fn accesses(&mut self, address: u64, size: u64, manner: Manner) -> Result<(), Irreducible> {
        /// More is not worth the while.
        const LARGEST: u64 = 1 << 16;
        if size > LARGEST {
            return Err(Irreducible("threads share much memory"));
        }
        (at(address)..=at(address + size.max(1) - 1)).for_each(|object| self.does(object, manner));
        Ok(())
    }

    /// The thread was about to do this when it was chosen, and there need not be an event of it.
    fn was_to_do(&mut self, decision: &DecisionRecord) -> Result<(), Irreducible> {
        use EventKind::*;
        match EventKind::from_number(decision.kind).ok_or(NOT_READ)? {
            Read | ReadRange | AtomicRead | AtomicFailed => self.does(at(decision.object), Manner::READ),
            // Those are in the events, where they have happened.
            Create | Start | Exit | Join | Detach | End | Alloc | Frame | Fence => {}
            _ if self.accesses.contains_key(&at(decision.object)) => {}
            Write | WriteRange | AtomicWrite | AtomicUpdate | Free | Io => {
                self.does(at(decision.object), Manner::WRITE);
            }
            kinds!(lock | condition | barrier | semaphore | once | futex | object) => {
                self.does(at(decision.object), Manner::WRITE);
            }
            kinds!(pause) | JoinFailed | Cancel | Signal | Process | LibraryCall => {
                return Err(Irreducible(
                    "threads pause, or signals, cancellations or processes are involved",
                ));
            }
        }
        Ok(())
    }

    fn take_in(&mut self, event: &Event) -> Result<(), Irreducible> {
        use EventKind::*;
        let (address, size, value) = (event.addr, u64::from(event.size), event.value);
        match event.kind().ok_or(NOT_READ)? {
            Read | AtomicRead | AtomicFailed => self.accesses(address, size, Manner::READ)?,
            Write | AtomicWrite | AtomicUpdate => self.accesses(address, size, Manner::WRITE)?,
            ReadRange => self.accesses(address, value, Manner::READ)?,
            WriteRange | Free => self.accesses(address, value, Manner::WRITE)?,
            Lock => {
                let manner = LockManner::from_number(event.old);
                let waits = !manner.would_not_wait && !manner.is_robust;
                self.does(at(address), if waits { Manner::ACQUIRE } else { Manner::WRITE });
            }
            Unlock => self.does(at(address), if value == 0 { Manner::RELEASE } else { Manner::WRITE }),
            CondWait => {
                self.does(at(address), Manner::WRITE);
                self.does(at(value), Manner::RELEASE);
            }
            CondWake => {
                self.does(at(address), Manner::WRITE);
                self.does(at(value), Manner::ACQUIRE);
            }
            ReadLock | CondSignal | CondBroadcast | SemWait | SemPost | FutexWait | FutexWoken
            | FutexWake => {
                self.does(at(address), Manner::WRITE);
            }
            kinds!(barrier | once | object) => self.does(at(address), Manner::WRITE),
            Create | Detach if event.old == 0 => {
                self.does(ALL_THREADS, Manner::WRITE);
                self.does(life_of(value), Manner::WRITE);
            }
            Exit => self.does(life_of(u64::from(event.thread.0)), Manner::RELEASE),
            Join if event.old == 0 => {
                self.does(ALL_THREADS, Manner::WRITE);
                self.does(life_of(value), Manner::ACQUIRE);
            }
            Io => self.does(DESCRIPTORS, Manner::WRITE),
            Start | Fence | Alloc | Frame | End => {}
            // The clock moves, or somebody may notice what others hold.
            LockFailed | SemFailed | CondTimeout | FutexTimeout | JoinFailed | kinds!(pause) => {
                return Err(Irreducible("a wait ended by time, or was refused"));
            }
            Create | Join | Detach | Cancel | Signal | Process | LibraryCall => {
                return Err(Irreducible("signals, cancellations or processes are involved"));
            }
        }
        Ok(())
    }
}
