//! The options of `verify`.

use std::path::PathBuf;

use clap::{Args, Command};
use threadbare_explore::strategies::{OF_VERIFY, StrategyOption};

use crate::args::CheckArgs;
use crate::strategy_args::option_id;

/// What `verify` says at the end of its help.
pub const VERIFY_AFTER: &str = "\
WHAT IS TRIED OUT
  Two interleavings are race-equivalent if every thread makes the same accesses under the same
  locks in both. What threads see decides that only where it goes into a branch, an address, a lock
  or a call; `verify` reads from the machine code where that is so, and solves for every other
  value that can be seen there. Every path that a thread can take is executed; paths of several threads
  that were only seen in different executions are put together by reasoning. Every two accesses that
  can race are brought together, and every possible deadlock is tried.

  `exhausted` says that for this input there is no other group, no other race, no deadlock and no
  failing assertion, as long as memory is sequentially consistent, condition waits end by a
  signal only (--spurious lets them end otherwise), and the values of addresses mean nothing: pointers
  are not asked which is larger or what their bits are, nor compared with the address of what is gone,
  which `malloc` may hand out again. It is not said if anything was left out; the warnings say what,
  and `threadbare check` or `hunt` may still find something there.

EXIT STATUS
  0  nothing was found
  1  a race or a failure
  2  the tool could not do its job

EXAMPLES
  threadbare verify examples/lost_update.c
  threadbare verify ./server --time 600 --json result.json -- --port 0
  threadbare verify pool.c --graph pool.svg";

/// Options of `verify`: those of `check`, and where to draw.
#[derive(Args, Debug)]
pub struct VerifyArgs {
    /// What `check` takes as well.
    #[command(flatten)]
    pub check: CheckArgs,

    /// Draw what decides the paths of threads (the concurrent dependency graphs): a picture if the name ends in
    /// .svg, else text in the DOT language
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub graph: Option<PathBuf>,
}

/// Options that mean nothing here.
const MEANINGLESS: [&str; 2] = ["strategy", "keep_going"];

/// Words the options that mean something else here, and hides those that mean nothing: of the options that only some
/// strategies read, those that this one does not.
pub fn adapt(command: Command) -> Command {
    let command = command
        .mut_arg("executions", |it| it.help("Stop after this many executions (default: 100000)"))
        .mut_arg("jobs", |it| {
            it.help(
                "How many questions are worked on, or executions at random run, side by side (default: one per core); \
                 results do not depend on it",
            )
        });
    let command = MEANINGLESS.iter().fold(command, |command, name| command.mut_arg(name, |it| it.hide(true)));
    StrategyOption::ALL.into_iter().fold(command, |command, option| {
        let is_read = option.readers().contains(&OF_VERIFY);
        command.mut_arg(option_id(option), |it| it.help(format!("verify: {}", option.help())).hide(!is_read))
    })
}
