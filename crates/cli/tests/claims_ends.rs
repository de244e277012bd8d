//! Ends of the process and of threads of which it was once said that nothing is left to try, although some interleaving fails.

mod support;

use support::Desk;
use support::claims::{CLAIMING, nobody_claims_and_failures_are_found, races, run, verdicts};

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

/// A thread that yields again and again seems to wait, and may come to an end of it all the same.
#[test]
fn a_thread_that_seems_to_wait_may_have_steps_left_when_the_process_ends() {
    let desk = Desk::new();
    for (name, body) in [
        ("yields", "for (int i = 0; i < 50; i++) sched_yield(); abort();"),
        ("looks", "for (int i = 0; i < 50 && !flag; i++) ; abort();"),
    ] {
        let file = format!("{name}.c");
        desk.file(
            &file,
            format!(
                "#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
static _Atomic int flag;
static void *w(void *u) {{ {body} return 0; }}
int main(void) {{ pthread_t t; pthread_create(&t, 0, w, 0); flag = 0; return 0; }}
"
            ),
        );
        for (who, report) in verdicts(&desk, &file) {
            let claims = report["verdict"] == "exhausted";
            assert!(!claims, "{name}, {who}: {report:#}");
        }
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

/// To ignore a signal throws away those that wait; but whoever waits for one, or has a handler for it, may come before.
#[test]
fn a_signal_may_be_taken_before_it_is_thrown_away() {
    let desk = Desk::new();
    for (name, body, ignored) in [
        ("waited_for", "int n; sigwait(&set, &n); abort();", "signal(SIGURG, SIG_IGN);"),
        ("by_default", "int n; sigwait(&set, &n); abort();", "signal(SIGURG, SIG_DFL);"),
        (
            "by_action",
            "sigwaitinfo(&set, 0); abort();",
            "struct sigaction a = { .sa_handler = SIG_IGN }; sigaction(SIGURG, &a, 0);",
        ),
        ("handled", "pthread_sigmask(SIG_UNBLOCK, &set, 0); if (got) abort();", "signal(SIGURG, SIG_IGN);"),
    ] {
        let file = format!("{name}.c");
        desk.file(
            &file,
            format!(
                "#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
static volatile int got;
static sigset_t set;
static pthread_t s;
static void h(int n) {{ got = 1; }}
static void *v(void *u) {{ {body} return 0; }}
static void *w(void *u) {{ pthread_kill(s, SIGURG); {ignored} return 0; }}
int main(void) {{
    pthread_t t;
    sigemptyset(&set);
    sigaddset(&set, SIGURG);
    pthread_sigmask(SIG_BLOCK, &set, 0);
    signal(SIGURG, h);
    pthread_create(&s, 0, v, 0);
    pthread_detach(s);
    pthread_create(&t, 0, w, 0);
    pthread_join(t, 0);
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

/// Who begins to join a thread that is detached is told so, and who has begun is not.
#[test]
fn a_thread_is_detached_before_another_begins_to_join_it() {
    let desk = Desk::new();
    for (name, rest) in [
        (
            "itself",
            "static _Atomic int x;
static void *w(void *u) { if (x) pthread_detach(pthread_self()); return 0; }
int main(void) { pthread_t t; pthread_create(&t, 0, w, 0); x = 1; if (pthread_join(t, 0)) abort(); return 0; }",
        ),
        (
            "another",
            "static pthread_t t;
static void *w(void *u) { return 0; }
static void *v(void *u) { pthread_detach(t); return 0; }
int main(void) {
    pthread_t s;
    pthread_create(&t, 0, w, 0);
    pthread_create(&s, 0, v, 0);
    if (pthread_join(t, 0)) abort();
    pthread_join(s, 0);
    return 0;
}",
        ),
        (
            "threads_of_c",
            "static _Atomic int x;
static int w(void *u) { if (x) thrd_detach(thrd_current()); return 0; }
int main(void) { thrd_t t; thrd_create(&t, w, 0); x = 1; if (thrd_join(t, 0)) abort(); return 0; }",
        ),
    ] {
        let file = format!("{name}.c");
        desk.file(&file, format!("#include <pthread.h>\n#include <stdlib.h>\n#include <threads.h>\n{rest}\n"));
        nobody_claims_and_failures_are_found(&desk, &file);
    }
}

/// A signal that is let through comes before a thread waits for it, and one that nobody wants is lost if it comes before it is blocked.
#[test]
fn signals_come_before_a_thread_is_ready_for_them() {
    const HEAD: &str = "#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
static _Atomic int got;
static void h(int n) { got = 1; }
";
    let desk = Desk::new();
    for (name, prepare, body, signal) in [
        ("suspends", "signal(SIGUSR1, h);", "sigemptyset(&s); if (!got) sigsuspend(&s);", "SIGUSR1"),
        (
            "unwanted",
            "",
            "sigemptyset(&s); sigaddset(&s, SIGURG); pthread_sigmask(SIG_BLOCK, &s, 0); sigwait(&s, &n);",
            "SIGURG",
        ),
        (
            "ignored",
            "signal(SIGUSR1, SIG_IGN);",
            "sigemptyset(&s); sigaddset(&s, SIGUSR1); pthread_sigmask(SIG_BLOCK, &s, 0); sigwait(&s, &n);",
            "SIGUSR1",
        ),
    ] {
        let file = format!("{name}.c");
        desk.file(
            &file,
            format!(
                "{HEAD}static void *w(void *u) {{ sigset_t s; int n; (void)n; {body} return 0; }}
int main(void) {{
    pthread_t t;
    {prepare}
    pthread_create(&t, 0, w, 0);
    pthread_kill(t, {signal});
    pthread_join(t, 0);
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

/// The functions called at the end find what the threads before them have left, in every order.
#[test]
fn the_last_thread_ends_the_process() {
    let desk = Desk::new();
    desk.file(
        "last.c",
        "#include <pthread.h>
#include <stdlib.h>
static _Atomic int last;
static void h(void) { if (last == 2) abort(); }
static void *w(void *n) { last = (long)n; return 0; }
int main(void) {
    pthread_t s, t;
    atexit(h);
    pthread_create(&s, 0, w, (void *)2);
    pthread_create(&t, 0, w, (void *)1);
    pthread_detach(s);
    pthread_detach(t);
    pthread_exit(0);
}
",
    );
    nobody_claims_and_failures_are_found(&desk, "last.c");
}
