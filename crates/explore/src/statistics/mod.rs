//! What trials say about strategies: summaries, a significance test and an effect size (papers: ARS §V).

mod cliff;
mod measure;
mod summary;
mod wilcoxon;

pub use cliff::{Magnitude, cliffs_delta};
pub use measure::Measure;
pub use summary::{Censored, Summary};
pub use wilcoxon::{Method, Wilcoxon, bonferroni, wilcoxon};
