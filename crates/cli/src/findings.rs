//! Findings as they are told: once each, the most important ones first.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use threadbare_report::{FindingCard, FindingReport, FindingText, Level, Rule, SarifResult};

use crate::{artifacts, output};

/// Findings on one object that a person is shown unless all are asked for.
const SHOWN_OF_AN_OBJECT: usize = 3;

/// One finding as it is told.
pub struct ReportedFinding {
    /// Its words.
    pub text: FindingText,
    /// The schedule of a run that shows it.
    pub schedule: Option<PathBuf>,
    /// The program failed when it happened.
    pub fails: bool,
    /// It is what tells failing executions from passing ones.
    pub is_cause: bool,
    /// How often it was met.
    pub count: u64,
    /// The heading of the finding without which this one would not be.
    pub follows_from: Option<String>,
    /// The inputs of a suite that show it.
    pub inputs: Vec<String>,
}

/// All findings that are told.
#[derive(Default)]
pub struct Findings {
    all: Vec<ReportedFinding>,
    /// How many of the first ones are sure causes of failures.
    causes: usize,
    /// How many were silenced.
    pub silenced: usize,
}

/// What people take for the same finding: code addresses may differ where lines do not.
pub fn is_same(a: &FindingText, b: &FindingText) -> bool {
    // Of two accesses that race, either can come first.
    let pattern = |text: &FindingText| text.pattern.filter(|_| text.kind != "race");
    a.kind == b.kind && pattern(a) == pattern(b) && is_about_the_same(a, b)
}

fn is_about_the_same(a: &FindingText, b: &FindingText) -> bool {
    without_numbers(&a.object) == without_numbers(&b.object)
        && a.sites.len() == b.sites.len()
        && a.sites.iter().all(|site| b.sites.contains(site))
}

/// An object's name without what tells its instances apart: whose how many-th heap block it is, which element, which
/// place on which stack.
fn without_numbers(object: &str) -> String {
    let mut text = String::new();
    let mut digits = false;
    for letter in object.chars() {
        if !letter.is_ascii_digit() {
            text.push(letter);
        } else if !digits {
            text.push('#');
        }
        digits = letter.is_ascii_digit();
    }
    text
}

impl ReportedFinding {
    fn is_shown_by(&mut self, inputs: &[String]) {
        let new: Vec<String> = inputs.iter().filter(|it| !self.inputs.contains(it)).cloned().collect();
        self.inputs.extend(new);
    }
}

impl Findings {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// How many of them an input of a suite shows.
    pub fn under(&self, input: &str) -> u64 {
        self.all.iter().filter(|told| told.inputs.iter().any(|it| it == input)).count() as u64
    }

    /// Counts a finding that is told already; `false` if it is new.
    pub fn count_again(&mut self, text: &FindingText, count: u64, inputs: &[String]) -> bool {
        match self.all.iter_mut().find(|told| is_same(&told.text, text)) {
            Some(told) => {
                told.count += count;
                told.is_shown_by(inputs);
                true
            }
            None => false,
        }
    }

    /// Adds one.
    pub fn add(&mut self, told: ReportedFinding) {
        self.all.push(told);
    }

    /// Adds the cause of a failure, or says of the finding that tells it already that the program fails of
    /// it. One that no passing execution shows comes first.
    pub fn add_cause(
        &mut self,
        text: &FindingText,
        schedule: &Path,
        count: u64,
        is_sure: bool,
        inputs: &[String],
    ) {
        let known = self.all.iter().position(|told| {
            let covers = told.text.kind == "deadlock"
                && text.kind == "deadlock"
                && text.sites.iter().all(|site| told.text.sites.contains(site));
            covers || is_about_the_same(&told.text, text)
        });
        if let Some(place) = known.filter(|place| *place < self.causes) {
            self.all[place].is_shown_by(inputs);
            return;
        }
        let mut told = match known {
            Some(place) => {
                let mut told = self.all.remove(place);
                told.is_shown_by(inputs);
                told
            }
            None => ReportedFinding {
                text: text.clone(),
                schedule: None,
                fails: true,
                is_cause: true,
                count,
                follows_from: None,
                inputs: inputs.to_vec(),
            },
        };
        told.fails = true;
        told.is_cause = true;
        if told.schedule.is_none() {
            told.text.sentence.clone_from(&text.sentence);
        }
        told.schedule.get_or_insert_with(|| schedule.to_path_buf());
        // The first failure that was met comes first.
        let place = if is_sure { self.causes } else { self.all.iter().take_while(|told| told.fails).count() };
        self.causes = (self.causes + usize::from(is_sure)).min(place + 1);
        self.all.insert(place, told);
    }

    /// What a person reads; all of them only if that is asked for, by the option named here.
    pub fn words(&self, full: bool, option: &str) -> String {
        let mut text = String::new();
        let mut of_object: BTreeMap<&str, usize> = BTreeMap::new();
        let mut number = 0;
        for told in &self.all {
            let shown = of_object.entry(&told.text.object).or_default();
            *shown += 1;
            if full || *shown <= SHOWN_OF_AN_OBJECT {
                number += 1;
                text.push_str(&words(number, told));
            }
        }
        let more = |count: &usize| count.checked_sub(SHOWN_OF_AN_OBJECT).filter(|more| *more > 0 && !full);
        let hidden: Vec<String> = (of_object.iter())
            .filter_map(|(object, count)| more(count).map(|more| format!("{more} on {object}")))
            .collect();
        if !hidden.is_empty() {
            text.push_str(&format!("… and {} ({option} shows them)\n\n", hidden.join(", ")));
        }
        text
    }

    /// A line for each of them.
    pub fn headlines(&self) -> String {
        self.all.iter().map(|told| format!("{} ({})\n", told.text.heading, state(told))).collect()
    }

    /// The same, with the commands that show them again.
    pub fn briefly(&self) -> String {
        let again = |told: &ReportedFinding| {
            let schedule = told.schedule.as_deref();
            schedule.map_or_else(String::new, |path| format!("Again: {}\n", output::replay_command(path)))
        };
        let brief =
            |told: &ReportedFinding| format!("{} ({})\n{}", told.text.heading, state(told), again(told));
        self.all.iter().map(brief).collect()
    }

    /// Whether there are places, and no source line is known of any.
    pub fn lack_lines(&self) -> bool {
        let mut places = self.all.iter().flat_map(|told| &told.text.places).peekable();
        places.peek().is_some() && places.all(|place| place.line.is_none())
    }

    /// What goes into the JSON object.
    pub fn json(&self) -> Vec<FindingReport> {
        self.all.iter().map(json).collect()
    }

    /// What a page shows of them.
    pub fn cards(&self) -> Vec<FindingCard> {
        self.all.iter().map(card).collect()
    }

    /// What goes into a SARIF file.
    pub fn sarif(&self) -> Vec<SarifResult> {
        self.all.iter().map(sarif).collect()
    }
}

/// How sure it is.
fn state(told: &ReportedFinding) -> &'static str {
    match (&told.schedule, told.fails) {
        (Some(_), true) if told.is_cause => "confirmed: the program fails of it",
        (Some(_), true) => "confirmed: the program failed when it happened",
        (Some(_), false) => "confirmed: it was made to happen",
        (None, _) => "predicted",
    }
}

fn words(number: usize, told: &ReportedFinding) -> String {
    let state = state(told);
    let origin = told.follows_from.as_ref().map_or_else(String::new, |it| format!("; follows from the {it}"));
    let state = format!("{state}{origin}");
    let mut text = format!("{number}. {} ({state})\n   {}\n", told.text.heading, told.text.sentence);
    let widest = told.text.sources.iter().map(|(place, _)| place.len()).max().unwrap_or(0);
    for (place, source) in &told.text.sources {
        text.push_str(&format!("   {place:widest$}  {}\n", source.trim()));
    }
    if !told.inputs.is_empty() {
        let plural = if told.inputs.len() == 1 { "" } else { "s" };
        text.push_str(&format!("   input{plural}: {}\n", told.inputs.join(", ")));
    }
    if let Some(schedule) = &told.schedule {
        text.push_str(&format!("   {}\n", output::replay_command(schedule)));
    }
    text.push('\n');
    text
}

fn json(told: &ReportedFinding) -> FindingReport {
    FindingReport {
        kind: told.text.kind,
        object: told.text.object.clone(),
        sites: told.text.sites.clone(),
        pattern: told.text.pattern.map(u32::from),
        confirmed: told.schedule.is_some(),
        message: told.text.sentence.clone(),
        schedule: told.schedule.as_ref().map(|path| path.display().to_string()),
        count: told.count,
        inputs: told.inputs.clone(),
    }
}

fn card(told: &ReportedFinding) -> FindingCard {
    FindingCard {
        heading: told.text.heading.clone(),
        state: state(told).to_string(),
        fails: told.fails,
        places: told.text.places.clone(),
        accesses: told.text.accesses.clone(),
        follows_from: told.follows_from.clone(),
        replay: told.schedule.as_deref().map(output::replay_command),
        trace: told
            .schedule
            .as_deref()
            .and_then(|path| artifacts::file_name(&path.with_extension(artifacts::TRACE))),
    }
}

fn sarif(told: &ReportedFinding) -> SarifResult {
    let mut places = told.text.places.iter().cloned();
    SarifResult {
        rule: match told.text.kind {
            "race" => Rule::Race,
            "atomicity" => Rule::Atomicity,
            "order" => Rule::Order,
            "deadlock" => Rule::Deadlock,
            _ => Rule::LockDiscipline,
        },
        level: if told.schedule.is_some() { Level::Error } else { Level::Warning },
        message: told.text.sentence.clone(),
        place: places.next(),
        related: places.map(|place| (place, "the other side".to_string())).collect(),
        stack: Vec::new(),
        flow: Vec::new(),
        identity: [told.text.kind.to_string(), told.text.object.clone()]
            .into_iter()
            .chain(told.text.sites.iter().cloned())
            .collect(),
        properties: told.schedule.iter().map(|path| ("schedule", path.display().to_string())).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(kind: &'static str, object: &str, sites: &[&str], pattern: u8) -> FindingText {
        FindingText {
            kind,
            heading: format!("{kind} on {object}"),
            sentence: "it happens".into(),
            object: object.into(),
            sites: sites.iter().map(|site| site.to_string()).collect(),
            places: Vec::new(),
            sources: Vec::new(),
            pattern: Some(pattern),
            accesses: Vec::new(),
        }
    }

    fn told(text: FindingText) -> ReportedFinding {
        ReportedFinding {
            text,
            schedule: None,
            fails: false,
            is_cause: false,
            count: 1,
            follows_from: None,
            inputs: Vec::new(),
        }
    }

    #[test]
    fn a_race_on_the_same_lines_is_told_once() {
        let mut findings = Findings::default();
        findings.add(told(text("race", "x", &["a.c:1", "a.c:2"], 1)));
        assert!(findings.count_again(&text("race", "x", &["a.c:2", "a.c:1"], 3), 4, &[]));
        assert!(!findings.count_again(&text("race", "y", &["a.c:2", "a.c:1"], 3), 4, &[]));
        assert!(!findings.count_again(&text("atomicity", "x", &["a.c:2", "a.c:1"], 4), 4, &[]));
        assert_eq!(findings.json()[0].count, 5);
    }

    #[test]
    fn instances_of_one_object_are_told_once() {
        let mut findings = Findings::default();
        let sites = ["a.c:1", "a.c:2"];
        findings.add(told(text("race", "node (heap, a.c:10 T2#1).next", &sites, 1)));
        assert!(findings.count_again(&text("race", "node (heap, a.c:10 T1#12).next", &sites, 3), 1, &[]));
        assert!(!findings.count_again(&text("race", "node (heap, a.c:10 T1#1).value", &sites, 3), 1, &[]));
    }

    #[test]
    fn the_cause_of_the_first_failure_stays_first() {
        let mut findings = Findings::default();
        for object in ["x", "y", "x"] {
            findings.add_cause(&text("order", object, &["a.c:1"], 2), Path::new("x.schedule"), 1, true, &[]);
        }
        findings.add_cause(&text("order", "z", &["a.c:1"], 2), Path::new("x.schedule"), 1, false, &[]);
        let objects: Vec<_> = findings.json().iter().map(|it| it.object.clone()).collect();
        assert_eq!(objects, ["x", "y", "z"]);
    }

    #[test]
    fn a_cause_comes_first_and_is_not_told_twice() {
        let mut findings = Findings::default();
        findings.add(told(text("race", "y", &["a.c:9"], 3)));
        findings.add(told(text("race", "x", &["a.c:1", "a.c:2"], 1)));
        findings.add_cause(
            &text("order", "x", &["a.c:2", "a.c:1"], 2),
            Path::new("x.schedule"),
            1,
            false,
            &[],
        );
        findings.add_cause(&text("order", "z", &["a.c:5"], 2), Path::new("z.schedule"), 1, true, &[]);
        let json = findings.json();
        let told: Vec<_> = json.iter().map(|it| (it.kind, it.object.as_str(), it.confirmed)).collect();
        assert_eq!(told, [("order", "z", true), ("race", "x", true), ("race", "y", false)]);
    }

    #[test]
    fn many_findings_on_one_object_are_counted_instead() {
        let mut findings = Findings::default();
        for site in ["a.c:1", "a.c:2", "a.c:3", "a.c:4", "a.c:5"] {
            findings.add(told(text("race", "x", &[site], 3)));
        }
        let words = findings.words(false, "--full");
        assert!(words.contains("3. race") && !words.contains("4. race"), "{words}");
        assert!(words.ends_with("… and 2 on x (--full shows them)\n\n"), "{words}");
        assert!(findings.words(true, "--full").contains("5. race"));
    }
}
