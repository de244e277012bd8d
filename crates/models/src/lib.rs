//! The trace model and the graphs of total replay (T. E. Setiadi, "Total replay"): what executions have in common
//! as far as races are concerned, and which reads lead to others that have not.
//!
//! * [`Manners`] (§3.9, §3.10): how threads access shared variables; equal ones make executions *race-equivalent*.
//! * [`concurrent_pairs`], [`is_no_race`] (§3.11, §3.12, Algorithm 1) and [`Checks`] (§5.4): what has to be checked.
//! * [`UseDefines`] (§3.13): whose value each read sees and could have seen.
//! * [`branch_related`], [`branch_affect_groups`] (Algorithms 3, 4), [`BranchTable`] (Algorithm 5).
//! * [`graph`]: the concurrent dependency graph and its guidelines (Algorithms 6 to 9).
//! * [`variants`]: the variant graph of reachability testing (Algorithm 2, §5.2).
//! * [`Combinations`] (Algorithm 12): execution paths put together from those that were seen.
//!
//! All of it reads events. Memory and locks are named as the events name them, so executions can be compared where
//! the same thing has the same address in both.

mod affects;
mod combination;
pub mod graph;
mod groups;
mod manners;
mod operation;
mod pairs;
mod potential_use_defines;
mod race_checks;
mod table;
mod use_define;
mod variables;
pub mod variants;

#[cfg(test)]
mod tests;

pub use affects::{BranchInstance, DataFlow, branch_instances, branch_related};
pub use combination::{Combination, Combinations, Label};
pub use groups::{BranchAffectGroup, branch_affect_groups};
pub use manners::{AccessManner, MannerOccurrence, Manners, Paths, manner_occurrences};
pub use operation::{Location, Operation, OperationKind};
pub use pairs::{MannerPair, concurrent_pairs, is_no_race};
pub use race_checks::Checks;
pub use table::{BranchOutcome, BranchTable, OutcomeRow};
pub use use_define::{InstanceUse, Use, UseDefine, UseDefines};
