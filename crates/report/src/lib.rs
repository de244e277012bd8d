//! What people and programs read about an execution: the interleaving as a table of thread
//! lanes, the JSON object, SARIF, and what trace viewers and scripts read.
//!
//! This crate is given events, switches and an outcome. It does not know how they came about, nor
//! how a program's symbols are read: the [`Names`] trait hides that.

mod access_sequence;
mod compare;
mod compare_table;
mod coverage;
mod describe;
mod escape;
mod failure;
mod finding_text;
mod graph_svg;
mod json;
mod junit;
mod lanes;
mod locks_held;
mod names;
mod page;
mod perfetto;
mod recorded;
mod sarif;
mod suite;
mod suite_table;
mod terminal;
mod tests_json;
mod text_format;
mod timeline;
mod trace_json;
mod verify_json;

pub use access_sequence::{object_name, past_tense, sequence, sequence_ending, site};
pub use compare::{CompareReport, Figures, LowerBounds, StrategyReport, TrialReport, VersusReport};
pub use compare_table::compare_table;
pub use coverage::{CoverageReport, CoverageStep, EstimationReport, Requirement};
pub use describe::{about_switch, event_text, value_text};
pub use escape::printable;
pub use failure::{failure_phrase, failure_site, name_addresses};
pub use finding_text::{AccessText, FindingText, finding_text};
pub use graph_svg::graphs_svg;
pub use json::{
    Coverage, DelayReport, DoubtReport, FailureReport, FindingReport, GeneratedReport, JsonReport,
    MemoryModel, ReplayReport, Verdict, failed_executions,
};
pub use junit::junit;
pub use names::{Names, SourcePlace};
pub use page::{
    CampaignRecord, Excerpt, FailureFiles, FindingCard, GraphCard, GraphCards, GraphNode, GuidelineCard,
    LongOriginal, Matrix, MatrixRow, Page, PageCampaign, PageInterleaving, PageInterleavings, PatternCard,
    QuestionCard, RECORD_EXTENSION, RECORD_VERSION, RecordError, Subject, Uncovered, excerpts,
};
pub use perfetto::write_perfetto;
pub use recorded::{RecordedNames, record};
pub use sarif::{FlowStep, Level, Rule, SarifResult, failure_result, sarif};
pub use suite::{AgainstReport, CfpReport, FullReport, InputReport, SuiteReport};
pub use suite_table::suite_table;
pub use terminal::interleaving;
pub use tests_json::{TestReport, TestStatus, TestsReport};
pub use text_format::TextFormat;
pub use timeline::Interleaving;
pub use trace_json::write_trace_json;
pub use verify_json::{CheckpointsReport, GraphReport, GroupsReport, TotalReport};
