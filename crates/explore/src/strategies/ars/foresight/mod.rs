//! Foresight: what would happen if threads were scheduled in some order, as far as executions so far have shown what
//! threads do. Predicting a trace executes no step of the program.

mod future;
mod hash;
mod next_steps;
mod novelty;
mod partial_trace;
mod program_state;

pub(super) use future::{Foresight, Future};
pub(super) use hash::Table;
pub(super) use next_steps::PredictedStep;
pub(super) use novelty::NoveltyWeights;
pub(super) use partial_trace::{PartialTrace, is_step};
