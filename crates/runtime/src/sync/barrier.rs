//! Barriers.

use std::cell::Cell;
use std::ffi::{c_int, c_uint, c_void};

use libc::pthread_barrier_t;
use threadbare_trace::{EventKind, FailureKind};

use super::{lifetime, note, note_sharing, step, step_when};
use crate::engine::engine;
use crate::fiber::{Fiber, Waitable};
use crate::interpose::{interpose, real, site};
use crate::shared_memory::fail;

/// A barrier.
pub struct Barrier {
    address: usize,
    needed: Cell<u32>,
    arrived: Cell<u32>,
    round: Cell<u64>,
}

/// What a thread waits for; lives on its stack.
struct Wait {
    barrier: &'static Barrier,
    round: u64,
}

impl Waitable for Wait {
    fn ready(&self, _fiber: &Fiber) -> bool {
        self.barrier.round.get() != self.round
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
    let zero = || Barrier { address, needed: Cell::new(0), arrived: Cell::new(0), round: Cell::new(0) };
    engine().world.barriers.at(address, zero)
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
    barrier.arrived.set(barrier.arrived.get() + 1);
    note(EventKind::BarrierArrive, address, u64::from(barrier.arrived.get()));
    engine().changed();
    if barrier.arrived.get() == barrier.needed.get() {
        barrier.arrived.set(0);
        barrier.round.set(barrier.round.get() + 1);
        note(EventKind::BarrierLeave, address, barrier.round.get());
        return libc::PTHREAD_BARRIER_SERIAL_THREAD;
    }
    let waiting = Wait { barrier, round: barrier.round.get() };
    step_when(EventKind::BarrierLeave, address, pc, Some(&raw const waiting), None);
    note(EventKind::BarrierLeave, address, waiting.round + 1);
    0
}

unsafe extern "C" {
    fn pthread_barrierattr_getpshared(attributes: *const c_void, sharing: *mut c_int) -> c_int;
}

interpose! {
    /// Initialises a barrier.
    fn pthread_barrier_init(barrier: *mut pthread_barrier_t, attributes: *const c_void, count: c_uint) -> c_int {
        note_sharing(attributes, pthread_barrierattr_getpshared);
        if count == 0 {
            return libc::EINVAL;
        }
        lifetime::before_init(barrier as usize, site());
        at(barrier as usize).needed.set(count);
        at(barrier as usize).arrived.set(0);
        lifetime::note_init(barrier as usize);
        real!(pthread_barrier_init as unsafe extern "C-unwind" fn(*mut pthread_barrier_t, *const c_void, c_uint) -> c_int)(barrier, attributes, count)
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
