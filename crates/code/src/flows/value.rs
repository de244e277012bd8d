//! Values as expressions, so that two addresses can be known to be equal.
//!
//! A value is a sum of multiples of *atoms*, about which nothing more is known, and a constant. Equal sums have equal numbers.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::isa::Register;

/// A value, by number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Value(u32);

/// What keeps a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Keeper {
    /// A general register.
    Register(Register),
    /// The frame's slot at an offset from the stack pointer's first value.
    Slot(i64),
}

/// A part of a value, made a whole word again.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Shape {
    /// The lowest bits, the others cleared.
    Zero(u8),
    /// The lowest bits, the others like the highest of them.
    Sign(u8),
}

/// Something of which nothing more is known.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Atom {
    /// The stack pointer when the function begins.
    Stack,
    /// The thread's block.
    Thread,
    /// Where the file's addresses begin. What is added to it is an address of the file.
    Image,
    /// A general register when the function begins.
    Entry(Register),
    /// What an instruction gives to a register, or (255) loads.
    Made(u32, u8),
    /// What a keeper holds where ways come together, at the beginning of a piece.
    Join(u32, Keeper),
    /// What constant data holds at an address.
    Cell(u64),
    /// A part of a value.
    Part(Shape, Value),
}

/// A sum of multiples of atoms, and a constant.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub struct Sum {
    terms: Vec<(u32, i64)>,
    plus: i64,
}

/// Where on the stack something is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Position {
    /// At this offset from the stack pointer's first value.
    At(i64),
    /// Somewhere on it.
    Somewhere,
    /// Somewhere on it or elsewhere, depending on the way that was taken.
    Perhaps,
}

/// All values of a function.
#[derive(Default)]
pub struct Values {
    sums: Vec<Sum>,
    numbers: FxHashMap<Sum, u32>,
    atoms: Vec<Atom>,
    atom_numbers: FxHashMap<Atom, u32>,
    /// Where different values come together, one of which points into the stack.
    pub blurred: FxHashSet<(u32, Keeper)>,
}

/// A value without its constant, and the constant.
pub type Rooted = (Value, i64);

impl Values {
    fn value(&mut self, sum: Sum) -> Value {
        if let Some(number) = self.numbers.get(&sum) {
            return Value(*number);
        }
        let number = self.sums.len() as u32;
        self.sums.push(sum.clone());
        self.numbers.insert(sum, number);
        Value(number)
    }

    /// A constant.
    pub fn constant(&mut self, plus: i64) -> Value {
        self.value(Sum { terms: Vec::new(), plus })
    }

    /// An atom alone.
    pub fn atom(&mut self, atom: Atom) -> Value {
        let number = *self.atom_numbers.entry(atom).or_insert_with(|| {
            self.atoms.push(atom);
            self.atoms.len() as u32 - 1
        });
        self.value(Sum { terms: vec![(number, 1)], plus: 0 })
    }

    /// The sum of a value and a multiple of another one.
    pub fn add(&mut self, one: Value, other: Value, times: i64) -> Value {
        let mut sum = self.sums[one.0 as usize].clone();
        let more = &self.sums[other.0 as usize];
        sum.plus = sum.plus.wrapping_add(more.plus.wrapping_mul(times));
        for (atom, factor) in &more.terms {
            let factor = factor.wrapping_mul(times);
            match sum.terms.binary_search_by_key(atom, |(atom, _)| *atom) {
                Ok(place) => sum.terms[place].1 = sum.terms[place].1.wrapping_add(factor),
                Err(place) => sum.terms.insert(place, (*atom, factor)),
            }
        }
        sum.terms.retain(|(_, factor)| *factor != 0);
        self.value(sum)
    }

    /// A value and a constant.
    pub fn plus(&mut self, value: Value, plus: i64) -> Value {
        let mut sum = self.sums[value.0 as usize].clone();
        sum.plus = sum.plus.wrapping_add(plus);
        self.value(sum)
    }

    /// A multiple of a value.
    pub fn times(&mut self, value: Value, times: i64) -> Value {
        let nothing = self.constant(0);
        self.add(nothing, value, times)
    }

    /// A part of a value.
    pub fn part(&mut self, shape: Shape, value: Value) -> Value {
        if let Some(constant) = self.as_constant(value) {
            return self.constant(match shape {
                Shape::Zero(32) => i64::from(constant as u32),
                Shape::Zero(16) => i64::from(constant as u16),
                Shape::Zero(_) => i64::from(constant as u8),
                Shape::Sign(32) => i64::from(constant as i32),
                Shape::Sign(16) => i64::from(constant as i16),
                Shape::Sign(_) => i64::from(constant as i8),
            });
        }
        let (Shape::Zero(bits) | Shape::Sign(bits)) = shape;
        if let Some(Atom::Part(inner, whole)) = self.as_atom(value) {
            let (Shape::Zero(inner_bits) | Shape::Sign(inner_bits)) = inner;
            if inner == shape {
                return value;
            }
            if bits <= inner_bits {
                return self.part(shape, whole);
            }
        }
        self.atom(Atom::Part(shape, value))
    }

    /// The constant that a value is.
    pub fn as_constant(&self, value: Value) -> Option<i64> {
        let sum = &self.sums[value.0 as usize];
        sum.terms.is_empty().then_some(sum.plus)
    }

    /// The address of the file that a value is.
    pub fn as_address(&self, value: Value) -> Option<u64> {
        self.offset_from(Atom::Image, value).map(|offset| offset as u64)
    }

    /// An address of the file.
    pub fn address(&mut self, address: u64) -> Value {
        let image = self.atom(Atom::Image);
        self.plus(image, address as i64)
    }

    /// The address of the file from which an address is counted.
    pub fn counted_from(&self, value: Value) -> Option<u64> {
        let (mut terms, plus) = self.parts(value);
        terms.any(|term| term == (Atom::Image, 1)).then_some(plus as u64)
    }

    /// Where in the thread's block an address is.
    pub fn in_thread_block(&self, value: Value) -> Option<i64> {
        self.offset_from(Atom::Thread, value)
    }

    /// How far an address is from an atom, if it is counted from nothing else.
    fn offset_from(&self, atom: Atom, value: Value) -> Option<i64> {
        let (mut terms, plus) = self.parts(value);
        (terms.next() == Some((atom, 1)) && terms.next().is_none()).then_some(plus)
    }

    /// The argument register whose value when the function began an address is counted from, and the offset if that is known.
    pub fn behind_entry(&self, value: Value) -> Option<(Register, Option<i64>)> {
        let (mut terms, plus) = self.parts(value);
        let register = terms.find_map(|term| match term {
            (Atom::Entry(register), 1) => Some(register),
            _ => None,
        })?;
        let alone = self.sums[value.0 as usize].terms.len() == 1;
        Some((register, alone.then_some(plus)))
    }

    /// The atom that a value is.
    pub fn as_atom(&self, value: Value) -> Option<Atom> {
        match self.sums[value.0 as usize] {
            Sum { ref terms, plus: 0 } if terms.len() == 1 && terms[0].1 == 1 => {
                Some(self.atoms[terms[0].0 as usize])
            }
            _ => None,
        }
    }

    /// A value without its constant, and the constant.
    pub fn rooted(&mut self, value: Value) -> Rooted {
        let plus = self.sums[value.0 as usize].plus;
        (self.plus(value, plus.wrapping_neg()), plus)
    }

    /// The atoms of a value with their factors, and its constant.
    pub fn parts(&self, value: Value) -> (impl Iterator<Item = (Atom, i64)>, i64) {
        let sum = &self.sums[value.0 as usize];
        (sum.terms.iter().map(|(atom, factor)| (self.atoms[*atom as usize], *factor)), sum.plus)
    }

    /// Where on the stack an address is, if it may be on the stack.
    pub fn position(&self, value: Value) -> Option<Position> {
        let (terms, plus) = self.parts(value);
        let mut perhaps = None;
        for (atom, factor) in terms {
            match atom {
                Atom::Stack => {
                    let alone = self.sums[value.0 as usize].terms.len() == 1;
                    return Some(if alone && factor == 1 { Position::At(plus) } else { Position::Somewhere });
                }
                Atom::Join(piece, keeper) if self.blurred.contains(&(piece, keeper)) => {
                    perhaps = Some(Position::Perhaps);
                }
                _ => {}
            }
        }
        perhaps
    }

    /// The instructions, by number, that the value's atoms were made by, and the pieces at whose beginning they come together.
    pub fn origins(&self, value: Value) -> (Vec<u32>, Vec<(u32, Keeper)>) {
        let (mut made, mut joined) = (Vec::new(), Vec::new());
        let mut left = vec![value];
        while let Some(value) = left.pop() {
            for (atom, _) in self.parts(value).0 {
                match atom {
                    Atom::Made(by, _) => made.push(by),
                    Atom::Join(piece, keeper) => joined.push((piece, keeper)),
                    Atom::Part(_, whole) => left.push(whole),
                    _ => {}
                }
            }
        }
        (made, joined)
    }

    /// The value with what comes together at a piece's beginning replaced by what `find` says. None if that is not known.
    pub fn before_join(
        &mut self,
        value: Value,
        piece: u32,
        find: &impl Fn(Keeper) -> Option<Value>,
    ) -> Option<Value> {
        let (terms, plus) = self.parts(value);
        let terms: Vec<(Atom, i64)> = terms.collect();
        let mut sum = self.constant(plus);
        for (atom, factor) in terms {
            let replaced = match atom {
                Atom::Join(at, keeper) if at == piece => find(keeper)?,
                Atom::Part(shape, whole) => {
                    let whole = self.before_join(whole, piece, find)?;
                    self.part(shape, whole)
                }
                _ => self.atom(atom),
            };
            sum = self.add(sum, replaced, factor);
        }
        Some(sum)
    }
}
