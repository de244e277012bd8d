//! Foresight: what would happen if threads went on in some order, as far as executions so far have shown what
//! threads do. Thinking of a trace costs no step of the program.

mod future;
mod habits;
mod hash;
mod novelty;
mod trail;
mod world;

pub(super) use future::{Foresight, Future};
pub(super) use habits::Foreseen;
pub(super) use hash::Table;
pub(super) use novelty::Taste;
pub(super) use trail::Trail;
