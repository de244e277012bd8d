use std::thread;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{sleep, timeout};

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

#[test]
fn right() {
    let (send, receive) = oneshot::channel();
    let sender = thread::spawn(move || send.send(Box::new(7)).unwrap());
    assert_eq!(*runtime().block_on(receive).unwrap(), 7);
    sender.join().unwrap();
}

#[test]
fn right_timers_and_channels() {
    let (send, mut receive) = mpsc::channel(1);
    let sender = thread::spawn(move || (0..2).for_each(|number| send.blocking_send(number).unwrap()));
    runtime().block_on(async move {
        sleep(Duration::from_millis(5)).await;
        let mut all = Vec::new();
        while let Some(number) = receive.recv().await {
            all.push(number);
        }
        assert_eq!(all, [0, 1]);
    });
    sender.join().unwrap();
}

#[test]
fn right_spawn_blocking() {
    let doubled = runtime().block_on(async { tokio::task::spawn_blocking(|| 21 * 2).await.unwrap() });
    assert_eq!(doubled, 42);
}

/// Takes a time-out for a promise.
#[test]
fn wrong() {
    let (send, receive) = oneshot::channel();
    let sender = thread::spawn(move || drop(send.send(7)));
    let got = runtime().block_on(async { timeout(Duration::from_millis(10), receive).await });
    sender.join().unwrap();
    assert_eq!(got.unwrap().unwrap(), 7);
}
