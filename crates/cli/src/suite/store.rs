//! The folder in which a suite's records are kept, by the contents they are about.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use threadbare_coverage::cfp::FunctionPair;
use threadbare_explore::suite::{Detection, Input, Optimizations};
use threadbare_target::fingerprint_of;

use super::record::{DetectedRecord, DrivenRecord, MeasuredRecord};
use crate::error::CliError;
use crate::output;

/// The version of the records; others are not read.
const VERSION: &str = "2";

/// The records of one executable.
pub struct Store {
    folder: PathBuf,
}

/// An input by its content: its name does not count.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InputId(pub String);

impl Store {
    /// The store of an executable, made if it is not there.
    pub fn open(out: &Path, executable: &str) -> Result<Store, CliError> {
        let folder = out.join(format!("suite-{executable}"));
        fs::create_dir_all(&folder).map_err(|source| CliError::Write { path: folder.clone(), source })?;
        Ok(Store { folder })
    }

    /// What an input is known by: arguments, environment, and the contents of all it reads.
    pub fn identify(input: &Input, folder: &Path) -> Result<InputId, CliError> {
        let mut contents: Vec<Vec<u8>> = vec![VERSION.into()];
        contents.push(input.args.len().to_string().into());
        contents.extend(input.args.iter().map(|arg| arg.clone().into_bytes()));
        contents.push(input.env.len().to_string().into());
        contents.extend(input.env.iter().map(|(name, value)| format!("{name}={value}").into_bytes()));
        contents.extend(input.stdin.iter().map(|text| format!("stdin {text}").into_bytes()));
        for file in &input.files {
            let path = folder.join(file);
            let content = fs::read(&path).map_err(|source| CliError::Read { path, source })?;
            contents.extend([file.display().to_string().into_bytes(), content]);
        }
        Ok(InputId(fingerprint_of(contents.iter().map(Vec::as_slice))))
    }

    /// The file that holds what an input reads as standard input. It stays, for replays.
    pub fn stdin(&self, id: &InputId, text: &str) -> Result<PathBuf, CliError> {
        let path = self.folder.join(format!("stdin-{}", id.0));
        if fs::read(&path).ok().is_none_or(|old| old != text.as_bytes()) {
            output::write_whole(&path, text.as_bytes())?;
        }
        Ok(std::path::absolute(&path).unwrap_or(path))
    }

    fn measured_path(&self, id: &InputId, optimizations: Optimizations) -> PathBuf {
        let Optimizations { skip_stack_only, skip_inherited } = optimizations;
        let (stack, inherited) = (u8::from(skip_stack_only), u8::from(skip_inherited));
        self.folder.join(format!("measured-{}-{stack}{inherited}.json", id.0))
    }

    /// What was measured of an input.
    pub fn measured(&self, id: &InputId, optimizations: Optimizations) -> Option<MeasuredRecord> {
        read(&self.measured_path(id, optimizations))
    }

    /// Keeps what was measured.
    pub fn keep_measured(
        &self,
        id: &InputId,
        optimizations: Optimizations,
        record: &MeasuredRecord,
    ) -> Result<(), CliError> {
        write(&self.measured_path(id, optimizations), record)
    }

    fn detected_prefix(id: &InputId, detection: &Detection) -> String {
        let Detection { races, atomicity, runs, seed, limits } = detection;
        let how = format!("{races} {atomicity} {runs} {seed} {} {}", limits.max_steps, limits.any_exit);
        format!("detected-{}-{}-", id.0, fingerprint_of([VERSION.as_bytes(), how.as_bytes()]))
    }

    /// What was found under an input when at least these pairs were looked for; none for all that there is.
    pub fn detected(
        &self,
        id: &InputId,
        detection: &Detection,
        pairs: Option<&BTreeSet<FunctionPair>>,
    ) -> Option<DetectedRecord> {
        let prefix = Store::detected_prefix(id, detection);
        let mut records: Vec<DetectedRecord> =
            self.files(&prefix).iter().filter_map(|path| read(path)).collect();
        if let Some(same) = records.iter().position(|record| record.pairs().as_ref() == pairs) {
            return Some(records.swap_remove(same));
        }
        // What was looked at for another selection may do, but looking at everything is another measurement.
        let pairs = pairs?;
        let covers = |record: &DetectedRecord| record.pairs().is_some_and(|it| it.is_superset(pairs));
        records.into_iter().filter(covers).min_by_key(|record| record.pairs.as_ref().map(Vec::len))
    }

    /// Keeps what was found.
    pub fn keep_detected(
        &self,
        id: &InputId,
        detection: &Detection,
        record: &DetectedRecord,
    ) -> Result<(), CliError> {
        let pairs = format!("{:?}", record.pairs);
        let name =
            format!("{}{}.json", Store::detected_prefix(id, detection), fingerprint_of([pairs.as_bytes()]));
        write(&self.folder.join(name), record)
    }

    /// What came of driving findings to happen with this seed.
    pub fn driven(&self, seed: u64) -> Vec<DrivenRecord> {
        self.files(&format!("driven-{seed}-")).iter().filter_map(|path| read(path)).collect()
    }

    /// Keeps what came of it.
    pub fn keep_driven(&self, seed: u64, record: &DrivenRecord) -> Result<(), CliError> {
        let contents = std::iter::once(&record.input).chain(&record.identities).map(|text| text.as_bytes());
        let name = format!("driven-{seed}-{}.json", fingerprint_of(contents));
        write(&self.folder.join(name), record)
    }

    /// The files whose names begin so, by name.
    fn files(&self, prefix: &str) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(&self.folder) else { return Vec::new() };
        let is_wanted = |path: &PathBuf| {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
            name.is_some_and(|name| name.starts_with(prefix) && name.ends_with(".json"))
        };
        let mut paths: Vec<PathBuf> =
            entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_wanted).collect();
        paths.sort();
        paths
    }
}

/// A record; one that cannot be read is made again.
fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

fn write<T: Serialize>(path: &Path, record: &T) -> Result<(), CliError> {
    let failed =
        |source: serde_json::Error| CliError::Write { path: path.to_path_buf(), source: source.into() };
    output::write_whole(path, &serde_json::to_vec(record).map_err(failed)?)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use super::*;

    fn input() -> Input {
        Input {
            name: "one".into(),
            args: vec!["a".into(), "b".into()],
            stdin: None,
            files: vec!["data".into()],
            env: BTreeMap::new(),
            stall: Duration::from_secs(1),
            start_limit: None,
        }
    }

    #[test]
    fn an_input_is_known_by_all_that_it_reads_but_not_by_its_name() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let id = |input: &Input| Store::identify(input, folder.path()).expect("readable");
        fs::write(folder.path().join("data"), "1").expect("written");
        let before = id(&input());
        assert_eq!(before, id(&Input { name: "other".into(), ..input() }));
        assert_ne!(before, id(&Input { args: vec!["ab".into()], ..input() }));
        assert_ne!(before, id(&Input { stdin: Some(String::new()), ..input() }));
        assert_ne!(before, id(&Input { env: [("A".into(), "1".into())].into(), ..input() }));
        fs::write(folder.path().join("data"), "2").expect("written");
        assert_ne!(before, id(&input()));
    }

    #[test]
    fn what_was_looked_at_for_a_larger_selection_is_used_again() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let store = Store::open(folder.path(), "00ff").expect("a store");
        let (id, detection) = (InputId("1".into()), Detection::default());
        let record = DetectedRecord {
            pairs: Some(vec![[1, 2], [2, 3], [3, 3]]),
            findings: Vec::new(),
            events: 7,
            executions: 1,
            steps: 1,
            threads: 2,
            outcome: super::super::record::OutcomeRecord { word: "passed".into(), message: String::new() },
            unguided: false,
            running_s: 0.0,
            races_s: 0.0,
            atomicity_s: 0.0,
        };
        store.keep_detected(&id, &detection, &record).expect("written");
        let set =
            |pairs: &[[u64; 2]]| pairs.iter().map(|[one, other]| FunctionPair::of(*one, *other)).collect();
        let found = |pairs: &[[u64; 2]]| store.detected(&id, &detection, Some(&set(pairs))).is_some();
        assert!(found(&[[2, 1], [3, 3]]) && found(&[[1, 2], [2, 3], [3, 3]]));
        assert!(!found(&[[1, 3]]) && !found(&[[1, 2], [1, 4]]));
        assert!(store.detected(&id, &detection, None).is_none());
        let other = Detection { seed: 2, ..detection };
        assert!(store.detected(&id, &other, Some(&set(&[[1, 2]]))).is_none());
    }
}
