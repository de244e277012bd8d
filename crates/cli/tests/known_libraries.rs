//! Libraries without instrumentation of which it is known by what functions they order threads: what they order is no race, and what they do not is.

mod support;

use std::process::Command;

use serde_json::Value;
use support::{Desk, repository};

fn check(desk: &Desk, source: &str, flags: &str) -> Value {
    desk.run(&["check", source, "--executions", "60", "--cflags", flags, "--json", "-"]).json()
}

fn openmp(name: &str) -> Value {
    let source = repository("crates/cli/tests/programs/openmp").join(name);
    check(&Desk::new(), &source.display().to_string(), "-fopenmp")
}

#[test]
fn what_openmp_orders_is_no_race() {
    for name in ["loops.c", "locks.c", "tasks.c", "regions.c"] {
        let report = openmp(name);
        assert_eq!((&report["verdict"], &report["cut"]), (&"clean".into(), &0.into()), "{name}: {report:#}");
    }
}

#[test]
fn what_openmp_leaves_open_is_a_race() {
    let report = openmp("lost_update.c");
    let findings = report["findings"].as_array().expect("a list");
    let is_found = |it: &Value| it["kind"] == "race" && it["confirmed"] == true;
    assert!(findings.iter().any(is_found), "{report:#}");
}

#[test]
fn nothing_is_claimed_of_what_openmp_does_inside() {
    const COUNTS: &str = "int main(void) {\n    int x = 0;\n#pragma omp parallel num_threads(2)\n    {\n#pragma omp critical\n        \
        x++;\n    }\n    return x != 2;\n}\n";
    let desk = Desk::new();
    desk.file("counts.c", COUNTS);
    let report = desk.run(&["verify", "counts.c", "--cflags", "-fopenmp", "--json", "-"]).json();
    assert_eq!(report["verdict"], "clean", "{report:#}");
    let warnings = report["warnings"].as_array().expect("a list");
    let names_it = |it: &Value| it.as_str().is_some_and(|text| text.contains("GOMP_parallel"));
    assert!(warnings.iter().any(names_it), "{report:#}");
}

/// Every lock, condition and queue of GLib, used as it should be.
const ORDERED: &str = r#"
#include <assert.h>
#include <glib.h>
static GMutex lock;
static GCond cond;
static GRWLock rw;
static GRecMutex rec;
static int shared, ready, table, nested, made, lazy;
static GAsyncQueue *queue;
static GOnce once = G_ONCE_INIT;
static gpointer make(gpointer data) {
    made = 7;
    return &made;
}
static int lazily(void) {
    static gsize word;
    if (g_once_init_enter(&word)) {
        lazy = 5;
        g_once_init_leave(&word, 1);
    }
    return lazy;
}
static gpointer work(gpointer data) {
    g_mutex_lock(&lock);
    shared++;
    g_mutex_unlock(&lock);
    g_rec_mutex_lock(&rec);
    if (g_rec_mutex_trylock(&rec)) {
        nested++;
        g_rec_mutex_unlock(&rec);
    }
    g_rec_mutex_unlock(&rec);
    g_rw_lock_writer_lock(&rw);
    table++;
    g_rw_lock_writer_unlock(&rw);
    g_rw_lock_reader_lock(&rw);
    assert(table > 0);
    g_rw_lock_reader_unlock(&rw);
    assert(*(int *)g_once(&once, make, NULL) == 7 && made == 7);
    assert(lazily() == 5);
    int *item = g_new(int, 1);
    *item = 3;
    g_async_queue_push(queue, item);
    g_mutex_lock(&lock);
    ready++;
    g_cond_signal(&cond);
    g_mutex_unlock(&lock);
    return NULL;
}
int main(void) {
    queue = g_async_queue_new();
    GThread *a = g_thread_new("a", work, NULL), *b = g_thread_new("b", work, NULL);
    assert(lazily() == 5);
    int *one = g_async_queue_pop(queue), *two = g_async_queue_pop(queue);
    assert(*one + *two == 6);
    g_mutex_lock(&lock);
    while (ready < 2) g_cond_wait(&cond, &lock);
    assert(shared == 2);
    assert(!g_cond_wait_until(&cond, &lock, g_get_monotonic_time() + G_TIME_SPAN_SECOND));
    g_mutex_unlock(&lock);
    g_thread_join(a);
    g_thread_join(b);
    assert(table == 2 && nested == 2);
    return 0;
}
"#;

/// One counter is guarded, the other one is not.
const RACY: &str = r#"
#include <glib.h>
static GMutex lock;
static int guarded, bare;
static gpointer work(gpointer data) {
    g_mutex_lock(&lock);
    guarded++;
    g_mutex_unlock(&lock);
    bare++;
    return NULL;
}
int main(void) {
    GThread *a = g_thread_new("a", work, NULL), *b = g_thread_new("b", work, NULL);
    g_thread_join(a);
    g_thread_join(b);
    return 0;
}
"#;

/// How to compile for GLib, where it is installed.
fn glib() -> Option<String> {
    let asked = Command::new("pkg-config").args(["--cflags", "--libs", "glib-2.0"]).output();
    let flags = asked.ok().filter(|answer| answer.status.success())?;
    String::from_utf8(flags.stdout).ok()
}

#[test]
fn what_glib_orders_is_no_race_and_the_rest_is() {
    let Some(flags) = glib() else {
        eprintln!("GLib is not installed (Debian: libglib2.0-dev), so it was not tried");
        return;
    };
    let desk = Desk::new();
    desk.file("ordered.c", ORDERED);
    desk.file("racy.c", RACY);
    let report = check(&desk, "ordered.c", &flags);
    assert_eq!((&report["verdict"], &report["cut"]), (&"clean".into(), &0.into()), "{report:#}");
    let report = check(&desk, "racy.c", &flags);
    let findings = report["findings"].as_array().expect("a list");
    let races: Vec<&Value> = findings.iter().filter(|it| it["kind"] == "race").collect();
    let objects: Vec<&Value> = races.iter().map(|it| &it["object"]).collect();
    assert_eq!(objects, ["bare"], "{report:#}");
}
