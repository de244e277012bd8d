//! RUSTSEC-2021-0072: a task of a `LocalSet` is dropped by whoever aborts it, in whichever thread that is.

#![cfg(test)]

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ThreadId};

use tokio::runtime::Builder;
use tokio::task::LocalSet;

static DROPPED_ELSEWHERE: AtomicBool = AtomicBool::new(false);

/// What must not leave its thread.
struct Homebound(ThreadId);

impl Drop for Homebound {
    fn drop(&mut self) {
        DROPPED_ELSEWHERE.fetch_or(thread::current().id() != self.0, Ordering::SeqCst);
    }
}

#[test]
fn a_local_task_stays_in_its_thread() {
    let (local, runtime) = (LocalSet::new(), Builder::new_current_thread().build().unwrap());
    let home = Homebound(thread::current().id());
    let task = local.spawn_local(async move {
        let _home = home;
        std::future::pending::<()>().await
    });
    let aborting = thread::spawn(move || task.abort());
    local.block_on(&runtime, async {
        for _ in 0..2 {
            tokio::task::yield_now().await;
        }
    });
    aborting.join().unwrap();
    drop(local);
    assert!(!DROPPED_ELSEWHERE.load(Ordering::SeqCst));
}
