//! The rules by which a variable counts as protected.

mod scenario;

use threadbare_detect::{Examination, FindingKind, LockDiscipline};

use scenario::{find, sites};

fn unprotected(scenario: &str) -> Vec<Vec<u64>> {
    find::<LockDiscipline>(scenario).iter().map(sites).collect()
}

fn under(thread: u16, locks: &str, step: &str) -> String {
    let take = |verb: &str| locks.chars().map(|lock| format!("{thread} {verb} {lock}\n")).collect::<String>();
    format!("{}{thread} {step}\n{}", take("lock"), take("unlock"))
}

#[test]
fn a_variable_under_one_lock_is_fine() {
    let scenario = format!(
        "0 create 1\n {}{}{}",
        under(0, "m", "write x"),
        under(1, "m", "write x"),
        under(0, "m", "read x")
    );
    assert!(unprotected(&scenario).is_empty());
}

#[test]
fn initialisation_needs_no_lock() {
    assert!(unprotected("0 write x\n 0 create 1\n 1 lock m\n 1 write x\n 1 unlock m").is_empty());
    // Nor does reading what is written no more.
    assert!(unprotected("0 write x\n 0 create 1\n 0 create 2\n 1 read x\n 2 read x\n 0 read x").is_empty());
}

#[test]
fn different_locks_are_no_protection() {
    let scenario = format!(
        "0 create 1\n {}{}{}",
        under(0, "a", "write x @1"),
        under(1, "b", "write x @2"),
        under(0, "a", "write x @3")
    );
    assert_eq!(unprotected(&scenario), [[2, 3]]);
}

/// Every two accesses share a lock, so there is no race; but no lock is common to all.
#[test]
fn locks_that_are_common_to_every_two_are_not_consistent() {
    let scenario = format!(
        "0 create 1\n 0 create 2\n 0 create 3\n {}{}{}{}",
        under(0, "ab", "write x"),
        under(1, "ab", "write x"),
        under(2, "bc", "write x @2"),
        under(3, "ac", "write x @3")
    );
    assert_eq!(unprotected(&scenario).len(), 1);
    let all = Examination::of(&scenario::trace(&scenario));
    assert!(all.iter().any(|finding| finding.kind == FindingKind::LockDiscipline));
    assert!(all.iter().all(|finding| finding.kind != FindingKind::Race));
}

#[test]
fn who_alone_writes_may_read_without_a_lock() {
    let scenario = |last: &str| {
        format!(
            "0 create 1\n {}{}0 read x @3\n {}{last}",
            under(0, "m", "write x"),
            under(1, "m", "read x"),
            under(0, "m", "write x"),
        )
    };
    assert!(unprotected(&scenario("")).is_empty());
    // Others write, too, and then the unprotected read may see either value.
    assert_eq!(unprotected(&scenario(&under(1, "m", "write x @4"))).len(), 1);
    assert_eq!(unprotected(&scenario("1 read x @4\n")).len(), 1);
}

#[test]
fn writing_under_a_read_lock_is_not_protected() {
    let scenario = "0 create 1\n 0 write x\n 1 read-lock m\n 1 write x @1\n 1 unlock m\n 0 write x";
    assert_eq!(unprotected(scenario)[0][1], 1);
}

#[test]
fn atomics_need_no_lock_as_long_as_all_are_atomic() {
    assert!(unprotected("0 create 1\n 0 store x\n 1 update x\n 0 update x").is_empty());
    assert!(!unprotected("0 create 1\n 0 store x\n 1 update x\n 0 write x").is_empty());
}

#[test]
fn a_variable_is_exclusive_again_after_a_join() {
    let scenario =
        "0 create 1\n 1 write x\n 0 join 1\n 0 write x\n 0 create 2\n 2 lock m\n 2 write x\n 2 unlock m";
    assert!(unprotected(scenario).is_empty());
}

#[test]
fn what_is_reported_as_a_race_is_not_reported_again() {
    let all = Examination::of(&scenario::trace("0 create 1\n 0 write x\n 1 write x\n 0 write x"));
    assert!(all.iter().any(|finding| finding.kind == FindingKind::Race));
    assert!(all.iter().all(|finding| finding.kind != FindingKind::LockDiscipline));
}
