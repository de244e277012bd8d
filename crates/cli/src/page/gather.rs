//! What a folder holds of campaigns, put together for a page.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::json;
use threadbare_explore::pointed_out;
use threadbare_report::{
    CampaignRecord, FailureFiles, Page, PageCampaign, PageInterleaving, PageInterleavings, RECORD_EXTENSION,
};
use threadbare_trace::TraceFile;

use crate::error::CliError;
use crate::{artifacts, regular};

/// The steps that a page shows of all executions together, and of one at most and at least.
const STEPS_OF_ALL: usize = 4000;
const MOST_STEPS: usize = 2000;
const LEAST_STEPS: usize = 30;
/// A page that is larger is made again with fewer steps.
const LARGEST_PAGE: usize = 1_000_000;
/// How many findings of a campaign are drawn step by step.
const MOST_STORIES: usize = 20;
/// The end of what a program printed that is shown.
const SHOWN_OUTPUT: usize = 8_000;

/// Something that a campaign may be known by.
type Label = dyn Fn(&CampaignRecord) -> Option<String>;

/// Campaigns, with what could not be read of them.
#[derive(Default)]
pub struct Gathered {
    /// The campaigns.
    pub campaigns: Vec<Source>,
    /// What is missing or damaged, a sentence each.
    pub problems: Vec<String>,
}

/// One campaign, with the traces that are drawn.
pub struct Source {
    title: String,
    record: CampaignRecord,
    scenes: Vec<Scene>,
    notes: Vec<String>,
}

struct Scene {
    title: String,
    of: Option<(&'static str, usize)>,
    main: TraceFile,
    original: Option<TraceFile>,
    output: Option<String>,
}

/// The campaigns in a folder.
pub fn folder(folder: &Path) -> Result<Gathered, CliError> {
    let unreadable = |source| CliError::Read { path: folder.to_path_buf(), source };
    let mut names: Vec<String> = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        names.push(entry.map_err(unreadable)?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    let mut gathered = Gathered::default();
    let mut used: BTreeSet<String> = BTreeSet::new();
    let is_record = |name: &&String| name.ends_with(&format!(".{RECORD_EXTENSION}"));
    for name in names.iter().filter(is_record) {
        let bytes = regular::read(folder, name).map_err(|error| error.to_string());
        match bytes.and_then(|bytes| CampaignRecord::read(&bytes).map_err(|error| error.to_string())) {
            Ok(record) => {
                used.extend(record.failures.iter().filter_map(|it| it.trace.clone()));
                used.extend(record.findings.iter().filter_map(|it| it.trace.clone()));
                let source = gathered.read(record, folder);
                gathered.campaigns.push(source);
            }
            Err(problem) => gathered.problems.push(format!("`{name}`: {problem}")),
        }
    }
    let is_stray = |name: &&String| {
        let is_trace = Path::new(name).extension().is_some_and(|end| end == artifacts::TRACE);
        is_trace && !name.ends_with(&format!(".{}", artifacts::ORIGINAL)) && !used.contains(*name)
    };
    gathered.strays(names.iter().filter(is_stray), folder);
    gathered.distinguish_titles();
    match (gathered.campaigns.is_empty(), gathered.problems.is_empty()) {
        (true, true) => Err(CliError::NoCampaign(folder.to_path_buf())),
        (true, false) => {
            Err(CliError::CampaignLost { path: folder.to_path_buf(), problems: gathered.problems.join("; ") })
        }
        _ => Ok(gathered),
    }
}

/// One campaign that was just made.
pub fn one(record: &CampaignRecord, folder: &Path) -> Gathered {
    let mut gathered = Gathered::default();
    let source = gathered.read(record.clone(), folder);
    gathered.campaigns.push(source);
    gathered
}

impl Gathered {
    fn read(&mut self, record: CampaignRecord, folder: &Path) -> Source {
        let program = record.report["program"].as_str().unwrap_or_default();
        let command = record.report["command"].as_str().unwrap_or_default();
        let name = Path::new(program).file_name().map_or(program.into(), |name| name.to_string_lossy());
        let mut source =
            Source { title: format!("{name} · {command}"), record, scenes: Vec::new(), notes: Vec::new() };
        for place in 0..source.record.failures.len() {
            let files = source.record.failures[place].clone();
            let failure = &source.record.report["failures"][place];
            let (kind, site) = (failure["kind"].as_str(), failure["site"].as_str());
            let at = site.map_or_else(String::new, |site| format!(" at {site}"));
            let title = format!("{}{at}", kind.unwrap_or("failure"));
            self.failure(&mut source, title, place, &files, folder);
        }
        let of_failures: BTreeSet<String> =
            source.record.failures.iter().filter_map(|it| it.trace.clone()).collect();
        let is_new = |name: &String| !of_failures.contains(name);
        let findings: Vec<_> = (source.record.findings.iter().enumerate())
            .filter_map(|(place, it)| Some((place, it.heading.clone(), it.trace.clone().filter(is_new)?)))
            .collect();
        if findings.len() > MOST_STORIES {
            let left = findings.len() - MOST_STORIES;
            source.notes.push(format!("The interleavings of {left} more findings are left out of the page; their replay commands show them."));
        }
        for (place, title, name) in findings.into_iter().take(MOST_STORIES) {
            if let Some(main) = self.trace(folder, &name) {
                let of = Some(("finding", place));
                source.scenes.push(Scene { title, of, main, original: None, output: None });
            }
        }
        source
    }

    fn failure(
        &mut self,
        source: &mut Source,
        title: String,
        place: usize,
        files: &FailureFiles,
        folder: &Path,
    ) {
        if let Some(name) = files.schedule.as_ref().filter(|name| regular::read(folder, name).is_err()) {
            self.problems.push(format!("`{name}` cannot be read, so its failure cannot be replayed"));
        }
        let Some(main) = files.trace.as_ref().and_then(|name| self.trace(folder, name)) else { return };
        let original = files.original.as_ref().and_then(|name| self.trace(folder, name));
        let output = files.output.as_ref().and_then(|name| regular::read(folder, name).ok());
        let of = Some(("failure", place));
        let output = output.filter(|bytes| !bytes.is_empty()).map(|bytes| shown_output(&bytes));
        source.scenes.push(Scene { title, of, main, original, output });
    }

    /// A trace file; of a damaged one nothing is shown.
    fn trace(&mut self, folder: &Path, name: &str) -> Option<TraceFile> {
        let bytes = match regular::read(folder, name) {
            Ok(bytes) => bytes,
            Err(error) => {
                self.problems.push(format!("`{name}` cannot be read ({error})"));
                return None;
            }
        };
        match TraceFile::read(&bytes) {
            Ok(file) => Some(file),
            Err(problem) => {
                self.problems.push(format!("`{name}` is no whole trace ({problem})"));
                None
            }
        }
    }

    /// Traces that no record speaks of, as `generate` and `replay --trace` leave them.
    fn strays<'a>(&mut self, names: impl Iterator<Item = &'a String>, folder: &Path) {
        let mut scenes = Vec::new();
        for name in names.take(MOST_STORIES) {
            if let Some(main) = self.trace(folder, name) {
                scenes.push(Scene { title: name.clone(), of: None, main, original: None, output: None });
            }
        }
        if let Some(first) = scenes.first() {
            let report = json!({ "command": "trace", "program": first.main.program });
            let command_line = format!("threadbare report {}", folder.display());
            let record = CampaignRecord { report, command_line, ..CampaignRecord::default() };
            let title = "traces without a campaign".to_string();
            self.campaigns.push(Source { title, record, scenes, notes: Vec::new() });
        }
    }

    /// Campaigns of the same title are distinguished by what they differ in: their strategies, what the program is given, where it is.
    fn distinguish_titles(&mut self) {
        let strategy = |it: &CampaignRecord| it.report["strategy"].as_str().map(String::from);
        let given = |it: &CampaignRecord| {
            let given = it.subject.as_ref().map(|it| it.given.clone())?;
            Some(if given.is_empty() { "without arguments".to_string() } else { given })
        };
        let program = |it: &CampaignRecord| it.subject.as_ref().map(|it| it.program.clone());
        let labels: [&Label; 3] = [&strategy, &given, &program];
        for label in labels {
            let mut known: BTreeMap<String, BTreeSet<Option<String>>> = BTreeMap::new();
            for Source { title, record, .. } in &self.campaigns {
                known.entry(title.clone()).or_default().insert(label(record));
            }
            for Source { title, record, .. } in &mut self.campaigns {
                if known.get(title).is_some_and(|labels| labels.len() > 1)
                    && let Some(label) = label(record)
                {
                    title.push_str(&format!(" · {label}"));
                }
            }
        }
    }

    /// The page, with as many steps of long executions as leave it small enough to be sent around.
    pub fn to_html(&self) -> String {
        let scenes: usize = self.campaigns.iter().map(|it| it.scenes.len()).sum();
        let mut most = (STEPS_OF_ALL / scenes.max(1)).clamp(LEAST_STEPS, MOST_STEPS);
        loop {
            let html = Page { campaigns: self.campaigns.iter().map(|it| it.drawn(most)).collect() }.to_html();
            if html.len() <= LARGEST_PAGE || most <= LEAST_STEPS {
                return html;
            }
            most = (most / 2).max(LEAST_STEPS);
        }
    }
}

impl Source {
    fn drawn(&self, most: usize) -> PageCampaign {
        let drawn = |title: &str, file: &TraceFile| {
            let marked = file.shows.as_ref().map_or_else(Vec::new, |shown| pointed_out(shown, file.events()));
            PageInterleaving::of(title, file, &marked, most)
        };
        let interleavings = self.scenes.iter().map(|scene| PageInterleavings {
            title: scene.title.clone(),
            of: scene.of,
            main: Some(drawn(&scene.title, &scene.main)),
            original: scene.original.as_ref().map(|file| drawn("as it was found", file)),
            output: scene.output.clone(),
        });
        PageCampaign {
            title: self.title.clone(),
            record: self.record.clone(),
            interleavings: interleavings.collect(),
            notes: self.notes.clone(),
        }
    }
}

fn shown_output(bytes: &[u8]) -> String {
    let begin = bytes.len().saturating_sub(SHOWN_OUTPUT);
    let cut = if begin > 0 { format!("… ({begin} bytes before this)\n") } else { String::new() };
    format!("{cut}{}", String::from_utf8_lossy(&bytes[begin..]))
}
