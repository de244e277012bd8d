//! The questions that a verification has not asked, with the names of their places.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use threadbare_diagnose::place_of;
use threadbare_explore::{OpenKind, OpenQuestion};
use threadbare_report::{QuestionCard, Requirement, Uncovered};
use threadbare_target::{Site, Symbols};

use crate::uncovered::{MOST_KEPT, shown};

/// Questions of one kind about the same lines.
struct Named {
    question: &'static str,
    sites: Vec<Site>,
    count: u64,
}

/// The questions, those first of which there are the most.
pub struct OpenQuestions(Vec<Named>);

impl OpenQuestions {
    /// Those of a verification; what is about the same lines is one.
    pub fn of(open: &[OpenQuestion], symbols: &Symbols) -> OpenQuestions {
        let site = |place: &u64| (*symbols.own_frame(*place).unwrap_or_else(|| symbols.site(*place))).clone();
        let mut all: Vec<Named> = Vec::new();
        let mut known: BTreeMap<(OpenKind, Vec<String>), usize> = BTreeMap::new();
        for it in open {
            let sites: Vec<Site> = it.places.iter().map(site).collect();
            let place = *known.entry((it.kind, sites.iter().map(shown).collect())).or_insert(all.len());
            if place == all.len() {
                all.push(Named { question: phrase(it.kind), sites, count: 0 });
            }
            all[place].count += it.count;
        }
        all.sort_by_key(|it| std::cmp::Reverse(it.count));
        OpenQuestions(all)
    }

    /// The part of the JSON object.
    pub fn requirements(&self) -> Vec<Requirement> {
        let requirement = |it: &Named| Requirement::Questions {
            question: it.question,
            sites: it.sites.iter().map(Site::to_string).collect(),
            count: it.count,
        };
        self.0.iter().map(requirement).collect()
    }

    /// A line for each; nothing if nothing is left.
    pub fn lines(&self) -> String {
        let mut text = String::new();
        if !self.0.is_empty() {
            text.push_str("Not asked yet (groups); each may lead to another group, or be impossible:\n");
        }
        for Named { question, sites, count } in &self.0 {
            let sites: Vec<String> = sites.iter().map(shown).collect();
            // Writing to a text does not fail.
            let _ = writeln!(
                text,
                "   {count} × {question}{}{}",
                if sites.is_empty() { "" } else { ": " },
                sites.join(", ")
            );
        }
        text
    }

    /// For a page.
    pub fn card(&self) -> Uncovered {
        let question = |it: &Named| QuestionCard {
            question: it.question.to_string(),
            places: it.sites.iter().map(place_of).collect(),
            count: it.count,
        };
        Uncovered {
            criterion: "groups".to_string(),
            questions: self.0.iter().take(MOST_KEPT).map(question).collect(),
            left_out: self.0.len().saturating_sub(MOST_KEPT),
            ..Uncovered::default()
        }
    }
}

fn phrase(kind: OpenKind) -> &'static str {
    match kind {
        OpenKind::SeesAnother => "a read sees another value",
        OpenKind::Race => "two accesses race",
        OpenKind::Lifetime => "something is used before it is initialised, or after it is freed or destroyed",
        OpenKind::Continues => "a thread continues from here",
        OpenKind::Deadlock => "no thread is runnable",
    }
}
