//! The rules by which accesses race.

mod scenario;

use threadbare_detect::{Certainty, HappensBefore, Hybrid};

use scenario::{address, find, predicted, sites};

/// What both detectors find: the sites of each pair.
fn both(scenario: &str) -> [Vec<Vec<u64>>; 2] {
    [
        find::<HappensBefore>(scenario).iter().map(sites).collect(),
        find::<Hybrid>(scenario).iter().map(sites).collect(),
    ]
}

fn none() -> [Vec<Vec<u64>>; 2] {
    [Vec::new(), Vec::new()]
}

fn one(first: u64, second: u64) -> [Vec<Vec<u64>>; 2] {
    [vec![vec![first, second]], vec![vec![first, second]]]
}

#[test]
fn two_writes_without_a_lock_race() {
    let scenario = "0 create 1
        0 write x @7
        1 write x @9";
    assert_eq!(both(scenario), one(7, 9));
    let finding = &find::<Hybrid>(scenario)[0];
    assert_eq!((finding.object, finding.at, finding.pattern), (address("x"), 2, Some(3)));
    assert_eq!(find::<HappensBefore>(scenario)[0].certainty, Certainty::Observed);
}

#[test]
fn reads_do_not_race() {
    assert_eq!(both("0 create 1\n 0 read x\n 1 read x"), none());
}

#[test]
fn creation_and_join_order() {
    assert_eq!(both("0 write x\n 0 create 1\n 1 write x\n 0 join 1\n 0 write x"), none());
}

#[test]
fn lock_order_hides_a_race_from_happens_before_only() {
    let scenario = "0 create 1
        0 write x @1
        0 lock m
        0 unlock m
        1 lock m
        1 unlock m
        1 write x @2";
    assert_eq!(both(scenario), [vec![], vec![vec![1, 2]]]);
}

/// A flag set under a lock and seen under it orders what is around it, if the program looks at it.
#[test]
fn a_value_handed_over_under_a_lock_makes_a_race_a_suspicion() {
    let scenario = "0 create 1
        0 write x @1
        0 lock m
        0 write f
        0 unlock m
        1 lock m
        1 read f
        1 unlock m
        1 write x @2";
    let found = find::<Hybrid>(scenario);
    assert_eq!((sites(&found[0]), found[0].certainty), (vec![1, 2], Certainty::Suspected));
    assert!(find::<HappensBefore>(scenario).is_empty());
}

#[test]
fn readers_of_a_lock_do_not_keep_each_other_out() {
    let scenario = |second: &str| {
        format!(
            "0 create 1\n 0 read-lock m\n 0 write x @1\n 0 unlock m\n 1 {second} m\n 1 write x @2\n 1 unlock m"
        )
    };
    assert_eq!(both(&scenario("read-lock")), one(1, 2));
    assert_eq!(both(&scenario("lock")), none());
}

#[test]
fn atomics_do_not_race_with_atomics_but_with_plain_accesses() {
    assert_eq!(both("0 create 1\n 0 store x\n 1 update x\n 0 load x"), none());
    assert_eq!(both("0 create 1\n 0 store x @1\n 1 read x @2"), one(1, 2));
    assert_eq!(both("0 create 1\n 0 write x @1\n 1 load x @2"), one(1, 2));
}

#[test]
fn a_store_that_is_seen_publishes_what_came_before() {
    assert_eq!(both("0 create 1\n 0 write x\n 0 store f\n 1 load f\n 1 read x"), none());
    // The value seen is another thread's, which knows nothing of it.
    let scenario = "0 create 1\n 0 create 2\n 0 write x @1\n 0 store f\n 2 store f\n 1 load f\n 1 read x @2";
    assert_eq!(both(scenario), one(1, 2));
    // A read-modify-write hands on what it found.
    let scenario = "0 create 1\n 0 create 2\n 0 write x @1\n 0 store f\n 2 update f\n 1 load f\n 1 read x @2";
    assert_eq!(both(scenario), none());
}

#[test]
fn signals_order_only_those_they_wake() {
    let scenario = |reader: u16| {
        format!(
            "0 create 1\n 0 create 2\n 1 lock m\n 1 wait c m\n 0 write x @1\n 0 signal c\n 1 wake c m\n \
             1 unlock m\n {reader} read x @2"
        )
    };
    assert_eq!(both(&scenario(1)), none());
    assert_eq!(both(&scenario(2)), one(1, 2));
}

#[test]
fn a_barrier_orders_one_round_before_the_next() {
    let scenario = "0 create 1
        0 write x
        0 arrive b
        1 arrive b
        1 leave b 1
        1 read x
        1 write y @1
        1 arrive b
        0 leave b 1
        0 write y @2
        0 arrive b
        0 leave b 2
        1 leave b 2
        1 write y";
    assert_eq!(both(scenario), one(1, 2));
}

#[test]
fn semaphores_once_routines_and_futexes_order() {
    assert_eq!(both("0 create 1\n 0 write x\n 0 post s\n 1 take s\n 1 write x"), none());
    assert_eq!(
        both("0 create 1\n 0 once-begin o\n 0 write x\n 0 once-end o\n 1 once-seen o\n 1 read x"),
        none()
    );
    assert_eq!(
        both("0 create 1\n 1 futex-wait f\n 0 write x\n 0 futex-wake f\n 1 futex-woken f\n 1 read x"),
        none()
    );
    assert_eq!(both("0 create 1\n 0 write x @1\n 0 futex-wake f\n 1 load g\n 1 read x @2"), one(1, 2));
}

/// The locks of Rust's standard library: the way of one who has to wait is not instrumented.
#[test]
fn a_lock_taken_in_code_that_is_not_seen_orders() {
    let scenario = "0 create 1
        0 update l 1
        1 failed l
        0 write x
        1 futex-wait l
        0 update l 0
        0 futex-wake l
        1 futex-woken l
        1 write x";
    assert_eq!(both(scenario), none());
}

/// Its condition variables release the lock word and take it again without being seen.
#[test]
fn a_lock_given_up_in_code_that_is_not_seen_orders() {
    let scenario = "0 create 1
        0 update l 1
        0 read x
        0 futex-wait c
        1 update l 1
        1 write x
        1 futex-wake c
        1 update l 0
        0 futex-woken c
        0 read x
        1 update l 1
        0 futex-wait c
        1 write x
        1 futex-wake c
        1 update l 0
        0 futex-woken c
        0 read x
        0 update l 0";
    assert_eq!(both(scenario), none());
}

/// Its once-cells are marked full without being seen.
#[test]
fn a_value_that_nobody_was_seen_to_write_orders() {
    let scenario =
        |seen: &str| format!("0 create 1\n 0 load o 3\n 0 write x @1\n 1 load o {seen}\n 1 read x @2");
    assert_eq!(both(&scenario("4")), none());
    assert_eq!(both(&scenario("3")), one(1, 2));
    // What its writer does after that is another matter.
    let scenario = "0 create 1\n 0 load o 3\n 1 load o 4\n 0 write x @1\n 1 read x @2";
    assert_eq!(both(scenario), one(1, 2));
}

#[test]
fn accesses_race_where_they_overlap_and_nowhere_else() {
    assert_eq!(both("0 create 1\n 0 write x+0 4 @1\n 1 write x+4 4 @2"), none());
    assert_eq!(both("0 create 1\n 0 write x+0 8 @1\n 1 write x+6 1 @2"), one(1, 2));
    assert_eq!(both("0 create 1\n 0 write x+6 4 @1\n 1 write x+9 1 @2"), one(1, 2));
    assert_eq!(both("0 create 1\n 0 write-range x 100 @1\n 1 read x+96 4 @2"), one(1, 2));
    assert_eq!(both("0 create 1\n 0 write-range x 100 @1\n 1 read x+100 4 @2"), none());
}

#[test]
fn memory_that_is_used_again_is_another_object() {
    let scenario = "0 create 1\n 1 alloc h 16\n 1 write h @1\n {}\n 0 alloc h 16\n 0 write h @2";
    assert_eq!(both(&scenario.replace("{}", "1 free h 16 @3")), none());
    // Whoever frees what another thread uses races with it.
    assert_eq!(both("0 create 1\n 1 alloc h 16\n 1 write h+8 @1\n 0 free h 16 @2"), one(1, 2));
}

/// The reference count was looked at in code that is not seen, where no call is in progress.
#[test]
fn a_block_with_a_reference_count_is_released_after_its_last_use() {
    assert_eq!(both("0 create 1\n 1 alloc h 16\n 0 update h 2\n 1 update h 1\n 0 free h 16"), none());
}

#[test]
fn stacks_of_threads_and_variables_of_calls_are_new_each_time() {
    assert_eq!(both("0 create 1\n 1 write s+8\n 1 exit\n 0 create 2\n 2 start s t\n 2 write s+8"), none());
    assert_eq!(both("0 create 1\n 0 write s+8\n 0 frame s+64 s\n 1 write s+8"), none());
}

#[test]
fn findings_are_counted_once_for_each_pair_of_sites() {
    let scenario = "0 create 1
        0 write x @1
        1 write x @2
        0 write y @1
        1 write y @2
        1 write z @2
        0 write z @1";
    let found = find::<Hybrid>(scenario);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].count, 3);
}

#[test]
fn a_thread_created_under_a_lock_takes_it_after_its_creator() {
    let scenario = "0 lock m
        0 create 1
        0 write x
        0 unlock m
        1 lock m
        1 unlock m
        1 write x";
    assert!(predicted::<Hybrid>(scenario).is_empty());
}

#[test]
fn a_library_may_have_ordered_what_its_calls_separate() {
    let certainty = |scenario: &str| {
        let (observed, predicted) = (find::<HappensBefore>(scenario), find::<Hybrid>(scenario));
        (observed.len(), predicted.first().map(|race| race.certainty))
    };
    let started = "0 create 1\n 0 create 2\n";
    // One thread calls it after its access, the other one before: whoever was called first may have waited.
    for calls in ["1 call q\n 2 call q\n", "2 call q\n 1 call q\n"] {
        let handed_over = format!("{started}1 write x\n{calls}2 write x\n");
        let late = format!("{started}2 call q\n 1 write x\n 1 call q\n 2 write x\n");
        assert_eq!(certainty(&handed_over), (0, Some(Certainty::Suspected)), "{calls}");
        assert_eq!(certainty(&late), (0, Some(Certainty::Suspected)));
    }
    // Another library, a call too early, or a step in between which shows that the thread had come back.
    for calls in [
        "1 write x\n 1 call q\n 2 call p\n 2 write x\n",
        "1 call q\n 1 write x\n 2 call q\n 2 write x\n",
        "2 call q\n 2 read y\n 1 write x\n 1 call q\n 2 write x\n",
    ] {
        let scenario = format!("{started}{calls}");
        assert_eq!(certainty(&scenario), (1, Some(Certainty::Predicted)), "{calls}");
    }
    // A thread of the library's own may have come from there at each of its steps.
    let own = format!(
        "{started}2 live q\n 2 read y\n 1 write x\n 1 call q\n 2 write x\n 2 read y\n 0 call q\n 0 write x\n"
    );
    assert_eq!(certainty(&own), (0, Some(Certainty::Suspected)));
}
