//! Basic blocks and their successors.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use iced_x86::{FlowControl, Instruction};

use crate::image::goes_through_slot;

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
        let jumps =
            matches!(it.flow_control(), FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch);
        if jumps && within.contains(&it.near_branch_target()) {
            starts.insert(it.near_branch_target());
        }
        if it.flow_control() == FlowControl::IndirectBranch && !goes_through_slot(it) {
            is_clear = false;
        }
        if jumps || stops(it) || ends(it) {
            starts.insert(it.next_ip());
        }
    }
    starts.retain(|start| within.contains(start));
    let places: BTreeMap<u64, usize> =
        starts.iter().enumerate().map(|(place, start)| (*start, place)).collect();
    let mut blocks: Vec<BasicBlock> =
        starts.iter().map(|start| BasicBlock { start: *start, next: Vec::new(), leaves: false }).collect();
    for it in instructions {
        let Some((_, place)) = places.range(..=it.ip()).next_back() else { continue };
        let is_last = !within.contains(&it.next_ip()) || places.contains_key(&it.next_ip());
        if !is_last {
            continue;
        }
        let block = &mut blocks[*place];
        let goes_to = |block: &mut BasicBlock, address: u64| match places.get(&address) {
            Some(next) if !block.next.contains(next) => block.next.push(*next),
            Some(_) => {}
            None => block.leaves = true,
        };
        match it.flow_control() {
            FlowControl::UnconditionalBranch => goes_to(block, it.near_branch_target()),
            FlowControl::ConditionalBranch => {
                goes_to(block, it.near_branch_target());
                goes_to(block, it.next_ip());
            }
            FlowControl::Return => block.leaves = true,
            FlowControl::IndirectBranch => block.leaves = true,
            FlowControl::Exception | FlowControl::Interrupt => {}
            _ if ends(it) => {}
            _ => goes_to(block, it.next_ip()),
        }
    }
    (blocks, is_clear)
}

/// Whether control does not simply continue with the next instruction.
fn stops(it: &Instruction) -> bool {
    use FlowControl::*;
    matches!(it.flow_control(), Return | IndirectBranch | Exception | Interrupt | XbeginXabortXend)
}
