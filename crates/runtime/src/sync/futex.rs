//! The futex system call, through which Rust's standard library and C++'s atomic waits block.

use std::ffi::c_int;

use libc::timespec;
use threadbare_trace::{EventKind, ThreadId};

use super::cond::spurious_instead_of_timeout;
use super::queue::{ANY, Queue};
use super::rust_std::{self, Free};
use super::{Limit, note, step, step_when, word_locks};
use crate::access;
use crate::engine::engine;
use crate::exclusive::Exclusive;
use crate::fiber::{Breaks, Fiber, Waitable};
use crate::shared_memory::unsupported;
use crate::time;
use crate::world::Table;

/// Waiters by address.
#[derive(Default)]
pub struct Futexes {
    queues: Table<Exclusive<Queue>>,
}

/// One wait in progress; lives on the waiting thread's stack.
struct Wait {
    address: usize,
    /// The waiters there.
    queue: &'static Exclusive<Queue>,
    ticket: u64,
    /// A lock that is taken again after it, if that is known: it has to be free.
    lock: Option<Free>,
}

impl Waitable for Wait {
    fn ready(&self, fiber: &Fiber) -> bool {
        let woken = self.queue.borrow_mut().is_woken(self.ticket);
        woken && self.lock.as_ref().is_none_or(|lock| lock.ready(fiber))
    }

    fn what(&self) -> String {
        let what = if word_locks::holder(self.address).is_some() { "lock" } else { "a wake-up of futex" };
        format!("{what} <obj {:#x}>", self.address)
    }

    fn holder(&self) -> Option<ThreadId> {
        word_locks::holder(self.address).map(|taken| taken.by)
    }

    fn word(&self) -> Option<usize> {
        Some(self.address)
    }

    fn breaks(&self) -> Breaks {
        Breaks::UnlessRestarted
    }
}

fn queue(address: usize) -> &'static Exclusive<Queue> {
    engine().world.futexes.queues.at(address, Exclusive::default)
}

/// Others wait for it now, or for other wake-ups.
fn tell_state(address: usize, queue: &Exclusive<Queue>) {
    let state = queue.borrow_mut().state();
    crate::thread_state_hash::is_in_state(address, state);
}

fn wait(address: usize, expected: u32, limit: Limit, mask: u32, pc: u64) -> c_int {
    let fiber = engine().current();
    let lock = (fiber.takes_again.get() != 0).then_some(Free(fiber.takes_again.get()));
    // SAFETY: the program passed the address of its futex word. It is compared with what is expected, whoever writes it and however.
    unsafe { access::touch_range(fiber, address, size_of::<u32>(), false) };
    // Giving back the lock and going to sleep is one piece: a notification in between wakes the thread anyway.
    if lock.is_none() {
        step(EventKind::FutexWait, address, pc);
    }
    // SAFETY: the program passed the address of its futex word.
    let found = unsafe { *(address as *const u32) };
    if found != expected {
        note(EventKind::FutexWait, address, 1);
        fiber.saw(pc, address as u64, u64::from(found));
        return libc::EAGAIN;
    }
    note(EventKind::FutexWait, address, 0);
    let queue = queue(address);
    let ticket = queue.borrow_mut().join(fiber.id, mask);
    tell_state(address, queue);
    let waiting = Wait { address, queue, ticket, lock };
    let may_end_early = engine().spurious.get() && fiber.waits_on_condition.get();
    step_when(
        EventKind::FutexWoken,
        address,
        pc,
        Some(&raw const waiting),
        if may_end_early { Some(0) } else { limit.until() },
    );
    let broken_off = fiber.take_broken_off();
    let was_woken = queue.borrow_mut().leave(ticket);
    tell_state(address, queue);
    if was_woken {
        note(EventKind::FutexWoken, address, 0);
        return 0;
    }
    fiber.waited_in_vain(limit);
    note(EventKind::FutexTimeout, address, 0);
    if broken_off {
        return libc::EINTR;
    }
    if may_end_early && (!limit.is_over() || spurious_instead_of_timeout(engine())) {
        return 0;
    }
    limit.reached();
    libc::ETIMEDOUT
}

fn wake(address: usize, count: usize, mask: u32, pc: u64) -> usize {
    rust_std::about_to_wake(pc);
    // What notifies had its scheduling point where it began.
    if engine().current().notifies.take() != address {
        step(EventKind::FutexWake, address, pc);
    }
    let woken = queue(address).borrow_mut().wake(count, mask);
    tell_state(address, queue(address));
    note(EventKind::FutexWake, address, woken as u64);
    if woken > 0 {
        engine().changed();
    }
    woken
}

/// Serves the system call; the result is a count or a negative error number, as the kernel's.
///
/// # Safety
/// The arguments must be those of a futex call.
pub unsafe fn call(
    address: usize,
    op: usize,
    value: usize,
    time_or_count: usize,
    mask: usize,
    pc: u64,
) -> isize {
    let value32 = value as u32;
    let command = op as c_int & libc::FUTEX_CMD_MASK;
    match command {
        libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET => {
            let until = time_or_count as *const timespec;
            // A plain wait gives a duration, the other one a time.
            let limit = match (until.is_null(), command) {
                (true, _) => Ok(Limit::Forever),
                (false, libc::FUTEX_WAIT) => time::duration(until),
                (false, _) => time::deadline(until),
            };
            let mask = if command == libc::FUTEX_WAIT { ANY } else { mask as u32 };
            match limit {
                Ok(limit) => -(wait(address, value32, limit, mask, pc) as isize),
                Err(error) => -(error as isize),
            }
        }
        libc::FUTEX_WAKE => wake(address, value, ANY, pc) as isize,
        libc::FUTEX_WAKE_BITSET => wake(address, value, mask as u32, pc) as isize,
        _ => unsupported(&format!("the futex operation {command}")),
    }
}
