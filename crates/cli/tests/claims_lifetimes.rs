//! Objects and memory that are used before or after their lifetime, of which it was once claimed that they are not.

mod support;

use support::Desk;
use support::claims::{CLAIMING, verdicts};

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
            "freed_without_the_lock",
            "use-after-free",
            "static int *p; static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;",
            "p = malloc(4);",
            "pthread_mutex_lock(&m); if (!ready) *p = 3; pthread_mutex_unlock(&m);",
            "int *mine = p; ready = 1; free(mine);",
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

/// What a thread gave back before it brought the process down may be used by one that has come no further than to want to.
#[test]
fn a_failure_does_not_hide_who_comes_between_it_and_the_end_of_a_lifetime() {
    let desk = Desk::new();
    for (name, setup, second, first) in [
        (
            "freed",
            "p = malloc(4);",
            "if (p) *p = 1;",
            "int *mine = p; p = 0; free(mine); AGAIN if (!p) abort();",
        ),
        (
            "freed_by_the_library",
            "p = malloc(4);",
            "if (p) *p = 1;",
            "int *mine = p; p = 0; mine = realloc(mine, 4096); AGAIN if (!p) abort();",
        ),
        (
            "freed_before_others_are_kept_out",
            "p = malloc(4);",
            "if (p) { pthread_mutex_lock(&m); *p = 1; pthread_mutex_unlock(&m); }",
            "int *mine = p; p = 0; free(mine); pthread_mutex_lock(&m); AGAIN if (!p) _exit(3);",
        ),
        (
            "destroyed",
            "pthread_mutex_init(&m, 0); p = &y;",
            "if (p) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); }",
            "p = 0; pthread_mutex_destroy(&m); AGAIN if (!p) abort();",
        ),
    ] {
        let file = format!("{name}.c");
        desk.file(
            &file,
            format!(
                "#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
// Has the program read its variables again, which makes a step of it.
#define AGAIN __asm__ volatile(\"\" : : : \"memory\");
static int *p, y;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *v(void *u) {{ {first} return 0; }}
static void *w(void *u) {{ {second} return 0; }}
int main(void) {{
    pthread_t s, t;
    {setup}
    pthread_create(&t, 0, w, 0);
    pthread_create(&s, 0, v, 0);
    pthread_join(t, 0);
    _exit(0);
}}
"
            ),
        );
        let common = [
            "--json",
            "-",
            "--quiet",
            "--jobs",
            "1",
            "--executions",
            "3000",
            "--no-minimise",
            "--keep-going",
        ];
        let kind = if name == "destroyed" { "misuse" } else { "use-after-free" };
        for strategy in CLAIMING {
            let report = desk
                .run(&[&["hunt", &file, "--cflags=-O1", "--strategy", strategy], &common[..]].concat())
                .json();
            let failures = report["failures"].as_array().expect("failures");
            let is_found = failures.iter().any(|failure| failure["kind"] == kind);
            assert!(report["exhausted"] != true || is_found, "{name}, {strategy}: {report:#}");
            let must_find = ["dfs", "states", "reach"].contains(&strategy);
            assert!(!must_find || is_found, "{name}, {strategy}: {report:#}");
        }
    }
}
