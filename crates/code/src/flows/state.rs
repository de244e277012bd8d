//! What registers and frame hold at one moment.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;

use super::value::{Atom, Keeper, Shape, Value, Values};
use crate::isa::{GENERAL, Register};

/// The frame: what is known to lie at offsets from the stack pointer's first value, and how long it is.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Frame {
    slots: BTreeMap<i64, (u32, Value)>,
}

/// What registers and frame hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct State {
    /// The general registers.
    registers: [Value; GENERAL],
    /// The frame.
    pub frame: Frame,
}

/// The longest that a slot may be.
const LONGEST: i64 = 64;

impl Frame {
    fn overlapping(&self, offset: i64, size: u32) -> Vec<i64> {
        let near = self.slots.range(offset - LONGEST..offset + i64::from(size));
        near.filter(|(at, (long, _))| **at + i64::from(*long) > offset).map(|(at, _)| *at).collect()
    }

    /// What lies in the frame. If nothing is known of it, it is `loaded` from now on.
    pub fn load(&mut self, values: &mut Values, offset: i64, size: u32, loaded: Value) -> Value {
        match self.slots.get(&offset) {
            Some((long, value)) if *long == size => return *value,
            Some((long, value)) if *long > size && matches!(size, 1 | 2 | 4) => {
                let value = *value;
                return values.part(Shape::Zero(8 * size as u8), value);
            }
            _ => {}
        }
        if self.overlapping(offset, size).is_empty() {
            self.slots.insert(offset, (size, loaded));
        }
        loaded
    }

    /// Puts something into the frame.
    pub fn store(&mut self, offset: i64, size: u32, value: Value) {
        for at in self.overlapping(offset, size) {
            self.slots.remove(&at);
        }
        self.slots.insert(offset, (size, value));
    }

    /// Forgets what a store somewhere in the frame may have changed: an element of an array is written in its own size. 0: any size.
    pub fn forget_of_size(&mut self, size: u32) {
        self.slots.retain(|_, (long, _)| size != 0 && *long != size);
    }

    /// Forgets what others may have changed: parts of the frame by offset and size.
    pub fn forget(&mut self, parts: &BTreeSet<(i64, i64)>) {
        for (offset, size) in parts {
            let end = offset.saturating_add(*size);
            let near: Vec<i64> =
                self.slots.range(offset - LONGEST..end.max(*offset)).map(|(at, _)| *at).collect();
            for at in near {
                if at + i64::from(self.slots[&at].0) > *offset {
                    self.slots.remove(&at);
                }
            }
        }
    }
}

impl State {
    /// What holds when a function begins.
    pub fn first(values: &mut Values, stack_pointer: Register) -> State {
        let entry = |register| if register == stack_pointer { Atom::Stack } else { Atom::Entry(register) };
        let registers = std::array::from_fn(|number| values.atom(entry(number as Register)));
        State { registers, frame: Frame::default() }
    }

    /// What a general register holds.
    pub fn register(&self, register: Register) -> Value {
        self.registers[usize::from(register)]
    }

    /// Lets a general register hold something else.
    pub fn set_register(&mut self, register: Register, value: Value) {
        self.registers[usize::from(register)] = value;
    }

    /// What a keeper holds.
    pub fn kept(&self, keeper: Keeper) -> Option<Value> {
        match keeper {
            Keeper::Register(register) => Some(self.register(register)),
            Keeper::Slot(offset) => self.frame.slots.get(&offset).map(|(_, value)| *value),
        }
    }

    /// What holds where ways come together. What differs gets a name of its own, and keeps it: `joined` remembers.
    pub fn joined(
        values: &mut Values,
        piece: u32,
        ways: &[&State],
        joined: &mut FxHashSet<(u32, Keeper)>,
    ) -> State {
        let mut together = |keeper: Keeper, all: &mut dyn Iterator<Item = Value>| {
            let all: Vec<Value> = all.collect();
            if all.iter().any(|it| *it != all[0]) {
                joined.insert((piece, keeper));
                if all.iter().any(|it| values.position(*it).is_some()) {
                    values.blurred.insert((piece, keeper));
                }
            }
            match all.first() {
                Some(value) if !joined.contains(&(piece, keeper)) => *value,
                _ => values.atom(Atom::Join(piece, keeper)),
            }
        };
        let registers = std::array::from_fn(|number| {
            together(Keeper::Register(number as Register), &mut ways.iter().map(|way| way.registers[number]))
        });
        let mut frame = Frame::default();
        let Some((first, others)) = ways.split_first() else { return State { registers, frame } };
        for (offset, (size, _)) in &first.frame.slots {
            let there = |way: &&State| way.frame.slots.get(offset).is_some_and(|(long, _)| long == size);
            if others.iter().all(there) {
                let mut all = ways.iter().map(|way| way.frame.slots[offset].1);
                frame.slots.insert(*offset, (*size, together(Keeper::Slot(*offset), &mut all)));
            }
        }
        State { registers, frame }
    }
}
