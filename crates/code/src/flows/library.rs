//! What library functions do with what they are given.

/// What a library function does with its arguments, and where its result comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Whatever it is given, the program goes on alike: it prints, or ends the program. The result comes from outside.
    Silent,
    /// The result depends on the arguments and on nothing else.
    Pure,
    /// The arguments decide what memory, lock, thread or time is used. The result comes from outside.
    Steers,
    /// As [`Role::Steers`], and so does what lies behind pointers: how long to wait.
    Waits,
    /// As [`Role::Steers`], but reads a text at the pointer that is its first argument. Harmless if the program was started with that text.
    Parses,
    /// Copies memory, and is recorded: from the argument of the second number to that of the first.
    Copies(usize, usize),
    /// Appends to memory, and is recorded.
    Appends,
    /// Fills memory with its second argument, and is recorded.
    Fills,
    /// Looks at memory, of so many arguments, and is recorded; the result is what it found.
    Looks(usize),
    /// As [`Role::Looks`], but what it finds goes to memory that nobody sees written.
    Duplicates,
    /// Keeps its arguments where nobody sees them.
    Keeps,
    /// Nobody knows.
    Unknown,
}

impl Role {
    /// Whether what it does to memory is recorded.
    pub fn is_recorded(self) -> bool {
        use Role::*;
        matches!(self, Copies(..) | Appends | Fills | Looks(_) | Duplicates)
    }
}

/// Functions that are recorded when the linker is told to wrap them.
const RECORDED: &[(&str, Role)] = &[
    ("memcpy", Role::Copies(0, 1)),
    ("memmove", Role::Copies(0, 1)),
    ("bcopy", Role::Copies(1, 0)),
    ("strcpy", Role::Copies(0, 1)),
    ("strncpy", Role::Copies(0, 1)),
    ("strcat", Role::Appends),
    ("memset", Role::Fills),
    ("bzero", Role::Fills),
    ("memcmp", Role::Looks(2)),
    ("strcmp", Role::Looks(2)),
    ("strncmp", Role::Looks(2)),
    ("memchr", Role::Looks(1)),
    ("strlen", Role::Looks(1)),
    ("strnlen", Role::Looks(1)),
    ("strchr", Role::Looks(1)),
    ("strrchr", Role::Looks(1)),
    ("strdup", Role::Duplicates),
];

const SILENT: &str = "
    printf fprintf vprintf vfprintf dprintf vdprintf puts fputs putc fputc putchar fwrite fflush perror
    write writev __printf_chk __fprintf_chk __vfprintf_chk __vprintf_chk puts_unlocked putchar_unlocked
    putc_unlocked fputs_unlocked _IO_putc psignal warn warnx err errx syslog __assert_fail
    __assert_perror_fail abort __stack_chk_fail __cxa_throw __cxa_rethrow _Unwind_Resume
    __cxa_begin_catch __cxa_end_catch __cxa_get_exception_ptr __cxa_call_unexpected
    __cxa_allocate_exception __cxa_free_exception __cxa_guard_acquire __cxa_guard_release
    __cxa_guard_abort __cxa_atexit __cxa_finalize __cxa_pure_virtual __gxx_personality_v0
    _ZSt9terminatev rand random drand48 lrand48 getpid getppid gettid
    getuid geteuid pthread_self thrd_current time clock clock_gettime gettimeofday timespec_get sysconf
    getpagesize get_nprocs __errno_location getenv secure_getenv strerror __libc_start_main
    __gmon_start__ _ITM_deregisterTMCloneTable _ITM_registerTMCloneTable setvbuf setbuf setlinebuf
    fileno isatty gethostname uname setlocale __ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc
    sched_yield pthread_yield thrd_yield pthread_setname_np atexit at_quick_exit tzset __tls_get_addr
";

/// Functions of numbers; with `f` or `l` at the end as well.
const PURE: &str = "
    sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh exp exp2 expm1 log log2 log10
    log1p pow sqrt cbrt fabs floor ceil round trunc rint nearbyint lround lrint llround llrint fmod
    remainder hypot fmin fmax fma copysign ldexp scalbn abs labs llabs div ldiv lldiv toupper tolower
    isdigit isalpha isalnum isspace isupper islower ispunct isxdigit isprint ffs htonl ntohl htons ntohs
    __popcountdi2 __divti3 __udivti3 __modti3 __umodti3 __isnan __isinf isnan isinf finite __signbit
    __fpclassify
";

const STEERS: &str = "
    malloc calloc realloc free cfree aligned_alloc memalign posix_memalign valloc alloca mmap munmap
    mprotect madvise brk sbrk _Znwm _Znam _ZdlPv _ZdaPv _ZdlPvm _ZdaPvm _ZnwmSt11align_val_t
    _ZdlPvSt11align_val_t _ZdlPvmSt11align_val_t _ZnwmRKSt9nothrow_t _ZnamRKSt9nothrow_t sleep usleep
    nanosleep clock_nanosleep alarm setitimer ualarm timer_create timer_settime call_once syscall exit
    _exit _Exit quick_exit fork vfork wait waitpid wait3 wait4 kill raise tgkill signal sigaction
    sigprocmask sigemptyset sigfillset sigaddset sigdelset sigwait sigwaitinfo sigtimedwait sigsuspend
    pause open open64 openat close fopen fopen64 fdopen fclose lseek fseek ftell rewind feof ferror
    clearerr read readv pread pread64 fread fgets fgetc getc getchar getline ungetc fcntl ioctl pipe
    pipe2 dup dup2 socket socketpair bind listen accept accept4 connect recv recvfrom recvmsg shutdown
    poll ppoll select pselect epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait eventfd
    eventfd_read eventfd_write timerfd_create timerfd_settime signalfd flockfile ftrylockfile
    funlockfile getrusage getrlimit setrlimit unlink remove access stat fstat stat64 fstat64
    isoc99_scanf __isoc99_scanf __isoc99_fscanf scanf fscanf sched_getaffinity sched_setaffinity
    sched_getcpu
";

const STEERING_PREFIXES: &str = "
    pthread_ sem_ thrd_ mtx_ cnd_ tss_ _ZNSt6thread _ZNSt18condition_variable _ZNSt15__exception
    _ZSt15get_new_handler _ZNSt3_V2 __gthread _ZNKSt6thread _ZNSt6chrono _ZNSt22condition_variable_any
";

/// Texts are turned into numbers by these.
const PARSES: &str = "
    atoi atol atoll atof strtol strtoul strtoll strtoull strtod strtof
";

/// Times to wait are given to these by pointer.
const WAITS: &str = "
    nanosleep clock_nanosleep setitimer timer_settime timerfd_settime select pselect ppoll sigtimedwait
";

const KEEPS: &str = "
    pthread_setspecific tss_set srand srandom srand48
";

/// Output streams of C++, and exceptions: what they say goes to whoever catches them, as a text.
const SILENT_PREFIXES: &str = "
    _ZNSt16invalid_argument _ZNSt12out_of_range _ZNSt13runtime_error _ZNSt11logic_error
    _ZNSt12domain_error _ZNSt12length_error _ZNSt11range_error _ZNSt9exception _ZNSo _ZStls _ZSt4endl
    _ZSt5flush _ZSt16__ostream_insert _ZNSt8ios_base _ZNSt9basic_iosIc
";

/// What the library function of this name does.
pub fn role(name: &str) -> Role {
    let recorded = name.strip_prefix("__wrap_").or_else(|| name.strip_prefix("__tsan_"));
    if let Some(plain) = recorded {
        let known = RECORDED.iter().find(|(known, _)| *known == plain);
        return known.map_or(Role::Unknown, |(_, role)| *role);
    }
    let has = |names: &str, name: &str| names.split_whitespace().any(|known| known == name);
    let is = |names: &str| has(names, name);
    let begins = |prefixes: &str| prefixes.split_whitespace().any(|prefix| name.starts_with(prefix));
    if is(KEEPS) {
        Role::Keeps
    } else if is(SILENT) || begins(SILENT_PREFIXES) || name.contains("__throw_") {
        Role::Silent
    } else if is(PURE) || has(PURE, name.trim_end_matches(['f', 'l'])) {
        Role::Pure
    } else if is(PARSES) || name.strip_prefix("__isoc23_").is_some_and(|name| has(PARSES, name)) {
        Role::Parses
    } else if is(WAITS) || (name.contains('_') && (name.contains("timed") || name.contains("clock"))) {
        Role::Waits
    } else if is(STEERS) || begins(STEERING_PREFIXES) {
        Role::Steers
    } else {
        Role::Unknown
    }
}
