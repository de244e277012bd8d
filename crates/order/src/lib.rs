//! Orders of recorded steps: whether something can happen, and in which order of steps it does.
//!
//! A trace shows what each thread did and saw. Threads that see the same do the same; so the steps of a trace may be
//! made in any other order in which every read still sees the value it saw, locks keep out whom they kept out, and
//! so on, and the program would make them in that order too. This crate knows what binds the steps of a trace
//! ([`Model`]), and answers for a [`Goal`] with an order that reaches it, or with the constraints that forbid it
//! ([`Solver`]). It does not know what the answers are good for.
//!
//! Only the steps that lead to the goal matter, and the last step of each thread may see what it likes: that is
//! how something is reached that has not been seen before.

mod action;
mod answer;
mod constraint;
mod core_reuse;
mod doubt;
mod forest;
mod goal;
mod machine;
mod model;
mod panel;
mod reading;
mod solver;
mod theory;

pub use action::{AccessMode, Action, Kept, MemoryRange};
pub use answer::{Answer, SolvedSchedule, SolvedSwitch};
pub use constraint::{Constraint, Core, Demand};
pub use core_reuse::can_be_carried;
pub use doubt::Doubt;
pub use forest::{Forest, ForestStep, Path, StepId};
pub use goal::Goal;
pub use model::Model;
pub use panel::{Panel, PanelReply, Question};
pub use solver::{Budget, Effort, Solver};
