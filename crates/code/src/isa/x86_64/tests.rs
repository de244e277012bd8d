//! Bytes as the processor's manual writes them, and the neutral form that they come to.

use super::X86_64;
use super::registers::{CARRY, FLAGS, OLD_FLOATS, RAX, RBP, RCX, RDI, RDX, RSI, RSP, general, low};
use crate::isa::{Address, Control, Instruction, InstructionSet, Operand, Operation, Pointer, Semantics};
use crate::isa::{Memory, Register, Registers};

const RBX: Register = 3;
/// Where the instructions begin.
const START: u64 = 0x1000;

fn read(bytes: &[u8]) -> (Instruction, Semantics) {
    let (instructions, semantics) = (X86_64.decode(bytes, START), X86_64.semantics(bytes, START));
    assert_eq!((instructions.len(), semantics.len()), (1, 1), "{bytes:02x?} is one instruction");
    assert_eq!((instructions[0].address, instructions[0].next()), (START, START + bytes.len() as u64));
    (instructions[0], semantics[0].clone())
}

fn based(base: Register, plus: i64) -> Address {
    Address { base: Some(base), plus, ..Address::default() }
}

fn indexed(base: Option<Register>, index: Register, scale: u8, plus: i64) -> Address {
    Address { base, index: Some((index, scale)), plus, of_thread: false }
}

fn absolute(plus: i64) -> Address {
    Address { plus, ..Address::default() }
}

#[test]
fn control_flow_is_neutral() {
    use Control::*;
    let table_entry = Pointer::Memory(indexed(None, RAX, 8, 0x40_2000));
    let cases: &[(&str, &[u8], Control)] = &[
        ("nop", &[0x90], Next),
        ("mov rax, rbx", &[0x48, 0x89, 0xd8], Next),
        ("jmp short", &[0xeb, 0x10], Jump(0x1012)),
        ("jmp near", &[0xe9, 0x10, 0, 0, 0], Jump(0x1015)),
        ("jmp backwards", &[0xeb, 0xf0], Jump(0xff2)),
        ("je short", &[0x74, 0x10], Branch(0x1012)),
        ("jne near", &[0x0f, 0x85, 0, 1, 0, 0], Branch(0x1106)),
        ("loop", &[0xe2, 0xfe], Branch(0x1000)),
        ("jrcxz", &[0xe3, 0x10], Branch(0x1012)),
        ("jmp rax", &[0xff, 0xe0], JumpThrough(Pointer::Register(RAX))),
        ("jmp r11", &[0x41, 0xff, 0xe3], JumpThrough(Pointer::Register(11))),
        ("notrack jmp rdx", &[0x3e, 0xff, 0xe2], JumpThrough(Pointer::Register(RDX))),
        ("jmp [rip+0x10]", &[0xff, 0x25, 0x10, 0, 0, 0], JumpThrough(Pointer::Slot(0x1016))),
        ("jmp [rax*8+0x402000]", &[0xff, 0x24, 0xc5, 0, 0x20, 0x40, 0], JumpThrough(table_entry)),
        ("call", &[0xe8, 0, 1, 0, 0], Call(0x1105)),
        ("call rdx", &[0xff, 0xd2], CallThrough(Pointer::Register(RDX))),
        ("call [rip+0x10]", &[0xff, 0x15, 0x10, 0, 0, 0], CallThrough(Pointer::Slot(0x1016))),
        ("call [rax+0x18]", &[0xff, 0x50, 0x18], CallThrough(Pointer::Memory(based(RAX, 0x18)))),
        ("syscall", &[0x0f, 0x05], CallSystem),
        ("sysenter", &[0x0f, 0x34], CallSystem),
        ("ret", &[0xc3], Return),
        ("rep ret", &[0xf3, 0xc3], Return),
        ("ud2", &[0x0f, 0x0b], Trap),
        ("int3", &[0xcc], Interrupt),
        ("int 0x80", &[0xcd, 0x80], Interrupt),
        ("xbegin", &[0xc7, 0xf8, 0x10, 0, 0, 0], Transaction),
    ];
    for (name, bytes, control) in cases {
        let (it, _) = read(bytes);
        assert_eq!(it.control, *control, "{name}");
        let calls = ["call", "sys"].iter().any(|prefix| name.starts_with(prefix));
        assert_eq!(it.is_call(), calls, "{name}");
        let target = match control {
            Jump(target) | Branch(target) => Some(*target),
            _ => None,
        };
        assert_eq!(it.jumps_to(), target, "{name}");
    }
}

#[test]
fn operations_are_neutral() {
    use Operand::{Constant, Inside};
    use Operation::*;
    let all = |register| Operand::Register(register, 8);
    let half = |register| Operand::Register(register, 4);
    let byte = |register| Operand::Register(register, 1);
    let memory = Operand::Memory;
    let canary = Address { plus: 0x28, of_thread: true, ..Address::default() };
    let cases: &[(&str, &[u8], Operation)] = &[
        ("mov rax, rbx", &[0x48, 0x89, 0xd8], Copy { to: all(RAX), from: all(RBX) }),
        ("mov eax, ebx", &[0x89, 0xd8], Copy { to: half(RAX), from: half(RBX) }),
        ("mov al, ah", &[0x88, 0xe0], Copy { to: byte(RAX), from: Inside(RAX) }),
        ("mov ah, 1", &[0xb4, 1], Copy { to: Inside(RAX), from: Constant(1) }),
        ("mov eax, 0x404000", &[0xb8, 0, 0x40, 0x40, 0], Copy { to: half(RAX), from: Constant(0x40_4000) }),
        (
            "mov rax, -1",
            &[0x48, 0xc7, 0xc0, 0xff, 0xff, 0xff, 0xff],
            Copy { to: all(RAX), from: Constant(-1) },
        ),
        (
            "mov rax, [rbx+rcx*4+8]",
            &[0x48, 0x8b, 0x44, 0x8b, 8],
            Copy { to: all(RAX), from: memory(indexed(Some(RBX), RCX, 4, 8), 8) },
        ),
        ("mov [rbx-8], ecx", &[0x89, 0x4b, 0xf8], Copy { to: memory(based(RBX, -8), 4), from: half(RCX) }),
        (
            "mov rax, [rip+0x10]",
            &[0x48, 0x8b, 0x05, 0x10, 0, 0, 0],
            Copy { to: all(RAX), from: memory(absolute(0x1017), 8) },
        ),
        (
            "mov rax, fs:[0x28]",
            &[0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0],
            Copy { to: all(RAX), from: memory(canary, 8) },
        ),
        ("mov ds, eax", &[0x8e, 0xd8], Other),
        ("movzx eax, al", &[0x0f, 0xb6, 0xc0], Copy { to: half(RAX), from: byte(RAX) }),
        (
            "movzx eax, word [rbx]",
            &[0x0f, 0xb7, 0x03],
            Copy { to: half(RAX), from: memory(based(RBX, 0), 2) },
        ),
        ("movsx rax, bl", &[0x48, 0x0f, 0xbe, 0xc3], SignExtend { to: all(RAX), from: byte(RBX), bits: 8 }),
        (
            "movsxd rax, [rdx+rcx*4]",
            &[0x48, 0x63, 0x04, 0x8a],
            SignExtend { to: all(RAX), from: memory(indexed(Some(RDX), RCX, 4, 0), 4), bits: 32 },
        ),
        ("cdqe", &[0x48, 0x98], SignExtend { to: all(RAX), from: half(RAX), bits: 32 }),
        (
            "lea rax, [rsp+0x10]",
            &[0x48, 0x8d, 0x44, 0x24, 0x10],
            AddressOf { to: all(RAX), address: based(RSP, 0x10) },
        ),
        (
            "lea rdi, [rip+0x10]",
            &[0x48, 0x8d, 0x3d, 0x10, 0, 0, 0],
            AddressOf { to: all(RDI), address: absolute(0x1017) },
        ),
        ("add rax, rbx", &[0x48, 0x01, 0xd8], Add { to: all(RAX), from: all(RBX), times: 1 }),
        ("sub rax, rbx", &[0x48, 0x29, 0xd8], Add { to: all(RAX), from: all(RBX), times: -1 }),
        ("sub rsp, 0x18", &[0x48, 0x83, 0xec, 0x18], Add { to: all(RSP), from: Constant(0x18), times: -1 }),
        ("inc rax", &[0x48, 0xff, 0xc0], Add { to: all(RAX), from: Constant(1), times: 1 }),
        (
            "dec dword [rbx+4]",
            &[0xff, 0x4b, 4],
            Add { to: memory(based(RBX, 4), 4), from: Constant(1), times: -1 },
        ),
        ("sub eax, eax", &[0x29, 0xc0], Copy { to: half(RAX), from: Constant(0) }),
        ("xor eax, eax", &[0x31, 0xc0], Copy { to: half(RAX), from: Constant(0) }),
        ("xor eax, ebx", &[0x31, 0xd8], Other),
        ("shl rax, 3", &[0x48, 0xc1, 0xe0, 3], Multiply { to: all(RAX), from: all(RAX), times: 8 }),
        ("shl rax, 1", &[0x48, 0xd1, 0xe0], Multiply { to: all(RAX), from: all(RAX), times: 2 }),
        ("shl rax, cl", &[0x48, 0xd3, 0xe0], Other),
        ("imul rax, rbx, 24", &[0x48, 0x6b, 0xc3, 24], Multiply { to: all(RAX), from: all(RBX), times: 24 }),
        ("imul rax, rbx", &[0x48, 0x0f, 0xaf, 0xc3], Other),
        ("and rsp, -16", &[0x48, 0x83, 0xe4, 0xf0], AlignStack),
        ("and rax, -16", &[0x48, 0x83, 0xe0, 0xf0], Other),
        ("push rbp", &[0x55], Push(all(RBP))),
        ("push -1", &[0x6a, 0xff], Push(Constant(-1))),
        ("push [rbx]", &[0xff, 0x33], Push(memory(based(RBX, 0), 8))),
        ("pop rbp", &[0x5d], Pop(all(RBP))),
        ("leave", &[0xc9], LeaveFrame),
        ("rep stosq", &[0xf3, 0x48, 0xab], String { value: Some(RAX), count: Some(RCX) }),
        ("repne scasb", &[0xf2, 0xae], String { value: Some(RAX), count: Some(RCX) }),
        ("rep movsb", &[0xf3, 0xa4], String { value: None, count: Some(RCX) }),
        ("movsb", &[0xa4], String { value: None, count: None }),
        ("movsd xmm0, [rbx]", &[0xf2, 0x0f, 0x10, 0x03], Other),
        ("div rbx", &[0x48, 0xf7, 0xf3], Divide),
        ("idiv rbx", &[0x48, 0xf7, 0xfb], Divide),
        ("ret", &[0xc3], Other),
    ];
    for (name, bytes, operation) in cases {
        assert_eq!(read(bytes).1.operation, *operation, "{name}");
    }
}

#[test]
fn effects_say_which_parts_of_registers_are_read_and_written() {
    const RA: Registers = general(RAX);
    const RB: Registers = general(RBX);
    const AL: Registers = 0b001;
    const AH: Registers = 0b010;
    const ALL_FLAGS: Registers = CARRY | FLAGS;
    let vector = |number| low(number) | low(number) << 1;
    let cases: &[(&str, &[u8], Registers, Registers, Registers)] = &[
        ("mov rax, rbx", &[0x48, 0x89, 0xd8], RB, RA, 0),
        ("mov al, 1", &[0xb0, 1], 0, AL, 0),
        ("mov al, ah", &[0x88, 0xe0], AH, AL, 0),
        ("mov rax, [rbx]", &[0x48, 0x8b, 0x03], 0, RA, 0),
        ("lea rax, [rbx]", &[0x48, 0x8d, 0x03], RB, RA, 0),
        ("add rax, rbx", &[0x48, 0x01, 0xd8], RA | RB, RA | ALL_FLAGS, 0),
        ("add rax, [rax]", &[0x48, 0x03, 0x00], RA, RA | ALL_FLAGS, 0),
        ("inc rax", &[0x48, 0xff, 0xc0], RA, RA | FLAGS, 0),
        ("xor eax, eax", &[0x31, 0xc0], 0, RA | ALL_FLAGS, 0),
        ("sbb eax, eax", &[0x19, 0xc0], CARRY, RA | ALL_FLAGS, 0),
        ("and eax, 0", &[0x83, 0xe0, 0], 0, RA | ALL_FLAGS, 0),
        ("cmp rax, rbx", &[0x48, 0x39, 0xd8], RA | RB, ALL_FLAGS, 0),
        ("je", &[0x74, 0x10], FLAGS, 0, 0),
        ("jb", &[0x72, 0x10], CARRY, 0, 0),
        ("ja", &[0x77, 0x10], ALL_FLAGS, 0, 0),
        ("shl rax, cl", &[0x48, 0xd3, 0xe0], RA | AL << 3, RA | ALL_FLAGS, ALL_FLAGS),
        ("addsd xmm0, xmm1", &[0xf2, 0x0f, 0x58, 0xc1], low(0) | low(1), low(0), 0),
        ("movaps xmm0, xmm1", &[0x0f, 0x28, 0xc1], vector(1), vector(0), 0),
        ("movsd xmm0, [rbx]", &[0xf2, 0x0f, 0x10, 0x03], 0, vector(0), 0),
        ("pxor xmm0, xmm0", &[0x66, 0x0f, 0xef, 0xc0], 0, vector(0), 0),
        ("fld st0", &[0xd9, 0xc0], OLD_FLOATS, OLD_FLOATS, OLD_FLOATS),
    ];
    for (name, bytes, reads, writes, keeps) in cases {
        let effect = read(bytes).1.effect;
        assert_eq!((effect.reads, effect.writes, effect.keeps), (*reads, *writes, *keeps), "{name}");
    }
    let conditional = read(&[0x48, 0x0f, 0x44, 0xc3]).1.effect;
    assert_eq!(conditional.reads & (RB | FLAGS), RB | FLAGS, "cmove rax, rbx");
    assert!(conditional.writes & RA == RA && (conditional.reads | conditional.keeps) & RA == RA);
}

#[test]
fn effects_say_which_memory_is_touched() {
    let touched =
        |address: Address, registers, size, read, written| Memory { address, registers, size, read, written };
    let at = |register| based(register, 0);
    let (b, c, di, si, sp) = (general(RBX), general(RCX), general(RDI), general(RSI), general(RSP));
    let pointed = indexed(Some(RBX), RCX, 4, 8);
    let thread = Address { plus: 0x28, of_thread: true, ..Address::default() };
    let cases: &[(&str, &[u8], &[Memory])] = &[
        ("mov rax, rbx", &[0x48, 0x89, 0xd8], &[]),
        ("lea rax, [rbx]", &[0x48, 0x8d, 0x03], &[]),
        ("nop [rax]", &[0x0f, 0x1f, 0x00], &[]),
        ("mov rax, [rbx+rcx*4+8]", &[0x48, 0x8b, 0x44, 0x8b, 8], &[touched(pointed, b | c, 8, true, false)]),
        ("mov [rbx], cl", &[0x88, 0x0b], &[touched(at(RBX), b, 1, false, true)]),
        ("add [rbx], ecx", &[0x01, 0x0b], &[touched(at(RBX), b, 4, true, true)]),
        (
            "mov rax, [rip+0x10]",
            &[0x48, 0x8b, 0x05, 0x10, 0, 0, 0],
            &[touched(absolute(0x1017), 0, 8, true, false)],
        ),
        (
            "mov rax, fs:[0x28]",
            &[0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0],
            &[touched(thread, 0, 8, true, false)],
        ),
        ("push rbp", &[0x55], &[touched(based(RSP, -8), sp, 8, false, true)]),
        ("pop rbp", &[0x5d], &[touched(at(RSP), sp, 8, true, false)]),
        ("rep stosq", &[0xf3, 0x48, 0xab], &[touched(at(RDI), di, 0, false, true)]),
        ("movsb", &[0xa4], &[touched(at(RDI), di, 1, false, true), touched(at(RSI), si, 1, true, false)]),
        ("movups xmm0, [rbx]", &[0x0f, 0x10, 0x03], &[touched(at(RBX), b, 16, true, false)]),
    ];
    for (name, bytes, memory) in cases {
        assert_eq!(read(bytes).1.effect.memory, *memory, "{name}");
    }
}

#[test]
fn addresses_that_code_names_are_known() {
    let cases: &[(&str, &[u8], Option<u64>)] = &[
        ("lea rdi, [rip+0x10]", &[0x48, 0x8d, 0x3d, 0x10, 0, 0, 0], Some(0x1017)),
        ("mov rax, [rip+0x10]", &[0x48, 0x8b, 0x05, 0x10, 0, 0, 0], Some(0x1017)),
        ("mov edi, 0x401136", &[0xbf, 0x36, 0x11, 0x40, 0], Some(0x40_1136)),
        ("mov rdi, 0x401136", &[0x48, 0xc7, 0xc7, 0x36, 0x11, 0x40, 0], Some(0x40_1136)),
        ("add rsp, 8", &[0x48, 0x83, 0xc4, 8], None),
        ("call [rip+0x10]", &[0xff, 0x15, 0x10, 0, 0, 0], None),
        ("jmp [rip+0x10]", &[0xff, 0x25, 0x10, 0, 0, 0], None),
        ("call", &[0xe8, 0, 1, 0, 0], None),
    ];
    for (name, bytes, names) in cases {
        assert_eq!(read(bytes).0.names, *names, "{name}");
    }
}

#[test]
fn hidden_inputs_and_padding_are_known() {
    let inputs: &[(&str, &[u8])] = &[
        ("rdtsc", &[0x0f, 0x31]),
        ("rdtscp", &[0x0f, 0x01, 0xf9]),
        ("rdpmc", &[0x0f, 0x33]),
        ("rdpid", &[0xf3, 0x0f, 0xc7, 0xf8]),
        ("rdrand", &[0x0f, 0xc7, 0xf0]),
        ("rdseed", &[0x0f, 0xc7, 0xf8]),
        ("cpuid", &[0x0f, 0xa2]),
        ("syscall", &[0x0f, 0x05]),
        ("sysenter", &[0x0f, 0x34]),
        ("int 0x80", &[0xcd, 0x80]),
    ];
    for (name, bytes) in inputs {
        assert_eq!(read(bytes).0.hidden_input, Some(*name));
    }
    assert_eq!(read(&[0xcd, 0x03]).0.hidden_input, None, "int 3");
    for padding in [&[0x90][..], &[0x0f, 0x1f, 0x00], &[0xcc], &[0x0f, 0x0b]] {
        assert!(read(padding).0.is_padding, "{padding:02x?}");
    }
    assert!(!read(&[0xc3]).0.is_padding, "ret");
}

#[test]
fn linkage_stubs_lead_to_their_slots() {
    let stub = [0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 0x10, 0, 0, 0, 0x66, 0x0f, 0x1f, 0x44, 0, 0];
    assert_eq!(X86_64.linkage_slot(&stub, START), Some(0x101a));
    assert_eq!(X86_64.linkage_slot(&stub[4..], START + 4), Some(0x101a));
    let function = [0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5, 0xff, 0x25, 0x10, 0, 0, 0, 0x90, 0x90];
    assert_eq!(X86_64.linkage_slot(&function, START), None);
}
