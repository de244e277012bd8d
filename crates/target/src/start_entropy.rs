//! The random bytes that the system hands to a program when it starts.
//!
//! The C library makes the canary of stacks and the key that hides stored pointers of them, before any code of ours runs. Both lie in
//! memory that the program can see: uninitialised bytes, `jmp_buf`, thread blocks. So that the same seed is the same run, the bytes
//! are replaced while the program has not made an instruction yet. That takes a tracer, for this moment only; where tracing is
//! forbidden, the bytes stay random.

use std::io;

/// What every program gets. Any bytes do; no program should see zeros, which mean that there are none.
const BYTES: [u64; 2] = [0x6461_6572_6874_0001, 0x6572_6162_0000_0002];

/// Asks for a stop at the first instruction; to be called in the child, between fork and exec.
pub(crate) fn stop_at_start() {
    // SAFETY: a system call on numbers. Where it is refused there is no stop.
    unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) };
}

/// Replaces the bytes of the program that was started last by this thread, and lets it go on.
pub(crate) fn fix(pid: u32) -> io::Result<()> {
    if !is_traced_by_us(pid)? {
        return Ok(());
    }
    let pid = pid as libc::pid_t;
    let mut status = 0;
    // SAFETY: system calls on numbers; the address is one of the stopped program, and the record of its end is left for its owner.
    unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        // One that was killed meanwhile has nothing to fix.
        let options = libc::WEXITED | libc::WSTOPPED | libc::WNOWAIT;
        if libc::waitid(libc::P_PID, pid as libc::id_t, &mut info, options) < 0 {
            return Err(io::Error::last_os_error());
        }
        if !matches!(info.si_code, libc::CLD_TRAPPED | libc::CLD_STOPPED) {
            return Ok(());
        }
        if libc::waitpid(pid, &mut status, libc::__WALL) < 0 {
            return Err(io::Error::last_os_error());
        }
        if let Some(place) = place_of_bytes(pid) {
            for (at, word) in (place..).step_by(8).zip(BYTES) {
                libc::ptrace(libc::PTRACE_POKEDATA, pid, at, word);
            }
        }
        if libc::ptrace(libc::PTRACE_DETACH, pid, 0, 0) < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Whether this thread will hear of its stop. Where tracing is forbidden nobody does, and under `strace` somebody else.
fn is_traced_by_us(pid: u32) -> io::Result<bool> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let tracer = status.lines().find_map(|line| line.strip_prefix("TracerPid:"));
    // SAFETY: a system call without arguments.
    let own = unsafe { libc::gettid() };
    Ok(tracer.is_some_and(|tracer| tracer.trim().parse() == Ok(own)))
}

/// Where they are, by the list that the system leaves on the program's stack.
fn place_of_bytes(pid: libc::pid_t) -> Option<u64> {
    let list = std::fs::read(format!("/proc/{pid}/auxv")).ok()?;
    let (words, _) = list.as_chunks::<8>();
    let words: Vec<u64> = words.iter().map(|word| u64::from_ne_bytes(*word)).collect();
    let (entries, _) = words.as_chunks::<2>();
    entries.iter().find(|entry| entry[0] == libc::AT_RANDOM).map(|entry| entry[1])
}
