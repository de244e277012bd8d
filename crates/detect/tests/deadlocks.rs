//! The rules by which locks are predicted to be waited for in a circle.

mod story;

use threadbare_detect::Deadlock;

use story::{address, find, sites};

/// A thread that takes two locks, the second inside the first.
fn nested(thread: u16, outer: &str, inner: &str) -> String {
    let site = |step: u16| thread * 10 + step;
    format!(
        "{thread} lock {outer} @{}\n {thread} lock {inner} @{}\n {thread} unlock {inner}\n {thread} unlock {outer}\n",
        site(1),
        site(2)
    )
}

fn circles(story: &str) -> Vec<Vec<u64>> {
    find::<Deadlock>(story).iter().map(sites).collect()
}

#[test]
fn opposite_orders_close_a_circle() {
    let story = format!("0 create 1\n 0 create 2\n {}{}", nested(1, "a", "b"), nested(2, "b", "a"));
    assert_eq!(circles(&story), [vec![11, 12, 21, 22]]);
    let found = find::<Deadlock>(&story);
    assert_eq!(found[0].locks, [address("a"), address("b")]);
    assert!(circles(&format!("0 create 1\n {}{}", nested(0, "a", "b"), nested(1, "a", "b"))).is_empty());
}

#[test]
fn five_philosophers_close_one_circle() {
    let forks = ["a", "b", "c", "d", "e"];
    let seats = (0..5u16).map(|seat| {
        let (left, right) = (forks[seat as usize], forks[(seat as usize + 1) % 5]);
        format!("0 create {}\n{}", seat + 1, nested(seat + 1, left, right))
    });
    let found = circles(&seats.collect::<String>());
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].len(), 10);
}

#[test]
fn a_gate_lets_one_through_at_a_time() {
    let gated = |thread: u16, inner: String| format!("{thread} lock g\n{inner}{thread} unlock g\n");
    let (one, two) = (nested(1, "a", "b"), nested(2, "b", "a"));
    let story = format!("0 create 1\n 0 create 2\n {}{}", gated(1, one.clone()), gated(2, two.clone()));
    assert!(circles(&story).is_empty());
    assert_eq!(circles(&format!("0 create 1\n 0 create 2\n {}{two}", gated(1, one))).len(), 1);
}

#[test]
fn one_thread_after_the_other_cannot_deadlock() {
    let (one, two) = (nested(1, "a", "b"), nested(2, "b", "a"));
    assert!(circles(&format!("0 create 1\n {one} 0 join 1\n 0 create 2\n {two}")).is_empty());
    assert!(circles(&format!("{}{}", nested(1, "a", "b"), nested(1, "b", "a"))).is_empty());
}

#[test]
fn readers_do_not_wait_for_readers() {
    let story = |inner: &str| {
        format!("0 create 1\n 0 create 2\n {}{}", nested(1, "a", "b"), nested(2, "b", "a"))
            .replace(" lock b", inner)
    };
    assert!(circles(&story(" read-lock b")).is_empty());
    assert_eq!(circles(&story(" lock b")).len(), 1);
}

#[test]
fn a_try_lock_does_not_wait() {
    let story = format!("0 create 1\n 0 create 2\n {}{}", nested(1, "a", "b"), nested(2, "b", "a"));
    assert!(circles(&story.replace("1 lock b", "1 try-lock b")).is_empty());
    // But others wait for what was taken so.
    assert_eq!(circles(&story.replace("1 lock a", "1 try-lock a")).len(), 1);
}

#[test]
fn a_lock_taken_again_is_no_new_lock() {
    let story = "0 create 1
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
    assert!(circles(story).is_empty());
}

#[test]
fn a_condition_wait_takes_its_mutex_again() {
    let story = "0 create 1
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
    let found = circles(story);
    assert!(found.iter().any(|sites| sites.contains(&5) && sites.contains(&7)), "{found:?}");
}

#[test]
fn locks_in_memory_that_is_used_again_are_other_locks() {
    let story = |between: &str| {
        format!("0 create 1\n 0 create 2\n {}{between}{}", nested(1, "h", "b"), nested(2, "b", "h"))
    };
    assert_eq!(circles(&story("")).len(), 1);
    for between in ["0 free h 8\n 0 alloc h 8\n", "0 destroy h\n", "0 init h\n"] {
        assert!(circles(&story(between)).is_empty(), "{between}");
    }
    // A circle that is complete when a lock goes is not forgotten.
    assert_eq!(circles(&format!("{}0 free h 8\n", story(""))).len(), 1);
}

#[test]
fn locks_taken_hand_over_hand_may_rule_the_circle_out() {
    let hand_over_hand = |thread: u16, one: &str, two: &str, site: u16| {
        format!(
            "{thread} lock {one}\n {thread} lock {two} @{}\n {thread} unlock {one}\n {thread} lock {one} @{site}\n \
             {thread} unlock {one}\n {thread} unlock {two}\n",
            site + 1
        )
    };
    let story = format!(
        "0 create 1\n 0 create 2\n {}{}",
        hand_over_hand(1, "a", "b", 10),
        hand_over_hand(2, "b", "a", 20)
    );
    // The first two acquisitions can meet, the last two cannot.
    let wanted: Vec<Vec<u64>> =
        circles(&story).into_iter().map(|sites| sites.into_iter().skip(1).step_by(2).collect()).collect();
    assert_eq!(wanted, [[11, 21]]);
}
