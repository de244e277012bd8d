//! Instructions as the rest of this crate sees them, whatever processor they are for. There is one folder for each
//! processor; nothing else names a register, an opcode or a calling convention.
//!
//! Another processor needs an implementation of [`InstructionSet`] and a line in [`of`]:
//!
//! * **Control** ([`InstructionSet::decode`]): where each instruction leads, which addresses it names, and whether it
//!   asks the processor or the system for something. Functions, calls and basic blocks are made of this alone.
//! * **Semantics** ([`InstructionSet::semantics`]): the [`Operation`]s that addresses are computed with, and the [`Effect`] of every
//!   instruction. An operation that is not known may be [`Operation::Other`]: values are then less exact, never wrong. An
//!   effect may not leave anything out.
//! * **Linkage** ([`InstructionSet::linkage_slot`], [`InstructionSet::is_relative`]): stubs and relocations.
//! * **The calling convention** ([`CallingConvention`]), and more room in [`GENERAL`] and [`ARGUMENTS`] if it has more registers.
//!
//! Jump tables are looked for in the neutral form (`flows/tables.rs`), as compilers for x86-64 write them; another
//! processor's compilers may write them differently.

mod x86_64;

use object::Architecture;
use object::elf::RelocationType;

/// What an instruction does to the flow of control.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Control {
    /// The next instruction follows.
    Next,
    /// Jumps to an address.
    Jump(u64),
    /// Jumps to an address, or goes on.
    Branch(u64),
    /// Jumps to where something points.
    JumpThrough(Pointer),
    /// Calls an address.
    Call(u64),
    /// Calls what something points to.
    CallThrough(Pointer),
    /// Enters the system or a hypervisor, and comes back.
    CallSystem,
    /// Returns.
    Return,
    /// Brings the program down.
    Trap,
    /// Interrupts the program: a breakpoint, or an old way into the system.
    Interrupt,
    /// Begins, ends or aborts a transaction of the memory.
    Transaction,
}

/// What a jump or a call finds its target in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pointer {
    /// A general register.
    Register(Register),
    /// A place in memory whose address is written in the code; the loader has filled it in.
    Slot(u64),
    /// Another place in memory.
    Memory(Address),
}

/// An instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Instruction {
    /// Where it begins.
    pub address: u64,
    /// Its length in bytes.
    pub length: u8,
    /// Where it leads.
    pub control: Control,
    /// What it names beside the target of a jump or call, if that may be an address of the file: memory relative to itself, or
    /// else a constant.
    pub names: Option<u64>,
    /// If it reads a clock, draws a random number, asks which processor it is, or enters the system: what it is called.
    pub hidden_input: Option<&'static str>,
    /// Whether compilers put it where nothing is executed.
    pub is_padding: bool,
}

impl Instruction {
    /// The address after it.
    pub fn next(&self) -> u64 {
        self.address.wrapping_add(u64::from(self.length))
    }

    /// Where it jumps to, perhaps only under a condition, if that is written in it.
    pub fn jumps_to(&self) -> Option<u64> {
        match self.control {
            Control::Jump(target) | Control::Branch(target) => Some(target),
            _ => None,
        }
    }

    /// Whether it calls: control comes back.
    pub fn is_call(&self) -> bool {
        matches!(self.control, Control::Call(_) | Control::CallThrough(_) | Control::CallSystem)
    }
}

/// A general register, by number.
pub type Register = u8;

/// How many general registers there are at most.
pub const GENERAL: usize = 16;

/// Registers of all kinds, by the parts that instructions write separately. Which bit means what only the instruction set knows.
pub type Registers = u128;

/// An address as instructions compute it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Address {
    /// A register that is part of it.
    pub base: Option<Register>,
    /// Another one, and what it is multiplied with.
    pub index: Option<(Register, u8)>,
    /// What is added. If there are no registers, this is an address of the file.
    pub plus: i64,
    /// Whether it is relative to the thread's block.
    pub of_thread: bool,
}

/// What an operation works on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operand {
    /// So many of the lowest bytes of a general register. Four clear the rest when they are written; fewer leave it.
    Register(Register, u8),
    /// Bits of a general register that are not its lowest.
    Inside(Register),
    /// So many bytes of memory.
    Memory(Address, u32),
    /// A constant, which may be an address.
    Constant(i64),
    /// Something else.
    Other,
}

/// What an instruction computes, as far as addresses need it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// `to = from`; if `from` is shorter, the rest is cleared.
    Copy { to: Operand, from: Operand },
    /// `to = from`, of which the highest of so many bits is spread over the rest.
    SignExtend { to: Operand, from: Operand, bits: u8 },
    /// `to =` the address.
    AddressOf { to: Operand, address: Address },
    /// `to += from * times`.
    Add { to: Operand, from: Operand, times: i8 },
    /// `to = from * times`.
    Multiply { to: Operand, from: Operand, times: i64 },
    /// Rounds the stack pointer down.
    AlignStack,
    /// Puts something onto the stack.
    Push(Operand),
    /// Takes something from the stack.
    Pop(Operand),
    /// Lets the stack pointer be the frame pointer, and takes that from the stack.
    LeaveFrame,
    /// Copies, fills or compares memory, and counts the registers of its addresses up or down. `value` is what it fills
    /// or compares memory with, `count` says how often it does so if not once.
    String { value: Option<Register>, count: Option<Register> },
    /// Divides. To divide by nothing brings the program down.
    Divide,
    /// Only its effect is known.
    Other,
}

/// Memory that an instruction touches: where and how.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Memory {
    /// Where.
    pub address: Address,
    /// The registers that make up the address.
    pub registers: Registers,
    /// How many bytes; 0: as many as a register says.
    pub size: u32,
    /// Whether it is read.
    pub read: bool,
    /// Whether it is written.
    pub written: bool,
}

/// What an instruction reads and writes.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Effect {
    /// Registers whose values go into what is written. What only makes up an address is not among them.
    pub reads: Registers,
    /// Registers that get a new value.
    pub writes: Registers,
    /// Those of them that may keep some of the old one.
    pub keeps: Registers,
    /// Memory that is touched.
    pub memory: Vec<Memory>,
}

/// What an instruction does to values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Semantics {
    /// What it computes.
    pub operation: Operation,
    /// What it reads and writes.
    pub effect: Effect,
}

/// How many arguments in general registers are followed.
pub const ARGUMENTS: usize = 6;

/// The numbers of all arguments.
pub const ALL_ARGUMENTS: [usize; ARGUMENTS] = [0, 1, 2, 3, 4, 5];

/// How functions call each other, and what the processor's registers are to them.
#[derive(Debug)]
pub struct CallingConvention {
    /// All parts of each general register.
    pub general: [Registers; GENERAL],
    /// The stack pointer.
    pub stack_pointer: Register,
    /// The frame pointer, where there is one.
    pub frame_pointer: Register,
    /// How many bytes of the stack a call takes for the return address. Arguments on the stack lie behind it.
    pub return_address: i64,
    /// The registers of arguments that are integers or pointers, in their order.
    pub arguments: [Register; ARGUMENTS],
    /// The registers of the first three arguments that are floating-point numbers.
    pub float_arguments: Registers,
    /// What may hold an argument when a function begins.
    pub passed: Registers,
    /// What of that is no argument but says how many vector registers hold one.
    pub vector_count: Registers,
    /// What holds a result that is an integer or a pointer.
    pub result: Registers,
    /// What holds the upper half of one that takes two registers.
    pub upper_result: Registers,
    /// What holds a result that is a floating-point number, or a pair of them.
    pub float_result: Registers,
    /// What may hold a result when a function returns.
    pub returned: Registers,
    /// What a call may overwrite.
    pub volatile: Registers,
    /// Where the thread's block holds its own address.
    pub thread_pointer: Option<i64>,
    /// Where it holds the value by which compilers notice that a frame was overrun.
    pub canary: Option<i64>,
}

impl CallingConvention {
    /// All parts of a general register.
    pub fn general(&self, register: Register) -> Registers {
        self.general[usize::from(register)]
    }

    /// All parts of the stack pointer.
    pub fn stack(&self) -> Registers {
        self.general(self.stack_pointer)
    }

    /// All parts of the register of an argument.
    pub fn argument(&self, number: usize) -> Registers {
        self.general(self.arguments[number])
    }

    /// The general registers of which a set has some part.
    pub fn generals(&self, set: Registers) -> impl Iterator<Item = Register> {
        (0..GENERAL as Register).filter(move |register| self.general(*register) & set != 0)
    }
}

/// What has to be known of a processor to read its code.
pub trait InstructionSet: Sync {
    /// The instructions of some code that begins at an address.
    fn decode(&self, code: &[u8], address: u64) -> Vec<Instruction>;

    /// What each of them does to values. This takes several times as long as to decode them.
    fn semantics(&self, code: &[u8], address: u64) -> Vec<Semantics>;

    /// How functions call each other.
    fn convention(&self) -> &'static CallingConvention;

    /// How long a linkage stub is.
    fn stub_length(&self) -> u64;

    /// If the code is a linkage stub that begins at an address: the slot that it jumps through.
    fn linkage_slot(&self, stub: &[u8], address: u64) -> Option<u64>;

    /// Whether a relocation of this kind puts an address of the file itself into a slot.
    fn is_relative(&self, kind: RelocationType) -> bool;
}

/// The instruction set of a file for this processor; none if it is not known.
pub fn of(processor: Architecture) -> Option<&'static dyn InstructionSet> {
    match processor {
        Architecture::X86_64 => Some(&x86_64::X86_64),
        _ => None,
    }
}
