//! Registers, in the parts that instructions write separately, the flags, and what the System V calling convention uses them for.

use iced_x86::Register as Named;

use crate::isa::{CallingConvention, GENERAL, Register, Registers};

/// Three parts of each general register come first: the lowest byte, the next one, and the rest.
const VECTORS: usize = 3 * GENERAL;
/// The carry flag, which some instructions leave as it is when they write the others.
pub const CARRY: Registers = 1 << 112;
/// The other flags.
pub const FLAGS: Registers = 1 << 113;
/// The registers of the old floating-point unit, all of them.
pub const OLD_FLOATS: Registers = 1 << 114;
const MASKS: Registers = 1 << 115;

// The general registers by number, as the machine counts them.
pub const RAX: Register = 0;
pub const RCX: Register = 1;
pub const RDX: Register = 2;
pub const RSP: Register = 4;
pub const RBP: Register = 5;
pub const RSI: Register = 6;
pub const RDI: Register = 7;
const R8: Register = 8;
const R9: Register = 9;
const R10: Register = 10;
const R11: Register = 11;

/// All parts of a general register.
pub const fn general(register: Register) -> Registers {
    0b111 << (3 * register)
}

/// The low half of a vector register, where single numbers are.
pub const fn low(number: usize) -> Registers {
    1 << (VECTORS + 2 * number)
}

const fn vectors(count: usize) -> Registers {
    ((1 << (2 * count)) - 1) << VECTORS
}

const fn generals() -> [Registers; GENERAL] {
    let mut all = [0; GENERAL];
    let mut register = 0;
    while register < GENERAL {
        all[register] = general(register as Register);
        register += 1;
    }
    all
}

/// The System V calling convention.
pub static CONVENTION: CallingConvention = CallingConvention {
    general: generals(),
    stack_pointer: RSP,
    frame_pointer: RBP,
    return_address: 8,
    arguments: [RDI, RSI, RDX, RCX, R8, R9],
    float_arguments: vectors(8),
    // Arguments, the count of vector arguments, and the chain of nested functions.
    passed: general(RDI)
        | general(RSI)
        | general(RDX)
        | general(RCX)
        | general(R8)
        | general(R9)
        | general(R10)
        | general(RAX)
        | vectors(8),
    vector_count: general(RAX),
    result: general(RAX),
    upper_result: general(RDX),
    float_result: low(0) | low(1) | OLD_FLOATS,
    returned: general(RAX) | general(RDX) | general(RCX) | vectors(4) | OLD_FLOATS,
    volatile: general(RAX)
        | general(RCX)
        | general(RDX)
        | general(RSI)
        | general(RDI)
        | general(R8)
        | general(R9)
        | general(R10)
        | general(R11)
        | vectors(32)
        | CARRY
        | FLAGS
        | OLD_FLOATS
        | MASKS,
    thread_pointer: Some(0),
    canary: Some(0x28),
};

/// The number of a general register, or of the one it is part of.
pub fn number(register: Named) -> Option<Register> {
    register.is_gpr().then(|| register.full_register().number() as Register)
}

/// Whether it is the second byte of a general register.
pub fn is_high_byte(register: Named) -> bool {
    matches!(register, Named::AH | Named::BH | Named::CH | Named::DH)
}

/// The parts that a register consists of.
pub fn parts(register: Named) -> Registers {
    if let Some(number) = number(register) {
        let parts = match register.size() {
            1 if is_high_byte(register) => 0b010,
            1 => 0b001,
            2 => 0b011,
            _ => 0b111,
        };
        return parts << (3 * number);
    }
    if register.is_vector_register() {
        return 0b11 << (VECTORS + 2 * register.number());
    }
    if register.is_k() {
        return MASKS;
    }
    if register.is_st() || register.is_mm() { OLD_FLOATS } else { 0 }
}

/// Whether writing the register may change its part without replacing what was there.
pub fn is_blurred(register: Named) -> bool {
    register.is_st() || register.is_mm() || register.is_k()
}
