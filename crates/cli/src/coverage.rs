//! What was covered, in words and as JSON.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use threadbare_analysis::coverage::{Pair, PairSets, Total};
use threadbare_explore::{CoveragePoint, Covered};
use threadbare_report::{Coverage, CoverageReport, CoverageStep, EstimationReport, JsonReport, Uncovered};
use threadbare_target::{Modules, Site, Symbols};

use crate::coverage_args::CoverageArgs;
use crate::names::place_of;

/// Criteria whose uncovered pairs are worth trying: of others there are many that nothing can show.
const LISTED: [&str; 3] = ["sp", "sp-refined", "def-use"];

/// How many of them a page lists.
const MOST_KEPT: usize = 200;

/// What a campaign covered, with the names of places where these are wanted.
pub struct Account<'a> {
    coverage: &'a [Covered],
    symbols: Option<Symbols>,
}

impl<'a> Account<'a> {
    /// With what the user wants to see of it.
    pub fn of(coverage: &'a [Covered], args: &CoverageArgs, modules: &Modules) -> Account<'a> {
        Account { coverage, symbols: args.uncovered.then(|| Symbols::new(modules)) }
    }

    /// With the names of places, whether or not the user wants to see them now.
    pub fn with_places(coverage: &'a [Covered], modules: &Modules) -> Account<'a> {
        Account { coverage, symbols: Some(Symbols::new(modules)) }
    }

    /// The pairs that are left, for a page.
    pub fn uncovered_places(&self) -> Vec<Uncovered> {
        let listed = |it: &Covered| {
            let pairs = self.uncovered(it)?;
            Some(Uncovered {
                criterion: it.name.to_string(),
                left_out: pairs.len().saturating_sub(MOST_KEPT),
                pairs: pairs.into_iter().take(MOST_KEPT).map(|pair| pair.map(|it| place_of(&it))).collect(),
            })
        };
        self.coverage.iter().filter_map(listed).collect()
    }

    /// In numbers only.
    pub fn plain(coverage: &'a [Covered]) -> Account<'a> {
        Account { coverage, symbols: None }
    }

    /// The part of the JSON object.
    pub fn json(&self) -> Coverage {
        let mut others = self.by_name();
        Coverage { sp: others.remove("sp"), map: others.remove("map"), others, ..Coverage::default() }
    }

    /// What was covered, by criterion.
    pub fn by_name(&self) -> BTreeMap<&'static str, CoverageReport> {
        self.coverage.iter().map(|it| (it.name, self.one(it))).collect()
    }

    fn one(&self, it: &Covered) -> CoverageReport {
        let step = |point: &CoveragePoint| CoverageStep {
            executions: point.executions,
            elapsed_s: JsonReport::seconds(point.elapsed),
            covered: point.covered,
        };
        let (estimated, required) = match it.total {
            Total::Estimated(number) => (Some(number), None),
            Total::Required(number) => (None, Some(number)),
        };
        let estimation = |pairs: &PairSets| EstimationReport {
            estimated: pairs.estimated.len() as u64,
            uncovered: pairs.uncovered().count() as u64,
            unexpected: pairs.unexpected().count() as u64,
        };
        CoverageReport {
            covered: it.covered,
            estimated,
            required,
            history: it.history.iter().map(step).collect(),
            saturation: it.saturation.as_ref().map(step),
            estimation: it.pairs.as_ref().filter(|_| required.is_some()).map(estimation),
            uncovered: self
                .uncovered(it)
                .map(|pairs| pairs.into_iter().map(|pair| pair.map(place)).collect()),
        }
    }

    /// A sentence for each criterion, each on its own line, and what was not covered.
    pub fn words(&self) -> String {
        let mut text = String::new();
        for it in self.coverage {
            let last = it.history.last().map_or(0, |point| point.executions);
            let (total, word) = (it.total.number(), it.total.word());
            let Covered { name, unit, covered, .. } = it;
            let _ = write!(
                text,
                "Coverage ({name}): {covered} {unit} of {total} {word}; the last new one in execution {last}"
            );
            match &it.saturation {
                Some(CoveragePoint { executions, covered, .. }) => {
                    let _ = writeln!(text, "; saturated after {executions} executions, at {covered}.");
                }
                None => text.push_str(".\n"),
            }
            let Some(uncovered) = self.uncovered(it).filter(|pairs| !pairs.is_empty()) else { continue };
            let _ = writeln!(text, "Not covered ({name}), or not possible:");
            for [first, second] in &uncovered {
                let _ = writeln!(text, "   {}  then  {}", shown(first), shown(second));
            }
        }
        text
    }

    /// The pairs that are left, in the order of the source; none where nobody asked for them.
    fn uncovered(&self, it: &Covered) -> Option<Vec<[Site; 2]>> {
        let symbols = self.symbols.as_ref().filter(|_| LISTED.contains(&it.name))?;
        let site = |place: u64| (*symbols.own_frame(place).unwrap_or_else(|| symbols.site(place))).clone();
        let sites = |pair: Pair| [site(pair.first), site(pair.second)];
        let mut uncovered: Vec<[Site; 2]> = it.pairs.as_ref()?.uncovered().map(sites).collect();
        uncovered.sort_by_cached_key(|pair| pair.each_ref().map(|it| (it.file.clone(), it.line, it.column)));
        Some(uncovered)
    }
}

fn place(site: Site) -> String {
    site.to_string()
}

/// `list.h:40 (add)`.
fn shown(site: &Site) -> String {
    match &site.function {
        Some(function) if site.line.is_some() => format!("{site} ({function})"),
        _ => site.to_string(),
    }
}
