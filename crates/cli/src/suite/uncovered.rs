//! Pairs of functions that no input of a suite shows at the same time: what another input could show.

use std::fmt::Write as _;

use threadbare_coverage::cfp::{FunctionAddress, uncovered};
use threadbare_diagnose::place_of;
use threadbare_report::{Requirement, Uncovered};
use threadbare_target::{Modules, Site, Symbols};

use super::Results;
use super::work::Suite;
use crate::uncovered::MOST_KEPT;

/// The pairs, each function with its place, in the order of the source.
pub struct UncoveredPairs(Vec<[Site; 2]>);

/// The function in which every program begins; no second thread runs it.
const FIRST: &str = "main";

impl UncoveredPairs {
    /// Those of a suite.
    pub fn of(suite: &Suite, results: &Results) -> UncoveredPairs {
        let executable =
            suite.programs.first().map(|it| Modules::of_file(&it.executable)).unwrap_or_default();
        let symbols = Symbols::new(&executable);
        // Places are asked for by the address after theirs.
        let site = |function: FunctionAddress| (*symbols.site(function + 1)).clone();
        let pairs = uncovered(&results.aggregated()).into_iter().map(|pair| pair.functions().map(site));
        let is_first = |site: &Site| site.function.as_deref() == Some(FIRST);
        let mut pairs: Vec<[Site; 2]> = pairs.filter(|pair| !pair.iter().all(is_first)).collect();
        for pair in &mut pairs {
            pair.sort_by_key(by_source);
        }
        pairs.sort_by_cached_key(|pair| pair.each_ref().map(by_source));
        UncoveredPairs(pairs)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The part of the JSON object.
    pub fn requirements(&self) -> Vec<Requirement> {
        let requirement = |pair: &[Site; 2]| Requirement::Functions {
            functions: pair.each_ref().map(name),
            sites: pair.each_ref().map(Site::to_string),
        };
        self.0.iter().map(requirement).collect()
    }

    /// A line for each.
    pub fn lines(&self) -> String {
        let mut text = String::new();
        if !self.0.is_empty() {
            text.push_str("Not shown at the same time by any input (cfp), or not possible:\n");
        }
        for [one, other] in &self.0 {
            // Writing to a text does not fail.
            let _ = writeln!(text, "   {} ({one})  with  {} ({other})", name(one), name(other));
        }
        text
    }

    /// For a page.
    pub fn card(&self) -> Uncovered {
        Uncovered {
            criterion: "cfp".to_string(),
            pairs: self.0.iter().take(MOST_KEPT).map(|pair| pair.each_ref().map(place_of)).collect(),
            left_out: self.0.len().saturating_sub(MOST_KEPT),
            ..Uncovered::default()
        }
    }
}

fn name(site: &Site) -> String {
    site.function.clone().unwrap_or_else(|| site.to_string())
}

fn by_source(site: &Site) -> (Option<String>, Option<u32>, Option<String>) {
    (site.file.clone(), site.line, site.function.clone())
}
