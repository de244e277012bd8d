//! Telling a thread that spins for ever from one that only takes its time.
//!
//! When every runnable thread has been re-reading the same values for a while, each of them is run alone
//! for a few operations, with every announced access looked at, private ones too. If it comes back to where it
//! was, with the same registers and the same stack, it is followed for one more round, in which all memory is
//! compared as well. If nothing has changed on the way, and if the thread has asked for nothing that may be
//! different next time, then it will do so for ever. If that is true of all of them, nobody will ever get on. All of
//! this is counted in operations, never in time.

mod remembered;

use std::cell::Cell;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

use threadbare_library::HiddenObject;
use threadbare_sched::Op;
use threadbare_trace::{EventKind, FailureKind, ThreadId, kinds};

use crate::engine::Engine;
use crate::exclusive::Exclusive;
use crate::fiber::{Fiber, Waitable};
use crate::{deadlock, processor_clock, shared_memory};
use remembered::Remembered;
pub use remembered::frames;

/// Fruitless rounds after which threads are looked at for the first time; each look that finds nothing doubles it.
const FIRST_LOOK: u64 = 32;

/// How many operations one thread is followed for.
const MOST_OPERATIONS: u64 = 256;

/// How many of the places that a thread reads are named.
const MOST_NAMED: usize = 4;

/// Calls of the C library under control that may have an effect, or an answer that differs from time to time.
static CALLS: AtomicU64 = AtomicU64::new(0);

/// A controlled function of the C library was called.
#[inline(always)]
pub fn called() {
    CALLS.store(CALLS.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

/// The call in progress turned out to change nothing, and would again.
pub fn was_harmless(kind: EventKind) {
    use EventKind::*;
    match kind {
        kinds!(pause) | LockFailed | SemFailed | JoinFailed => {
            CALLS.store(CALLS.load(Ordering::Relaxed).saturating_sub(1), Ordering::Relaxed);
        }
        kinds!(plain | atomic | condition | barrier | once | futex | heap | object | outside) => {}
        Lock | Unlock | ReadLock | SemWait | SemPost | Fence | Signal | Frame => {}
        Create | Start | Exit | Join | Detach | Cancel => {}
    }
}

/// Whether it is a function of the C library that announces such a step. [`called`] has counted it then.
fn is_announced_by_call(kind: EventKind) -> bool {
    use EventKind::*;
    match kind {
        Free | Fence | kinds!(plain | atomic) => false,
        Alloc | Signal | Frame | kinds!(lock | condition | barrier | semaphore | once | futex) => true,
        kinds!(thread | object | pause | outside) => true,
    }
}

/// A look at all runnable threads, one after the other.
struct Look {
    /// The thread that is looked at.
    thread: ThreadId,
    /// Those still to come, the next one last.
    others: Vec<ThreadId>,
    /// Those that will spin for ever.
    found: Vec<Spinner>,
    progress: u64,
    /// How many calls had been made when the thread came to its first operation in the look; it may have had to
    /// finish one.
    calls: Option<u64>,
    operations: u64,
    /// A state of the thread, and after how many operations: it may come back to it.
    mark: Option<(ThreadState, u64)>,
    /// What it has done since.
    since: Vec<Op>,
    /// It came back there once. The program's memory, and what it held then.
    memory: Option<(Remembered, u64)>,
    /// It always comes back; the code address of the place where it is to stop for good.
    stop: Option<u64>,
}

/// The state of a thread: at which operation it is, with which registers and which stack.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ThreadState {
    kind: EventKind,
    object: u64,
    site: u64,
    registers: [usize; crate::arch::PRESERVED],
    /// What is on the stack.
    stack: u64,
    /// From where to where the thread's own stack reaches.
    own_stack: (usize, usize),
}

impl ThreadState {
    /// The state of the running thread before its pending operation.
    pub fn of(fiber: &Fiber) -> ThreadState {
        let Op { kind, object, site, .. } = *fiber.pending.borrow_mut();
        let registers = crate::arch::registers();
        let sp = registers[0];
        // A program may run on stacks that it has made itself; those are part of its memory.
        let stack = if fiber.stack_range().contains(&sp) { remembered::stack(fiber, sp) } else { 0 };
        ThreadState { kind, object, site, registers, stack, own_stack: fiber.stack.get() }
    }
}

/// A thread that spins for ever, and the places that it reads.
pub struct Spinner {
    thread: ThreadId,
    reads: Vec<(u64, u32)>,
}

impl Spinner {
    fn new(thread: ThreadId, (low, high): (usize, usize), operations: &[Op]) -> Spinner {
        let own = low as u64..high as u64;
        let mut reads: Vec<(u64, u32)> = Vec::new();
        for op in operations {
            let place = (op.object, op.size);
            if op.kind.accesses_memory() && !own.contains(&op.object) && !reads.contains(&place) {
                reads.push(place);
            }
        }
        Spinner { thread, reads }
    }

    /// What the thread does, as text; `<obj …>` stands for the name of an address.
    fn describe(&self) -> String {
        let mut text = "spins".to_string();
        for (count, (address, size)) in self.reads.iter().take(MOST_NAMED).enumerate() {
            let _ = write!(text, "{}<obj {address:#x}>", if count == 0 { ", reading " } else { ", " });
            if matches!(size, 1 | 2 | 4 | 8) {
                let value = crate::signals::guarded_load(*address as usize, *size as u8);
                let _ = value.map(|value| write!(text, " = {value}"));
            }
        }
        if self.reads.len() > MOST_NAMED {
            let _ = write!(text, " and {} more", self.reads.len() - MOST_NAMED);
        }
        text
    }
}

/// Counts rounds in which no thread makes progress, and looks at the threads when there were many.
pub struct SpinDetector {
    fruitless_rounds: Cell<u64>,
    /// After so many of them threads are looked at next.
    next_look: Cell<u64>,
    look: Exclusive<Option<Look>>,
}

impl Default for SpinDetector {
    fn default() -> SpinDetector {
        SpinDetector {
            fruitless_rounds: Cell::new(0),
            next_look: Cell::new(FIRST_LOOK),
            look: Exclusive::new(None),
        }
    }
}

impl SpinDetector {
    /// An execution begins.
    pub fn forget(&self) {
        self.fruitless_rounds.set(0);
        self.next_look.set(FIRST_LOOK);
        self.look.set(None);
    }

    /// Whether a thread is being looked at.
    #[inline(always)]
    pub fn is_looking(&self) -> bool {
        self.look.borrow_mut().is_some()
    }

    /// A thread made progress.
    #[inline(always)]
    pub fn note_progress(&self) {
        self.fruitless_rounds.set(0);
    }

    /// Counts a round in which no thread made progress, or several. Says who is to be looked at, if there were too many.
    pub fn count_fruitless(&self, engine: &Engine, rounds: u64) -> Option<ThreadId> {
        self.fruitless_rounds.set(self.fruitless_rounds.get() + rounds);
        if self.fruitless_rounds.get() < self.next_look.get() || self.is_looking() {
            return None;
        }
        self.next_look.set(self.next_look.get() * 2);
        self.begin_look(engine)
    }

    fn begin_look(&self, engine: &Engine) -> Option<ThreadId> {
        let world = &engine.world;
        if engine.os_threads.get()
            || world.forked.get()
            || world.process_shared.get()
            || world.signals.pending.get() != 0
        {
            return None;
        }
        // The thread with the lowest number comes last: the hang is shown as its own.
        let mut others = Vec::new();
        for fiber in engine.threads.live() {
            let outward = |wait: &dyn Waitable| wait.outside() || !wait.descriptors().is_empty();
            if fiber.waits_for().is_some_and(outward) || fiber.starting.get().is_some() {
                return None;
            }
            if fiber.ready() || fiber.deadline().is_some() {
                others.push(fiber.id);
            }
        }
        let thread = others.pop()?;
        if !processor_clock::notice() {
            return None;
        }
        self.look.set(Some(Look {
            thread,
            others,
            found: Vec::new(),
            progress: engine.progress.get(),
            calls: None,
            operations: 0,
            mark: None,
            since: Vec::new(),
            memory: None,
            stop: None,
        }));
        Some(thread)
    }

    fn end_look(&self) {
        if self.look.take().is_some() {
            processor_clock::end_notice();
        }
    }

    /// The running thread, while threads are looked at, is about to make an operation. Says who is looked at now: this thread,
    /// which then makes it, or the next one. None if the look is over.
    pub fn look_on(&self, engine: &Engine) -> Option<ThreadId> {
        let fiber = engine.current();
        // Whether the call in progress is harmless shows when it is over.
        let pending = *fiber.pending.borrow_mut();
        let of_library = HiddenObject::at(pending.object).is_some();
        let in_call = of_library || is_announced_by_call(pending.kind);
        let (progress, calls) = (engine.progress.get(), CALLS.load(Ordering::Relaxed) - u64::from(in_call));
        let may_go_on = fiber.ready() && !processor_clock::was_asked();
        let found = match &mut *self.look.borrow_mut() {
            None => return None,
            Some(look) => {
                let same = may_go_on && look.is_at(fiber.id, progress, calls);
                if same { look.take_in(pending, || ThreadState::of(fiber)) } else { Found::Nothing }
            }
        };
        match found {
            Found::Nothing => {
                self.end_look();
                return None;
            }
            Found::Round => {
                let Some(memory) = Remembered::look(engine, fiber.id) else {
                    self.end_look();
                    return None;
                };
                let holds = memory.digest();
                if let Some(look) = &mut *self.look.borrow_mut() {
                    look.memory = Some((memory, holds));
                }
            }
            Found::OnTheWay => {}
            Found::Spinner => {
                let next = self.look.borrow_mut().as_mut().and_then(Look::begin_next);
                return Some(next.unwrap_or_else(|| self.report_livelock(engine)));
            }
        }
        Some(fiber.id)
    }

    fn report_livelock(&self, engine: &Engine) -> ! {
        let found = self.look.take().map(|look| look.found).unwrap_or_default();
        for (address, _) in found.iter().flat_map(|spinner| spinner.reads.iter().take(MOST_NAMED)) {
            engine.recorder.record_place(*address as usize);
        }
        let spins = |id| found.iter().find(|spinner| spinner.thread == id).map(Spinner::describe);
        shared_memory::fail(
            FailureKind::Hang,
            format_args!(
                "livelock: every runnable thread only spins, for ever: no thread is left to change what it reads\n{}",
                deadlock::describe_threads(spins)
            ),
        )
    }
}

/// What is known of the thread that is looked at.
enum Found {
    /// It cannot be said to spin.
    Nothing,
    /// It may be spinning.
    OnTheWay,
    /// It has come back to where it was, as far as registers and stack go.
    Round,
    /// It spins for ever, and is where it is to stop.
    Spinner,
}

impl Look {
    /// Whether this thread is the one that is looked at, and nothing has changed, and nothing was called, since the look began.
    fn is_at(&mut self, thread: ThreadId, progress: u64, calls: u64) -> bool {
        self.thread == thread && self.progress == progress && *self.calls.get_or_insert(calls) == calls
    }

    /// Goes on with the next thread; says which, if one is left.
    fn begin_next(&mut self) -> Option<ThreadId> {
        let next = self.others.pop()?;
        self.thread = next;
        self.calls = None;
        self.operations = 0;
        self.mark = None;
        self.memory = None;
        self.stop = None;
        self.since.clear();
        Some(next)
    }

    /// Takes in the thread's next operation and its state.
    fn take_in(&mut self, op: Op, state: impl FnOnce() -> ThreadState) -> Found {
        if self.stop.is_none() {
            if self.memory.as_ref().is_some_and(|(memory, held)| memory.digest() != *held) {
                return Found::Nothing;
            }
            let state = state();
            if self.mark.as_ref().is_some_and(|(mark, _)| *mark == state) {
                if self.memory.is_none() {
                    self.since.clear();
                    self.since.push(op);
                    return Found::Round;
                }
                // It stops at the same place of its round in every execution.
                self.stop = self.since.iter().map(|op| op.site).min();
                self.found.push(Spinner::new(self.thread, state.own_stack, &self.since));
            } else {
                self.operations += 1;
                // The mark moves on, ever more slowly, so that it comes to lie within the round.
                let moves = self.mark.as_ref().is_none_or(|(_, at)| self.operations >= 2 * at);
                if moves && self.memory.is_none() {
                    self.mark = Some((state, self.operations));
                    self.since.clear();
                }
                self.since.push(op);
                if self.operations >= MOST_OPERATIONS {
                    return Found::Nothing;
                }
            }
        }
        if self.stop == Some(op.site) { Found::Spinner } else { Found::OnTheWay }
    }
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init, reason = "lists of ranges are what is tested")]
mod tests {
    use super::*;

    const THREAD: ThreadId = ThreadId(1);
    const OWN_STACK: (usize, usize) = (0x1000, 0x2000);

    fn look() -> Look {
        Look {
            thread: THREAD,
            others: vec![ThreadId(2)],
            found: Vec::new(),
            progress: 0,
            calls: None,
            operations: 0,
            mark: None,
            since: Vec::new(),
            memory: None,
            stop: None,
        }
    }

    /// The thread reads a place at a site, with this on its stack.
    fn read(look: &mut Look, site: u64, stack: u64) -> Found {
        let op = Op { kind: EventKind::Read, object: 0x100 + site, size: 4, site, index: 0, place: 0 };
        look.take_in(op, || ThreadState {
            kind: op.kind,
            object: op.object,
            site,
            registers: [0; crate::arch::PRESERVED],
            stack,
            own_stack: OWN_STACK,
        })
    }

    /// Goes round the sites until something is found; says at which site.
    fn go_round(look: &mut Look, sites: &[u64], stack: impl Fn(u64) -> u64) -> (Found, u64) {
        for (count, site) in sites.iter().cycle().enumerate() {
            match read(look, *site, stack(count as u64)) {
                Found::OnTheWay => {}
                found => return (found, *site),
            }
        }
        unreachable!("the sites repeat without end")
    }

    #[test]
    fn a_thread_that_comes_back_twice_with_the_same_memory_spins_for_ever() {
        let held = [7u64; 4];
        let memory =
            Remembered::of(vec![held.as_ptr() as usize..held.as_ptr() as usize + size_of_val(&held)]);
        let mut look = look();
        let (found, site) = go_round(&mut look, &[30, 10, 20], |_| 0);
        assert!(matches!(found, Found::Round) && site == 30);
        let digest = memory.digest();
        look.memory = Some((memory, digest));
        let (found, site) = go_round(&mut look, &[10, 20, 30], |_| 0);
        assert!(matches!(found, Found::Spinner));
        assert_eq!(site, 10, "it stops at the lowest site, wherever it was first seen");
        let mut reads = look.found[0].reads.clone();
        reads.sort_unstable();
        assert_eq!(reads, [(0x10a, 4), (0x114, 4), (0x11e, 4)]);
        assert_eq!(look.begin_next(), Some(ThreadId(2)));
        assert_eq!(look.begin_next(), None);
    }

    #[test]
    fn a_thread_whose_stack_changes_is_followed_for_a_while_and_given_up() {
        let mut look = look();
        assert!(matches!(go_round(&mut look, &[10, 20], |count| count).0, Found::Nothing));
        assert_eq!(look.operations, MOST_OPERATIONS);
    }

    #[test]
    fn a_thread_that_changes_memory_on_its_way_round_does_not_spin() {
        let mut held = [7u64; 4];
        let memory =
            Remembered::of(vec![held.as_ptr() as usize..held.as_ptr() as usize + size_of_val(&held)]);
        let mut look = look();
        assert!(matches!(go_round(&mut look, &[10, 20], |_| 0).0, Found::Round));
        let digest = memory.digest();
        look.memory = Some((memory, digest));
        held[2] = 8;
        std::hint::black_box(&held);
        assert!(matches!(read(&mut look, 20, 0), Found::Nothing));
    }

    #[test]
    fn a_look_ends_with_another_thread_a_change_or_a_call() {
        let mut look = look();
        assert!(look.is_at(THREAD, 0, 5));
        assert!(!look.is_at(ThreadId(2), 0, 5));
        assert!(!look.is_at(THREAD, 1, 5));
        assert!(!look.is_at(THREAD, 0, 6));
    }

    #[test]
    fn what_is_on_its_own_stack_is_not_named() {
        let op = |object| Op { kind: EventKind::Read, object, size: 4, site: 1, index: 0, place: 0 };
        let spinner = Spinner::new(THREAD, OWN_STACK, &[op(0x1800), op(0x3000), op(0x3000)]);
        assert_eq!(spinner.reads, [(0x3000, 4)]);
    }
}
