//! The subjects of the repository.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Deserialize;

use super::repository;

/// What a subject promises; fields for other readers are left out.
#[derive(Deserialize)]
pub struct Subject {
    pub name: String,
    pub source: String,
    pub threads: Option<u64>,
    pub expect: String,
    #[serde(default)]
    pub also: Vec<String>,
    #[serde(default)]
    pub args: Vec<String>,
    /// A strategy other than the default, for a subject that is made for one.
    pub strategy: Option<String>,
    /// The bound for a systematic strategy.
    pub preemption_bound: Option<u32>,
    /// A budget other than the default.
    pub executions: Option<u64>,
    /// Whether a failure is minimised; subjects with many threads take long.
    pub minimise: Option<bool>,
    /// Whether it passes when each thread runs to its end before the next one begins.
    #[serde(default)]
    pub passes_sequentially: bool,
    /// The row of a paper's table that it represents.
    pub paper: Option<Paper>,
    /// What `check` has to report.
    #[serde(default, rename = "finding")]
    pub findings: Vec<Expected>,
}

/// The row of a paper's table that a subject represents.
#[derive(Deserialize)]
pub struct Paper {
    pub subject: toml::Value,
    pub threads: Option<u64>,
}

/// One finding or failure, by its lines in the source.
#[derive(Deserialize, Debug)]
pub struct Expected {
    pub kind: String,
    /// The object, or several of which any will do. `x[]` is any element, and heap blocks go without numbers.
    #[serde(default, deserialize_with = "one_or_more")]
    pub object: Vec<String>,
    pub lines: Vec<u64>,
    /// Others that name the bug as well.
    #[serde(default, rename = "or")]
    pub alternatives: Vec<Expected>,
}

fn one_or_more<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Objects {
        One(String),
        More(Vec<String>),
    }
    Ok(match Objects::deserialize(deserializer)? {
        Objects::One(object) => vec![object],
        Objects::More(objects) => objects,
    })
}

impl Subject {
    /// All subjects, each with its folder.
    pub fn all() -> Vec<(PathBuf, Subject)> {
        let mut found = Vec::new();
        let mut folders = vec![repository("subjects")];
        while let Some(folder) = folders.pop() {
            let entries =
                std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
            for path in entries.flatten().map(|entry| entry.path()) {
                if path.is_dir() {
                    folders.push(path);
                } else if path.ends_with("subject.toml") {
                    let text = std::fs::read_to_string(&path).expect("a readable file");
                    let subject =
                        toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                    found.push((folder.clone(), subject));
                }
            }
        }
        found.sort_by(|(a, _), (b, _)| a.cmp(b));
        assert!(!found.is_empty(), "no subject.toml below subjects/");
        found
    }
}

/// Does something with every subject and returns the results in order. Two at a time: most of a subject's
/// time goes to its compiler.
pub fn two_at_a_time<S: Sync, T: Send>(
    subjects: &[(PathBuf, S)],
    act: impl Fn(&Path, &S) -> T + Sync,
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::SeqCst);
                    let Some((folder, subject)) = subjects.get(index) else { break };
                    let result = act(folder, subject);
                    results.lock().expect("no thread failed").push((index, result));
                }
            });
        }
    });
    let mut results = results.into_inner().expect("no thread failed");
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}
