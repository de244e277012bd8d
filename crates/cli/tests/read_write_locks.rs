//! Read-write locks of each kind, as the C library has them.

mod support;

use support::Desk;
use support::claims::{nobody_claims_and_failures_are_found, verdicts};

const BY_ATTRIBUTE: &str = "pthread_rwlockattr_t how; pthread_rwlockattr_init(&how);
    pthread_rwlockattr_setkind_np(&how, KIND); pthread_rwlock_init(&l, &how);";
const SHARED_BY_PROCESSES: &str = "pthread_rwlockattr_t how; pthread_rwlockattr_init(&how);
    pthread_rwlockattr_setpshared(&how, PTHREAD_PROCESS_SHARED);
    pthread_rwlockattr_setkind_np(&how, KIND); pthread_rwlock_init(&l, &how);";

/// A program of a reader and a writer, with a lock that is made like this.
fn program(kind: &str, initializer: &str, setup: &str, reader: &str, writer: &str) -> String {
    format!(
        "#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>
#define KIND {kind}
static pthread_rwlock_t l = {initializer};
static int x;
static struct timespec soon(void) {{
    struct timespec t; clock_gettime(CLOCK_REALTIME, &t); t.tv_sec++; return t;
}}
static void *r(void *u) {{ {reader} return 0; }}
static void *w(void *u) {{ {writer} return 0; }}
int main(void) {{
    pthread_t s, t;
    {setup}
    pthread_create(&s, 0, r, 0);
    pthread_create(&t, 0, w, 0);
    pthread_join(s, 0);
    pthread_join(t, 0);
    return 0;
}}
"
    )
}

const ANY: &str = "PTHREAD_RWLOCK_INITIALIZER";
const WRITERS_FIRST: &str = "PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP";
const READS_TWICE: &str = "pthread_rwlock_rdlock(&l); pthread_rwlock_rdlock(&l); pthread_rwlock_unlock(&l); pthread_rwlock_unlock(&l);";
const WRITES: &str = "pthread_rwlock_wrlock(&l); x++; pthread_rwlock_unlock(&l);";

/// Who reads again while a writer waits, waits for it, and it for him.
#[test]
fn a_writer_that_waits_keeps_readers_out_where_writers_come_first() {
    let desk = Desk::new();
    for (name, initializer, setup, reader, writer) in [
        ("attribute", ANY, BY_ATTRIBUTE, READS_TWICE, WRITES),
        ("between_processes", ANY, SHARED_BY_PROCESSES, READS_TWICE, WRITES),
        ("static", "PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP", "", READS_TWICE, WRITES),
        (
            "refused",
            ANY,
            BY_ATTRIBUTE,
            "pthread_rwlock_rdlock(&l); assert(pthread_rwlock_tryrdlock(&l) != EBUSY);
             pthread_rwlock_unlock(&l); pthread_rwlock_unlock(&l);",
            WRITES,
        ),
        (
            "too_late",
            ANY,
            BY_ATTRIBUTE,
            "struct timespec end = soon(); pthread_rwlock_rdlock(&l);
             assert(pthread_rwlock_timedrdlock(&l, &end) == 0); pthread_rwlock_unlock(&l); pthread_rwlock_unlock(&l);",
            WRITES,
        ),
    ] {
        let file = format!("{name}.c");
        desk.file(&file, program(WRITERS_FIRST, initializer, setup, reader, writer));
        nobody_claims_and_failures_are_found(&desk, &file);
    }
}

#[test]
fn readers_enter_again_where_they_come_first_or_the_writer_gives_up() {
    let desk = Desk::new();
    for (name, kind, setup, reader, writer, is_certain) in [
        ("default", "0", "", READS_TWICE, WRITES, true),
        ("readers", "PTHREAD_RWLOCK_PREFER_READER_NP", BY_ATTRIBUTE, READS_TWICE, WRITES, true),
        ("writers", "PTHREAD_RWLOCK_PREFER_WRITER_NP", BY_ATTRIBUTE, READS_TWICE, WRITES, true),
        (
            "once",
            WRITERS_FIRST,
            BY_ATTRIBUTE,
            "pthread_rwlock_rdlock(&l); pthread_rwlock_unlock(&l); pthread_rwlock_rdlock(&l); pthread_rwlock_unlock(&l);",
            WRITES,
            true,
        ),
        (
            "gives_up",
            WRITERS_FIRST,
            BY_ATTRIBUTE,
            READS_TWICE,
            "struct timespec end = soon(); if (!pthread_rwlock_timedwrlock(&l, &end)) { x++; pthread_rwlock_unlock(&l); }",
            false,
        ),
        (
            "tries",
            WRITERS_FIRST,
            BY_ATTRIBUTE,
            READS_TWICE,
            "if (!pthread_rwlock_trywrlock(&l)) { x++; pthread_rwlock_unlock(&l); }",
            true,
        ),
    ] {
        let file = format!("{name}.c");
        desk.file(&file, program(kind, ANY, setup, reader, writer));
        for (who, report) in verdicts(&desk, &file) {
            assert_ne!(report["verdict"], "failure", "{name}, {who}: {report:#}");
            let must_claim = is_certain && ["dfs", "states", "verify"].contains(&who.as_str());
            assert!(!must_claim || report["verdict"] == "exhausted", "{name}, {who}: {report:#}");
        }
    }
}
