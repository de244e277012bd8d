//! What single instructions read and write.

use iced_x86::{
    CpuidFeature, FlowControl, Instruction as Decoded, InstructionInfoFactory, Mnemonic, OpAccess, OpKind,
    Register as Named, RflagsBits,
};

use super::is_of_thread;
use super::registers::{CARRY, FLAGS, OLD_FLOATS, general, is_blurred, low, number, parts};
use crate::isa::{Address, Effect, Memory, Registers};

/// What the instruction reads and writes.
pub fn effect(factory: &mut InstructionInfoFactory, it: &Decoded) -> Effect {
    let info = factory.info(it);
    let mut effect = Effect::default();
    let mut in_addresses = 0;
    for used in info.used_memory() {
        let (read, written) = access(used.access());
        if !read && !written {
            continue;
        }
        let repeated = it.has_rep_prefix() || it.has_repne_prefix();
        let is_string = it.is_string_instruction();
        let (base, index) = (number(used.base()), number(used.index()));
        let memory = Memory {
            address: Address {
                base,
                index: index.map(|index| (index, used.scale() as u8)),
                plus: used.displacement() as i64,
                of_thread: is_of_thread(used.segment()),
            },
            registers: base.map_or(0, general) | index.map_or(0, general),
            size: if is_string && repeated { 0 } else { used.memory_size().size() as u32 },
            read,
            written,
        };
        in_addresses |= memory.registers;
        effect.memory.push(memory);
    }
    if it.mnemonic() == Mnemonic::Lea {
        in_addresses = 0;
    }
    let scalar = is_scalar(it);
    let mut explicit: Registers = 0;
    for operand in 0..it.op_count() {
        if it.op_kind(operand) == OpKind::Register && access(info.op_access(operand)).0 {
            explicit |= narrowed(it.op_register(operand), scalar || moves_low_half(it));
        }
    }
    for used in info.used_registers() {
        let register = used.register();
        let (read, written) = access(used.access());
        let taken = narrowed(register, scalar || moves_low_half(it));
        if read && (explicit & taken != 0 || in_addresses & taken == 0 || has_silent_operands(it)) {
            effect.reads |= taken;
        }
        if written {
            let clears_the_rest = !effect.memory.is_empty() && moves_low_half(it);
            let changed = if scalar && !clears_the_rest { taken } else { parts(register) };
            effect.writes |= changed;
            let conditional = matches!(used.access(), OpAccess::CondWrite | OpAccess::ReadCondWrite);
            if conditional || is_blurred(register) {
                effect.keeps |= changed;
            }
        }
    }
    flags(it, &mut effect);
    if is_old_float(it) {
        effect.reads |= OLD_FLOATS;
        effect.writes |= OLD_FLOATS;
        effect.keeps |= OLD_FLOATS;
    }
    if is_same_whatever(it) {
        effect.reads &= if it.mnemonic() == Mnemonic::Sbb { CARRY } else { 0 };
    }
    effect
}

fn access(access: OpAccess) -> (bool, bool) {
    match access {
        OpAccess::Read | OpAccess::CondRead => (true, false),
        OpAccess::Write | OpAccess::CondWrite => (false, true),
        OpAccess::ReadWrite | OpAccess::ReadCondWrite => (true, true),
        OpAccess::None | OpAccess::NoMemAccess => (false, false),
    }
}

fn flags(it: &Decoded, effect: &mut Effect) {
    const OTHERS: u32 = RflagsBits::ZF | RflagsBits::SF | RflagsBits::OF | RflagsBits::PF | RflagsBits::AF;
    let read = it.rflags_read();
    if read & RflagsBits::CF != 0 {
        effect.reads |= CARRY;
    }
    if read & OTHERS != 0 {
        effect.reads |= FLAGS;
    }
    let set = it.rflags_written() | it.rflags_cleared() | it.rflags_set();
    let gone = set | it.rflags_undefined();
    // A shift by nothing leaves the flags as they are.
    let may_shift_by_nothing = it.op_count() > 1 && it.op1_kind() == OpKind::Register && is_shift(it);
    if gone & RflagsBits::CF != 0 {
        effect.writes |= CARRY;
        if may_shift_by_nothing {
            effect.keeps |= CARRY;
        }
    }
    if set & OTHERS != 0 {
        effect.writes |= FLAGS;
        if may_shift_by_nothing || gone & RflagsBits::ZF == 0 {
            effect.keeps |= FLAGS;
        }
    }
}

/// Whether it works on the old floating-point unit, whose registers are a stack whose entries are not distinguished here.
fn is_old_float(it: &Decoded) -> bool {
    use CpuidFeature::*;
    it.cpuid_features().iter().any(|feature| matches!(feature, FPU | FPU287 | FPU387 | FPU387SL_ONLY))
}

fn is_shift(it: &Decoded) -> bool {
    use Mnemonic::*;
    matches!(it.mnemonic(), Shl | Shr | Sar | Sal | Rol | Ror | Rcl | Rcr | Shld | Shrd)
}

/// Whether it uses registers that are not written down, beside those of an address.
fn has_silent_operands(it: &Decoded) -> bool {
    use Mnemonic::*;
    let one_operand = it.op_count() == 1 && it.mnemonic() == Imul;
    let silent = matches!(it.mnemonic(), Mul | Div | Idiv | Cmpxchg | Cmpxchg8b | Cmpxchg16b | Xlatb);
    one_operand || silent || it.is_string_instruction()
}

/// Whether the result is the same for all inputs, as when a register is cleared by subtracting it from itself.
fn is_same_whatever(it: &Decoded) -> bool {
    use Mnemonic::*;
    let register = |operand| it.op_kind(operand) == OpKind::Register;
    let same = |a, b| register(a) && register(b) && it.op_register(a) == it.op_register(b);
    let clears = matches!(
        it.mnemonic(),
        Xor | Sub | Sbb | Pxor | Xorps | Xorpd | Psubd | Psubq | Psubb | Pcmpeqd | Pcmpeqb | Pcmpeqw
    );
    let clears_third = matches!(it.mnemonic(), Vpxor | Vxorps | Vxorpd | Vpcmpeqd | Vpxord | Vpxorq);
    let immediate = |value: u64| {
        it.op_count() == 2 && !register(1) && it.op1_kind() != OpKind::Memory && it.immediate(1) == value
    };
    match it.op_count() {
        2 if clears => same(0, 1),
        2 if it.mnemonic() == And && register(0) => immediate(0),
        2 if it.mnemonic() == Or && register(0) => immediate(u64::MAX),
        3 if clears_third => same(1, 2),
        _ => false,
    }
}

fn narrowed(register: Named, scalar: bool) -> Registers {
    if scalar && register.is_vector_register() { low(register.number()) } else { parts(register) }
}

/// Whether it moves the low half of a vector register; from memory, it clears the rest.
fn moves_low_half(it: &Decoded) -> bool {
    use Mnemonic::*;
    !it.is_string_instruction() && matches!(it.mnemonic(), Movq | Movd | Movss | Movsd)
}

/// Whether it works on the low half of vector registers only.
fn is_scalar(it: &Decoded) -> bool {
    use Mnemonic::*;
    if it.flow_control() != FlowControl::Next || it.is_string_instruction() {
        return false;
    }
    matches!(
        it.mnemonic(),
        Addss
            | Addsd
            | Subss
            | Subsd
            | Mulss
            | Mulsd
            | Divss
            | Divsd
            | Sqrtss
            | Sqrtsd
            | Minss
            | Minsd
            | Maxss
            | Maxsd
            | Cvtsi2ss
            | Cvtsi2sd
            | Cvtss2sd
            | Cvtsd2ss
            | Cvttss2si
            | Cvttsd2si
            | Cvtss2si
            | Cvtsd2si
            | Roundss
            | Roundsd
            | Movss
            | Movsd
            | Comiss
            | Comisd
            | Ucomiss
            | Ucomisd
            | Cmpss
            | Cmpsd
    )
}
