use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Mutex, Notify, Semaphore};

fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

#[test]
fn right() {
    let counter = Arc::new(Mutex::new(0));
    let runtime = runtime();
    runtime.block_on(async {
        let tasks: Vec<_> = (0..2)
            .map(|_| {
                let counter = Arc::clone(&counter);
                tokio::spawn(async move { *counter.lock().await += 1 })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(*counter.lock().await, 2);
    });
}

#[test]
fn right_timers_and_blocking() {
    runtime().block_on(async {
        let slow = tokio::spawn(async {
            tokio::time::sleep(Duration::from_millis(20)).await;
            1
        });
        let blocking = tokio::task::spawn_blocking(|| 2);
        assert_eq!(slow.await.unwrap() + blocking.await.unwrap(), 3);
    });
}

#[test]
fn right_notify_and_semaphore() {
    let (notify, semaphore) = (Arc::new(Notify::new()), Arc::new(Semaphore::new(1)));
    runtime().block_on(async {
        let (bell, room) = (Arc::clone(&notify), Arc::clone(&semaphore));
        let task = tokio::spawn(async move {
            let _permit = room.acquire().await.unwrap();
            bell.notify_one();
        });
        notify.notified().await;
        let _permit = semaphore.acquire().await.unwrap();
        task.await.unwrap();
    });
}

/// Adds in two steps.
#[test]
fn wrong() {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    async fn add() {
        let seen = COUNTER.load(SeqCst);
        COUNTER.store(seen + 1, SeqCst);
    }
    runtime().block_on(async {
        let tasks = [tokio::spawn(add()), tokio::spawn(add())];
        for task in tasks {
            task.await.unwrap();
        }
    });
    assert_eq!(COUNTER.load(SeqCst), 2);
}
