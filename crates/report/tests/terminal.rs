//! The texts people read, over executions made by hand.

mod support;

use support::{Bank, event, failure, guarded, lost_update, shown, switch};
use threadbare_report::{Interleaving, TextFormat, interleaving};
use threadbare_trace::{Event, EventKind, FailureKind, Outcome, SwitchRecord};

#[test]
fn a_lost_update_is_shown_in_lanes() {
    insta::assert_snapshot!(shown(&lost_update(), TextFormat::default()));
}

#[test]
fn a_narrow_terminal_puts_the_source_below_then_drops_the_lanes() {
    let parts = lost_update();
    insta::assert_snapshot!("narrow_lanes", shown(&parts, TextFormat { width: 72, ..TextFormat::default() }));
    insta::assert_snapshot!("list", shown(&parts, TextFormat { width: 48, ..TextFormat::default() }));
}

#[test]
fn verbose_shows_thread_starts_and_their_switches() {
    insta::assert_snapshot!(shown(
        &lost_update(),
        TextFormat { verbose: true, width: 110, ..TextFormat::default() }
    ));
}

#[test]
fn a_replay_reads_as_the_run_it_repeats() {
    let (events, mut switches, outcome) = lost_update();
    let original = shown(&(events.clone(), switches.clone(), outcome.clone()), TextFormat::default());
    // A replay makes the switches around a thread's start by its script.
    for switch in switches.iter_mut().filter(|switch| switch.reason >= 4) {
        switch.reason = 0;
    }
    for start in [0, 2] {
        switches[start].kind = EventKind::Create as u8;
    }
    assert_eq!(shown(&(events, switches, outcome), TextFormat::default()), original);
}

#[test]
fn no_line_is_wider_than_the_terminal_where_lanes_can_help_it() {
    for width in 60..160 {
        for parts in [lost_update(), guarded()] {
            let text = shown(&parts, TextFormat { width, ..TextFormat::default() });
            let table = text.split("\n\n").next().unwrap_or_default();
            for line in table.lines() {
                assert!(line.chars().count() <= width, "{width}: {line}");
            }
        }
    }
}

#[test]
fn colour_changes_nothing_but_the_colour() {
    let plain = shown(&lost_update(), TextFormat::default());
    let coloured = shown(&lost_update(), TextFormat { colour: true, ..TextFormat::default() });
    assert!(coloured.contains('\u{1b}') && !plain.contains('\u{1b}'));
    let mut stripped = String::new();
    let mut rest = coloured.as_str();
    while let Some(start) = rest.find('\u{1b}') {
        stripped.push_str(&rest[..start]);
        rest = &rest[start..];
        rest = &rest[rest.find('m').map_or(rest.len(), |end| end + 1)..];
    }
    stripped.push_str(rest);
    let bare = |text: &str| text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    assert_eq!(bare(&stripped), bare(&plain));
}

#[test]
fn a_deadlock_names_its_locks_and_lines() {
    use EventKind::*;
    let events = vec![event(1, 1, 6, Lock, 0x200, 0, 1), event(2, 1, 7, Lock, 0x300, 0, 1)];
    let switches = vec![switch(1, 2, 2, 7, Lock, 0x300, 0), switch(2, 2, 0, 8, Lock, 0x200, 1)];
    let message = "no thread is runnable\nT1 holds <obj 0x200> and waits for lock <obj 0x300> at <pc 0x7>\n\
                   T2 holds <obj 0x300> and waits for lock <obj 0x200> at <pc 0x8>\n\
                   T0 waits for <obj 0xdead> at <pc 0xbeef>, i <3 v<int> x < 0x10 > y <";
    let outcome = failure(FailureKind::Deadlock, message, 1, &[7]);
    insta::assert_snapshot!(shown(&(events, switches, outcome), TextFormat::default()));
}

#[test]
fn a_condition_wait_stops_in_its_operation() {
    use EventKind::*;
    let events = vec![
        event(1, 1, 6, Lock, 0x200, 0, 1),
        event(1, 2, 7, CondWait, 0x400, 0, 0x200),
        event(2, 1, 8, CondSignal, 0x400, 0, 1),
        event(1, 3, 7, CondWake, 0x400, 0, 0x200),
    ];
    let switches = vec![switch(1, 2, 2, 7, CondWait, 0x400, 1), switch(2, 2, 1, 0, Exit, 0, 2)];
    insta::assert_snapshot!(shown(&(events, switches, Outcome::Passed), TextFormat::default()));
}

#[test]
fn locks_held_stand_beside_the_step() {
    insta::assert_snapshot!(shown(&guarded(), TextFormat::default()));
    insta::assert_snapshot!(
        "locks_in_a_list",
        shown(&guarded(), TextFormat { width: 54, ..TextFormat::default() })
    );
    // Where no lock is ever held there is no column for them.
    assert!(!shown(&lost_update(), TextFormat::default()).contains("holds"));
}

#[test]
fn what_a_library_does_on_its_own_account_is_left_out() {
    use EventKind::*;
    let (mut events, switches, outcome) = lost_update();
    events.insert(4, event(1, 2, 50, Write, 0x500, 0, 1));
    let format = TextFormat::default();
    assert!(!shown(&(events.clone(), switches.clone(), outcome.clone()), format).contains("start.c:50"));
    let verbose = TextFormat { verbose: true, ..format };
    assert!(shown(&(events, switches, outcome.clone()), verbose).contains("start.c:50"));
    // Where the program has no lines of its own, it stays.
    let events = vec![event(1, 1, 50, Write, 0x500, 0, 1), event(2, 1, 51, Read, 0x500, 0, 1)];
    assert!(shown(&(events, Vec::new(), outcome), format).contains("start.c:50"));
}

#[test]
fn long_names_do_not_push_the_places_away() {
    let outcome = failure(FailureKind::Abort, "abort was called", 1, &[41, 25]);
    let text = shown(&(Vec::new(), Vec::new(), outcome), TextFormat::default());
    let widest = text.lines().map(|line| line.chars().count()).max();
    assert!(widest < Some(65) && text.contains("bank.c:41"), "{text}");
}

#[test]
fn spinning_is_one_row() {
    use EventKind::*;
    let mut events: Vec<Event> = (1..=40).map(|op| event(1, op, 6, AtomicRead, 0x400, 0, 0)).collect();
    events.push(event(2, 1, 7, AtomicWrite, 0x400, 0, 1));
    events.push(event(1, 41, 6, AtomicRead, 0x400, 0, 1));
    let switches = vec![switch(1, 41, 2, 6, AtomicRead, 0x400, 3), switch(2, 2, 1, 0, Exit, 0, 2)];
    insta::assert_snapshot!(shown(&(events, switches, Outcome::Passed), TextFormat::default()));
}

/// Threads that increment a counter one after the other, `turns` times.
fn turns(turns: u64, run: u64) -> (Vec<Event>, Vec<SwitchRecord>, Outcome) {
    let mut events = Vec::new();
    let mut switches = Vec::new();
    let mut ops = [0_u32; 2];
    for turn in 0..turns {
        let thread = (turn % 2) as usize;
        for step in 0..run {
            ops[thread] += 1;
            events.push(event(
                thread as u16 + 1,
                ops[thread],
                8,
                EventKind::Read,
                0x100,
                0,
                turn * run + step,
            ));
        }
        let (from, to) = (thread as u16 + 1, 2 - thread as u16);
        switches.push(switch(from, ops[thread] + 1, to, 8, EventKind::Read, 0x100, 0));
    }
    (events, switches, failure(FailureKind::Hang, "the step limit was reached", 1, &[]))
}

#[test]
fn a_long_execution_shows_its_end_and_says_what_is_missing() {
    let parts = turns(500, 1);
    let text = shown(&parts, TextFormat::default());
    assert!(text.contains("… 400 steps left out (--full shows them)"), "{text}");
    assert!(text.contains("read balance = 499") && !text.contains("read balance = 399\n"));
    let full = shown(&parts, TextFormat { full: true, ..TextFormat::default() });
    assert!(!full.contains("left out"));
    assert!((0..500).all(|n| full.contains(&format!("read balance = {n}"))));
}

#[test]
fn a_long_run_of_one_thread_is_folded() {
    let parts = turns(2, 30);
    insta::assert_snapshot!(shown(&parts, TextFormat::default()));
}

#[test]
fn every_event_and_switch_appears_once_in_a_full_report() {
    for (count, run) in [(1, 1), (7, 3), (40, 2)] {
        let parts = turns(count, run);
        let text = shown(&parts, TextFormat { full: true, verbose: true, ..TextFormat::default() });
        assert_eq!(text.matches("── T").count(), parts.1.len());
        assert_eq!(text.matches("read balance = ").count(), parts.0.len());
    }
}

#[test]
fn marked_steps_are_pointed_out_and_never_left_out() {
    let (events, switches, outcome) = turns(500, 20);
    let format = TextFormat { width: 110, ..TextFormat::default() };
    for mark in [0, 7, 5000, events.len() - 1] {
        let execution =
            Interleaving { events: &events, switches: &switches, outcome: &outcome, marked: &[mark] };
        let text = interleaving(&execution, &Bank, &format);
        let marked: Vec<&str> = text.lines().filter(|line| line.contains('●')).collect();
        assert_eq!(marked.len(), 1, "{text}");
        assert!(marked[0].contains(&format!("● read balance = {}", events[mark].value)), "{text}");
        assert!(text.lines().count() < 300, "{}", text.lines().count());
    }
}
