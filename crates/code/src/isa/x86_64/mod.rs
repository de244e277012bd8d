//! x86-64, with the calling convention of System V.

mod effects;
mod operations;
mod registers;
#[cfg(test)]
mod tests;

use iced_x86::{
    Code, Decoder, DecoderOptions, FlowControl, Instruction as Decoded, InstructionInfoFactory, Mnemonic,
    OpKind, Register as Named,
};
use object::elf::{R_X86_64_RELATIVE, RelocationType};

use super::{Address, CallingConvention, Control, Instruction, InstructionSet, Pointer, Semantics};
use registers::number;

/// The instruction set.
pub struct X86_64;

impl InstructionSet for X86_64 {
    fn decode(&self, code: &[u8], address: u64) -> Vec<Instruction> {
        let mut instructions: Vec<Instruction> =
            decoder(code, address).into_iter().map(|it| instruction(&it)).collect();
        // Compilers set how to round where they store whole numbers.
        let rounds =
            |it: Decoded| matches!(it.mnemonic(), Mnemonic::Fist | Mnemonic::Fistp | Mnemonic::Frndint);
        if decoder(code, address).into_iter().any(rounds) {
            instructions
                .iter_mut()
                .filter(|it| it.hidden_input == Some(CONTROL_WORD))
                .for_each(|it| it.hidden_input = None);
        }
        instructions
    }

    fn semantics(&self, code: &[u8], address: u64) -> Vec<Semantics> {
        let mut factory = InstructionInfoFactory::new();
        let mut semantics = |it: &Decoded| Semantics {
            operation: operations::operation(it),
            effect: effects::effect(&mut factory, it),
        };
        decoder(code, address).into_iter().map(|it| semantics(&it)).collect()
    }

    fn convention(&self) -> &'static CallingConvention {
        &registers::CONVENTION
    }

    fn stub_length(&self) -> u64 {
        16
    }

    fn linkage_slot(&self, stub: &[u8], address: u64) -> Option<u64> {
        let jump = decoder(stub, address).into_iter().find(|it| it.code() != Code::Endbr64)?;
        (jump.code() == Code::Jmp_rm64).then(|| slot(&jump)).flatten()
    }

    fn is_relative(&self, kind: RelocationType) -> bool {
        kind == R_X86_64_RELATIVE
    }
}

fn decoder(code: &[u8], address: u64) -> Decoder<'_> {
    Decoder::with_ip(64, code, address, DecoderOptions::NONE)
}

fn instruction(it: &Decoded) -> Instruction {
    let control = control(it);
    let names = match control {
        Control::Call(_) | Control::CallThrough(_) | Control::CallSystem | Control::JumpThrough(_) => None,
        _ => names(it),
    };
    Instruction {
        address: it.ip(),
        length: it.len() as u8,
        control,
        names,
        hidden_input: hidden_input(it),
        is_padding: matches!(it.mnemonic(), Mnemonic::Nop | Mnemonic::Int3 | Mnemonic::Ud2),
    }
}

fn control(it: &Decoded) -> Control {
    match it.flow_control() {
        FlowControl::Next => Control::Next,
        FlowControl::UnconditionalBranch => Control::Jump(it.near_branch_target()),
        FlowControl::ConditionalBranch => Control::Branch(it.near_branch_target()),
        FlowControl::IndirectBranch => Control::JumpThrough(pointer(it)),
        FlowControl::Call if it.is_call_near() => Control::Call(it.near_branch_target()),
        FlowControl::Call => Control::CallSystem,
        FlowControl::IndirectCall => Control::CallThrough(pointer(it)),
        FlowControl::Return => Control::Return,
        FlowControl::Exception => Control::Trap,
        FlowControl::Interrupt => Control::Interrupt,
        FlowControl::XbeginXabortXend => Control::Transaction,
    }
}

fn pointer(it: &Decoded) -> Pointer {
    match (slot(it), number(it.op0_register())) {
        (Some(slot), _) => Pointer::Slot(slot),
        (None, Some(register)) if it.op0_kind() == OpKind::Register => Pointer::Register(register),
        _ => Pointer::Memory(address(it)),
    }
}

/// The place in memory that the instruction's first operand is, if it is relative to the instruction.
fn slot(it: &Decoded) -> Option<u64> {
    let is_relative = it.op0_kind() == OpKind::Memory && it.memory_base() == Named::RIP;
    is_relative.then(|| it.ip_rel_memory_address())
}

/// The address that the instruction's operand in memory has.
fn address(it: &Decoded) -> Address {
    Address {
        base: number(it.memory_base()),
        index: number(it.memory_index()).map(|index| (index, it.memory_index_scale() as u8)),
        plus: it.memory_displacement64() as i64,
        of_thread: is_of_thread(it.segment_prefix()),
    }
}

fn is_of_thread(segment: Named) -> bool {
    matches!(segment, Named::FS | Named::GS)
}

fn names(it: &Decoded) -> Option<u64> {
    let has = |kind| (0..it.op_count()).any(|operand| it.op_kind(operand) == kind);
    if it.memory_base() == Named::RIP && has(OpKind::Memory) {
        return Some(it.ip_rel_memory_address());
    }
    let is_long = |operand: &u32| {
        use OpKind::{Immediate32, Immediate32to64, Immediate64};
        matches!(it.op_kind(*operand), Immediate32 | Immediate64 | Immediate32to64)
    };
    (0..it.op_count()).find(is_long).map(|operand| it.immediate(operand))
}

/// Sets how x87 rounds, and which exceptions bring the program down.
const CONTROL_WORD: &str = "fldcw";

fn hidden_input(it: &Decoded) -> Option<&'static str> {
    const LINUX_32: u32 = 0x80;
    Some(match it.mnemonic() {
        Mnemonic::Rdtsc => "rdtsc",
        Mnemonic::Rdtscp => "rdtscp",
        Mnemonic::Rdpmc => "rdpmc",
        Mnemonic::Rdpid => "rdpid",
        Mnemonic::Rdrand => "rdrand",
        Mnemonic::Rdseed => "rdseed",
        Mnemonic::Cpuid => "cpuid",
        Mnemonic::Syscall => "syscall",
        Mnemonic::Sysenter => "sysenter",
        // Which exceptions of floating point bring the program down.
        Mnemonic::Ldmxcsr | Mnemonic::Vldmxcsr => "ldmxcsr",
        Mnemonic::Fldcw => CONTROL_WORD,
        Mnemonic::Fldenv => "fldenv",
        Mnemonic::Frstor => "frstor",
        Mnemonic::Fxrstor | Mnemonic::Fxrstor64 => "fxrstor",
        Mnemonic::Xrstor | Mnemonic::Xrstor64 => "xrstor",
        Mnemonic::Int if it.immediate(0) as u32 & 0xff == LINUX_32 => "int 0x80",
        _ => return None,
    })
}
