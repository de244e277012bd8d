//! Functions and their calls.

use std::collections::{BTreeSet, HashMap};

use crate::basic_blocks::{self, BasicBlock};
use crate::image::Image;
use crate::isa::{Control, Instruction, Pointer};

/// Whom a call reaches.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Callee {
    /// The function of this file that begins at the address.
    Function(u64),
    /// A function of a library.
    Import(String),
    /// Nobody knows: a call through a pointer.
    Unknown,
}

/// A call, or a jump that leaves the function for another one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// Where the instruction begins.
    pub at: u64,
    /// Its length in bytes.
    pub length: u8,
    /// Whom it reaches.
    pub to: Callee,
    /// The place of its block in the function's list.
    pub block: usize,
    /// Whether it does not come back here, because it is a jump.
    pub is_jump: bool,
}

/// A function.
#[derive(Clone, Debug)]
pub struct CodeFunction {
    /// Where it begins.
    pub start: u64,
    /// The address after its end.
    pub end: u64,
    /// Its name as the linker knows it.
    pub name: String,
    /// If it is a part that the compiler put aside: where its function begins.
    pub part_of: Option<u64>,
    /// Its pieces of straight code, by address; the first is its entrance.
    pub blocks: Vec<BasicBlock>,
    /// Its calls, by address.
    pub calls: Vec<Call>,
    /// Whether all its jumps are known.
    pub is_clear: bool,
    /// Whether its address is used other than to call it, so that anybody may do so.
    pub is_pointed_to: bool,
}

impl Callee {
    /// Whether a call of it never comes back.
    pub fn never_returns(&self) -> bool {
        matches!(self, Callee::Import(name) if threadbare_library::function(name).is_some_and(|row| row.never_returns))
    }
}

/// All functions of a file.
pub fn read_all(image: &Image<'_>) -> Vec<CodeFunction> {
    let starts: HashMap<u64, usize> =
        image.named.iter().enumerate().map(|(place, named)| (named.start, place)).collect();
    let by_name: HashMap<&str, u64> =
        image.named.iter().map(|named| (named.name.as_str(), named.start)).collect();
    let mut pointed_to: BTreeSet<u64> = image.pointed_to.iter().copied().collect();
    let mut functions = Vec::with_capacity(image.named.len());
    for named in &image.named {
        let Some(code) = image.code(named.start, named.end) else { continue };
        let instructions = image.instruction_set.decode(code, named.start);
        let whole = named.name.split_once(".cold").and_then(|(name, _)| by_name.get(name).copied());
        let reach = Reach { image, starts: &starts, within: named.start..named.end };
        pointed_to.extend(instructions.iter().filter_map(|it| reach.address_taken(it)));
        let leaves = |it: &Instruction| reach.callee(it).is_some_and(|callee| callee.never_returns());
        let (blocks, is_clear) = basic_blocks::blocks(&instructions, &reach.within, leaves);
        let call = |it: &Instruction| {
            Some(Call {
                at: it.address,
                length: it.length,
                to: reach.callee(it)?,
                block: blocks.partition_point(|block| block.start <= it.address).saturating_sub(1),
                is_jump: !it.is_call(),
            })
        };
        let calls = instructions.iter().filter_map(call).collect();
        functions.push(CodeFunction {
            start: named.start,
            end: named.end,
            name: named.name.clone(),
            part_of: whole,
            blocks,
            calls,
            is_clear,
            is_pointed_to: false,
        });
    }
    for function in &mut functions {
        function.is_pointed_to = pointed_to.contains(&function.start);
    }
    functions
}

/// What the instructions of a function reach.
struct Reach<'a> {
    image: &'a Image<'a>,
    starts: &'a HashMap<u64, usize>,
    within: std::ops::Range<u64>,
}

impl Reach<'_> {
    /// Whom the instruction calls, if it calls (or jumps out of the function).
    fn callee(&self, it: &Instruction) -> Option<Callee> {
        match it.control {
            Control::Call(target) => Some(self.at(target)),
            Control::Jump(target) | Control::Branch(target) => {
                (!self.within.contains(&target)).then(|| self.at(target))
            }
            Control::CallThrough(Pointer::Slot(slot)) | Control::JumpThrough(Pointer::Slot(slot)) => {
                Some(self.image.slot(slot).cloned().unwrap_or(Callee::Unknown))
            }
            Control::CallThrough(_) | Control::CallSystem => Some(Callee::Unknown),
            _ => None,
        }
    }

    fn at(&self, target: u64) -> Callee {
        if self.starts.contains_key(&target) {
            return Callee::Function(target);
        }
        self.image.behind(target).cloned().unwrap_or(Callee::Unknown)
    }

    /// The function whose address the instruction takes.
    fn address_taken(&self, it: &Instruction) -> Option<u64> {
        let named = it.names?;
        match self.image.slot(named) {
            Some(Callee::Function(start)) => Some(*start),
            _ => self.starts.contains_key(&named).then_some(named),
        }
    }
}
