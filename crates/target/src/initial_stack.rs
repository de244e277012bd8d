//! The stack that a program begins with always ends at the same address.
//!
//! Above a program's first call lie its arguments and its environment, so a longer environment moves all variables of `main`. Whoever hashes
//! their addresses, or shows them, would do something else for each user. So the environment is filled up to a round size.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The sizes to which it is filled up, in bytes: most environments are smaller than the first, and one string may have 128 KiB.
const ROUND: usize = 32 << 10;
/// With a stack smaller than this there may be no room for more.
const SMALL_STACK: u64 = 1 << 20;
/// The variable that is filled up; the runtime takes it away.
const FILLER: &str = "THREADBARE_FILLER";

/// Fills up the environment of a program.
///
/// The system puts the strings above and a pointer to each below them, and aligns both to 16 bytes: what pointers take of the round size is left
/// out of the strings.
pub(crate) fn fill(environment: &mut BTreeMap<OsString, OsString>, executable: &Path, args: &[String]) {
    if stack_limit() < SMALL_STACK {
        return;
    }
    environment.insert(FILLER.into(), OsString::new());
    let of_args = executable.as_os_str().len() + 1 + args.iter().map(|arg| arg.len() + 1).sum::<usize>();
    let of_variable = |(name, value): (&OsString, &OsString)| name.len() + value.len() + 2;
    let strings =
        executable.as_os_str().len() + 1 + of_args + environment.iter().map(of_variable).sum::<usize>();
    // With them there are three words more: how many arguments there are, and the ends of both lists. What the system puts below is
    // aligned, and an odd number of words leaves no gap.
    let pointers = environment.len() + args.len() + 1;
    let pointers = (pointers + pointers % 2) * size_of::<usize>();
    let filled = (strings + pointers).next_multiple_of(ROUND);
    let filler = "x".repeat(filled - strings - pointers);
    environment.insert(FILLER.into(), OsStr::new(&filler).into());
}

fn stack_limit() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure is ours.
    unsafe { libc::getrlimit(libc::RLIMIT_STACK, &raw mut limit) };
    limit.rlim_cur
}
