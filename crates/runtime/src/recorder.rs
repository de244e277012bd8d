//! What is recorded of an execution: its events, with the values that writes leave behind and the names
//! of the memory they touch.

use std::ptr;

use threadbare_trace::{Event, EventKind};

use crate::engine::Engine;

/// A write whose new value is known only once the program has made it.
#[derive(Clone, Copy)]
pub struct UnfinishedWrite {
    event: *mut Event,
    addr: usize,
    size: u8,
    old: u64,
}

impl Engine {
    /// Notes a finished step of the running thread.
    pub fn note(&self, kind: EventKind, addr: usize, size: u8, value: u64, old: u64) -> Option<*mut Event> {
        if crate::call_profile::are_measured() {
            let thread = self.current_id();
            if !crate::call_profile::observe(self, thread, kind, addr, value) {
                return None;
            }
        }
        // Before the first thread there is nothing to order, and the trace begins with it.
        if !self.running.get() || !self.records.get() {
            return None;
        }
        self.record_place(addr);
        if size == 8 {
            // The value may point to a block; then people want to know to which.
            self.record_place(value as usize);
        }
        let fiber = self.current();
        self.shared.event(Event {
            pc: fiber.site(),
            addr: addr as u64,
            value,
            old,
            op: fiber.ops.get(),
            thread: fiber.id,
            kind: kind as u8,
            size,
            context: self.context_of(fiber),
            flags: u32::from(fiber.volatile_access.get()) * Event::VOLATILE
                + fiber.weakness.get()
                + (fiber.state_hash.get() << Event::STATE_HASH),
        })
    }

    /// Makes sure that the trace names the memory around an address, if it is in a heap block or
    /// among the variables of a call in progress.
    #[inline(always)]
    pub fn record_place(&self, addr: usize) {
        let allocation = self.world.heap.borrow_mut().unrecorded(addr);
        if let Some(allocation) = allocation {
            self.shared.event(allocation);
        } else if self.world.stacks.borrow_mut().contains(&addr) {
            self.record_frame(addr);
        }
    }

    #[inline(never)]
    fn record_frame(&self, addr: usize) {
        let Some(owner) = self.threads.live().find(|fiber| fiber.stack_range().contains(&addr)) else {
            return;
        };
        if let Some((variables, pc)) = owner.unrecorded_call(addr) {
            self.shared.event(Event {
                pc,
                addr: variables.end as u64,
                value: variables.start as u64,
                thread: owner.id,
                kind: EventKind::Frame as u8,
                ..Event::default()
            });
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
            // SAFETY: the program has just written there; only its own thread has run since.
            let value = unsafe { crate::access::load(write.addr, write.size) };
            if !write.event.is_null() {
                // SAFETY: the event is in shared memory.
                unsafe { (*write.event).value = value };
                if write.size == 8 {
                    self.record_place(value as usize);
                }
            }
            if value != write.old {
                self.changed();
            }
        }
    }

    /// The last plain write did not happen: the program crashed on it.
    pub fn forget_write(&self) {
        self.unfinished.set(None);
    }
}
