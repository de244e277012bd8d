//! What x86-64 has for waiting without telling anybody.

/// How far around an instruction the rest of a loop is looked for, in bytes.
pub(super) const FAR: usize = 48;

/// Whether there is an instruction in some code that is made for waiting or for locking memory. The bytes may mean something else.
pub(super) fn looks_at_memory_of_others(code: &[u8]) -> bool {
    const PAUSE: [u8; 2] = [0xf3, 0x90];
    const LOCK: u8 = 0xf0;
    // Behind the prefix comes the operation, perhaps with one for long registers in between.
    let locks =
        |bytes: &[u8]| bytes[0] == LOCK && (bytes[1] == 0x0f || bytes[1] & 0xf0 == 0x40 && bytes[2] == 0x0f);
    code.windows(2).any(|bytes| bytes == PAUSE) || code.windows(3).any(locks)
}

/// The instruction that comes next.
pub(super) fn program_counter(registers: &libc::user_regs_struct) -> u64 {
    registers.rip
}
