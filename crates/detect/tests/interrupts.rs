//! What is said of signal handlers and of the threads that they interrupt.

mod scenario;

use threadbare_detect::{Certainty, Examination, FindingKind};

use scenario::{is_clean, sites, trace};

/// What all detectors are sure of: the kind of each finding, and its sites.
fn found(scenario: &str) -> Vec<(FindingKind, Vec<u64>)> {
    let sure =
        Examination::of(&trace(scenario)).into_iter().filter(|it| it.certainty >= Certainty::Predicted);
    sure.map(|finding| (finding.kind, sites(&finding))).collect()
}

#[test]
fn a_handler_races_with_what_it_might_have_interrupted() {
    let scenario = "0 send 1
        0 put x @1
        1 interrupts 0
        1 block 0
        1 read x @2
        1 let-through 0
        1 exit
        0 read x @3";
    assert_eq!(found(scenario), [(FindingKind::Race, vec![1, 2])]);
}

#[test]
fn a_mask_keeps_a_handler_away() {
    is_clean(
        "0 send 1
        0 block 0
        0 put x @1
        0 put x 2 @1
        0 let-through 0
        1 interrupts 0
        1 block 0
        1 put x 3 @2
        1 let-through 0
        1 exit
        0 block 0
        0 read x @3",
    );
}

#[test]
fn what_came_before_the_sending_or_after_the_handling_is_ordered() {
    is_clean(
        "0 put x @1
        0 send 1
        1 interrupts 0
        1 block 0
        1 put x 2 @2
        1 let-through 0
        1 exit
        0 handled 1
        0 put x 3 @3",
    );
}

#[test]
fn volatile_variables_and_what_is_put_back_are_fine() {
    is_clean(
        "0 send 1
        0 volatile-read x @1
        1 interrupts 0
        1 block 0
        1 volatile-put x @2
        1 put y 5 @3
        1 write y @4
        1 let-through 0
        1 exit
        0 volatile-read x @5
        0 read y @6",
    );
}

#[test]
fn atomicity_of_a_volatile_variable_may_be_violated_all_the_same() {
    let scenario = "0 send 1
        0 volatile-read x @1
        1 interrupts 0
        1 block 0
        1 volatile-put x 2 @2
        1 let-through 0
        1 exit
        0 volatile-put x 3 @3";
    assert_eq!(found(scenario), [(FindingKind::Atomicity, vec![1, 2, 3])]);
}

#[test]
fn a_handler_is_not_interrupted_by_what_it_interrupts() {
    let scenario = "0 send 1
        0 put x @1
        1 interrupts 0
        1 block 0
        1 read x @2
        1 put x 2 @3
        1 let-through 0
        1 exit";
    let kinds: Vec<FindingKind> = found(scenario).into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, [FindingKind::Race, FindingKind::Race]);
}

#[test]
fn other_threads_know_of_a_handler_what_they_know_of_its_thread() {
    is_clean(
        "0 create 1
        0 send 2
        2 interrupts 1
        2 block 1
        2 put x @1
        2 let-through 1
        2 exit
        1 exit
        0 join 1
        0 put x 2 @2",
    );
}

#[test]
fn a_handler_in_one_thread_races_with_another_thread() {
    let scenario = "0 create 1
        0 create 2
        0 send 3
        1 write x @1
        3 interrupts 2
        3 block 2
        3 put x @2
        3 let-through 2
        3 exit";
    assert_eq!(found(scenario), [(FindingKind::Race, vec![1, 2])]);
}

#[test]
fn a_handler_comes_after_what_was_done_before_it_was_registered() {
    is_clean(
        "0 create 1
        0 put x @1
        0 register
        1 send 2
        2 interrupts 0
        2 registered
        2 block 0
        2 read x @2
        2 let-through 0
        2 exit",
    );
}
