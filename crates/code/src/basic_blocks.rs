//! Basic blocks and their successors.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::isa::{Control, Instruction, Pointer};

/// A piece of code that is entered only at its beginning and left only at its end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BasicBlock {
    /// Where it begins.
    pub start: u64,
    /// The blocks that may follow it, by their places in the list.
    pub next: Vec<usize>,
    /// Whether the function may be left at its end.
    pub leaves: bool,
}

/// The blocks of a function, and whether all its jumps are known. `ends` says of an instruction that it calls somebody who never comes back.
pub fn blocks(
    instructions: &[Instruction],
    within: &Range<u64>,
    ends: impl Fn(&Instruction) -> bool,
) -> (Vec<BasicBlock>, bool) {
    let mut starts = BTreeSet::from([within.start]);
    let mut is_clear = true;
    for it in instructions {
        let target = it.jumps_to();
        starts.extend(target.filter(|target| within.contains(target)));
        if matches!(it.control, Control::JumpThrough(Pointer::Register(_) | Pointer::Memory(_))) {
            is_clear = false;
        }
        if target.is_some() || stops(it) || ends(it) {
            starts.insert(it.next());
        }
    }
    starts.retain(|start| within.contains(start));
    let places: BTreeMap<u64, usize> =
        starts.iter().enumerate().map(|(place, start)| (*start, place)).collect();
    let mut blocks: Vec<BasicBlock> =
        starts.iter().map(|start| BasicBlock { start: *start, next: Vec::new(), leaves: false }).collect();
    for it in instructions {
        let Some((_, place)) = places.range(..=it.address).next_back() else { continue };
        let is_last = !within.contains(&it.next()) || places.contains_key(&it.next());
        if !is_last {
            continue;
        }
        let block = &mut blocks[*place];
        let goes_to = |block: &mut BasicBlock, address: u64| match places.get(&address) {
            Some(next) if !block.next.contains(next) => block.next.push(*next),
            Some(_) => {}
            None => block.leaves = true,
        };
        match it.control {
            Control::Jump(target) => goes_to(block, target),
            Control::Branch(target) => {
                goes_to(block, target);
                goes_to(block, it.next());
            }
            Control::Return | Control::JumpThrough(_) => block.leaves = true,
            Control::Trap | Control::Interrupt => {}
            _ if ends(it) => {}
            _ => goes_to(block, it.next()),
        }
    }
    (blocks, is_clear)
}

/// Whether control does not simply continue with the next instruction.
fn stops(it: &Instruction) -> bool {
    use Control::*;
    matches!(it.control, Return | JumpThrough(_) | Trap | Interrupt | Transaction)
}
