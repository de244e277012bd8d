//! What executions have not covered, with the names of its places.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fmt::Write as _;

use threadbare_analysis::coverage::{Pair, UncoveredPattern};
use threadbare_analysis::patterns::{Manner, Pattern, Role};
use threadbare_explore::Covered;
use threadbare_report::{PatternCard, Place, Requirement, Uncovered};
use threadbare_target::{Part, Site, Symbols};

use crate::names::place_of;

/// Criteria whose uncovered pairs are worth trying: of others there are many that nothing can show.
const LISTED: [&str; 3] = ["sp", "sp-refined", "def-use"];

/// How much of it a page lists, and how many patterns a terminal is given.
const MOST_KEPT: usize = 200;

/// What is left to be covered by one criterion.
pub enum Left {
    /// Pairs of places, in the order of the source.
    Pairs(Vec<[Site; 2]>),
    /// Memory-access patterns of one variable, the longer ones first.
    Patterns(Vec<NamedPattern>),
}

/// A memory-access pattern with the names of its places and its variable.
pub struct NamedPattern {
    pattern: Pattern,
    object: Option<String>,
    sites: Vec<Site>,
}

impl Left {
    /// What a campaign has left; none if the criterion has no list.
    pub fn of(covered: &Covered, symbols: &Symbols) -> Option<Left> {
        let site = |place: u64| (*symbols.own_frame(place).unwrap_or_else(|| symbols.site(place))).clone();
        if let Some(patterns) = &covered.patterns {
            return Some(Left::Patterns(named(patterns, symbols, site)));
        }
        let pairs = covered.pairs.as_ref().filter(|_| LISTED.contains(&covered.name))?;
        let sites = |pair: Pair| [site(pair.first), site(pair.second)];
        let mut uncovered: Vec<[Site; 2]> = pairs.uncovered().map(sites).collect();
        uncovered.sort_by_cached_key(|pair| pair.each_ref().map(by_source));
        Some(Left::Pairs(uncovered))
    }

    /// The part of the JSON object.
    pub fn requirements(self) -> Vec<Requirement> {
        let text = |site: Site| site.to_string();
        match self {
            Left::Pairs(pairs) => pairs.into_iter().map(|pair| Requirement::Pair(pair.map(text))).collect(),
            Left::Patterns(patterns) => {
                let requirement = |it: NamedPattern| Requirement::Pattern {
                    pattern: it.pattern.id,
                    object: it.object,
                    sites: it.sites.into_iter().map(text).collect(),
                };
                patterns.into_iter().map(requirement).collect()
            }
        }
    }

    /// In words, a line for each; nothing if nothing is left.
    pub fn words(&self, criterion: &str) -> String {
        let mut text = String::new();
        // Writing to a text does not fail.
        match self {
            Left::Pairs(pairs) if !pairs.is_empty() => {
                let _ = writeln!(text, "Not covered ({criterion}), or not possible:");
                for [first, second] in pairs {
                    let _ = writeln!(text, "   {}  then  {}", shown(first), shown(second));
                }
            }
            Left::Patterns(patterns) if !patterns.is_empty() => {
                let _ = writeln!(
                    text,
                    "Not covered ({criterion}), or not possible; those of one variable that accesses seen so far could make:"
                );
                patterns.iter().take(MOST_KEPT).for_each(|it| text.push_str(&it.words()));
                if let Some(more) = patterns.len().checked_sub(MOST_KEPT + 1) {
                    let _ = writeln!(text, "   and at least {} more; --json lists them", more + 1);
                }
            }
            _ => {}
        }
        text
    }

    /// For a page.
    pub fn card(self, criterion: &str) -> Uncovered {
        let mut card = Uncovered { criterion: criterion.to_string(), ..Uncovered::default() };
        match self {
            Left::Pairs(pairs) => {
                card.left_out = pairs.len().saturating_sub(MOST_KEPT);
                let kept = pairs.into_iter().take(MOST_KEPT);
                card.pairs = kept.map(|pair| pair.map(|it| place_of(&it))).collect();
            }
            Left::Patterns(patterns) => {
                card.left_out = patterns.len().saturating_sub(MOST_KEPT);
                for it in patterns.into_iter().take(MOST_KEPT) {
                    let places = it.sites.iter().map(|site| number(&mut card.places, place_of(site)));
                    let places = places.collect();
                    let deeds = it.deeds().map(|(who, deed)| format!("{who} {deed}")).collect();
                    let (pattern, object) = (it.pattern.id, it.object);
                    card.patterns.push(PatternCard { pattern, object, deeds, places });
                }
            }
        }
        card
    }
}

impl NamedPattern {
    /// Who does what in each step.
    fn deeds(&self) -> impl Iterator<Item = (char, &'static str)> {
        self.pattern.steps.iter().map(|(role, manner, _)| {
            let who = if *role == Role::A { 'a' } else { 'b' };
            (who, if *manner == Manner::Writes { "writes" } else { "reads" })
        })
    }

    fn words(&self) -> String {
        let step = |((who, deed), site): ((char, &str), &Site)| format!("{who} {deed} at {}", shown(site));
        let steps: Vec<String> = self.deeds().zip(&self.sites).map(step).collect();
        let object = self.object.as_ref().map_or_else(String::new, |object| format!("{object}: "));
        format!("   {object}{}\n", steps.join(", "))
    }
}

/// The patterns by their names, each once: instructions of one line look the same.
fn named(patterns: &[UncoveredPattern], symbols: &Symbols, site: impl Fn(u64) -> Site) -> Vec<NamedPattern> {
    let mut known = BTreeSet::new();
    let mut all = Vec::new();
    for it in patterns {
        let Some(pattern) = Pattern::with_id(it.pattern) else { continue };
        let sites: Vec<Site> = it.places.iter().map(|place| site(*place)).collect();
        let object = symbols.data(it.address, Part::Innermost).map(|name| name.to_string());
        let labels: Vec<String> = sites.iter().map(shown).collect();
        if known.insert((pattern.id, object.clone(), labels)) {
            all.push(NamedPattern { pattern, object, sites });
        }
    }
    all.sort_by_cached_key(|it| {
        let places: Vec<_> = it.sites.iter().map(by_source).collect();
        (Reverse(it.sites.len()), it.object.clone(), places, it.pattern.id)
    });
    all
}

fn number(places: &mut Vec<Place>, place: Place) -> usize {
    places.iter().position(|it| *it == place).unwrap_or_else(|| {
        places.push(place);
        places.len() - 1
    })
}

fn by_source(site: &Site) -> (Option<String>, Option<u32>, Option<u32>) {
    (site.file.clone(), site.line, site.column)
}

/// `list.h:40 (add)`.
fn shown(site: &Site) -> String {
    match &site.function {
        Some(function) if site.line.is_some() => format!("{site} ({function})"),
        _ => site.to_string(),
    }
}
