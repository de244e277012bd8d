//! What `verify` claims, and what it does not.

mod support;

use serde_json::Value;
use support::{Desk, repository, without_times};

fn verify(desk: &Desk, program: &str, more: &[&str]) -> Value {
    let source = repository(program).display().to_string();
    let mut args = vec!["verify", &source, "--json", "-", "--quiet"];
    args.extend(more);
    let answer = desk.run(&args);
    let report = answer.json();
    let nothing = report["findings"].as_array().is_some_and(Vec::is_empty) && report["failure"].is_null();
    assert_eq!(answer.code, Some(if nothing { 0 } else { 1 }), "{program}: {}", answer.stderr);
    assert_eq!((&report["command"], &report["strategy"]), (&"verify".into(), &"total".into()));
    report
}

/// The kernels of the thesis's programs: its test cases, or fewer than its bound.
#[test]
fn kernels_take_few_test_cases_and_are_exhausted() {
    let desk = Desk::new();
    for (name, most, races) in [("pool", 2, 1), ("client", 1, 0), ("ping", 4, 0), ("crawler", 4, 0)] {
        let report = verify(&desk, &format!("subjects/total/{name}/{name}.c"), &[]);
        assert_eq!(report["exhausted"], true, "{name}: {}", report["warnings"]);
        assert_eq!(report["verdict"], if races == 0 { "exhausted" } else { "findings" }, "{name}");
        assert_eq!(report["findings"].as_array().map(Vec::len), Some(races), "{name}");
        let cases = report["test_cases"].as_u64().unwrap();
        assert!((1..=most).contains(&cases), "{name}: {cases} test cases");
        assert_eq!(report["groups"]["left"], 0, "{name}");
        assert_eq!(report["coverage"]["groups"], report["groups"], "{name}");
    }
}

#[test]
fn what_is_left_is_listed_with_its_lines_until_nothing_is() {
    let desk = Desk::new();
    for program in ["examples/deadlock.c", "subjects/tsa/vfs/vfs.c"] {
        let report = verify(&desk, program, &["--executions", "3", "--uncovered"]);
        let left = report["groups"]["uncovered"].as_array().expect("a list");
        let count: u64 = left.iter().filter_map(|it| it["count"].as_u64()).sum();
        assert!(count > 0 && report["groups"]["left"] == count, "{program}: {}", report["groups"]);
        let name = program.rsplit('/').next().expect("a name");
        let is_own = |site: &Value| site.as_str().is_some_and(|site| site.starts_with(name));
        let mut sites = left.iter().flat_map(|it| it["sites"].as_array().expect("places"));
        assert!(sites.all(is_own), "{program}: {left:#?}");
        let source = repository(program).display().to_string();
        let printed = desk.run(&["verify", &source, "--executions", "3", "--uncovered"]).stdout;
        assert_eq!(printed.lines().filter(|line| line.contains(" × ")).count(), left.len(), "{printed}");
    }
    let report = verify(&desk, "examples/deadlock.c", &["--uncovered"]);
    assert_eq!(
        (&report["exhausted"], &report["groups"]["uncovered"]),
        (&true.into(), &serde_json::json!([]))
    );
}

#[test]
fn a_race_that_is_reported_has_happened_and_replays() {
    let desk = Desk::new();
    let report = verify(&desk, "subjects/total/pool/pool.c", &["--graph", "pool.dot"]);
    let race = &report["findings"][0];
    assert_eq!(
        (&race["kind"], &race["object"], &race["confirmed"]),
        (&"race".into(), &"factory".into(), &true.into())
    );
    assert_eq!(race["sites"], serde_json::json!(["pool.c:37", "pool.c:21"]));
    let again = desk.run(&["replay", race["schedule"].as_str().unwrap()]);
    assert_eq!(again.code, Some(1), "{}{}", again.stdout, again.stderr);
    assert_eq!(report["graph"]["nodes"], 4, "as in the thesis: a branch, numActive, and two values of it");
    let drawing = std::fs::read_to_string(desk.path("pool.dot")).unwrap();
    assert!(drawing.starts_with("digraph") && drawing.contains("num_active"), "{drawing}");
    verify(&desk, "subjects/total/pool/pool.c", &["--graph", "pool.svg"]);
    let drawing = std::fs::read_to_string(desk.path("pool.svg")).unwrap();
    assert!(drawing.starts_with("<svg") && drawing.contains(">num_active<"), "{drawing}");
}

#[test]
fn failures_are_found_and_everything_is_claimed() {
    let desk = Desk::new();
    for (program, kind) in [("examples/deadlock.c", "deadlock"), ("examples/lost_update.c", "assertion")] {
        let report = verify(&desk, program, &[]);
        assert_eq!(report["failure"]["kind"], kind, "{program}");
    }
}

#[test]
fn what_is_left_is_said() {
    let desk = Desk::new();
    let report = verify(&desk, "subjects/total/database/database.c", &["--executions", "4"]);
    assert_eq!((&report["exhausted"], &report["verdict"]), (&false.into(), &"clean".into()));
    assert!(report["groups"]["left"].as_u64().unwrap() > 0, "{}", report["groups"]);
}

/// Values that go only into sums decide nothing; the same program with one branch on them takes more.
#[test]
fn only_what_decides_something_is_varied() {
    let desk = Desk::new();
    let program = |check: &str| {
        format!(
            "#include <pthread.h>\nstatic pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\nstatic int sum, log_[9];\n\
             static void *add(void *n) {{\n  for (int i = 0; i < 3; i++) {{ pthread_mutex_lock(&m); sum = sum * 2 + 1; {check}\n\
             log_[(long)n] += sum; pthread_mutex_unlock(&m); }}\n  return 0;\n}}\n\
             int main(void) {{\n  pthread_t t[2];\n  for (long i = 0; i < 2; i++) pthread_create(&t[i], 0, add, (void *)i);\n\
             for (int i = 0; i < 2; i++) pthread_join(t[i], 0);\n  return 0;\n}}\n"
        )
    };
    let cases = |name: &str, text: String| {
        desk.file(name, text);
        let answer = desk.run(&["verify", name, "--json", "-", "--quiet"]);
        let report = answer.json();
        assert_eq!(report["exhausted"], true, "{name}: {}", report["warnings"]);
        report["test_cases"].as_u64().unwrap()
    };
    assert_eq!(cases("blind.c", program("")), 1);
    assert!(cases("seeing.c", program("if (sum > 7) log_[8]++;")) > 2);
}

/// A program whose main and one thread run these bodies.
fn two(main: &str, thread: &str) -> String {
    format!(
        "#include <assert.h>\n#include <pthread.h>\n#include <semaphore.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\nstatic int *top;\n\
         static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\nstatic sem_t s;\nstatic int n = 1, total = 10, average;\n\
         static char name[16] = \"a\";\n#define LOCK pthread_mutex_lock(&m)\n#define UNLOCK pthread_mutex_unlock(&m)\n\
         static void *other(void *unused) {{ {thread} return 0; }}\n\
         int main(void) {{ pthread_t t; sem_init(&s, 0, 1); pthread_create(&t, 0, other, 0); {main} pthread_join(t, 0); return 0; }}\n"
    )
}

/// Both sides of an attempt that may be refused are run.
#[test]
fn attempts_are_run_both_ways() {
    let desk = Desk::new();
    for (name, main, attempt) in [
        ("try_lock", "LOCK; UNLOCK;", "if (pthread_mutex_trylock(&m) == 0) UNLOCK;"),
        ("try_wait", "sem_wait(&s); sem_post(&s);", "if (sem_trywait(&s) == 0) sem_post(&s);"),
    ] {
        for (fails, thread) in [(false, attempt.to_string()), (true, format!("{attempt} else abort();"))] {
            let file = format!("{name}_{fails}.c");
            desk.file(&file, two(main, &thread));
            let report = desk.run(&["verify", &file, "--json", "-", "--quiet"]).json();
            let verdict = if fails { "failure" } else { "exhausted" };
            assert_eq!(report["verdict"], verdict, "{file}: {report:#}");
        }
    }
}

#[test]
fn nothing_is_claimed_where_things_may_go_otherwise_unseen() {
    let desk = Desk::new();
    desk.file("library.c", two("LOCK; n = name[0]; UNLOCK;", "LOCK; sprintf(name, \"%d\", n); UNLOCK;"));
    let report = desk.run(&["verify", "library.c", "--json", "-", "--quiet"]).json();
    assert_eq!(report["exhausted"], false);
    assert!(!report["warnings"].as_array().unwrap().is_empty());
}

#[test]
fn what_brings_the_program_down_without_a_branch_is_found() {
    let desk = Desk::new();
    for (name, main, thread) in [
        ("divide.c", "LOCK; average = total / n; UNLOCK;", "LOCK; n--; UNLOCK; LOCK; n++; UNLOCK;"),
        (
            "compare.c",
            "LOCK; int same = strcmp(name, \"a\"); UNLOCK; assert(same == 0);",
            "LOCK; strcpy(name, \"b\"); UNLOCK; LOCK; strcpy(name, \"a\"); UNLOCK;",
        ),
    ] {
        desk.file(name, two(main, thread));
        let answer = desk.run(&["verify", name, "--json", "-", "--quiet"]);
        assert_eq!(answer.code, Some(1), "{name}: {}", answer.stdout);
        let kind = if name == "divide.c" { "segfault" } else { "assertion" };
        assert_eq!(answer.json()["failure"]["kind"], kind, "{name}");
    }
}

/// What real programs do: heap blocks that are handed over, locks that are destroyed in the end, routines that run once.
#[test]
fn programs_with_heap_blocks_and_routines_that_run_once_are_claimed() {
    let desk = Desk::new();
    let fill =
        "LOCK; if (!list) { list = malloc(sizeof *list); *list = 1; } UNLOCK; pthread_once(&once, setup);";
    let empty = "LOCK; int *mine = list; list = 0; UNLOCK; free(mine); pthread_once(&once, setup);";
    let late = "LOCK; int *mine = list; UNLOCK; LOCK; if (list == mine) list = 0; UNLOCK; free(mine);";
    let swap = "int *old = list, *mine = malloc(4); while (!__atomic_compare_exchange_n(&list, &old, mine, 0, 5, 5)) ; free(old);";
    for (name, main, thread, found) in [
        ("swapped.c", swap, swap, false),
        ("handed_over.c", fill, empty, false),
        ("both_take.c", empty, empty, false),
        ("freed_twice.c", late, late, true),
    ] {
        let text = two(&format!("list = malloc(sizeof *list); {main}"), thread).replace(
            "static void *other",
            "#include <stdlib.h>\nstatic int *list;\nstatic pthread_once_t once = PTHREAD_ONCE_INIT;\n\
             static void setup(void) { total = 1; }\nstatic void *other",
        );
        let text = text.replace("return 0; }\n", "pthread_mutex_destroy(&m); return 0; }\n");
        desk.file(name, text.replacen("pthread_mutex_destroy(&m); return 0; }", "return 0; }", 1));
        let report = desk.run(&["verify", name, "--json", "-", "--quiet"]).json();
        assert_eq!(report["failure"].is_object(), found, "{name}: {report}");
        assert!(found || report["exhausted"] == true, "{name}: {}", report["warnings"]);
    }
}

#[test]
fn what_cannot_be_asked_for_is_refused_in_one_sentence() {
    let desk = Desk::new();
    let source = repository("examples/lost_update.c").display().to_string();
    for wrong in [&["--strategy", "random"][..], &["--graph", "no/such/folder/graph.dot"]] {
        let answer = desk.run(&[&["verify", &source], wrong].concat());
        assert_eq!(answer.code, Some(2), "{wrong:?}: {}", answer.stdout);
        assert_eq!(answer.stderr.lines().count(), 1, "{}", answer.stderr);
    }
}

#[test]
fn the_number_of_jobs_changes_nothing_but_time() {
    for program in [
        "subjects/total/pool/pool.c",
        "examples/deadlock.c",
        "subjects/extra/atomic_publish/atomic_publish.c",
    ] {
        // Each in a folder of its own, so that files have the same names.
        let report = |jobs: &str| {
            let more = ["--jobs", jobs, "--executions", "300", "--no-minimise"];
            without_times(verify(&Desk::new(), program, &more))
        };
        assert_eq!(report("2"), report("1"), "{program}");
    }
}
