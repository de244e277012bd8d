//! Everything a program can do, state by state.

use std::collections::{BTreeMap, BTreeSet};

use threadbare_trace::Event;

use super::{Op, Program, State};

impl Program {
    /// Every state that some interleaving reaches.
    pub fn states(&self) -> BTreeSet<State> {
        let mut seen = BTreeSet::new();
        let mut left = vec![self.start()];
        while let Some(state) = left.pop() {
            if seen.insert(state.clone()) {
                left.extend(self.enabled(&state).into_iter().map(|thread| self.after(&state, thread)));
            }
        }
        seen
    }

    /// Every trace of every interleaving, unless there are more than `limit`.
    pub fn traces(&self, limit: usize) -> Option<Vec<Vec<Event>>> {
        let mut all = Vec::new();
        self.extend(&self.start(), &mut Vec::new(), &mut all, limit);
        (all.len() <= limit).then_some(all)
    }

    fn extend(&self, state: &State, trace: &mut Vec<Event>, all: &mut Vec<Vec<Event>>, limit: usize) {
        if all.len() > limit {
            return;
        }
        let enabled = self.enabled(state);
        if enabled.is_empty() {
            all.push(trace.clone());
        }
        for thread in enabled {
            trace.extend(self.event(state, thread));
            self.extend(&self.after(state, thread), trace, all, limit);
            trace.pop();
        }
    }

    /// The sites of conflicting accesses that some interleaving makes one right after the other.
    pub fn adjacent_conflicts(&self) -> BTreeSet<Vec<u64>> {
        let mut found = BTreeSet::new();
        for state in self.states() {
            for one in self.enabled(&state) {
                for two in self.enabled(&self.after(&state, one)) {
                    let (Some(Op::Access(a, x, _)), Some(Op::Access(b, y, _))) =
                        (self.op(&state, one), self.op(&state, two))
                    else {
                        continue;
                    };
                    if one != two && x == y && (a.writes() || b.writes()) {
                        let mut sites =
                            vec![self.site(one, state.next[one]), self.site(two, state.next[two])];
                        sites.sort_unstable();
                        found.insert(sites);
                    }
                }
            }
        }
        found
    }

    /// The sites at which threads wait for each other in a cycle of locks, in some interleaving.
    pub fn lock_cycles(&self) -> BTreeSet<BTreeSet<u64>> {
        let mut found = BTreeSet::new();
        for state in self.states() {
            let holders = self.holders(&state);
            let waits_for = |thread: usize| -> Vec<usize> {
                let others = |lock: u64, reader: bool| {
                    let all = holders.get(&lock).into_iter().flatten();
                    all.filter(|(_, alone)| !reader || *alone).map(|(holder, _)| *holder).collect()
                };
                match self.op(&state, thread) {
                    _ if !self.exists(&state, thread) => Vec::new(),
                    Some(Op::Lock(lock)) => others(lock, false),
                    Some(Op::ReadLock(lock)) => others(lock, true),
                    _ => Vec::new(),
                }
            };
            let graph: BTreeMap<usize, Vec<usize>> =
                (0..self.threads.len()).map(|thread| (thread, waits_for(thread))).collect();
            for start in graph.keys() {
                cycles(&graph, &mut vec![*start], &mut |cycle| {
                    found
                        .insert(cycle.iter().map(|thread| self.site(*thread, state.next[*thread])).collect());
                });
            }
        }
        found
    }

    /// The sites (p, r, c) of accesses to one variable where r can come between p and c, two consecutive
    /// accesses of another thread.
    pub fn interruptions(&self) -> BTreeSet<[u64; 3]> {
        let mut found = BTreeSet::new();
        let states = self.states();
        for (thread, ops) in self.threads.iter().enumerate() {
            for (p, c) in consecutive(ops) {
                for state in states.iter().filter(|state| p < state.next[thread] && state.next[thread] <= c) {
                    for other in self.enabled(state) {
                        let (Some(Op::Access(_, x, _)), Op::Access(_, y, _)) =
                            (self.op(state, other), ops[p])
                        else {
                            continue;
                        };
                        if other != thread && x == y {
                            let r = self.site(other, state.next[other]);
                            found.insert([self.site(thread, p), r, self.site(thread, c)]);
                        }
                    }
                }
            }
        }
        found
    }
}

fn cycles(graph: &BTreeMap<usize, Vec<usize>>, path: &mut Vec<usize>, found: &mut impl FnMut(&[usize])) {
    for next in &graph[&path[path.len() - 1]] {
        if *next == path[0] && path.len() > 1 {
            found(path);
        } else if !path.contains(next) {
            path.push(*next);
            cycles(graph, path, found);
            path.pop();
        }
    }
}

/// The places of consecutive accesses to the same variable.
fn consecutive(ops: &[Op]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for (p, first) in ops.iter().enumerate() {
        let Op::Access(_, x, _) = first else { continue };
        let same = |op: &Op| matches!(op, Op::Access(_, y, _) if x == y);
        pairs.extend(ops[p + 1..].iter().position(same).map(|gap| (p, p + 1 + gap)));
    }
    pairs
}
