//! What the steps of a trace can do in other orders, by trying all of them. Written from the meaning of the events, and
//! of nothing else.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use threadbare_trace::{Event, EventKind};

use super::{reads, seen, writes};

/// What shall happen, in terms of events.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Wish {
    /// This read sees this value.
    Sees(usize, u64),
    /// These happen in this order.
    InOrder(Vec<usize>),
    /// So they do, and nobody writes between neighbours on one variable.
    Pattern(Vec<usize>),
    /// No thread is enabled.
    Deadlock,
}

impl Wish {
    fn events(&self) -> &[usize] {
        match self {
            Wish::Sees(read, _) => std::slice::from_ref(read),
            Wish::InOrder(events) | Wish::Pattern(events) => events,
            Wish::Deadlock => &[],
        }
    }
}

/// The steps of a trace, by thread: each is a list of events.
pub struct Oracle {
    events: Vec<Event>,
    threads: Vec<Vec<Vec<usize>>>,
    initial: BTreeMap<u64, u64>,
    tokens: BTreeMap<u64, u64>,
    lifetimes: Vec<usize>,
    needed: usize,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct Queue {
    /// Waiting threads and wake-ups, in the order they came; a thread is `Some`.
    line: Vec<Option<usize>>,
}

impl Queue {
    fn waiters(&self) -> usize {
        self.line.iter().flatten().count()
    }

    fn wake(&mut self, all: bool) {
        let permits = self.line.len() - self.waiters();
        let unserved = self.waiters() - permits;
        let woken = if all { unserved } else { unserved.min(1) };
        self.line.extend(std::iter::repeat_n(None, woken));
    }

    fn leave(&mut self, thread: usize) -> bool {
        let Some(place) = self.line.iter().position(|who| *who == Some(thread)) else { return false };
        let Some(permit) = self.line[place..].iter().position(Option::is_none) else { return false };
        self.line.remove(place + permit);
        self.line.remove(place);
        // Wake-ups for which nobody is left are lost.
        while self.line.first() == Some(&None) {
            self.line.remove(0);
        }
        true
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct State {
    next: Vec<usize>,
    surprised: Vec<bool>,
    memory: BTreeMap<u64, Option<u64>>,
    owner: BTreeMap<u64, usize>,
    readers: BTreeMap<u64, Vec<usize>>,
    queues: BTreeMap<u64, Queue>,
    tokens: BTreeMap<u64, u64>,
    created: BTreeSet<usize>,
    ended: BTreeSet<usize>,
    arrived: usize,
    rounds: u64,
    lifetimes: BTreeMap<u64, usize>,
    /// How many of the wished events have happened.
    progress: usize,
    fulfilled: bool,
}

impl Oracle {
    pub fn new(events: &[Event], needed: usize) -> Oracle {
        // Some may have been created and have done nothing.
        let created = events.iter().filter(|event| event.kind() == Some(EventKind::Create));
        let created = created.map(|event| event.value as usize);
        let threads = events.iter().map(|event| event.thread.index()).chain(created);
        let threads = threads.map(|index| index + 1).max().unwrap_or(0);
        let mut steps: Vec<Vec<Vec<usize>>> = vec![Vec::new(); threads];
        let (mut initial, mut tokens) = (BTreeMap::new(), BTreeMap::new());
        let mut frees: BTreeMap<u64, usize> = BTreeMap::new();
        let mut lifetimes = Vec::new();
        for (index, event) in events.iter().enumerate() {
            let steps = &mut steps[event.thread.index()];
            match steps.last_mut() {
                Some(step) if events[step[0]].op == event.op => step.push(index),
                _ => steps.push(vec![index]),
            }
            if reads(event) || writes(event) {
                let before = if reads(event) { seen(event) } else { event.old };
                initial.entry(event.addr).or_insert(before);
            }
            match event.kind() {
                Some(EventKind::SemWait) => {
                    tokens.entry(event.addr).or_insert(event.value + 1);
                }
                Some(EventKind::SemPost) => {
                    tokens.entry(event.addr).or_insert(event.value - 1);
                }
                _ => {}
            }
            lifetimes.push(frees.get(&event.addr).copied().unwrap_or(0));
            if event.kind() == Some(EventKind::Free) {
                *frees.entry(event.addr).or_default() += 1;
            }
        }
        Oracle { events: events.to_vec(), threads: steps, initial, tokens, lifetimes, needed }
    }

    pub fn start(&self) -> State {
        let count = self.threads.len();
        let creates = |thread: usize| {
            let is_it =
                |event: &Event| event.kind() == Some(EventKind::Create) && event.value == thread as u64;
            self.events.iter().any(is_it)
        };
        State {
            next: vec![0; count],
            surprised: vec![false; count],
            memory: self.initial.iter().map(|(x, value)| (*x, Some(*value))).collect(),
            tokens: self.tokens.clone(),
            created: (0..count).filter(|thread| !creates(*thread)).collect(),
            ..State::default()
        }
    }

    /// The events of a thread's next step.
    pub fn next_step(&self, state: &State, thread: usize) -> Option<&[usize]> {
        self.threads[thread].get(state.next[thread]).map(Vec::as_slice)
    }

    /// Whether no thread is enabled. Of a thread that the trace leaves in the middle that is unknown.
    fn is_deadlocked(&self, state: &State) -> bool {
        let is_over = |thread: usize| state.ended.contains(&thread) || !state.created.contains(&thread);
        // Others would only continue differently.
        let may_block = |thread: usize| {
            use EventKind::*;
            let event = self.next_step(state, thread).map(|step| self.events[step[0]]);
            event.is_some_and(|event| match event.kind() {
                Some(Lock | ReadLock) => event.old == 0,
                kind => matches!(kind, Some(CondWake | SemWait | BarrierLeave | Join)),
            })
        };
        let cannot_go = |thread: usize| {
            is_over(thread) || (may_block(thread) && self.make(state, thread, &Wish::Deadlock).is_none())
        };
        let threads = || 0..self.threads.len();
        let unharmed = !state.surprised.contains(&true);
        unharmed && threads().all(cannot_go) && !threads().all(is_over)
    }

    /// Whether a wish can come true.
    pub fn possible(&self, wish: &Wish) -> bool {
        let mut seen = HashSet::new();
        let mut open = vec![self.start()];
        while let Some(state) = open.pop() {
            for thread in 0..self.threads.len() {
                let Some(after) = self.make(&state, thread, wish) else { continue };
                if after.fulfilled || (*wish == Wish::Deadlock && self.is_deadlocked(&after)) {
                    return true;
                }
                if seen.insert(after.clone()) {
                    open.push(after);
                }
            }
        }
        false
    }

    /// Whether a schedule, given by the first events of its steps, makes the wish come true with its last step.
    pub fn accepts(&self, schedule: &[usize], wish: &Wish) -> bool {
        let mut state = self.start();
        for (place, event) in schedule.iter().enumerate() {
            let thread = self.events[*event].thread.index();
            if self.next_step(&state, thread).is_none_or(|step| !step.contains(event)) {
                return false;
            }
            match self.make(&state, thread, wish) {
                Some(after) => state = after,
                None => return false,
            }
            if state.fulfilled {
                return place + 1 == schedule.len();
            }
        }
        *wish == Wish::Deadlock && self.is_deadlocked(&state)
    }

    /// The state after a thread's next step; none if it cannot be made, or spoils the wish.
    pub fn make(&self, state: &State, thread: usize, wish: &Wish) -> Option<State> {
        let step = self.next_step(state, thread)?;
        if state.surprised[thread] || !state.created.contains(&thread) {
            return None;
        }
        let mut after = state.clone();
        after.next[thread] += 1;
        for &index in step {
            self.wish_for(&mut after, index, wish)?;
            if !self.happen(&mut after, thread, index, step)? {
                // What comes after it in the step is not known.
                after.surprised[thread] = true;
                break;
            }
        }
        Some(after)
    }

    /// Follows what becomes of the wish; none if it is spoiled.
    fn wish_for(&self, state: &mut State, index: usize, wish: &Wish) -> Option<()> {
        let event = &self.events[index];
        if let Wish::Sees(read, value) = wish {
            state.fulfilled |= *read == index && state.memory.get(&event.addr) == Some(&Some(*value));
            return (*read != index || state.fulfilled).then_some(());
        }
        let wished = wish.events();
        if wished.is_empty() {
            return Some(());
        }
        if let Some(place) = wished.iter().position(|other| *other == index) {
            if place != state.progress {
                return None;
            }
            state.progress += 1;
            state.fulfilled = state.progress == wished.len();
            return Some(());
        }
        // A write spoils a pattern that has touched the variable and will touch it again.
        let touches = |other: &usize| self.events[*other].addr == event.addr;
        let is_open =
            wished[..state.progress].iter().any(touches) && wished[state.progress..].iter().any(touches);
        let spoils = matches!(wish, Wish::Pattern(_)) && writes(event) && is_open;
        (!spoils).then_some(())
    }

    /// Lets an event happen; says whether it goes as recorded, none if it cannot happen.
    fn happen(&self, state: &mut State, thread: usize, index: usize, step: &[usize]) -> Option<bool> {
        use EventKind::*;
        let event = &self.events[index];
        let Event { addr, value, .. } = *event;
        let others_read = |state: &State| state.readers.get(&addr).is_some_and(|who| !who.is_empty());
        match event.kind()? {
            Read | Write | AtomicRead | AtomicWrite | AtomicUpdate | AtomicFailed => {
                return self.access(state, index);
            }
            Free => {
                let lifetime = state.lifetimes.entry(addr).or_default();
                *lifetime += 1;
                return (*lifetime == self.lifetimes[index] + 1).then_some(true);
            }
            Lock => {
                if state.owner.contains_key(&addr) || others_read(state) {
                    return None;
                }
                state.owner.insert(addr, thread);
            }
            ReadLock => {
                if state.owner.contains_key(&addr) {
                    return None;
                }
                let readers = state.readers.entry(addr).or_default();
                readers.push(thread);
                readers.sort_unstable();
            }
            Unlock => {
                if state.owner.get(&addr) == Some(&thread) {
                    state.owner.remove(&addr);
                } else if let Some(readers) = state.readers.get_mut(&addr) {
                    let place = readers.iter().position(|reader| *reader == thread)?;
                    readers.remove(place);
                }
            }
            LockFailed => {
                let is_held = state.owner.get(&addr).is_some_and(|owner| *owner != thread);
                return (is_held || others_read(state)).then_some(true);
            }
            CondWait => {
                state.owner.remove(&value);
                state.queues.entry(addr).or_default().line.push(Some(thread));
            }
            CondWake => {
                if state.owner.contains_key(&value) || !state.queues.entry(addr).or_default().leave(thread) {
                    return None;
                }
                state.owner.insert(value, thread);
            }
            CondSignal => state.queues.entry(addr).or_default().wake(false),
            CondBroadcast => state.queues.entry(addr).or_default().wake(true),
            SemWait => {
                let tokens = state.tokens.entry(addr).or_default();
                *tokens = tokens.checked_sub(1)?;
            }
            SemPost => *state.tokens.entry(addr).or_default() += 1,
            BarrierArrive => {
                let completes = step.iter().any(|other| self.events[*other].kind() == Some(BarrierLeave));
                state.arrived += 1;
                if (state.arrived == self.needed) != completes {
                    return None;
                }
                if completes {
                    state.arrived = 0;
                    state.rounds += 1;
                }
            }
            BarrierLeave => return (state.rounds >= value).then_some(true),
            Create => {
                state.created.insert(value as usize);
            }
            Exit => {
                state.ended.insert(thread);
            }
            Join => return state.ended.contains(&(value as usize)).then_some(true),
            Start => {}
            other => panic!("{other:?} is not known here"),
        }
        Some(true)
    }

    fn access(&self, state: &mut State, index: usize) -> Option<bool> {
        let event = &self.events[index];
        let lifetime = state.lifetimes.get(&event.addr).copied().unwrap_or(0);
        if lifetime < self.lifetimes[index] {
            return None;
        }
        let found = state.memory.get(&event.addr).copied().flatten();
        let as_recorded = !reads(event) || found == Some(seen(event));
        if writes(event) {
            state.memory.insert(event.addr, as_recorded.then_some(event.value));
        }
        Some(as_recorded && lifetime == self.lifetimes[index])
    }
}
