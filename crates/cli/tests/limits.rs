//! Time and memory are kept to, and what is left out for lack of them is said.

mod support;

use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use support::{Desk, repository};

/// Threads that go on for ever, and one that is interrupted in each way there is.
const ENDLESS: &str = r#"#include <pthread.h>
#include <signal.h>
#include <stdio.h>
static volatile int stop, x, y;
static void *work(void *first) {
    int tool = 0;
    FILE *file = first && rename("tool.pid", "taken.pid") == 0 ? fopen("taken.pid", "r") : 0;
    if (file) {
        if (fscanf(file, "%d", &tool) == 1) kill(tool, SIGTERM);
        fclose(file);
    }
    while (!stop) { x = x + 1; y = x; }
    return 0;
}
int main(void) {
    pthread_t first, second;
    pthread_create(&first, 0, work, &stop);
    pthread_create(&second, 0, work, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    return 0;
}
"#;

#[test]
fn every_command_ends_with_a_result_when_it_is_asked_to() {
    let desk = Desk::new();
    let source = desk.file("endless.c", ENDLESS).display().to_string();
    let built = desk.run(&["cc", "-O0", "-g", &source, "-o", "endless"]);
    assert_eq!(built.code, Some(0), "{}", built.stderr);
    desk.file("suite.toml", "binary = \"endless\"\nbuild = \"true\"\n[[input]]\nname = \"only\"\n");
    let commands: [&[&str]; 6] = [
        &["hunt", "endless"],
        &["hunt", "endless", "--strategy", "mcr"],
        &["check", "endless"],
        &["verify", "endless"],
        &["compare", "endless", "--strategies", "random,mcr", "--runs", "2"],
        &["suite", "suite.toml"],
    ];
    for command in commands {
        let args = [command, &["--json", "-", "--max-steps", "100000000", "--time", "6000"]].concat();
        let mut tool =
            desk.command(&args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("starts");
        desk.file("tool.pid.new", tool.id().to_string());
        std::fs::rename(desk.path("tool.pid.new"), desk.path("tool.pid")).expect("in one folder");
        let mut text = String::new();
        tool.stdout.take().expect("its output").read_to_string(&mut text).expect("its output is text");
        tool.wait().expect("it ends");
        // Two seconds after the signal it would have been ended without one.
        let report: serde_json::Value =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{command:?}: {error}: {text}"));
        assert_eq!(report["interrupted"], true, "{command:?}: {report}");
        assert_ne!(report["verdict"], "clean", "{command:?}: {report}");
    }
}

/// A program that loses updates, built.
fn losing(desk: &Desk) {
    let source = repository("examples/lost_update.c").display().to_string();
    let built = desk.run(&["cc", "-O0", "-g", &source, "-o", "losing"]);
    assert_eq!(built.code, Some(0), "{}", built.stderr);
}

#[test]
fn limits_of_the_user_are_kept_to_or_said() {
    let desk = Desk::new();
    losing(&desk);
    let limited = |limit: &str| {
        let tool = env!("CARGO_BIN_EXE_threadbare");
        let line = format!("ulimit {limit} && exec {tool} hunt losing --executions 200 --out found");
        let output = Command::new("sh").current_dir(desk.path("")).args(["-c", &line]).output();
        support::Answer::from(output.expect("a shell"))
    };
    // Its own stack is as large as it needs; the program's is as the user wants it.
    let small_stack = limited("-s 64");
    assert_eq!(small_stack.code, Some(1), "{}", small_stack.stderr);
    for (limit, says) in
        [("-f 0", "File too large"), ("-f 100", "File too large"), ("-n 8", "Too many open files")]
    {
        let answer = limited(limit);
        assert_eq!(answer.code, Some(2), "{limit}: {}{}", answer.stdout, answer.stderr);
        assert!(answer.stderr.contains(says), "{limit}: {}", answer.stderr);
        assert_eq!(answer.stderr.lines().count(), 1, "{limit}: {}", answer.stderr);
    }
}

/// Has the system refuse one call. System calls only: it is used between fork and exec.
fn refuse(call: i64) -> std::io::Result<()> {
    let op = |code: u32, jf: u8, k: u32| libc::sock_filter { code: code as u16, jt: 0, jf, k };
    // The number of the call is the first word of what the filter sees.
    let mut filter = [
        op(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
        op(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 1, call as u32),
        op(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32),
        op(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: plain system calls; the filter lives until they return.
    let refused = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0
    };
    if refused { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

#[test]
fn calls_that_nothing_works_without_are_named_where_they_are_refused() {
    let desk = Desk::new();
    losing(&desk);
    let calls =
        [("futex", libc::SYS_futex), ("poll", libc::SYS_poll), ("rt_sigaction", libc::SYS_rt_sigaction)];
    for (name, call) in calls {
        let mut command = desk.command(&["hunt", "losing"]);
        // SAFETY: system calls only between fork and exec.
        unsafe { command.pre_exec(move || refuse(call)) };
        let answer = support::Answer::from(command.output().expect("it starts"));
        assert_eq!(answer.code, Some(2), "{name}: {}", answer.stderr);
        let said = format!("threadbare: the system refuses the call {name}, without which nothing works");
        assert!(answer.stderr.starts_with(&said), "{name}: {}", answer.stderr);
        assert_eq!(answer.stderr.lines().count(), 1, "{name}: {}", answer.stderr);
    }
}

/// Whether a process executes this program.
fn executes(process: &str, program: &std::path::Path) -> bool {
    std::fs::read_link(format!("/proc/{process}/exe")).is_ok_and(|it| it == program)
}

#[test]
fn daemons_that_a_program_leaves_end_with_it() {
    let desk = Desk::new();
    let source = desk.file(
        "leaving.c",
        r#"#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static int x;
static void leave(void) {
    pid_t child = fork();
    if (child == 0) {
        setsid();
        if (fork() == 0) for (;;) pause();
        _exit(0);
    }
    waitpid(child, 0, 0);
}
static void *work(void *none) { x++; return none; }
int main(void) {
    leave();
    pthread_t first;
    pthread_create(&first, 0, work, 0);
    x++;
    pthread_join(first, 0);
    leave();
    return 0;
}
"#,
    );
    let source = source.display().to_string();
    let built = desk.run(&["cc", "-O0", "-g", &source, "-o", "leaving"]);
    assert_eq!(built.code, Some(0), "{}", built.stderr);
    desk.run(&["hunt", "leaving", "--executions", "3"]);
    let program = desk.path("leaving").canonicalize().expect("it was built");
    let all = std::fs::read_dir("/proc").expect("processes").filter_map(Result::ok);
    let names = all.map(|entry| entry.file_name().display().to_string());
    assert_eq!(names.filter(|process| executes(process, &program)).collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn a_long_execution_is_kept_as_far_as_memory_goes_and_that_is_said() {
    let desk = Desk::new();
    let source = desk.file(
        "long.c",
        r#"#include <pthread.h>
static int x;
static void *work(void *none) { for (int i = 0; i < 12000; i++) x++; return none; }
int main(void) {
    pthread_t first, second;
    pthread_create(&first, 0, work, 0);
    pthread_create(&second, 0, work, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    return 0;
}
"#,
    );
    let source = source.display().to_string();
    let args = ["check", &source, "--executions", "2", "--json", "-", "--memory-limit"];
    let answer = |limit: &str| desk.run(&[&args[..], &[limit]].concat());
    let small = answer("16M");
    assert_eq!(small.code, Some(1), "{}", small.stderr);
    let report = small.json();
    let warnings = report["warnings"].to_string();
    assert!(warnings.contains("--memory-limit allows more"), "{warnings}");
    // The beginning shows the race as well.
    assert_eq!(report["findings"][0]["kind"], "race", "{report}");
    let large = answer("1G");
    assert!(!large.json()["warnings"].to_string().contains("--memory-limit"), "{}", large.stdout);
}
