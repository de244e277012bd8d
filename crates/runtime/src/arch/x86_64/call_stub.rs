//! Stubs that take the place of library functions in the loader's tables: each has a call noted and then jumps to the
//! function, with all registers and the stack as the caller left them.
//!
//! A stub names itself by a number and goes to `pass_on`, which all of them share. That one keeps every register that can hold an argument:
//! the six general ones, the count of vector registers for functions with variable arguments, the static chain, and the
//! vector registers with as much of them as the processor has in use. (512-bit vectors that are passed by value are kept by their lower halves only; the C
//! library has no such function.) Since it ends with a jump, a function that looks at its return address, returns twice or unwinds
//! does not see it.

use std::sync::atomic::{AtomicU8, Ordering};

/// How many arguments travel in general registers.
pub const REGISTER_ARGUMENTS: usize = 6;

/// The bytes of one stub.
pub const CALL_STUB_BYTES: usize = 16;

/// How much of the vector registers has to be kept: see [`init_call_stubs`].
pub static VECTORS: AtomicU8 = AtomicU8::new(NARROW);

const NARROW: u8 = 0;
pub const WIDE: u8 = 1;
const ASK: u8 = 2;

/// Finds out how wide vector registers are, and whether the processor says what of them is in use.
pub fn init_call_stubs() {
    const HAS_XGETBV_1: u32 = 1 << 2;
    let vectors = if !std::is_x86_feature_detected!("avx") {
        NARROW
    } else if std::arch::x86_64::__cpuid_count(0xd, 1).eax & HAS_XGETBV_1 == 0 {
        WIDE
    } else {
        ASK
    };
    VECTORS.store(vectors, Ordering::Relaxed);
}

/// The code of the stub with this number that lies at `place`; the word at `through` holds the address of `pass_on`.
pub fn call_stub(number: u32, place: usize, through: usize) -> [u8; CALL_STUB_BYTES] {
    let mut code = [0; CALL_STUB_BYTES];
    // endbr64; mov r11d, number; jmp [through]
    code[..6].copy_from_slice(&[0xf3, 0x0f, 0x1e, 0xfa, 0x41, 0xbb]);
    code[6..10].copy_from_slice(&number.to_le_bytes());
    code[10..12].copy_from_slice(&[0xff, 0x25]);
    let distance = through.wrapping_sub(place + CALL_STUB_BYTES) as i32;
    code[12..].copy_from_slice(&distance.to_le_bytes());
    code
}

/// The body of `pass_on`: calls `$note` with the stub's number, the place of the six general arguments, and the stack pointer of the
/// call (the return address lies there), and jumps to the address that it returns.
macro_rules! note_call_and_pass_on {
    ($note:ident) => {
        std::arch::naked_asm!(
            // What is noted may be a step, at which the thread's state is asked for.
            crate::arch::note_registers!(),
            "push rax",
            "push r10",
            "push r9",
            "push r8",
            "push rcx",
            "push rdx",
            "push rsi",
            "push rdi",
            "sub rsp, 280",
            "cmp byte ptr [rip + {vectors}], {wide}",
            "jb 2f",
            "ja 3f",
            // Always wide.
            "mov qword ptr [rsp + 256], 1",
            "jmp 4f",
            "3:",
            "mov ecx, 1",
            "xgetbv",
            "and eax, 4",
            "mov [rsp + 256], rax",
            "jnz 4f",
            "jmp 5f",
            "2:",
            "mov qword ptr [rsp + 256], 0",
            "5:",
            "movups [rsp], xmm0",
            "movups [rsp + 32], xmm1",
            "movups [rsp + 64], xmm2",
            "movups [rsp + 96], xmm3",
            "movups [rsp + 128], xmm4",
            "movups [rsp + 160], xmm5",
            "movups [rsp + 192], xmm6",
            "movups [rsp + 224], xmm7",
            "jmp 6f",
            "4:",
            "vmovups [rsp], ymm0",
            "vmovups [rsp + 32], ymm1",
            "vmovups [rsp + 64], ymm2",
            "vmovups [rsp + 96], ymm3",
            "vmovups [rsp + 128], ymm4",
            "vmovups [rsp + 160], ymm5",
            "vmovups [rsp + 192], ymm6",
            "vmovups [rsp + 224], ymm7",
            "6:",
            "mov edi, r11d",
            "lea rsi, [rsp + 280]",
            "lea rdx, [rsp + 344]",
            "call {note}",
            "mov r11, rax",
            "cmp qword ptr [rsp + 256], 0",
            "jne 7f",
            "movups xmm0, [rsp]",
            "movups xmm1, [rsp + 32]",
            "movups xmm2, [rsp + 64]",
            "movups xmm3, [rsp + 96]",
            "movups xmm4, [rsp + 128]",
            "movups xmm5, [rsp + 160]",
            "movups xmm6, [rsp + 192]",
            "movups xmm7, [rsp + 224]",
            "jmp 8f",
            "7:",
            "vmovups ymm0, [rsp]",
            "vmovups ymm1, [rsp + 32]",
            "vmovups ymm2, [rsp + 64]",
            "vmovups ymm3, [rsp + 96]",
            "vmovups ymm4, [rsp + 128]",
            "vmovups ymm5, [rsp + 160]",
            "vmovups ymm6, [rsp + 192]",
            "vmovups ymm7, [rsp + 224]",
            "8:",
            "add rsp, 280",
            "pop rdi",
            "pop rsi",
            "pop rdx",
            "pop rcx",
            "pop r8",
            "pop r9",
            "pop r10",
            "pop rax",
            "jmp r11",
            vectors = sym crate::arch::VECTORS,
            wide = const crate::arch::WIDE,
            note = sym $note,
            registers = sym crate::arch::REGISTERS,
        )
    };
}

pub(crate) use note_call_and_pass_on;
