//! What the registers and the frame hold at every instruction, as far as addresses need it.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;

use super::announces::Announces;
use super::body::Body;
use super::state::State;
use super::value::{Atom, Position, Shape, Value, Values};
use crate::Callee;
use crate::image::Image;
use crate::isa::{
    ALL_ARGUMENTS, ARGUMENTS, Address, CallingConvention, Control, Operand, Operation, Register,
};

/// Stands for a value that is loaded, in [`Atom::Made`].
const LOADED: u8 = 255;
/// How much a push puts onto the stack.
const WORD: i64 = 8;
/// How far a frame that is aligned anew is put away from what the function was given.
const ANEW: i64 = 1 << 20;

/// What was found out.
pub struct Facts {
    /// How functions call each other.
    pub convention: &'static CallingConvention,
    /// All values.
    pub values: Values,
    /// The addresses of the memory that each instruction touches, in the order of its effect.
    pub addresses: Vec<Vec<Value>>,
    /// What the argument registers hold at each call.
    pub arguments: BTreeMap<usize, [Value; ARGUMENTS]>,
    /// Where the stack pointer is at each call or jump out of the function, if that is known.
    pub tops: BTreeMap<usize, Option<i64>>,
    /// What holds at the end of each piece; none if it is never reached.
    pub ends: Vec<Option<State>>,
}

struct Evaluation<'a> {
    body: &'a Body<'a>,
    image: &'a Image<'a>,
    convention: &'static CallingConvention,
    values: Values,
    /// Offsets and sizes of parts of the frame that are announced. Others have their address, or the compiler would not
    /// announce them; and what is not announced can only be reached by whoever gets its address in a call, and not longer than that.
    announced: BTreeSet<(i64, i64)>,
}

/// Evaluates a function. None if it does not come to an end in reasonable time.
pub fn evaluate(body: &Body<'_>, image: &Image<'_>) -> Option<Facts> {
    let mut values = Values::default();
    let convention = image.instruction_set.convention();
    let first = State::first(&mut values, convention.stack_pointer);
    let mut it = Evaluation { body, image, convention, values, announced: BTreeSet::new() };
    let mut joined = FxHashSet::default();
    let mut ends: Vec<Option<State>> = vec![None; body.pieces.len()];
    let mut budget = 40 * body.pieces.len() + 400;
    loop {
        let known = (it.announced.len(), it.values.blurred.len());
        let mut left = BTreeSet::from([body.entrance]);
        let mut again: BTreeSet<usize> = (0..body.pieces.len()).filter(|it| ends[*it].is_some()).collect();
        left.append(&mut again);
        while let Some(piece) = left.pop_first() {
            budget = budget.checked_sub(1)?;
            let state = it.beginning(piece, &first, &ends, &mut joined);
            let end = it.run(piece, state, |_, _, _| {});
            if ends[piece].as_ref() != Some(&end) {
                ends[piece] = Some(end);
                left.extend(&body.pieces[piece].next);
            }
        }
        if (it.announced.len(), it.values.blurred.len()) == known {
            break;
        }
    }
    let mut addresses = vec![Vec::new(); body.code.len()];
    let (mut arguments, mut tops) = (BTreeMap::new(), BTreeMap::new());
    for piece in 0..body.pieces.len() {
        if ends[piece].is_none() {
            continue;
        }
        let state = it.beginning(piece, &first, &ends, &mut joined);
        it.run(piece, state, |it, place, state| {
            let memory = &it.body.semantics[place].effect.memory;
            addresses[place] = memory.iter().map(|memory| it.address(memory.address, state)).collect();
            let indirect = matches!(it.body.code[place].control, Control::JumpThrough(_));
            if it.body.calls.contains_key(&place) || indirect {
                arguments.insert(place, convention.arguments.map(|register| state.register(register)));
                let top = match it.values.position(state.register(convention.stack_pointer)) {
                    Some(Position::At(top)) => Some(top),
                    _ => None,
                };
                tops.insert(place, top);
            }
        });
    }
    Some(Facts { convention, values: it.values, addresses, arguments, tops, ends })
}

impl Evaluation<'_> {
    fn beginning(
        &mut self,
        piece: usize,
        first: &State,
        ends: &[Option<State>],
        joined: &mut FxHashSet<(u32, super::value::Keeper)>,
    ) -> State {
        let before = self.body.pieces[piece].before.iter().filter_map(|before| ends[*before].as_ref());
        let mut ways: Vec<&State> = before.collect();
        if piece == self.body.entrance {
            ways.push(first);
        }
        State::joined(&mut self.values, piece as u32, &ways, joined)
    }

    fn run(
        &mut self,
        piece: usize,
        mut state: State,
        mut see: impl FnMut(&mut Self, usize, &State),
    ) -> State {
        for place in self.body.pieces[piece].code.clone() {
            see(self, place, &state);
            self.step(place, &mut state);
        }
        state
    }

    fn address(&mut self, address: Address, state: &State) -> Value {
        let mut sum = self.values.constant(address.plus);
        let is_of_file = address.index.is_none() || self.image.holds(address.plus as u64);
        if address.of_thread {
            let thread = self.values.atom(Atom::Thread);
            sum = self.values.add(sum, thread, 1);
        } else if address.base.is_none() && is_of_file {
            sum = self.values.address(address.plus as u64);
        }
        if let Some(base) = address.base {
            sum = self.values.add(sum, state.register(base), 1);
        }
        if let Some((index, scale)) = address.index {
            sum = self.values.add(sum, state.register(index), i64::from(scale));
        }
        sum
    }

    fn load(&mut self, place: usize, address: Value, size: u32, state: &mut State) -> Value {
        let loaded = self.values.atom(Atom::Made(place as u32, LOADED));
        if let Some(Position::At(offset)) = self.values.position(address) {
            return state.frame.load(&mut self.values, offset, size, loaded);
        }
        let in_thread = self.values.in_thread_block(address);
        if in_thread.is_some() && in_thread == self.convention.thread_pointer {
            return self.values.atom(Atom::Thread);
        }
        match self.values.as_address(address) {
            Some(at) if size == 8 && self.image.constant(at).is_some() => match self.image.slot(at) {
                Some(Callee::Function(start)) => self.values.address(*start),
                _ => self.values.atom(Atom::Cell(at)),
            },
            _ => loaded,
        }
    }

    fn store(&mut self, address: Value, size: u32, value: Value, state: &mut State) {
        match self.values.position(address) {
            Some(Position::At(offset)) if size > 0 => state.frame.store(offset, size, value),
            Some(_) => state.frame.forget_of_size(size),
            None if self.values.as_address(address).is_none() => state.frame.forget(&self.announced),
            None => {}
        }
    }

    fn read(&mut self, place: usize, operand: Operand, state: &mut State) -> Value {
        match operand {
            Operand::Register(register, size) => self.sized(size.into(), state.register(register)),
            Operand::Memory(address, size) => {
                let address = self.address(address, state);
                self.load(place, address, size, state)
            }
            Operand::Constant(constant) if self.image.is_fixed && self.image.holds(constant as u64) => {
                self.values.address(constant as u64)
            }
            Operand::Constant(constant) => self.values.constant(constant),
            Operand::Inside(_) | Operand::Other => self.values.atom(Atom::Made(place as u32, LOADED)),
        }
    }

    fn sized(&mut self, size: u32, value: Value) -> Value {
        match size {
            1 | 2 | 4 => self.values.part(Shape::Zero(8 * size as u8), value),
            _ => value,
        }
    }

    fn write(&mut self, place: usize, operand: Operand, value: Value, state: &mut State) {
        match operand {
            Operand::Memory(address, size) => {
                let address = self.address(address, state);
                let value = self.sized(size, value);
                self.store(address, size, value, state);
            }
            Operand::Register(register, 8) => state.set_register(register, value),
            Operand::Register(register, 4) => {
                let value = self.values.part(Shape::Zero(32), value);
                state.set_register(register, value);
            }
            Operand::Register(register, _) | Operand::Inside(register) => self.make(place, register, state),
            Operand::Constant(_) | Operand::Other => {}
        }
    }

    /// Lets an instruction give a register a value of which nothing more is known.
    fn make(&mut self, place: usize, register: Register, state: &mut State) {
        let made = self.values.atom(Atom::Made(place as u32, register));
        state.set_register(register, made);
    }

    fn move_stack_pointer(&mut self, by: i64, state: &mut State) -> Value {
        let top = self.values.plus(state.register(self.convention.stack_pointer), by);
        state.set_register(self.convention.stack_pointer, top);
        top
    }

    fn step(&mut self, place: usize, state: &mut State) {
        if let Some(callee) = self.body.calls.get(&place) {
            return self.call(place, callee, state);
        }
        match self.body.semantics[place].operation {
            Operation::Copy { to, from } => {
                let value = self.read(place, from, state);
                self.write(place, to, value, state);
            }
            Operation::SignExtend { to, from, bits } => {
                let value = self.read(place, from, state);
                let value = self.values.part(Shape::Sign(bits), value);
                self.write(place, to, value, state);
            }
            Operation::AddressOf { to, address } => {
                let value = self.address(address, state);
                self.write(place, to, value, state);
            }
            Operation::Add { to, from, times } => {
                let (one, other) = (self.read(place, to, state), self.read(place, from, state));
                let value = self.values.add(one, other, times.into());
                self.write(place, to, value, state);
            }
            Operation::Multiply { to, from, times } => {
                let value = self.read(place, from, state);
                let value = self.values.times(value, times);
                self.write(place, to, value, state);
            }
            Operation::AlignStack => {
                self.move_stack_pointer(-ANEW, state);
            }
            Operation::Push(from) => {
                let value = self.read(place, from, state);
                let top = self.move_stack_pointer(-WORD, state);
                self.store(top, WORD as u32, value, state);
            }
            Operation::Pop(to) => {
                let top = state.register(self.convention.stack_pointer);
                let value = self.load(place, top, WORD as u32, state);
                self.move_stack_pointer(WORD, state);
                self.write(place, to, value, state);
            }
            Operation::LeaveFrame => {
                let frame = state.register(self.convention.frame_pointer);
                let value = self.load(place, frame, WORD as u32, state);
                state.set_register(self.convention.stack_pointer, frame);
                self.move_stack_pointer(WORD, state);
                state.set_register(self.convention.frame_pointer, value);
            }
            Operation::String { .. } | Operation::Divide | Operation::Other => self.anything(place, state),
        }
    }

    /// An instruction of which only is known what it touches.
    fn anything(&mut self, place: usize, state: &mut State) {
        let effect = &self.body.semantics[place].effect;
        let made = self.values.atom(Atom::Made(place as u32, LOADED));
        for memory in effect.memory.iter().filter(|memory| memory.written) {
            let address = self.address(memory.address, state);
            self.store(address, memory.size, made, state);
        }
        for register in self.convention.generals(effect.writes) {
            self.make(place, register, state);
        }
    }

    fn call(&mut self, place: usize, callee: &Callee, state: &mut State) {
        let arguments = self.convention.arguments.map(|register| state.register(register));
        let position = |it: &Self, argument: usize| it.values.position(arguments[argument]);
        match Announces::of(callee) {
            Some(Announces::Access { size, .. }) => {
                if let Some(Position::At(offset)) = position(self, 0) {
                    let counted = self.values.as_constant(arguments[1]);
                    let size = if size > 0 { size } else { counted.unwrap_or(-offset) };
                    self.announced.insert((offset, size));
                }
            }
            Some(Announces::Makes(_, size)) => {
                if let Some(Position::At(expected)) = position(self, 1) {
                    state.frame.forget(&BTreeSet::from([(expected, size)]));
                }
            }
            Some(Announces::Nothing) => {}
            None => {
                let given = ALL_ARGUMENTS.into_iter().filter_map(|argument| match position(self, argument) {
                    Some(Position::At(offset)) => Some((offset, offset.saturating_neg())),
                    _ => None,
                });
                let given: BTreeSet<(i64, i64)> = given.collect();
                state.frame.forget(&given);
                state.frame.forget(&self.announced);
            }
        }
        for register in self.convention.generals(self.convention.volatile) {
            self.make(place, register, state);
        }
    }
}
