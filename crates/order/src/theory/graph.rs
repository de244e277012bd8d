//! A graph that stays free of cycles while edges come and go: the algorithm of Pearce and Kelly ("A dynamic
//! topological sort algorithm for directed acyclic graphs", 2006).
//!
//! Every node has a rank, and edges lead from lower to higher ranks. A new edge that does is free; one that does not
//! causes the nodes between its ends, in rank, to be ranked anew, and shows a cycle if there is one. Taking edges away
//! never makes the ranks wrong.

use batsat::Lit;

/// Nodes are steps by their place.
pub type Node = u32;

/// Edges that are always there, in both directions.
#[derive(Default)]
struct Fixed {
    starts: Vec<u32>,
    nodes: Vec<Node>,
}

impl Fixed {
    fn new(count: usize, edges: &[(Node, Node)]) -> Fixed {
        let mut starts = vec![0; count + 1];
        for (from, _) in edges {
            starts[*from as usize + 1] += 1;
        }
        for index in 0..count {
            starts[index + 1] += starts[index];
        }
        let mut next = starts.clone();
        let mut nodes = vec![0; edges.len()];
        for (from, to) in edges {
            nodes[next[*from as usize] as usize] = *to;
            next[*from as usize] += 1;
        }
        Fixed { starts, nodes }
    }

    fn of(&self, node: Node) -> &[Node] {
        let node = node as usize;
        &self.nodes[self.starts[node] as usize..self.starts[node + 1] as usize]
    }
}

/// See the module's description.
pub struct Graph {
    rank: Vec<u32>,
    fixed_out: Fixed,
    fixed_in: Fixed,
    out: Vec<Vec<(Node, Lit)>>,
    into: Vec<Vec<(Node, Lit)>>,
    /// The edges that came and went are taken away last first.
    log: Vec<(Node, Node)>,
    /// Marks of the searches, by number of the search.
    mark: Vec<u32>,
    search: u32,
    ahead: Vec<Node>,
    behind: Vec<Node>,
    ranks: Vec<u32>,
}

impl Graph {
    /// A graph with these edges, each of which leads from a lower to a higher node.
    pub fn new(count: usize, fixed: &[(Node, Node)]) -> Graph {
        debug_assert!(fixed.iter().all(|(from, to)| from < to));
        let reversed: Vec<(Node, Node)> = fixed.iter().map(|(from, to)| (*to, *from)).collect();
        Graph {
            rank: (0..count as u32).collect(),
            fixed_out: Fixed::new(count, fixed),
            fixed_in: Fixed::new(count, &reversed),
            out: vec![Vec::new(); count],
            into: vec![Vec::new(); count],
            log: Vec::new(),
            mark: vec![0; count],
            search: 0,
            ahead: Vec::new(),
            behind: Vec::new(),
            ranks: Vec::new(),
        }
    }

    /// How many edges were added and not taken away.
    pub fn added(&self) -> usize {
        self.log.len()
    }

    /// The edges that were added to a node, and why.
    pub fn edges_from(&self, node: Node) -> &[(Node, Lit)] {
        &self.out[node as usize]
    }

    /// Takes edges away until this many are left.
    pub fn shrink(&mut self, count: usize) {
        while self.log.len() > count {
            if let Some((from, to)) = self.log.pop() {
                self.out[from as usize].pop();
                self.into[to as usize].pop();
            }
        }
    }

    /// Adds an edge for a reason. If that closes a cycle the edge is not added, and the reasons of the cycle's other
    /// edges are put into `cycle`: as few as possible.
    pub fn add(&mut self, from: Node, to: Node, why: Lit, cycle: &mut Vec<Lit>) -> bool {
        if self.rank[from as usize] >= self.rank[to as usize] {
            if from == to || !self.look_ahead(from, to) {
                self.explain(from, to, cycle);
                return false;
            }
            self.look_behind(from, to);
            self.rank_anew();
        }
        self.out[from as usize].push((to, why));
        self.into[to as usize].push((from, why));
        self.log.push((from, to));
        true
    }

    fn next_search(&mut self) -> u32 {
        self.search += 1;
        self.search
    }

    /// Collects what can be reached from `to` up to the rank of `from`; says whether that leaves `from` out.
    fn look_ahead(&mut self, from: Node, to: Node) -> bool {
        let number = self.next_search();
        let highest = self.rank[from as usize];
        self.ahead.clear();
        self.ahead.push(to);
        self.mark[to as usize] = number;
        let mut next = 0;
        while let Some(&node) = self.ahead.get(next) {
            next += 1;
            let added = self.out[node as usize].iter().map(|(node, _)| *node);
            for other in self.fixed_out.of(node).iter().copied().chain(added) {
                if other == from {
                    return false;
                }
                let index = other as usize;
                if self.rank[index] < highest && self.mark[index] != number {
                    self.mark[index] = number;
                    self.ahead.push(other);
                }
            }
        }
        true
    }

    /// Collects what leads to `from` down to the rank of `to`.
    fn look_behind(&mut self, from: Node, to: Node) {
        let number = self.next_search();
        let lowest = self.rank[to as usize];
        self.behind.clear();
        self.behind.push(from);
        self.mark[from as usize] = number;
        let mut next = 0;
        while let Some(&node) = self.behind.get(next) {
            next += 1;
            let added = self.into[node as usize].iter().map(|(node, _)| *node);
            for other in self.fixed_in.of(node).iter().copied().chain(added) {
                let index = other as usize;
                if self.rank[index] > lowest && self.mark[index] != number {
                    self.mark[index] = number;
                    self.behind.push(other);
                }
            }
        }
    }

    /// Gives the ranks of all that was collected to those behind first, then to those ahead.
    fn rank_anew(&mut self) {
        let rank = &self.rank;
        self.behind.sort_unstable_by_key(|node| rank[*node as usize]);
        self.ahead.sort_unstable_by_key(|node| rank[*node as usize]);
        self.ranks.clear();
        self.ranks.extend(self.behind.iter().chain(&self.ahead).map(|node| rank[*node as usize]));
        self.ranks.sort_unstable();
        for (node, rank) in self.behind.iter().chain(&self.ahead).zip(&self.ranks) {
            self.rank[*node as usize] = *rank;
        }
    }

    /// The reasons on a way from `to` to `from` that has the fewest of them. There is one.
    fn explain(&mut self, from: Node, to: Node, reasons: &mut Vec<Lit>) {
        reasons.clear();
        if from == to {
            return;
        }
        let number = self.next_search();
        let highest = self.rank[from as usize];
        // By node: how it was reached. Fixed edges cost nothing and are followed first.
        let mut ways: Vec<(Node, Node, Option<Lit>)> = Vec::new();
        let mut layer = vec![(to, to, None)];
        while !layer.is_empty() {
            let mut next_layer = Vec::new();
            let mut stack = std::mem::take(&mut layer);
            stack.reverse();
            while let Some((node, came_from, why)) = stack.pop() {
                if self.mark[node as usize] == number || self.rank[node as usize] > highest {
                    continue;
                }
                self.mark[node as usize] = number;
                ways.push((node, came_from, why));
                if node == from {
                    return collect(&ways, to, reasons);
                }
                next_layer
                    .extend(self.out[node as usize].iter().map(|(next, why)| (*next, node, Some(*why))));
                stack.extend(self.fixed_out.of(node).iter().map(|next| (*next, node, None)));
            }
            layer = next_layer;
        }
    }
}

/// Walks back from the last node that was reached.
fn collect(ways: &[(Node, Node, Option<Lit>)], to: Node, reasons: &mut Vec<Lit>) {
    let Some((mut node, ..)) = ways.last().copied() else { return };
    for (reached, came_from, why) in ways.iter().rev() {
        if *reached == node {
            reasons.extend(*why);
            if node == to {
                return;
            }
            node = *came_from;
        }
    }
}

#[cfg(test)]
mod tests {
    use batsat::Var;
    use threadbare_sched::Rng;

    use super::*;

    fn lit(index: u32) -> Lit {
        Lit::new(Var::unsafe_from_idx(index), true)
    }

    /// Whether there is a way, by following edges only.
    fn leads(edges: &[(Node, Node, Option<Lit>)], from: Node, to: Node) -> bool {
        let mut seen = vec![from];
        let mut next = 0;
        while next < seen.len() {
            let node = seen[next];
            next += 1;
            for (_, other, _) in edges.iter().filter(|edge| edge.0 == node) {
                if !seen.contains(other) {
                    seen.push(*other);
                }
            }
        }
        seen.contains(&to)
    }

    /// Adds and removes random edges, and compares with plain reachability.
    #[test]
    fn cycles_are_found_exactly_where_there_are_some_and_explained_by_their_edges() {
        for seed in 0..300 {
            let mut rng = Rng::new(seed);
            let count = 2 + rng.below(12) as u32;
            let mut edges: Vec<(Node, Node, Option<Lit>)> = Vec::new();
            for node in 1..count {
                if rng.below(2) == 0 {
                    edges.push((rng.below(u64::from(node)) as u32, node, None));
                }
            }
            let fixed: Vec<(Node, Node)> = edges.iter().map(|edge| (edge.0, edge.1)).collect();
            let mut graph = Graph::new(count as usize, &fixed);
            let mut cycle = Vec::new();
            for round in 0..60 {
                if rng.below(5) == 0 {
                    let left = rng.below(graph.added() as u64 + 1) as usize;
                    graph.shrink(left);
                    edges.truncate(fixed.len() + left);
                }
                let from = rng.below(u64::from(count)) as u32;
                let to = rng.below(u64::from(count)) as u32;
                let expected = !leads(&edges, to, from);
                assert_eq!(graph.add(from, to, lit(round), &mut cycle), expected, "seed {seed}");
                if expected {
                    edges.push((from, to, Some(lit(round))));
                    continue;
                }
                // With only the reasons given the cycle is there; without any of them it is not.
                let with = |out: Option<Lit>| {
                    let kept = edges
                        .iter()
                        .filter(|edge| edge.2.is_none_or(|why| cycle.contains(&why) && Some(why) != out));
                    leads(&kept.copied().collect::<Vec<_>>(), to, from)
                };
                assert!(with(None), "seed {seed}");
                assert!(cycle.iter().all(|why| !with(Some(*why))), "seed {seed}: not minimal");
            }
            let in_order =
                |edge: &(Node, Node, Option<Lit>)| graph.rank[edge.0 as usize] < graph.rank[edge.1 as usize];
            assert!(edges.iter().all(in_order), "seed {seed}");
        }
    }
}
