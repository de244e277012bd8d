//! A program under examination: the campaign with whole traces, and an account of how its executions ended.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use threadbare_detect::{Access, Finding, FindingKind};
use threadbare_target::{Execution, Program};
use threadbare_trace::{EventKind, Outcome};
use threadbare_wire::flags;

use crate::campaign::control::{Control, Unfinished};
use crate::campaign::observer::{Examiner, Observed, Observer};
use crate::campaign::{Conduct, Phase, Progress, conduct};
use crate::check::{Check, Examined, Met};
use crate::checkpoints::Spared;
use crate::confirm::happens;
use crate::coverage::Coverage;
use crate::error::ExploreError;
use crate::kept_events::KeptEvents;
use crate::minimise::is_same_failure;
use crate::options::Options;
use crate::runner::{Launch, Servers};
use crate::strategy::Strategy;

/// The most executions that are planned at once, where their traces are kept whole until the batch is over: a trace of a
/// million steps takes 64 MB. Eight workers are as many as have anything to do.
pub(crate) const LARGEST_BATCH: u64 = 8;
/// How many executions that passed are kept to compare others with them, and how many events.
const COMPARED: usize = 40;
const COMPARED_EVENTS: usize = 400_000;
/// How many executions make no step for so long that they are cut before nothing more is tried: each costs all that time.
const COSTLY: u64 = 3;

/// Starts servers whose executions are recorded whole.
pub(crate) fn servers<'a>(program: &'a Program, options: &Options, stop: &Arc<AtomicBool>) -> Servers<'a> {
    Servers::new(program, options, flags::RECORD_ALL, stop)
}

/// Examines what the launcher starts, in as many phases as are wanted; gives the account.
pub(crate) fn examine<L: Launch, T>(
    launch: &L,
    options: &Options,
    progress: &dyn Fn(&Progress),
    stop: &AtomicBool,
    phases: impl FnOnce(&mut Drive<'_, '_>) -> Result<T, ExploreError>,
) -> Result<(Check, T), ExploreError> {
    let mut measuring = options.measuring()?;
    conduct(launch, options, progress, stop, |conduct| {
        let account = Account {
            unfinished: Unfinished::default(),
            has_findings: false,
            check: Check::default(),
            kept: KeptEvents::of(options),
            ordered_by: BTreeMap::new(),
        };
        let coverage = Coverage::of(&mut measuring, false);
        let mut drive = Drive { conduct, coverage, account };
        let result = phases(&mut drive)?;
        Ok((drive.end()?, result))
    })
}

/// A campaign under way, with its account.
pub(crate) struct Drive<'d, 'c> {
    conduct: &'d mut Conduct<'c>,
    coverage: Coverage<'d>,
    pub(crate) account: Account,
}

impl Drive<'_, '_> {
    /// Runs what a strategy plans, and shows it to one more observer.
    pub(crate) fn follow(
        &mut self,
        strategy: &mut dyn Strategy,
        phase: &Phase,
        observer: &mut dyn Observer,
    ) -> Result<(), ExploreError> {
        if self.account.check.given_up {
            return Ok(());
        }
        self.conduct.follow(strategy, phase, &mut [&mut self.coverage, &mut self.account, observer])
    }

    /// The same, until all that is measured is saturated if that is wanted.
    pub(crate) fn follow_until_saturated(
        &mut self,
        strategy: &mut dyn Strategy,
        phase: &Phase,
        observer: &mut dyn Observer,
    ) -> Result<(), ExploreError> {
        self.coverage.ask_for_the_end(self.options().until_saturated);
        let result = self.follow(strategy, phase, observer);
        self.coverage.ask_for_the_end(false);
        self.account.check.saturated = self.coverage.is_enough();
        result
    }

    pub(crate) fn options(&self) -> &Options {
        self.conduct.options
    }

    /// Executions made so far.
    pub(crate) fn made(&self) -> u64 {
        self.conduct.made()
    }

    /// From now on, no more of the time may be spent than this many percent of all.
    pub(crate) fn spend_until(&self, percent: u32) {
        self.conduct.spend_until(percent);
    }

    /// Tells of what was made to happen.
    pub(crate) fn tell(&self, found: &Examined) {
        self.conduct.tell(vec![found.clone()]);
    }

    /// What continuing from checkpoints saved.
    pub(crate) fn spared(&self) -> Spared {
        self.conduct.spared()
    }

    /// Whether nothing more shall be run.
    pub(crate) fn is_over(&self) -> bool {
        self.account.check.given_up || self.conduct.is_over()
    }

    /// Whether every server of the program loads it at the same addresses.
    pub(crate) fn has_fixed_addresses(&self) -> bool {
        self.conduct.has_fixed_addresses()
    }

    fn end(self) -> Result<Check, ExploreError> {
        let warnings = self.account.library_warnings();
        let Account { unfinished, has_findings, mut check, .. } = self.account;
        check.warnings.extend(warnings);
        let interrupted = self.conduct.is_stopped();
        let control = Control {
            executions: check.executions,
            unfinished: &unfinished,
            steps: check.steps,
            threads: check.threads,
            has_result: interrupted || has_findings || !check.failures.is_empty(),
        };
        check.warnings.extend(control.judge()?);
        Ok(Check {
            elapsed: self.conduct.elapsed(),
            interrupted,
            coverage: self.coverage.account(),
            workers: self.conduct.workers(),
            ..check
        })
    }
}

/// How executions ended.
pub(crate) struct Account {
    unfinished: Unfinished,
    /// A detector has found something.
    has_findings: bool,
    pub(crate) check: Check,
    kept: KeptEvents,
    /// How many pairs of accesses each library without instrumentation may have ordered.
    ordered_by: BTreeMap<String, u64>,
}

impl Observer for Account {
    fn reads_events(&self) -> bool {
        true
    }

    fn observe(&mut self, seen: &Observed<'_>) -> ControlFlow<()> {
        self.has_findings |= !seen.found.is_empty();
        self.enter(seen.run);
        match self.check.given_up || self.unfinished.is_hopeless(self.check.executions) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    fn crashed(&mut self, run: &Arc<Execution>) {
        self.enter(run);
    }
}

impl Account {
    fn enter(&mut self, run: &Arc<Execution>) {
        self.unfinished.enter(&run.outcome);
        let check = &mut self.check;
        check.cut = self.unfinished.cut;
        check.given_up |= check.cut >= COSTLY && run.stalled;
        check.executions += 1;
        check.steps += run.steps;
        check.threads = check.threads.max(run.threads);
        check.modules = Arc::clone(&run.modules);
        for warning in &run.warnings {
            if !check.warnings.contains(warning) {
                check.warnings.push(warning.clone());
            }
        }
        if let Some(failure) = run.outcome.failure() {
            let same = |met: &&mut Met| {
                met.run.outcome.failure().is_some_and(|known| is_same_failure(known, failure))
            };
            match check.failures.iter_mut().find(same) {
                Some(met) => met.count += 1,
                None => {
                    let run = self.kept.keep(Arc::clone(run));
                    check.failures.push(Met { execution: check.executions, run, count: 1 })
                }
            }
        }
        if !matches!(run.outcome, Outcome::Passed) {
            return;
        }
        let kept: usize = check.passing.iter().map(|run| run.events.len()).sum();
        let is_room = check.passing.len() < COMPARED && kept + run.events.len() <= COMPARED_EVENTS;
        if is_room || check.passing.is_empty() {
            check.passing.push(Arc::clone(run));
        }
    }

    /// Remembers the library that may have ordered the accesses of a race, if there is one.
    pub(crate) fn note_library(&mut self, finding: &Finding, run: &Execution) {
        let [first, second] = &finding.accesses[..] else { return };
        let calls = |access: &Access, range: Range<usize>| -> Vec<u64> {
            let events = run.events.get(range).unwrap_or_default().iter();
            let calls = events.filter(|event| {
                event.thread == access.thread && event.kind() == Some(EventKind::LibraryCall)
            });
            calls.map(|event| event.value).collect()
        };
        let (later, earlier) = (calls(first, first.event..second.event), calls(second, 0..second.event));
        let common = later.iter().find(|library| earlier.contains(library));
        if let (FindingKind::Race, Some(library)) = (finding.kind, common) {
            let module = run.modules.all().iter().find(|module| module.bias == *library);
            if let Some(module) = module {
                *self.ordered_by.entry(module.name.clone()).or_default() += 1;
            }
        }
    }

    /// What the user should know of the libraries that may have ordered something.
    pub(crate) fn library_warnings(&self) -> Vec<String> {
        let warning = |(library, pairs): (&String, &u64)| {
            let pairs = if *pairs == 1 {
                "1 pair of accesses is".to_string()
            } else {
                format!("{pairs} pairs of accesses are")
            };
            format!(
                "{pairs} not reported as races: they never came at the same time, and what {library} orders is not known, \
                 since it has no instrumentation"
            )
        };
        self.ordered_by.iter().map(warning).collect()
    }

    /// Whether it happens in so many executions that pass that it cannot make others fail.
    pub(crate) fn is_common(&self, finding: &Finding) -> bool {
        let passing = &self.check.passing;
        2 * passing.iter().filter(|run| happens(finding, run)).count() > passing.len()
    }
}

/// A phase of so many executions whose traces are kept whole.
pub(crate) fn phase(executions: u64, examiner: Arc<dyn Examiner>) -> Phase {
    Phase { executions, largest_batch: LARGEST_BATCH, examiner }
}

/// Looks at nothing besides.
pub(crate) struct NobodyElse;

impl Observer for NobodyElse {
    fn observe(&mut self, _seen: &Observed<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
