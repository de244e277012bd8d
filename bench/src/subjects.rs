//! The programs of the ARS paper's Table II, as `subjects/ars` has them.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use threadbare_target::{Program, resolve};

use crate::Result;

/// The programs that the table has.
const PROGRAMS: i64 = 27;

/// One program of the table.
#[derive(Deserialize)]
pub struct Subject {
    /// Its name.
    pub name: String,
    source: PathBuf,
    #[serde(default)]
    args: Vec<String>,
    /// Its row in the table.
    pub paper: Paper,
}

/// What the paper says of a program; executions to the first failure are means.
#[derive(Deserialize)]
pub struct Paper {
    subject: i64,
    /// Executions by ARS.
    pub ars: f64,
    /// Executions by random scheduling.
    pub sr: f64,
    /// Executions by maximal causality reduction; none if it found nothing.
    pub mcr: Option<f64>,
}

impl Paper {
    /// Whether the paper reports significantly fewer executions of ARS than of random scheduling (its column
    /// p, below 0.05): Airline, AlarmClock, Critical, Datarace, Lang, ProducerConsumer, Reorder,
    /// SimpleTest, TwoStage, Log4j, Bakery, Dekker, Lamport, Peterson, Pipeline, Readerswriters, TestArray.
    pub fn is_better(&self) -> bool {
        [2, 3, 8, 9, 11, 14, 15, 16, 17, 18, 20, 21, 22, 23, 24, 25, 27].contains(&self.subject)
    }
}

impl Subject {
    /// Builds the program.
    pub fn build(&self, folder: &Path) -> Result<Program> {
        let source = home().join(&self.name).join(&self.source);
        let mut program = resolve(&source, &[], folder)?;
        program.args.clone_from(&self.args);
        Ok(program)
    }
}

fn home() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../subjects/ars")
}

/// The subjects of the table in its order, or those that are named.
pub fn of_the_table(names: &[String]) -> Result<Vec<Subject>> {
    let mut subjects = Vec::new();
    for entry in std::fs::read_dir(home())? {
        let text = std::fs::read_to_string(entry?.path().join("subject.toml"))?;
        // Some subjects come from the same collection and are not in the table.
        if !text.parse::<toml::Table>()?.contains_key("paper") {
            continue;
        }
        let subject: Subject = toml::from_str(&text)?;
        if (1..=PROGRAMS).contains(&subject.paper.subject) {
            subjects.push(subject);
        }
    }
    subjects.sort_by_key(|subject| subject.paper.subject);
    if let Some(name) = names.iter().find(|name| subjects.iter().all(|subject| subject.name != **name)) {
        return Err(format!("`{name}` is not in the table; subjects/ars has the names").into());
    }
    subjects.retain(|subject| names.is_empty() || names.contains(&subject.name));
    Ok(subjects)
}
