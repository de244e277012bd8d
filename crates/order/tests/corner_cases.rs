//! Things that are not in made-up programs: overlapping memory, what is only kept as recorded, several executions.

mod support;

use support::Traced;
use threadbare_order::{Answer, Budget, Doubt, Forest, Goal, MemoryRange, Model, Solver, StepId};
use threadbare_trace::{Event, EventKind, ThreadId};

/// A trace written by hand. Each event is a step of its own.
#[derive(Default)]
struct TraceBuilder {
    events: Vec<Event>,
    ops: Vec<u32>,
}

impl TraceBuilder {
    fn push(&mut self, thread: u16, kind: EventKind, addr: u64, size: u8, value: u64, old: u64) -> usize {
        self.ops.resize(self.ops.len().max(thread as usize + 1), 0);
        self.ops[thread as usize] += 1;
        let op = self.ops[thread as usize];
        let (thread, kind) = (ThreadId(thread), kind as u8);
        // The code is where the thread is: these threads do not loop.
        let pc = u64::from(op);
        self.events.push(Event { pc, addr, value, old, op, thread, kind, size, ..Event::default() });
        self.events.len() - 1
    }

    fn read(&mut self, thread: u16, addr: u64, value: u64) -> usize {
        self.push(thread, EventKind::Read, addr, 8, value, value)
    }

    fn write(&mut self, thread: u16, addr: u64, value: u64) -> usize {
        self.push(thread, EventKind::Write, addr, 8, value, 0)
    }

    fn act(&mut self, thread: u16, kind: EventKind, addr: u64, value: u64) -> usize {
        self.push(thread, kind, addr, 0, value, 0)
    }

    fn end(self) -> (Traced, Solver) {
        let traced = Traced::new(self.events);
        let solver = Solver::new(Model::of(&traced.forest, &traced.path));
        (traced, solver)
    }
}

fn step(traced: &Traced, event: usize) -> StepId {
    traced.path.step_of(event).expect("a step")
}

fn in_order(traced: &Traced, solver: &mut Solver, events: &[usize]) -> bool {
    let steps: Vec<StepId> = events.iter().map(|event| step(traced, *event)).collect();
    match solver.solve(&Goal::in_order(&steps)) {
        Answer::Schedule(_) => true,
        Answer::Impossible => false,
        Answer::Unknown => panic!("not answered"),
    }
}

fn sees(traced: &Traced, solver: &mut Solver, read: usize, extent: MemoryRange, value: u64) -> bool {
    matches!(solver.solve(&Goal::sees(step(traced, read), extent, value)), Answer::Schedule(_))
}

#[test]
fn half_of_a_value_can_be_seen() {
    let mut trace = TraceBuilder::default();
    trace.write(1, 8, 0x0000_0007_0000_0005);
    let read = trace.push(2, EventKind::Read, 12, 4, 7, 7);
    let (traced, mut solver) = trace.end();
    assert!(sees(&traced, &mut solver, read, MemoryRange { addr: 12, len: 4 }, 0));
    assert!(!sees(&traced, &mut solver, read, MemoryRange { addr: 12, len: 4 }, 5));
    assert!(solver.model().doubts().contains(&Doubt::Overlap));
}

#[test]
fn a_range_is_read_as_it_was_left_by_the_same_steps() {
    let mut trace = TraceBuilder::default();
    trace.push(1, EventKind::WriteRange, 0, 0, 32, 0);
    let early = trace.write(1, 8, 1);
    let range = trace.push(2, EventKind::ReadRange, 0, 0, 32, 0);
    let after = trace.write(2, 64, 1);
    let late = trace.write(1, 16, 1);
    let (traced, mut solver) = trace.end();
    assert!(in_order(&traced, &mut solver, &[early, after]));
    assert!(!in_order(&traced, &mut solver, &[after, early]), "the write was seen");
    assert!(!in_order(&traced, &mut solver, &[late, range, after]), "the write was not seen");
}

#[test]
fn memory_that_changes_by_itself_is_left_alone() {
    let mut trace = TraceBuilder::default();
    let first = trace.read(1, 8, 1);
    let second = trace.read(2, 8, 2);
    let (traced, mut solver) = trace.end();
    assert!(!in_order(&traced, &mut solver, &[second, first]));
    assert!(solver.model().doubts().contains(&Doubt::HiddenWrite));
}

#[test]
fn sleepers_on_a_futex_keep_their_order() {
    let mut trace = TraceBuilder::default();
    trace.push(1, EventKind::AtomicWrite, 8, 4, 1, 0);
    let sleep = trace.act(1, EventKind::FutexWait, 8, 0);
    let wake = trace.act(2, EventKind::FutexWake, 8, 1);
    trace.act(1, EventKind::FutexWoken, 8, 0);
    let other = trace.write(2, 64, 1);
    let (traced, mut solver) = trace.end();
    assert!(in_order(&traced, &mut solver, &[sleep, wake, other]));
    assert!(!in_order(&traced, &mut solver, &[wake, sleep]));
    assert!(solver.model().doubts().contains(&Doubt::Futex));
}

#[test]
fn what_ended_without_a_signal_or_a_token_keeps_its_order() {
    let mut trace = TraceBuilder::default();
    trace.act(1, EventKind::Lock, 100, 1);
    trace.act(1, EventKind::CondWait, 200, 100);
    let timeout = trace.act(1, EventKind::CondTimeout, 200, 100);
    let signal = trace.act(2, EventKind::CondSignal, 200, 0);
    let empty = trace.act(2, EventKind::SemFailed, 300, 0);
    let post = trace.act(1, EventKind::SemPost, 300, 1);
    let (traced, mut solver) = trace.end();
    assert!(!in_order(&traced, &mut solver, &[signal, timeout]));
    assert!(!in_order(&traced, &mut solver, &[post, empty]));
    let doubts = solver.model().doubts();
    assert!(doubts.contains(&Doubt::Time) && doubts.contains(&Doubt::Refusal));
}

#[test]
fn memory_can_be_used_after_it_was_freed_but_nothing_comes_of_it() {
    let mut trace = TraceBuilder::default();
    trace.write(1, 8, 1);
    let late = trace.write(1, 16, 1);
    let beyond = trace.write(1, 128, 1);
    let free = trace.push(2, EventKind::Free, 0, 0, 64, 0);
    let (traced, mut solver) = trace.end();
    assert!(in_order(&traced, &mut solver, &[free, late]));
    assert!(!in_order(&traced, &mut solver, &[free, late, beyond]));
}

#[test]
fn objects_are_used_after_they_are_made_and_before_they_are_destroyed() {
    let mut trace = TraceBuilder::default();
    let init = trace.act(1, EventKind::Init, 100, 0);
    let lock = trace.act(2, EventKind::Lock, 100, 1);
    trace.act(2, EventKind::Unlock, 100, 0);
    let destroy = trace.act(1, EventKind::Destroy, 100, 0);
    let (traced, mut solver) = trace.end();
    assert!(!in_order(&traced, &mut solver, &[lock, init]));
    assert!(!in_order(&traced, &mut solver, &[destroy, lock]));
}

#[test]
fn a_signal_handler_comes_after_everything_before_it() {
    let mut trace = TraceBuilder::default();
    let before = trace.write(1, 8, 1);
    let handler = trace.act(2, EventKind::Signal, 0, 10);
    let after = trace.write(1, 16, 1);
    let (traced, mut solver) = trace.end();
    assert!(!in_order(&traced, &mut solver, &[handler, before]));
    assert!(in_order(&traced, &mut solver, &[before, handler, after]));
    assert!(solver.model().doubts().contains(&Doubt::Outside));
}

#[test]
fn a_robust_lock_is_released_by_the_end_of_its_owner() {
    let mut trace = TraceBuilder::default();
    trace.act(1, EventKind::Lock, 100, 1);
    let end = trace.act(1, EventKind::Exit, 0, 0);
    let lock = trace.act(2, EventKind::Lock, 100, 1);
    let (traced, mut solver) = trace.end();
    assert!(in_order(&traced, &mut solver, &[end, lock]));
    assert!(!in_order(&traced, &mut solver, &[lock, end]));
}

#[test]
fn recursive_locks_are_held_until_the_last_release() {
    let mut trace = TraceBuilder::default();
    trace.act(1, EventKind::Lock, 100, 1);
    trace.act(1, EventKind::Lock, 100, 2);
    let inner = trace.act(1, EventKind::Unlock, 100, 1);
    let outer = trace.act(1, EventKind::Unlock, 100, 0);
    let other = trace.act(2, EventKind::Lock, 100, 1);
    let (traced, mut solver) = trace.end();
    assert!(!in_order(&traced, &mut solver, &[inner, other, outer]));
    assert!(in_order(&traced, &mut solver, &[inner, outer, other]));
}

#[test]
fn a_question_that_takes_too_long_is_left_open() {
    let mut trace = TraceBuilder::default();
    let write = trace.write(1, 8, 1);
    let read = trace.read(2, 8, 1);
    let then = trace.write(2, 16, 1);
    let traced = Traced::new(trace.events);
    let model = Model::of(&traced.forest, &traced.path);
    let goal = Goal::in_order(&[step(&traced, read), step(&traced, then), step(&traced, write)]);
    let mut hasty = Solver::with_budget(model.clone(), Budget { conflicts: 1000, rounds: 1 });
    assert_eq!(hasty.solve(&goal), Answer::Unknown);
    assert_eq!(Solver::new(model).solve(&goal), Answer::Impossible);
}

#[test]
fn solvers_can_work_side_by_side() {
    fn is_send<T: Send>() {}
    is_send::<Solver>();
    is_send::<Forest>();
}

/// Each of two executions shows one way of the first thread. Only together they show that the second thread can see
/// both of its values.
#[test]
fn executions_together_show_more_than_each_alone() {
    let (first, second) = (8, 16);
    let mut one = TraceBuilder::default();
    one.read(1, first, 0);
    one.write(1, second, 5);
    one.read(2, second, 5);
    one.write(2, first, 1);
    let last = one.read(2, second, 5);
    let mut two = TraceBuilder::default();
    two.read(2, second, 0);
    two.write(2, first, 1);
    two.read(2, second, 0);
    two.read(1, first, 1);
    two.write(1, second, 7);
    let mut forest = Forest::new();
    let path = forest.add(&one.events);
    let goal = Goal::sees(path.step_of(last).expect("a step"), MemoryRange { addr: second, len: 8 }, 7);
    assert_eq!(Solver::new(Model::of(&forest, &path)).solve(&goal), Answer::Impossible);
    forest.add(&two.events);
    let all = Model::of_all(&forest).expect("nothing is unclear");
    // The first thread cannot have gone both ways: who read 5 cannot read 7 later.
    assert_eq!(Solver::new(all).solve(&goal), Answer::Impossible);
    // But whoever read nothing can.
    let other = forest.roots(ThreadId(2))[1];
    let (write, reads) = (forest.step(other).children[0], |id: StepId| forest.step(id).children[0]);
    let goal = Goal::sees(reads(write), MemoryRange { addr: second, len: 8 }, 7);
    let all = Model::of_all(&forest).expect("nothing is unclear");
    assert!(matches!(Solver::new(all).solve(&goal), Answer::Schedule(_)));
}

#[test]
fn executions_that_are_not_understood_are_not_taken_together() {
    let mut trace = TraceBuilder::default();
    trace.act(1, EventKind::FutexWake, 8, 0);
    let mut forest = Forest::new();
    forest.add(&trace.events);
    assert!(Model::of_all(&forest).is_err_and(|doubts| doubts.contains(&Doubt::Futex)));
    let mut other = TraceBuilder::default();
    other.write(1, 8, 0);
    other.events[0].pc = 77;
    forest.add(&other.events);
    assert!(forest.doubts().contains(&Doubt::Undetermined));
}

/// Who finds a once-routine run may come first and run it, and who runs it may find it run.
#[test]
fn a_once_routine_is_run_by_whoever_comes_first() {
    use EventKind::{OnceBegin, OnceEnd, OnceSeen};
    let word = MemoryRange { addr: 64 | 1 << 63, len: 4 };
    let mut trace = TraceBuilder::default();
    trace.read(1, 8, 0);
    let begin = trace.act(1, OnceBegin, 64, 0);
    let inside = trace.read(1, 8, 0);
    let look = trace.read(2, 8, 0);
    let write = trace.write(1, 8, 1);
    let end = trace.act(1, OnceEnd, 64, 0);
    let seen = trace.act(2, OnceSeen, 64, 0);
    let (traced, mut solver) = trace.end();
    assert!(sees(&traced, &mut solver, seen, word, 0), "the second thread can come first");
    assert!(!in_order(&traced, &mut solver, &[seen, end]), "what has been run was run before");
    assert!(in_order(&traced, &mut solver, &[begin, look, end]));
    assert!(!in_order(&traced, &mut solver, &[begin, seen, write]), "nobody is let in meanwhile");
    assert!(in_order(&traced, &mut solver, &[inside, look, write]));
}

/// What was there before is shown by a step that does not care, too, and another one may come to see it.
#[test]
fn what_was_there_before_is_known_from_whoever_came_first() {
    let mut trace = TraceBuilder::default();
    trace.read(1, 8, 0);
    trace.write(1, 8, 1);
    let read = trace.read(2, 8, 1);
    let mut forest = Forest::new();
    let path = forest.add_what_matters(&trace.events, &|event| event.thread != ThreadId(1) || event.op > 1);
    let word = MemoryRange { addr: 8, len: 8 };
    assert_eq!(path.initial(word), Some(0));
    let goal = Goal::sees(path.step_of(read).unwrap(), word, 0);
    assert!(matches!(Solver::new(Model::of(&forest, &path)).solve(&goal), Answer::Schedule(_)));
}
