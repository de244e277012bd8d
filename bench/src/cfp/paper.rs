//! What `paper.toml` says of a subject: the paper's figures for the program it stands for, and what makes it fail.

use std::path::Path;

use serde::Deserialize;

use crate::Result;

/// The file.
#[derive(Deserialize)]
pub struct Paper {
    /// The paper's figures.
    #[serde(rename = "paper")]
    pub figures: Figures,
    /// What makes the program fail, from reading it.
    #[serde(default)]
    pub failing: Vec<Failing>,
}

/// The paper's figures for one program.
#[derive(Deserialize)]
pub struct Figures {
    /// Table 2.
    pub full: Reports,
    /// Tables 3, 6, 7 and 12.
    pub races: KindFigures,
    /// Tables 4, 6, 7 and 12.
    pub atomicity: KindFigures,
    /// Table 5.
    pub selection: Selection,
    /// Table 10.
    pub optimization: Optimization,
    /// Table 11.
    pub size: Size,
}

/// Table 2.
#[derive(Deserialize)]
pub struct Reports {
    /// Races.
    pub races: Count,
    /// Atomicity violations.
    pub atomicity: Count,
    /// Races that make the program fail.
    pub failing_races: Count,
    /// Atomicity violations that do.
    pub failing_atomicity: Count,
}

/// Reports under all inputs.
#[derive(Deserialize)]
pub struct Count {
    /// All of them.
    pub total: u32,
    /// The different ones.
    pub unique: u32,
}

/// One kind of findings.
#[derive(Deserialize)]
pub struct KindFigures {
    /// How many times faster guided detection is.
    pub speedup: f64,
    /// The same without selecting functions.
    pub speedup_inputs_only: f64,
    /// Findings that it misses.
    pub missed: u32,
    /// The share of the trace that it saves.
    pub trace_reduction_percent: f64,
    /// Inputs that report a finding.
    pub duplication: Two<f64>,
    /// Step 3 as a multiple of the base.
    pub step_3: f64,
    /// Full detection as a multiple of the base.
    pub full: f64,
}

/// A figure of full and of guided detection.
#[derive(Deserialize)]
pub struct Two<T> {
    /// All functions under all inputs.
    pub full: T,
    /// Those selected.
    pub cfp: T,
}

/// What is looked at.
#[derive(Deserialize)]
pub struct Selection {
    /// Inputs.
    pub inputs: Two<u32>,
    /// Functions, summed over inputs.
    pub functions: Two<u32>,
}

/// The optimizations of step 1.
#[derive(Deserialize)]
pub struct Optimization {
    /// Multiples of the base.
    pub step_1: Ways,
}

/// With no optimization, with either, and with both.
#[derive(Deserialize)]
pub struct Ways {
    none: f64,
    first: f64,
    second: f64,
    both: f64,
}

impl Ways {
    /// In the order of the table.
    pub fn all(&self) -> [f64; 4] {
        [self.none, self.first, self.second, self.both]
    }
}

/// Sizes.
#[derive(Deserialize)]
pub struct Size {
    /// Functions.
    pub functions: u32,
    /// Those that ran.
    pub executed: u32,
    /// Pairs of them.
    pub pairs: u32,
}

/// Accesses that make a program fail, as lines of its source.
#[derive(Deserialize)]
pub struct Failing {
    kind: String,
    sites: Vec<String>,
}

impl Paper {
    /// Reads the file of a subject.
    pub fn read(folder: &Path) -> Result<Paper> {
        Ok(toml::from_str(&std::fs::read_to_string(folder.join("paper.toml"))?)?)
    }

    /// Whether a finding of this kind at these lines makes the program fail. Of two that race, either can come first.
    pub fn fails(&self, kind: &str, sites: &[String]) -> bool {
        self.failing.iter().any(|it| {
            let same_way = it.sites == sites;
            let turned = kind == "race" && it.sites.iter().rev().eq(sites);
            it.kind == kind && (same_way || turned)
        })
    }
}
