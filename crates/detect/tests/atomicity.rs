//! The rules by which atomicity violations are found.

mod scenario;

use threadbare_detect::{Atomicity, Certainty, Finding, MultiVariable};

use scenario::{find, predicted, sites};

fn reported(findings: &[Finding]) -> Vec<(u8, Vec<u64>, Certainty)> {
    findings.iter().map(|f| (f.pattern.unwrap_or(0), sites(f), f.certainty)).collect()
}

#[test]
fn a_lost_update_is_torn_by_the_other_write() {
    let scenario = "0 create 1\n 0 create 2\n 1 read x @9\n 1 write x @10\n 2 read x @9\n 2 write x @10";
    let found = reported(&find::<Atomicity>(scenario));
    assert_eq!(found, [(7, vec![9, 10, 10], Certainty::Predicted)]);
    // In this run it happened.
    let scenario = "0 create 1\n 0 create 2\n 1 read x @9\n 2 read x @9\n 2 write x @10\n 1 write x @10";
    assert_eq!(reported(&find::<Atomicity>(scenario))[0].2, Certainty::Observed);
}

#[test]
fn the_four_unserializable_triples_are_found_and_no_other() {
    let words = ["read", "write"];
    let mut found = Vec::new();
    for p in words {
        for r in words {
            for c in words {
                let scenario = format!("0 create 1\n 0 {p} x @1\n 0 {c} x @3\n 1 {r} x @2");
                found.extend(reported(&find::<Atomicity>(&scenario)).into_iter().map(|(id, sites, _)| {
                    assert_eq!(sites, [1, 2, 3]);
                    (id, [p, r, c].map(|word| &word[..1]).concat())
                }));
            }
        }
    }
    found.sort();
    let expected = [(4, "rwr"), (5, "wwr"), (6, "wrw"), (7, "rww")];
    assert_eq!(found, expected.map(|(id, text)| (id, text.to_string())));
}

#[test]
fn a_lock_held_all_the_way_keeps_the_other_thread_out() {
    let scenario = |gap: &str| {
        format!(
            "0 create 1\n 0 lock m\n 0 read x @1\n {gap} 0 write x @3\n 0 unlock m\n 1 lock m\n 1 write x @2\n \
             1 unlock m"
        )
    };
    assert!(find::<Atomicity>(&scenario("")).is_empty());
    // Check, then act: each is protected, the two together are not.
    let found = reported(&find::<Atomicity>(&scenario("0 unlock m\n 0 lock m\n")));
    assert_eq!(found, [(7, vec![1, 2, 3], Certainty::Predicted)]);
}

#[test]
fn locks_handed_over_one_by_one_leave_no_gap_for_one_who_needs_both() {
    let scenario = "0 create 1
        0 lock a
        0 write x
        0 lock b
        0 unlock a
        0 read x
        0 unlock b
        1 lock b
        1 lock a
        1 write x
        1 unlock a
        1 unlock b";
    assert!(find::<Atomicity>(scenario).is_empty());
}

/// One counter, many increments, each under the lock: nothing wrong, though a write comes between.
#[test]
fn another_critical_section_that_looks_again_is_only_a_suspicion() {
    let increment = |thread: u16| {
        format!("{thread} lock m\n {thread} read x @1\n {thread} write x @2\n {thread} unlock m\n")
    };
    let scenario = format!("0 create 1\n 0 create 2\n {}{}{}", increment(1), increment(1), increment(2));
    let found = reported(&find::<Atomicity>(&scenario));
    assert_eq!(found, [(5, vec![2, 2, 1], Certainty::Suspected)]);
}

#[test]
fn a_lock_with_a_condition_variable_shows_whose_turn_it_is() {
    let scenario = "0 create 1
        0 lock m
        0 read t @1
        0 unlock m
        0 lock m
        0 write t @3
        0 signal c
        0 unlock m
        1 lock m
        1 write t @2
        1 unlock m";
    assert!(predicted::<Atomicity>(scenario).is_empty());
}

#[test]
fn order_keeps_the_other_thread_out() {
    assert!(find::<Atomicity>("0 write x\n 0 create 1\n 1 write x\n 0 join 1\n 0 read x").is_empty());
    // It has to come before the last read, which waits for it.
    assert!(find::<Atomicity>("0 create 1\n 0 write x\n 1 write x\n 0 join 1\n 0 read x").is_empty());
}

#[test]
fn atomic_updates_are_one_step() {
    assert!(find::<Atomicity>("0 create 1\n 0 update x\n 0 update x\n 1 update x").is_empty());
    assert!(find::<Atomicity>("0 create 1\n 0 load x\n 0 update x\n 1 update x").is_empty());
    // A load and a store are two.
    let scenario = "0 create 1\n 0 load x @1\n 1 load x @3\n 0 store x @2\n 1 store x @4";
    let found = reported(&find::<Atomicity>(scenario));
    let torn = (7, vec![3, 2, 4], Certainty::Observed);
    assert_eq!(found, [torn, (7, vec![1, 4, 2], Certainty::Predicted)]);
}

#[test]
fn polling_an_atomic_is_not_torn() {
    let scenario = "0 create 1\n 0 load f @1\n 0 load f @1\n 0 load f @1\n 1 store f @2";
    assert!(find::<Atomicity>(scenario).is_empty());
}

const TWO: &str = "0 create 1
    0 create 2
    0 lock m
    0 write x
    0 write y
    0 unlock m
    1 lock m
    1 {w} x @1
    1 unlock m
    1 lock m
    1 {w} y @4
    1 unlock m
    2 lock m
    2 {o} x @2
    2 {o} y @3
    2 unlock m";

fn two(mine: &str, other: &str) -> Vec<(u8, Vec<u64>, Certainty)> {
    reported(&find::<MultiVariable>(&TWO.replace("{w}", mine).replace("{o}", other)))
}

#[test]
fn two_variables_written_together_are_torn_by_separate_sections() {
    let sites = vec![1, 2, 3, 4];
    assert!(two("write", "write").contains(&(9, sites.clone(), Certainty::Predicted)));
    assert!(two("write", "read").contains(&(12, sites.clone(), Certainty::Predicted)));
    assert!(two("read", "write").contains(&(14, sites, Certainty::Predicted)));
    assert!(two("read", "read").iter().all(|(_, sites, _)| sites[1] != 2));
}

#[test]
fn sections_that_write_both_variables_tear_nothing() {
    let both = |thread: u16| {
        format!("{thread} lock m\n {thread} write x @1\n {thread} write y @2\n {thread} unlock m\n")
    };
    let scenario = format!("0 create 1\n 0 create 2\n {}{}{}", both(1), both(1), both(2));
    assert!(find::<MultiVariable>(&scenario).is_empty());
}

/// The subject two_stage: two locks, nothing ever written together.
#[test]
fn variables_that_nobody_writes_together_are_only_suspected() {
    let scenario = "0 create 1
        0 create 2
        1 lock a
        1 write x @1
        1 unlock a
        1 lock b
        1 read x
        1 write y @4
        1 unlock b
        2 lock a
        2 read x @2
        2 unlock a
        2 lock b
        2 read y @3
        2 unlock b";
    let found = reported(&find::<MultiVariable>(scenario));
    assert!(found.contains(&(12, vec![1, 2, 3, 4], Certainty::Suspected)), "{found:?}");
}
