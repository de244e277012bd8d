//! Barriers.

use std::ffi::{c_int, c_uint, c_void};

use libc::pthread_barrier_t;
use threadbare_trace::{EventKind, FailureKind};

use super::{note, note_life, step, step_when};
use crate::engine::engine;
use crate::fiber::{Fiber, Waitable};
use crate::interpose::{interpose, real, site};
use crate::shared_memory::fail;

/// A barrier.
#[derive(Default)]
pub struct Barrier {
    address: usize,
    needed: u32,
    arrived: u32,
    round: u64,
}

/// What a thread waits for; lives on its stack.
struct Wait {
    barrier: *const Barrier,
    round: u64,
}

impl Waitable for Wait {
    fn ready(&self, _fiber: &Fiber) -> bool {
        // SAFETY: table entries are never dropped.
        unsafe { (*self.barrier).round != self.round }
    }

    fn what(&self) -> String {
        // SAFETY: as above.
        let barrier = unsafe { &*self.barrier };
        format!("{} more at barrier <obj {:#x}>", barrier.needed - barrier.arrived, barrier.address)
    }
}

fn at(address: usize) -> &'static mut Barrier {
    let barrier: *mut Barrier = &mut **engine().world.barriers.entry(address).or_default();
    // SAFETY: boxed and never dropped.
    unsafe { &mut *barrier }
}

fn wait(address: usize, pc: u64) -> c_int {
    let barrier = at(address);
    step(EventKind::BarrierArrive, address, pc);
    if barrier.needed == 0 {
        fail(
            FailureKind::Misuse,
            format_args!(
                "{} waits at <obj {address:#x}>, which is not an initialised barrier",
                engine().current_id()
            ),
        );
    }
    barrier.arrived += 1;
    note(EventKind::BarrierArrive, address, u64::from(barrier.arrived));
    engine().changed();
    if barrier.arrived == barrier.needed {
        barrier.arrived = 0;
        barrier.round += 1;
        note(EventKind::BarrierLeave, address, barrier.round);
        return libc::PTHREAD_BARRIER_SERIAL_THREAD;
    }
    let waiting = Wait { barrier, round: barrier.round };
    step_when(EventKind::BarrierLeave, address, pc, Some(&raw const waiting), false);
    note(EventKind::BarrierLeave, address, waiting.round + 1);
    0
}

interpose! {
    /// Initialises a barrier.
    fn pthread_barrier_init(barrier: *mut pthread_barrier_t, attributes: *const c_void, count: c_uint) -> c_int {
        let pc = site();
        if count == 0 {
            return libc::EINVAL;
        }
        let round = at(barrier as usize).round;
        *at(barrier as usize) = Barrier { address: barrier as usize, needed: count, arrived: 0, round };
        note_life(EventKind::Init, barrier as usize, pc);
        real!(pthread_barrier_init as unsafe extern "C-unwind" fn(*mut pthread_barrier_t, *const c_void, c_uint) -> c_int)(barrier, attributes, count)
    }
    /// Destroys a barrier.
    fn pthread_barrier_destroy(barrier: *mut pthread_barrier_t) -> c_int {
        step(EventKind::Destroy, barrier as usize, site());
        let place = at(barrier as usize);
        if place.arrived > 0 {
            let fiber = engine().current();
            fail(FailureKind::Misuse, format_args!("{} destroys <obj {:#x}> while threads wait at it", fiber.id, barrier as usize));
        }
        place.needed = 0;
        note(EventKind::Destroy, barrier as usize, 0);
        0
    }
    /// Waits until enough threads have come.
    fn pthread_barrier_wait(barrier: *mut pthread_barrier_t) -> c_int {
        let pc = site();
        wait(barrier as usize, pc)
    }
}
