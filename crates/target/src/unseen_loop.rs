//! Loops that wait for other threads by instructions of which nobody is told, such as a spin lock in inline assembly: no other thread gets to
//! run, so they never end.

mod x86_64;

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::time::{Duration, Instant};

use threadbare_wire::RUNTIME_LIBRARY;

use crate::modules::Modules;
use crate::symbols::Symbols;

/// How long a process may take to stop.
const PATIENCE: Duration = Duration::from_millis(500);

/// Where a process that makes no step goes round in such a loop; none if it does something else, or the system does not let us look. The process is to
/// be killed next.
pub(crate) fn place(process: i32, modules: &Modules) -> Option<String> {
    let pc = program_counter(process)?;
    let mut around = [0; 2 * x86_64::FAR];
    let memory = File::open(format!("/proc/{process}/mem")).ok()?;
    let read = memory.read_at(&mut around, pc.checked_sub(x86_64::FAR as u64)?).ok()?;
    if !x86_64::looks_at_memory_of_others(&around[..read]) {
        return None;
    }
    // Places are looked up by what comes behind the instruction.
    let site = Symbols::new(modules).site(pc + 1);
    (site.module != RUNTIME_LIBRARY).then(|| site.to_string())
}

/// The instruction at which a process is; it does not run any more.
fn program_counter(process: i32) -> Option<u64> {
    let trace = |request, data: usize| {
        // SAFETY: requests about another process; where one writes, it is given a place.
        unsafe { libc::ptrace(request, process, 0, data) == 0 }
    };
    if !trace(libc::PTRACE_SEIZE, 0) {
        return None;
    }
    let begin = Instant::now();
    let mut status = 0;
    let mut is_stopped = false;
    if trace(libc::PTRACE_INTERRUPT, 0) {
        while !is_stopped && begin.elapsed() < PATIENCE {
            // SAFETY: the status is ours.
            let seen = unsafe { libc::waitpid(process, &raw mut status, libc::__WALL | libc::WNOHANG) };
            is_stopped = seen == process && libc::WIFSTOPPED(status);
            if seen < 0 {
                return None;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    let mut registers = std::mem::MaybeUninit::<libc::user_regs_struct>::zeroed();
    let has_answer = is_stopped && trace(libc::PTRACE_GETREGS, registers.as_mut_ptr() as usize);
    // SAFETY: a system call on numbers. It stays where it is, and its parent hears of its end, not we.
    unsafe { libc::kill(process, libc::SIGSTOP) };
    if !trace(libc::PTRACE_DETACH, 0) {
        // SAFETY: as above; we have to take note of its end, or nobody else can.
        unsafe {
            libc::kill(process, libc::SIGKILL);
            libc::waitpid(process, &raw mut status, libc::__WALL);
        }
    }
    // SAFETY: plain numbers, all of which were set if there is an answer.
    has_answer.then(|| x86_64::program_counter(unsafe { registers.assume_init_ref() }))
}
