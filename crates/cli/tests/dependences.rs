//! What executions depend on besides the order of threads is noted while they run: nothing is claimed then, and the line is named.

mod support;

use std::process::Command;

use serde_json::Value;
use support::Desk;

/// The strategies that can come to an end.
const CLAIMING: [&str; 4] = ["dfs", "mcr", "total", "reach"];

/// A program with two threads that do the same: a step on shared memory under a lock, and what the case is about. The line of the latter
/// comes right after a mark.
fn program(declarations: &str, statement: &str) -> String {
    format!(
        "#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int n;
static char text[16] = \"12 34\";
{declarations}
static int look(void) {{
    int result = 0;
    // MARK
    {statement}
    return result;
}}
static void *work(void *unused) {{
    pthread_mutex_lock(&m);
    n++;
    pthread_mutex_unlock(&m);
    look();
    return 0;
}}
int main(void) {{
    pthread_t other;
    pthread_create(&other, 0, work, 0);
    work(0);
    pthread_join(other, 0);
    return 0;
}}
"
    )
}

/// The line after the mark.
fn marked(source: &str) -> usize {
    source.lines().position(|line| line.contains("// MARK")).expect("a mark") + 2
}

fn run(desk: &Desk, args: &[&str]) -> Value {
    let answer =
        desk.run(&[args, &["--json", "-", "--quiet", "--jobs", "1", "--executions", "3000"]].concat());
    assert_eq!(answer.code, Some(0), "{args:?}: {}{}", answer.stdout, answer.stderr);
    answer.json()
}

fn verify(desk: &Desk, file: &str, flags: &str) -> Value {
    run(desk, &["verify", file, "--cflags", flags])
}

fn hunt(desk: &Desk, file: &str, strategy: &str, flags: &str) -> Value {
    let args = ["hunt", file, "--strategy", strategy, "--cflags", flags];
    // All interleavings of these programs are many, and those with one preemption make the same calls.
    let bound: &[&str] = if strategy == "dfs" { &["--preemption-bound", "1"] } else { &[] };
    run(desk, &[&args, bound].concat())
}

#[track_caller]
fn assert_doubted(report: &Value, words: &[&str]) {
    assert_eq!((&report["exhausted"], &report["verdict"]), (&false.into(), &"clean".into()), "{words:?}");
    let warnings: Vec<&str> =
        report["warnings"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    let is_told = |warning: &&&str| words.iter().all(|word| warning.contains(word));
    assert!(warnings.iter().any(|warning| is_told(&warning)), "{words:?} are missing in {warnings:#?}");
}

#[track_caller]
fn assert_claimed(report: &Value, name: &str) {
    assert_eq!(report["exhausted"], true, "{name}: {}", report["warnings"]);
    assert_eq!(report["verdict"], "exhausted", "{name}");
}

const NO_DECLARATION: &str = "";

/// What the case is called, what it declares and does, and what has to be said of it besides the line.
type Case = (&'static str, &'static str, &'static str, &'static [&'static str]);

const DOUBTED: &[Case] = &[
    ("clock", NO_DECLARATION, "result = time(0) == 0;", &["time reads a clock"]),
    ("usage", NO_DECLARATION, "struct rusage use; getrusage(RUSAGE_SELF, &use);", &["getrusage", "clock"]),
    ("random", NO_DECLARATION, "result = rand();", &["rand draws"]),
    ("table", "static int (*const draw[])(void) = { rand };", "result = draw[0]();", &["rand draws"]),
    ("entropy", NO_DECLARATION, "int seed; getrandom(&seed, sizeof seed, 0);", &["getrandom draws"]),
    ("file", NO_DECLARATION, "result = open(\"/dev/null\", O_RDONLY);", &["open", "files"]),
    ("identity", NO_DECLARATION, "result = gettid();", &["gettid", "number"]),
    (
        "state",
        NO_DECLARATION,
        "char *mine = strdup(\"a b\"); strtok(mine, \" \"); free(mine);",
        &["strtok", "variables of its own"],
    ),
    (
        "poll",
        NO_DECLARATION,
        "struct pollfd none = { 0 }; result = poll(&none, 0, 1);",
        &["poll", "may end at another time"],
    ),
    (
        "sorted",
        "static int by(const void *a, const void *b) { return *(int *)a - *(int *)b; } static int list[4];",
        "pthread_mutex_lock(&m); list[0]++; qsort(list, 4, 4, by); pthread_mutex_unlock(&m);",
        &["qsort", "touches memory that threads share"],
    ),
    // Nobody but the library touches it.
    (
        "only_library",
        NO_DECLARATION,
        "pthread_mutex_lock(&m); sprintf(text, \"%d\", 7); pthread_mutex_unlock(&m);",
        &["sprintf", "touches memory that threads share"],
    ),
    (
        "unknown",
        NO_DECLARATION,
        "double load[3]; result = getloadavg(load, 3);",
        &["not known what getloadavg does"],
    ),
    (
        "unknown_shared",
        "static double load[3];",
        "pthread_mutex_lock(&m); load[0] = 1; getloadavg(load, 3); pthread_mutex_unlock(&m);",
        &["getloadavg does with memory that threads share"],
    ),
    ("unknown_number", NO_DECLARATION, "result = syscall(SYS_membarrier, 0, 0, 0);", &["system call 324"]),
    (
        "looked_up",
        NO_DECLARATION,
        "result = dlsym(RTLD_DEFAULT, \"rand\") != 0;",
        &["through dlsym is not seen"],
    ),
    ("ticks", NO_DECLARATION, "result = (int)__builtin_ia32_rdtsc();", &["the instruction rdtsc"]),
    (
        "past_all",
        NO_DECLARATION,
        "long number = 39; __asm__ volatile(\"syscall\" : \"+a\"(number) : : \"rcx\", \"r11\", \"memory\");",
        &["the instruction syscall"],
    ),
];

#[test]
fn what_is_not_decided_by_the_order_of_threads_is_doubted_with_its_line() {
    let desk = Desk::new();
    for (name, declarations, statement, words) in DOUBTED {
        let source = program(declarations, statement);
        let file = format!("{name}.c");
        desk.file(&file, &source);
        let line = format!("({file}:{})", marked(&source));
        let words = [*words, &[line.as_str()]].concat();
        assert_doubted(&hunt(&desk, &file, "dfs", "-lm"), &words);
        assert_doubted(&verify(&desk, &file, "-lm"), &words);
    }
}

/// What the program does before its first thread, and what has to be said of it besides the line.
const DOUBTED_BEFORE: &[(&str, &str, &[&str])] = &[
    ("seeded", "srand(time(0));", &["time reads a clock"]),
    ("drawn", "int seed; getrandom(&seed, sizeof seed, 0);", &["getrandom draws"]),
    (
        "drawn_from_file",
        "char seed; FILE *source = fopen(\"/dev/urandom\", \"r\"); fread(&seed, 1, 1, source);",
        &["/dev/urandom draws"],
    ),
    ("by_number", "char seed; syscall(SYS_getrandom, &seed, 1, 0);", &["getrandom draws"]),
    ("moment", "int file = open(\"/proc/self/stat\", O_RDONLY);", &["open", "files"]),
    ("identity", "int own = getpid();", &["getpid", "number"]),
    ("shell", "int status = system(\"true\");", &["system", "other processes"]),
    (
        "looked_up",
        "size_t (*length)(const char *) = dlsym(RTLD_DEFAULT, \"strlen\");",
        &["through dlsym is not seen"],
    ),
];

/// Input, or the same in every run.
const CLAIMED_BEFORE: &[(&str, &str)] = &[
    ("computed", "srand(5); int number = rand();"),
    ("input", "int file = open(\"/dev/null\", O_RDONLY); char got; read(file, &got, 1);"),
    ("environment", "char *home = getenv(\"HOME\");"),
    (
        "looked_up_control",
        "int (*lock)(pthread_mutex_t *) = dlsym(RTLD_DEFAULT, \"pthread_mutex_lock\"); lock(&m); pthread_mutex_unlock(&m);",
    ),
];

/// A clock that is read before the first thread says something else the next time, too.
#[test]
fn doubts_are_fields_of_the_result_with_their_kind_and_line() {
    let desk = Desk::new();
    let source = program("", "result = time(0) > 5;");
    desk.file("clock.c", &source);
    let line = format!("clock.c:{}", marked(&source));
    for strategy in CLAIMING {
        let report = hunt(&desk, "clock.c", strategy, "");
        let doubts = report["doubts"].as_array().unwrap();
        let [doubt] = &doubts[..] else { panic!("{strategy}: {doubts:?}") };
        assert_eq!((doubt["what"].as_str(), doubt["site"].as_str()), (Some("clock"), Some(&*line)));
        assert_eq!(
            report["warnings"].as_array().unwrap().iter().filter(|it| **it == doubt["message"]).count(),
            1
        );
        assert_eq!(report["exhausted"], false);
    }
    desk.file("settled.c", program("", ""));
    assert_eq!(verify(&desk, "settled.c", "")["doubts"], serde_json::json!([]));
    let weak = "#include <stdatomic.h>\nstatic atomic_int flag;";
    let source = program(weak, "atomic_store_explicit(&flag, 1, memory_order_relaxed);");
    desk.file("weak.c", &source);
    let report = verify(&desk, "weak.c", "");
    assert_eq!(report["verdict"], "exhausted", "{report}");
    let line = format!("weak.c:{}", marked(&source));
    let doubt = &report["doubts"][0];
    assert_eq!((doubt["what"].as_str(), doubt["site"].as_str()), (Some("weak-order"), Some(&*line)));
}

#[test]
fn what_is_found_out_before_the_first_thread_counts() {
    let desk = Desk::new();
    let source = |statement: &str| {
        program(NO_DECLARATION, "")
            .replace("    pthread_t other;\n", &format!("    pthread_t other;\n    {statement} // HERE\n"))
    };
    for (name, statement, words) in DOUBTED_BEFORE {
        let file = format!("{name}.c");
        let source = source(statement);
        desk.file(&file, &source);
        let line = source.lines().position(|line| line.ends_with("// HERE")).expect("the line") + 1;
        let line = format!("({file}:{line})");
        let words = [*words, &[line.as_str()]].concat();
        assert_doubted(&hunt(&desk, &file, "dfs", ""), &words);
        assert_doubted(&verify(&desk, &file, ""), &words);
    }
    for (name, statement) in CLAIMED_BEFORE {
        let file = format!("claimed_{name}.c");
        desk.file(&file, source(statement));
        assert_claimed(&verify(&desk, &file, ""), name);
    }
}

/// Nobody puts back what other programs change: one execution finds what another has left.
#[test]
fn who_starts_other_programs_is_told_that_results_may_differ() {
    let desk = Desk::new();
    let is_told = |name: &str, declarations: &str, statement: &str| {
        let file = format!("{name}.c");
        desk.file(&file, program(declarations, statement));
        let report = desk.run(&["hunt", &file, "--json", "-", "--quiet", "--executions", "5"]).json();
        report["warnings"].as_array().expect("a list").iter().any(|warning| {
            let warning = warning.as_str().unwrap_or_default();
            warning.contains("the same seed may give other results") && warning.contains(name)
        })
    };
    for (name, statement) in [
        ("system", "result = system(\"true\");"),
        ("popen", "FILE *out = popen(\"true\", \"r\"); pclose(out);"),
        (
            "posix_spawn",
            "pid_t child; char *own[] = { \"true\", 0 }; posix_spawn(&child, \"/bin/true\", 0, 0, own, 0); waitpid(child, 0, 0);",
        ),
    ] {
        assert!(is_told(name, "#include <spawn.h>\n#include <sys/wait.h>", statement), "{name}");
    }
    assert!(!is_told("getpid", NO_DECLARATION, "result = getpid();"));
}

/// The calls that a look at imported names does not find.
#[test]
fn no_strategy_claims_what_comes_by_pointers_libraries_and_numbers() {
    let desk = Desk::new();
    let library = "long now(void);\n#include <time.h>\nlong now(void) { return time(0); }\n";
    desk.file("now.c", library);
    let built = desk.run(&["cc", "-g", "-shared", "-fPIC", "-o", "libnow.so", "now.c"]);
    assert_eq!(built.code, Some(0), "{}", built.stderr);
    let wait = "struct timespec until = { 1, 0 }; mtx_lock(&x); result = cnd_timedwait(&c, &x, &until); mtx_unlock(&x);";
    let cases: [(&str, &str, &str, &[&str]); 3] = [
        (
            "wait",
            "static mtx_t x; static cnd_t c;",
            wait,
            &["cnd_timedwait", "may end at another time", "wait.c:"],
        ),
        (
            "day",
            NO_DECLARATION,
            "struct timeval now; syscall(SYS_gettimeofday, &now, 0);",
            &["gettimeofday reads a clock", "day.c:"],
        ),
        ("library", "long now(void);", "result = (int)now();", &["time reads a clock", "now.c:3"]),
    ];
    let folder = desk.path("").display().to_string();
    for (name, declarations, statement, words) in cases {
        let file = format!("{name}.c");
        desk.file(&file, program(declarations, statement));
        let flags =
            if name == "library" { format!("-L{folder} -lnow -Wl,-rpath,{folder}") } else { String::new() };
        let flags = flags.as_str();
        for strategy in CLAIMING {
            let report = hunt(&desk, &file, strategy, flags);
            assert_doubted(&report, words);
        }
        assert_doubted(&verify(&desk, &file, flags), words);
    }
}

/// Who runs every order runs both sides of what may be refused; who works out which are possible does not know of both.
#[test]
fn what_may_be_refused_is_doubted_unless_all_orders_are_run() {
    let desk = Desk::new();
    for (name, declarations, statement, function) in [
        (
            "try",
            "static int (*volatile try)(pthread_mutex_t *) = pthread_mutex_trylock;",
            "if (try(&m) == 0) pthread_mutex_unlock(&m);",
            "pthread_mutex_trylock",
        ),
        ("count", "static sem_t s;", "sem_getvalue(&s, &result);", "sem_getvalue"),
    ] {
        let file = format!("{name}.c");
        let source = program(declarations, statement);
        desk.file(&file, &source);
        let line = format!("({file}:{})", marked(&source));
        for strategy in ["mcr", "total", "reach"] {
            let report = hunt(&desk, &file, strategy, "");
            assert_doubted(&report, &[function, "may be refused", &line]);
        }
        for strategy in ["dfs", "states"] {
            assert_claimed(&hunt(&desk, &file, strategy, ""), name);
        }
        assert_claimed(&verify(&desk, &file, ""), name);
    }
}

#[test]
fn code_without_instrumentation_is_named() {
    let desk = Desk::new();
    let source = desk.file("plain.c", "int plain(int *n) { return ++*n; }\n");
    let library = desk.path("libplain.so");
    let built = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status();
    assert!(built.expect("a compiler").success());
    let source = program(
        "int plain(int *n);",
        "pthread_mutex_lock(&m); result = plain(&n); pthread_mutex_unlock(&m);",
    );
    desk.file("uses.c", &source);
    let folder = desk.path("").display().to_string();
    let flags = format!("-L{folder} -lplain -Wl,-rpath,{folder}");
    let line = format!("(uses.c:{})", marked(&source));
    for strategy in CLAIMING {
        let report = hunt(&desk, "uses.c", strategy, &flags);
        assert_doubted(&report, &["plain is not instrumented", &line]);
    }
}

/// Calls of the library that decide nothing, or only by what they are given.
#[test]
fn harmless_calls_are_no_doubt() {
    let desk = Desk::new();
    for (name, declarations, statement) in [
        ("prints", NO_DECLARATION, "printf(\"%d %s\\n\", result, \"text\"); puts(\"done\"); fflush(stdout);"),
        (
            "formats",
            NO_DECLARATION,
            "char mine[16]; snprintf(mine, sizeof mine, \"%d\", 7); result = atoi(mine);",
        ),
        ("asks", NO_DECLARATION, "result = getenv(\"HOME\") != 0;"),
        ("computes", NO_DECLARATION, "double x = 2; result = (int)sin(x);"),
        (
            "sorts",
            "static int by(const void *a, const void *b) { return *(int *)a - *(int *)b; }",
            "int mine[3] = { 3, 1, 2 }; qsort(mine, 3, sizeof *mine, by); result = mine[0];",
        ),
        ("constant", "static const char fixed[] = \"5\";", "result = atoi(fixed);"),
        // What it is given is shared, and its read is a step.
        (
            "number",
            NO_DECLARATION,
            "pthread_mutex_lock(&m); text[0] = '7'; result = atoi(text); pthread_mutex_unlock(&m);",
        ),
        (
            "printed",
            NO_DECLARATION,
            "pthread_mutex_lock(&m); text[0] = '7'; puts(text); pthread_mutex_unlock(&m);",
        ),
        (
            "written",
            NO_DECLARATION,
            "pthread_mutex_lock(&m); text[0] = '7'; write(1, text, 2); pthread_mutex_unlock(&m);",
        ),
    ] {
        let file = format!("{name}.c");
        desk.file(&file, program(declarations, statement));
        // Who solves for orders does not know what a text is that others change byte by byte.
        let is_text = ["number", "printed", "written"].contains(&name);
        let claiming: &[&str] = if is_text { &["dfs"] } else { &["dfs", "mcr", "reach"] };
        for strategy in claiming {
            assert_claimed(&hunt(&desk, &file, strategy, "-lm"), name);
        }
        assert_claimed(&verify(&desk, &file, "-lm"), name);
    }
}

/// Whatever a stub does, the function gets what it was given: numbers and vectors, many arguments, pointers to itself that stay equal.
#[test]
fn calls_that_are_noted_get_their_arguments_unchanged() {
    let desk = Desk::new();
    let library = "#include <immintrin.h>
#include <stdarg.h>
double mixed(int a, double b, long c, float d, char *e, double f, int g, double h, int i, double j, int k, double l, double m, double o) {
    return a + b + c + d + *e + f + g + h + i + j + k + l + m + o;
}
double many(int count, ...) {
    double sum = 0;
    va_list list;
    va_start(list, count);
    for (int i = 0; i < count; i++) sum += i % 2 ? va_arg(list, double) : va_arg(list, int);
    va_end(list);
    return sum;
}
__attribute__((target(\"avx\"))) double wide(__m256d a, __m256d b) {
    double all[4];
    _mm256_storeu_pd(all, _mm256_add_pd(a, b));
    return all[0] + all[1] + all[2] + all[3];
}
";
    let source = desk.file("given.c", library);
    let path = desk.path("libgiven.so");
    let built = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&path).arg(&source).status();
    assert!(built.expect("a compiler").success());
    let declarations = "#include <assert.h>
#include <immintrin.h>
#include <setjmp.h>
double mixed(int, double, long, float, char *, double, int, double, int, double, int, double, double, double);
double many(int, ...);
double wide(__m256d, __m256d);
static double (*volatile same)(int, ...) = many;
__attribute__((target(\"avx\"))) static double widely(void) {
    return wide(_mm256_set_pd(1, 2, 3, 4), _mm256_set_pd(10, 20, 30, 40));
}";
    let statement = "char one = 1; jmp_buf back; \
        assert(mixed(1, 2, 3, 4, &one, 5, 6, 7, 8, 9, 10, 11, 12, 13) == 92); \
        assert(many(6, 1, 2.0, 3, 4.0, 5, 6.0) == 21 && same == many); \
        if (__builtin_cpu_supports(\"avx\")) assert(widely() == 110); \
        if (setjmp(back) == 0) longjmp(back, 1); \
        char out[64]; assert(snprintf(out, 64, \"%d %.1f %s %d %d %d %.1f\", 1, 2.5, \"x\", 3, 4, 5, 6.5) == 17);";
    desk.file("gives.c", program(declarations, statement));
    let folder = desk.path("").display().to_string();
    for more in ["", "-Wl,-z,lazy", "-Wl,-z,now", "-no-pie"] {
        let flags = format!("-L{folder} -lgiven -Wl,-rpath,{folder} {more}");
        let report = hunt(&desk, "gives.c", "dfs", &flags);
        for function in ["mixed", "many", "wide"] {
            assert_doubted(&report, &[&format!("{function} is not instrumented"), "gives.c:"]);
        }
    }
}

/// The same seed is the same run, whatever the program asks the system or the processor for.
#[test]
fn hidden_inputs_are_the_same_in_every_run() {
    let source = r#"#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/times.h>
#include <unistd.h>
#include <x86intrin.h>
static int x;
static void *w(void *u) { x++; return u; }
static unsigned long sum(const void *place, size_t bytes) {
    unsigned long all = 7;
    for (const unsigned char *next = place; bytes--; next++) all = all * 131 + *next;
    return all;
}
int main(int argc, char **argv) {
    pthread_t t;
    char bytes[64];
    unsigned long v = 0;
    pthread_create(&t, 0, w, 0);
    x++;
    switch (atoi(argv[1])) {
    case 0: { int f = open("/dev/urandom", O_RDONLY), g = dup(f); if (read(g, bytes, 40) != 40) return 251; v = sum(bytes, 40); break; }
    case 1: { FILE *f = fopen("/dev/random", "r"); if (fread(bytes, 2, 20, f) != 20) return 251; v = sum(bytes, 40) + fgetc(f); break; }
    case 2: { struct tms used; v = times(&used); v += sum(&used, sizeof used); break; }
    case 3: { struct rusage used; memset(&used, 1, sizeof used); getrusage(RUSAGE_SELF, &used); v = sum(&used, sizeof used); break; }
    case 4: { unsigned processor; v = __rdtsc(); if (__rdtscp(&processor) <= v) return 251; v += processor; break; }
    case 5: v = sum((void *)getauxval(AT_RANDOM), 16); break;
    case 6: v = getppid(); break;
    case 7: v = sched_getcpu(); break;
    // The processor's clock is not forbidden to other programs.
    case 8: v = system("date > /dev/null"); if (v) return 251; break;
    }
    pthread_join(t, 0);
    return 1 + (v ^ v >> 8 ^ v >> 16 ^ v >> 29) % 250;
}
"#;
    let desk = Desk::new();
    desk.file("hidden.c", source);
    let made = desk.run(&["cc", "-O1", "-g", "-pthread", "hidden.c", "-o", "hidden"]);
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    for case in 0..9 {
        let outcome = || {
            let case = case.to_string();
            let args = ["hunt", "./hidden", "--executions", "1", "--no-minimise", "--json", "-", "--quiet"];
            desk.run(&[&args[..], &["--", &case]].concat()).json()["failure"]["message"].clone()
        };
        let first = outcome();
        assert!(first.as_str().is_some_and(|message| !message.ends_with(" 251")), "{case}: {first}");
        assert_eq!(first, outcome(), "{case}");
    }
}
