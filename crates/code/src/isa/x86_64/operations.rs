//! What single instructions compute, as far as addresses need it.

use iced_x86::{Instruction as Decoded, Mnemonic, OpKind, Register as Named};

use super::address;
use super::registers::{RAX, RCX, is_high_byte, number};
use crate::isa::{Operand, Operation};

/// What the instruction computes.
pub fn operation(it: &Decoded) -> Operation {
    if it.is_string_instruction() {
        return string(it);
    }
    let is_register = |place| it.op_kind(place) == OpKind::Register;
    let is_general = |place| !is_register(place) || it.op_register(place).is_gpr();
    let clears = it.op_count() == 2
        && is_register(0)
        && is_register(1)
        && it.op_register(0) == it.op_register(1)
        && matches!(it.mnemonic(), Mnemonic::Xor | Mnemonic::Sub);
    let to = || operand(it, 0);
    match it.mnemonic() {
        _ if clears => Operation::Copy { to: to(), from: Operand::Constant(0) },
        Mnemonic::Mov if is_general(0) && is_general(1) => Operation::Copy { to: to(), from: operand(it, 1) },
        Mnemonic::Movzx => Operation::Copy { to: to(), from: operand(it, 1) },
        Mnemonic::Movsx | Mnemonic::Movsxd => {
            let bytes = match it.op1_kind() {
                OpKind::Memory => it.memory_size().size(),
                _ => it.op1_register().size(),
            };
            Operation::SignExtend { to: to(), from: operand(it, 1), bits: 8 * bytes as u8 }
        }
        Mnemonic::Cdqe => {
            Operation::SignExtend { to: Operand::Register(RAX, 8), from: Operand::Register(RAX, 4), bits: 32 }
        }
        Mnemonic::Lea => Operation::AddressOf { to: to(), address: address(it) },
        Mnemonic::Add => Operation::Add { to: to(), from: operand(it, 1), times: 1 },
        Mnemonic::Sub => Operation::Add { to: to(), from: operand(it, 1), times: -1 },
        Mnemonic::Inc => Operation::Add { to: to(), from: Operand::Constant(1), times: 1 },
        Mnemonic::Dec => Operation::Add { to: to(), from: Operand::Constant(1), times: -1 },
        Mnemonic::Shl if it.op1_kind() == OpKind::Immediate8 => {
            let times = 1i64.wrapping_shl(it.immediate8().into());
            Operation::Multiply { to: to(), from: to(), times }
        }
        Mnemonic::Imul if it.op_count() == 3 => {
            Operation::Multiply { to: to(), from: operand(it, 1), times: it.immediate(2) as i64 }
        }
        Mnemonic::And if is_register(0) && it.op0_register() == Named::RSP => Operation::AlignStack,
        Mnemonic::Push => Operation::Push(to()),
        Mnemonic::Pop => Operation::Pop(to()),
        Mnemonic::Leave => Operation::LeaveFrame,
        Mnemonic::Div | Mnemonic::Idiv => Operation::Divide,
        _ => Operation::Other,
    }
}

fn string(it: &Decoded) -> Operation {
    use Mnemonic::*;
    let takes_value = matches!(it.mnemonic(), Stosb | Stosw | Stosd | Stosq | Scasb | Scasw | Scasd | Scasq);
    let repeats = it.has_rep_prefix() || it.has_repne_prefix();
    Operation::String { value: takes_value.then_some(RAX), count: repeats.then_some(RCX) }
}

fn operand(it: &Decoded, place: u32) -> Operand {
    match it.op_kind(place) {
        OpKind::Register => {
            let register = it.op_register(place);
            match number(register) {
                Some(number) if is_high_byte(register) => Operand::Inside(number),
                Some(number) => Operand::Register(number, register.size() as u8),
                None => Operand::Other,
            }
        }
        OpKind::Memory => Operand::Memory(address(it), it.memory_size().size() as u32),
        _ => Operand::Constant(it.immediate(place) as i64),
    }
}
