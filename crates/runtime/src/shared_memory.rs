//! The shared memory as the runtime sees it: writing events, switches, discoveries and failures.

use std::fmt::Write as _;
use std::ops::{Deref, DerefMut};

use threadbare_sched::{Divergence, Policy as _};
use threadbare_trace::{Event, FailureKind};
use threadbare_wire::{
    Area, CallRecord, CodeRange, ContextRecord, Control, DeadRegistersRecord, DecisionRecord,
    DependenceRecord, Layout, LearnedRecord, LockSetRecord, OfferRecord, Slot, Status, SwitchRecord,
    TouchRecord, UntriedRecord, flags,
};

use crate::sys;

/// Events whose pages are made ready together.
const CHUNK: u64 = 4096;

/// The mapped shared memory.
#[derive(Clone, Copy)]
pub struct Shared {
    base: *mut u8,
}

/// The head of the shared memory. This is a pointer that several may have: each use of a field borrows the head for that
/// expression only.
#[derive(Clone, Copy)]
pub struct Head(*mut Control);

impl Head {
    /// Where it lies.
    pub fn as_ptr(self) -> *mut Control {
        self.0
    }
}

impl Deref for Head {
    type Target = Control;

    #[inline(always)]
    fn deref(&self) -> &Control {
        // SAFETY: the mapping lives as long as the process; one thread at a time uses it, and the driver only between
        // executions.
        unsafe { &*self.0 }
    }
}

impl DerefMut for Head {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Control {
        // SAFETY: as above.
        unsafe { &mut *self.0 }
    }
}

impl Shared {
    /// Wraps a mapping.
    ///
    /// # Safety
    /// `base` must point to a mapping of a whole [`threadbare_wire::Layout`].
    pub unsafe fn new(base: *mut u8) -> Shared {
        Shared { base }
    }

    /// Where the memory begins.
    pub fn address(&self) -> usize {
        self.base as usize
    }

    /// The head of the memory.
    #[inline(always)]
    pub fn control(&self) -> Head {
        Head(self.base.cast())
    }

    #[inline(always)]
    fn slot<T>(&self, area: Area, index: u64) -> Option<*mut T> {
        if index >= area.capacity {
            return None;
        }
        // SAFETY: the index is within the area, and the area within the mapping.
        Some(unsafe { self.base.add(area.offset as usize).cast::<T>().add(index as usize) })
    }

    /// Appends an event and returns its place, so that a write's value can be filled in later.
    #[inline(always)]
    pub fn event(&self, event: Event) -> Option<*mut Event> {
        let mut control = self.control();
        if control.plan.flags & flags::NO_EVENTS != 0 {
            return None;
        }
        let Some(place) = self.slot::<Event>(control.layout.events, control.events) else {
            if control.layout.events.capacity < Layout::all_events(control.plan.max_steps) {
                // The driver has no room for more.
                control.events_left_out += 1;
                return None;
            }
            lost_control(
                "the event memory is full: the run made more events than its step limit allows for; \
                 raise --max-steps",
            );
        };
        control.events += 1;
        // SAFETY: `slot` checked the place.
        unsafe { place.write(event) };
        if control.events.is_multiple_of(CHUNK) {
            self.prepare_events(control.events);
        }
        Some(place)
    }

    /// The events so far.
    pub fn events(&self) -> &'static [Event] {
        let control = self.control();
        match self.slot::<Event>(control.layout.events, 0) {
            // SAFETY: so many events were written to the area.
            Some(first) => unsafe { std::slice::from_raw_parts(first, control.events as usize) },
            None => &[],
        }
    }

    /// In a long execution, has the pages of the next events ready in one go: faulting them in one
    /// by one takes a good part of the time.
    #[cold]
    fn prepare_events(&self, next: u64) {
        const MADV_POPULATE_WRITE: usize = 23;
        let area = self.control().layout.events;
        if next + CHUNK <= area.capacity {
            let bytes = CHUNK as usize * size_of::<Event>();
            let start =
                (self.base as usize + area.offset as usize + next as usize * size_of::<Event>()) & !4095;
            // SAFETY: within the mapping. An older kernel refuses, and the pages come one by one.
            unsafe { sys::call(libc::SYS_madvise, [start, bytes, MADV_POPULATE_WRITE, 0, 0, 0]) };
        }
    }

    /// Appends a switch.
    pub fn switch(&self, switch: SwitchRecord) {
        let mut control = self.control();
        let Some(place) = self.slot::<SwitchRecord>(control.layout.switches, control.switches) else {
            lost_control("the switch memory is full; raise --max-steps");
        };
        control.switches += 1;
        // SAFETY: `slot` checked the place.
        unsafe { place.write(switch) };
    }

    /// Whether the driver wants to know the decisions.
    pub fn wants_decisions(&self) -> bool {
        self.control().plan.flags & flags::DECISIONS != 0
    }

    /// Appends a decision.
    pub fn decision(&self, decision: DecisionRecord) {
        let mut control = self.control();
        let Some(place) = self.slot::<DecisionRecord>(control.layout.decisions, control.decisions) else {
            lost_control("the decision memory is full; raise --max-steps");
        };
        control.decisions += 1;
        // SAFETY: `slot` checked the place.
        unsafe { place.write(decision) };
    }

    /// Appends a context and returns its number, if there is room.
    pub fn context(&self, parent: u32, pc: u64) -> Option<u32> {
        let mut control = self.control();
        let place = self.slot::<ContextRecord>(control.layout.contexts, control.contexts)?;
        control.contexts += 1;
        // SAFETY: `slot` checked the place.
        unsafe { place.write(ContextRecord { pc, parent, spare: 0 }) };
        Some(control.contexts as u32)
    }

    /// Appends a kind of call; says whether there was room.
    pub fn call(&self, record: CallRecord) -> bool {
        let mut control = self.control();
        let Some(place) = self.slot::<CallRecord>(control.layout.calls, control.calls) else { return false };
        control.calls += 1;
        // SAFETY: `slot` checked the place.
        unsafe { place.write(record) };
        true
    }

    /// Appends a set of locks and returns its number, if there is room.
    pub fn lock_set(&self, record: LockSetRecord) -> Option<u32> {
        let mut control = self.control();
        let place = self.slot::<LockSetRecord>(control.layout.lock_sets, control.lock_sets)?;
        control.lock_sets += 1;
        // SAFETY: `slot` checked the place.
        unsafe { place.write(record) };
        Some(control.lock_sets as u32)
    }

    /// Appends a touch. Those for which there is no room are counted.
    pub fn touch(&self, record: TouchRecord) {
        let mut control = self.control();
        if let Some(place) = self.slot::<TouchRecord>(control.layout.touches, control.touches) {
            // SAFETY: `slot` checked the place.
            unsafe { place.write(record) };
        }
        control.touches += 1;
    }

    /// Writes down something that the execution depended on, if there is room.
    pub fn dependence(&self, index: u64, record: DependenceRecord) {
        if let Some(place) = self.slot::<DependenceRecord>(self.control().layout.dependences, index) {
            // SAFETY: `slot` checked the place.
            unsafe { place.write(record) };
        }
    }

    /// Appends a record of what was in a file; says whether there was room.
    pub fn file_change(&self, record: &[u8]) -> bool {
        let mut control = self.control();
        let area = control.layout.file_changes;
        let end = control.file_changes + record.len() as u64;
        let Some(place) = self.slot::<u8>(area, control.file_changes).filter(|_| end <= area.capacity) else {
            return false;
        };
        // SAFETY: the area reaches so far. It counts only once it is all there: the process may be killed at any time.
        unsafe { std::ptr::copy_nonoverlapping(record.as_ptr(), place, record.len()) };
        control.file_changes = end;
        true
    }

    /// An announcement that is not wanted.
    pub fn uninstrument(&self, index: u64) -> Option<u64> {
        // SAFETY: `slot` checked the place; the driver wrote it before it started the program.
        self.slot::<u64>(self.control().layout.uninstrument, index).map(|place| unsafe { *place })
    }

    /// Notes a place newly found to be shared. More than fit are dropped: the next run finds them.
    pub fn discovered(&self, record: LearnedRecord) {
        let mut control = self.control();
        if let Some(place) = self.slot::<LearnedRecord>(control.layout.discovered, control.learned_out) {
            control.learned_out += 1;
            // SAFETY: `slot` checked the place.
            unsafe { place.write(record) };
        }
    }

    /// A learned place that the driver sent.
    pub fn learned(&self, index: u64) -> Option<LearnedRecord> {
        // SAFETY: `slot` checked the place; the driver wrote it before the request.
        self.slot::<LearnedRecord>(self.control().layout.learned, index).map(|place| unsafe { *place })
    }

    /// The program's own code, as far as the driver has given it.
    pub fn own_code(&self) -> &'static [CodeRange] {
        let control = self.control();
        let count = control.own_code.min(control.layout.own_code.capacity) as usize;
        match self.slot::<CodeRange>(control.layout.own_code, 0) {
            // SAFETY: the driver wrote so many records before the request.
            Some(first) => unsafe { std::slice::from_raw_parts(first, count) },
            None => &[],
        }
    }

    /// What the program does not need any more while a call is in progress, as far as the driver knows it.
    pub fn dead_registers(&self) -> &'static [DeadRegistersRecord] {
        let control = self.control();
        match self.slot::<DeadRegistersRecord>(control.layout.dead_registers, 0) {
            // SAFETY: the driver wrote so many records, which fit, before it started the program.
            Some(first) => unsafe { std::slice::from_raw_parts(first, control.dead_registers as usize) },
            None => &[],
        }
    }

    /// A place in the table of what has not been tried.
    pub fn untried(&self, index: u64) -> Option<*mut UntriedRecord> {
        self.slot::<UntriedRecord>(self.control().layout.untried, index)
    }

    /// The code that is taken in one piece, as far as the driver has given it, and the program's own.
    pub fn whole_code(&self) -> (&'static [CodeRange], &'static [CodeRange]) {
        let control = self.control();
        let (whole, own) = (control.whole_code as usize, control.program_code as usize);
        match self.slot::<CodeRange>(control.layout.whole_code, 0) {
            // SAFETY: the driver wrote so many records, which fit, before the request.
            Some(first) => unsafe { std::slice::from_raw_parts(first, whole + own).split_at(whole) },
            None => (&[], &[]),
        }
    }

    /// The parameters of the plan's policy.
    pub fn policy_words(&self) -> Vec<u64> {
        let (area, count) = (self.control().layout.policy, self.control().plan.policy_words);
        let word = |index| self.slot::<u64>(area, index);
        // SAFETY: `slot` checked the place, and the policy area holds words.
        (0..count).map_while(word).map(|place| unsafe { *place }).collect()
    }

    /// Writes down a runnable thread; says whether there was room.
    pub fn offer(&self, index: u64, offer: OfferRecord) -> bool {
        let place = self.slot::<OfferRecord>(self.control().layout.offers, index);
        // SAFETY: `slot` checked the place.
        place.map(|place| unsafe { place.write(offer) }).is_some()
    }

    /// Where the copy with this number takes its orders.
    pub fn order_slot(&self, number: u32) -> Option<*mut Slot> {
        self.slot::<Slot>(self.control().layout.slots, u64::from(number))
    }

    /// Adds a line the user should see, once.
    pub fn warn(&self, line: &str) {
        let warnings = &mut self.control().warnings;
        let so_far = &warnings.bytes[..warnings.len as usize];
        if !so_far.split(|byte| *byte == b'\n').any(|known| known == line.as_bytes()) {
            let _ = writeln!(warnings, "{line}");
        }
    }
}

/// Records a failure of the program and ends the execution.
pub fn fail(kind: FailureKind, message: std::fmt::Arguments<'_>) -> ! {
    note_failure(kind, message);
    sys::exit(1)
}

/// Records a failure of the program, if it is the first.
pub fn note_failure(kind: FailureKind, message: std::fmt::Arguments<'_>) {
    let engine = crate::engine::engine();
    let mut control = engine.shared.control();
    if control.failure_kind != 0 || control.uncontrolled != 0 {
        return;
    }
    engine.recorder.complete_write();
    crate::call_profile::end(None);
    if crate::process::fails_too_early() {
        crate::dependences::note_early_end(false);
    }
    control.failure_kind = kind as u8;
    control.message.clear();
    let _ = control.message.write_fmt(message);
    note_calls();
    note_policy();
    control.status = Status::Ended as u32;
}

/// Notes the running thread and its calls, as those of a failure.
pub fn note_calls() {
    let engine = crate::engine::engine();
    let mut control = engine.shared.control();
    control.failure_thread = engine.current_id();
    control.stack_len = 0;
    for pc in engine.call_stack().filter(|pc| !engine.world.libraries().is_system(*pc)) {
        if (control.stack_len as usize) < control.stack.len() {
            let place = control.stack_len as usize;
            control.stack[place] = pc;
            control.stack_len += 1;
        }
    }
}

/// Writes down what the policy has to say in the end: where a replay left its schedule, and what decided.
pub fn note_policy() {
    let engine = crate::engine::engine();
    let mut control = engine.shared.control();
    control.policy_counters = engine.policy.borrow_mut().counters();
    if let Some(Divergence { number, reason }) = engine.policy.borrow_mut().divergence() {
        control.diverged_at = number;
        control.divergence.clear();
        let _ = write!(control.divergence, "{reason}");
    }
}

/// Ends the execution because the program could not be kept under control.
pub fn lost_control(reason: &str) -> ! {
    let mut control = crate::engine::engine().shared.control();
    if control.failure_kind == 0 {
        control.uncontrolled = 1;
        control.message.clear();
        let _ = control.message.write_str(reason);
    }
    control.status = Status::Ended as u32;
    sys::exit(2)
}

/// Ends the execution at its limit of steps, or another one: nobody knows how it would have ended.
pub fn cut(why: std::fmt::Arguments<'_>) -> ! {
    let engine = crate::engine::engine();
    let mut control = engine.shared.control();
    if control.failure_kind == 0 && control.uncontrolled == 0 {
        engine.recorder.complete_write();
        crate::call_profile::end(None);
        control.cut = 1;
        control.message.clear();
        let _ = write!(control.message, "{why}");
        note_calls();
        note_policy();
    }
    control.status = Status::Ended as u32;
    sys::exit(2)
}

/// Ends the execution before it has begun, because the plan cannot be run.
pub fn refuse_plan(reason: impl std::fmt::Display) -> ! {
    let mut control = crate::engine::engine().shared.control();
    control.plan_refused = 1;
    control.message.clear();
    let _ = write!(control.message, "{reason}");
    control.status = Status::Ended as u32;
    sys::exit(2)
}

/// Ends the execution because the program uses something that is not supported.
pub fn unsupported(what: &str) -> ! {
    lost_control(&format!("the program uses {what}, which threadbare does not control yet"))
}
