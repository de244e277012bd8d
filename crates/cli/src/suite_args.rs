//! The options of `suite`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::numbers::{at_least_one, seconds, step_limit, whole, worker_count};

/// What `suite` says at the end of its help.
pub const SUITE_AFTER: &str = "\
HOW IT WORKS
  Under each input the program is run once, and only its calls and its synchronization are
  looked at: which functions can run at the same time? These concurrent function pairs (CFP) of
  all inputs together are what the suite covers. Then as few inputs as possible are selected
  that together show all pairs, and under each the functions of the pairs that are new with it.
  Only there races and atomicity violations are looked for. Once an execution was examined,
  accesses are left out that share no memory with the other function of such a pair; if none
  is left, the input is done. Each finding is driven to happen once, under the first input that
  shows it.

SUITE FILE
  program = \"fft.c\"              # a source file or an executable; or:
  build   = \"make CC=\\\"$CC\\\" all\"   # a shell command, with CC and CXX set to threadbare's
  binary  = \"build/fft\"          # what it builds
  cflags  = \"-O1 -lm\"            # for a source file, after `-O0 -g` (optional)

  [[input]]
  name      = \"inverse\"
  args      = [\"-m8\", \"-i\"]      # all but the name is optional
  stdin     = \"text to read\"
  files     = [\"table.txt\"]      # files that it reads: if one changes, it is measured again
  env       = { MODE = \"fast\" }
  timeout_s = 20                 # real time without a step after which it is given up (10),
                                 # and the most before its first thread (60)

  Paths count from the folder of the suite file, in which the program runs as well.

WHAT IS KEPT
  What was measured and found is kept in the folder given by --out, by the content of the
  executable and of the input. So a suite that was interrupted continues where it was, an input
  that is added is the only one that is measured, and what changed is done again.

EXIT STATUS
  0  nothing was found
  1  a finding or a failure
  2  the tool could not do its job

EXAMPLES
  threadbare suite tests/suite.toml
  threadbare suite tests/suite.toml --against-full
      Look at everything as well, and say what selecting saved and what it missed.
  threadbare suite tests/suite.toml --only races --runs 3 --json result.json";

/// Options of `suite`.
#[derive(Args, Clone, Debug)]
pub struct SuiteArgs {
    /// A TOML file that names a program and its inputs; `--help` shows one
    pub suite: PathBuf,

    /// Look at all functions under all inputs, instead of those that were selected
    #[arg(long, conflicts_with = "against_full")]
    pub full: bool,

    /// Do both, and report speed-up, findings missed, and how often findings are repeated
    #[arg(long)]
    pub against_full: bool,

    /// How many executions of each selected input are examined
    #[arg(long, value_name = "K", default_value_t = 10, value_parser = at_least_one)]
    #[arg(allow_negative_numbers = true)]
    pub runs: u64,

    /// What to look for
    #[arg(long, value_name = "KIND", value_enum, default_value_t = Only::Both)]
    pub only: Only,

    /// Same suite, program and seed: same result
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole, allow_negative_numbers = true)]
    pub seed: u64,

    /// How many inputs run side by side; programs that write files may disturb each other
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = worker_count)]
    #[arg(allow_negative_numbers = true)]
    pub jobs: usize,

    /// Steps after which an execution is cut, which is no failure
    #[arg(long, value_name = "N", default_value_t = 10_000_000, value_parser = step_limit)]
    #[arg(allow_negative_numbers = true)]
    pub max_steps: u64,

    /// Do not count a non-zero exit status as a failure
    #[arg(long)]
    pub any_exit: bool,

    /// Measure functions that touch nothing but their own stack, too
    #[arg(long, help_heading = "Measuring")]
    pub no_stack_only: bool,

    /// Measure functions too that are concurrent with whatever their callers are
    #[arg(long, help_heading = "Measuring")]
    pub no_inherited: bool,

    /// List the pairs of functions that no input shows at the same time, with their lines: what
    /// another input could show
    #[arg(long, help_heading = "Measuring")]
    pub uncovered: bool,

    /// Do not drive findings to happen
    #[arg(long, help_heading = "Confirming")]
    pub no_confirm: bool,

    /// How long the findings of one input are driven to happen
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    #[arg(allow_negative_numbers = true, help_heading = "Confirming")]
    pub time: Duration,

    /// Where results and schedules are kept
    #[arg(long, value_name = "DIR", default_value = ".threadbare", help_heading = "Output")]
    pub out: PathBuf,

    /// Write the result as JSON to a file, or to standard output with `-`
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub json: Option<PathBuf>,

    /// Write a page for a browser as well
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub html: Option<PathBuf>,

    /// Write failures and findings as SARIF 2.1.0, for code-review tools
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub sarif: Option<PathBuf>,

    /// Findings to leave out, one rule a line; `threadbare check --help` says how
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub suppressions: Option<PathBuf>,

    /// Say only how it ended, and each finding in a line: no progress, no table
    #[arg(long, short, help_heading = "Output")]
    pub quiet: bool,

    /// Show every finding, however many there are on one object
    #[arg(long, short, help_heading = "Output")]
    pub verbose: bool,
}

impl SuiteArgs {
    /// Whether the JSON object is all that standard output may carry.
    pub fn json_on_stdout(&self) -> bool {
        self.json.as_deref().is_some_and(|path| path.as_os_str() == "-")
    }
}

/// What is looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Only {
    /// Data races.
    Races,
    /// Atomicity violations.
    Atomicity,
    /// Both.
    Both,
}

impl Only {
    /// Whether races are looked for.
    pub fn races(self) -> bool {
        self != Only::Atomicity
    }

    /// Whether atomicity violations are looked for.
    pub fn atomicity(self) -> bool {
        self != Only::Races
    }
}
