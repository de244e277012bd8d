//! What executions cover, as the user asks for it.

mod support;

use support::{Desk, repository};

/// Figure 2 of the paper on synchronization pairs: two threads, each with two critical sections.
const FIGURE_2: &str = "\
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int shared;
static void *thread1(void *arg) {
    pthread_mutex_lock(&m); shared++; pthread_mutex_unlock(&m);
    pthread_mutex_lock(&m); shared++; pthread_mutex_unlock(&m);
    return arg;
}
static void *thread2(void *arg) {
    pthread_mutex_lock(&m); shared++; pthread_mutex_unlock(&m);
    pthread_mutex_lock(&m); shared++; pthread_mutex_unlock(&m);
    return arg;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, thread1, 0);
    pthread_create(&b, 0, thread2, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
";

/// The same with locks that all go through one line of the standard library.
const FIGURE_2_CPP: &str = "\
#include <mutex>
#include <thread>
static std::mutex m;
static int shared;
static void thread1() {
    { std::lock_guard<std::mutex> held(m); shared++; }
    { std::lock_guard<std::mutex> held(m); shared++; }
}
static void thread2() {
    { std::lock_guard<std::mutex> held(m); shared++; }
    { std::lock_guard<std::mutex> held(m); shared++; }
}
int main() {
    std::thread a(thread1), b(thread2);
    a.join();
    b.join();
}
";

/// The same with locks that are words of memory, most of them taken without any call.
const FIGURE_2_RUST: &str = "\
use std::sync::Mutex;
static M: Mutex<u32> = Mutex::new(0);
fn thread1() {
    *M.lock().unwrap() += 1;
    *M.lock().unwrap() += 1;
}
fn thread2() {
    *M.lock().unwrap() += 1;
    *M.lock().unwrap() += 1;
}
fn main() {
    let threads = [std::thread::spawn(thread1), std::thread::spawn(thread2)];
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}
";

#[test]
fn the_ten_pairs_of_the_papers_example_are_required_and_covered() {
    for (name, source) in
        [("figure2.c", FIGURE_2), ("figure2.cpp", FIGURE_2_CPP), ("figure2.rs", FIGURE_2_RUST)]
    {
        let desk = Desk::new();
        desk.file(name, source);
        let hunt = ["hunt", name, "--strategy", "pos", "--executions", "500", "--coverage", "sp,sp-refined"];
        let report = desk.run(&[&hunt[..], &["--json", "-"]].concat()).json();
        let coverage = &report["coverage"];
        for criterion in ["sp", "sp-refined"] {
            let it = &coverage[criterion];
            assert_eq!((&it["covered"], &it["required"]), (&10.into(), &10.into()), "{name}: {coverage:#}");
            assert_eq!(it["estimation"]["estimated"], 10);
            assert_eq!(it["estimation"]["unexpected"], 0);
        }
        assert!(coverage["map"].is_null() && coverage["cfp"].is_null());
    }
}

#[test]
fn what_is_not_covered_is_listed_with_its_lines() {
    let desk = Desk::new();
    desk.file("figure2.c", FIGURE_2);
    let hunt = ["hunt", "figure2.c", "--executions", "1", "--coverage", "sp", "--uncovered"];
    let answer = desk.run(&hunt);
    assert_eq!(answer.code, Some(0), "{}", answer.stderr);
    assert!(
        answer.stdout.contains("Coverage (sp): 3 synchronization pairs of 10 required"),
        "{}",
        answer.stdout
    );
    assert_eq!(answer.stdout.matches("  then  figure2.c:").count(), 7, "{}", answer.stdout);
    assert!(answer.stdout.contains("(thread2)"), "{}", answer.stdout);
    let listed = desk.run(&[&hunt[..], &["--json", "-"]].concat()).json();
    assert_eq!(listed["coverage"]["sp"]["uncovered"].as_array().map(Vec::len), Some(7));
}

/// What is possible in Figure 2 is what locks allow: one execution shows all of it.
#[test]
fn patterns_that_are_left_are_listed_with_their_lines_until_they_are_shown() {
    let desk = Desk::new();
    desk.file("figure2.c", FIGURE_2);
    let hunt = ["hunt", "figure2.c", "--coverage", "map", "--uncovered", "--strategy", "pos", "--executions"];
    let printed = desk.run(&[&hunt[..], &["1"]].concat()).stdout;
    let line = "   shared: a writes at figure2.c:5 (thread1), b writes at figure2.c:10 (thread2), a reads at figure2.c:6 (thread1)\n";
    assert!(printed.contains(line), "{printed}");
    let [one, many] = ["1", "300"].map(|count| {
        let report = desk.run(&[&hunt[..], &[count, "--json", "-"]].concat()).json();
        let map = &report["coverage"]["map"];
        (
            map["covered"].as_u64().expect("a number"),
            map["uncovered"].as_array().expect("a list").len() as u64,
        )
    });
    assert_eq!(printed.matches("\n   shared: a ").count() as u64, one.1);
    assert_eq!((one.0 + one.1, 0), many, "all that was listed was shown, and nothing else");
}

/// Two threads that write and read two variables in opposite order. Every order of the four steps is possible.
const TWO_VARIABLES: &str = "\
#include <pthread.h>
int first, second;
static void *writes(void *unused) {
    first = 1;
    second = 1;
    return unused;
}
static void *reads(void *unused) {
    int seen = second;
    seen += first;
    return seen ? unused : 0;
}
int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, writes, 0);
    pthread_create(&threads[1], 0, reads, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
}
";

#[test]
fn patterns_of_two_variables_that_are_left_are_listed_until_they_are_shown() {
    let desk = Desk::new();
    desk.file("two.c", TWO_VARIABLES);
    let hunt = ["hunt", "two.c", "--coverage", "map", "--uncovered", "--strategy", "pos", "--executions"];
    let printed = desk.run(&[&hunt[..], &["1"]].concat()).stdout;
    let report = desk.run(&[&hunt[..], &["1", "--json", "-"]].concat()).json();
    let left = report["coverage"]["map"]["uncovered"].as_array().expect("a list").clone();
    let of_two: Vec<_> = left.iter().filter(|it| it["objects"].is_array()).collect();
    assert!(!of_two.is_empty() && of_two.len() < left.len(), "{left:#?}");
    for it in &of_two {
        let objects = it["objects"].as_array().expect("both variables");
        assert_eq!(it["object"], objects[0]);
        let sites: Vec<&str> =
            it["sites"].as_array().expect("places").iter().filter_map(|at| at.as_str()).collect();
        // The four lines, in the order of a pattern.
        let mut sorted = sites.clone();
        sorted.sort_by_key(|site| site.trim_start_matches("two.c:").parse::<u32>().ok());
        assert_eq!(sorted, ["two.c:4", "two.c:5", "two.c:9", "two.c:10"]);
        let begin =
            format!("   a {} {}", if sites[0] < "two.c:9" { "writes" } else { "reads" }, text(&objects[0]));
        let line = printed
            .lines()
            .find(|line| line.starts_with(&begin) && sites.iter().all(|site| line.contains(site)));
        assert!(line.is_some(), "{it} in {printed}");
    }
    let many = desk.run(&[&hunt[..], &["300", "--json", "-"]].concat()).json();
    let map = &many["coverage"]["map"];
    assert_eq!(map["uncovered"], serde_json::json!([]), "all that was listed was shown");
    let first = report["coverage"]["map"]["covered"].as_u64().expect("a number");
    assert_eq!(map["covered"], first + left.len() as u64, "and nothing else");
}

fn text(value: &serde_json::Value) -> &str {
    value.as_str().expect("a text")
}

#[test]
fn a_hunt_ends_when_coverage_is_saturated() {
    let desk = Desk::new();
    desk.file("figure2.c", FIGURE_2);
    let hunt = ["hunt", "figure2.c", "--strategy", "random", "--until", "saturated"];
    let report = desk.run(&[&hunt[..], &["--saturation-window", "30", "--json", "-"]].concat()).json();
    assert_eq!((&report["saturated"], &report["verdict"]), (&true.into(), &"clean".into()), "{report:#}");
    let executions = report["executions"].as_u64().unwrap();
    assert!((30..10_000).contains(&executions), "{executions}");
    for criterion in ["sp", "map"] {
        let at = report["coverage"][criterion]["saturation"]["executions"].as_u64().unwrap();
        assert!((30..=executions).contains(&at), "{criterion}: {at} of {executions}");
    }
    let printed = desk.run(&hunt).stdout;
    assert!(printed.contains("Coverage is saturated") && printed.contains("; saturated after "), "{printed}");
}

#[test]
fn check_and_compare_end_by_saturation_too() {
    let desk = Desk::new();
    desk.file("figure2.c", FIGURE_2);
    let until = ["--coverage", "sp", "--until", "saturated", "--saturation-window", "20", "--json", "-"];
    let check = ["check", "figure2.c", "--strategy", "random", "--executions", "5000"];
    let report = desk.run(&[&check[..], &until].concat()).json();
    assert_eq!(report["saturated"], true);
    assert!(report["executions"].as_u64().is_some_and(|made| made < 5000), "{report:#}");
    let compare = ["compare", "figure2.c", "--strategies", "random,pos", "--runs", "3"];
    let report = desk.run(&[&compare[..], &until].concat()).json();
    let trials = report["trials"].as_array().unwrap();
    assert!(trials.len() == 6 && trials.iter().all(|trial| trial["end"] == "saturated"), "{report:#}");
}

#[test]
fn statement_pairs_are_measured_as_well() {
    let desk = Desk::new();
    let program = repository("examples/lost_update.c");
    let hunt =
        ["hunt", &program.display().to_string(), "--executions", "50", "--keep-going", "--no-minimise"];
    let report =
        desk.run(&[&hunt[..], &["--coverage", "def-use,concurrent-pairs", "--json", "-"]].concat()).json();
    for criterion in ["def-use", "concurrent-pairs"] {
        let it = &report["coverage"][criterion];
        let (covered, estimated) = (it["covered"].as_u64().unwrap(), it["estimated"].as_u64().unwrap());
        assert!(covered > 0 && covered <= estimated, "{criterion}: {it:#}");
    }
}

#[test]
fn a_slip_of_the_finger_is_named() {
    let desk = Desk::new();
    desk.file("figure2.c", FIGURE_2);
    for (args, word) in [
        (["--coverage", "spp"], "concurrent-pairs"),
        (["--until", "tired"], "saturated"),
        (["--saturation-window", "0"], "executions from 2"),
        (["--saturation-coefficient", "2"], "from 0 to 1"),
    ] {
        let answer = desk.run(&[&["hunt", "figure2.c"][..], &args].concat());
        assert_eq!(answer.code, Some(2), "{args:?}");
        assert!(answer.stderr.contains(word), "{args:?}: {}", answer.stderr);
    }
}
