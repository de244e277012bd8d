//! What atomic steps order that ask for less than the strongest order.

mod scenario;

use threadbare_detect::HappensBefore;

use scenario::{find, sites};

/// Thread 0 writes and sets a flag, thread 1 reads the flag and then what was written; between, what each does.
fn handed_over(writer: &str, reader: &str) -> bool {
    let scenario = format!("0 create 1\n0 write x @1\n{writer}\n{reader}\n1 read x @2");
    let found: Vec<_> = find::<HappensBefore>(&scenario).iter().map(sites).collect();
    assert!(found.is_empty() || found == [vec![1, 2]], "{found:?}");
    found.is_empty()
}

#[test]
fn only_both_together_hand_over() {
    assert!(handed_over("0 store f", "1 load f 1"));
    assert!(!handed_over("0 relaxed-store f", "1 load f 1"));
    assert!(!handed_over("0 store f", "1 relaxed-load f 1"));
    assert!(!handed_over("0 relaxed-update f", "1 relaxed-load f 1"));
}

#[test]
fn fences_make_up_for_relaxed_steps() {
    assert!(handed_over("0 release-fence\n0 relaxed-store f", "1 relaxed-load f 1\n1 acquire-fence"));
    assert!(handed_over("0 fence\n0 relaxed-store f", "1 load f 1"));
    assert!(handed_over("0 store f", "1 relaxed-load f 1\n1 fence"));
    // A fence on the wrong side of the step is of no use.
    assert!(!handed_over("0 relaxed-store f\n0 release-fence", "1 relaxed-load f 1\n1 acquire-fence"));
    assert!(!handed_over("0 release-fence\n0 relaxed-store f", "1 acquire-fence\n1 relaxed-load f 1"));
    assert!(!handed_over("0 acquire-fence\n0 relaxed-store f", "1 relaxed-load f 1\n1 acquire-fence"));
}

#[test]
fn updates_go_on_with_what_was_released_and_stores_do_not() {
    assert!(handed_over("0 store f\n2 relaxed-update f 2", "1 load f 2"));
    assert!(!handed_over("0 store f\n2 relaxed-store f 2", "1 load f 2"));
}
