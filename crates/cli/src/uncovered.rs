//! What executions have not covered, with the names of its places.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fmt::Write as _;

use threadbare_coverage::{PlacePair, UncoveredPattern, UncoveredPatterns};
use threadbare_diagnose::place_of;
use threadbare_explore::Covered;
use threadbare_patterns::{AccessType, Pattern, PatternRole, PatternStep, Variable};
use threadbare_report::{PatternCard, Requirement, SourcePlace, Uncovered};
use threadbare_target::{Part, Site, Symbols};

/// Criteria whose uncovered pairs are worth trying: of others there are many that nothing can show.
const LISTED: [&str; 3] = ["sp", "sp-refined", "def-use"];

/// How much of it a page lists, and how many patterns a terminal is given; those of one and of two variables by themselves.
pub const MOST_KEPT: usize = 200;

/// What is left to be covered by one criterion.
pub enum Left {
    /// Pairs of places, in the order of the source.
    Pairs(Vec<[Site; 2]>),
    /// Memory-access patterns of one variable, and of two, the longer ones first.
    Patterns([NamedPatterns; 2]),
}

/// Patterns of as many variables.
pub struct NamedPatterns {
    patterns: Vec<NamedPattern>,
    /// There are more, or may be.
    has_more: bool,
}

/// A memory-access pattern with the names of its places and its variables.
pub struct NamedPattern {
    pattern: Pattern,
    /// One or two.
    objects: Vec<Option<String>>,
    sites: Vec<Site>,
}

impl Left {
    /// What a campaign has left; none if the criterion has no list.
    pub fn of(covered: &Covered, symbols: &Symbols) -> Option<Left> {
        let site = |place: u64| (*symbols.own_frame(place).unwrap_or_else(|| symbols.site(place))).clone();
        if let Some(UncoveredPatterns { patterns, more_of_one, more_of_two }) = &covered.patterns {
            let (one, two) = patterns.iter().partition::<Vec<_>, _>(|it| it.addresses.len() == 1);
            return Some(Left::Patterns([(one, more_of_one), (two, more_of_two)].map(|(patterns, more)| {
                NamedPatterns { patterns: named(&patterns, symbols, site), has_more: *more }
            })));
        }
        let pairs = covered.pairs.as_ref().filter(|_| LISTED.contains(&covered.name))?;
        let sites = |pair: PlacePair| [site(pair.first), site(pair.second)];
        let mut uncovered: Vec<[Site; 2]> = pairs.uncovered().map(sites).collect();
        uncovered.sort_by_cached_key(|pair| pair.each_ref().map(by_source));
        Some(Left::Pairs(uncovered))
    }

    /// Whether there may be more than is listed.
    pub fn is_cut(&self) -> bool {
        match self {
            Left::Pairs(_) => false,
            Left::Patterns(patterns) => patterns.iter().any(|it| it.has_more),
        }
    }

    /// The part of the JSON object.
    pub fn requirements(self) -> Vec<Requirement> {
        let text = |site: Site| site.to_string();
        match self {
            Left::Pairs(pairs) => pairs.into_iter().map(|pair| Requirement::Pair(pair.map(text))).collect(),
            Left::Patterns(patterns) => {
                let requirement = |it: NamedPattern| Requirement::Pattern {
                    pattern: it.pattern.id,
                    object: it.objects.first().cloned().flatten(),
                    objects: if it.objects.len() > 1 { it.objects } else { Vec::new() },
                    sites: it.sites.into_iter().map(text).collect(),
                };
                patterns.into_iter().flat_map(|it| it.patterns).map(requirement).collect()
            }
        }
    }

    /// A line for each; nothing if nothing is left.
    pub fn lines(&self, criterion: &str) -> String {
        let mut text = String::new();
        // Writing to a text does not fail.
        match self {
            Left::Pairs(pairs) if !pairs.is_empty() => {
                let _ = writeln!(text, "Not covered ({criterion}), or not possible:");
                for [first, second] in pairs {
                    let _ = writeln!(text, "   {}  then  {}", shown(first), shown(second));
                }
            }
            Left::Patterns(patterns) => {
                for (patterns, number) in patterns.iter().zip(["one variable", "two variables"]) {
                    text.push_str(&patterns.lines(criterion, number));
                }
            }
            Left::Pairs(_) => {}
        }
        text
    }

    /// For a page.
    pub fn card(self, criterion: &str) -> Uncovered {
        let is_cut = self.is_cut();
        let mut card = Uncovered { criterion: criterion.to_string(), is_cut, ..Uncovered::default() };
        match self {
            Left::Pairs(pairs) => {
                card.left_out = pairs.len().saturating_sub(MOST_KEPT);
                let kept = pairs.into_iter().take(MOST_KEPT);
                card.pairs = kept.map(|pair| pair.map(|it| place_of(&it))).collect();
            }
            Left::Patterns(patterns) => {
                for NamedPatterns { patterns, .. } in patterns {
                    card.left_out += patterns.len().saturating_sub(MOST_KEPT);
                    for it in patterns.into_iter().take(MOST_KEPT) {
                        let places = it.sites.iter().map(|site| number(&mut card.places, place_of(site)));
                        let places = places.collect();
                        let variables = (0..it.objects.len()).map(|which| it.variable(which).to_string());
                        let (pattern, variables) = (it.pattern.id, variables.collect());
                        card.patterns.push(PatternCard {
                            pattern,
                            variables,
                            operations: it.operations(),
                            places,
                        });
                    }
                }
            }
        }
        card
    }
}

impl NamedPatterns {
    fn lines(&self, criterion: &str, variables: &str) -> String {
        let mut text = String::new();
        if self.patterns.is_empty() && !self.has_more {
            return text;
        }
        let _ = writeln!(
            text,
            "Not covered ({criterion}), or not possible; what accesses seen so far could make of {variables}:"
        );
        self.patterns.iter().take(MOST_KEPT).for_each(|it| text.push_str(&it.line()));
        let more = self.patterns.len().saturating_sub(MOST_KEPT);
        let _ = match (more, self.has_more) {
            (0, false) => Ok(()),
            (0, true) => writeln!(text, "   and maybe more: not all were examined"),
            (more, false) => writeln!(text, "   and {more} more; --json lists them"),
            (more, true) => writeln!(text, "   and at least {more} more; --json lists them"),
        };
        text
    }
}

impl NamedPattern {
    /// What a variable is called.
    fn variable(&self, which: usize) -> &str {
        let name = self.objects.get(which).and_then(Option::as_deref);
        name.unwrap_or(if which == 0 { "without a name" } else { "another without a name" })
    }

    /// Which thread does what in each step; where there are two variables, to which.
    fn operations(&self) -> Vec<String> {
        let operation = |(role, manner, variable): &PatternStep| {
            let who = if *role == PatternRole::A { 'a' } else { 'b' };
            let what = if *manner == AccessType::Writes { "writes" } else { "reads" };
            match self.objects.len() {
                1 => format!("{who} {what}"),
                _ => format!("{who} {what} {}", self.variable(usize::from(*variable == Variable::Y))),
            }
        };
        self.pattern.steps.iter().map(operation).collect()
    }

    fn line(&self) -> String {
        let step = |(operation, site): (String, &Site)| format!("{operation} at {}", shown(site));
        let steps: Vec<String> = self.operations().into_iter().zip(&self.sites).map(step).collect();
        let object = match &self.objects[..] {
            [Some(object)] => format!("{object}: "),
            _ => String::new(),
        };
        format!("   {object}{}\n", steps.join(", "))
    }
}

/// The patterns by their names, each once: instructions of one line look the same.
fn named(patterns: &[&UncoveredPattern], symbols: &Symbols, site: impl Fn(u64) -> Site) -> Vec<NamedPattern> {
    let mut known = BTreeSet::new();
    let mut all = Vec::new();
    for it in patterns {
        let Some(pattern) = Pattern::with_id(it.pattern) else { continue };
        let sites: Vec<Site> = it.places.iter().map(|place| site(*place)).collect();
        let name = |address: &u64| symbols.data(*address, Part::Innermost).map(|name| name.to_string());
        let objects: Vec<Option<String>> = it.addresses.iter().map(name).collect();
        let labels: Vec<String> = sites.iter().map(shown).collect();
        if known.insert((pattern.id, objects.clone(), labels)) {
            all.push(NamedPattern { pattern, objects, sites });
        }
    }
    all.sort_by_cached_key(|it| {
        let places: Vec<_> = it.sites.iter().map(by_source).collect();
        (Reverse(it.sites.len()), it.objects.clone(), places, it.pattern.id)
    });
    all
}

fn number(places: &mut Vec<SourcePlace>, place: SourcePlace) -> usize {
    places.iter().position(|it| *it == place).unwrap_or_else(|| {
        places.push(place);
        places.len() - 1
    })
}

fn by_source(site: &Site) -> (Option<String>, Option<u32>, Option<u32>) {
    (site.file.clone(), site.line, site.column)
}

/// `list.h:40 (add)`.
pub fn shown(site: &Site) -> String {
    match &site.function {
        Some(function) if site.line.is_some() => format!("{site} ({function})"),
        _ => site.to_string(),
    }
}
