//! Programs of which it was once said that nothing is left to try, although some interleaving fails.

mod support;

use std::os::unix::process::CommandExt;

use serde_json::Value;
use support::Desk;

/// The strategies that can come to an end.
const CLAIMING: [&str; 5] = ["dfs", "states", "mcr", "total", "reach"];

fn run(desk: &Desk, args: &[&str]) -> Value {
    let common = ["--json", "-", "--quiet", "--jobs", "1", "--executions", "3000", "--no-minimise"];
    desk.run(&[args, &common].concat()).json()
}

/// What a command and a strategy say of a program.
fn verdicts(desk: &Desk, file: &str) -> Vec<(String, Value)> {
    let hunt = |strategy: &str| run(desk, &["hunt", file, "--strategy", strategy]);
    let mut all: Vec<(String, Value)> =
        CLAIMING.iter().map(|strategy| (strategy.to_string(), hunt(strategy))).collect();
    let common = ["--json", "-", "--quiet", "--jobs", "1", "--executions", "3000"];
    all.push(("verify".to_string(), desk.run(&[&["verify", file], &common[..]].concat()).json()));
    all
}

/// Some interleaving of the program fails: nobody may claim otherwise, and those find it who run all orders or states.
fn nobody_claims_and_failures_are_found(desk: &Desk, file: &str) {
    for (who, report) in verdicts(desk, file) {
        assert_ne!(report["verdict"], "exhausted", "{file}, {who}: {report:#}");
        let must_find = ["dfs", "states", "verify"].contains(&who.as_str());
        assert!(!must_find || report["verdict"] == "failure", "{file}, {who}: {report:#}");
    }
}

fn races(desk: &Desk, file: &str) -> usize {
    let report =
        desk.run(&["check", file, "--json", "-", "--quiet", "--jobs", "1", "--executions", "200"]).json();
    let findings = report["findings"].as_array().expect("findings");
    findings.iter().filter(|finding| finding["kind"] == "race").count()
}

/// Programs that fail in some interleaving only after main has made its last step, or that end in more than one way.
#[test]
fn threads_go_on_while_the_process_ends() {
    const HEAD: &str = "#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static int x;
";
    let desk = Desk::new();
    for (name, rest) in [
        (
            "returns",
            "static void *w(void *u) { if (x == 1) abort(); return 0; }
int main(void) { pthread_t t; pthread_create(&t, 0, w, 0); x = 1; return 0; }",
        ),
        (
            "exits",
            "static void *w(void *u) { if (x == 1) abort(); return 0; }
int main(void) { pthread_t t; pthread_create(&t, 0, w, 0); pthread_detach(t); x = 1; exit(0); }",
        ),
        (
            "at_once",
            "static void *w(void *u) { if (x == 1) abort(); return 0; }
int main(void) { pthread_t t; pthread_create(&t, 0, w, 0); x = 1; _exit(0); }",
        ),
        (
            "quickly",
            "static void *w(void *u) { if (x == 2) abort(); return 0; }
static void last(void) { x++; }
int main(void) { pthread_t t; at_quick_exit(last); pthread_create(&t, 0, w, 0); x = 1; quick_exit(0); }",
        ),
        (
            "handler",
            "static void *w(void *u) { if (x == 2) abort(); return 0; }
static void last(void) { x++; }
int main(void) { pthread_t t; atexit(last); pthread_create(&t, 0, w, 0); x = 1; return 0; }",
        ),
        (
            "elsewhere",
            "static void *w(void *u) { exit(x == 1 ? 3 : 0); }
int main(void) { pthread_t t; pthread_create(&t, 0, w, 0); x = 1; return 0; }",
        ),
    ] {
        let file = format!("{name}.c");
        desk.file(&file, format!("{HEAD}{rest}\n"));
        for (who, report) in verdicts(&desk, &file) {
            assert_ne!(report["verdict"], "exhausted", "{name}, {who}: {report:#}");
            let must_find = ["dfs", "states", "reach", "verify"].contains(&who.as_str());
            assert!(!must_find || report["verdict"] == "failure", "{name}, {who}: {report:#}");
        }
        assert_ne!(races(&desk, &file), 0, "{name}: the race of main and a thread that nobody joins");
    }
}

/// What is to be called at the end may be registered when the end has begun.
#[test]
fn functions_are_registered_while_the_process_ends() {
    let desk = Desk::new();
    for (name, register, end) in [
        ("quick", "at_quick_exit", "quick_exit(0)"),
        ("orderly", "atexit", "exit(0)"),
        ("returns", "atexit", "return 0"),
    ] {
        let file = format!("{name}.c");
        desk.file(
            &file,
            format!(
                "#include <pthread.h>
#include <stdlib.h>
static int x;
static void one(void) {{ x = 1; }}
static void last(void) {{ if (x == 0) abort(); }}
static void *w(void *u) {{ {register}(one); return 0; }}
int main(void) {{ pthread_t t; {register}(last); pthread_create(&t, 0, w, 0); {end}; }}
"
            ),
        );
        nobody_claims_and_failures_are_found(&desk, &file);
    }
}

/// What threads learn of each other without reading shared memory.
#[test]
fn what_threads_tell_each_other_past_memory_is_varied() {
    const HEAD: &str = "#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
static int x, y;
static pthread_t h0, h1;
static long joined(pthread_t thread) { void *result; pthread_join(thread, &result); return (long)result; }
";
    let desk = Desk::new();
    for (name, rest) in [
        (
            "results",
            "static void *a(void *u) { x = y + 3; return (void *)(long)x; }
static void *b(void *u) { x = y + 1; y += 1; return (void *)(long)x; }
int main(void) {
    pthread_create(&h0, 0, a, 0); pthread_create(&h1, 0, b, 0);
    long r1 = joined(h1), r0 = joined(h0);
    assert(!(r0 == 4 && r1 == 1));
}",
        ),
        (
            "arguments",
            "static void *a(void *n) { assert(!((long)n == 1 && x == 2)); return 0; }
static void *b(void *u) { x = 1; x = 2; return 0; }
int main(void) {
    pthread_create(&h0, 0, b, 0);
    pthread_create(&h1, 0, a, (void *)(long)x);
    joined(h0); joined(h1);
}",
        ),
        (
            "robust",
            "static pthread_mutex_t m;
static void *a(void *u) { pthread_mutex_lock(&m); return 0; }
static void *b(void *u) { return (void *)(long)(pthread_mutex_lock(&m) == EOWNERDEAD); }
int main(void) {
    pthread_mutexattr_t how; pthread_mutexattr_init(&how);
    pthread_mutexattr_setrobust(&how, PTHREAD_MUTEX_ROBUST); pthread_mutex_init(&m, &how);
    pthread_create(&h0, 0, a, 0); pthread_create(&h1, 0, b, 0);
    joined(h0); assert(joined(h1));
}",
        ),
        (
            "cancelled",
            "static void *a(void *u) { pthread_testcancel(); return 0; }
static void *b(void *u) { pthread_cancel(h0); return 0; }
int main(void) {
    pthread_create(&h0, 0, a, 0); pthread_create(&h1, 0, b, 0);
    joined(h1); assert(!joined(h0));
}",
        ),
        (
            "signalled",
            "static volatile sig_atomic_t got;
static void handler(int which) { got++; }
static void *a(void *u) { return (void *)(long)got; }
static void *b(void *u) { got = 0; pthread_kill(h0, SIGUSR1); return 0; }
int main(void) {
    signal(SIGUSR1, handler);
    pthread_create(&h0, 0, a, 0); pthread_create(&h1, 0, b, 0);
    joined(h1); assert(!joined(h0));
}",
        ),
        (
            "destroyed",
            "static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *a(void *u) { pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); return 0; }
static void *b(void *u) { pthread_mutex_destroy(&m); return 0; }
int main(void) {
    pthread_create(&h0, 0, a, 0); pthread_create(&h1, 0, b, 0);
    joined(h0); joined(h1);
}",
        ),
        (
            "refused_by_itself",
            "static pthread_mutex_t m = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static void *a(void *u) {
    pthread_mutex_lock(&m); pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); return 0;
}
static void *b(void *u) {
    pthread_mutex_lock(&m); pthread_mutex_lock(&m); assert(!x); pthread_mutex_unlock(&m); return 0;
}
int main(void) {
    pthread_create(&h0, 0, b, 0); pthread_create(&h1, 0, a, 0);
    joined(h0); joined(h1);
}",
        ),
    ] {
        let file = format!("{name}.c");
        desk.file(&file, format!("{HEAD}{rest}\n"));
        nobody_claims_and_failures_are_found(&desk, &file);
    }
}

#[test]
fn destructors_of_statics_race_with_threads_that_are_left() {
    let desk = Desk::new();
    desk.file(
        "statics.cpp",
        "#include <cstdlib>
#include <thread>
struct Table { int *rows = new int[4](); ~Table() { delete[] rows; rows = nullptr; } };
static Table table;
int main() { std::thread([] { table.rows[1]++; }).detach(); }
",
    );
    let report = run(&desk, &["hunt", "statics.cpp"]);
    assert_eq!(report["verdict"], "failure", "{report:#}");
}

/// Threads that never end are no reason not to end.
#[test]
fn a_process_ends_although_threads_go_on_for_ever() {
    let desk = Desk::new();
    desk.file(
        "daemon.c",
        "#include <pthread.h>
#include <unistd.h>
static _Atomic int n;
static void *w(void *u) { for (;;) { n++; usleep(1000); } }
int main(void) { pthread_t t; pthread_create(&t, 0, w, 0); n++; return 0; }
",
    );
    let report = run(&desk, &["hunt", "daemon.c", "--strategy", "random"]);
    assert_eq!(report["verdict"], "clean", "{report:#}");
}

/// A loop that gives up after a number of rounds is not one that waits.
#[test]
fn loops_that_count_are_followed_to_their_end_or_nothing_is_claimed() {
    let desk = Desk::new();
    desk.file(
        "rounds.c",
        "#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int flag;
static void *w(void *u) { flag = 1; return 0; }
int main(void) {
    pthread_t t;
    int i;
    pthread_create(&t, 0, w, 0);
    for (i = 0; i < 30 && !flag; i++) {}
    assert(i < 30);
    pthread_join(t, 0);
    return 0;
}
",
    );
    for (who, report) in verdicts(&desk, "rounds.c") {
        assert_ne!(report["verdict"], "exhausted", "{who}: {report:#}");
        let must_find = ["states", "verify"].contains(&who.as_str());
        assert!(!must_find || report["verdict"] == "failure", "{who}: {report:#}");
    }
}

/// What functions of the library read is seen to be read.
#[test]
fn library_calls_read_memory() {
    let desk = Desk::new();
    for (name, call) in [
        ("number", "atoi(text) == 24"),
        ("length", "strtol(text, 0, 10) == 24"),
        ("prints", "puts(text) >= 0 && atoi(text) == 24"),
    ] {
        let file = format!("{name}.c");
        desk.file(
            &file,
            format!(
                "#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char text[4] = \"13\";
static void *w(void *u) {{ text[0] = '2'; text[1] = '4'; text[1] = '5'; return 0; }}
int main(void) {{
    pthread_t t;
    pthread_create(&t, 0, w, 0);
    if ({call}) abort();
    pthread_join(t, 0);
    return 0;
}}
"
            ),
        );
        nobody_claims_and_failures_are_found(&desk, &file);
        assert_ne!(races(&desk, &file), 0, "{name}");
    }
}

/// Where nothing was under control, no command passes a verdict.
#[test]
fn what_nobody_controls_is_an_error_in_every_command() {
    let desk = Desk::new();
    desk.file(
        "futex.c",
        "#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
static int word;
static void *w(void *u) { syscall(SYS_futex, &word, FUTEX_LOCK_PI, 0, 0, 0, 0); return u; }
int main(void) { pthread_t t; pthread_create(&t, 0, w, 0); pthread_join(t, 0); return 0; }
",
    );
    let hunts = CLAIMING.iter().map(|strategy| vec!["hunt", "--strategy", strategy]);
    let others = [vec!["hunt"], vec!["check"], vec!["verify"], vec!["compare", "--strategies", "random"]];
    for command in others.into_iter().chain(hunts) {
        let answer = desk.run(&[&command[..], &["futex.c", "--quiet"]].concat());
        assert_eq!(answer.code, Some(2), "{command:?}: {}", answer.stderr);
        assert!(answer.stderr.contains("under control"), "{command:?}: {}", answer.stderr);
    }
}

/// Functions that the compiler was told to leave alone make steps that nobody sees.
#[test]
fn functions_without_instrumentation_are_a_doubt_for_every_strategy() {
    let desk = Desk::new();
    desk.file(
        "unseen.c",
        "#include <pthread.h>
#include <stdlib.h>
static int x;
__attribute__((no_sanitize_thread, noinline)) static void add(void) { x++; }
static void *w(void *u) { add(); return u; }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, w, 0);
    add();
    pthread_join(t, 0);
    if (x != 2) abort();
    return 0;
}
",
    );
    for (who, report) in verdicts(&desk, "unseen.c") {
        assert_eq!(report["verdict"], "clean", "{who}: {report:#}");
        let doubt = report["warnings"].as_array().expect("warnings").iter().any(|warning| {
            let words = warning.as_str().unwrap_or_default();
            words.contains("add accesses memory without announcing it") && words.contains("unseen.c:4")
        });
        assert!(doubt, "{who}: {report:#}");
    }
}

/// Both threads may read 0 on any machine that buffers stores: what is claimed is claimed of sequential consistency.
#[test]
fn weaker_orders_are_named_with_their_lines() {
    let desk = Desk::new();
    for (name, kind, store, load) in [
        (
            "relaxed",
            "atomic_int",
            "atomic_store_explicit(&$, 1, memory_order_relaxed)",
            "atomic_load_explicit(&$, memory_order_relaxed)",
        ),
        ("volatile", "volatile int", "$ = 1", "$"),
    ] {
        let put = |variable| store.replace('$', variable);
        let get = |variable| load.replace('$', variable);
        desk.file(
            &format!("{name}.c"),
            format!(
                "#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
static {kind} x, y;
static int seen;
static void *w(void *u) {{ {}; seen = {}; return u; }}
int main(void) {{
    pthread_t t;
    pthread_create(&t, 0, w, 0);
    {};
    int mine = {};
    pthread_join(t, 0);
    if (!mine && !seen) abort();
    return 0;
}}
",
                put("x"),
                get("y"),
                put("y"),
                get("x"),
            ),
        );
        for (who, report) in verdicts(&desk, &format!("{name}.c")) {
            assert_eq!(report["exhausted"], true, "{name}, {who}: {report:#}");
            let remark = report["warnings"].as_array().expect("warnings").iter().any(|warning| {
                let words = warning.as_str().unwrap_or_default();
                words.contains("under sequential consistency") && words.contains(&format!("{name}.c:6"))
            });
            assert!(remark, "{name}, {who}: {report:#}");
        }
    }
}

/// Containers may forbid to fix addresses, and then executions are not all there are.
#[test]
fn nothing_is_claimed_where_addresses_are_random() {
    let desk = Desk::new();
    desk.file(
        "address.c",
        "#include <pthread.h>
static int x;
static void *w(void *u) { x = 1; return u; }
int main(void) { pthread_t t; pthread_create(&t, 0, w, 0); x = 2; pthread_join(t, 0); return 0; }
",
    );
    for way in [["hunt", "--strategy=dfs"], ["hunt", "--strategy=mcr"], ["verify", "--quiet"]] {
        for refused in [false, true] {
            let mut command =
                desk.command(&[&way[..], &["address.c", "--jobs", "1", "--json", "-"]].concat());
            if refused {
                // SAFETY: system calls on local structures, between fork and exec.
                unsafe { command.pre_exec(refuse_personality) };
            }
            let output = command.output().expect("the tool runs");
            let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
            let is_doubted = report["warnings"].to_string().contains("random addresses");
            assert_eq!(
                (&report["exhausted"], is_doubted),
                (&(!refused).into(), refused),
                "{way:?}: {report:#}"
            );
        }
    }
}

/// Has the system refuse `personality`, for this process and all that it starts.
fn refuse_personality() -> std::io::Result<()> {
    use libc::{BPF_ABS, BPF_JEQ, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W};
    let step = |code: u32, jump_if_not: u8, k: u32| libc::sock_filter {
        code: code as u16,
        jt: 0,
        jf: jump_if_not,
        k,
    };
    let filter = [
        step(BPF_LD | BPF_W | BPF_ABS, 0, 0),
        step(BPF_JMP | BPF_JEQ | BPF_K, 1, libc::SYS_personality as u32),
        step(BPF_RET | BPF_K, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32),
        step(BPF_RET | BPF_K, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_ptr().cast_mut() };
    // SAFETY: the filter outlives the call.
    let done = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0
    };
    if done { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

/// What the library and the system keep is as good as memory: the order of calls decides what they answer.
#[test]
fn calls_that_touch_hidden_state_are_ordered() {
    let desk = Desk::new();
    for (name, global, first, second, bad) in [
        ("descriptors", "", "a = dup(1); close(a);", "b = dup(1);", "a > b"),
        ("pipes", "", "int p[2]; pipe(p); a = p[0]; close(a); close(p[1]);", "b = dup(1);", "a > b"),
        (
            "keys",
            "",
            "pthread_key_t k; pthread_key_create(&k, 0); a = k;",
            "pthread_key_t k; pthread_key_create(&k, 0); b = k;",
            "a > b",
        ),
        (
            "limits",
            "",
            "struct rlimit l; getrlimit(RLIMIT_NOFILE, &l); a = l.rlim_cur;",
            "struct rlimit l = { 99, 99 }; setrlimit(RLIMIT_NOFILE, &l);",
            "a == 99",
        ),
        ("variables", "", "a = getenv(\"HIDDEN\") != 0;", "setenv(\"HIDDEN\", \"1\", 1);", "a == 1"),
        (
            "attributes",
            "static pthread_mutexattr_t how;",
            "int type; pthread_mutexattr_gettype(&how, &type); a = type;",
            "pthread_mutexattr_settype(&how, PTHREAD_MUTEX_RECURSIVE);",
            "a == PTHREAD_MUTEX_RECURSIVE",
        ),
        (
            "stacks",
            "static pthread_attr_t how;",
            "size_t size; pthread_attr_getguardsize(&how, &size); a = size == 8192;",
            "pthread_attr_setguardsize(&how, 8192);",
            "a == 1",
        ),
        ("concurrency", "", "a = pthread_getconcurrency();", "pthread_setconcurrency(3);", "a == 3"),
        (
            "handlers",
            "static void h(int s) { a++; } static void g(int s) { b++; }",
            "signal(SIGUSR1, h); raise(SIGUSR1);",
            "signal(SIGUSR1, g);",
            "b == 1",
        ),
    ] {
        let file = format!("{name}.c");
        desk.file(
            &file,
            format!(
                "#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>
static long a, b;
{global}
static void *v(void *u) {{ {first} return 0; }}
static void *w(void *u) {{ {second} return 0; }}
int main(void) {{
    pthread_t s, t;
    pthread_create(&s, 0, v, 0);
    pthread_create(&t, 0, w, 0);
    pthread_join(s, 0);
    pthread_join(t, 0);
    if ({bad}) abort();
    return 0;
}}
"
            ),
        );
        nobody_claims_and_failures_are_found(&desk, &file);
    }
}

/// Where nothing can go wrong, hidden state does not keep anybody from saying so.
#[test]
fn harmless_calls_that_touch_hidden_state_are_claimed() {
    let desk = Desk::new();
    desk.file(
        "harmless.c",
        "#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int n;
static void *w(void *u) {
    int own = dup(1);
    if (own < 0) abort();
    close(own);
    if (pthread_mutex_trylock(&m) == 0) { n++; pthread_mutex_unlock(&m); }
    return 0;
}
int main(void) {
    pthread_t s, t;
    pthread_create(&s, 0, w, 0);
    pthread_create(&t, 0, w, 0);
    pthread_join(s, 0);
    pthread_join(t, 0);
    if (n == 0) abort();
    return 0;
}
",
    );
    for (who, report) in verdicts(&desk, "harmless.c") {
        let must_claim = ["dfs", "states", "verify"].contains(&who.as_str());
        assert!(!must_claim || report["verdict"] == "exhausted", "{who}: {report:#}");
    }
    assert_eq!(races(&desk, "harmless.c"), 0, "hidden state is no memory of the program");
}

/// A lock that is tried is seen to be taken, also where what it guards is no step.
#[test]
fn a_lock_may_be_refused() {
    let desk = Desk::new();
    desk.file(
        "refused.c",
        "#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int n;
static void *w(void *u) { pthread_mutex_lock(&m); n++; pthread_mutex_unlock(&m); return 0; }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, w, 0);
    if (pthread_mutex_trylock(&m)) abort();
    pthread_mutex_unlock(&m);
    pthread_join(t, 0);
    return 0;
}
",
    );
    for (who, report) in verdicts(&desk, "refused.c") {
        assert_ne!(report["verdict"], "exhausted", "{who}: {report:#}");
        let must_find = ["dfs", "states", "verify"].contains(&who.as_str());
        assert!(!must_find || report["verdict"] == "failure", "{who}: {report:#}");
    }
}

/// Where an object is initialised, destroyed or given back matters to everybody who uses it, in whatever way.
#[test]
fn objects_are_used_before_and_after_their_lifetime() {
    const HEAD: &str = "#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
static atomic_int ready;
";
    const TAIL: &str = "int main(void) {
    pthread_t s, t;
    setup();
    pthread_create(&s, 0, v, 0);
    pthread_create(&t, 0, w, 0);
    pthread_join(s, 0);
    pthread_join(t, 0);
    return 0;
}
";
    let desk = Desk::new();
    for (name, kind, declarations, setup, first, second) in [
        (
            "destroyed_while_held",
            "misuse",
            "static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;",
            "",
            "pthread_mutex_lock(&m); ready = 1; pthread_mutex_unlock(&m);",
            "if (ready) pthread_mutex_destroy(&m);",
        ),
        (
            "initialised_while_held",
            "misuse",
            "static pthread_mutex_t m;",
            "",
            "ready = 1; pthread_mutex_init(&m, 0);",
            "if (ready) { pthread_mutex_lock(&m); ready = 2; pthread_mutex_unlock(&m); }",
        ),
        (
            "freed_while_held",
            "use-after-free",
            "static pthread_mutex_t *m;",
            "m = malloc(sizeof *m); pthread_mutex_init(m, 0);",
            "pthread_mutex_lock(m); ready = 1; pthread_mutex_unlock(m);",
            "if (ready) free(m);",
        ),
        (
            "freed_before_the_signal",
            "use-after-free",
            "static pthread_cond_t *c;",
            "c = malloc(sizeof *c); pthread_cond_init(c, 0);",
            "ready = 1; pthread_cond_signal(c);",
            "if (ready) free(c);",
        ),
        (
            "freed_before_the_post",
            "use-after-free",
            "static sem_t *s;",
            "s = malloc(sizeof *s); sem_init(s, 0, 0);",
            "ready = 1; sem_post(s);",
            "if (ready) free(s);",
        ),
        (
            "freed_read_write_lock",
            "use-after-free",
            "static pthread_rwlock_t *l;",
            "l = malloc(sizeof *l); pthread_rwlock_init(l, 0);",
            "pthread_rwlock_rdlock(l); ready = 1; pthread_rwlock_unlock(l);",
            "if (ready) free(l);",
        ),
    ] {
        let file = format!("{name}.c");
        desk.file(
            &file,
            format!(
                "{HEAD}{declarations}
static void setup(void) {{ {setup} }}
static void *v(void *u) {{ {first} return 0; }}
static void *w(void *u) {{ {second} return 0; }}
{TAIL}"
            ),
        );
        for (who, report) in verdicts(&desk, &file) {
            assert_ne!(report["verdict"], "exhausted", "{name}, {who}: {report:#}");
            let must_find = ["dfs", "states", "verify"].contains(&who.as_str());
            assert!(!must_find || report["failure"]["kind"] == kind, "{name}, {who}: {report:#}");
        }
    }
}

/// Whoever waits for a semaphore may give it back: the post is over when the wait is.
#[test]
fn an_object_may_be_given_back_once_it_is_released() {
    let desk = Desk::new();
    desk.file(
        "released.c",
        "#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
static struct object { pthread_mutex_t m; sem_t s; int users; } *o;
static void leave(void) {
    pthread_mutex_lock(&o->m);
    int last = --o->users == 0;
    pthread_mutex_unlock(&o->m);
    if (last) free(o);
}
static void *v(void *u) { sem_post(&o->s); leave(); return 0; }
static void *w(void *u) { sem_wait(&o->s); leave(); return 0; }
int main(void) {
    pthread_t s, t;
    o = malloc(sizeof *o);
    pthread_mutex_init(&o->m, 0);
    sem_init(&o->s, 0, 0);
    o->users = 2;
    pthread_create(&s, 0, v, 0);
    pthread_create(&t, 0, w, 0);
    pthread_join(s, 0);
    pthread_join(t, 0);
    return 0;
}
",
    );
    for (who, report) in verdicts(&desk, "released.c") {
        assert_ne!(report["verdict"], "failure", "{who}: {report:#}");
        let must_claim = ["dfs", "states", "verify"].contains(&who.as_str());
        assert!(!must_claim || report["verdict"] == "exhausted", "{who}: {report:#}");
    }
}

/// A signal comes before a thread ends, blocks it, or waits for it, even if the thread makes no other step.
#[test]
fn signals_come_before_what_a_thread_does_last() {
    let desk = Desk::new();
    for (name, body, bad) in [
        ("ends", "a = got;", "a == 1"),
        (
            "blocks",
            "sigset_t s; sigemptyset(&s); sigaddset(&s, SIGUSR1); pthread_sigmask(SIG_BLOCK, &s, 0); a = got;",
            "a == 1",
        ),
        ("waits", "pause();", "0"),
    ] {
        let file = format!("{name}.c");
        desk.file(
            &file,
            format!(
                "#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
static volatile int got, a;
static pthread_t s;
static void h(int n) {{ got = 1; }}
static void *v(void *u) {{ {body} return 0; }}
static void *w(void *u) {{ pthread_kill(s, SIGUSR1); return 0; }}
int main(void) {{
    pthread_t t;
    signal(SIGUSR1, h);
    pthread_create(&s, 0, v, 0);
    pthread_create(&t, 0, w, 0);
    pthread_join(t, 0);
    pthread_join(s, 0);
    if ({bad}) abort();
    return 0;
}}
"
            ),
        );
        for (who, report) in verdicts(&desk, &file) {
            assert_ne!(report["verdict"], "exhausted", "{name}, {who}: {report:#}");
            let must_find = ["dfs", "states"].contains(&who.as_str());
            assert!(!must_find || report["verdict"] == "failure", "{name}, {who}: {report:#}");
        }
    }
}

/// A thread that may be cancelled at any time may be so although it makes no step meanwhile.
#[test]
fn cancellation_comes_before_it_is_put_off() {
    let desk = Desk::new();
    desk.file(
        "cancelled.c",
        "#include <pthread.h>
#include <stdlib.h>
static pthread_t s;
static void *v(void *u) {
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, 0);
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, 0);
    return 0;
}
static void *w(void *u) { pthread_cancel(s); return 0; }
int main(void) {
    pthread_t t;
    void *result;
    pthread_create(&s, 0, v, 0);
    pthread_create(&t, 0, w, 0);
    pthread_join(t, 0);
    pthread_join(s, &result);
    if (result == PTHREAD_CANCELED) abort();
    return 0;
}
",
    );
    for (who, report) in verdicts(&desk, "cancelled.c") {
        assert_ne!(report["verdict"], "exhausted", "{who}: {report:#}");
        let must_find = ["dfs", "states"].contains(&who.as_str());
        assert!(!must_find || report["verdict"] == "failure", "{who}: {report:#}");
    }
}

/// What compilers and programmers write past the instrumentation is a doubt to everybody.
#[test]
fn stores_that_nobody_announces_are_doubted() {
    let desk = Desk::new();
    for (name, store) in [
        ("assembly", "__asm__ volatile(\"incl %0\" : \"+m\"(n));"),
        ("written_out", "__builtin_memset(&n, 1, 4);"),
    ] {
        let file = format!("{name}.c");
        desk.file(
            &file,
            format!(
                "#include <pthread.h>
#include <stdlib.h>
static int n;
static void *w(void *u) {{ {store} return 0; }}
int main(void) {{
    pthread_t t;
    pthread_create(&t, 0, w, 0);
    if (n) abort();
    pthread_join(t, 0);
    return 0;
}}
"
            ),
        );
        for (who, report) in verdicts(&desk, &file) {
            assert_ne!(report["verdict"], "exhausted", "{name}, {who}: {report:#}");
        }
    }
}

/// A failure at the very beginning of a thread, or while another thread ends the process, hides what that would have come to.
#[test]
fn a_failure_that_comes_too_early_hides_others() {
    let desk = Desk::new();
    desk.file(
        "early.c",
        "#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static void *w(void *u) { abort(); }
int main(void) { pthread_t t; pthread_create(&t, 0, w, 0); _exit(3); }
",
    );
    let common =
        ["--json", "-", "--quiet", "--jobs", "1", "--executions", "3000", "--no-minimise", "--keep-going"];
    for strategy in CLAIMING {
        let report = desk.run(&[&["hunt", "early.c", "--strategy", strategy], &common[..]].concat()).json();
        let failures = report["failures"].as_array().map_or(0, Vec::len);
        assert!(report["exhausted"] != true || failures > 1, "{strategy}: {report:#}");
    }
}

/// Two ways lead to the same memory and the same places in the code, and only one of them fails: what is different is where no
/// access is announced.
#[test]
fn what_no_access_shows_is_part_of_a_state() {
    const HEAD: &str = "#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
static int x, one, other;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_key_t key;
static void pass(void) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); }
";
    const TAIL: &str = "
static void *writer(void *u) { x = 1; pass(); return 0; }
static void *third(void *u) { pass(); return 0; }
int main(void) {
    pthread_t t[3];
    pthread_key_create(&key, 0);
    pthread_create(&t[0], 0, reader, 0);
    pthread_create(&t[1], 0, writer, 0);
    pthread_create(&t[2], 0, third, 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    return 0;
}
";
    let desk = Desk::new();
    for (name, reader) in [
        (
            "specific",
            "pthread_setspecific(key, x ? &one : &other); pass(); if (pthread_getspecific(key) == &one) abort();",
        ),
        ("errno", "errno = 0; if (x) pthread_setspecific(key, 0), errno = EINTR; pass(); if (errno) abort();"),
        (
            "depth",
            "pthread_mutex_lock(&recursive); if (x) pthread_mutex_lock(&recursive); pass();
             pthread_mutex_unlock(&recursive);
             if (pthread_mutex_unlock(&recursive) == 0) abort();",
        ),
        (
            "manner",
            "if (x) pthread_rwlock_wrlock(&rw); else pthread_rwlock_rdlock(&rw); pass();
             if (pthread_rwlock_tryrdlock(&rw)) abort();",
        ),
        (
            "mask",
            "sigset_t s; sigemptyset(&s); sigaddset(&s, SIGUSR1); if (x) pthread_sigmask(SIG_BLOCK, &s, 0); pass();
             sigemptyset(&s); pthread_sigmask(SIG_BLOCK, 0, &s); if (sigismember(&s, SIGUSR1)) abort();",
        ),
    ] {
        let file = format!("{name}.c");
        desk.file(&file, format!("#define _GNU_SOURCE\n{HEAD}static void *reader(void *u) {{ {reader} return 0; }}{TAIL}"));
        let report = run(&desk, &["hunt", &file, "--strategy", "states"]);
        assert_eq!(report["verdict"], "failure", "{name}: {report:#}");
    }
}

/// What a thread is about to store, and nobody has in memory yet, is part of a state.
#[test]
fn what_is_about_to_be_stored_is_part_of_a_state() {
    let desk = Desk::new();
    for (name, update) in [
        ("store", "a = a + 3;"),
        ("exchange", "int own = a + 3; atomic_exchange(&a, own);"),
        ("compare", "int own = a, seen = 1; atomic_compare_exchange_strong(&a, &seen, own + 3);"),
        ("add", "int own = a ? 5 : 2; atomic_fetch_add(&a, own);"),
    ] {
        let file = format!("{name}.c");
        desk.file(
            &file,
            format!(
                "#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static _Atomic int a;
static void *v(void *u) {{ {update} return 0; }}
static void *w(void *u) {{ a = 1; assert(a != 3); return 0; }}
int main(void) {{
    pthread_t s, t;
    pthread_create(&s, 0, v, 0);
    pthread_create(&t, 0, w, 0);
    pthread_join(s, 0);
    pthread_join(t, 0);
    return 0;
}}
"
            ),
        );
        nobody_claims_and_failures_are_found(&desk, &file);
    }
}

/// What one thread accesses under a lock, or what looks like one, others may access atomically.
#[test]
fn no_lock_guards_what_others_access_atomically() {
    let desk = Desk::new();
    for (name, w) in [
        ("word", "if (__sync_bool_compare_and_swap(&y, 0, 1)) seen = x;"),
        ("mutex", "pthread_mutex_lock(&m); seen = x; pthread_mutex_unlock(&m);"),
    ] {
        let file = format!("{name}.c");
        desk.file(
            &file,
            format!(
                "#include <assert.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x, y, seen;
static void *u(void *p) {{ pthread_mutex_lock(&m); pthread_mutex_unlock(&m); return (void *)(long)__atomic_exchange_n(&x, 1, __ATOMIC_SEQ_CST); }}
static void *v(void *p) {{ return (void *)(long)__atomic_exchange_n(&x, 2, __ATOMIC_SEQ_CST); }}
static void *w(void *p) {{ {w} return 0; }}
int main(void) {{
    pthread_t r, s, t;
    void *old;
    pthread_create(&r, 0, u, 0);
    pthread_create(&s, 0, v, 0);
    pthread_create(&t, 0, w, 0);
    pthread_join(r, &old);
    pthread_join(s, 0);
    pthread_join(t, 0);
    assert(!(x == 1 && (long)old == 2 && seen == 2));
    return 0;
}}
"
            ),
        );
        nobody_claims_and_failures_are_found(&desk, &file);
    }
}

/// Which function is called through a variable is decided when it is called.
#[test]
fn pointers_to_functions_that_threads_change_decide_what_is_called() {
    let desk = Desk::new();
    desk.file(
        "pointer.c",
        "#include <assert.h>
#include <pthread.h>
static int x, y;
static void first(void) { x++; }
static void second(void) { y++; }
static void (*act)(void) = first;
static void *v(void *u) { act = second; return 0; }
static void *w(void *u) { act(); return 0; }
int main(void) {
    pthread_t s, t;
    pthread_create(&s, 0, v, 0);
    pthread_create(&t, 0, w, 0);
    pthread_join(s, 0);
    pthread_join(t, 0);
    assert(y == 0);
    return 0;
}
",
    );
    for level in ["-O0", "-O1", "-O2"] {
        let args = ["verify", "pointer.c", "--cflags", level, "--json", "-", "--quiet", "--jobs", "1"];
        let report = desk.run(&args).json();
        assert_eq!(report["verdict"], "failure", "{level}: {report:#}");
    }
}

#[test]
fn a_walk_over_states_has_no_more_executions_than_there_are_states() {
    let desk = Desk::new();
    desk.file(
        "account.c",
        "#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int balance = 100, operations;
static void *draw(void *amount) {
    for (int i = 0; i < 4; i++) {
        pthread_mutex_lock(&m);
        if (balance > 10) balance -= (int)(long)amount;
        operations++;
        pthread_mutex_unlock(&m);
    }
    return 0;
}
int main(void) {
    pthread_t t[3];
    for (long i = 0; i < 3; i++) pthread_create(&t[i], 0, draw, (void *)(i + 1));
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    return operations != 12;
}
",
    );
    // 34,650 orders, and 5 places for each of 3 threads.
    const STATES: u64 = 5 * 5 * 5;
    let walk = |jobs: &str| {
        let report = desk
            .run(&["hunt", "account.c", "--strategy", "states", "--json", "-", "--quiet", "--jobs", jobs])
            .json();
        assert_eq!(report["verdict"], "exhausted", "{report:#}");
        report["executions"].as_u64().expect("a number")
    };
    let executions = walk("1");
    assert!(executions <= STATES, "{executions}");
    assert_eq!(walk("2"), executions);
    let report = desk.run(&["verify", "account.c", "--json", "-", "--quiet", "--jobs", "1"]).json();
    assert_eq!(report["verdict"], "exhausted", "{report:#}");
}
