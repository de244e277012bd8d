//! A function's instructions and blocks, with the parts that the compiler put aside.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;

use super::announces::Announces;
use super::tables::Listing;
use crate::image::Image;
use crate::isa::{Control, Instruction, Semantics};
use crate::{Call, Callee, Code, CodeFunction};

/// Straight code: a range of a body's instructions.
#[derive(Clone, Default, Debug)]
pub struct Piece {
    /// Its instructions.
    pub code: Range<usize>,
    /// The pieces that may follow it.
    pub next: Vec<usize>,
    /// The pieces it may come from.
    pub before: Vec<usize>,
}

/// A function.
pub struct Body<'a> {
    /// What is known of it.
    pub function: &'a CodeFunction,
    /// Its instructions, by address.
    pub code: Vec<Instruction>,
    /// What each of them does to values.
    pub semantics: Vec<Semantics>,
    /// Its pieces.
    pub pieces: Vec<Piece>,
    /// The piece that it begins with.
    pub entrance: usize,
    /// The callee of each call, or of each jump that leaves the function, by the instruction's number.
    pub calls: BTreeMap<usize, &'a Callee>,
    /// The jumps through tables, by the instruction's number.
    pub switches: HashSet<usize>,
}

impl<'a> Body<'a> {
    /// Reads a function; none for a part of another one.
    pub fn read(code: &'a Code, image: &Image<'_>, function: &'a CodeFunction) -> Option<Body<'a>> {
        if function.part_of.is_some() {
            return None;
        }
        let parts = code.functions().iter().filter(|it| it.part_of == Some(function.start));
        let mut parts: Vec<&CodeFunction> = std::iter::once(function).chain(parts).collect();
        parts.sort_by_key(|part| part.start);
        let (mut instructions, mut semantics) = (Vec::new(), Vec::new());
        for part in &parts {
            let bytes = image.code(part.start, part.end)?;
            instructions.extend(image.instruction_set.decode(bytes, part.start));
            semantics.extend(image.instruction_set.semantics(bytes, part.start));
        }
        let callees: BTreeMap<u64, &Call> =
            parts.iter().flat_map(|part| &part.calls).map(|call| (call.at, call)).collect();
        let within = |target: u64| instructions.binary_search_by_key(&target, |it| it.address).is_ok();
        let mut calls = BTreeMap::new();
        let mut jumps: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
        let mut switches = HashSet::new();
        for (place, it) in instructions.iter().enumerate() {
            match (callees.get(&it.address), it.control) {
                (Some(call), _) if !it.jumps_to().is_some_and(within) => {
                    calls.insert(place, &call.to);
                }
                (_, Control::JumpThrough(pointer)) => {
                    let code = Listing { image, instructions: &instructions, semantics: &semantics };
                    if let Some(targets) = code.jump_targets(place, pointer, within) {
                        switches.insert(place);
                        jumps.insert(place, targets);
                    }
                }
                _ => {}
            }
        }
        let mut body = Body {
            function,
            code: instructions,
            semantics,
            pieces: Vec::new(),
            entrance: 0,
            calls,
            switches,
        };
        body.cut(&jumps, false);
        if !body.unreached().is_empty() {
            body.cut(&jumps, true);
            body.catch();
        }
        body.look_back();
        Some(body)
    }

    /// Whether the instruction calls (or jumps to) somebody who does not come back.
    fn ends(&self, place: usize) -> bool {
        self.calls.get(&place).is_some_and(|callee| {
            let throws = matches!(callee, Callee::Import(name) if name.contains("__throw_"));
            throws || callee.never_returns()
        })
    }

    fn may_throw(&self, place: usize) -> bool {
        self.calls.get(&place).is_some_and(|callee| Announces::of(callee).is_none())
    }

    fn number_of(&self, address: u64) -> Option<usize> {
        self.code.binary_search_by_key(&address, |it| it.address).ok()
    }

    fn cut(&mut self, jumps: &BTreeMap<usize, Vec<u64>>, after_calls: bool) {
        let mut starts = BTreeSet::from([0]);
        starts.extend(self.number_of(self.function.start));
        for (place, it) in self.code.iter().enumerate() {
            starts.extend(it.jumps_to().and_then(|target| self.number_of(target)));
            starts.extend(jumps.get(&place).into_iter().flatten().filter_map(|to| self.number_of(*to)));
            let may_throw = self.may_throw(place);
            let goes_on = it.control == Control::Next || it.is_call();
            let has_gap = self.code.get(place + 1).is_some_and(|next| next.address != it.next());
            if !goes_on || self.ends(place) || has_gap || (after_calls && may_throw) {
                starts.insert(place + 1);
            }
        }
        starts.insert(self.code.len());
        let starts: Vec<usize> = starts.into_iter().collect();
        let piece_of = |place: usize| starts.binary_search(&place).ok();
        let mut pieces = Vec::new();
        for bounds in starts.windows(2) {
            let last = bounds[1] - 1;
            let it = &self.code[last];
            let at = |address: u64| self.number_of(address).and_then(piece_of);
            let mut next: Vec<usize> = match it.control {
                Control::Jump(target) => at(target).into_iter().collect(),
                Control::Branch(target) => at(target).into_iter().chain(at(it.next())).collect(),
                Control::JumpThrough(_) => {
                    let targets = jumps.get(&last).into_iter().flatten();
                    targets.filter_map(|target| at(*target)).collect()
                }
                Control::Return | Control::Trap => Vec::new(),
                _ if self.ends(last) => Vec::new(),
                _ => at(it.next()).into_iter().collect(),
            };
            next.sort_unstable();
            next.dedup();
            pieces.push(Piece { code: bounds[0]..bounds[1], next, before: Vec::new() });
        }
        self.entrance = self.number_of(self.function.start).and_then(piece_of).unwrap_or(0);
        self.pieces = pieces;
    }

    /// Pieces that nothing seems to lead to, though they are code: the unwinder enters them.
    fn unreached(&self) -> Vec<usize> {
        let mut reached = vec![false; self.pieces.len()];
        let mut left = vec![self.entrance];
        let mut found = Vec::new();
        let mut candidates = 0..self.pieces.len();
        loop {
            while let Some(here) = left.pop() {
                if !std::mem::replace(&mut reached[here], true) {
                    left.extend(&self.pieces[here].next);
                }
            }
            let does_something = |piece: &usize| {
                let code = &self.code[self.pieces[*piece].code.clone()];
                !reached[*piece] && !code.iter().all(|it| it.is_padding)
            };
            let Some(piece) = candidates.find(does_something) else { return found };
            found.push(piece);
            left.push(piece);
        }
    }

    /// Lets every call lead to all pieces that the unwinder may enter, by way of an empty piece.
    fn catch(&mut self) {
        let pads = self.unreached();
        let hub = self.pieces.len();
        let throws = |piece: &Piece| piece.code.clone().last().is_some_and(|it| self.may_throw(it));
        let callers: Vec<usize> = (0..hub).filter(|piece| throws(&self.pieces[*piece])).collect();
        for caller in callers {
            self.pieces[caller].next.push(hub);
        }
        self.pieces.push(Piece { code: 0..0, next: pads, before: Vec::new() });
    }

    fn look_back(&mut self) {
        for piece in 0..self.pieces.len() {
            for next in self.pieces[piece].next.clone() {
                self.pieces[next].before.push(piece);
            }
        }
    }
}
