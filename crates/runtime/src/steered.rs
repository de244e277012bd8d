//! A steered copy of the program: at each decision it stops and waits for an order. Ordered to split, it
//! stays where it is and lets a copy of itself continue, so a stopped copy is a snapshot of the program
//! in the middle of an execution.
//!
//! All copies share one memory, and only one of them runs at a time. What one of them counts there has
//! to be put back before it continues. Events are recorded from stop to stop only.

use std::ffi::c_int;
use std::sync::atomic::{AtomicU32, Ordering};

use threadbare_sched::{Candidate, Malformed, Policy as _, Prefix, Specification as _};
use threadbare_trace::ThreadId;
use threadbare_wire::{OfferRecord, Order, ReplyKind, Slot, Status};

use crate::engine::Engine;
use crate::shared_memory::refuse_plan;
use crate::{server, sys};

/// What copies of the process share, as it was before the first thread.
#[derive(Default)]
pub struct Outward {
    /// The lowest free descriptor.
    free_descriptor: isize,
    /// The position in each open file but the output.
    positions: Vec<(c_int, isize)>,
    /// There are pipes, sockets or the like within the program.
    has_inner: bool,
    /// How much was known of files that the program had changed.
    file_changes: u64,
}

impl Outward {
    /// The state of things now.
    pub fn look(files: impl Iterator<Item = c_int>, has_inner: bool) -> Outward {
        let positions = files.filter(|fd| !(1..=2).contains(fd)).map(|fd| (fd, position(fd))).collect();
        let file_changes = crate::engine::engine().shared.control().file_changes;
        Outward { free_descriptor: free_descriptor(), positions, has_inner, file_changes }
    }

    /// How much was known of files that the program had changed.
    pub fn file_changes(&self) -> u64 {
        self.file_changes
    }

    /// Why a copy made now would not be a world of its own.
    fn why_not_split(&self) -> Option<&'static str> {
        if self.has_inner || free_descriptor() != self.free_descriptor {
            Some("the program has files, pipes or sockets open")
        } else if crate::engine::engine().shared.control().file_changes != self.file_changes {
            Some("the program changes files")
        } else if self.positions.iter().any(|(fd, before)| position(*fd) != *before) {
            Some("the program reads or writes files")
        } else {
            None
        }
    }
}

fn free_descriptor() -> isize {
    // SAFETY: what the first call opens, the second closes.
    unsafe {
        let free = sys::call(libc::SYS_fcntl, [2, libc::F_DUPFD_CLOEXEC as usize, 0, 0, 0, 0]);
        if free >= 0 {
            sys::call(libc::SYS_close, [free as usize, 0, 0, 0, 0, 0]);
        }
        free
    }
}

fn position(fd: c_int) -> isize {
    // SAFETY: only asks for the position.
    unsafe { sys::call(libc::SYS_lseek, [fd as usize, 0, libc::SEEK_CUR as usize, 0, 0, 0]) }
}

/// Why no copy can be made of this process, if that is so.
pub fn why_not_split(engine: &Engine) -> Option<&'static str> {
    if engine.os_threads.get() {
        Some("every thread is a thread of the system")
    } else if engine.world.forked.get() || engine.world.process_shared.get() {
        Some("the program makes processes of its own")
    } else {
        engine.world.outward.borrow_mut().why_not_split()
    }
}

/// The counters of this execution in the shared memory.
struct Counters {
    switches: u64,
    decisions: u64,
    contexts: u64,
    steps: u64,
    threads: u32,
    peak_threads: u32,
}

impl Counters {
    fn take(engine: &Engine) -> Counters {
        let control = engine.shared.control();
        Counters {
            switches: control.switches,
            decisions: control.decisions,
            contexts: control.contexts,
            steps: control.steps,
            threads: control.threads,
            peak_threads: control.peak_threads,
        }
    }

    fn put_back(&self, engine: &Engine) {
        let mut control = engine.shared.control();
        control.switches = self.switches;
        control.decisions = self.decisions;
        control.contexts = self.contexts;
        control.steps = self.steps;
        control.threads = self.threads;
        control.peak_threads = self.peak_threads;
        control.events = 0;
        control.learned_out = 0;
        control.warnings.clear();
        control.message.clear();
        control.failure_kind = 0;
        control.uncontrolled = 0;
        control.cut = 0;
        control.status = Status::Running as u32;
        control.child = sys::process();
    }
}

/// Stops at a decision until an order comes; then the policy knows what to choose.
pub fn await_order(engine: &Engine, candidates: &[Candidate<'_>]) {
    offer(engine, candidates);
    let counters = Counters::take(engine);
    server::report(ReplyKind::Paused);
    take_orders(engine);
    counters.put_back(engine);
    crate::dependences::write_again();
    match Prefix::from_words(&engine.shared.policy_words()) {
        Ok(prefix) => engine.policy.borrow_mut().append_choices(&prefix.choices),
        Err(Malformed) => refuse_plan("the choices of a steered execution are malformed"),
    }
}

/// Takes orders until this process, or a copy that it makes of itself, is to continue.
pub fn take_orders(engine: &Engine) {
    loop {
        let Some(slot) = engine.shared.order_slot(engine.world.order_slot.get()) else {
            sys::die("a copy of the program has no place to take orders at")
        };
        // SAFETY: the word lies in shared memory and is used as an atomic by both sides.
        let order = unsafe { AtomicU32::from_ptr(&raw mut (*slot).order) };
        let mut given = order.swap(Order::Wait as u32, Ordering::Acquire);
        while given == Order::Wait as u32 {
            // SAFETY: as above.
            unsafe { sys::futex_wait(order.as_ptr(), Order::Wait as u32) };
            given = order.swap(Order::Wait as u32, Ordering::Acquire);
        }
        if given == Order::Go as u32 {
            return;
        }
        if given != Order::Split as u32 {
            sys::exit(0);
        }
        if split(engine, slot) {
            return;
        }
    }
}

/// Makes a copy of this process. Says whether this is the copy.
fn split(engine: &Engine, slot: *mut Slot) -> bool {
    if let Some(reason) = why_not_split(engine) {
        refuse(engine, reason);
        return false;
    }
    // SAFETY: the slot lies in shared memory.
    let heir = unsafe { (*slot).heir };
    // SAFETY: this process has one thread.
    let copy = unsafe { sys::fork_sibling() };
    if copy == 0 {
        engine.world.order_slot.set(heir);
        server::die_with_server();
        return true;
    }
    if copy < 0 {
        refuse(engine, "the system makes no further process");
    }
    false
}

fn refuse(engine: &Engine, reason: &str) {
    use std::fmt::Write as _;
    let message = &mut engine.shared.control().message;
    message.clear();
    let _ = message.write_str(reason);
    server::report(ReplyKind::Refused);
}

/// Writes down who is runnable, and what it would do.
fn offer(engine: &Engine, candidates: &[Candidate<'_>]) {
    let mut control = engine.shared.control();
    control.offers = 0;
    for candidate in candidates {
        let record = OfferRecord {
            site: candidate.op.site,
            object: candidate.op.object,
            size: candidate.op.size,
            thread: ThreadId(candidate.thread.0),
            kind: candidate.op.kind as u8,
            spare: 0,
        };
        if engine.shared.offer(control.offers, record) {
            control.offers += 1;
        }
    }
}
