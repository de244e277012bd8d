//! Which schedule files may say how a program is built, and what is in its environment.
//!
//! Whoever can choose a compiler's flags, or what a program finds in its environment, can have anything run. A schedule file that somebody sent
//! must not be able to: so what the schedules of this user ask for is remembered, in a file of his own, and what was not asked for by any of
//! them needs `--trust`.

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

use sha2::{Digest as _, Sha256};
use threadbare_diagnose::Conditions;
use threadbare_target::own_folders::{cache_folders, is_own_file, own_subfolder};
use threadbare_trace::Schedule;

use crate::output;

/// What a schedule asks for that could have anything run.
#[derive(PartialEq, Eq, Debug)]
pub struct Demands {
    cflags: Vec<String>,
    env: Vec<(String, String)>,
}

impl Demands {
    /// Of a schedule; none if there is nothing of the kind.
    pub fn of(schedule: &Schedule) -> Option<Demands> {
        let (conditions, _) = Conditions::of_schedule(schedule);
        let demands = Demands { cflags: schedule.cflags.clone(), env: conditions.env };
        (!demands.cflags.is_empty() || !demands.env.is_empty()).then_some(demands)
    }

    /// The same if the program is not built.
    pub fn without_building(self) -> Option<Demands> {
        let demands = Demands { cflags: Vec::new(), ..self };
        (!demands.env.is_empty()).then_some(demands)
    }

    /// What would be done, for people.
    pub fn sentence(&self) -> String {
        let quoted =
            |word: &str| shlex::try_quote(word).map_or_else(|_| word.to_string(), |it| it.into_owned());
        let flags: Vec<String> = self.cflags.iter().map(|flag| quoted(flag)).collect();
        let set: Vec<String> =
            self.env.iter().map(|(name, value)| format!("{name}={}", quoted(value))).collect();
        let mut parts = Vec::new();
        if !flags.is_empty() {
            parts.push(format!("has it compiled with `{}`", flags.join(" ")));
        }
        if !set.is_empty() {
            parts.push(format!("sets `{}` in its environment", set.join(" ")));
        }
        parts.join(" and ")
    }

    /// Whether a schedule of this user has asked for the same.
    pub fn are_known(&self) -> bool {
        known_file().is_ok_and(|file| knows(&file, &self.fingerprint()))
    }

    fn fingerprint(&self) -> String {
        let mut hash = Sha256::new();
        let mut part = |kind: u8, text: &str| {
            hash.update([kind]);
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        };
        self.cflags.iter().for_each(|flag| part(0, flag));
        for (name, value) in &self.env {
            part(1, name);
            part(2, value);
        }
        let mut text = String::new();
        for byte in hash.finalize() {
            // Writing to a string does not fail.
            let _ = write!(text, "{byte:02x}");
        }
        text
    }
}

/// Remembers what a schedule of this user asks for.
pub fn remember(schedule: &Schedule) {
    let Some(demands) = Demands::of(schedule) else { return };
    let remembered = known_file().and_then(|file| {
        let fingerprint = demands.fingerprint();
        if knows(&file, &fingerprint) {
            return Ok(());
        }
        let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(file)?;
        file.write_all(format!("{fingerprint}\n").as_bytes())
    });
    if let Err(error) = remembered {
        output::say(&format!(
            "warning: the schedule's flags and environment cannot be remembered ({error}); its replay will need --trust"
        ));
    }
}

fn knows(file: &PathBuf, fingerprint: &str) -> bool {
    is_own_file(file)
        && fs::read_to_string(file).is_ok_and(|known| known.lines().any(|line| line == fingerprint))
}

/// The file in which it is remembered.
fn known_file() -> io::Result<PathBuf> {
    let mut problem = io::ErrorKind::NotFound.into();
    for folder in cache_folders() {
        match own_subfolder(&folder, &[]) {
            Ok(folder) => return Ok(folder.join("own-schedules")),
            Err(error) => problem = error,
        }
    }
    Err(problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(cflags: &[&str], options: &[&str]) -> Schedule {
        let texts = |words: &[&str]| words.iter().map(|word| word.to_string()).collect();
        Schedule { cflags: texts(cflags), options: texts(options), ..Schedule::default() }
    }

    #[test]
    fn only_flags_and_environment_are_demands() {
        assert_eq!(Demands::of(&schedule(&[], &["max-steps 7", "stdin x"])), None);
        let flags = Demands::of(&schedule(&["-wrapper", "sh,-c,true"], &[])).expect("demands");
        assert_eq!(flags.sentence(), "has it compiled with `-wrapper 'sh,-c,true'`");
        assert_eq!(flags.without_building(), None);
        let env = Demands::of(&schedule(&["-O1"], &["env LD_AUDIT=a b"])).expect("demands");
        assert_eq!(env.sentence(), "has it compiled with `-O1` and sets `LD_AUDIT='a b'` in its environment");
        assert!(env.without_building().is_some());
    }

    #[test]
    fn what_differs_in_any_part_has_another_fingerprint() {
        let demands = [
            schedule(&["a", "b"], &[]),
            schedule(&["ab"], &[]),
            schedule(&["a"], &["env b="]),
            schedule(&[], &["env a=b"]),
            schedule(&[], &["env a=", "env b="]),
        ];
        let prints: Vec<String> =
            demands.iter().map(|it| Demands::of(it).expect("demands").fingerprint()).collect();
        for (place, print) in prints.iter().enumerate() {
            assert!(!prints[..place].contains(print), "{place}");
        }
    }
}
