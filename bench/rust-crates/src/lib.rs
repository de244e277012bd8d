//! Popular crates, unmodified: tests that are right in every interleaving (`right…`), and tests that are wrong in some of
//! them (`wrong…`).
#![cfg(test)]

mod arc_swap;
mod crossbeam_channel;
mod crossbeam_deque;
mod crossbeam_epoch;
mod dashmap;
mod parking_lot;
mod rayon;
mod tokio_current_thread;
mod tokio_multi_thread;
