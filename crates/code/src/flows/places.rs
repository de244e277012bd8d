//! Where a function keeps values: registers, in the parts that instructions write separately, and the flags.

use iced_x86::Register;

/// A place for a value, by number. Registers come first; the slots of a function's frame follow.
pub type Place = usize;

/// A set of registers' places.
pub type Registers = u128;

const VECTORS: Place = 48;
/// The carry flag, which some instructions leave as it is when they write the others.
pub const CARRY: Place = 112;
/// The other flags.
pub const FLAGS: Place = 113;
/// The registers of the old floating-point unit, all of them.
const OLD_FLOATS: Place = 114;
const MASKS: Place = 115;
/// How many places registers have.
pub const REGISTERS: Place = 116;

/// The general registers by number, as the machine counts them.
pub const RAX: usize = 0;
/// The third of them.
pub const RDX: usize = 2;
/// The second.
pub const RCX: usize = 1;
/// The stack pointer.
pub const RSP: usize = 4;
/// The frame pointer, where there is one.
pub const RBP: usize = 5;
/// The first argument's register.
pub const RDI: usize = 7;
/// The second argument's.
pub const RSI: usize = 6;
const R10: usize = 10;

/// The registers of integer arguments, in their order.
pub const ARGUMENTS: [usize; 6] = [RDI, RSI, RDX, RCX, 8, 9];

/// All parts of a general register.
pub const fn general(number: usize) -> Registers {
    0b111 << (3 * number)
}

/// The low half of a vector register, where single numbers are.
pub const fn low(number: usize) -> Registers {
    1 << (VECTORS + 2 * number)
}

/// A whole vector register.
pub const fn vector(number: usize) -> Registers {
    0b11 << (VECTORS + 2 * number)
}

const fn vectors(count: usize) -> Registers {
    ((1 << (2 * count)) - 1) << VECTORS
}

/// What may hold an argument when a function begins: those of the calling convention, the count of vector arguments, and the chain
/// of nested functions.
pub const PASSED: Registers = general(RDI)
    | general(RSI)
    | general(RDX)
    | general(RCX)
    | general(8)
    | general(9)
    | general(R10)
    | general(RAX)
    | vectors(8);

/// What may hold a result when it returns.
pub const RETURNED: Registers = general(RAX) | general(RDX) | general(RCX) | vectors(4);

/// What a call may overwrite.
pub const VOLATILE: Registers = general(RAX)
    | general(RCX)
    | general(RDX)
    | general(RSI)
    | general(RDI)
    | general(8)
    | general(9)
    | general(10)
    | general(11)
    | vectors(32)
    | 1 << CARRY
    | 1 << FLAGS
    | 1 << OLD_FLOATS
    | 1 << MASKS;

/// The number of a general register, or of the one it is part of.
pub fn number(register: Register) -> Option<usize> {
    register.is_gpr().then(|| register.full_register().number())
}

/// The places that a register takes.
pub fn places(register: Register) -> Registers {
    if let Some(number) = number(register) {
        let parts = match register.size() {
            1 if matches!(register, Register::AH | Register::BH | Register::CH | Register::DH) => 0b010,
            1 => 0b001,
            2 => 0b011,
            _ => 0b111,
        };
        return parts << (3 * number);
    }
    if register.is_vector_register() {
        return vector(register.number());
    }
    if register.is_k() {
        return 1 << MASKS;
    }
    if register.is_st() || register.is_mm() { 1 << OLD_FLOATS } else { 0 }
}

/// The places in a set.
pub fn each(mut set: Registers) -> impl Iterator<Item = Place> {
    std::iter::from_fn(move || {
        let place = set.trailing_zeros() as usize;
        set &= set.wrapping_sub(1);
        (place < REGISTERS).then_some(place)
    })
}

/// The places that writing a register may change without replacing what was there.
pub fn is_blurred(register: Register) -> bool {
    register.is_st() || register.is_mm() || register.is_k()
}
