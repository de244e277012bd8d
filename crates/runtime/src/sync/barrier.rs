//! Barriers.

use std::cell::Cell;
use std::ffi::{c_int, c_uint, c_void};
use std::sync::atomic::{AtomicU32, Ordering};

use libc::pthread_barrier_t;
use threadbare_trace::{EventKind, FailureKind};

use super::{between_processes, lifetime, note, step, step_when};
use crate::engine::engine;
use crate::fiber::{Fiber, Waitable};
use crate::interpose::{interpose, real, site};
use crate::shared_memory::fail;

/// A barrier.
pub struct Barrier {
    address: usize,
    has_memory: Cell<bool>,
    needed: Cell<u32>,
    arrived: Cell<u32>,
    round: Cell<u64>,
}

/// What a thread waits for; lives on its stack.
struct Wait {
    barrier: &'static Barrier,
    round: u64,
}

impl Barrier {
    /// Whether other processes come to it as well, which the C library writes into it. Barriers of other libraries have no memory.
    fn is_shared(&self) -> bool {
        const PLACE: usize = 12;
        const SHARED: c_int = 128;
        // SAFETY: the program has a barrier of the C library there.
        self.has_memory.get() && unsafe { between_processes::says_so(self.address, PLACE, SHARED) }
    }

    /// The words of its memory that count who has arrived, and how often all have.
    fn words(&self) -> [&'static AtomicU32; 2] {
        // SAFETY: as above.
        [0, 4].map(|offset| unsafe { between_processes::word(self.address, offset) })
    }

    fn round(&self) -> u64 {
        if self.is_shared() {
            return u64::from(self.words()[1].load(Ordering::SeqCst));
        }
        self.round.get()
    }

    /// A thread arrives; says whether it is the last.
    fn arrive(&self) -> bool {
        if self.is_shared() {
            let [arrived, round] = self.words();
            let is_last = arrived.fetch_add(1, Ordering::SeqCst) + 1 == self.needed.get();
            if is_last {
                arrived.store(0, Ordering::SeqCst);
                round.fetch_add(1, Ordering::SeqCst);
            }
            return is_last;
        }
        self.arrived.set(self.arrived.get() + 1);
        let is_last = self.arrived.get() == self.needed.get();
        if is_last {
            self.arrived.set(0);
            self.round.set(self.round.get() + 1);
        }
        is_last
    }
}

impl Waitable for Wait {
    fn ready(&self, _fiber: &Fiber) -> bool {
        self.barrier.round() != self.round
    }

    fn outside(&self) -> bool {
        self.barrier.is_shared() && between_processes::is_outside()
    }

    fn what(&self) -> String {
        let barrier = self.barrier;
        format!(
            "{} more at barrier <obj {:#x}>",
            barrier.needed.get() - barrier.arrived.get(),
            barrier.address
        )
    }
}

fn at(address: usize) -> &'static Barrier {
    let zero = || Barrier {
        address,
        has_memory: Cell::new(true),
        needed: Cell::new(0),
        arrived: Cell::new(0),
        round: Cell::new(0),
    };
    engine().world.barriers.at(address, zero)
}

/// Waits until so many threads have come.
pub fn meet(address: usize, needed: u32, pc: u64) {
    let barrier = at(address);
    barrier.has_memory.set(false);
    barrier.needed.set(needed);
    wait(address, pc);
}

fn wait(address: usize, pc: u64) -> c_int {
    let barrier = at(address);
    step(EventKind::BarrierArrive, address, pc);
    if barrier.needed.get() == 0 {
        fail(
            FailureKind::Misuse,
            format_args!(
                "{} waits at <obj {address:#x}>, which is not an initialised barrier",
                engine().current_id()
            ),
        );
    }
    let waiting = Wait { barrier, round: barrier.round() };
    note(EventKind::BarrierArrive, address, u64::from(barrier.arrived.get()) + 1);
    engine().changed();
    if barrier.arrive() {
        note(EventKind::BarrierLeave, address, waiting.round + 1);
        return libc::PTHREAD_BARRIER_SERIAL_THREAD;
    }
    step_when(EventKind::BarrierLeave, address, pc, Some(&raw const waiting), None);
    note(EventKind::BarrierLeave, address, waiting.round + 1);
    0
}

interpose! {
    /// Initialises a barrier.
    fn pthread_barrier_init(barrier: *mut pthread_barrier_t, attributes: *const c_void, count: c_uint) -> c_int {
        if count == 0 {
            return libc::EINVAL;
        }
        lifetime::before_init(barrier as usize, site());
        at(barrier as usize).needed.set(count);
        at(barrier as usize).has_memory.set(true);
        at(barrier as usize).arrived.set(0);
        lifetime::note_init(barrier as usize);
        let error = real!(pthread_barrier_init as unsafe extern "C-unwind" fn(*mut pthread_barrier_t, *const c_void, c_uint) -> c_int)(barrier, attributes, count);
        if error == 0 && at(barrier as usize).is_shared() {
            between_processes::note();
        }
        error
    }
    /// Destroys a barrier.
    fn pthread_barrier_destroy(barrier: *mut pthread_barrier_t) -> c_int {
        step(EventKind::Destroy, barrier as usize, site());
        let place = at(barrier as usize);
        if place.arrived.get() > 0 {
            let fiber = engine().current();
            fail(FailureKind::Misuse, format_args!("{} destroys <obj {:#x}> while threads wait at it", fiber.id, barrier as usize));
        }
        place.needed.set(0);
        note(EventKind::Destroy, barrier as usize, 0);
        0
    }
    /// Waits until enough threads have come.
    fn pthread_barrier_wait(barrier: *mut pthread_barrier_t) -> c_int {
        let pc = site();
        wait(barrier as usize, pc)
    }
}
