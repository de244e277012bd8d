//! Minimised schedules of real programs still fail, and nothing in them can be left out.

use std::path::Path;
use std::time::Duration;

use threadbare_explore::{Plan, is_preemption, is_same_failure, minimise, replay};
use threadbare_sched::{PolicySpec, Random};
use threadbare_target::{Execution, Server, ServerOptions, resolve};
use threadbare_wire::SwitchRecord;

fn server(subject: &str, folder: &Path) -> Server {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../subjects").join(subject);
    let program = resolve(&source, &[], folder).unwrap();
    let options = ServerOptions {
        most_events: u64::MAX,
        max_steps: 20_000,
        flags: 0,
        stall: Duration::from_secs(20),
        stop: Default::default(),
    };
    Server::start(&program, &options).unwrap()
}

fn run(server: &mut Server, plan: &Plan) -> Execution {
    server.run(&plan.policy, plan.flags).unwrap()
}

fn follow(server: &mut Server, switches: &[SwitchRecord]) -> Execution {
    run(server, &replay(switches))
}

/// The first failing random execution.
fn failing(server: &mut Server) -> Execution {
    for seed in 0..20_000 {
        let run = server.run(&PolicySpec::new(Random, seed), 0).unwrap();
        server.learn(&run.discovered);
        if run.outcome.failure().is_some() {
            return run;
        }
    }
    panic!("no execution failed");
}

fn preemptions(run: &Execution) -> Vec<usize> {
    (0..run.switches.len()).filter(|place| is_preemption(&run.switches[*place])).collect()
}

#[test]
fn minimised_schedules_still_fail_and_are_one_minimal() {
    // Each with the most preemptions its failure needs, counted by hand.
    for (subject, most) in [
        ("ars/reorder/reorder.c", 1),
        ("ars/two_stage/two_stage.c", 1),
        ("ars/simple_test/simple_test.c", 1),
        ("ars/dekker/dekker.c", 5),
        ("ars/linked_list/linked_list.c", 1),
        ("ars/readers_writers/readers_writers.c", 4),
        ("extra/carter01/carter01.c", 2),
        ("extra/deadlock01/deadlock01.c", 1),
        ("extra/bluetooth/bluetooth.c", 1),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut server = server(subject, folder.path());
        let found = failing(&mut server);
        let failure = found.outcome.failure().cloned().unwrap();
        let before = preemptions(&found).len();
        let (least, is_minimal) = minimise(found, 5000, &mut |plan| Some(run(&mut server, plan)));
        assert!(is_minimal, "{subject}");
        let left = preemptions(&least);
        assert!(left.len() <= before, "{subject}: {} of {before} preemptions are left", left.len());
        assert!(
            left.len() <= most,
            "{subject}: {} preemptions are left {:#?}",
            left.len(),
            least.switches.iter().map(|s| (s.from.0, s.op, s.to.0, s.reason, s.kind)).collect::<Vec<_>>()
        );

        let again = follow(&mut server, &least.switches);
        assert!(is_same_failure(again.outcome.failure().unwrap(), &failure), "{subject}");
        for place in left {
            let mut shorter = least.switches.clone();
            shorter.remove(place);
            let run = follow(&mut server, &shorter);
            let fails = run.outcome.failure().is_some_and(|other| is_same_failure(other, &failure));
            let fewer = preemptions(&run).len() < preemptions(&least).len();
            assert!(!(fails && fewer), "{subject}: switch {place} can be left out");
        }
    }
}
