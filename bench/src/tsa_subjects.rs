//! The programs of the paper on synchronization pairs (its Table 1), as `subjects/tsa` has them, with its results.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use threadbare_target::{Program, resolve};

use crate::Result;

/// The programs in the order of the paper's tables.
const ORDER: [&str; 13] = [
    "ArrayList1",
    "ArrayList2",
    "HashSet1",
    "HashSet2",
    "HashTable1",
    "HashTable2",
    "LinkedList1",
    "LinkedList2",
    "TreeSet1",
    "TreeSet2",
    "cache4j",
    "pool",
    "VFS2",
];

/// One program.
#[derive(Deserialize)]
pub struct Subject {
    /// Its name here.
    pub name: String,
    source: PathBuf,
    /// Its rows in the paper.
    pub paper: Paper,
}

/// What the paper says of a program.
#[derive(Deserialize)]
pub struct Paper {
    subject: String,
    /// Table 2.
    pub covered: CoveredTable,
    /// Tables 3 and 5.
    pub saturation: SaturationTable,
    /// Table 4.
    pub estimation: Estimation,
}

/// Requirements covered after 500 executions.
#[derive(Deserialize)]
pub struct CoveredTable {
    rnd_y: Option<Spread>,
    rnd_s10: Option<Spread>,
    rnd_s100: Option<Spread>,
    /// By TSA.
    pub tsa: f64,
}

/// A random technique with its five probabilities.
#[derive(Deserialize, Clone, Copy)]
pub struct Spread {
    /// The mean of all.
    pub avg: f64,
    /// The worst.
    pub min: f64,
    /// The best.
    pub max: f64,
}

/// Where coverage was saturated.
#[derive(Deserialize)]
pub struct SaturationTable {
    rnd_y: Option<Point>,
    rnd_s10: Option<Point>,
    rnd_s100: Option<Point>,
    /// Of TSA without Rule 3.
    pub tsa_h: Option<Point>,
    /// Of TSA.
    pub tsa: Point,
    /// The share of decisions that Rule 3 made.
    pub rule_3: f64,
}

/// A point where coverage was saturated.
#[derive(Deserialize, Clone, Copy)]
pub struct Point {
    /// Requirements covered.
    pub covered: f64,
    /// Time until then.
    pub seconds: f64,
}

/// How good the estimate was.
#[derive(Deserialize)]
pub struct Estimation {
    /// Requirements estimated.
    pub estimated: u64,
    /// Requirements covered.
    pub covered: u64,
    /// Estimated, not covered.
    pub false_positives: u64,
    /// Covered, not estimated.
    pub false_negatives: u64,
}

impl CoveredTable {
    /// Of the random technique at this place: yields, 10 ms, 100 ms.
    pub fn random(&self, place: usize) -> Option<Spread> {
        [self.rnd_y, self.rnd_s10, self.rnd_s100][place]
    }
}

impl SaturationTable {
    /// The same.
    pub fn random(&self, place: usize) -> Option<Point> {
        [self.rnd_y, self.rnd_s10, self.rnd_s100][place]
    }
}

impl Subject {
    /// Builds the program.
    pub fn build(&self, folder: &Path) -> Result<Program> {
        Ok(resolve(&home().join(&self.name).join(&self.source), &[], folder)?)
    }

    /// Its name in the paper.
    pub fn title(&self) -> &str {
        &self.paper.subject
    }

    /// Whether it is one of the containers whose test has one call a thread, or no branch that other threads decide:
    /// those whose pairs can be estimated well.
    pub fn is_simple(&self) -> bool {
        !["HashTable2", "cache4j", "pool", "VFS2"].contains(&self.title())
    }
}

fn home() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../subjects/tsa")
}

/// The programs in the order of the paper, or those that are named.
pub fn all(names: &[String]) -> Result<Vec<Subject>> {
    let mut subjects = Vec::new();
    for entry in std::fs::read_dir(home())? {
        let path = entry?.path().join("subject.toml");
        // One folder holds what the others include.
        if path.exists() {
            subjects.push(toml::from_str::<Subject>(&std::fs::read_to_string(path)?)?);
        }
    }
    subjects.sort_by_key(|it| ORDER.iter().position(|title| *title == it.title()));
    if let Some(name) = names.iter().find(|name| subjects.iter().all(|it| it.name != **name)) {
        return Err(format!("there is no subject `{name}`; subjects/tsa has the names").into());
    }
    subjects.retain(|it| names.is_empty() || names.contains(&it.name));
    Ok(subjects)
}
