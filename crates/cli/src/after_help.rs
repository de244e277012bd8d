//! What `hunt` and `check` say at the end of their help.

use crate::coverage_args::CRITERIA_HELP;
use crate::strategy_args::strategies_help;

const HUNT_AFTER: &str = "\
EXIT STATUS
  0  nothing was found within the budget
  1  a failure was found
  2  the tool could not do its job, or every execution was cut

EXAMPLES
  threadbare hunt examples/deadlock.c --strategy pct --pct-depth 2
  threadbare hunt queue.cpp --cflags '-O1 -std=c++20' --time 10
  threadbare hunt ./parser --stdin input.txt --executions 500 --json - -- --fast";

/// What `hunt` says at the end of its help.
pub fn hunt_after() -> String {
    format!("{}\n\n{CRITERIA_HELP}\n\n{HUNT_AFTER}", strategies_help())
}

/// What `check` says at the end of its help: the strategies are those of `hunt`.
pub fn check_after() -> String {
    format!("{}\n\n{CHECK_AFTER}", strategies_help())
}

const CHECK_AFTER: &str = "\
WHAT IS REPORTED
  race             two accesses to the same memory that are neither ordered nor mutually excluded
  atomicity        another thread's access can come between two that belong together
  order            accesses that came in an order in which the program fails
  deadlock         locks that can be waited for in a circle, or that are never given back
  lock-discipline  shared memory that no lock protects at every access

  A finding is predicted from executions that passed, and then driven to happen: where that
  worked it is `seen`, with a schedule that replays it. It is `confirmed` if both accesses of a
  race were about to be made at the same time, if the threads of a deadlock waited for each
  other, or if the program fails with it and passes when only that is prevented.

SUPPRESSIONS
  Each line of the file is a kind (or *) and a text that the object or a place contains:
      race  stats.hits
      *     third_party/
  In the source, a comment `threadbare: ignore` or `threadbare: ignore(race)` silences its own
  line and the next.

EXIT STATUS
  0  nothing was found
  1  a finding or a failure
  2  the tool could not do its job, or every execution was cut

EXAMPLES
  threadbare check examples/lost_update.c
  threadbare check ./server --suppressions known.txt --sarif findings.sarif -- --port 0";
