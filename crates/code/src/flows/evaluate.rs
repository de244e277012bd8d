//! What the registers and the frame hold at every instruction, as far as addresses need it.

use std::collections::{BTreeMap, BTreeSet};

use iced_x86::{Instruction, Mnemonic, OpKind, Register};
use rustc_hash::FxHashSet;

use super::announces::Announces;
use super::body::Body;
use super::effects::Memory;
use super::places::{ARGUMENTS, RBP, RSP, VOLATILE, general, number};
use super::state::State;
use super::value::{Atom, Position, Shape, Value, Values};
use crate::Callee;
use crate::image::Image;

/// Stands for a value that is loaded, in [`Atom::Made`].
const LOADED: u8 = 255;
/// How far a frame that is aligned anew is put away from what the function was given.
const ANEW: i64 = 1 << 20;

/// What was found out.
pub struct Facts {
    /// All values.
    pub values: Values,
    /// The addresses of the memory that each instruction touches, in the order of its effect.
    pub addresses: Vec<Vec<Value>>,
    /// What the argument registers hold at each call.
    pub arguments: BTreeMap<usize, [Value; 6]>,
    /// Where the stack pointer is at each call or jump out of the function, if that is known.
    pub tops: BTreeMap<usize, Option<i64>>,
    /// What holds at the end of each piece; none if it is never reached.
    pub ends: Vec<Option<State>>,
}

struct Evaluation<'a> {
    body: &'a Body<'a>,
    image: &'a Image<'a>,
    values: Values,
    /// Offsets and sizes of parts of the frame that are announced. Others have their address, or the compiler would not
    /// announce them; and what is not announced can only be reached by whoever gets its address in a call, and not longer than that.
    announced: BTreeSet<(i64, i64)>,
}

/// Evaluates a function. None if it does not come to an end in reasonable time.
pub fn evaluate(body: &Body<'_>, image: &Image<'_>) -> Option<Facts> {
    let mut values = Values::default();
    let first = State::first(&mut values);
    let mut it = Evaluation { body, image, values, announced: BTreeSet::new() };
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
            let memory = &it.body.effects[place].memory;
            addresses[place] = memory.iter().map(|memory| it.address(memory, state)).collect();
            let indirect = it.body.code[place].flow_control() == iced_x86::FlowControl::IndirectBranch;
            if it.body.calls.contains_key(&place) || indirect {
                arguments.insert(place, ARGUMENTS.map(|register| state.registers[register]));
                let top = match it.values.position(state.registers[RSP]) {
                    Some(Position::At(top)) => Some(top),
                    _ => None,
                };
                tops.insert(place, top);
            }
        });
    }
    Some(Facts { values: it.values, addresses, arguments, tops, ends })
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

    fn address(&mut self, memory: &Memory, state: &State) -> Value {
        let mut sum = self.values.constant(memory.plus);
        if memory.of_thread {
            let thread = self.values.atom(Atom::Thread);
            sum = self.values.add(sum, thread, 1);
        } else if memory.base.is_none() && (memory.index.is_none() || self.image.holds(memory.plus as u64)) {
            sum = self.values.address(memory.plus as u64);
        }
        if let Some(base) = memory.base {
            sum = self.values.add(sum, state.registers[base], 1);
        }
        if let Some((index, scale)) = memory.index {
            sum = self.values.add(sum, state.registers[index], scale);
        }
        sum
    }

    /// What an address named by an operand is, whether it is touched or only computed.
    fn operand_address(&mut self, it: &Instruction, state: &State) -> Value {
        let memory = Memory {
            base: number(it.memory_base()).filter(|_| it.memory_base() != Register::RIP),
            index: number(it.memory_index()).map(|index| (index, i64::from(it.memory_index_scale()))),
            plus: it.memory_displacement64() as i64,
            of_thread: matches!(it.segment_prefix(), Register::FS | Register::GS),
            size: 0,
            read: false,
            written: false,
        };
        self.address(&memory, state)
    }

    fn load(&mut self, place: usize, address: Value, size: u32, state: &mut State) -> Value {
        let loaded = self.values.atom(Atom::Made(place as u32, LOADED));
        if let Some(Position::At(offset)) = self.values.position(address) {
            return state.frame.load(&mut self.values, offset, size, loaded);
        }
        if self.values.as_atom(address) == Some(Atom::Thread) {
            return address;
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

    fn read(&mut self, place: usize, operand: u32, state: &mut State) -> Value {
        let it = &self.body.code[place];
        match it.op_kind(operand) {
            OpKind::Register => {
                let register = it.op_register(operand);
                let high = matches!(register, Register::AH | Register::BH | Register::CH | Register::DH);
                match number(register) {
                    Some(_) if high => self.values.atom(Atom::Made(place as u32, LOADED)),
                    Some(number) => self.sized(register.size() as u32, state.registers[number]),
                    None => self.values.atom(Atom::Made(place as u32, LOADED)),
                }
            }
            OpKind::Memory => {
                let address = self.operand_address(it, state);
                let size = it.memory_size().size() as u32;
                self.load(place, address, size, state)
            }
            _ => match it.immediate(operand) {
                address if self.image.is_fixed && self.image.holds(address) => self.values.address(address),
                constant => self.values.constant(constant as i64),
            },
        }
    }

    fn sized(&mut self, size: u32, value: Value) -> Value {
        match size {
            1 | 2 | 4 => self.values.part(Shape::Zero(8 * size as u8), value),
            _ => value,
        }
    }

    /// Writes an instruction's first operand.
    fn write(&mut self, place: usize, value: Value, state: &mut State) {
        let it = &self.body.code[place];
        if it.op0_kind() == OpKind::Memory {
            let address = self.operand_address(it, state);
            let size = it.memory_size().size() as u32;
            let value = self.sized(size, value);
            return self.store(address, size, value, state);
        }
        let register = it.op0_register();
        let Some(number) = number(register) else { return };
        state.registers[number] = match register.size() {
            8 => value,
            4 => self.values.part(Shape::Zero(32), value),
            _ => self.values.atom(Atom::Made(place as u32, number as u8)),
        };
    }

    fn step(&mut self, place: usize, state: &mut State) {
        if let Some(callee) = self.body.calls.get(&place) {
            return self.call(place, callee, state);
        }
        let it = &self.body.code[place];
        let is_general = |operand: u32| match it.op_kind(operand) {
            OpKind::Register => it.op_register(operand).is_gpr(),
            _ => true,
        };
        let two = it.op_count() == 2 && is_general(0) && is_general(1);
        let source_bits = |it: &Instruction| match it.op1_kind() {
            OpKind::Memory => 8 * it.memory_size().size() as u8,
            _ => 8 * it.op1_register().size() as u8,
        };
        let same = it.op_count() == 2
            && it.op1_kind() == OpKind::Register
            && it.op0_kind() == OpKind::Register
            && it.op0_register() == it.op1_register();
        match it.mnemonic() {
            Mnemonic::Mov if two => {
                let value = self.read(place, 1, state);
                self.write(place, value, state);
            }
            Mnemonic::Lea => {
                let value = self.operand_address(it, state);
                self.write(place, value, state);
            }
            Mnemonic::Add | Mnemonic::Sub if two && !(same && it.mnemonic() == Mnemonic::Sub) => {
                let (one, other) = (self.read(place, 0, state), self.read(place, 1, state));
                let times = if it.mnemonic() == Mnemonic::Add { 1 } else { -1 };
                let value = self.values.add(one, other, times);
                self.write(place, value, state);
            }
            Mnemonic::Inc | Mnemonic::Dec => {
                let value = self.read(place, 0, state);
                let by = if it.mnemonic() == Mnemonic::Inc { 1 } else { -1 };
                let value = self.values.plus(value, by);
                self.write(place, value, state);
            }
            Mnemonic::Shl if it.op1_kind() == OpKind::Immediate8 => {
                let value = self.read(place, 0, state);
                let value = self.values.times(value, 1i64.wrapping_shl(it.immediate8().into()));
                self.write(place, value, state);
            }
            Mnemonic::Imul if it.op_count() == 3 => {
                let (value, by) = (self.read(place, 1, state), it.immediate(2) as i64);
                let value = self.values.times(value, by);
                self.write(place, value, state);
            }
            Mnemonic::Movsxd | Mnemonic::Movsx => {
                let value = self.read(place, 1, state);
                let value = self.values.part(Shape::Sign(source_bits(it)), value);
                self.write(place, value, state);
            }
            Mnemonic::Movzx => {
                let value = self.read(place, 1, state);
                self.write(place, value, state);
            }
            Mnemonic::Cdqe => {
                state.registers[0] = self.values.part(Shape::Sign(32), state.registers[0]);
            }
            Mnemonic::Xor | Mnemonic::Sub if same => {
                let nothing = self.values.constant(0);
                self.write(place, nothing, state);
            }
            Mnemonic::And if it.op0_kind() == OpKind::Register && it.op0_register() == Register::RSP => {
                state.registers[RSP] = self.values.plus(state.registers[RSP], -ANEW);
            }
            Mnemonic::Push => {
                let value = self.read(place, 0, state);
                state.registers[RSP] = self.values.plus(state.registers[RSP], -8);
                self.store(state.registers[RSP], 8, value, state);
            }
            Mnemonic::Pop => {
                let value = self.load(place, state.registers[RSP], 8, state);
                state.registers[RSP] = self.values.plus(state.registers[RSP], 8);
                self.write(place, value, state);
            }
            Mnemonic::Leave => {
                let value = self.load(place, state.registers[RBP], 8, state);
                state.registers[RSP] = self.values.plus(state.registers[RBP], 8);
                state.registers[RBP] = value;
            }
            _ => self.anything(place, state),
        }
    }

    /// An instruction of which only is known what it touches.
    fn anything(&mut self, place: usize, state: &mut State) {
        let effect = &self.body.effects[place];
        let made = self.values.atom(Atom::Made(place as u32, LOADED));
        for memory in effect.memory.iter().filter(|memory| memory.written) {
            let address = self.address(memory, state);
            self.store(address, memory.size, made, state);
        }
        for number in (0..16).filter(|number| effect.writes & general(*number) != 0) {
            state.registers[number] = self.values.atom(Atom::Made(place as u32, number as u8));
        }
    }

    fn call(&mut self, place: usize, callee: &Callee, state: &mut State) {
        let position = |it: &Self, argument: usize| it.values.position(state.registers[ARGUMENTS[argument]]);
        match Announces::of(callee) {
            Some(Announces::Access { size, .. }) => {
                if let Some(Position::At(offset)) = position(self, 0) {
                    let counted = self.values.as_constant(state.registers[ARGUMENTS[1]]);
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
                let given = (0..6).filter_map(|argument| match position(self, argument) {
                    Some(Position::At(offset)) => Some((offset, offset.saturating_neg())),
                    _ => None,
                });
                let given: BTreeSet<(i64, i64)> = given.collect();
                state.frame.forget(&given);
                state.frame.forget(&self.announced);
            }
        }
        for number in (0..16).filter(|number| VOLATILE & general(*number) != 0) {
            state.registers[number] = self.values.atom(Atom::Made(place as u32, number as u8));
        }
    }
}
