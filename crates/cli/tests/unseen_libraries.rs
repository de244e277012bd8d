//! What a library without instrumentation orders by its own atomics and locks is no race, but what comes at the same time beside it is one.

mod support;

use std::process::Command;

use serde_json::Value;
use support::Desk;

/// A queue that hands pointers over by atomics and system calls that nobody sees, and threads of its own that call back.
const LIBRARY: &str = r#"
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Atomic(void *) slot;
static _Atomic int full;

void post(void *thing) {
    slot = thing;
    full = 1;
    syscall(SYS_futex, &full, FUTEX_WAKE_PRIVATE, INT_MAX, 0, 0, 0);
}

void *fetch(void) {
    while (!full) syscall(SYS_futex, &full, FUTEX_WAIT_PRIVATE, 0, 0, 0, 0);
    full = 0;
    return slot;
}

int add(int a, int b) { return a + b; }

static void (*callback)(void *);
static _Atomic int done;

static void *work(void *arg) {
    callback(fetch());
    done = 1;
    syscall(SYS_futex, &done, FUTEX_WAKE_PRIVATE, INT_MAX, 0, 0, 0);
    return arg;
}

void begin(void (*function)(void *)) {
    pthread_t thread;
    callback = function;
    pthread_create(&thread, 0, work, 0);
    pthread_detach(thread);
}

void finish(void) {
    while (!done) syscall(SYS_futex, &done, FUTEX_WAIT_PRIVATE, 0, 0, 0, 0);
}
"#;

const DECLARATIONS: &str = "#include <assert.h>\n#include <pthread.h>\n#include <stdlib.h>\n\
    void post(void *); void *fetch(void); int add(int, int); void begin(void (*)(void *)); void finish(void);\n";

/// What `check` says of a program with the library.
fn check(desk: &Desk, name: &str, program: &str) -> Value {
    let library = desk.path("libunseen.so");
    if !library.exists() {
        let source = desk.file("unseen.c", LIBRARY);
        let mut compiler = Command::new("cc");
        compiler.args(["-O1", "-shared", "-fPIC", "-o"]).arg(&library).arg(&source).arg("-pthread");
        assert!(compiler.status().expect("a compiler").success());
    }
    desk.file(&format!("{name}.c"), format!("{DECLARATIONS}{program}"));
    let folder = desk.path("").display().to_string();
    let flags = format!("-L{folder} -lunseen -Wl,-rpath,{folder}");
    desk.run(&["check", &format!("{name}.c"), "--cflags", &flags, "--json", "-"]).json()
}

fn is_doubted(report: &Value) -> bool {
    let warnings = report["warnings"].as_array().expect("a list");
    warnings.iter().any(|it| it.as_str().is_some_and(|it| it.contains("libunseen.so orders is not known")))
}

#[test]
fn what_a_library_hands_over_is_doubted_by_its_name() {
    let desk = Desk::new();
    let queue = "static void *consumer(void *arg) {
            int *box = fetch();
            *box += 1;
            free(box);
            return arg;
        }
        int main(void) {
            pthread_t thread;
            pthread_create(&thread, 0, consumer, 0);
            int *box = malloc(sizeof *box);
            *box = 1;
            post(box);
            pthread_join(thread, 0);
            return 0;
        }";
    let report = check(&desk, "queue", queue);
    assert_eq!(report["findings"], Value::Array(Vec::new()));
    assert!(is_doubted(&report), "{}", report["warnings"]);
    // The library's own thread comes back from where nothing is seen as well.
    let pool = "static void task(void *box) { *(int *)box += 1; }
        int main(void) {
            int box = 1;
            begin(task);
            box = 2;
            post(&box);
            finish();
            return box == 3 ? 0 : 1;
        }";
    let report = check(&desk, "pool", pool);
    assert_eq!(report["findings"], Value::Array(Vec::new()));
}

#[test]
fn a_race_beside_calls_of_a_library_is_confirmed() {
    let desk = Desk::new();
    let program = "static int sum;
        static void *worker(void *arg) {
            int more = add(1, 2);
            sum += more; /* here */
            add(3, 4);
            return arg;
        }
        int main(void) {
            pthread_t a, b;
            pthread_create(&a, 0, worker, 0);
            pthread_create(&b, 0, worker, 0);
            pthread_join(a, 0);
            pthread_join(b, 0);
            return 0;
        }";
    let report = check(&desk, "beside", program);
    let findings = report["findings"].as_array().expect("a list");
    let race = findings.iter().find(|it| it["kind"] == "race").expect("a race");
    assert_eq!((&race["object"], &race["confirmed"]), (&Value::from("sum"), &Value::from(true)));
}
