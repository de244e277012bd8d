//! The state of a program along a trace, as far as it is known from the events: what threads have found, what memory
//! holds, who holds which lock and who waits. It is advanced by events, executed or predicted.

use threadbare_trace::{Event, EventKind, ThreadId, kinds};

use super::hash::{SharedTable, mix, shared_table};

/// A thread along a trace.
#[derive(Clone, Copy, Default)]
struct ThreadState {
    history: u64,
    is_alive: bool,
    waits: Option<Wait>,
}

/// A thread waits until others do something.
#[derive(Clone, Copy)]
struct Wait {
    /// The condition, the futex or the barrier.
    place: u64,
    is_over: bool,
}

/// Who holds a lock.
#[derive(Clone, Copy)]
enum Hold {
    Exclusive(ThreadId),
    Shared(u32),
}

/// The state that a trace has led to.
#[derive(Clone)]
pub(super) struct ProgramState {
    thread_states: Vec<ThreadState>,
    memory: SharedTable<u64>,
    locks: SharedTable<Hold>,
}

impl Default for ProgramState {
    fn default() -> ProgramState {
        ProgramState { thread_states: Vec::new(), memory: shared_table(), locks: shared_table() }
    }
}

impl ProgramState {
    /// All that a thread has done and found, as one number. Threads of one routine that have done and found the same
    /// have the same number.
    pub fn history(&self, thread: ThreadId) -> u64 {
        self.thread_states.get(thread.index()).map_or(0, |thread_state| thread_state.history)
    }

    /// How many threads there have been.
    pub fn threads(&self) -> usize {
        self.thread_states.len()
    }

    /// The threads that have begun and not ended.
    pub fn alive(&self) -> impl Iterator<Item = ThreadId> + '_ {
        let number = |(place, thread_state): (usize, &ThreadState)| {
            thread_state.is_alive.then_some(ThreadId(place as u16))
        };
        self.thread_states.iter().enumerate().filter_map(number)
    }

    /// What a location holds, if an event has shown it.
    pub fn holds(&self, location: u64) -> Option<u64> {
        self.memory.get(&location).copied()
    }

    /// Records that a thread is alive.
    pub fn add_thread(&mut self, thread: ThreadId) {
        self.thread_state(thread).is_alive = true;
    }

    /// Whether this step is enabled now.
    pub fn is_enabled(&self, step: &Event) -> bool {
        let is_free = |lock: u64| match self.locks.get(&lock) {
            None => true,
            Some(Hold::Exclusive(holder)) => *holder == step.thread,
            Some(Hold::Shared(_)) => false,
        };
        let waits = self.thread_states.get(step.thread.index()).and_then(|thread_state| thread_state.waits);
        let is_woken = waits.is_none_or(|wait| wait.is_over);
        use EventKind::*;
        let Some(kind) = step.kind() else { return false };
        match kind {
            Lock => is_free(step.addr),
            ReadLock => !matches!(self.locks.get(&step.addr), Some(Hold::Exclusive(_))),
            Join => self.alive().all(|thread| u64::from(thread.0) != step.value),
            CondWake => is_woken && is_free(step.value),
            FutexWoken => is_woken,
            // How many a barrier waits for is not recorded; with a second one there, it may be all of them.
            BarrierLeave => is_woken || self.waiting_at(step.addr) > 1,
            SemWait => self.holds(step.addr) != Some(0),
            // These never block.
            Unlock | LockFailed | CondWait | CondSignal | CondBroadcast | BarrierArrive | SemPost => true,
            SemFailed | FutexWait | FutexWake | Create | Start | Exit | Detach | JoinFailed | Cancel => true,
            Fence | Signal | Frame | kinds!(plain | atomic | heap | object | pause) => true,
            // These wait for time, for once-routines or for the system, which the state does not hold.
            CondTimeout | FutexTimeout | kinds!(once | outside) => true,
        }
    }

    /// Records a step.
    pub fn observe(&mut self, event: &Event) {
        let Some(kind) = event.kind().filter(|kind| !kind.only_names()) else { return };
        let thread_state = self.thread_state(event.thread);
        thread_state.is_alive = kind != EventKind::Exit;
        thread_state.history = if kind == EventKind::Start {
            // Threads of one routine are alike until they do something else.
            mix(1, event.old)
        } else {
            [event.pc, u64::from(event.kind), known_to_thread(kind, event)]
                .into_iter()
                .fold(thread_state.history, mix)
        };
        use EventKind::*;
        match kind {
            Read | AtomicRead | AtomicFailed => {
                if self.holds(event.addr) != Some(event.value) {
                    self.memory.insert_mut(event.addr, event.value);
                }
            }
            Write | AtomicWrite | AtomicUpdate | SemWait | SemPost => {
                self.memory.insert_mut(event.addr, event.value);
            }
            kinds!(lock | condition | barrier | futex) => self.synchronize(kind, event),
            // What ranges, blocks, once-routines and the system change is not modelled: a prediction that misses it costs a plan only.
            ReadRange | WriteRange | SemFailed | kinds!(heap | once | object | outside) => {}
            Fence | Signal | Frame | kinds!(thread | pause) => {}
        }
    }

    /// Advances locks and waits.
    fn synchronize(&mut self, kind: EventKind, event: &Event) {
        use EventKind::*;
        let thread = event.thread;
        match kind {
            Lock => self.locks.insert_mut(event.addr, Hold::Exclusive(thread)),
            ReadLock => {
                let others = self.readers(event.addr);
                self.locks.insert_mut(event.addr, Hold::Shared(others + 1));
            }
            Unlock => match self.readers(event.addr) {
                0 | 1 => {
                    self.locks.remove_mut(&event.addr);
                }
                readers => self.locks.insert_mut(event.addr, Hold::Shared(readers - 1)),
            },
            CondWait => {
                self.locks.remove_mut(&event.value);
                self.wait(thread, event.addr);
            }
            CondWake | CondTimeout => {
                self.locks.insert_mut(event.value, Hold::Exclusive(thread));
                self.thread_state(thread).waits = None;
            }
            BarrierArrive => self.wait(thread, event.addr),
            // A refused wait has the value 1.
            FutexWait if event.value != 1 => self.wait(thread, event.addr),
            FutexWoken | FutexTimeout => self.thread_state(thread).waits = None,
            BarrierLeave => {
                // A thread that leaves shows that all have arrived.
                self.wake(event.addr, usize::MAX);
                self.thread_state(thread).waits = None;
            }
            CondSignal => self.wake(event.addr, 1),
            CondBroadcast | FutexWake => self.wake(event.addr, usize::MAX),
            LockFailed | FutexWait => {}
            Fence | Signal | Frame | kinds!(plain | atomic | semaphore | once) => {}
            kinds!(thread | heap | object | pause | outside) => {}
        }
    }

    fn thread_state(&mut self, thread: ThreadId) -> &mut ThreadState {
        if self.thread_states.len() <= thread.index() {
            self.thread_states.resize(thread.index() + 1, ThreadState::default());
        }
        &mut self.thread_states[thread.index()]
    }

    fn readers(&self, lock: u64) -> u32 {
        match self.locks.get(&lock) {
            Some(Hold::Shared(readers)) => *readers,
            Some(Hold::Exclusive(_)) | None => 0,
        }
    }

    fn wait(&mut self, thread: ThreadId, place: u64) {
        self.thread_state(thread).waits = Some(Wait { place, is_over: false });
    }

    fn waiting_at(&self, place: u64) -> usize {
        let waits = self.thread_states.iter().filter_map(|thread_state| thread_state.waits);
        waits.filter(|wait| wait.place == place && !wait.is_over).count()
    }

    /// Ends the waits of at most this many threads.
    fn wake(&mut self, place: u64, most: usize) {
        let waits = self.thread_states.iter_mut().filter_map(|thread_state| thread_state.waits.as_mut());
        let here = waits.filter(|wait| wait.place == place && !wait.is_over);
        here.take(most).for_each(|wait| wait.is_over = true);
    }
}

/// What a thread learns from its step.
fn known_to_thread(kind: EventKind, event: &Event) -> u64 {
    use EventKind::*;
    match kind {
        Read | AtomicRead | AtomicUpdate | AtomicFailed => event.old,
        FutexWait | Io | Process | End | LibraryCall | Signal => event.value,
        Write | AtomicWrite | ReadRange | WriteRange | FutexWoken | FutexTimeout | FutexWake => 0,
        Fence | Frame | kinds!(lock | condition | barrier | semaphore | once) => 0,
        kinds!(thread | heap | object | pause) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(thread: u16, kind: EventKind, addr: u64, value: u64) -> Event {
        Event {
            pc: 7,
            addr,
            value,
            old: value,
            thread: ThreadId(thread),
            kind: kind as u8,
            ..Event::default()
        }
    }

    fn state(events: &[Event]) -> ProgramState {
        let mut state = ProgramState::default();
        events.iter().for_each(|event| state.observe(event));
        state
    }

    #[test]
    fn a_lock_is_not_enabled_for_another_thread_while_it_is_held() {
        let (lock, unlock) = (event(1, EventKind::Lock, 8, 1), event(1, EventKind::Unlock, 8, 0));
        let other = event(2, EventKind::Lock, 8, 1);
        assert!(!state(&[lock]).is_enabled(&other));
        assert!(state(&[lock, unlock]).is_enabled(&other));
    }

    #[test]
    fn a_wait_releases_its_lock_and_ends_with_a_signal_once_the_lock_is_free() {
        let wait = [event(1, EventKind::Lock, 8, 1), event(1, EventKind::CondWait, 16, 8)];
        let wake = event(1, EventKind::CondWake, 16, 8);
        let signal = [event(2, EventKind::Lock, 8, 1), event(2, EventKind::CondSignal, 16, 1)];
        let unlock = [event(2, EventKind::Unlock, 8, 0)];
        assert!(state(&wait).is_enabled(&signal[0]) && !state(&wait).is_enabled(&wake));
        assert!(!state(&[&wait[..], &signal].concat()).is_enabled(&wake));
        assert!(state(&[&wait[..], &signal, &unlock].concat()).is_enabled(&wake));
    }

    #[test]
    fn a_join_waits_for_the_end() {
        let start = event(1, EventKind::Start, 0, 0);
        let join = event(0, EventKind::Join, 0, 1);
        assert!(!state(&[start]).is_enabled(&join));
        assert!(state(&[start, event(1, EventKind::Exit, 0, 0)]).is_enabled(&join));
    }

    #[test]
    fn threads_that_found_the_same_have_the_same_history() {
        let found =
            |thread, value| [event(thread, EventKind::Start, 0, 0), event(thread, EventKind::Read, 8, value)];
        let history = |thread, value| state(&found(thread, value)).history(ThreadId(thread));
        assert_eq!(history(1, 5), history(2, 5));
        assert_ne!(history(1, 5), history(1, 6));
    }
}
