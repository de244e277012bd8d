//! Schedules: which thread ran when, in a small text file.
//!
//! A switch is named by an event ("thread 2 before its 14th operation"), never by the number of
//! a decision, so a schedule stays valid when the set of scheduling points changes.

use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;

use crate::{FailureKind, ShownFinding, ThreadId};

/// One context switch: `from` stops before its operation number `op`, and `to` is scheduled.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Switch {
    /// The thread that stops (or has ended, or is blocked).
    pub from: ThreadId,
    /// The operation it was about to make, counted from 1 in its thread.
    pub op: u32,
    /// The thread that is scheduled.
    pub to: ThreadId,
    /// Where that operation is in the source, and what it is; compared on replay.
    pub site: Arc<str>,
}

/// Everything needed to run one interleaving again.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Schedule {
    /// The program as the user named it.
    pub program: String,
    /// The folder in which it was made, where that name counts from; empty if it is not known.
    pub folder: String,
    /// The arguments of the program.
    pub args: Vec<String>,
    /// Extra compiler flags, for a program given as source.
    pub cflags: Vec<String>,
    /// Options of the run that change what the program sees, such as `spurious`.
    pub options: Vec<String>,
    /// A fingerprint of the executable.
    pub binary: String,
    /// The strategy that found it.
    pub strategy: String,
    /// The seed of the campaign.
    pub seed: u64,
    /// Which execution of the campaign it was.
    pub execution: u64,
    /// The failure that is expected, with its message.
    pub failure: Option<(FailureKind, String)>,
    /// The finding that it makes happen.
    pub shows: Option<ShownFinding>,
    /// The context switches in order.
    pub switches: Vec<Switch>,
}

/// Why a text is not a schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ScheduleError {
    /// The first line is not a schedule's.
    Foreign,
    /// The file was written by a version this one does not know.
    Version(String),
    /// A line could not be understood.
    Line(usize, String),
    /// The closing line is missing.
    Truncated,
}

impl fmt::Display for ScheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScheduleError::Foreign => write!(f, "this is not a threadbare schedule"),
            ScheduleError::Version(v) => {
                write!(f, "schedule version `{v}` is not known to this threadbare (it reads version 1)")
            }
            ScheduleError::Line(n, text) => write!(f, "line {n} is not understood: `{text}`"),
            ScheduleError::Truncated => {
                write!(f, "the closing `end` line is missing: the file was cut short")
            }
        }
    }
}

impl std::error::Error for ScheduleError {}

const HEADER: &str = "threadbare schedule ";

impl Schedule {
    /// The text of the file.
    pub fn to_text(&self) -> String {
        let mut text = Vec::new();
        // Memory takes it all.
        let _ = self.write_to(&mut text);
        String::from_utf8_lossy(&text).into_owned()
    }

    /// Writes the text of a file: that of a long execution is longer than all that it was made of.
    pub fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "{HEADER}1")?;
        let mut line = |key: &str, value: &str| writeln!(out, "{key} {}", escape(value));
        line("program", &self.program)?;
        if !self.folder.is_empty() {
            line("folder", &self.folder)?;
        }
        self.args.iter().try_for_each(|arg| line("arg", arg))?;
        self.cflags.iter().try_for_each(|flag| line("cflag", flag))?;
        self.options.iter().try_for_each(|option| line("option", option))?;
        line("binary", &self.binary)?;
        line("strategy", &self.strategy)?;
        line("seed", &self.seed.to_string())?;
        line("execution", &self.execution.to_string())?;
        if let Some((kind, message)) = &self.failure {
            line("fails", &format!("{} {message}", kind.word()))?;
        }
        if let Some(shown) = &self.shows {
            line(shown.word(), &shown.to_string())?;
        }
        for Switch { from, op, to, site } in &self.switches {
            writeln!(out, "switch {from} op {op} -> {to} at {}", escape(site))?;
        }
        writeln!(out, "end")
    }

    /// Reads the text of a file.
    pub fn parse(text: &str) -> Result<Schedule, ScheduleError> {
        let mut lines = text.lines().enumerate();
        let version =
            lines.next().and_then(|(_, first)| first.strip_prefix(HEADER)).ok_or(ScheduleError::Foreign)?;
        if version.trim() != "1" {
            return Err(ScheduleError::Version(version.trim().to_string()));
        }
        let mut schedule = Schedule::default();
        for (index, line) in lines {
            if line == "end" {
                return Ok(schedule);
            }
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (key, value) = line.split_once(' ').unwrap_or((line, ""));
            schedule
                .take_line(key, &unescape(value))
                .ok_or_else(|| ScheduleError::Line(index + 1, line.to_string()))?;
        }
        Err(ScheduleError::Truncated)
    }

    fn take_line(&mut self, key: &str, value: &str) -> Option<()> {
        match key {
            "program" => self.program = value.to_string(),
            "folder" => self.folder = value.to_string(),
            "arg" => self.args.push(value.to_string()),
            "cflag" => self.cflags.push(value.to_string()),
            "option" => self.options.push(value.to_string()),
            "binary" => self.binary = value.to_string(),
            "strategy" => self.strategy = value.to_string(),
            "seed" => self.seed = value.parse().ok()?,
            "execution" => self.execution = value.parse().ok()?,
            "fails" => {
                let (word, message) = value.split_once(' ').unwrap_or((value, ""));
                self.failure = Some((FailureKind::from_word(word)?, message.to_string()));
            }
            "shows" | "cause" => self.shows = Some(ShownFinding::read(key, value)?),
            "switch" => self.switches.push(parse_switch(value)?),
            _ => return None,
        }
        Some(())
    }
}

fn parse_switch(text: &str) -> Option<Switch> {
    let (place, site) = text.split_once(" at ")?;
    let words: Vec<&str> = place.split(' ').collect();
    let [from, "op", op, "->", to] = words[..] else { return None };
    let thread = |word: &str| word.strip_prefix('T')?.parse().ok().map(ThreadId);
    Some(Switch { from: thread(from)?, op: op.parse().ok()?, to: thread(to)?, site: site.into() })
}

fn escape(value: &str) -> String {
    value.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r")
}

fn unescape(value: &str) -> String {
    let mut plain = String::with_capacity(value.len());
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('n') => plain.push('\n'),
                Some('r') => plain.push('\r'),
                Some(other) => plain.push(other),
                None => plain.push('\\'),
            },
            _ => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Schedule {
        Schedule {
            program: "a b.c".into(),
            folder: "/home/a b".into(),
            args: vec!["--x=\n1".into(), String::new(), "back\\slash".into()],
            cflags: vec!["-O2".into()],
            options: vec!["spurious".into()],
            binary: "00ff".into(),
            strategy: "pct".into(),
            seed: 7,
            execution: 3,
            failure: Some((FailureKind::Deadlock, "T1 waits\nT2 waits".into())),
            shows: Some(ShownFinding {
                kind: "race".into(),
                pattern: Some(3),
                steps: vec![(ThreadId(1), 14), (ThreadId(2), 9)],
                sentence: "T1 wrote x at a.c:9, at the same time".into(),
                is_cause: true,
            }),
            switches: vec![Switch { from: ThreadId(1), op: 14, to: ThreadId(2), site: "a.c:9 at x".into() }],
        }
    }

    #[test]
    fn a_schedule_survives_its_own_text() {
        assert_eq!(Schedule::parse(&sample().to_text()), Ok(sample()));
    }

    #[test]
    fn every_cut_of_the_file_is_noticed() {
        let text = sample().to_text();
        for end in 0..text.len() - 1 {
            assert!(Schedule::parse(&text[..end]).is_err(), "cut at byte {end} was accepted");
        }
    }

    #[test]
    fn foreign_files_and_newer_versions_are_distinguished() {
        assert_eq!(Schedule::parse("\x7fELF"), Err(ScheduleError::Foreign));
        assert_eq!(Schedule::parse(""), Err(ScheduleError::Foreign));
        assert_eq!(Schedule::parse("threadbare schedule 9\nend\n"), Err(ScheduleError::Version("9".into())));
        assert_eq!(
            Schedule::parse("threadbare schedule 1\nnonsense here\nend\n"),
            Err(ScheduleError::Line(2, "nonsense here".into()))
        );
    }
}
