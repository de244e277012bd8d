//! Programs that start many threads.

mod support;

use std::process::Stdio;

use support::Desk;

/// Threads one after the other, and one more that fails.
const ONE_AFTER_THE_OTHER: &str = r#"#include <assert.h>
#include <pthread.h>
static void *nothing(void *given) { return given; }
static void *fail(void *given) { assert(given); return given; }
int main(void) {
    pthread_t thread;
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&thread, 0, nothing, 0);
        pthread_join(thread, 0);
    }
    pthread_create(&thread, 0, fail, 0);
    pthread_join(thread, 0);
    return 0;
}
"#;

/// The most memory that the tool had while it looked for the failure and explained it, in kilobytes.
#[allow(clippy::zombie_processes, reason = "it is waited for by the call that also reports its memory")]
fn memory(threads: u32) -> i64 {
    let desk = Desk::new();
    desk.file("many.c", format!("#define THREADS {threads}\n{ONE_AFTER_THE_OTHER}"));
    let child = desk
        .command(&["hunt", "many.c", "--quiet"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the tool starts");
    let mut status = 0;
    // SAFETY: all of it is numbers, for which 0 is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the child is ours and nobody else waits for it; both places live until the call is over.
    let ended = unsafe { libc::wait4(child.id() as i32, &mut status, 0, &mut usage) };
    assert_eq!(ended, child.id() as i32, "{}", std::io::Error::last_os_error());
    assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 1, "it fails: {status:#x}");
    usage.ru_maxrss
}

#[test]
fn a_failure_after_many_threads_is_explained_in_little_more_memory_than_one_after_few() {
    let (few, many) = (memory(10), memory(150));
    assert!(many < 2 * few, "{few} KB with 10 threads, {many} KB with 150");
}
