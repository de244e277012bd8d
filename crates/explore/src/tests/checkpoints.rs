//! Executions that continue from checkpoints against the same from their beginning.

use threadbare_target::{Execution, Program, Server, ServerOptions, resolve};
use threadbare_trace::Event;

use super::verify::{Extra, PROGRAMS, source};
use crate::checkpoints::Checkpoints;
use crate::history::History;
use crate::strategies::mcr::Mcr;
use crate::strategies::published::total::Published;
use crate::strategies::total::Total;
use crate::strategy::{Plan, Strategy};

/// How many executions of each program are compared.
const MOST: usize = 60;

fn server(program: &Program) -> Server {
    let options = ServerOptions {
        most_events: u64::MAX,
        max_steps: 10_000,
        flags: 0,
        stall: std::time::Duration::from_secs(10),
        stop: Default::default(),
    };
    Server::start(program, &options).unwrap()
}

/// All that is reported of an execution, but for why switches were made: in one that follows another the policy always asks for them.
fn reported(run: &Execution) -> impl PartialEq + std::fmt::Debug + '_ {
    let event = |event: &Event| {
        let Event { pc, addr, value, thread, kind, size, .. } = *event;
        (pc, addr, value, thread, kind, size)
    };
    let switches: Vec<_> = run.switches.iter().map(|it| (it.from, it.op, it.to)).collect();
    (
        run.outcome.clone(),
        run.events.iter().map(event).collect::<Vec<_>>(),
        switches,
        (run.steps, run.threads, run.peak_threads, run.contexts.len()),
        run.touches.clone(),
        run.divergence.clone(),
        run.output.clone(),
    )
}

/// Runs what a strategy plans for a program in both ways; how many executions continued from checkpoints.
fn compare(program: &Program, strategy: &mut dyn Strategy, which: &str) -> u64 {
    let (mut with, mut without) = (server(program), server(program));
    let mut checkpoints = Checkpoints::new(Some(2));
    let history = History::default();
    let mut most_threads = 1;
    for number in 1..=MOST {
        let Some(plan) = strategy.plan(number as u64, 1, &history).pop() else { break };
        let plan = Plan { checkpoints: true, ..plan };
        let run = checkpoints.run(&mut with, &plan, plan.flags).unwrap();
        let other = without.run(&plan.policy, plan.flags).unwrap();
        assert!(reported(&run) == reported(&other), "{which}, execution {number}:\n{run:#?}\n{other:#?}");
        assert!(with.snapshots() <= 17, "{which}: {} copies", with.snapshots());
        with.learn(&run.discovered);
        without.learn(&run.discovered);
        most_threads = run.peak_threads.max(most_threads);
        with.set_pool(most_threads - 1);
        strategy.learn(&[(&plan, &run)], !run.discovered.is_empty(), &|| false).unwrap();
    }
    checkpoints.spared.executions
}

#[test]
fn an_execution_from_a_checkpoint_is_the_one_from_the_beginning() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("generated.c");
    std::fs::write(&file, source(3, Extra::Nothing)).unwrap();
    let built = resolve(&file, &[], folder.path()).unwrap();
    let mut spared = 0;
    for number in 0..PROGRAMS {
        let program = Program { args: vec![number.to_string()], ..built.clone() };
        let which = format!("program {number}");
        spared += compare(&program, &mut Total::new("total", 1, 1, false), &which);
        spared += compare(&program, &mut Mcr::new("mcr", 1, 1, false), &which);
        spared += compare(&program, &mut Published::new("total-paper", 1, false), &which);
    }
    println!("{spared} executions continued from checkpoints");
    assert!(spared >= PROGRAMS / 2, "{spared}");
}

/// Copies of a program share its files, so none are made of this one once it has opened any.
#[test]
fn a_program_that_cannot_be_copied_is_run_from_the_beginning() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("files.c");
    let text = "#include <fcntl.h>\n#include <pthread.h>\n#include <unistd.h>\nstatic int x, y;\n\
        static void *other(void *p) { if (x) y = 1; x = 2; if (y) x = 3; return p; }\n\
        int main(void) { pthread_t t; int file = open(\"/dev/null\", O_WRONLY); pthread_create(&t, 0, other, 0);\n\
        file = open(\"/dev/null\", O_WRONLY); if (y == 0) x = 1; y = 2; if (x == 3) y = 0; pthread_join(t, 0); close(file); return 0; }\n";
    std::fs::write(&file, text).unwrap();
    let program = resolve(&file, &[], folder.path()).unwrap();
    assert_eq!(compare(&program, &mut Total::new("total", 1, 1, false), "a program with files"), 0);
}
