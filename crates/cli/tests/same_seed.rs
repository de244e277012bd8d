//! One seed, one result: whatever the machine is doing, wherever the program lies, and whoever runs it.

mod support;

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::Value;
use support::{Desk, without_times};

/// A library that asks for randomness and time as soon as it is loaded, as allocators do. The loader calls its constructor before that of a
/// library that does not need it.
const SEEDED: &str = r#"
#define _GNU_SOURCE
#include <stdint.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static uint64_t seed;
__attribute__((constructor)) static void begin(void) {
    uint64_t bytes[2] = {0, 0};
    struct timespec now = {0, 0};
    if (syscall(SYS_getrandom, bytes, 8, 0) != 8 || getrandom(bytes + 1, 8, 0) != 8) _exit(3);
    clock_gettime(CLOCK_REALTIME, &now);
    seed = bytes[0] ^ bytes[1] ^ (uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec;
}
uint64_t seeded(void) { return seed; }
"#;

/// How many steps threads make depends on all that a system gives a process of its own.
const PROGRAM: &str = r#"
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>
uint64_t seeded(void);
static int counter, steps;
static uint64_t mixed = 1469598103934665603u;
static void mix(uint64_t value) { mixed = (mixed ^ value) * 1099511628211u; }
static void look(void) {
    struct timespec now = {0, 0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    mix(seeded());
    mix((uint64_t)now.tv_nsec);
    mix(*(uint64_t *)getauxval(AT_RANDOM));
    // What the C library has made of the first random bytes: the canary of stacks, and the key that hides stored pointers.
    uint64_t canary, key;
    __asm__("mov %%fs:0x28, %0; mov %%fs:0x30, %1" : "=r"(canary), "=r"(key));
    mix(canary);
    mix(key);
    mix((uint64_t)pthread_self());
    mix((uint64_t)&now);
    mix((uint64_t)malloc(100));
    mix((uint64_t)getpid());
}
static void *add(void *none) {
    look();
    for (unsigned i = 0; i < mixed % 20; i++) steps++;
    int seen = counter;
    counter = seen + 1;
    return none;
}
int main(void) {
    look();
    pthread_t first, second;
    pthread_create(&first, 0, add, 0);
    pthread_create(&second, 0, add, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    assert(counter == 2);
    return 0;
}
"#;

/// A result without times and without the names of files.
fn result(report: Value) -> Value {
    fn without_files(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.retain(|name, _| name != "schedule" && name != "trace");
                fields.values_mut().for_each(without_files);
            }
            Value::Array(values) => values.iter_mut().for_each(without_files),
            _ => {}
        }
    }
    let mut report = without_times(report);
    without_files(&mut report);
    report
}

/// The schedules that were kept, without where they were made.
fn schedules(desk: &Desk, out: &str) -> Vec<String> {
    let mut paths: Vec<_> = std::fs::read_dir(desk.path(out))
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|end| end == "schedule"))
        .collect();
    paths.sort();
    let text = |path| std::fs::read_to_string(path).expect("a schedule");
    let kept = |text: String| {
        text.lines().filter(|line| !line.starts_with("folder ")).collect::<Vec<_>>().join("\n")
    };
    paths.into_iter().map(text).map(kept).collect()
}

/// A way to run the same command.
type Way = (&'static str, fn(&mut Command));

const WAYS: [Way; 6] = [
    ("again", |_| {}),
    ("a large environment", |command| {
        command.env("LARGE", "x".repeat(5000));
    }),
    ("another folder", |command| {
        command.current_dir("/");
    }),
    ("one job", |command| {
        command.args(["--jobs", "1"]);
    }),
    ("four jobs", |command| {
        command.args(["--jobs", "4"]);
    }),
    ("another user", |command| {
        const NOBODY: u32 = 65_534;
        let change = || {
            // SAFETY: system calls on numbers. Who may not become somebody else stays who he is.
            unsafe {
                if libc::geteuid() == 0 && (libc::setgid(NOBODY) != 0 || libc::setuid(NOBODY) != 0) {
                    return Err(std::io::Error::last_os_error());
                }
            }
            Ok(())
        };
        command.env_remove("HOME").env_remove("XDG_CACHE_HOME");
        // SAFETY: system calls only between fork and exec.
        unsafe { command.pre_exec(change) };
    }),
];

/// Keeps processors busy while it is there.
struct Load(&'static AtomicBool);

impl Load {
    fn new() -> Load {
        let on: &'static AtomicBool = Box::leak(Box::new(AtomicBool::new(true)));
        for _ in 0..4 {
            thread::spawn(move || while on.load(Ordering::Relaxed) {});
        }
        Load(on)
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

#[test]
fn whoever_runs_it_wherever_with_one_seed_gets_one_result() {
    let desk = Desk::new();
    std::fs::set_permissions(desk.path(""), std::fs::Permissions::from_mode(0o777)).expect("it is ours");
    let library = desk.file("seeded.c", SEEDED);
    let (shared, program) = (desk.path("libseeded.so"), desk.path("program"));
    let built = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&shared).arg(&library).status();
    assert!(built.expect("a compiler").success());
    let source = desk.file("program.c", PROGRAM).display().to_string();
    let (shared, program) = (shared.display().to_string(), program.display().to_string());
    let built = desk.run(&["cc", "-O0", "-g", &source, &shared, "-o", &program]);
    assert_eq!(built.code, Some(0), "{}", built.stderr);
    for command in ["hunt", "check"] {
        let run = |seed: &str, out: &str, way: &dyn Fn(&mut Command)| {
            let folder = desk.path(out);
            std::fs::create_dir(&folder).expect("a folder");
            std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o777)).expect("it is ours");
            let folder = folder.display().to_string();
            let args = [command, &program, "--keep-going", "--executions", "24", "--seed", seed, "--quiet"];
            let mut command = desk.command(&[&args[..], &["--out", &folder, "--json", "-"]].concat());
            way(&mut command);
            let answer = support::Answer::from(command.output().expect("it starts"));
            (result(answer.json()), schedules(&desk, out))
        };
        // How many steps the program makes depends on the addresses of the runtime, and so does which seeds find its failure soon.
        let seeds = (1..=20).map(|seed: u32| seed.to_string());
        let mut firsts = seeds.map(|seed| (run(&seed, &format!("{command}-first-{seed}"), &|_| {}), seed));
        let ((first, kept), seed) = firsts
            .find(|((first, _), _)| first["verdict"] == "failure")
            .expect("a seed that finds the failure");
        let run = |out: &str, way: &dyn Fn(&mut Command)| run(&seed, out, way);
        assert!(!kept.is_empty());
        let load = Load::new();
        let loaded = run(&format!("{command}-loaded"), &|_| {});
        drop(load);
        assert_eq!((&loaded.0, &loaded.1), (&first, &kept), "{command} under load");
        for (number, (name, way)) in WAYS.iter().enumerate() {
            let (report, schedules) = run(&format!("{command}-{number}"), way);
            assert_eq!(report, first, "{command}: {name}");
            assert_eq!(schedules, kept, "{command}: {name}");
        }
    }
}
