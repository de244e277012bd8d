//! What threads learn of each other by calls of the library, without reading shared memory themselves.

mod support;

use support::Desk;
use support::claims::{nobody_claims_and_failures_are_found, races, verdicts};

/// What threads learn of each other without reading shared memory.
#[test]
fn what_threads_tell_each_other_past_memory_is_varied() {
    const HEAD: &str = "#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
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
            "woken",
            "static void *a(void *u) { syscall(SYS_futex, &x, FUTEX_WAIT, 0, 0, 0, 0); return 0; }
static void *b(void *u) { syscall(SYS_futex, &x, FUTEX_WAKE, 1, 0, 0, 0); x = 1; return 0; }
int main(void) {
    pthread_create(&h0, 0, a, 0); pthread_create(&h1, 0, b, 0);
    joined(h0); joined(h1);
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
