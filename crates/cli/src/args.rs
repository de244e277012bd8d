//! What can be said on the command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum};

use threadbare_explore::Timers;
use threadbare_explore::strategies::{DEFAULT, StrategyOption, StrategyOptions};

use crate::after_help::{check_after, hunt_after};
use crate::compare_args::{self, COMPARE_AFTER, CompareArgs};
use crate::coverage_args::CoverageArgs;
use crate::generate_args::{GENERATE_AFTER, GenerateArgs};
use crate::numbers::{
    at_least_one, depth, memory, preemptions, probability, seconds, step_limit, whole, width, worker_count,
};
use crate::page::{REPORT_AFTER, ReportArgs};
use crate::strategy_args::{StrategyName, option_help};
use crate::suite_args::{SUITE_AFTER, SuiteArgs};
use crate::trace::TraceArgs;
use crate::verify_args::{self, VERIFY_AFTER, VerifyArgs};

/// The colours of help.
pub const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Yellow.on_default().bold())
    .usage(AnsiColor::Yellow.on_default().bold())
    .literal(AnsiColor::Green.on_default())
    .placeholder(AnsiColor::Cyan.on_default());

const ABOUT: &str = "Finds thread interleavings that make a C, C++ or Rust program fail, and runs them again";

const LONG_ABOUT: &str = "\
Finds thread interleavings that make a C, C++ or Rust program fail, and runs them again.

Threadbare runs an unmodified multithreaded program, compiled with its ordinary compiler's \
thread-sanitizer instrumentation, on a runtime of its own. At every shared access the runtime decides \
which thread runs next, so a failure that shows once in a million runs can be looked for, kept in a \
small text file, and shown again as often as you like.";

const AFTER: &str = "\
EXAMPLES
  threadbare hunt examples/lost_update.c
      Compile the file, look for a failing interleaving, show it and keep it.
  threadbare hunt ./server -- --port 0
      The same for an executable built with `threadbare cc`, with arguments of its own.
  threadbare replay .threadbare/lost_update-1.schedule
      Run the interleaving that was found again, and show it.
  threadbare trace show .threadbare/lost_update-1.trace
      Show it without running anything, on any machine.
  make CC=\"threadbare cc\" CXX=\"threadbare c++\"
      Build a whole project so that it can be hunted in.

EXIT STATUS
  0  nothing was found
  1  a failure or a finding, or one that a replay shows again
  2  the tool could not do its job: bad usage, a program that does not build, nothing to control

ENVIRONMENT
  NO_COLOR             no colour, even on a terminal
  THREADBARE_CC        the C compiler to use (default: cc)
  THREADBARE_CXX       the C++ compiler to use (default: c++)
  XDG_CACHE_HOME       where the runtime library is unpacked, in `threadbare` (default: ~/.cache)

FILES
  .threadbare/NAME-N.schedule   an interleaving that failed
  .threadbare/NAME-found-N.schedule
                                the same as it was found, until it is minimised and explained
  .threadbare/NAME-N.trace      what happened in it, step by step, with all names
  .threadbare/NAME-N.output     what the program printed in it
  .threadbare/NAME-N.original.trace
                                what happened before the schedule was made shorter
  .threadbare/NAME-N.original.schedule
                                that schedule itself, where what happened is too long to keep
  .threadbare/NAME-COMMAND-STRATEGY.campaign.json (-N before the dot for other arguments)
                                what `threadbare report` makes a page of";

/// The whole command line.
#[derive(Parser, Debug)]
#[command(name = "threadbare", version, about = ABOUT, long_about = LONG_ABOUT, after_long_help = AFTER)]
#[command(styles = STYLES, subcommand_required = true, max_term_width = 100)]
pub struct CommandLine {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

impl CommandLine {
    /// The command line as it is described to people and shells.
    pub fn described() -> clap::Command {
        CommandLine::command()
            .mut_subcommand("compare", compare_args::adapt)
            .mut_subcommand("verify", verify_args::adapt)
    }

    /// Understands what was typed.
    pub fn understand(words: &[OsString]) -> Result<CommandLine, clap::Error> {
        CommandLine::from_arg_matches(&CommandLine::described().try_get_matches_from(words)?)
    }
}

/// The commands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Look for an interleaving that makes the program fail
    #[command(after_long_help = hunt_after())]
    Hunt(Box<HuntArgs>),
    /// Report races, atomicity violations and deadlocks, predicted and driven to happen
    #[command(after_long_help = check_after())]
    Check(Box<CheckArgs>),
    /// Try out every interleaving that matters, and say so when that is done
    #[command(after_long_help = VERIFY_AFTER)]
    Verify(Box<VerifyArgs>),
    /// Look for races and atomicity violations under many inputs, without repeating the work
    #[command(after_long_help = SUITE_AFTER)]
    Suite(Box<SuiteArgs>),
    /// Compare strategies: executions to the first failure, with statistics
    #[command(after_long_help = COMPARE_AFTER)]
    Compare(Box<CompareArgs>),
    /// Make tests for an object that several threads use, and run them
    #[command(after_long_help = GENERATE_AFTER)]
    Generate(Box<GenerateArgs>),
    /// Write a campaign as one page for a browser
    #[command(after_long_help = REPORT_AFTER)]
    Report(ReportArgs),
    /// Run one interleaving again, and show it
    #[command(after_long_help = REPLAY_AFTER)]
    Replay(ReplayArgs),
    /// Show a trace file, or write it in another format
    Trace(TraceArgs),
    /// Compile and link C as `cc` does, instrumented for threadbare
    #[command(disable_help_flag = true)]
    Cc(CompilerArgs),
    /// Compile and link C++ as `c++` does, instrumented for threadbare
    #[command(name = "c++", disable_help_flag = true)]
    Cxx(CompilerArgs),
    /// Print a completion script for a shell
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

/// Arguments that belong to the compiler.
#[derive(Args, Debug)]
pub struct CompilerArgs {
    /// Everything the compiler is given.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub args: Vec<OsString>,
}

/// Options of `check`: those of `hunt`, and what to be silent about.
#[derive(Args, Debug)]
pub struct CheckArgs {
    /// What `hunt` takes as well.
    #[command(flatten)]
    pub hunt: HuntArgs,

    /// Findings to leave out, one rule a line; `--help` says how
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub suppressions: Option<PathBuf>,
}

/// Options of `hunt`.
#[derive(Args, Debug)]
pub struct HuntArgs {
    /// A source file (.c .cc .cpp .cxx .rs), or an executable built with `threadbare cc` or `c++`
    pub program: PathBuf,

    /// Arguments of the program, after `--`
    #[arg(last = true, value_name = "ARGS")]
    pub args: Vec<String>,

    /// How to choose interleavings; `--help` lists the names
    #[arg(long, value_name = "NAME", default_value = DEFAULT, value_parser = StrategyName)]
    #[arg(hide_possible_values = true)]
    pub strategy: String,

    /// Same program, input, strategy and seed: same result
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole, allow_negative_numbers = true)]
    pub seed: u64,

    /// Stop after this many executions (default: 10000; check: 100; generate: 50 for each test)
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    #[arg(allow_negative_numbers = true)]
    pub executions: Option<u64>,

    /// Stop after this time, even if executions are left
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    #[arg(allow_negative_numbers = true)]
    pub time: std::time::Duration,

    /// How many executions run side by side (default: one per core); results do not depend on it
    #[arg(long, value_name = "N", value_parser = worker_count, allow_negative_numbers = true)]
    pub jobs: Option<usize>,

    /// Steps after which an execution is cut, which is no failure (default: many times the length of the first ones)
    #[arg(long, value_name = "N", value_parser = step_limit, allow_negative_numbers = true)]
    pub max_steps: Option<u64>,

    /// Memory for executions and what is kept of them: bytes, or with K, M or G (default: 1G, or a quarter of the machine's)
    #[arg(long, value_name = "SIZE", value_parser = memory, allow_negative_numbers = true)]
    pub memory_limit: Option<u64>,

    /// Look for more failures after the first, until the budget is spent
    #[arg(long)]
    pub keep_going: bool,

    #[arg(long, value_name = "N", default_value_t = StrategyOptions::default().pct_depth)]
    #[arg(help = option_help(StrategyOption::PctDepth), help_heading = "Strategy options")]
    #[arg(value_parser = depth, allow_negative_numbers = true)]
    pub pct_depth: u32,

    #[arg(long, value_name = "P", default_value_t = StrategyOptions::default().delay_probability)]
    #[arg(help = option_help(StrategyOption::Probability), help_heading = "Strategy options")]
    #[arg(value_parser = probability, allow_negative_numbers = true)]
    pub probability: f64,

    #[arg(long, value_name = "N", default_value_t = StrategyOptions::default().ars_width)]
    #[arg(help = option_help(StrategyOption::ArsWidth), help_heading = "Strategy options")]
    #[arg(value_parser = width, allow_negative_numbers = true)]
    pub ars_width: usize,

    #[arg(long, help = option_help(StrategyOption::NoSnapshots), help_heading = "Strategy options")]
    pub no_snapshots: bool,

    #[arg(long, help = option_help(StrategyOption::NoCheckpoints), help_heading = "Strategy options")]
    pub no_checkpoints: bool,

    #[arg(long, value_name = "N", help_heading = "Strategy options")]
    #[arg(help = option_help(StrategyOption::PreemptionBound))]
    #[arg(value_parser = preemptions, allow_negative_numbers = true)]
    pub preemption_bound: Option<u32>,

    /// Let condition waits wake without a signal, as POSIX permits
    #[arg(long, help_heading = "Program options")]
    pub spurious: bool,

    /// When sleeps and waits end by time: once no thread is runnable, or at any point (default: ordered, loose in some of
    /// auto's later executions, and loose for strategies that try every order)
    #[arg(long, value_enum, value_name = "WHEN", help_heading = "Program options")]
    pub timers: Option<TimersArg>,

    /// Run threads as fibers on one OS thread, or as OS threads (slower, for programs that need it)
    #[arg(long, value_enum, default_value_t = Threads::Fibers, help_heading = "Program options")]
    pub threads: Threads,

    /// Compiler flags for a source file, after `-O0 -g`; quoted as for a shell
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true, help_heading = "Program options")]
    pub cflags: Vec<String>,

    /// What the program reads as its standard input (default: nothing)
    #[arg(long, value_name = "FILE", help_heading = "Program options")]
    pub stdin: Option<PathBuf>,

    /// Do not count a non-zero exit status as a failure
    #[arg(long, help_heading = "Program options")]
    pub any_exit: bool,

    /// Real time without a step after which an execution is given up
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    #[arg(allow_negative_numbers = true, help_heading = "Program options")]
    pub stall: std::time::Duration,

    /// An execution ends, as passed, when all threads wait for the outside and nobody has come for so long: for servers
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, require_equals = true, default_missing_value = "1")]
    #[arg(value_parser = seconds, help_heading = "Program options")]
    pub until_idle: Option<std::time::Duration>,

    /// Keep the schedule as it was found, with switches that the failure does not need
    #[arg(long, help_heading = "Output")]
    pub no_minimise: bool,

    /// Time for minimising and explaining failures (default: as much work as finding, at most 10 s)
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    #[arg(allow_negative_numbers = true, help_heading = "Output")]
    pub explain_time: Option<std::time::Duration>,

    /// Where schedules of failures are kept
    #[arg(long, value_name = "DIR", default_value = ".threadbare", help_heading = "Output")]
    pub out: PathBuf,

    /// Write a page for a browser as well, and measure coverage for it
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub html: Option<PathBuf>,

    /// What to measure, and when it is enough.
    #[command(flatten)]
    pub coverage: CoverageArgs,

    /// How to show and store what was found.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// How the threads of the program are run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Threads {
    /// Fibers on one OS thread.
    Fibers,
    /// OS threads.
    Os,
}

/// When sleeps and waits end by time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum TimersArg {
    /// When no thread is runnable, and then the earliest deadline comes first.
    Ordered,
    /// At any point, in any order.
    Loose,
}

impl From<TimersArg> for Timers {
    fn from(given: TimersArg) -> Timers {
        match given {
            TimersArg::Ordered => Timers::Ordered,
            TimersArg::Loose => Timers::Loose,
        }
    }
}

const REPLAY_AFTER: &str = "\
EXIT STATUS
  0  the program passed: the failure, or the finding, did not show again
  1  the failure or the finding showed again
  2  the tool could not do its job: no schedule, no program, a program that does not build

EXAMPLES
  threadbare replay .threadbare/lost_update-1.schedule
  threadbare replay bug.schedule --program build/server --times 50";

/// Options of `replay`.
#[derive(Args, Debug)]
pub struct ReplayArgs {
    /// A schedule file left by `hunt`
    pub schedule: PathBuf,

    /// Do what the schedule says even if it was not made here: build with its flags, and set its environment
    #[arg(long)]
    pub trust: bool,

    /// Run this program instead of the one named in the schedule
    #[arg(long, value_name = "PATH")]
    pub program: Option<PathBuf>,

    /// Run it this often, and say how often it failed
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = at_least_one)]
    #[arg(allow_negative_numbers = true)]
    pub times: u64,

    /// Write what happened, step by step, to a trace file; see `threadbare trace`
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub trace: Option<PathBuf>,

    /// Print only the hash of the trace
    #[arg(long)]
    pub hash: bool,

    /// How to show and store what happened.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Options about output that commands share.
#[derive(Args, Debug)]
pub struct OutputArgs {
    /// Write the result as JSON to a file, or to standard output with `-`
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub json: Option<PathBuf>,

    /// Write failures and findings as SARIF 2.1.0, for code-review tools
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub sarif: Option<PathBuf>,

    /// Say only how it ended, and each finding in a line: no progress, no table
    #[arg(long, short, help_heading = "Output")]
    pub quiet: bool,

    /// Show allocations, initialisations and thread starts too
    #[arg(long, short, help_heading = "Output")]
    pub verbose: bool,

    /// Show every step and finding, however many there are
    #[arg(long, help_heading = "Output")]
    pub full: bool,
}

impl OutputArgs {
    /// Whether the JSON object is all that standard output may carry.
    pub fn json_on_stdout(&self) -> bool {
        self.json.as_deref().is_some_and(|path| path.as_os_str() == "-")
    }
}
