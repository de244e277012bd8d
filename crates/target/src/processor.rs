//! One processor for a server and the thread that drives it.
//!
//! They take turns, so that a second processor is of no use to them; and to wake somebody on another processor takes several
//! times as long as on the same one, which is much of the time of a short execution. So the server stays where its driver is,
//! and the driver stays there while it waits. Copies get back the processors that the program had.
//!
//! Where the kernel would have them run may change. So from time to time one execution is made without, and after it the
//! driver is where the kernel has put it.

use std::collections::BTreeMap;
use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};

use threadbare_wire::Control;

/// After how many executions the kernel chooses again.
const PERIOD: u32 = 256;

/// How many servers of this process stay on which processor.
static CLAIMS: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());

fn claims() -> MutexGuard<'static, BTreeMap<usize, usize>> {
    CLAIMS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where a server runs.
pub(crate) struct Processor {
    server: libc::pid_t,
    /// Where the program may run; none if the server has to stay as it is.
    of_program: Option<libc::cpu_set_t>,
    claimed: Option<usize>,
    executions: u32,
}

/// As long as it lives, the driver stays on the server's processor.
pub(crate) struct Together {
    of_driver: libc::cpu_set_t,
}

impl Drop for Together {
    fn drop(&mut self) {
        bind(0, &self.of_driver);
    }
}

impl Processor {
    /// For a server that has come to its snapshot.
    pub fn of(server: u32) -> Processor {
        let server = server as libc::pid_t;
        let may_bind = filters(&server.to_string()) == filters("self");
        Processor {
            server,
            of_program: may_bind.then(|| bound(server)).flatten(),
            claimed: None,
            executions: 0,
        }
    }

    /// Before an execution: binds the server and the calling thread to one processor, unless the kernel is to choose anew.
    pub fn share(&mut self, control: &mut Control) -> Option<Together> {
        let of_program = self.of_program?;
        let of_driver = bound(0).filter(|set| count(set) > 1)?;
        self.executions += 1;
        if self.executions % PERIOD == 1 {
            self.release();
            bind(self.server, &of_program);
            control.is_bound = 0;
            return None;
        }
        let is_new = self.claimed.is_none();
        let processor = match self.claimed {
            Some(processor) => processor,
            None => self.claim(&of_program, &of_driver)?,
        };
        let only = only(processor);
        if is_new && !bind(self.server, &only) {
            self.of_program = None;
            return None;
        }
        control.is_bound = 1;
        bind(0, &only).then_some(Together { of_driver })
    }

    /// Takes the processor where the driver is now, if no other server is there.
    fn claim(&mut self, of_program: &libc::cpu_set_t, of_driver: &libc::cpu_set_t) -> Option<usize> {
        // SAFETY: asks for a number.
        let here = usize::try_from(unsafe { libc::sched_getcpu() }).ok()?;
        let may_run = |processor: &usize| has(of_program, *processor) && has(of_driver, *processor);
        let mut claims = claims();
        let others = |processor: &usize| claims.get(processor).copied().unwrap_or(0);
        let all = (0..libc::CPU_SETSIZE as usize).filter(may_run);
        let best = all.min_by_key(|processor| (others(processor), *processor != here))?;
        *claims.entry(best).or_default() += 1;
        self.claimed = Some(best);
        Some(best)
    }

    fn release(&mut self) {
        if let Some(processor) = self.claimed.take()
            && let Some(count) = claims().get_mut(&processor)
        {
            *count -= 1;
        }
    }
}

impl Drop for Processor {
    fn drop(&mut self) {
        self.release();
    }
}

/// How many filters of system calls a process has: one that has made filters of its own may have forbidden its copies to get their processors back.
fn filters(process: &str) -> Option<String> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    status.lines().find(|line| line.starts_with("Seccomp_filters:")).map(str::to_string)
}

/// Where a process or the calling thread (0) may run.
fn bound(process: libc::pid_t) -> Option<libc::cpu_set_t> {
    // SAFETY: a set of zeros is an empty one, and the call fills it in.
    unsafe {
        let mut set: libc::cpu_set_t = mem::zeroed();
        (libc::sched_getaffinity(process, size_of_val(&set), &mut set) == 0).then_some(set)
    }
}

/// Lets a process or the calling thread (0) run there only.
fn bind(process: libc::pid_t, set: &libc::cpu_set_t) -> bool {
    // SAFETY: hands over a set.
    unsafe { libc::sched_setaffinity(process, size_of_val(set), set) == 0 }
}

fn only(processor: usize) -> libc::cpu_set_t {
    // SAFETY: an empty set, and a number that fits into it.
    unsafe {
        let mut set: libc::cpu_set_t = mem::zeroed();
        libc::CPU_SET(processor, &mut set);
        set
    }
}

fn count(set: &libc::cpu_set_t) -> libc::c_int {
    // SAFETY: looks at a set.
    unsafe { libc::CPU_COUNT(set) }
}

fn has(set: &libc::cpu_set_t, processor: usize) -> bool {
    // SAFETY: the number fits into the set.
    unsafe { libc::CPU_ISSET(processor, set) }
}
