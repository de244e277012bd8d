//! One program: what each strategy says of it, and whether that can be true.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use threadbare_explore::strategies::DEFAULT;
use threadbare_explore::{
    Campaign, ExploreError, Measuring, Options, SaturationRule, hunt, hunt_measured, verify,
};
use threadbare_library::Dependence;
use threadbare_sched::Rng;
use threadbare_target::{self as target, resolve};
use threadbare_trace::{Failure, FailureKind};

use super::program::{CHECK_FAILS, Check, FIRST_STATUS, OUTCOMES, Program};
use super::races::{Adjacent, Races};
use crate::Result;

/// The strategies that claim something when they end, `dfs` first: it runs everything, and the others are measured by it.
pub const CLAIMING: [&str; 6] = ["dfs", "verify", "states", "mcr", "total", "reach"];
/// Who looks for races.
const CHECK: &str = "check";
/// Those that claim nothing and see other interleavings than `dfs` if it leaves some out.
const SAMPLING: [&str; 3] = ["random", "pct", "pos"];

/// Visible steps after which an execution counts as hung; these programs make some dozens.
const MOST_STEPS: u64 = 3_000;
/// How long a strategy may take.
const MOST_TIME: Duration = Duration::from_secs(3);
/// How long a program may take without control before it counts as hung, and for how long it is run again and again.
const LONGEST_RUN: Duration = Duration::from_secs(8);
const NATIVE_TIME: Duration = Duration::from_millis(400);

/// One in so many programs is tried again, to see whether the same seed gives the same.
const ASKED_AGAIN: u64 = 4;
/// The share of executions that others get where dfs does not end: what they claim there can be compared with little.
const SHARE_WITHOUT_TRUTH: u64 = 3;

/// What programs make and remove by other processes.
const DIRECTORY: &str = "d";

/// How much is tried.
#[derive(Clone, Copy)]
pub struct Effort {
    /// The most executions of a strategy that claims something.
    pub executions: u64,
    /// The most executions of those that sample, together.
    pub samples: u64,
    /// Runs without control.
    pub native: u32,
    /// A kind of doubt that is passed over.
    pub overlook: Option<Dependence>,
    /// Programs are kept even if nothing is wrong with them.
    pub keeps_all: bool,
}

/// What a strategy says.
#[derive(Clone, Default)]
pub struct Said {
    /// Its name.
    pub by: &'static str,
    /// Executions made.
    pub executions: u64,
    /// How programs ended, and how often. Those that passed are `passed`.
    pub outcomes: BTreeMap<String, u64>,
    /// It claims that there is nothing else.
    pub exhausted: bool,
    /// It came to its end, whether or not it claims something.
    pub ended: bool,
    /// What it says besides.
    pub warnings: Vec<String>,
    /// Why it could do nothing.
    pub error: Option<String>,
    /// How long it took.
    pub elapsed: Duration,
}

/// Something that cannot be true.
pub struct Disagreement {
    /// What kind of thing it is.
    pub kind: Kind,
    /// Who said it.
    pub by: &'static str,
    /// What speaks against it.
    pub against: String,
}

/// The kinds, the worst first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// It claims that nothing is left, and something else happened.
    FalseClaim,
    /// `check` has confirmed a race, and in no interleaving the two accesses follow each other.
    FalseRace,
    /// Two accesses follow each other in some interleaving, and `check` does not report them.
    MissedRace,
    /// The same seed gave something else the second time.
    Different,
    /// It could not do its job.
    Error,
}

/// What came of one program.
pub struct Trial {
    /// Its number.
    pub number: u64,
    /// What it is drawn over.
    pub features: Vec<String>,
    /// What was said of it by those that claim something.
    pub said: Vec<Said>,
    /// Its races, where they were compared.
    pub races: Option<Races>,
    /// What cannot be true.
    pub disagreements: Vec<Disagreement>,
    /// Where its source is, if it was kept.
    pub kept: Option<PathBuf>,
    /// What took how long.
    pub spent: BTreeMap<&'static str, Duration>,
}

/// Adds up what takes how long.
struct Clock {
    begin: Instant,
    spent: BTreeMap<&'static str, Duration>,
}

impl Default for Clock {
    fn default() -> Clock {
        Clock { begin: Instant::now(), spent: BTreeMap::new() }
    }
}

impl Clock {
    /// What was done since the last time.
    fn lap(&mut self, what: &'static str) {
        let now = Instant::now();
        *self.spent.entry(what).or_default() += now - self.begin;
        self.begin = now;
    }
}

/// Draws a program, and tries it out.
pub fn run(seed: u64, number: u64, over: &[String], effort: Effort, keep: &Path) -> Result<Trial> {
    let program = Program::draw(seed, number, over);
    let folder = tempfile::tempdir()?;
    let mut random = Rng::new(Rng::derive(!seed, number));
    let mut disagreements = Vec::new();
    let mut clock = Clock::default();

    let reporting = Built::new(&program, Check::Report, number, folder.path(), effort)?;
    clock.lap("building");
    let all = reporting.claimed_by("dfs", seed, 1, effort.executions);
    clock.lap("dfs");
    let mut seen = reporting.seen_otherwise(&all, seed, effort, &mut clock);
    disagreements.extend(contradiction(&all, &seen));
    seen.push(all.clone());

    let forbidden = choose(&seen, &mut random);
    let checking = Built::new(&program, Check::Forbid(forbidden), number, folder.path(), effort)?;
    clock.lap("building");
    let known: Vec<Said> = seen.iter().map(|said| said.with_check(forbidden, program.failure)).collect();
    let mut said = Vec::new();
    let adjacent = Adjacent::default();
    let executions = if all.ended { effort.executions } else { effort.executions / SHARE_WITHOUT_TRUTH };
    for by in CLAIMING {
        said.push(match (by, known.last()) {
            // Where there are too many interleavings, dfs would not end here either.
            ("dfs", Some(known)) if !all.ended => known.clone(),
            ("dfs", _) => checking.everything(seed, executions, &adjacent),
            _ => checking.claimed_by(by, seed, 1, executions),
        });
        clock.lap(by);
    }
    let everything: Vec<Said> = said.iter().chain(&known).cloned().collect();
    disagreements.extend(said.iter().filter_map(|claim| contradiction(claim, &everything)));
    for once in &said {
        if let Some(error) = &once.error {
            let against = error.clone();
            disagreements.push(Disagreement { kind: Kind::Error, by: once.by, against });
        }
        // What was ended by time ends elsewhere the next time; and dfs has no choice. It would take a quarter of all time to ask always.
        let is_judged = once.is_in_time() && !once.says_that_results_may_differ();
        if once.by == "dfs" || !is_judged || !number.is_multiple_of(ASKED_AGAIN) {
            continue;
        }
        let again = checking.claimed_by(once.by, seed, 2, executions);
        clock.lap("again");
        if again.is_in_time()
            && (again.executions, again.exhausted, &again.outcomes)
                != (once.executions, once.exhausted, &once.outcomes)
        {
            let against = format!("{}, and then {}", once.words(), again.words());
            disagreements.push(Disagreement { kind: Kind::Different, by: once.by, against });
        }
    }
    let mut races = None;
    if said[0].exhausted {
        races = Races::of(&checking.program, adjacent, checking.options(DEFAULT, seed, 1, executions)).ok();
        clock.lap("races");
    }
    for (one, other) in races.iter().flat_map(Races::false_alarms) {
        let against = format!("{one:#x} and {other:#x} are never adjacent");
        disagreements.push(Disagreement { kind: Kind::FalseRace, by: CHECK, against });
    }
    for (one, other) in races.iter().flat_map(Races::missed) {
        let against = format!("{one:#x} and {other:#x} race");
        disagreements.push(Disagreement { kind: Kind::MissedRace, by: CHECK, against });
    }
    let kept = match disagreements.is_empty() && !effort.keeps_all {
        true => None,
        false => Some(keep_program(
            &program,
            [Check::Report, Check::Forbid(forbidden)],
            (seed, number),
            keep,
            &disagreements,
        )?),
    };
    Ok(Trial { number, features: program.features, said, races, disagreements, kept, spent: clock.spent })
}

/// What broken memory leads to: depends on what lies where, and strategies that reason about all orders never use an address twice.
const AFTER_BROKEN_MEMORY: [FailureKind; 3] =
    [FailureKind::Segfault, FailureKind::Abort, FailureKind::Exception];

/// What others have seen that cannot be, if a claim holds.
fn contradiction(claim: &Said, others: &[Said]) -> Option<Disagreement> {
    let mut seen_by: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let breaks_memory = claim.outcomes.contains_key(FailureKind::UseAfterFree.word());
    let is_explained = |outcome: &str| {
        claim.outcomes.contains_key(outcome)
            || breaks_memory && AFTER_BROKEN_MEMORY.iter().any(|kind| kind.word() == outcome)
    };
    for other in others.iter().filter(|_| claim.exhausted) {
        for outcome in other.failures().into_iter().filter(|outcome| !is_explained(outcome)) {
            seen_by.entry(outcome).or_default().insert(other.by);
        }
    }
    let seen = |(outcome, by): (&&str, &BTreeSet<&str>)| {
        format!("{outcome}, by {}", by.iter().copied().collect::<Vec<_>>().join(" and "))
    };
    let seen: Vec<String> = seen_by.iter().map(seen).collect();
    let against = format!("{}, but there is {}", claim.words(), seen.join("; "));
    (!seen.is_empty()).then_some(Disagreement { kind: Kind::FalseClaim, by: claim.by, against })
}

/// The outcome to forbid: mostly one that is possible and rare, so that it has to be looked for.
fn choose(seen: &[Said], random: &mut Rng) -> u32 {
    let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
    for (outcome, count) in seen.iter().flat_map(|said| &said.outcomes) {
        if let Some(status) = status(outcome) {
            *counts.entry(status).or_default() += count;
        }
    }
    let mut possible: Vec<(u64, u32)> = counts.into_iter().map(|(status, count)| (count, status)).collect();
    possible.sort_unstable();
    match (random.below(4), possible.is_empty()) {
        (0, _) | (_, true) => random.below(u64::from(OUTCOMES)) as u32,
        (1, false) => possible[random.below(possible.len() as u64) as usize].1,
        (_, false) => possible[0].1,
    }
}

/// Which outcome an exit status reports.
fn status(outcome: &str) -> Option<u32> {
    let status: u32 = outcome.strip_prefix(EXIT)?.parse().ok()?;
    status.checked_sub(FIRST_STATUS).filter(|status| *status < OUTCOMES)
}

/// What can be said of a program that runs by itself and does not end well.
const ALONE: [&str; 2] = ["does not end", "was killed"];
const PASSED: &str = "passed";
const EXIT: &str = "exit ";

/// A program that can be run.
struct Built {
    program: target::Program,
    /// Its exit status says what came out.
    reports: bool,
    overlooked: Option<Dependence>,
}

impl Built {
    fn new(program: &Program, check: Check, number: u64, folder: &Path, effort: Effort) -> Result<Built> {
        let source = program.source(check);
        let way = match check {
            Check::Report => "report",
            Check::Forbid(_) => "check",
        };
        let file = folder.join(format!("{number}-{way}.{}", program.extension()));
        std::fs::write(&file, &source)?;
        let mut flags = program.flags.clone();
        if !program.library.is_empty() {
            flags.push(library(&program.library, folder)?);
        }
        let mut program = resolve(&file, &flags, folder).map_err(|error| format!("{error}\n{source}"))?;
        program.folder = Some(folder.to_path_buf());
        let (reports, overlooked) = (matches!(check, Check::Report), effort.overlook);
        Ok(Built { program, reports, overlooked })
    }

    fn options(&self, strategy: &str, seed: u64, jobs: usize, executions: u64) -> Options {
        Options {
            strategy: strategy.to_string(),
            overlooked: self.overlooked,
            seed,
            jobs,
            executions,
            time: Some(MOST_TIME),
            max_steps: MOST_STEPS,
            keep_going: true,
            stall: Duration::from_secs(5),
            ..Options::default()
        }
    }

    /// What a strategy says that may claim something.
    fn claimed_by(&self, by: &'static str, seed: u64, jobs: usize, executions: u64) -> Said {
        self.timed(by, executions, || match by {
            "verify" => self.verified(seed, jobs, executions),
            _ => self.hunted(by, seed, jobs, executions),
        })
    }

    /// What dfs says, while somebody looks at its executions.
    fn everything(&self, seed: u64, executions: u64, adjacent: &Adjacent) -> Said {
        let mut measuring = Measuring::with(vec![Box::new(adjacent.clone())], SaturationRule::default());
        self.timed("dfs", executions, || {
            let options = self.options("dfs", seed, 1, executions);
            let campaign = hunt_measured(&self.program, &options, &mut measuring, &|_| {}, &Arc::default())?;
            Ok(self.said_of(campaign))
        })
    }

    fn timed(
        &self,
        by: &'static str,
        executions: u64,
        campaign: impl FnOnce() -> std::result::Result<Said, ExploreError>,
    ) -> Said {
        self.tidy();
        let begin = Instant::now();
        let result = campaign();
        let said = result.unwrap_or_else(|error| Said { error: Some(error.to_string()), ..Said::default() });
        let elapsed = begin.elapsed();
        let ended =
            said.exhausted || (said.error.is_none() && said.executions < executions && elapsed < MOST_TIME);
        Said { by, ended, elapsed, ..said }
    }

    /// Takes away what other processes have left in the program's folder: nobody puts that back between executions.
    fn tidy(&self) {
        let made = self.program.folder.as_ref().map(|folder| folder.join(DIRECTORY));
        // There may be none.
        let _ = made.map(std::fs::remove_dir);
    }

    fn hunted(
        &self,
        by: &str,
        seed: u64,
        jobs: usize,
        executions: u64,
    ) -> std::result::Result<Said, ExploreError> {
        let options = self.options(by, seed, jobs, executions);
        Ok(self.said_of(hunt(&self.program, &options, &|_| {}, &Arc::default())?))
    }

    fn said_of(&self, campaign: Campaign) -> Said {
        let mut said =
            Said { executions: campaign.executions, exhausted: campaign.exhausted, ..Said::default() };
        for found in &campaign.found {
            said.count(self.name(found.run.outcome.failure()), found.count);
        }
        said.finish(campaign.uncontrolled, campaign.warnings);
        said
    }

    fn verified(&self, seed: u64, jobs: usize, executions: u64) -> std::result::Result<Said, ExploreError> {
        let options = self.options("total", seed, jobs, executions);
        let result = verify(&self.program, &options, &|_| {}, &Arc::default())?;
        let mut said =
            Said { executions: result.check.executions, exhausted: result.exhausted, ..Said::default() };
        for met in &result.check.failures {
            said.count(self.name(met.run.outcome.failure()), met.count);
        }
        said.finish(0, result.check.warnings);
        Ok(said)
    }

    /// What those see that do not run everything, if it is claimed that everything was run.
    fn seen_otherwise(&self, all: &Said, seed: u64, effort: Effort, clock: &mut Clock) -> Vec<Said> {
        if !all.exhausted {
            return Vec::new();
        }
        // Of few interleavings, few more executions show most.
        let share = effort.samples.min(all.executions + 60).div_ceil(SAMPLING.len() as u64);
        let mut seen: Vec<Said> = SAMPLING.iter().map(|by| self.claimed_by(by, seed, 1, share)).collect();
        clock.lap("sampling");
        seen.push(self.native(all, effort.native));
        clock.lap("native runs");
        seen
    }

    /// What real threads do.
    fn native(&self, all: &Said, runs: u32) -> Said {
        let mut said = Said { by: "the program by itself", ..Said::default() };
        let begin = Instant::now();
        let saw = |kinds: &[&str]| all.outcomes.keys().any(|outcome| kinds.contains(&outcome.as_str()));
        // What follows on broken memory is anybody's guess, and only this tool sees that it is broken.
        if saw(&["use-after-free", "misuse"]) {
            return said;
        }
        let may_hang = saw(&["deadlock", "hang"]);
        for _ in 0..runs {
            if begin.elapsed() > NATIVE_TIME {
                break;
            }
            let longest = if may_hang { Duration::from_millis(50) } else { LONGEST_RUN };
            let outcome = match self.run_alone(longest) {
                Some(outcome) => outcome,
                None if may_hang => continue,
                None => ALONE[0].to_string(),
            };
            // The system has one word for several kinds.
            let outcome = match outcome.as_str() {
                "was killed" if saw(&["abort", "segfault", "exception", "assertion", CHECK_FAILS]) => {
                    continue;
                }
                _ => outcome,
            };
            *said.outcomes.entry(outcome).or_default() += 1;
        }
        said
    }

    /// What makes two failures the same. Where a deadlock or a bad access shows depends on the order of threads, and one exit
    /// status is as bad as another unless it is a report.
    fn name(&self, failure: Option<&Failure>) -> Option<String> {
        let failure = failure?;
        Some(match failure.kind {
            FailureKind::Exit if self.reports => {
                format!("{EXIT}{}", failure.message.rsplit(' ').next().unwrap_or_default())
            }
            FailureKind::Assertion if failure.message.contains("& 3)") => CHECK_FAILS.to_string(),
            kind => kind.word().to_string(),
        })
    }

    fn run_alone(&self, longest: Duration) -> Option<String> {
        let begin = Instant::now();
        let mut command = Command::new(&self.program.executable);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.current_dir(self.program.folder.as_ref()?);
        let mut child = command.spawn().ok()?;
        loop {
            match child.try_wait() {
                Ok(Some(status)) => {
                    return Some(match (status.code(), status.signal()) {
                        (Some(0), _) => PASSED.to_string(),
                        (Some(code), _) => format!("{EXIT}{code}"),
                        _ => ALONE[1].to_string(),
                    });
                }
                _ if begin.elapsed() > longest => {
                    let _ = child.kill();
                    let _ = child.wait();
                    return None;
                }
                _ => sleep(Duration::from_micros(200)),
            }
        }
    }
}

/// Builds the library that a program uses, and says where it is.
fn library(source: &str, folder: &Path) -> Result<String> {
    let (file, library) = (folder.join("plain.c"), folder.join("libplain.so"));
    std::fs::write(&file, source)?;
    let built =
        Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(&file).status()?;
    if !built.success() {
        return Err("the C compiler could not build a library".into());
    }
    Ok(library.to_string_lossy().into_owned())
}

impl Said {
    fn count(&mut self, failure: Option<String>, count: u64) {
        if let Some(failure) = failure {
            *self.outcomes.entry(failure).or_default() += count;
        }
    }

    /// Whether it ended long before it would have been ended.
    fn is_in_time(&self) -> bool {
        self.elapsed < MOST_TIME / 2
    }

    /// Whether it warns that the same seed may give something else.
    fn says_that_results_may_differ(&self) -> bool {
        self.warnings.iter().any(|warning| warning.contains("the same seed may give other results"))
    }

    fn finish(&mut self, uncontrolled: u64, warnings: Vec<String>) {
        let others: u64 = self.outcomes.values().sum::<u64>() + uncontrolled;
        if self.executions > others {
            self.outcomes.insert(PASSED.to_string(), self.executions - others);
        }
        self.warnings = warnings;
    }

    /// What it would be if this outcome were forbidden.
    fn with_check(&self, forbidden: u32, failure: &str) -> Said {
        let translate = |outcome: &str| match status(outcome) {
            Some(status) if status == forbidden => failure.to_string(),
            Some(_) => PASSED.to_string(),
            None if outcome.starts_with(EXIT) => FailureKind::Exit.word().to_string(),
            None => outcome.to_string(),
        };
        let mut outcomes = BTreeMap::new();
        // A program by itself does not say why it was killed.
        for (outcome, count) in self.outcomes.iter().filter(|(outcome, _)| !ALONE.contains(&outcome.as_str()))
        {
            *outcomes.entry(translate(outcome)).or_default() += count;
        }
        Said { outcomes, exhausted: false, ..self.clone() }
    }

    fn words(&self) -> String {
        let outcomes: Vec<String> =
            self.outcomes.iter().map(|(outcome, count)| format!("{outcome}: {count}")).collect();
        let end = if self.exhausted { ", exhausted" } else { "" };
        format!("{} executions ({}{end})", self.executions, outcomes.join(", "))
    }

    /// The failures it has seen.
    pub fn failures(&self) -> BTreeSet<&str> {
        self.outcomes.keys().map(String::as_str).filter(|outcome| *outcome != PASSED).collect()
    }
}

/// Keeps the program as it reports and as it checks, with what is wrong about it.
fn keep_program(
    program: &Program,
    checks: [Check; 2],
    (seed, number): (u64, u64),
    keep: &Path,
    disagreements: &[Disagreement],
) -> Result<PathBuf> {
    std::fs::create_dir_all(keep)?;
    let mut head = format!(
        "// Program {number} of seed {seed}, {}: {}\n",
        program.flags.join(" "),
        program.features.join(", ")
    );
    for it in disagreements {
        head.push_str(&format!("// {:?} of {}: {}\n", it.kind, it.by, it.against.replace('\n', " ")));
    }
    let file = |way: &str| keep.join(format!("{seed}-{number}{way}.{}", program.extension()));
    std::fs::write(file("-report"), head.clone() + &program.source(checks[0]))?;
    std::fs::write(file(""), head + &program.source(checks[1]))?;
    Ok(file(""))
}
