//! The rules by which deadlocks are predicted.

mod scenario;

use threadbare_detect::{Certainty, Deadlock};

use scenario::{address, find, sites};

/// A thread that takes two locks, the second inside the first.
fn nested(thread: u16, outer: &str, inner: &str) -> String {
    let site = |step: u16| thread * 10 + step;
    format!(
        "{thread} lock {outer} @{}\n {thread} lock {inner} @{}\n {thread} unlock {inner}\n {thread} unlock {outer}\n",
        site(1),
        site(2)
    )
}

fn cycles(scenario: &str) -> Vec<Vec<u64>> {
    find::<Deadlock>(scenario).iter().map(sites).collect()
}

#[test]
fn opposite_orders_close_a_cycle() {
    let scenario = format!("0 create 1\n 0 create 2\n {}{}", nested(1, "a", "b"), nested(2, "b", "a"));
    assert_eq!(cycles(&scenario), [vec![11, 12, 21, 22]]);
    let found = find::<Deadlock>(&scenario);
    assert_eq!(found[0].locks, [address("a"), address("b")]);
    assert!(cycles(&format!("0 create 1\n {}{}", nested(0, "a", "b"), nested(1, "a", "b"))).is_empty());
}

#[test]
fn five_philosophers_close_one_cycle() {
    let forks = ["a", "b", "c", "d", "e"];
    let seats = (0..5u16).map(|seat| {
        let (left, right) = (forks[seat as usize], forks[(seat as usize + 1) % 5]);
        format!("0 create {}\n{}", seat + 1, nested(seat + 1, left, right))
    });
    let found = cycles(&seats.collect::<String>());
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].len(), 10);
}

#[test]
fn a_gate_lets_one_through_at_a_time() {
    let gated = |thread: u16, inner: String| format!("{thread} lock g\n{inner}{thread} unlock g\n");
    let (one, two) = (nested(1, "a", "b"), nested(2, "b", "a"));
    let scenario = format!("0 create 1\n 0 create 2\n {}{}", gated(1, one.clone()), gated(2, two.clone()));
    assert!(cycles(&scenario).is_empty());
    assert_eq!(cycles(&format!("0 create 1\n 0 create 2\n {}{two}", gated(1, one))).len(), 1);
}

#[test]
fn one_thread_after_the_other_cannot_deadlock() {
    let (one, two) = (nested(1, "a", "b"), nested(2, "b", "a"));
    assert!(cycles(&format!("0 create 1\n {one} 0 join 1\n 0 create 2\n {two}")).is_empty());
    assert!(cycles(&format!("{}{}", nested(1, "a", "b"), nested(1, "b", "a"))).is_empty());
}

#[test]
fn readers_do_not_wait_for_readers() {
    let scenario = |inner: &str| {
        format!("0 create 1\n 0 create 2\n {}{}", nested(1, "a", "b"), nested(2, "b", "a"))
            .replace(" lock b", inner)
    };
    assert!(cycles(&scenario(" read-lock b")).is_empty());
    assert_eq!(cycles(&scenario(" lock b")).len(), 1);
}

#[test]
fn a_try_lock_does_not_wait() {
    let scenario = format!("0 create 1\n 0 create 2\n {}{}", nested(1, "a", "b"), nested(2, "b", "a"));
    assert!(cycles(&scenario.replace("1 lock b", "1 try-lock b")).is_empty());
    // But others wait for what was taken so.
    assert_eq!(cycles(&scenario.replace("1 lock a", "1 try-lock a")).len(), 1);
}

#[test]
fn a_lock_taken_again_is_no_new_lock() {
    let scenario = "0 create 1
        0 lock a
        0 lock b
        0 lock a
        0 unlock a
        0 unlock b
        0 unlock a
        1 lock a
        1 lock b
        1 unlock b
        1 unlock a";
    assert!(cycles(scenario).is_empty());
}

#[test]
fn a_condition_wait_takes_its_mutex_again() {
    let scenario = "0 create 1
        0 create 2
        1 lock m
        1 lock a
        1 wait c m
        2 lock m
        2 signal c
        2 unlock m
        1 wake c m @5
        1 unlock m
        1 unlock a
        2 lock m
        2 lock a @7
        2 unlock a
        2 unlock m";
    let found = cycles(scenario);
    assert!(found.iter().any(|sites| sites.contains(&5) && sites.contains(&7)), "{found:?}");
}

#[test]
fn locks_in_memory_that_is_used_again_are_other_locks() {
    let scenario = |between: &str| {
        format!("0 create 1\n 0 create 2\n {}{between}{}", nested(1, "h", "b"), nested(2, "b", "h"))
    };
    assert_eq!(cycles(&scenario("")).len(), 1);
    for between in ["0 free h 8\n 0 alloc h 8\n", "0 destroy h\n", "0 init h\n"] {
        assert!(cycles(&scenario(between)).is_empty(), "{between}");
    }
    // A cycle that is complete when a lock is freed is not forgotten.
    assert_eq!(cycles(&format!("{}0 free h 8\n", scenario(""))).len(), 1);
}

#[test]
fn locks_taken_hand_over_hand_may_rule_the_cycle_out() {
    let hand_over_hand = |thread: u16, one: &str, two: &str, site: u16| {
        format!(
            "{thread} lock {one}\n {thread} lock {two} @{}\n {thread} unlock {one}\n {thread} lock {one} @{site}\n \
             {thread} unlock {one}\n {thread} unlock {two}\n",
            site + 1
        )
    };
    let scenario = format!(
        "0 create 1\n 0 create 2\n {}{}",
        hand_over_hand(1, "a", "b", 10),
        hand_over_hand(2, "b", "a", 20)
    );
    // The first two acquisitions can deadlock, the last two cannot.
    let wanted: Vec<Vec<u64>> =
        cycles(&scenario).into_iter().map(|sites| sites.into_iter().skip(1).step_by(2).collect()).collect();
    assert_eq!(wanted, [[11, 21]]);
}

#[test]
fn who_sees_that_the_other_one_is_done_may_have_waited_for_that() {
    let done = "1 lock f\n 1 write d\n 1 unlock f\n";
    let looks = "2 lock f\n 2 read d\n 2 unlock f\n";
    let (one, two) = (nested(1, "a", "b"), nested(2, "b", "a"));
    let created = "0 create 1\n 0 create 2\n";
    let certainty = |scenario: String| find::<Deadlock>(&scenario)[0].certainty;
    assert_eq!(certainty(format!("{created}{one}{done}{looks}{two}")), Certainty::Suspected);
    // What was not handed over, or not under a lock, keeps nobody from coming there.
    assert_eq!(certainty(format!("{created}{one}{looks}{done}{two}")), Certainty::Predicted);
    assert_eq!(certainty(format!("{created}{one}1 write d\n 2 read d\n{two}")), Certainty::Predicted);
    assert_eq!(certainty(format!("{created}{done}{looks}{one}{two}")), Certainty::Predicted);
    // Another round, in which nothing was handed over between the two, shows more.
    let again = format!("{created}{one}{done}{looks}{two}{one}");
    assert_eq!(certainty(again), Certainty::Predicted);
}
