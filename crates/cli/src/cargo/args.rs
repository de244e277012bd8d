//! The options of `cargo threadbare`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use threadbare_explore::strategies::DEFAULT;

use crate::args::{HuntArgs, OutputArgs, ReplayArgs, STYLES, TimersArg};
use crate::numbers::{at_least_one, seconds, step_limit, whole, worker_count};
use crate::strategy_args::StrategyName;

const TEST_AFTER: &str = "\
WHAT IS DONE
  The crate's tests are built as `cargo test` does, with the same stable compiler, instrumented and
  in a folder of their own (target/threadbare). Every test runs in a process of its own, many times,
  each time in another interleaving of its threads. It fails if its process does in any of them: by
  a panic that the test does not catch, a deadlock, a hang, a crash. Two accesses to plain memory
  that nothing orders (a data race) fail a test as well, unless --no-races is given.
  A test that starts no thread has nothing to explore, and is not counted as passed.
  Doc tests are left out.

EXIT STATUS
  0  no test failed
  1  a test failed
  2  the tool could not do its job: the crate does not build, no test has anything to explore, or none came to its end

EXAMPLES
  cargo threadbare test
  cargo threadbare test queue:: --executions 5000 --time 60
  cargo threadbare test -p my-crate --features sync --test stress --junit target/junit.xml
  cargo threadbare test -- --skip slow --include-ignored";

const HUNT_AFTER: &str = "\
EXAMPLES
  cargo threadbare hunt --bin server --executions 5000 -- --port 0
  cargo threadbare hunt --example pool --strategy pct

`threadbare hunt --help` says more about the options.";

/// The whole command line.
#[derive(Parser, Debug)]
#[command(name = "cargo threadbare", bin_name = "cargo threadbare", version)]
#[command(about = "Runs a crate's tests in many thread interleavings, and shows those that fail")]
#[command(styles = STYLES, subcommand_required = true, max_term_width = 100)]
pub struct CargoLine {
    /// What to do.
    #[command(subcommand)]
    pub command: CargoCommand,
}

impl CargoLine {
    /// The command line as it is described to people.
    pub fn described() -> clap::Command {
        CargoLine::command().mut_subcommand("hunt", |hunt| {
            // An argument that is altered goes to the end, so both say where they belong.
            hunt.mut_arg("program", |it| it.hide(true).required(false).default_value(NO_PROGRAM).index(1))
                .mut_arg("args", |it| it.index(2))
                .mut_arg("cflags", |it| it.hide(true))
        })
    }

    /// Understands what was typed.
    pub fn understand(words: &[OsString]) -> Result<CargoLine, clap::Error> {
        CargoLine::from_arg_matches(&CargoLine::described().try_get_matches_from(words)?)
    }
}

/// The placeholder for a program that is not named, since cargo builds it.
const NO_PROGRAM: &str = ".";

/// The commands.
#[derive(Subcommand, Debug)]
pub enum CargoCommand {
    /// Run the crate's tests in many interleavings
    #[command(after_long_help = TEST_AFTER)]
    Test(Box<TestArgs>),
    /// Look for an interleaving that makes a binary or an example of the crate fail
    #[command(after_long_help = HUNT_AFTER)]
    Hunt(Box<CargoHuntArgs>),
    /// Run one interleaving again, and show it
    Replay(ReplayArgs),
}

/// Options that cargo understands.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Cargo options")]
pub struct BuildArgs {
    /// Package to build
    #[arg(long, short, value_name = "SPEC")]
    pub package: Vec<String>,

    /// All packages of the workspace
    #[arg(long, alias = "all")]
    pub workspace: bool,

    /// Packages to leave out
    #[arg(long, value_name = "SPEC")]
    pub exclude: Vec<String>,

    /// Features to activate
    #[arg(long, short = 'F', value_name = "FEATURES")]
    pub features: Vec<String>,

    /// All features
    #[arg(long)]
    pub all_features: bool,

    /// Not the `default` feature
    #[arg(long)]
    pub no_default_features: bool,

    /// With optimizations: faster, but an access that is optimized away is not seen
    #[arg(long, short, conflicts_with = "profile")]
    pub release: bool,

    /// With this profile
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,

    /// Path of Cargo.toml
    #[arg(long, value_name = "PATH")]
    pub manifest_path: Option<PathBuf>,

    /// Folder for what is built; ours is `threadbare` in it
    #[arg(long, value_name = "DIR")]
    pub target_dir: Option<PathBuf>,

    /// Cargo.lock must not change
    #[arg(long)]
    pub locked: bool,

    /// Without the network
    #[arg(long)]
    pub offline: bool,

    /// As --locked and --offline
    #[arg(long)]
    pub frozen: bool,

    /// With the small sizes that crates have for Miri (`cfg(miri)`): loops that take millions of steps get short, and tests that
    /// are ignored there are ignored here
    #[arg(long)]
    pub small: bool,

    /// Instrument the standard library as well; needs its sources (`rustup component add rust-src`)
    #[arg(long)]
    pub build_std: bool,
}

/// Which of the crate's targets to test.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Cargo options")]
pub struct TargetArgs {
    /// The library's unit tests
    #[arg(long)]
    pub lib: bool,

    /// The unit tests of all binaries
    #[arg(long)]
    pub bins: bool,

    /// The unit tests of a binary
    #[arg(long, value_name = "NAME")]
    pub bin: Vec<String>,

    /// All integration tests, and what else is tested
    #[arg(long)]
    pub tests: bool,

    /// An integration test
    #[arg(long, value_name = "NAME")]
    pub test: Vec<String>,

    /// The tests of all examples
    #[arg(long)]
    pub examples: bool,

    /// The tests of an example
    #[arg(long, value_name = "NAME")]
    pub example: Vec<String>,

    /// All targets
    #[arg(long)]
    pub all_targets: bool,
}

/// Options of `test`.
#[derive(Args, Debug)]
pub struct TestArgs {
    /// Only tests whose name contains this
    pub filter: Option<String>,

    /// What the test harness understands as well: more filters, --skip NAME, --exact
    #[arg(last = true, value_name = "ARGS")]
    pub args: Vec<String>,

    /// How to choose interleavings; `threadbare hunt --help` lists the names
    #[arg(long, value_name = "NAME", default_value = DEFAULT, value_parser = StrategyName)]
    #[arg(hide_possible_values = true)]
    pub strategy: String,

    /// Same tests, strategy and seed: same result
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole, allow_negative_numbers = true)]
    pub seed: u64,

    /// The most executions of a test (default: what the test asks for, or 1000); up to 60 more are examined for data races
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    #[arg(allow_negative_numbers = true)]
    pub executions: Option<u64>,

    /// The most time for a test, even if executions are left
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    #[arg(allow_negative_numbers = true)]
    pub time: Duration,

    /// How many tests run side by side (default: one per core)
    #[arg(long, value_name = "N", value_parser = worker_count, allow_negative_numbers = true)]
    pub jobs: Option<usize>,

    /// Steps after which an execution is cut, which is no failure (default: many times the length of the first ones)
    #[arg(long, value_name = "N", value_parser = step_limit, allow_negative_numbers = true)]
    pub max_steps: Option<u64>,

    /// Real time without a step after which an execution is given up
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    #[arg(allow_negative_numbers = true)]
    pub stall: Duration,

    /// When sleeps and waits end by time: once no thread is runnable, or at any point
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = TimersArg::Ordered)]
    pub timers: TimersArg,

    /// Let condition waits wake without a signal, as the standard library permits
    #[arg(long)]
    pub spurious: bool,

    /// A data race on plain memory is no failure
    #[arg(long)]
    pub no_races: bool,

    /// Only tests that are marked `#[ignore]`
    #[arg(long, conflicts_with = "include_ignored")]
    pub ignored: bool,

    /// Also tests that are marked `#[ignore]`
    #[arg(long)]
    pub include_ignored: bool,

    /// List the tests, and run none
    #[arg(long)]
    pub list: bool,

    /// Which targets.
    #[command(flatten)]
    pub targets: TargetArgs,

    /// How to build.
    #[command(flatten)]
    pub build: BuildArgs,

    /// Keep the schedules as they were found, with switches that the failures do not need
    #[arg(long, help_heading = "Output")]
    pub no_minimise: bool,

    /// Do not look for the causes of failures, which takes some seconds each
    #[arg(long, help_heading = "Output")]
    pub no_explain: bool,

    /// Where schedules of failures are kept (default: `found` in our target folder)
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub out: Option<PathBuf>,

    /// Write the results as JUnit XML
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub junit: Option<PathBuf>,

    /// How to show and store what was found.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Options of `hunt`.
#[derive(Args, Debug)]
pub struct CargoHuntArgs {
    /// The binary; may be left out where there is only one
    #[arg(long, value_name = "NAME", conflicts_with = "example")]
    pub bin: Option<String>,

    /// The example
    #[arg(long, value_name = "NAME")]
    pub example: Option<String>,

    /// How to build.
    #[command(flatten)]
    pub build: BuildArgs,

    /// What `threadbare hunt` takes as well.
    #[command(flatten)]
    pub hunt: HuntArgs,
}

impl CargoHuntArgs {
    /// A program that was named although cargo builds it.
    pub fn named_program(&self) -> Option<String> {
        let program = self.hunt.program.display().to_string();
        (program != NO_PROGRAM).then_some(program)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn understand(line: &str) -> CargoCommand {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        CargoLine::understand(&words).expect("understood").command
    }

    #[test]
    fn what_comes_after_two_dashes_is_neither_a_filter_nor_a_program() {
        CargoLine::described().debug_assert();
        let CargoCommand::Test(test) = understand("cargo-threadbare test -- one --skip two") else {
            panic!("test")
        };
        assert_eq!((test.filter.as_deref(), test.args.join(" ")), (None, "one --skip two".to_string()));
        let CargoCommand::Hunt(hunt) = understand("cargo-threadbare hunt --bin it -- 2") else {
            panic!("hunt")
        };
        assert_eq!((hunt.named_program(), &hunt.hunt.args[..]), (None, &["2".to_string()][..]));
    }
}
