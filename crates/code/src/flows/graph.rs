//! Which value goes into which, for the whole program.

use rustc_hash::FxHashMap;

use super::places::Place;

/// A value at some place in the program.
pub type Node = u32;

/// What depends on nothing that is read.
pub const CLEAN: Node = 0;

/// A value that is known beyond the function it is in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Name {
    /// What is read at a site.
    Read(u64),
    /// What is written at a site.
    Write(u64),
    /// What decides the branch at an address.
    Branch(u64),
    /// What decides which memory, lock or function is used, or how much of it.
    Steer,
    /// What decides which function is called, and nothing else.
    Target,
    /// What goes where nobody can follow it.
    Unknown,
    /// What a load finds that belongs to no announcement, in the function with this number, by the instruction's number.
    Unbound(usize, usize),
    /// What a function of the library finds in memory without an announcement, called in the function with this number, by the instruction's.
    Seen(usize, usize),
    /// What a store leaves that belongs to no announcement, in the function with this number.
    UnboundStore(usize),
    /// What a function is given in a register.
    Given(usize, Place),
    /// What it is given on the stack, at an offset from its first stack pointer.
    GivenOnStack(usize, i64),
    /// What it returns in a register.
    Returned(usize, Place),
    /// What functions that are called through a pointer are given in a register, or on the stack (behind the last register's place).
    GivenToAny(Place),
    /// What they return.
    ReturnedByAny(Place),
    /// What a function finds behind the pointer in an argument register, so many bytes on, so many bytes long.
    Behind(usize, u8, i64, i64),
    /// What it leaves there.
    Left(usize, u8, i64, i64),
}

/// Values and where they go.
#[derive(Default)]
pub struct Graph {
    count: Node,
    edges: Vec<(Node, Node)>,
    names: FxHashMap<Name, Node>,
}

impl Graph {
    /// A new value.
    pub fn node(&mut self) -> Node {
        self.count += 1;
        self.count
    }

    /// The value of a name.
    pub fn named(&mut self, name: Name) -> Node {
        if let Some(node) = self.names.get(&name) {
            return *node;
        }
        let node = self.node();
        self.names.insert(name, node);
        node
    }

    /// How many values there are, and one.
    pub fn len(&self) -> usize {
        self.count as usize + 1
    }

    /// All names and their values.
    pub fn names(&self) -> impl Iterator<Item = (Name, Node)> {
        self.names.iter().map(|(name, node)| (*name, *node))
    }

    /// Lets a value go into another one.
    pub fn flow(&mut self, from: Node, to: Node) {
        if from != CLEAN && from != to {
            self.edges.push((from, to));
        }
    }

    /// Lets a value go to a name. What depends on nothing does not make the name known.
    pub fn flow_to(&mut self, from: Node, name: Name) {
        if from != CLEAN {
            let to = self.named(name);
            self.flow(from, to);
        }
    }

    /// A value that all of these go into.
    pub fn join(&mut self, from: &mut Vec<Node>) -> Node {
        from.sort_unstable();
        from.dedup();
        if from.first() == Some(&CLEAN) {
            from.remove(0);
        }
        match from[..] {
            [] => CLEAN,
            [one] => one,
            _ => {
                let to = self.node();
                self.edges.extend(from.iter().map(|from| (*from, to)));
                to
            }
        }
    }

    /// For each node, where it goes; or, the other way round, where it comes from.
    pub fn arrows(&self, back: bool) -> Arrows {
        let turned = |(from, to): &(Node, Node)| if back { (*to, *from) } else { (*from, *to) };
        let mut starts = vec![0u32; self.count as usize + 2];
        for (from, _) in self.edges.iter().map(turned) {
            starts[from as usize + 1] += 1;
        }
        for node in 1..starts.len() {
            starts[node] += starts[node - 1];
        }
        let mut next = starts.clone();
        let mut to = vec![0; self.edges.len()];
        for (from, target) in self.edges.iter().map(turned) {
            to[next[from as usize] as usize] = target;
            next[from as usize] += 1;
        }
        Arrows { starts, to, seen: vec![0; self.count as usize + 1], round: 1 }
    }
}

/// Where each node goes, for searching.
pub struct Arrows {
    starts: Vec<u32>,
    to: Vec<Node>,
    seen: Vec<u32>,
    round: u32,
}

impl Arrows {
    /// Visits all that a value goes into.
    pub fn reach(&mut self, from: Node, visit: impl FnMut(Node)) {
        self.round += 1;
        self.reach_more(from, visit);
    }

    /// Visits all that a value goes into, except what was visited since the last time that it was begun anew.
    pub fn reach_more(&mut self, from: Node, mut visit: impl FnMut(Node)) {
        let mut left = vec![from];
        self.seen[from as usize] = self.round;
        while let Some(node) = left.pop() {
            let next = self.starts[node as usize] as usize..self.starts[node as usize + 1] as usize;
            for to in &self.to[next] {
                if std::mem::replace(&mut self.seen[*to as usize], self.round) != self.round {
                    visit(*to);
                    left.push(*to);
                }
            }
        }
    }
}
