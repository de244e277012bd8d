//! A system that refuses: calls that a sandbox forbids, limits, and disks without room.

use std::fs;
use std::os::unix::process::CommandExt as _;

use super::Tally;
use super::commands::Scene;
use super::seccomp;
use crate::Result;

/// Calls that sandboxes are known to refuse, and others that the tool could not do without.
const CALLS: [(&str, i64); 46] = [
    ("arch_prctl", libc::SYS_arch_prctl),
    ("clone", libc::SYS_clone),
    ("clone3", libc::SYS_clone3),
    ("clock_nanosleep", libc::SYS_clock_nanosleep),
    ("close_range", libc::SYS_close_range),
    ("dup2", libc::SYS_dup2),
    ("epoll_create1", libc::SYS_epoll_create1),
    ("eventfd2", libc::SYS_eventfd2),
    ("fchmod", libc::SYS_fchmod),
    ("fcntl", libc::SYS_fcntl),
    ("fork", libc::SYS_fork),
    ("ftruncate", libc::SYS_ftruncate),
    ("futex", libc::SYS_futex),
    ("getcwd", libc::SYS_getcwd),
    ("getrandom", libc::SYS_getrandom),
    ("ioctl", libc::SYS_ioctl),
    ("kill", libc::SYS_kill),
    ("madvise", libc::SYS_madvise),
    ("memfd_create", libc::SYS_memfd_create),
    ("membarrier", libc::SYS_membarrier),
    ("mprotect", libc::SYS_mprotect),
    ("personality", libc::SYS_personality),
    ("nanosleep", libc::SYS_nanosleep),
    ("pidfd_open", libc::SYS_pidfd_open),
    ("pipe2", libc::SYS_pipe2),
    ("poll", libc::SYS_poll),
    ("ppoll", libc::SYS_ppoll),
    ("prctl", libc::SYS_prctl),
    ("prlimit64", libc::SYS_prlimit64),
    ("ptrace", libc::SYS_ptrace),
    ("readlink", libc::SYS_readlink),
    ("rename", libc::SYS_rename),
    ("rseq", libc::SYS_rseq),
    ("rt_sigaction", libc::SYS_rt_sigaction),
    ("sched_getaffinity", libc::SYS_sched_getaffinity),
    ("sched_setaffinity", libc::SYS_sched_setaffinity),
    ("set_robust_list", libc::SYS_set_robust_list),
    ("setpgid", libc::SYS_setpgid),
    ("sigaltstack", libc::SYS_sigaltstack),
    ("socketpair", libc::SYS_socketpair),
    ("statx", libc::SYS_statx),
    ("tgkill", libc::SYS_tgkill),
    ("unlink", libc::SYS_unlink),
    ("userfaultfd", libc::SYS_userfaultfd),
    ("wait4", libc::SYS_wait4),
    ("waitid", libc::SYS_waitid),
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
            let one_of_nobody = limit == libc::RLIMIT_NPROC && scene.is_of_root();
            if one_of_nobody {
                // Root has no such limit.
                scene.open_to_all()?;
                command = scene.command(&["hunt", "losing", "--out", "limited-nobody"]);
                command.env("XDG_CACHE_HOME", scene.path("cache-nobody"));
            }
            lower(&mut command, limit, *value);
            if one_of_nobody {
                become_nobody(&mut command);
            }
            let failure = match scene.run(command) {
                Ok(output) => scene.complaint(output.as_ref()),
                Err(_) => None,
            };
            tally.count(failure.map(|what| format!("{name} limited to {value}: {what}")));
        }
    }
    Ok(tally)
}

/// Has a command run as a user who has no processes.
fn become_nobody(command: &mut std::process::Command) {
    const NOBODY: u32 = 65_534;
    let change = || {
        // SAFETY: system calls on numbers.
        match unsafe { libc::setgid(NOBODY) == 0 && libc::setuid(NOBODY) == 0 } {
            true => Ok(()),
            false => Err(std::io::Error::last_os_error()),
        }
    };
    // SAFETY: system calls only between fork and exec.
    unsafe { command.pre_exec(change) };
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

/// How many seconds a command gets that has to end with a finding.
const TIME: &str = "5";

/// Files that cannot grow, folders that cannot be written to, and devices that are full: what was found is said all the same.
pub fn disks(scene: &Scene) -> Result<Tally> {
    let mut tally = Tally::default();
    for command in ["hunt", "check", "verify"] {
        for size in [0, 100, 4096, 5000, 20_000] {
            let out = format!("disk-{command}-{size}");
            let mut limited = scene.command(&[command, "losing", "--out", &out, "--time", TIME]);
            lower(&mut limited, libc::RLIMIT_FSIZE, size);
            let output = scene.run(limited)?;
            let mut failure = scene.complaint(output.as_ref());
            let code = output.as_ref().and_then(|output| output.status.code());
            // The limit holds for the memory that is shared with the program as well.
            if failure.is_none() && code != Some(2) {
                failure = Some(format!("exit status {code:?}, though no file can be written"));
            }
            tally.count(failure.map(|what| format!("{command} with files of {size} bytes: {what}")));
            let _ = fs::remove_dir_all(scene.path(&out));
        }
        for (option, target) in [("--json", "/dev/full"), ("--sarif", "/dev/full"), ("--html", "/dev/full")] {
            let output = scene
                .run(scene.command(&[command, "losing", "--out", "full", "--time", TIME, option, target]))?;
            let mut failure = scene.complaint(output.as_ref());
            if failure.is_none() && output.and_then(|output| output.status.code()) != Some(1) {
                failure = Some("what was found is not in the exit status".into());
            }
            tally.count(failure.map(|what| format!("{command} {option} {target}: {what}")));
        }
    }
    Ok(tally)
}
