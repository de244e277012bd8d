//! What `hunt` and `check` say at the end of their help.

use crate::coverage_args::CRITERIA_HELP;

const HUNT_AFTER: &str = "\
STRATEGIES
  auto           threads interrupted at every place of one kind, then where one acts on what it has
                 read, and a seeded portfolio of the ones below; the report says which of them found it
  random         uniform choice among the threads that can go on
  pct            random priorities with a few changes (--pct-depth)
  pos            partial order sampling: random priorities, drawn again at conflicts
  surw           selectively uniform random walk
  ars            adaptive: of the ways it foresees, goes the one that is farthest from what passed,
                 in memory-access patterns and in what threads find in memory (--ars-width)
  ars-paper      adaptive as it was published: goes on with the sub-traces whose patterns are
                 farthest from what passed (--ars-width)
  dfs            all interleavings in order (--preemption-bound), until exhausted
  mcr            every value that a read can see, by solving for it, until exhausted
  total          every way that threads can go, by solving for what decides it, until exhausted
  total-paper    the same as it was published: by holding threads back, without solving
  reach          reachability testing: every order of accesses that some thread can notice, by
                 forcing the variants of each execution, until exhausted
  tpair          the same for the orders of every two threads, with all others as recorded
  pcr            memory-access patterns that no execution has shown, by solving for them
  map-random     the same by holding threads back, without solving
  tsa            synchronization pairs that no execution has shown, by pausing threads before locks
  tsa-h          the same without the rule that looks at how much is left to show
  tsa-paper      the same as it was published: aims at all of them, always
  delay-yield, delay-10ms, delay-100ms
                 threads in virtual parallel, some operations delayed (--probability)
  round-robin    one step each, in turn

EXIT STATUS
  0  nothing was found within the budget
  1  a failure was found
  2  the tool could not do its job

EXAMPLES
  threadbare hunt examples/deadlock.c --strategy pct --pct-depth 2
  threadbare hunt queue.cpp --cflags '-O1 -std=c++20' --time 10
  threadbare hunt ./parser --stdin input.txt --executions 500 --json - -- --fast";

/// What `hunt` says at the end of its help.
pub fn hunt_after() -> String {
    HUNT_AFTER.replace("\n\nEXIT STATUS", &format!("\n\n{CRITERIA_HELP}\n\nEXIT STATUS"))
}

/// What `check` says at the end of its help: the strategies are those of `hunt`.
pub fn check_after() -> String {
    let strategies = HUNT_AFTER.split("\n\n").next().unwrap_or_default();
    format!("{strategies}\n\n{CHECK_AFTER}")
}

const CHECK_AFTER: &str = "\
WHAT IS REPORTED
  race             two accesses to the same memory that neither a lock nor an order keeps apart
  atomicity        another thread's access can come between two that belong together
  order            accesses that came in an order in which the program fails
  deadlock         locks that can be waited for in a circle, or that are never given back
  lock-discipline  shared memory that no lock protects at every access

  A finding is predicted from executions that passed, and then driven to happen: where that
  worked it is `confirmed`, with a schedule that replays it.

SUPPRESSIONS
  Each line of the file is a kind (or *) and a text that the object or a place contains:
      race  stats.hits
      *     third_party/
  In the source, a comment `threadbare: ignore` or `threadbare: ignore(race)` silences its own
  line and the next.

EXIT STATUS
  0  nothing was found
  1  a finding or a failure
  2  the tool could not do its job

EXAMPLES
  threadbare check examples/lost_update.c
  threadbare check ./server --suppressions known.txt --sarif findings.sarif -- --port 0";
