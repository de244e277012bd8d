//! Directed testing for synchronization pairs in the forms that the paper compares.

use crate::strategies::tsa::Form;

/// As the paper has it: every execution aims at all uncovered pairs.
pub(in crate::strategies) const PAPER: Form = Form { third_rule: true, aims_at_all: true };

/// Without the third rule, the estimation-based heuristic.
pub(in crate::strategies) const WITHOUT_HEURISTIC: Form = Form { third_rule: false, ..Form::FULL };
