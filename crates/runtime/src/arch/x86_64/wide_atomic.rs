//! Atomic operations on sixteen bytes.

/// Replaces sixteen bytes if they are as expected; returns what was found.
///
/// # Safety
/// The address must be that of sixteen aligned, writable bytes.
pub unsafe fn compare_exchange_16(addr: usize, expected: u128, new: u128) -> u128 {
    let (mut low, mut high) = (expected as u64, (expected >> 64) as u64);
    // SAFETY: as the caller vouches. rbx is exchanged by hand because the compiler keeps it for itself; the others are
    // named so that none of them can be rbx.
    unsafe {
        std::arch::asm!(
            "xchg rsi, rbx",
            "lock cmpxchg16b [rdi]",
            "mov rbx, rsi",
            in("rdi") addr,
            inout("rsi") new as u64 => _,
            in("rcx") (new >> 64) as u64,
            inout("rax") low,
            inout("rdx") high,
            options(nostack)
        );
    }
    u128::from(low) | (u128::from(high) << 64)
}
