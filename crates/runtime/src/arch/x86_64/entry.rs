//! Ways from the program into the runtime: the bodies of exported functions.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Where the interposed call being served will return to. Read first thing by whoever needs it;
/// only one thread of a controlled program runs at a time, so one word is enough.
pub static CALLER: AtomicUsize = AtomicUsize::new(0);

/// How many registers a function preserves for its caller, the stack pointer included.
pub const PRESERVED: usize = 7;

/// What they held when the program last came into the runtime. The first is the stack pointer: the return
/// address lies there. With the memory they are all that the program goes on with.
pub static REGISTERS: [AtomicUsize; PRESERVED] = [const { AtomicUsize::new(0) }; PRESERVED];

/// The code address that called the function being served.
#[inline(always)]
pub fn caller() -> u64 {
    CALLER.load(Ordering::Relaxed) as u64
}

/// The registers that the program goes on with, the stack pointer first.
pub fn registers() -> [usize; PRESERVED] {
    std::array::from_fn(|index| REGISTERS[index].load(Ordering::Relaxed))
}

/// The stack pointer with which the program came into the runtime.
pub fn entry_stack_pointer() -> usize {
    REGISTERS[0].load(Ordering::Relaxed)
}

/// The registers that the program goes on with, where those with a bit in `dead`, by the machine's number, hold nothing.
pub fn live_registers(dead: u64) -> [usize; PRESERVED] {
    // In the order in which they are noted: rsp, rbx, rbp, r12 to r15.
    const NUMBERS: [u32; PRESERVED] = [4, 3, 5, 12, 13, 14, 15];
    let all = registers();
    std::array::from_fn(|index| if dead >> NUMBERS[index] & 1 != 0 { 0 } else { all[index] })
}

/// Puts back what the program goes on with: it has been in the runtime otherwise since.
pub fn set_registers(registers: [usize; PRESERVED]) {
    for (place, value) in REGISTERS.iter().zip(registers) {
        place.store(value, Ordering::Relaxed);
    }
}

/// The instructions that note the registers; `{registers}` has to be [`REGISTERS`].
macro_rules! note_registers {
    () => {
        "mov [rip + {registers}], rsp\n\
         mov [rip + {registers} + 8], rbx\n\
         mov [rip + {registers} + 16], rbp\n\
         mov [rip + {registers} + 24], r12\n\
         mov [rip + {registers} + 32], r13\n\
         mov [rip + {registers} + 40], r14\n\
         mov [rip + {registers} + 48], r15"
    };
}

/// Notes the return address and the registers; goes on in `$serve`.
macro_rules! enter {
    ($serve:ident) => {
        std::arch::naked_asm!(
            "mov r11, [rsp]",
            "mov [rip + {caller}], r11",
            crate::arch::note_registers!(),
            "jmp {serve}",
            caller = sym crate::arch::CALLER,
            registers = sym crate::arch::REGISTERS,
            serve = sym $serve,
        )
    };
}

/// Notes the registers; goes on in `$serve`, with the return address behind so many arguments.
macro_rules! enter_with_caller {
    ($serve:ident, 1) => {
        crate::arch::enter_with_caller!(@ $serve, "mov rsi, [rsp]")
    };
    ($serve:ident, 2) => {
        crate::arch::enter_with_caller!(@ $serve, "mov rdx, [rsp]")
    };
    (@ $serve:ident, $pass:literal) => {
        std::arch::naked_asm!(
            crate::arch::note_registers!(),
            $pass,
            "jmp {serve}",
            registers = sym crate::arch::REGISTERS,
            serve = sym $serve,
        )
    };
}

/// Goes on in `$serve`, with the stack pointer behind one argument: the return address lies there.
macro_rules! enter_with_stack_pointer {
    ($serve:ident) => {
        std::arch::naked_asm!("mov rsi, rsp", "jmp {serve}", serve = sym $serve)
    };
}

/// The short way of a hook for an aligned access, written by hand because it is taken for nearly every access of the
/// program: count the operation, and if the shadow cells say that the place is the thread's own, return.
///
/// The access covers one or two cells (`$cells`), of which the bits in `$mask` are compared with the field `$tag` of the
/// watched fiber.
macro_rules! enter_unless_private {
    ($serve:ident, one, $mask:expr, $tag:ident) => {
        crate::arch::enter_unless_private!(@ $serve, "movzx edx, word ptr [r8 + rdx * 2]", $mask, $tag)
    };
    ($serve:ident, two, $mask:expr, $tag:ident) => {
        crate::arch::enter_unless_private!(@ $serve, "mov edx, dword ptr [r8 + rdx * 2]", $mask, $tag)
    };
    (@ $serve:ident, $load:literal, $mask:expr, $tag:ident) => {
        std::arch::naked_asm!(
            "mov rax, [rip + {watched}]",
            "test rax, rax",
            "jz 3f",
            "mov ecx, [rax + {ops}]",
            "inc ecx",
            "mov [rax + {ops}], ecx",
            "cmp ecx, [rax + {stop_at}]",
            "je 2f",
            "mov rdx, rdi",
            "shl rdx, {unused_bits}",
            "shr rdx, {unused_bits} + {grain_bits}",
            "movabs r8, {base}",
            $load,
            "and edx, {mask}",
            "cmp edx, [rax + {tag}]",
            "jne 2f",
            "3:",
            "ret",
            "2:",
            crate::arch::note_registers!(),
            "mov rsi, [rsp]",
            "jmp {serve}",
            registers = sym crate::arch::REGISTERS,
            watched = sym crate::engine::WATCHED,
            ops = const std::mem::offset_of!(crate::fiber::Fiber, ops),
            stop_at = const std::mem::offset_of!(crate::fiber::Fiber, stop_at),
            unused_bits = const 64 - crate::shadow::ADDRESS_BITS,
            grain_bits = const crate::shadow::GRAIN_BITS,
            base = const crate::shadow::BASE,
            mask = const $mask,
            tag = const std::mem::offset_of!(crate::fiber::Fiber, $tag),
            serve = sym $serve,
        )
    };
}

/// Calls `$note` with the arguments, and jumps to where it says, with the same arguments and as if nothing had been
/// called.
macro_rules! note_and_pass_on {
    ($note:ident) => {
        std::arch::naked_asm!(
            "push rdi",
            "push rsi",
            "sub rsp, 8",
            "call {note}",
            "add rsp, 8",
            "pop rsi",
            "pop rdi",
            "jmp rax",
            note = sym $note,
        )
    };
}

pub(crate) use enter;
pub(crate) use enter_unless_private;
pub(crate) use enter_with_caller;
pub(crate) use enter_with_stack_pointer;
pub(crate) use note_and_pass_on;
pub(crate) use note_registers;
