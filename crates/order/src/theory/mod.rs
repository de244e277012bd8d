//! The theory of orders, for the SAT solver: literals stand for edges between steps, and edges must not form a
//! cycle. Conflicts are found as soon as an edge closes a cycle; nothing is propagated.

mod graph;

use std::ops::Range;

use batsat::{Lit, Theory, TheoryArg};

pub use graph::{Graph, Node};

/// See the module's description.
pub struct Orders {
    pub graph: Graph,
    edges: Vec<(Node, Node)>,
    /// By literal: what it stands for, in `edges`.
    meanings: Vec<Range<u32>>,
    /// How much of the trail has been looked at.
    seen: usize,
    /// At the beginning of each level: how much had been looked at, and how many edges there were.
    levels: Vec<(usize, usize)>,
    cycle: Vec<Lit>,
}

impl Orders {
    /// Without literals that mean anything.
    pub fn new(graph: Graph) -> Orders {
        Orders {
            graph,
            edges: Vec::new(),
            meanings: Vec::new(),
            seen: 0,
            levels: Vec::new(),
            cycle: Vec::new(),
        }
    }

    /// Lets a literal stand for edges.
    pub fn mean(&mut self, lit: Lit, edges: impl IntoIterator<Item = (Node, Node)>) {
        let index = lit.idx() as usize;
        if index >= self.meanings.len() {
            self.meanings.resize(index + 1, 0..0);
        }
        let begin = self.edges.len() as u32;
        self.edges.extend(edges);
        self.meanings[index] = begin..self.edges.len() as u32;
    }

    /// Adds the edges that a literal stands for; says whether that closes no cycle.
    fn assert(&mut self, lit: Lit) -> bool {
        let Some(range) = self.meanings.get(lit.idx() as usize) else { return true };
        let edges = &self.edges[range.start as usize..range.end as usize];
        edges.iter().all(|(from, to)| self.graph.add(*from, *to, lit, &mut self.cycle))
    }
}

impl Theory for Orders {
    fn partial_check(&mut self, acts: &mut TheoryArg) {
        while let Some(&lit) = acts.model().get(self.seen) {
            if !self.assert(lit) {
                self.cycle.push(lit);
                self.cycle.iter_mut().for_each(|lit| *lit = !*lit);
                self.cycle.sort_unstable();
                self.cycle.dedup();
                acts.raise_conflict(&self.cycle, false);
                return;
            }
            self.seen += 1;
        }
    }

    fn final_check(&mut self, _acts: &mut TheoryArg) {}

    fn create_level(&mut self) {
        self.levels.push((self.seen, self.graph.added()));
    }

    fn pop_levels(&mut self, count: usize) {
        let left = self.levels.len() - count;
        if let Some(&(seen, edges)) = self.levels.get(left) {
            self.seen = seen;
            self.graph.shrink(edges);
        }
        self.levels.truncate(left);
    }

    fn n_levels(&self) -> usize {
        self.levels.len()
    }

    fn explain_propagation(&mut self, _lit: Lit) -> &[Lit] {
        unreachable!("nothing is propagated")
    }
}
