//! The classes of the PCR paper's Table 3, as `subjects/pcr` has them.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use threadbare_target::{Program, resolve};

use crate::Result;

/// One class.
#[derive(Deserialize)]
pub struct Class {
    /// Its name here.
    pub name: String,
    source: PathBuf,
    /// Its rows in the paper.
    pub paper: Paper,
}

/// What the paper says of a class.
#[derive(Deserialize)]
pub struct Paper {
    /// Its number there, such as `V1`.
    pub subject: String,
    /// Of PCR.
    pub pcr: Figures,
    /// Of MAPTest.
    pub maptest: Figures,
    /// Of MCR.
    pub mcr: Figures,
}

/// Means of the paper's ten runs.
#[derive(Deserialize)]
pub struct Figures {
    /// Schedules to the first failure.
    pub schedules: f64,
    /// Constraints that were solved on the way.
    pub constraints: Option<f64>,
    /// Failing traces within ten seconds.
    pub bugs: Option<f64>,
    /// The share of runs that showed the pattern that they aimed at.
    pub intended: Option<f64>,
}

impl Class {
    /// Builds the program.
    pub fn build(&self, folder: &Path) -> Result<Program> {
        Ok(resolve(&home().join(&self.name).join(&self.source), &[], folder)?)
    }

    fn number(&self) -> u32 {
        self.paper.subject.trim_start_matches('V').parse().unwrap_or(u32::MAX)
    }
}

fn home() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../subjects/pcr")
}

/// The classes in the order of the paper, or those that are named.
pub fn all(names: &[String]) -> Result<Vec<Class>> {
    let mut classes = Vec::new();
    for entry in std::fs::read_dir(home())? {
        let text = std::fs::read_to_string(entry?.path().join("subject.toml"))?;
        classes.push(toml::from_str::<Class>(&text)?);
    }
    classes.sort_by_key(Class::number);
    if let Some(name) = names.iter().find(|name| classes.iter().all(|class| class.name != **name)) {
        return Err(format!("there is no class `{name}`; subjects/pcr has the names").into());
    }
    classes.retain(|class| names.is_empty() || names.contains(&class.name));
    Ok(classes)
}
