//! What is recorded of an execution: its events, with the values that writes leave behind and the names
//! of the memory they touch, and its switches.

use std::cell::Cell;
use std::ptr;

use threadbare_trace::{Event, EventKind, SwitchReason, ThreadId};
use threadbare_wire::SwitchRecord;

use crate::engine::{Engine, engine};
use crate::fiber::Fiber;
use crate::thread_state_hash;

/// A write whose new value is known only once the program has made it.
#[derive(Clone, Copy)]
struct UnfinishedWrite {
    event: *mut Event,
    addr: usize,
    size: u8,
    old: u64,
}

/// Writes down what threads do.
pub struct Recorder {
    /// Anything is written down; not so where a closure is repeated.
    pub is_on: Cell<bool>,
    /// What is passed over is written down as well.
    pub takes_all: Cell<bool>,
    unfinished: Cell<Option<UnfinishedWrite>>,
}

impl Default for Recorder {
    fn default() -> Recorder {
        Recorder { is_on: Cell::new(true), takes_all: Cell::new(false), unfinished: Cell::new(None) }
    }
}

impl Recorder {
    /// Notes a finished step of the running thread.
    pub fn note(&self, kind: EventKind, addr: usize, size: u8, value: u64, old: u64) -> Option<*mut Event> {
        let engine = engine();
        let fiber = engine.current();
        if crate::call_profile::are_measured()
            && !crate::call_profile::observe(engine, fiber.id, kind, addr, value)
        {
            return None;
        }
        fiber.unrecorded.set(None);
        // Before the first thread there is nothing to order, and the trace begins with it.
        if !engine.running.get() || !self.is_on.get() {
            return None;
        }
        self.record_place(addr);
        if size == 8 {
            // The value may point to a block; then people want to know to which.
            self.record_place(value as usize);
        }
        engine.shared.event(Event {
            pc: fiber.site(),
            addr: addr as u64,
            value,
            old,
            op: fiber.ops.get(),
            thread: fiber.id,
            kind: kind as u8,
            size,
            context: engine.context_of(fiber),
            flags: u32::from(fiber.volatile_access.get()) * Event::VOLATILE
                + u32::from(engine.world.ignored.covers(fiber, kind, addr)) * Event::IGNORED
                + fiber.weakness.get()
                + thread_state_hash::in_event(fiber.state_hash.get()),
        })
    }

    /// Notes that control passes from one thread to another.
    #[inline(always)]
    pub fn note_switch(&self, from: &Fiber, next: ThreadId, reason: SwitchReason) {
        let engine = engine();
        let context = if self.is_on.get() { engine.context_of(from) } else { 0 };
        let pending = from.pending.borrow_mut();
        engine.shared.switch(SwitchRecord {
            pc: if reason == SwitchReason::Ended { 0 } else { pending.site },
            op: pending.index,
            from: from.id,
            to: next,
            addr: pending.object,
            kind: pending.kind as u8,
            reason: reason as u8,
            spare: 0,
            context,
        });
    }

    /// Makes sure that the trace names the memory around an address, if it is in a heap block or
    /// among the variables of a call in progress.
    #[inline(always)]
    pub fn record_place(&self, addr: usize) {
        let engine = engine();
        let allocation = engine.world.heap.borrow_mut().unrecorded(addr);
        if let Some(allocation) = allocation {
            engine.shared.event(allocation);
        } else if engine.world.stacks.borrow_mut().contains(&addr) {
            record_frame(engine, addr);
        }
    }

    /// A plain write is about to be made by the program; its value is read at the next entry.
    pub fn begin_write(&self, addr: usize, size: u8, old: u64) {
        let event = self.note(EventKind::Write, addr, size, old, old).unwrap_or(ptr::null_mut());
        self.unfinished.set(Some(UnfinishedWrite { event, addr, size, old }));
    }

    /// Fills in the value of the last plain write.
    #[inline(always)]
    pub fn complete_write(&self) {
        if let Some(write) = self.unfinished.take() {
            // The program has just written there, but code that nobody watches may have given the memory back.
            let value = crate::signals::guarded_load(write.addr, write.size).unwrap_or(write.old);
            if !write.event.is_null() {
                // SAFETY: the event is in shared memory.
                unsafe { (*write.event).value = value };
                if write.size == 8 {
                    self.record_place(value as usize);
                }
            }
            if value != write.old {
                engine().changed();
            }
        }
    }

    /// The last plain write did not happen: the program crashed on it.
    pub fn forget_write(&self) {
        self.unfinished.set(None);
    }
}

#[inline(never)]
fn record_frame(engine: &Engine, addr: usize) {
    let Some(owner) = engine.threads.live().find(|fiber| fiber.stack_range().contains(&addr)) else {
        return;
    };
    if let Some((variables, pc)) = owner.unrecorded_call(addr) {
        engine.shared.event(Event {
            pc,
            addr: variables.end as u64,
            value: variables.start as u64,
            thread: owner.id,
            kind: EventKind::Frame as u8,
            ..Event::default()
        });
    }
}
