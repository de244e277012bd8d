//! The options of `threadbare generate`.

use clap::Args;

use crate::args::HuntArgs;
use crate::numbers::{at_least_one, calls, prefix, suffixes};

/// What `generate` says at the end of its help.
pub const GENERATE_AFTER: &str = "\
THE PROGRAM
  A C or C++ file that includes <threadbare.h>, makes the object and names its operations:

      #include <threadbare.h>
      THREADBARE_OBJECT(struct stack, stack_new(), stack_free(self))
      THREADBARE_OPERATION(push, 1) { return stack_push(self, (int)arg[0]); }
      THREADBARE_OPERATION(pop, 0) { return stack_pop(self); }
      THREADBARE_OBSERVER(size, 0) { return stack_size(self); }

  The number is that of the arguments, which are small numbers. An observer changes nothing,
  and is also called when all threads have ended. The compiler finds the header by itself.

THE TESTS
  A test is a prefix that the main thread does on a new object, and two or more suffixes,
  each done by a thread of its own: `push 1; push 2 | pop | pop; push 3`. Every pair of
  operations is tested before any pair is tested again, and short tests come first. Each is hunted in
  as by `threadbare hunt`; those that add coverage (--coverage, else `map`) are counted. A test
  that fails is made shorter, shown as plain source, and kept with its schedule.

  A test fails as programs do: a crash, an assertion, a deadlock. With --linearizable it also
  fails if no order of whole operations, one after the other on a new object, gives the same
  results.

EXIT STATUS
  0  no test failed
  1  a test failed
  2  the tool could not do its job

EXAMPLES
  threadbare generate stack_operations.c --linearizable
  threadbare generate cache.cpp --suffixes 3 --calls 2 --executions 200 --time 300";

/// Options of `generate`: those of `hunt`, for each test, and what tests look like.
#[derive(Args, Debug)]
pub struct GenerateArgs {
    /// What `hunt` takes as well.
    #[command(flatten)]
    pub hunt: HuntArgs,

    /// How many tests to make
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = at_least_one)]
    #[arg(allow_negative_numbers = true, help_heading = "Tests")]
    pub tests: u64,

    /// Compare the results with those of whole operations, one after the other
    #[arg(long, help_heading = "Tests")]
    pub linearizable: bool,

    /// How many threads a test has beside the main one (2 to 8)
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = suffixes)]
    #[arg(allow_negative_numbers = true, help_heading = "Tests")]
    pub suffixes: usize,

    /// The most calls of each thread (1 to 8)
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = calls)]
    #[arg(allow_negative_numbers = true, help_heading = "Tests")]
    pub calls: usize,

    /// The most calls before the threads begin (0 to 8)
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = prefix)]
    #[arg(allow_negative_numbers = true, help_heading = "Tests")]
    pub prefix: usize,
}
