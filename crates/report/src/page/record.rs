//! What is kept of a campaign so that a page can be made of it later: a small JSON file beside the schedules.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::schema::damage;
use crate::{AccessText, SourcePlace};

/// The version of the file; others are not read.
pub const RECORD_VERSION: u32 = 1;

/// What the names of these files end in.
pub const RECORD_EXTENSION: &str = "campaign.json";

/// All that a page needs of a campaign besides its trace files. Files are named as they are called in the folder.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct CampaignRecord {
    /// Which version this is.
    pub record: u32,
    /// What was typed.
    pub command_line: String,
    /// What it is about; none in records that were made before this was kept.
    #[serde(default)]
    pub subject: Option<Subject>,
    /// The compilers that made the program, as the executable names them.
    pub compilers: Vec<String>,
    /// The JSON object of the command.
    pub report: Value,
    /// The failures, in the order of the object.
    pub failures: Vec<FailureFiles>,
    /// The findings, in the order of the object.
    pub findings: Vec<FindingCard>,
    /// What was not covered, by criterion.
    pub uncovered: Vec<Uncovered>,
    /// What decides how threads go.
    pub graphs: Option<GraphCards>,
    /// Which functions run under which inputs.
    pub matrix: Option<Matrix>,
    /// Lines of the program's source, by file.
    pub sources: BTreeMap<String, Vec<Excerpt>>,
}

/// A program and what it is given: campaigns of different ones are distinguished by it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Subject {
    /// What names of files begin with.
    pub name: String,
    /// The program, or the suite, from the root of the file system.
    pub program: String,
    /// Its arguments and its input, as typed in a shell; empty without any.
    pub given: String,
}

/// The files that were kept of a failure.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct FailureFiles {
    /// The command that runs it again.
    pub replay: Option<String>,
    /// The schedule.
    pub schedule: Option<String>,
    /// The trace of it.
    pub trace: Option<String>,
    /// The trace of the schedule that was found, before it was made shorter.
    pub original: Option<String>,
    /// The execution that was found, where it was too long for a trace of it to be kept.
    #[serde(default)]
    pub long_original: Option<LongOriginal>,
    /// What the program printed.
    pub output: Option<String>,
}

/// An execution of which only the schedule was kept.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct LongOriginal {
    /// How many events it has.
    pub events: u64,
    /// The command that runs it again.
    pub replay: String,
}

/// A finding as it is shown.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct FindingCard {
    /// A line that names it.
    pub heading: String,
    /// How sure it is, in words.
    pub state: String,
    /// The program failed when it happened.
    pub fails: bool,
    /// Where it is.
    pub places: Vec<SourcePlace>,
    /// Who did what, in order.
    pub accesses: Vec<AccessText>,
    /// The heading of the finding without which this one would not be.
    pub follows_from: Option<String>,
    /// The command that shows it.
    pub replay: Option<String>,
    /// The trace of a run that shows it.
    pub trace: Option<String>,
}

/// What was not covered by one criterion.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Uncovered {
    /// The criterion.
    pub criterion: String,
    /// The places of each pair, in the order of the source.
    pub pairs: Vec<[SourcePlace; 2]>,
    /// Memory-access patterns.
    #[serde(default)]
    pub patterns: Vec<PatternCard>,
    /// Questions that nobody has answered.
    #[serde(default)]
    pub questions: Vec<QuestionCard>,
    /// The places that patterns name by number.
    #[serde(default)]
    pub places: Vec<SourcePlace>,
    /// How many more there are.
    pub left_out: usize,
    /// Nobody has counted all of them.
    #[serde(default)]
    pub is_cut: bool,
}

/// A memory-access pattern that was not covered.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PatternCard {
    /// Its number.
    pub pattern: u8,
    /// Its variable, or both; those without a name are called so.
    #[serde(default)]
    pub variables: Vec<String>,
    /// Who does what in each step, such as `a reads`, and to which variable where there are two.
    #[serde(alias = "deeds")]
    pub operations: Vec<String>,
    /// The place of each step, by its number.
    pub places: Vec<usize>,
}

/// Questions of one kind about the same places.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct QuestionCard {
    /// What may be possible.
    pub question: String,
    /// The places, in order.
    pub places: Vec<SourcePlace>,
    /// How many there are.
    pub count: u64,
}

/// The concurrent dependency graphs of a verification.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct GraphCards {
    /// The graphs.
    pub graphs: Vec<GraphCard>,
    /// How many more there are.
    pub left_out: usize,
}

/// One graph, about a branch or an access-manner.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct GraphCard {
    /// What it is about.
    pub title: String,
    /// The nodes; the root comes first, and every other one comes after the one that leads to it.
    pub nodes: Vec<GraphNode>,
    /// Nodes that are not shown.
    pub nodes_left_out: usize,
    /// The sets of use-defines that lead to different ways.
    pub guidelines: Vec<GuidelineCard>,
    /// Guidelines that are not shown.
    pub guidelines_left_out: usize,
}

/// A way through a graph, from its root to a leaf.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct GuidelineCard {
    /// Which write each read is to see, in words.
    pub steps: Vec<String>,
    /// The node where it ends; none if that node is not shown.
    pub leaf: Option<usize>,
}

/// A node of a graph, with the edge that leads to it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct GraphNode {
    /// The node that leads to it; none for the root.
    pub parent: Option<usize>,
    /// The text at the edge.
    pub edge: String,
    /// The text in the node.
    pub label: String,
    /// It is a selection of defines (a circle), not a statement (a box).
    pub is_choice: bool,
}

/// Inputs by functions.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Matrix {
    /// The names of the functions.
    pub functions: Vec<String>,
    /// A row for each input.
    pub rows: Vec<MatrixRow>,
    /// Functions that are not shown.
    pub functions_left_out: usize,
}

/// What ran under one input.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct MatrixRow {
    /// The name of the input.
    pub input: String,
    /// A letter for each function: `.` did not run, `r` ran, `s` was selected as well.
    pub cells: String,
    /// The place of the input in the order of selection, counted from 1.
    pub selected: Option<usize>,
}

/// Some lines of a source file that follow each other.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Excerpt {
    /// The number of the first one.
    pub first: u32,
    /// The lines.
    pub lines: Vec<String>,
}

/// Why a file is no record.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// It is no JSON, or not that of a record.
    #[error("it is damaged ({0}); run the command again, or delete the file")]
    Damaged(#[from] serde_json::Error),
    /// It is JSON, but holds what no command writes.
    #[error("it is damaged ({0}); run the command again, or delete the file")]
    Value(String),
    /// It is of another version.
    #[error(
        "it is of version {0}, and this threadbare reads version {RECORD_VERSION}; run the command again"
    )]
    Version(u32),
}

impl CampaignRecord {
    /// The file's content.
    pub fn to_bytes(&self) -> Result<Vec<u8>, serde_json::Error> {
        serde_json::to_vec(self)
    }

    /// Reads a file's content.
    pub fn read(bytes: &[u8]) -> Result<CampaignRecord, RecordError> {
        let value: Value = serde_json::from_slice(bytes)?;
        match value.get("record").and_then(Value::as_u64) {
            Some(version) if version != u64::from(RECORD_VERSION) => {
                Err(RecordError::Version(u32::try_from(version).unwrap_or(u32::MAX)))
            }
            _ => serde_json::from_value::<CampaignRecord>(value)?.whole(),
        }
    }

    /// The record, if the object in it is sound and has as many failures and findings as are kept beside it.
    fn whole(self) -> Result<CampaignRecord, RecordError> {
        if let Some(damage) = damage(&self.report) {
            return Err(RecordError::Value(damage));
        }
        for (name, kept) in [("failures", self.failures.len()), ("findings", self.findings.len())] {
            let reported = self.report[name].as_array().map_or(0, Vec::len);
            if reported != kept {
                let problem = format!("`report.{name}` has {reported}, and {kept} are kept beside it");
                return Err(RecordError::Value(problem));
            }
        }
        Ok(self)
    }

    /// Every place that it names.
    pub fn places(&self) -> impl Iterator<Item = &SourcePlace> {
        let of_findings = self.findings.iter().flat_map(|it| &it.places);
        let uncovered = self.uncovered.iter().flat_map(|it| {
            let of_questions = it.questions.iter().flat_map(|it| &it.places);
            it.pairs.iter().flatten().chain(&it.places).chain(of_questions)
        });
        of_findings.chain(uncovered)
    }
}
