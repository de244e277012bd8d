//! The main job, from source file to a schedule that fails every time.

mod support;

use std::path::Path;

use support::{Answer, Desk, repository};

fn example(name: &str) -> String {
    repository("examples").join(name).display().to_string()
}

/// Hunts with one seed and a small budget; the JSON object is on standard output.
fn hunt(desk: &Desk, program: &str, more: &[&str]) -> Answer {
    let mut args = vec!["hunt", program, "--json", "-", "--executions", "2000", "--time", "60"];
    args.extend(more);
    desk.run(&args)
}

#[test]
fn the_lost_update_is_found_kept_and_replayed() {
    let desk = Desk::new();
    let answer = hunt(&desk, &example("lost_update.c"), &[]);
    assert_eq!(answer.code, Some(1), "{}\n{}", answer.stdout, answer.stderr);
    let report = answer.json();
    for (field, value) in
        [("tool", "threadbare"), ("command", "hunt"), ("strategy", "auto"), ("verdict", "failure")]
    {
        assert_eq!(report[field], value, "{field}");
    }
    assert_eq!((report["seed"].as_u64(), report["threads"].as_u64()), (Some(1), Some(3)));
    assert!(report["executions"].as_u64() >= Some(1) && report["steps"].as_u64() >= Some(1));
    assert!(report["elapsed_s"].is_number() && report["executions_per_s"].is_number());
    assert!(report["findings"].as_array().is_some_and(Vec::is_empty) && report["coverage"].is_object());
    let failure = &report["failure"];
    assert_eq!(failure["kind"], "assertion");
    assert_eq!(failure["reproduced"], true);
    let site = failure["site"].as_str().expect("a site");
    assert!(site.starts_with("lost_update.c:"), "{site}");

    let schedule = failure["schedule"].as_str().expect("a schedule file");
    assert_eq!(Path::new(schedule), Path::new(".threadbare/lost_update-1.schedule"));
    assert!(desk.path(".threadbare/lost_update-1.output").is_file());

    let replay = desk.run(&["replay", schedule, "--times", "50", "--json", "-"]);
    assert_eq!(replay.code, Some(1), "{}", replay.stderr);
    let replay = replay.json();
    assert_eq!(
        (replay["replay"]["times"].as_u64(), replay["replay"]["reproduced"].as_u64()),
        (Some(50), Some(50))
    );
    assert_eq!(replay["replay"]["trace_hash"], failure["trace_hash"]);

    let shown = desk.run(&["replay", schedule]);
    assert_eq!(shown.code, Some(1));
    for word in ["T1", "T2", "lost_update.c:", "→", "✗ assertion"] {
        assert!(shown.stdout.contains(word), "`{word}` is missing:\n{}", shown.stdout);
    }
    assert!(!shown.stdout.contains('\u{1b}'), "colour in a pipe");
}

#[test]
fn a_second_hunt_with_the_same_seed_finds_the_same_and_overwrites_nothing() {
    let desk = Desk::new();
    let program = example("lost_update.c");
    let first = hunt(&desk, &program, &["--jobs", "1"]).json();
    let second = hunt(&desk, &program, &["--jobs", "2"]).json();
    assert_eq!(first["failure"]["trace_hash"], second["failure"]["trace_hash"]);
    assert_eq!(first["failure"]["execution"], second["failure"]["execution"]);
    assert_ne!(first["failure"]["schedule"], second["failure"]["schedule"]);
}

#[test]
fn the_report_for_people_says_where_and_what_next() {
    let desk = Desk::new();
    let answer = desk.run(&["hunt", &example("deadlock.c")]);
    assert_eq!(answer.code, Some(1), "{}", answer.stderr);
    for word in ["deadlock", "deadlock.c:", "threadbare replay .threadbare/deadlock-1.schedule"] {
        assert!(answer.stdout.contains(word), "`{word}` is missing:\n{}", answer.stdout);
    }
}

const FINE: &str = "\
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int n;
static void *add(void *unused) {
    pthread_mutex_lock(&m);
    n++;
    pthread_mutex_unlock(&m);
    return unused;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return n == 2 ? 0 : 1;
}
";

#[test]
fn a_correct_program_passes_and_exhaustion_is_said() {
    let desk = Desk::new();
    desk.file("fine.c", FINE);
    let random = hunt(&desk, "fine.c", &["--strategy", "random"]);
    assert_eq!(random.code, Some(0), "{}\n{}", random.stdout, random.stderr);
    assert_eq!(random.json()["verdict"], "clean");
    assert_eq!(random.json()["executions"], 2000);
    let dfs = hunt(&desk, "fine.c", &["--strategy", "dfs"]);
    assert_eq!(dfs.code, Some(0), "{}", dfs.stderr);
    assert_eq!((&dfs.json()["verdict"], &dfs.json()["exhausted"]), (&"exhausted".into(), &true.into()));
    assert!(!desk.path(".threadbare/fine-1.schedule").exists());
}

#[test]
fn a_schedule_is_replayed_from_anywhere() {
    let (desk, elsewhere) = (Desk::new(), Desk::new());
    let racy = FINE.replace("pthread_mutex_lock(&m);", "").replace("pthread_mutex_unlock(&m);", "");
    desk.file("counter.c", &racy);
    let kept = elsewhere.path("kept").display().to_string();
    assert_eq!(hunt(&desk, "counter.c", &["--out", &kept]).code, Some(1));
    let replay = elsewhere.run(&["replay", "kept/counter-1.schedule"]);
    assert_eq!(replay.code, Some(1), "{}\n{}", replay.stdout, replay.stderr);
    assert!(replay.stdout.contains("showed again"), "{}", replay.stdout);
}

#[test]
fn a_changed_program_is_noticed_on_replay() {
    let desk = Desk::new();
    let racy =
        FINE.replace("    pthread_mutex_lock(&m);\n", "").replace("    pthread_mutex_unlock(&m);\n", "");
    desk.file("counter.c", &racy);
    let found = hunt(&desk, "counter.c", &[]);
    assert_eq!(found.code, Some(1), "{}\n{}", found.stdout, found.stderr);
    desk.file("counter.c", FINE);
    let replay = desk.run(&["replay", ".threadbare/counter-1.schedule"]);
    assert_eq!(replay.code, Some(0), "{}\n{}", replay.stdout, replay.stderr);
    assert!(replay.stderr.contains("has changed"), "{}", replay.stderr);
    assert!(replay.stdout.contains("did not show again"), "{}", replay.stdout);
    assert!(replay.stdout.contains("switch "), "{}", replay.stdout);
}

#[test]
fn an_interrupt_ends_the_hunt_and_keeps_its_word() {
    let desk = Desk::new();
    desk.file("fine.c", FINE);
    for signal in [libc::SIGINT, libc::SIGTERM] {
        let child = desk
            .command(&[
                "hunt",
                "fine.c",
                "--executions",
                "100000000",
                "--time",
                "600",
                "--json",
                "result.json",
            ])
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .expect("the tool starts");
        std::thread::sleep(std::time::Duration::from_secs(3));
        // SAFETY: the child is ours and has not been waited for, so its number is not reused.
        unsafe { libc::kill(child.id() as i32, signal) };
        let answer: Answer = child.wait_with_output().expect("the tool ends").into();
        assert_eq!(answer.code, Some(0), "{}\n{}", answer.stdout, answer.stderr);
        assert!(
            answer.stdout.starts_with("Interrupted: nothing found so far in fine.c "),
            "{}",
            answer.stdout
        );
        let report = std::fs::read(desk.path("result.json")).expect("the JSON object");
        let report: serde_json::Value = serde_json::from_slice(&report).expect("JSON");
        assert_eq!(report["interrupted"], true);
    }
}

#[test]
fn arguments_and_input_reach_the_program() {
    let desk = Desk::new();
    let check = "    char line[16] = \"\";\n    if (argc != 2 || argv[1][0] != 'x' || \
                 !fgets(line, 16, stdin) || line[0] != 'y') return 3;\n    pthread_t a, b;";
    let program = FINE
        .replace("int main(void)", "int main(int argc, char **argv)")
        .replace("#include <pthread.h>", "#include <pthread.h>\n#include <stdio.h>")
        .replace("    pthread_t a, b;", check);
    desk.file("input.c", program);
    desk.file("y.txt", "y\n");
    let given = hunt(&desk, "input.c", &["--stdin", "y.txt", "--", "x"]);
    assert_eq!(given.code, Some(0), "{}\n{}", given.stdout, given.stderr);
}
