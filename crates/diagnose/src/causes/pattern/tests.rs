//! Causes of executions that are written down as words.

use super::*;

/// The most suspicious pattern of a failing execution.
fn cause<'a>(
    shown: &Compared<'_>,
    thread: ThreadId,
    failing: impl IntoIterator<Item = Compared<'a>>,
    passing: impl IntoIterator<Item = Compared<'a>>,
) -> Option<Cause> {
    causes(shown, thread, failing, passing, 1).pop()
}

/// An execution from words such as `1rx` (thread 1 reads x); the site is the thread and the how many-th word of
/// the thread with this letter and variable it is.
fn execution(text: &str) -> Vec<Event> {
    let step = |(place, word): (usize, &str)| {
        let &[thread, manner, variable] = word.as_bytes() else { panic!("not a word: {word}") };
        let kind = if manner == b'w' { EventKind::Write } else { EventKind::Read };
        let repeats = text.split(' ').take(place).filter(|before| *before == word).count() as u64;
        Event {
            pc: u64::from(thread) << 24 | u64::from(manner) << 16 | u64::from(variable) << 8 | repeats,
            addr: 0x100 * u64::from(variable),
            thread: ThreadId(u16::from(thread - b'0')),
            kind: kind as u8,
            size: 4,
            ..Event::default()
        }
    };
    text.split(' ').enumerate().map(step).collect()
}

const LAST: ThreadId = ThreadId(1);

fn cause_of(failing: &[&str], passing: &[&str]) -> Option<Cause> {
    let all = |texts: &[&str]| texts.iter().map(|text| execution(text)).collect::<Vec<_>>();
    let (failing, passing) = (all(failing), all(passing));
    fn whole(events: &Vec<Event>) -> Compared<'_> {
        Compared { events, pending: &[] }
    }
    cause(&whole(&failing[0]), LAST, failing[1..].iter().map(whole), passing.iter().map(whole))
}

fn places(cause: &Cause) -> Vec<usize> {
    cause.accesses.iter().map(|it| it.event).collect()
}

#[test]
fn a_lost_update_is_read_then_written_by_another_then_overwritten() {
    let cause = cause_of(&["1rx 2rx 2wx 1wx"], &["1rx 1wx 2rx 2wx", "2rx 2wx 1rx 1wx"]).unwrap();
    assert_eq!((cause.pattern, cause.in_passing, places(&cause)), (7, 0, vec![0, 2, 3]));
    assert_eq!(cause.suspiciousness(), 1.0);
}

#[test]
fn two_variables_are_reported_where_one_says_nothing() {
    let passing = ["1wx 1wy 2rx 2ry", "2rx 2ry 1wx 1wy"];
    let cause = cause_of(&["1wx 2rx 2ry 1wy"], &passing).unwrap();
    assert_eq!((cause.pattern, cause.in_passing, places(&cause)), (12, 0, vec![0, 1, 2, 3]));
}

#[test]
fn what_a_thread_was_about_to_do_completes_the_picture() {
    let (events, pending) = (execution("1wx 2rx 2ry"), [execution("2rz"), execution("1rx 1wy")]);
    let shown = Compared { events: &events, pending: &pending };
    let passing = ["1wx 1wy 2rx 2ry", "2rx 2ry 1wx 1wy"].map(execution);
    let cause =
        cause(&shown, LAST, [], passing.iter().map(|events| Compared { events, pending: &[] })).unwrap();
    assert_eq!((cause.pattern, cause.last_is_pending, places(&cause)), (12, true, vec![0, 1, 2, 5]));
}

#[test]
fn the_code_counts_where_the_variables_differ_from_run_to_run() {
    // The same update is lost, of x in one execution and of y in another one.
    let failing = [("1rx 2rx 2wx 1wx", 0x5000), ("1rx 2rx 2wx 1wx", 0x6000)].map(|(text, addr)| {
        let mut events = execution(text);
        events.iter_mut().for_each(|event| event.addr = addr);
        events
    });
    let passing = execution("1rx 1wx 2rx 2wx");
    let whole = |events| Compared { events, pending: &[] };
    let cause = cause(&whole(&failing[0]), LAST, [whole(&failing[1])], [whole(&passing)]).unwrap();
    assert_eq!((cause.pattern, cause.in_failing, cause.in_passing), (7, 2, 0));
}

#[test]
fn what_other_failing_executions_do_not_show_is_less_suspicious() {
    // Only in the shown execution did z matter.
    let failing = ["1wx 2rx 2ry 1wy 1wz 2rz 1wz", "1wx 2rx 2ry 1wy", "1wx 2rx 2ry 1wy"];
    let passing = ["1wx 1wy 2rx 2ry", "2rx 2ry 1wx 1wy"];
    let cause = cause_of(&failing[..1], &passing).unwrap();
    assert_eq!(cause.pattern, 6);
    let cause = cause_of(&failing, &passing).unwrap();
    assert_eq!((cause.pattern, cause.in_failing, cause.failing), (12, 3, 3));
}

#[test]
fn what_passing_executions_show_too_is_less_suspicious() {
    let cause = cause_of(&["1wx 2rx 1wx"], &["1wx 2rx 1wx", "1wx 1wx 2rx"]).unwrap();
    assert_eq!((cause.in_passing, cause.suspiciousness()), (1, 0.5));
    assert_eq!(cause_of(&["1rx 1wx"], &["1rx 1wx"]), None);
    assert_eq!(cause_of(&["1rx 2rx 2wx 1wx"], &[]), None, "nothing to compare with");
}

#[test]
fn long_executions_are_compared_by_their_ends() {
    let mut long = execution("1wx 2rx");
    long.extend(std::iter::repeat_n(execution("3rz")[0], LONGEST - 4));
    long.extend(execution("1ry 2ry 2wy 1wy"));
    let passing = execution("1ry 1wy 2ry 2wy");
    let whole = |events| Compared { events, pending: &[] };
    let cause = cause(&whole(&long), LAST, [], [whole(&passing)]).unwrap();
    assert_eq!((cause.pattern, places(&cause)[0]), (7, LONGEST - 2));
    let all = cause_of(&["1wx 2rx"], &["1wx"]).unwrap();
    assert_eq!(all.pattern, 2);
}

#[test]
fn what_creation_enforces_is_no_cause() {
    let creates = |thread: u16| Event {
        thread: ThreadId(0),
        kind: EventKind::Create as u8,
        value: u64::from(thread),
        ..Event::default()
    };
    let mut failing = execution("0wx");
    failing.extend([creates(1), creates(2)]);
    failing.extend(execution("1rx 1ry 2wy"));
    let mut passing = vec![creates(1), creates(2)];
    passing.extend(execution("2wy 1ry"));
    let whole = |events| Compared { events, pending: &[] };
    let cause = cause(&whole(&failing), LAST, [], [whole(&passing)]).unwrap();
    assert_eq!((cause.pattern, places(&cause)), (1, vec![4, 5]), "x is always written before");
}

#[test]
fn an_update_that_several_others_interrupted_is_three_accesses() {
    let failing = "1rx 2rx 2wx 3rx 3wx 1wx";
    let cause = cause_of(&[failing], &["1rx 1wx 2rx 2wx 3rx 3wx", "3rx 3wx 2rx 2wx 1rx 1wx"]).unwrap();
    assert_eq!((cause.pattern, places(&cause).len(), cause.in_passing), (7, 3, 0));
}

#[test]
fn two_variables_say_more_than_one_of_them() {
    // y is read too early, because x said that it was there.
    let passing = ["1wx 1wy 2rx 2ry", "2rx 1wx 1wy", "1wx 1wy 2rx 2ry"];
    let cause = cause_of(&["1wx 2rx 2ry 1wy"], &passing).unwrap();
    assert_eq!((cause.pattern, places(&cause)), (12, vec![0, 1, 2, 3]));
}
