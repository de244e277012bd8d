//! System calls that programs make by number, through `syscall` of the C library, and the rows that say what they do.

/// Numbers of Linux on x86-64, in order, each with the name of its row.
pub const BY_NUMBER: &[(i64, &str)] = &[
    (0, "read"),
    (1, "write"),
    (3, "close"),
    (7, "poll"),
    (24, "sched_yield"),
    (35, "nanosleep"),
    (39, "getpid"),
    (56, "clone"),
    (57, "fork"),
    (58, "vfork"),
    (60, "exit"),
    (62, "kill"),
    (96, "gettimeofday"),
    (98, "getrusage"),
    (100, "times"),
    (102, "getuid"),
    (107, "geteuid"),
    (110, "getppid"),
    (186, "gettid"),
    (200, "tkill"),
    (201, "time"),
    (202, "futex"),
    (203, "sched_setaffinity"),
    (204, "sched_getaffinity"),
    (228, "clock_gettime"),
    (229, "clock_getres"),
    (230, "clock_nanosleep"),
    (231, "exit_group"),
    (234, "tgkill"),
    (257, "openat"),
    (309, "sched_getcpu"),
    (318, "getrandom"),
    (323, "userfaultfd"),
    (435, "clone3"),
];

/// The row of the system call with this number; none if it is unknown.
pub fn by_number(number: i64) -> Option<&'static crate::Function> {
    let at = BY_NUMBER.binary_search_by_key(&number, |(number, _)| *number).ok()?;
    crate::function(BY_NUMBER[at].1)
}
