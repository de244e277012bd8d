//! Checks and verifications run by several servers at once.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use threadbare_explore::{Check, Options, check, verify};
use threadbare_target::{Program, resolve};

fn options(jobs: usize, executions: u64) -> Options {
    Options { jobs, executions, time: Some(Duration::from_secs(600)), ..Options::default() }
}

/// Everything but times and the number of workers.
fn account(check: &Check) -> impl PartialEq + std::fmt::Debug + use<> {
    let found = check.findings.iter().map(|it| {
        let confirmed = it.confirmed.as_ref().map(|run| run.switches.clone());
        (format!("{:?}", it.finding), it.run.switches.clone(), confirmed, it.fails, it.follows_from)
    });
    let failures = check.failures.iter().map(|it| (it.execution, it.count, it.run.switches.clone()));
    (
        found.collect::<Vec<_>>(),
        failures.collect::<Vec<_>>(),
        (check.executions, check.steps, check.threads),
        check.coverage.iter().map(|it| (it.covered, it.total)).collect::<Vec<_>>(),
        check.warnings.clone(),
    )
}

fn program(path: &str, folder: &Path) -> Program {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    resolve(&source, &[], folder).unwrap()
}

#[test]
fn two_servers_make_the_same_check_as_one() {
    let folder = tempfile::tempdir().unwrap();
    for path in [
        "examples/lost_update.c",
        "examples/deadlock.c",
        "examples/bank_transfer.cpp",
        "examples/bounded_queue.c",
        "subjects/ars/two_stage/two_stage.c",
    ] {
        let program = program(path, folder.path());
        let check = |jobs| {
            let options = Options { coverage: vec!["map".to_string()], ..options(jobs, 100) };
            check(&program, &options, &|_| {}, &Arc::default()).unwrap()
        };
        let (one, two) = (check(1), check(2));
        assert_eq!((one.workers, two.workers), (1, 2), "{path}");
        assert_eq!(account(&two), account(&one), "{path}");
    }
}

#[test]
fn two_servers_make_the_same_verification_as_one() {
    let folder = tempfile::tempdir().unwrap();
    let clock = folder.path().join("clock.c");
    let source = "#include <pthread.h>
#include <time.h>
static _Atomic long n;
static void *w(void *u) { n += time(0) > 0; return 0; }
int main(void) { pthread_t t; pthread_create(&t, 0, w, 0); w(0); return pthread_join(t, 0); }
";
    std::fs::write(&clock, source).unwrap();
    // The last one cannot be claimed, so executions at random follow, which run side by side.
    for (path, workers) in [
        ("subjects/total/pool/pool.c", 1),
        ("examples/deadlock.c", 1),
        ("subjects/extra/atomic_publish/atomic_publish.c", 1),
        (clock.to_str().unwrap(), 2),
    ] {
        let program = program(path, folder.path());
        let verify = |jobs| verify(&program, &options(jobs, 400), &|_| {}, &Arc::default()).unwrap();
        let (one, two) = (verify(1), verify(2));
        assert_eq!(account(&two.check), account(&one.check), "{path}");
        let figures = |it: &threadbare_explore::Verification| {
            (it.test_cases, it.left, it.groups, it.checked, it.spared, it.sampled, it.exhausted)
        };
        assert_eq!(figures(&two), figures(&one), "{path}");
        assert_eq!((one.check.workers, two.check.workers), (1, workers), "{path}: {}", two.sampled);
    }
}
