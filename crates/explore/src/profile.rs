//! Which threads access what, and how often: what SURW needs to know beforehand.

use std::collections::BTreeMap;

use threadbare_sched::Surw;
use threadbare_trace::{Event, EventKind, ThreadId, kinds};

/// How often one object is touched.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
struct Touches {
    by_thread: Vec<u32>,
    /// Whether the order of touches can matter: a write, or synchronization.
    matters: bool,
}

/// Counts of operations by thread and object, the largest of several executions.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Profile {
    parents: Vec<Option<ThreadId>>,
    all: Vec<u32>,
    objects: BTreeMap<u64, Touches>,
}

fn at_least<T: Clone + Default>(list: &mut Vec<T>, index: usize) -> &mut T {
    if index >= list.len() {
        list.resize(index + 1, T::default());
    }
    &mut list[index]
}

fn synchronizes(kind: EventKind) -> bool {
    use EventKind::*;
    match kind {
        kinds!(lock | condition | barrier | semaphore | once | futex) => true,
        Fence | Signal | Frame | kinds!(plain | atomic | thread | heap | object | pause | outside) => false,
    }
}

impl Profile {
    /// Counts one execution.
    pub fn of(events: &[Event]) -> Profile {
        let mut profile = Profile::default();
        for event in events {
            let Some(kind) = event.kind() else { continue };
            let thread = event.thread.index();
            *at_least(&mut profile.all, thread) += 1;
            if kind == EventKind::Create {
                *at_least(&mut profile.parents, event.value as u16 as usize) = Some(event.thread);
            }
            if kind.accesses_memory() || synchronizes(kind) {
                let touches = profile.objects.entry(event.addr).or_default();
                *at_least(&mut touches.by_thread, thread) += 1;
                touches.matters |= kind.writes() || synchronizes(kind);
            }
        }
        let shared = |touches: &Touches| touches.by_thread.iter().filter(|&&n| n > 0).count() > 1;
        profile.objects.retain(|_, touches| touches.matters && shared(touches));
        profile
    }

    /// Takes the larger count of both, everywhere.
    pub fn merge(&mut self, other: &Profile) {
        for (child, parent) in other.parents.iter().enumerate() {
            let known = at_least(&mut self.parents, child);
            *known = known.or(*parent);
        }
        merge_counts(&mut self.all, &other.all);
        for (object, touches) in &other.objects {
            let known = self.objects.entry(*object).or_default();
            merge_counts(&mut known.by_thread, &touches.by_thread);
            known.matters |= touches.matters;
        }
    }

    /// How many objects are worth concentrating on.
    pub fn objects(&self) -> usize {
        self.objects.len()
    }

    /// What makes SURW concentrate on the `pick`th object, or on everything.
    pub fn concentrate(&self, pick: Option<usize>) -> Surw {
        let chosen = pick.and_then(|pick| self.objects.iter().nth(pick));
        let (object, counts) = match chosen {
            Some((object, touches)) => (Some(*object), &touches.by_thread),
            None => (None, &self.all),
        };
        let mut weights: Vec<u64> = counts.iter().map(|&count| u64::from(count)).collect();
        weights.resize(weights.len().max(self.parents.len()), 0);
        // Threads are numbered in order of creation, so every child comes after its parent.
        for child in (1..weights.len()).rev() {
            if let Some(Some(parent)) = self.parents.get(child)
                && parent.index() < child
            {
                weights[parent.index()] += weights[child];
            }
        }
        let weights = weights.into_iter().map(|weight| u32::try_from(weight).unwrap_or(u32::MAX)).collect();
        Surw { object, weights }
    }
}

fn merge_counts(known: &mut Vec<u32>, other: &[u32]) {
    for (thread, &count) in other.iter().enumerate() {
        let slot = at_least(known, thread);
        *slot = count.max(*slot);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(thread: u16, kind: EventKind, addr: u64, value: u64) -> Event {
        Event { thread: ThreadId(thread), kind: kind as u8, addr, value, ..Event::default() }
    }

    #[test]
    fn weights_include_the_threads_that_a_thread_creates() {
        let events = [
            event(0, EventKind::Create, 0, 1),
            event(1, EventKind::Create, 0, 2),
            event(0, EventKind::Write, 8, 0),
            event(1, EventKind::Write, 8, 0),
            event(1, EventKind::Read, 8, 0),
            event(2, EventKind::Write, 8, 0),
            event(2, EventKind::Write, 16, 0),
        ];
        let profile = Profile::of(&events);
        assert_eq!(profile.objects(), 1, "location 16 has one user only");
        assert_eq!(profile.concentrate(Some(0)), Surw { object: Some(8), weights: vec![4, 3, 1] });
        assert_eq!(profile.concentrate(None), Surw { object: None, weights: vec![7, 5, 2] });
    }

    #[test]
    fn merging_keeps_the_larger_counts() {
        let once = Profile::of(&[event(0, EventKind::Write, 8, 0), event(1, EventKind::Read, 8, 0)]);
        let twice = Profile::of(&[
            event(0, EventKind::Write, 8, 0),
            event(1, EventKind::Read, 8, 0),
            event(1, EventKind::Read, 8, 0),
        ]);
        let mut merged = once.clone();
        merged.merge(&twice);
        merged.merge(&once);
        assert_eq!(merged, twice);
    }
}
