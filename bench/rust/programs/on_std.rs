//! The programs on std itself, each as a closure that threadbare repeats.

#[path = "../../../crates/inproc/src/lib.rs"]
mod threadbare;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

include!("all.rs");

fn main() {
    let name = std::env::args().nth(1).unwrap_or_default();
    match program(&name) {
        Some(body) => threadbare::hunt(body),
        None => eprintln!("no program of this name"),
    }
}
