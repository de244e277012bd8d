//! Events and switches brought into one order, and cut to what a person wants to read.

use std::collections::HashMap;

use threadbare_trace::{
    Event, EventKind, Failure, FailureKind, Outcome, SwitchReason, SwitchRecord, ThreadId, kinds,
};

use crate::describe::is_temporary;
use crate::{Names, SourcePlace, TextFormat};

/// One execution, as far as it can be shown.
#[derive(Clone, Copy, Debug)]
pub struct Interleaving<'a> {
    /// What happened, in order.
    pub events: &'a [Event],
    /// The context switches, in order.
    pub switches: &'a [SwitchRecord],
    /// How it ended.
    pub outcome: &'a Outcome,
    /// Events to point out.
    pub marked: &'a [usize],
}

/// One line of the table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Row {
    /// A step with its place among all events and among the shown ones, and how many times in a
    /// row it was made.
    Step { index: usize, number: usize, event: Event, times: usize },
    /// A context switch.
    Switch(SwitchRecord),
    /// Steps of one thread that are left out.
    Folded { thread: ThreadId, count: usize },
    /// Steps of any threads that are left out.
    LeftOut { count: usize },
}

/// More rows than this are not shown unless all are asked for.
const MOST_ROWS: usize = 200;
/// A run of one thread longer than this is folded.
const LONG_RUN: usize = 16;
/// What stays of a folded run, at each end.
const KEPT_ENDS: usize = 5;
/// What is shown before and after a step that is pointed out.
const AROUND: usize = 12;

/// The rows to show.
pub(crate) fn rows(execution: &Interleaving<'_>, names: &dyn Names, format: &TextFormat) -> Vec<Row> {
    let failure = execution.outcome.failure();
    let is_marked = |row: &Row| row.is_one_of(execution.marked);
    let mut rows = merge(execution.events, execution.switches);
    mark_starts(&mut rows);
    if !format.verbose {
        rows.retain(|row| matters(row, failure) || is_marked(row));
        leave_out_libraries(&mut rows, names, &is_marked);
    }
    let rows = join_repeats(number(rows), &is_marked);
    if format.full {
        return rows;
    }
    cut(fold_long_runs(rows, &is_marked), MOST_ROWS, &is_marked)
}

/// The rows to draw, at most about so many. Long runs are folded by whoever looks at them, unless there are too many rows.
/// Also gives the number of preemptions among all rows.
pub(crate) fn rows_to_draw(
    execution: &Interleaving<'_>,
    names: &dyn Names,
    most: usize,
) -> (Vec<Row>, usize) {
    let all = rows(execution, names, &TextFormat { full: true, ..TextFormat::default() });
    let is_marked = |row: &Row| row.is_one_of(execution.marked);
    let preemptions = all.iter().filter(|row| row.preempts()).count();
    let all = if all.len() > most { fold_long_runs(all, &is_marked) } else { all };
    (cut(all, most, &is_marked), preemptions)
}

impl Row {
    fn steps(&self) -> usize {
        match self {
            Row::Step { times, .. } => *times,
            Row::Switch(_) => 0,
            Row::Folded { count, .. } | Row::LeftOut { count } => *count,
        }
    }

    /// Whether it is a preemption: it leaves a thread that was runnable.
    pub(crate) fn preempts(&self) -> bool {
        matches!(self, Row::Switch(switch) if switch.why() == Some(SwitchReason::Chosen))
    }

    /// Whether it is the step of one of these events.
    pub(crate) fn is_one_of(&self, events: &[usize]) -> bool {
        matches!(self, Row::Step { index, .. } if events.contains(index))
    }
}

/// Leaves the last rows, and those around the ones that are pointed out.
fn cut(rows: Vec<Row>, most: usize, is_marked: &dyn Fn(&Row) -> bool) -> Vec<Row> {
    let mut is_kept = vec![false; rows.len()];
    is_kept[rows.len().saturating_sub(most)..].fill(true);
    for place in (0..rows.len()).filter(|place| is_marked(&rows[*place])) {
        is_kept[place.saturating_sub(AROUND)..rows.len().min(place + AROUND + 1)].fill(true);
    }
    let mut left = Vec::with_capacity(rows.len().min(2 * most));
    let kept_with = rows.into_iter().zip(is_kept).collect::<Vec<_>>();
    for stretch in kept_with.chunk_by(|a, b| a.1 == b.1) {
        match stretch[0].1 {
            true => left.extend(stretch.iter().map(|(row, _)| *row)),
            false => left.push(Row::LeftOut { count: stretch.iter().map(|(row, _)| row.steps()).sum() }),
        }
    }
    left
}

/// Puts each switch between the steps it separates.
///
/// Between two switches only one thread runs, and a switch names the operation before which its
/// thread stopped, so the switch comes after all steps of that thread with smaller numbers. Where
/// the two lists disagree the events win: they are what happened.
fn merge(events: &[Event], switches: &[SwitchRecord]) -> Vec<Row> {
    let mut rows = Vec::with_capacity(events.len() + switches.len());
    // How many switches are left when the last one that leads to a thread has been made.
    let mut left_at_last: HashMap<ThreadId, usize> = HashMap::new();
    for (place, switch) in switches.iter().enumerate() {
        left_at_last.insert(switch.to, switches.len() - place);
    }
    let mut pending = switches;
    let mut running = switches.first().map(|switch| switch.from);
    for (index, event) in events.iter().enumerate() {
        if event.kind().is_some_and(EventKind::only_names) {
            rows.push(Row::Step { index, number: 0, event: *event, times: 1 });
            continue;
        }
        while let Some((switch, later)) = pending.split_first() {
            // A switch away from this event's thread that no other leads back from is yet to come.
            let here = running == Some(event.thread);
            let leads_back = left_at_last.get(&event.thread).is_some_and(|left| *left <= pending.len());
            if here && (before(event, switch) || !leads_back) {
                break;
            }
            running = Some(switch.to);
            rows.push(Row::Switch(*switch));
            pending = later;
        }
        running = Some(event.thread);
        rows.push(Row::Step { index, number: 0, event: *event, times: 1 });
    }
    rows.extend(pending.iter().map(|switch| Row::Switch(*switch)));
    rows
}

fn before(event: &Event, switch: &SwitchRecord) -> bool {
    use EventKind::*;
    if switch.from != event.thread || event.op < switch.op {
        return true;
    }
    // A thread that goes to sleep in its operation stops *in* it, having already made its first half.
    let makes_the_thread_stop = |kind: EventKind| match kind {
        CondWait | FutexWait | BarrierArrive | Exit | Sleep | Yield => true,
        CondWake | CondTimeout | CondSignal | CondBroadcast | BarrierLeave => false,
        FutexWoken | FutexTimeout | FutexWake | Create | Start | Join | Detach | JoinFailed | Cancel => false,
        Fence | Signal | Frame | kinds!(plain | atomic | lock | semaphore | once) => false,
        kinds!(heap | object | outside) => false,
    };
    event.op == switch.op
        && switch.why() != Some(SwitchReason::Chosen)
        && event.kind().is_some_and(makes_the_thread_stop)
}

/// In a replay the start of a thread is a switch like any other; it is still no decision that
/// anybody wants to read about.
fn mark_starts(rows: &mut [Row]) {
    let mut met = vec![ThreadId::MAIN];
    for place in 0..rows.len() {
        let Row::Switch(start) = rows[place] else { continue };
        if met.contains(&start.to) {
            continue;
        }
        met.push(start.to);
        if start.kind != EventKind::Create as u8 {
            continue;
        }
        set_reason(&mut rows[place], SwitchReason::Starting);
        let quiet = |row: &Row| matches!(row, Row::Step { .. }) && !matters(row, None);
        if let Some(row) = rows[place + 1..].iter_mut().find(|row| !quiet(row))
            && let Row::Switch(back) = row
            && (back.from, back.to) == (start.to, start.from)
        {
            set_reason(row, SwitchReason::Started);
        }
    }
}

fn set_reason(row: &mut Row, reason: SwitchReason) {
    if let Row::Switch(switch) = row {
        switch.reason = reason as u8;
    }
}

/// Counts the steps that are left.
fn number(mut rows: Vec<Row>) -> Vec<Row> {
    let steps = rows.iter_mut().filter_map(|row| match row {
        Row::Step { number, .. } => Some(number),
        _ => None,
    });
    for (place, number) in steps.enumerate() {
        *number = place + 1;
    }
    rows
}

fn matters(row: &Row, failure: Option<&Failure>) -> bool {
    use EventKind::*;
    let kind = failure.map(|failure| failure.kind);
    match row {
        Row::Switch(switch) => !matches!(switch.why(), Some(SwitchReason::Starting | SwitchReason::Started)),
        Row::Folded { .. } | Row::LeftOut { .. } => true,
        Row::Step { event, .. } => event.kind().is_none_or(|step| match step {
            Alloc | Frame | Init | Process | End | Start | Fence | LibraryCall => false,
            Destroy => kind == Some(FailureKind::Misuse),
            Free => kind.is_some_and(may_come_of_a_free),
            Create | Exit | Join | Detach | JoinFailed | Cancel | Signal | Io => true,
            kinds!(plain | atomic | lock | condition | barrier | semaphore | once | futex | pause) => true,
        }),
    }
}

/// Whether memory that was freed too early may be the reason for a failure of this kind.
fn may_come_of_a_free(kind: FailureKind) -> bool {
    use FailureKind::*;
    match kind {
        UseAfterFree | Segfault | Abort => true,
        Assertion | Exception | Deadlock | Hang | Misuse | Exit => false,
    }
}

/// Leaves out what libraries do to memory on their own account, as when they start a thread, and to variables of
/// their own or of the compiler's.
fn leave_out_libraries(rows: &mut Vec<Row>, names: &dyn Names, is_marked: &dyn Fn(&Row) -> bool) {
    let mut known: HashMap<(u64, u32), Option<SourcePlace>> = HashMap::new();
    let mut place = |event: &Event| {
        let look_up = || names.place(event.pc, event.context);
        known.entry((event.pc, event.context)).or_insert_with(look_up).clone()
    };
    let mut steps = rows.iter().filter_map(|row| match row {
        Row::Step { event, .. } => Some(event),
        _ => None,
    });
    // Without any lines, the program's own code cannot be distinguished from that of libraries.
    if !steps.any(|event| place(event).is_some_and(|it| it.line.is_some() && !it.in_system)) {
        return;
    }
    let mut of_library: HashMap<u64, bool> = HashMap::new();
    let mut is_of_library = |index: usize, event: &Event| {
        let look_up = || {
            let name = names.object_at(index, event.addr);
            name.is_some_and(|name| name.starts_with("std::") || is_temporary(&name))
        };
        *of_library.entry(event.addr).or_insert_with(look_up)
    };
    let mut is_foreign = |index: usize, event: &Event| {
        place(event).is_some_and(|it| it.in_system) || is_of_library(index, event)
    };
    let concerns = |kind: EventKind| kind.accesses_memory() || matches!(kind, kinds!(once));
    let foreign: Vec<bool> = (rows.iter())
        .map(|row| match row {
            Row::Step { index, event, .. } if !is_marked(row) => {
                event.kind().is_some_and(concerns) && is_foreign(*index, event)
            }
            _ => false,
        })
        .collect();
    let mut foreign = foreign.into_iter();
    rows.retain(|_| !foreign.next().unwrap_or(false));
}

/// A spinning thread makes the same step over and over: one row says how often.
fn join_repeats(rows: Vec<Row>, is_marked: &dyn Fn(&Row) -> bool) -> Vec<Row> {
    let mut joined: Vec<Row> = Vec::with_capacity(rows.len());
    for row in rows {
        let is_plain = !is_marked(&row) && !joined.last().is_some_and(is_marked);
        if let (Some(Row::Step { event: last, times, .. }), Row::Step { event, .. }) =
            (joined.last_mut(), &row)
            && is_plain
            && same_step(last, event)
        {
            *times += 1;
            continue;
        }
        joined.push(row);
    }
    joined
}

fn same_step(a: &Event, b: &Event) -> bool {
    (a.thread, a.kind, a.pc, a.addr, a.value, a.old) == (b.thread, b.kind, b.pc, b.addr, b.value, b.old)
}

fn fold_long_runs(rows: Vec<Row>, is_marked: &dyn Fn(&Row) -> bool) -> Vec<Row> {
    let mut folded = Vec::with_capacity(rows.len());
    let belong_together = |a: &Row, b: &Row| {
        thread_of_step(a).is_some()
            && thread_of_step(a) == thread_of_step(b)
            && !is_marked(a)
            && !is_marked(b)
    };
    for run in rows.chunk_by(belong_together) {
        let (Some(thread), true) = (thread_of_step(&run[0]), run.len() > LONG_RUN) else {
            folded.extend_from_slice(run);
            continue;
        };
        let hidden = &run[KEPT_ENDS..run.len() - KEPT_ENDS];
        folded.extend_from_slice(&run[..KEPT_ENDS]);
        folded.push(Row::Folded { thread, count: hidden.iter().map(Row::steps).sum() });
        folded.extend_from_slice(&run[run.len() - KEPT_ENDS..]);
    }
    folded
}

fn thread_of_step(row: &Row) -> Option<ThreadId> {
    match row {
        Row::Step { event, .. } => Some(event.thread),
        _ => None,
    }
}
