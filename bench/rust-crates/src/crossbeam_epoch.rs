use std::sync::atomic::Ordering::{AcqRel, Acquire};
use std::thread;

use crossbeam_epoch::{self as epoch, Atomic, Owned};

fn replaced(drop_at_once: bool) {
    let shared = Atomic::new(1);
    thread::scope(|scope| {
        scope.spawn(|| {
            let guard = &epoch::pin();
            let old = shared.swap(Owned::new(2), AcqRel, guard);
            unsafe {
                if drop_at_once {
                    drop(old.into_owned());
                } else {
                    guard.defer_destroy(old);
                }
            }
        });
        scope.spawn(|| {
            let guard = &epoch::pin();
            let seen = unsafe { *shared.load(Acquire, guard).deref() };
            assert!(seen == 1 || seen == 2);
        });
    });
    let guard = &epoch::pin();
    let last = shared.swap(epoch::Shared::null(), AcqRel, guard);
    unsafe { drop(last.into_owned()) };
}

#[test]
fn right() {
    replaced(false);
}

/// Somebody may still read it.
#[test]
fn wrong() {
    replaced(true);
}
