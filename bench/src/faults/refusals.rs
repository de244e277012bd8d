//! A system that refuses: calls that a sandbox forbids, limits, and disks without room.

use std::fs;
use std::os::unix::process::CommandExt as _;

use super::Tally;
use super::commands::Scene;
use super::seccomp;
use crate::Result;

/// Calls that sandboxes are known to refuse, and others that the tool could not do without.
const CALLS: [(&str, i64); 32] = [
    ("arch_prctl", libc::SYS_arch_prctl),
    ("clone", libc::SYS_clone),
    ("clone3", libc::SYS_clone3),
    ("close_range", libc::SYS_close_range),
    ("dup2", libc::SYS_dup2),
    ("epoll_create1", libc::SYS_epoll_create1),
    ("fcntl", libc::SYS_fcntl),
    ("fork", libc::SYS_fork),
    ("ftruncate", libc::SYS_ftruncate),
    ("futex", libc::SYS_futex),
    ("getrandom", libc::SYS_getrandom),
    ("kill", libc::SYS_kill),
    ("madvise", libc::SYS_madvise),
    ("memfd_create", libc::SYS_memfd_create),
    ("membarrier", libc::SYS_membarrier),
    ("mprotect", libc::SYS_mprotect),
    ("personality", libc::SYS_personality),
    ("pidfd_open", libc::SYS_pidfd_open),
    ("pipe2", libc::SYS_pipe2),
    ("poll", libc::SYS_poll),
    ("ppoll", libc::SYS_ppoll),
    ("prctl", libc::SYS_prctl),
    ("prlimit64", libc::SYS_prlimit64),
    ("ptrace", libc::SYS_ptrace),
    ("rseq", libc::SYS_rseq),
    ("rt_sigaction", libc::SYS_rt_sigaction),
    ("sched_getaffinity", libc::SYS_sched_getaffinity),
    ("set_robust_list", libc::SYS_set_robust_list),
    ("setpgid", libc::SYS_setpgid),
    ("socketpair", libc::SYS_socketpair),
    ("tgkill", libc::SYS_tgkill),
    ("userfaultfd", libc::SYS_userfaultfd),
];

/// Each call is refused in turn.
pub fn refused_calls(scene: &Scene) -> Result<Tally> {
    let mut tally = Tally::default();
    for (name, call) in CALLS {
        for error in [libc::EPERM, libc::ENOSYS] {
            let mut command = scene.command(&["hunt", "losing", "--out", "refused"]);
            // SAFETY: system calls only between fork and exec.
            unsafe { command.pre_exec(move || seccomp::refuse(call as u32, error)) };
            let failure = match scene.run(command) {
                Ok(output) => scene.complaint(output.as_ref()),
                // Without that call nothing can be started at all.
                Err(_) => None,
            };
            tally.count(failure.map(|what| format!("{name} refused with {error}: {what}")));
        }
    }
    Ok(tally)
}

/// A limit by its name and number, and the values that are tried.
type Limit = (&'static str, u32, &'static [u64]);

const LIMITS: [Limit; 7] = [
    ("open files", libc::RLIMIT_NOFILE, &[3, 8, 16, 32, 64]),
    ("address space", libc::RLIMIT_AS, &[64 << 20, 256 << 20, 1 << 30]),
    ("stack", libc::RLIMIT_STACK, &[64 << 10, 256 << 10]),
    ("data", libc::RLIMIT_DATA, &[16 << 20, 128 << 20]),
    ("locked memory", libc::RLIMIT_MEMLOCK, &[0]),
    ("processes", libc::RLIMIT_NPROC, &[0, 1, 2, 4]),
    ("core files", libc::RLIMIT_CORE, &[0]),
];

/// Each limit is lowered in turn.
pub fn limits(scene: &Scene) -> Result<Tally> {
    let mut tally = Tally::default();
    for (name, limit, values) in LIMITS {
        for value in values {
            let mut command = scene.command(&["hunt", "losing", "--out", "limited"]);
            lower(&mut command, limit, *value);
            let failure = match scene.run(command) {
                Ok(output) => scene.complaint(output.as_ref()),
                Err(_) => None,
            };
            tally.count(failure.map(|what| format!("{name} limited to {value}: {what}")));
        }
    }
    Ok(tally)
}

fn lower(command: &mut std::process::Command, limit: u32, value: u64) {
    let set = move || {
        let both = libc::rlimit { rlim_cur: value, rlim_max: value };
        // SAFETY: a system call on a structure of ours.
        if unsafe { libc::setrlimit(limit, &raw const both) } != 0 {
            return Err(std::io::Error::last_os_error());
        }
        Ok(())
    };
    // SAFETY: system calls only between fork and exec.
    unsafe { command.pre_exec(set) };
}

/// Files that cannot grow, folders that cannot be written to, and devices that are full: what was found is said all the same.
pub fn disks(scene: &Scene) -> Result<Tally> {
    let mut tally = Tally::default();
    for command in ["hunt", "check", "verify"] {
        for size in [0, 100, 4096, 5000, 20_000] {
            let out = format!("disk-{command}-{size}");
            let mut limited = scene.command(&[command, "losing", "--out", &out]);
            lower(&mut limited, libc::RLIMIT_FSIZE, size);
            let output = scene.run(limited)?;
            let mut failure = scene.complaint(output.as_ref());
            let code = output.as_ref().and_then(|output| output.status.code());
            // Where nothing can be written at all, that is noticed before the search.
            if failure.is_none() && size > 4096 && code != Some(1) {
                failure = Some(format!("what was found is not in the exit status {code:?}"));
            }
            tally.count(failure.map(|what| format!("{command} with files of {size} bytes: {what}")));
            let _ = fs::remove_dir_all(scene.path(&out));
        }
        for (option, target) in [("--json", "/dev/full"), ("--sarif", "/dev/full"), ("--html", "/dev/full")] {
            let output = scene.run(scene.command(&[command, "losing", "--out", "full", option, target]))?;
            let mut failure = scene.complaint(output.as_ref());
            if failure.is_none() && output.and_then(|output| output.status.code()) != Some(1) {
                failure = Some("what was found is not in the exit status".into());
            }
            tally.count(failure.map(|what| format!("{command} {option} {target}: {what}")));
        }
    }
    Ok(tally)
}
