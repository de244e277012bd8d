//! Which blocks a function surely passes through.

use std::collections::{HashMap, HashSet};

use crate::basic_blocks::BasicBlock;

/// Whether every way from the entrance to an exit passes through the block. Loops are taken to make at least one round:
/// whether they do depends on values that the code does not show.
pub fn passes_through(blocks: &[BasicBlock], block: usize) -> bool {
    let loops = loops(blocks);
    let guards = guards(blocks, &loops);
    // A loop's head is a different place in the first round and later on.
    let mut left = vec![(0, false)];
    let mut seen = HashSet::from([(0, false)]);
    while let Some((here, again)) = left.pop() {
        if here == block {
            continue;
        }
        let body = loops.iter().filter(|it| it.head == here).map(|it| &it.body);
        let bodies: Vec<&HashSet<usize>> = body.collect();
        let stays = |next: usize| bodies.iter().any(|body| body.contains(&next));
        let must_stay = !again && blocks[here].next.iter().any(|next| stays(*next));
        let into = guards.get(&here);
        if blocks[here].leaves && !must_stay {
            return false;
        }
        let may_go = |next: &&usize| (!must_stay || stays(**next)) && into.is_none_or(|into| into == *next);
        for next in blocks[here].next.iter().filter(may_go) {
            let comes_back = loops.iter().any(|it| it.head == *next && it.body.contains(&here));
            if seen.insert((*next, comes_back)) {
                left.push((*next, comes_back));
            }
        }
    }
    true
}

/// A loop: its head, and all its blocks.
struct Loop {
    head: usize,
    body: HashSet<usize>,
}

/// The blocks that only ask whether a loop is to be entered at all, as compilers like to do before a loop that asks at its end; each with
/// the block that leads into the loop.
fn guards(blocks: &[BasicBlock], loops: &[Loop]) -> HashMap<usize, usize> {
    let mut guards = HashMap::new();
    loop {
        let found = (0..blocks.len()).filter(|block| !guards.contains_key(block)).find_map(|block| {
            let into = loops.iter().find_map(|it| it.guarded_by(blocks, block, &guards))?;
            Some((block, into))
        });
        match found {
            Some((block, into)) => guards.insert(block, into),
            None => return guards,
        };
    }
}

impl Loop {
    /// If the block only asks whether this loop is to be entered: the block that leads into it.
    fn guarded_by(
        &self,
        blocks: &[BasicBlock],
        block: usize,
        guards: &HashMap<usize, usize>,
    ) -> Option<usize> {
        let [one, other] = blocks[block].next[..] else { return None };
        if self.body.contains(&block) {
            return None;
        }
        let exits = self.body.iter().flat_map(|inside| &blocks[*inside].next);
        let exits: Vec<usize> = exits.copied().filter(|next| !self.body.contains(next)).collect();
        let leads_in = |from: usize| straight_on(blocks, from, guards).contains(&self.head);
        let leads_past = |from: usize| {
            let past = straight_on(blocks, from, guards);
            let meets = |exit: &usize| straight_on(blocks, *exit, guards).iter().any(|it| past.contains(it));
            exits.iter().any(meets)
        };
        [(one, other), (other, one)]
            .into_iter()
            .find_map(|(into, past)| (leads_in(into) && !leads_in(past) && leads_past(past)).then_some(into))
    }
}

/// The block and those that surely follow it, as long as there is no other way.
fn straight_on(blocks: &[BasicBlock], from: usize, guards: &HashMap<usize, usize>) -> Vec<usize> {
    let mut way = vec![from];
    loop {
        let here = way[way.len() - 1];
        let next = match (guards.get(&here), &blocks[here].next[..]) {
            (Some(into), _) => *into,
            (None, [next]) => *next,
            _ => return way,
        };
        if way.contains(&next) {
            return way;
        }
        way.push(next);
    }
}

fn loops(blocks: &[BasicBlock]) -> Vec<Loop> {
    let dominators = dominators(blocks);
    let mut before = vec![Vec::new(); blocks.len()];
    for (place, block) in blocks.iter().enumerate() {
        for next in &block.next {
            before[*next].push(place);
        }
    }
    let mut loops: Vec<Loop> = Vec::new();
    for (from, block) in blocks.iter().enumerate() {
        for head in block.next.iter().copied().filter(|head| dominators[from].contains(head)) {
            let mut body = HashSet::from([head, from]);
            let mut left = if from == head { Vec::new() } else { vec![from] };
            while let Some(here) = left.pop() {
                left.extend(before[here].iter().copied().filter(|earlier| body.insert(*earlier)));
            }
            match loops.iter_mut().find(|it| it.head == head) {
                Some(known) => known.body.extend(body),
                None => loops.push(Loop { head, body }),
            }
        }
    }
    loops
}

/// For each block, those that every way to it passes through, itself included; empty for code that is never reached.
fn dominators(blocks: &[BasicBlock]) -> Vec<HashSet<usize>> {
    let mut known: Vec<Option<HashSet<usize>>> = vec![None; blocks.len()];
    known[0] = Some(HashSet::from([0]));
    let mut changed = true;
    while changed {
        changed = false;
        for (place, block) in blocks.iter().enumerate() {
            let Some(mine) = known[place].clone() else { continue };
            for next in block.next.iter().copied().filter(|next| *next != 0) {
                let mut through: HashSet<usize> = match &known[next] {
                    Some(theirs) => theirs.intersection(&mine).copied().collect(),
                    None => mine.clone(),
                };
                through.insert(next);
                if known[next].as_ref() != Some(&through) {
                    known[next] = Some(through);
                    changed = true;
                }
            }
        }
    }
    known.into_iter().map(Option::unwrap_or_default).collect()
}
