//! Every primitive a real program uses, under control: small programs in `programs/`, an area a
//! folder, each with its verdict in its first lines.
//!
//! Directives, one a line, before the first line of code:
//! * `// expect: pass`, or the words of the failures that are fine, or `uncontrolled`;
//! * `// message: TEXT`: the failure's message (or the tool's, if uncontrolled) contains it;
//! * `// reaches: WORD …`: started with a word, some execution gets to the place of that name and
//!   ends the program there with status 42 (see `programs/reach.h`);
//! * `// executions: N`, `// strategies: NAME …`, `// options: …` of the hunt, `// flags: …` of the compiler;
//! * `// most-steps: N`: steps of one execution that does not probe for unknown sharing;
//! * `// os-threads`: once more with OS threads;
//! * `// uncut`: every execution comes to its end.
//!
//! `THREADBARE_TEST_PROGRAM=cond/broadcast` tries only the programs with that in their name.

mod support;

use std::path::{Path, PathBuf};

use support::{Answer, Desk, repository};

/// How often a failure is replayed.
const REPLAYS: &str = "5";
/// The strategies a program is tried under unless it says otherwise.
const STRATEGIES: &str = "random auto";
/// Every strategy there is.
const ALL: &str = "random pct pos surw dfs delay-yield delay-10ms delay-100ms round-robin auto";

/// A program and what it promises.
struct Program {
    source: PathBuf,
    expect: Vec<String>,
    message: Option<String>,
    reaches: Vec<String>,
    executions: String,
    strategies: Vec<String>,
    options: Vec<String>,
    flags: Vec<String>,
    most_steps: Option<u64>,
    os_threads: bool,
    uncut: bool,
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_string).collect()
}

impl Program {
    fn read(source: PathBuf) -> Program {
        let text = std::fs::read_to_string(&source).expect("a readable program");
        let said = |name: &str| {
            let mut lines = text.lines().take_while(|line| line.starts_with("//"));
            lines.find_map(|line| line.strip_prefix("// ")?.strip_prefix(name)).map(str::trim)
        };
        let list = |name: &str| words(said(name).unwrap_or_default());
        let strategies = said("strategies:").unwrap_or(STRATEGIES);
        Program {
            expect: list("expect:"),
            message: said("message:").map(str::to_string),
            reaches: list("reaches:"),
            executions: said("executions:").unwrap_or("100").to_string(),
            strategies: words(if strategies == "all" { ALL } else { strategies }),
            options: list("options:"),
            flags: list("flags:"),
            most_steps: said("most-steps:").map(|number| number.parse().expect("a number of steps")),
            os_threads: said("os-threads").is_some(),
            uncut: said("uncut").is_some(),
            source,
        }
    }

    fn name(&self) -> String {
        let area = self.source.parent().and_then(Path::file_name).unwrap_or_default();
        format!("{}/{}", area.display(), self.source.file_name().unwrap_or_default().display())
    }

    /// Builds it as a user would, and says what the compiler has against it.
    fn build(&self, desk: &Desk) -> Result<(), String> {
        let compiler = if self.source.extension().is_some_and(|ext| ext == "c") { "cc" } else { "c++" };
        let source = self.source.display().to_string();
        let mut args = vec![compiler, "-O0", "-g", "-pthread", &source, "-o", "program"];
        args.extend(self.flags.iter().map(String::as_str));
        let answer = desk.run(&args);
        if answer.code == Some(0) { Ok(()) } else { Err(format!("does not build:\n{}", answer.stderr)) }
    }

    fn hunt(&self, desk: &Desk, strategy: &str, more: &[&str]) -> Answer {
        let mut args = vec!["hunt", "./program", "--json", "-", "--seed", "1", "--jobs", "1", "--time", "60"];
        args.extend(["--executions", &self.executions, "--strategy", strategy]);
        args.extend(self.options.iter().map(String::as_str));
        args.extend(more);
        desk.run(&args)
    }

    /// Everything that is wrong with it.
    fn problems(&self) -> Vec<String> {
        let desk = Desk::new();
        if let Err(problem) = self.build(&desk) {
            return vec![problem];
        }
        let mut problems = Vec::new();
        let mut modes: Vec<(&str, &[&str])> =
            self.strategies.iter().map(|strategy| (strategy.as_str(), &[][..])).collect();
        if self.os_threads {
            modes.push(("random", &["--threads", "os"]));
        }
        for (strategy, more) in modes {
            let answer = self.hunt(&desk, strategy, more);
            if let Err(problem) = self.judge(&desk, &answer) {
                problems.push(format!("{strategy} {}: {problem}", more.join(" ")));
            }
        }
        if let Some(most) = self.most_steps {
            let steps = self.steps_of_one(&desk);
            if steps > most {
                problems.push(format!("{steps} steps an execution, more than {most}"));
            }
        }
        for place in &self.reaches {
            let answer = self.hunt(&desk, "random", &["--", place]);
            let status = "exit status 42";
            if answer.code != Some(1) || !answer.stdout.contains(status) {
                problems.push(format!("never reached `{place}`: {}", in_short(&answer)));
            }
        }
        problems
    }

    /// The average over executions of which none probes: those come early, and ever more rarely.
    fn steps_of_one(&self, desk: &Desk) -> u64 {
        let steps_of = |executions: &str| {
            let args =
                ["hunt", "./program", "--json", "-", "--strategy", "random", "--executions", executions];
            desk.run(&args).json()["steps"].as_u64().unwrap_or(u64::MAX)
        };
        (steps_of("60") - steps_of("30")) / 30
    }

    fn judge(&self, desk: &Desk, answer: &Answer) -> Result<(), String> {
        let verdict = match answer.code {
            Some(0) => "pass".to_string(),
            Some(1) => answer.json()["failure"]["kind"].as_str().unwrap_or("nothing").to_string(),
            Some(2) => "uncontrolled".to_string(),
            code => format!("status {code:?}"),
        };
        if !self.expect.contains(&verdict) {
            return Err(format!(
                "expected {}, got {verdict}: {}",
                self.expect.join(" or "),
                in_short(answer)
            ));
        }
        if verdict == "uncontrolled" {
            return self.says(&answer.stderr);
        }
        let report = answer.json();
        if self.uncut && report["cut"] != 0 {
            return Err(format!("{} executions were cut", report["cut"]));
        }
        let failure = &report["failure"];
        let Some(schedule) = failure["schedule"].as_str() else { return Ok(()) };
        self.says(failure["message"].as_str().unwrap_or_default())?;
        let replay = desk.run(&["replay", schedule, "--times", REPLAYS, "--json", "-"]);
        let reproduced = match replay.code {
            Some(0 | 1) => replay.json()["replay"]["reproduced"].to_string(),
            _ => replay.stderr.clone(),
        };
        if reproduced != REPLAYS {
            return Err(format!(
                "{schedule} reproduced {reproduced} of {REPLAYS} times: {}",
                in_short(&replay)
            ));
        }
        Ok(())
    }

    fn says(&self, text: &str) -> Result<(), String> {
        match &self.message {
            Some(wanted) if !text.contains(wanted) => Err(format!("`{wanted}` is not in: {text}")),
            _ => Ok(()),
        }
    }
}

/// What a person needs of an answer to see what went wrong.
fn in_short(answer: &Answer) -> String {
    match answer.code {
        Some(0 | 1) => format!("{}\n{}", answer.json()["failure"], answer.json()["replay"]),
        _ => answer.stderr.clone(),
    }
}

fn folder() -> PathBuf {
    repository("crates/cli/tests/programs")
}

/// The folders or programs in a folder, in order.
fn entries(folder: &Path, folders: bool) -> Vec<PathBuf> {
    let listed = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> =
        listed.flatten().map(|entry| entry.path()).filter(|path| path.is_dir() == folders).collect();
    paths.sort();
    paths
}

fn try_area(area: &str) {
    let mut problems = Vec::new();
    let only = std::env::var("THREADBARE_TEST_PROGRAM").unwrap_or_default();
    for source in entries(&folder().join(area), false) {
        let program = Program::read(source);
        if !program.name().contains(&only) {
            continue;
        }
        let start = std::time::Instant::now();
        let found = program.problems();
        println!(
            "{:40} {:6.2} s {}",
            program.name(),
            start.elapsed().as_secs_f64(),
            if found.is_empty() { "" } else { "✗" }
        );
        problems.extend(found.into_iter().map(|problem| format!("{}: {problem}", program.name())));
    }
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

macro_rules! areas {
    ($($area:ident),* $(,)?) => {
        $(
            #[test]
            fn $area() {
                try_area(stringify!($area));
            }
        )*

        #[test]
        fn every_folder_of_programs_is_tried() {
            let tried = [$(stringify!($area)),*];
            for folder in entries(&folder(), true) {
                let name = folder.file_name().unwrap_or_default().display().to_string();
                assert!(tried.contains(&name.as_str()), "programs/{name} is not tried");
            }
        }
    };
}

areas! {
    atomics, barrier, c11, cancel, cond, cpp, cpp20, failure, fork, io, isolation, lifecycle, memory, misuse, mutex, odd, once, openmp, rwlock,
    semaphore, sharing, signals, spin, spin_loop, time, tsd,
}

/// A hunt's report without what depends on the clock and on the folder.
fn timeless(mut report: serde_json::Value) -> serde_json::Value {
    for field in ["elapsed_s", "executions_per_s"] {
        report[field] = serde_json::Value::Null;
    }
    report
}

#[test]
fn the_same_hunt_gives_the_same_report_whatever_the_jobs() {
    for name in [
        "time/clocks.c",
        "cond/timed_both_ways.c",
        "failure/three_way_deadlock.c",
        "io/pipe_order.c",
        "isolation/files.c",
        "odd/randomness.c",
    ] {
        let program = Program::read(folder().join(name));
        let mut reports = Vec::new();
        for jobs in ["1", "1", "2"] {
            let desk = Desk::new();
            assert_eq!(program.build(&desk), Ok(()));
            let args =
                ["hunt", "./program", "--json", "-", "--seed", "7", "--executions", "100", "--jobs", jobs];
            reports.push(timeless(desk.run(&args).json()));
        }
        assert_eq!(reports[0], reports[1], "{name}: the second hunt differs");
        assert_eq!(reports[0], reports[2], "{name}: two jobs differ from one");
    }
}
