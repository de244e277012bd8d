//! Findings as they are reported: once each, the most important ones first.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use threadbare_detect::FindingKind;
use threadbare_diagnose::ExecutionNames;
use threadbare_explore::Examined;
use threadbare_report::{FindingCard, FindingReport, FindingText, Level, Rule, SarifResult, finding_text};
use threadbare_target::Symbols;

use crate::{artifacts, output};

/// Findings on one object that a person is shown unless all are asked for.
const SHOWN_OF_AN_OBJECT: usize = 3;

/// One finding as it is reported.
pub struct ReportedFinding {
    /// Its text.
    pub text: FindingText,
    /// It is a fault beyond doubt: a race whose accesses were enabled at the same time, a deadlock that happened, or an order with
    /// which the program fails and without which it does not.
    pub confirmed: bool,
    /// It was made to happen, or did.
    pub seen: bool,
    /// The schedule of a run that shows it; of one that happened none if it could not be written.
    pub schedule: Option<PathBuf>,
    /// It makes the program fail.
    pub fails: bool,
    /// It is what distinguishes failing executions from passing ones.
    pub is_cause: bool,
    /// How often it was met.
    pub count: u64,
    /// The heading of the finding without which this one would not be.
    pub follows_from: Option<String>,
    /// The inputs of a suite that show it.
    pub inputs: Vec<String>,
}

/// All findings that are reported.
#[derive(Default)]
pub struct Findings {
    all: Vec<ReportedFinding>,
    /// Where each is in `all`.
    places: HashMap<Identity, usize>,
    /// How many of the first ones are sure causes of failures.
    causes: usize,
    /// How many were silenced.
    pub silenced: usize,
}

/// The texts of findings, as of the executions that they are shown on.
///
/// What an address means changes on the way through an execution, so those of one execution are named together, in its order.
pub fn texts(findings: &[Examined], symbols: &Symbols) -> Vec<FindingText> {
    let mut order: Vec<usize> = (0..findings.len()).collect();
    order.sort_by_key(|at| (Arc::as_ptr(&findings[*at].run), findings[*at].finding.at));
    let mut texts: Vec<(usize, FindingText)> = Vec::new();
    for of_one in order.chunk_by(|a, b| Arc::ptr_eq(&findings[*a].run, &findings[*b].run)) {
        let names = ExecutionNames::new(symbols, &findings[of_one[0]].run);
        texts.extend(of_one.iter().map(|at| {
            let Examined { finding, confirmed, .. } = &findings[*at];
            (*at, finding_text(finding, &names, confirmed.is_some()))
        }));
    }
    texts.sort_by_key(|(at, _)| *at);
    texts.into_iter().map(|(_, text)| text).collect()
}

/// What people take for the same finding: code addresses may differ where lines do not.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Identity {
    kind: &'static str,
    pattern: Option<u8>,
    about: About,
}

/// What a finding is about.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct About {
    object: String,
    sites: Vec<String>,
}

impl Identity {
    /// Of a finding.
    pub fn of(text: &FindingText) -> Identity {
        // Of two accesses that race, either can come first.
        let pattern = text.pattern.filter(|_| text.kind != "race");
        Identity { kind: text.kind, pattern, about: About::of(text) }
    }
}

impl About {
    fn of(text: &FindingText) -> About {
        let mut sites = text.sites.clone();
        sites.sort_unstable();
        About { object: without_numbers(&text.object), sites }
    }
}

/// An object's name without what distinguishes its instances: whose how many-th heap block it is, which element, which
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
        self.all.iter().filter(|finding| finding.inputs.iter().any(|it| it == input)).count() as u64
    }

    /// Counts a finding that is reported already; `false` if it is new.
    pub fn count_again(&mut self, text: &FindingText, count: u64, inputs: &[String]) -> bool {
        match self.places.get(&Identity::of(text)) {
            Some(place) => {
                let finding = &mut self.all[*place];
                finding.count += count;
                finding.is_shown_by(inputs);
                true
            }
            None => false,
        }
    }

    /// Adds one.
    pub fn add(&mut self, finding: ReportedFinding) {
        self.places.entry(Identity::of(&finding.text)).or_insert(self.all.len());
        self.all.push(finding);
    }

    /// Adds the cause of a failure, or says of the finding that reports it already that it makes the program
    /// fail. One that no passing execution shows comes first.
    pub fn add_cause(
        &mut self,
        text: &FindingText,
        schedule: Option<&Path>,
        count: u64,
        is_sure: bool,
        inputs: &[String],
    ) {
        let about = About::of(text);
        let known = self.all.iter().position(|finding| {
            let covers = finding.text.kind == "deadlock"
                && text.kind == "deadlock"
                && text.sites.iter().all(|site| finding.text.sites.contains(site));
            covers || About::of(&finding.text) == about
        });
        if let Some(place) = known.filter(|place| *place < self.causes) {
            self.all[place].is_shown_by(inputs);
            return;
        }
        let mut finding = match known {
            Some(place) => {
                let mut finding = self.all.remove(place);
                finding.is_shown_by(inputs);
                finding
            }
            None => ReportedFinding {
                text: text.clone(),
                confirmed: is_sure,
                seen: true,
                schedule: None,
                fails: true,
                is_cause: true,
                count,
                follows_from: None,
                inputs: inputs.to_vec(),
            },
        };
        finding.fails = true;
        finding.is_cause = true;
        if finding.schedule.is_none() {
            finding.text.sentence.clone_from(&text.sentence);
        }
        finding.confirmed |= is_sure;
        finding.seen = true;
        finding.schedule = finding.schedule.take().or_else(|| schedule.map(Path::to_path_buf));
        // The first failure that was met comes first.
        let place =
            if is_sure { self.causes } else { self.all.iter().take_while(|finding| finding.fails).count() };
        self.causes = (self.causes + usize::from(is_sure)).min(place + 1);
        self.all.insert(place, finding);
        // There are few causes, and others have moved.
        self.places.clear();
        for (place, finding) in self.all.iter().enumerate() {
            self.places.entry(Identity::of(&finding.text)).or_insert(place);
        }
    }

    /// What a person reads; all of them only if that is asked for, by the option named here.
    pub fn numbered_list(&self, full: bool, option: &str) -> String {
        let mut text = String::new();
        let mut of_object: BTreeMap<&str, usize> = BTreeMap::new();
        let mut number = 0;
        for finding in &self.all {
            let shown = of_object.entry(&finding.text.object).or_default();
            *shown += 1;
            if full || *shown <= SHOWN_OF_AN_OBJECT {
                number += 1;
                text.push_str(&numbered_entry(number, finding));
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
        self.all.iter().map(|finding| format!("{} ({})\n", finding.text.heading, state(finding))).collect()
    }

    /// The same, with the commands that show them again.
    pub fn briefly(&self) -> String {
        let again = |finding: &ReportedFinding| {
            let schedule = finding.schedule.as_deref();
            schedule.map_or_else(String::new, |path| format!("Again: {}\n", output::replay_command(path)))
        };
        let brief = |finding: &ReportedFinding| {
            format!("{} ({})\n{}", finding.text.heading, state(finding), again(finding))
        };
        self.all.iter().map(brief).collect()
    }

    /// Whether there are places, and no source line is known of any.
    pub fn lack_lines(&self) -> bool {
        let mut places = self.all.iter().flat_map(|finding| &finding.text.places).peekable();
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
fn state(finding: &ReportedFinding) -> &'static str {
    match (finding.confirmed, finding.fails, finding.seen) {
        (true, true, _) if finding.is_cause => "confirmed: it makes the program fail",
        (true, true, _) => "confirmed: the program fails with it, and passes with only that prevented",
        (true, false, _) => "confirmed: it was made to happen",
        (false, true, _) => "seen: it may be what makes the program fail",
        (false, false, true) => "seen: it was made to happen, and did no harm by itself",
        (false, false, false) => "predicted",
    }
}

fn numbered_entry(number: usize, finding: &ReportedFinding) -> String {
    let state = state(finding);
    let origin =
        finding.follows_from.as_ref().map_or_else(String::new, |it| format!("; follows from the {it}"));
    let state = format!("{state}{origin}");
    let mut text = format!("{number}. {} ({state})\n   {}\n", finding.text.heading, finding.text.sentence);
    let widest = finding.text.sources.iter().map(|(place, _)| place.len()).max().unwrap_or(0);
    for (place, source) in &finding.text.sources {
        text.push_str(&format!("   {place:widest$}  {}\n", source.trim()));
    }
    if !finding.inputs.is_empty() {
        let plural = if finding.inputs.len() == 1 { "" } else { "s" };
        text.push_str(&format!("   input{plural}: {}\n", finding.inputs.join(", ")));
    }
    if let Some(schedule) = &finding.schedule {
        text.push_str(&format!("   {}\n", output::replay_command(schedule)));
    }
    text.push('\n');
    text
}

fn json(finding: &ReportedFinding) -> FindingReport {
    FindingReport {
        kind: finding.text.kind,
        object: finding.text.object.clone(),
        sites: finding.text.sites.clone(),
        pattern: finding.text.pattern.map(u32::from),
        confirmed: finding.confirmed,
        seen: finding.seen,
        message: finding.text.sentence.clone(),
        schedule: finding.schedule.as_ref().map(|path| path.display().to_string()),
        count: finding.count,
        inputs: finding.inputs.clone(),
    }
}

/// The same of one that has just been found, before all findings are put together.
pub fn on_the_way(text: &FindingText, examined: &Examined, schedule: Option<&Path>) -> FindingReport {
    FindingReport {
        kind: text.kind,
        object: text.object.clone(),
        sites: text.sites.clone(),
        pattern: text.pattern.map(u32::from),
        confirmed: examined.is_confirmed(),
        seen: examined.confirmed.is_some(),
        message: text.sentence.clone(),
        schedule: schedule.map(|path| path.display().to_string()),
        count: examined.finding.count,
        inputs: Vec::new(),
    }
}

fn card(finding: &ReportedFinding) -> FindingCard {
    FindingCard {
        heading: finding.text.heading.clone(),
        state: state(finding).to_string(),
        fails: finding.fails,
        places: finding.text.places.clone(),
        accesses: finding.text.accesses.clone(),
        follows_from: finding.follows_from.clone(),
        replay: finding.schedule.as_deref().map(output::replay_command),
        trace: finding
            .schedule
            .as_deref()
            .and_then(|path| artifacts::file_name(&path.with_extension(artifacts::TRACE))),
    }
}

fn sarif(finding: &ReportedFinding) -> SarifResult {
    let mut places = finding.text.places.iter().cloned();
    SarifResult {
        rule: match FindingKind::from_word(finding.text.kind) {
            Some(FindingKind::Race) => Rule::Race,
            Some(FindingKind::Atomicity) => Rule::Atomicity,
            Some(FindingKind::Order) => Rule::Order,
            Some(FindingKind::Deadlock) => Rule::Deadlock,
            // A suite's file of another version may have a kind that is not known here.
            Some(FindingKind::LockDiscipline) | None => Rule::LockDiscipline,
        },
        level: if finding.confirmed { Level::Error } else { Level::Warning },
        message: finding.text.sentence.clone(),
        place: places.next(),
        related: places.map(|place| (place, "the other side".to_string())).collect(),
        stack: Vec::new(),
        flow: Vec::new(),
        identity: [finding.text.kind.to_string(), finding.text.object.clone()]
            .into_iter()
            .chain(finding.text.sites.iter().cloned())
            .collect(),
        properties: finding.schedule.iter().map(|path| ("schedule", path.display().to_string())).collect(),
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

    fn reported(text: FindingText) -> ReportedFinding {
        ReportedFinding {
            text,
            confirmed: false,
            seen: false,
            schedule: None,
            fails: false,
            is_cause: false,
            count: 1,
            follows_from: None,
            inputs: Vec::new(),
        }
    }

    #[test]
    fn a_race_on_the_same_lines_is_reported_once() {
        let mut findings = Findings::default();
        findings.add(reported(text("race", "x", &["a.c:1", "a.c:2"], 1)));
        assert!(findings.count_again(&text("race", "x", &["a.c:2", "a.c:1"], 3), 4, &[]));
        assert!(!findings.count_again(&text("race", "y", &["a.c:2", "a.c:1"], 3), 4, &[]));
        assert!(!findings.count_again(&text("atomicity", "x", &["a.c:2", "a.c:1"], 4), 4, &[]));
        assert_eq!(findings.json()[0].count, 5);
    }

    #[test]
    fn instances_of_one_object_are_reported_once() {
        let mut findings = Findings::default();
        let sites = ["a.c:1", "a.c:2"];
        findings.add(reported(text("race", "node (heap, a.c:10 T2#1).next", &sites, 1)));
        assert!(findings.count_again(&text("race", "node (heap, a.c:10 T1#12).next", &sites, 3), 1, &[]));
        assert!(!findings.count_again(&text("race", "node (heap, a.c:10 T1#1).value", &sites, 3), 1, &[]));
    }

    #[test]
    fn the_cause_of_the_first_failure_stays_first() {
        let mut findings = Findings::default();
        for object in ["x", "y", "x"] {
            findings.add_cause(
                &text("order", object, &["a.c:1"], 2),
                Some(Path::new("x.schedule")),
                1,
                true,
                &[],
            );
        }
        findings.add_cause(&text("order", "z", &["a.c:1"], 2), Some(Path::new("x.schedule")), 1, false, &[]);
        let objects: Vec<_> = findings.json().iter().map(|it| it.object.clone()).collect();
        assert_eq!(objects, ["x", "y", "z"]);
    }

    #[test]
    fn a_cause_comes_first_and_is_not_reported_twice() {
        let mut findings = Findings::default();
        findings.add(reported(text("race", "y", &["a.c:9"], 3)));
        findings.add(reported(text("race", "x", &["a.c:1", "a.c:2"], 1)));
        findings.add_cause(
            &text("order", "x", &["a.c:2", "a.c:1"], 2),
            Some(Path::new("x.schedule")),
            1,
            false,
            &[],
        );
        findings.add_cause(&text("order", "z", &["a.c:5"], 2), Some(Path::new("z.schedule")), 1, true, &[]);
        let json = findings.json();
        let said = |it: &FindingReport| (it.kind, it.object.clone(), it.confirmed, it.seen);
        let expected = [("order", "z", true, true), ("race", "x", false, true), ("race", "y", false, false)];
        let expected =
            expected.map(|(kind, object, confirmed, seen)| (kind, object.to_string(), confirmed, seen));
        assert_eq!(json.iter().map(said).collect::<Vec<_>>(), expected);
        // It is confirmed once the failing order is sure to be its own.
        let path = Some(Path::new("x.schedule"));
        findings.add_cause(&text("order", "x", &["a.c:2", "a.c:1"], 2), path, 1, true, &[]);
        let is_confirmed = |it: &FindingReport| it.object == "x" && it.confirmed;
        assert!(findings.json().iter().any(is_confirmed));
    }

    #[test]
    fn many_findings_on_one_object_are_counted_instead() {
        let mut findings = Findings::default();
        for site in ["a.c:1", "a.c:2", "a.c:3", "a.c:4", "a.c:5"] {
            findings.add(reported(text("race", "x", &[site], 3)));
        }
        let list = findings.numbered_list(false, "--full");
        assert!(list.contains("3. race") && !list.contains("4. race"), "{list}");
        assert!(list.ends_with("… and 2 on x (--full shows them)\n\n"), "{list}");
        assert!(findings.numbered_list(true, "--full").contains("5. race"));
    }
}
