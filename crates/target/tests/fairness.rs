//! No policy starves a thread that others wait for, in whichever kind of loop they do.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use threadbare_sched::{
    Between, Delay, Directed, DirectedGoal, Guidance, InOrder, Instance, Interruption, Interruptions,
    Journaled, OpId, OrderedOp, Parameters, Pct, PolicySpec, Pos, Prefix, Random, Replay, Requirements,
    RoundRobin, SpecError, StepInstance, Surw, SwitchPoint, Tsa, Turn, Turns,
};
use threadbare_target::{Execution, Server, ServerOptions, resolve};
use threadbare_trace::{Outcome, ThreadId};
use threadbare_wire::flags;

/// The loops of `fixtures/loops.c` that wait for a lock.
const LOCKS: [&str; 8] = [
    "TAS_NOTHING",
    "TAS_YIELD",
    "TAS_SLEEP",
    "TAS_BACKOFF",
    "TAS_COUNTING",
    "CAS_CALLS",
    "TRYLOCK",
    "TICKET",
];
/// And those that wait for another thread to produce something, with whether it sleeps first.
const POLLS: [(&str, bool); 12] = [
    ("POP", false),
    ("POP_COUNTING", false),
    ("POP_SLEEP", false),
    ("POP_YIELD", false),
    ("TIMEDWAIT", false),
    ("FLAG", false),
    ("VOLATILE_CLOCK", false),
    ("POP", true),
    ("POP_COUNTING", true),
    ("POP_SLEEP", true),
    ("FLAG", true),
    ("TIMEDWAIT", true),
];

/// The programs make some ten thousand steps where everybody gets what they wait for.
const MOST_STEPS: u64 = 2_000_000;

fn start(macros: &[&str]) -> Server {
    let folder = tempfile::tempdir().unwrap();
    let flags: Vec<String> = macros.iter().map(|name| format!("-D{name}")).collect();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/loops.c");
    let program = resolve(&source, &flags, folder.path()).unwrap();
    let stall = Duration::from_secs(30);
    let options = ServerOptions {
        max_steps: MOST_STEPS,
        most_events: u64::MAX,
        flags: 0,
        stall,
        stop: Default::default(),
    };
    Server::start(&program, &options).unwrap_or_else(|error| panic!("{error}"))
}

/// At least one of each policy. Those that aim at something aim at what threads do in this execution.
fn every_policy(run: &Execution) -> Vec<Parameters> {
    let (first, second, third) = (ThreadId(1), ThreadId(2), ThreadId(3));
    let site_of = |thread, number| {
        let own = run.events.iter().filter(|event| event.thread == thread && event.pc != 0);
        own.map(|event| event.pc).nth(number).unwrap_or(1)
    };
    let (early, late, others) = (site_of(first, 3), site_of(first, 30), site_of(third, 40));
    let ordered = |thread, site| OrderedOp { thread, site, gate: site };
    let turn = |thread, site| {
        let operation = Instance { site, object: 0, number: 1 };
        Turn { thread, operation, gate: operation, makes: true }
    };
    let wanted = |thread, site| StepInstance { thread, site, number: 1, gate: site };
    let requirements = Arc::new(Requirements::new([(early, others), (others, late)]));
    let id = |thread, op| OpId { thread, op };
    let mut all: Vec<Parameters> = vec![
        Random.into(),
        Pct { depth: 3, expected_steps: 5_000 }.into(),
        Pct { depth: 1, expected_steps: 100 }.into(),
        Pos.into(),
        Surw { object: None, weights: vec![1, 100, 100, 1] }.into(),
        Delay { longest_micros: 0, probability: 0.1 }.into(),
        Delay { longest_micros: 10_000, probability: 0.1 }.into(),
        RoundRobin { turn: 1 }.into(),
        RoundRobin { turn: 1_000 }.into(),
        Prefix::default().into(),
        Prefix { choices: vec![second; 2_000] }.into(),
        Replay::of(&[]).into(),
        Replay { switches: vec![SwitchPoint { from: first, op: 50, to: second }], main_last: true }.into(),
        Directed::new(DirectedGoal::Together, vec![early, others]).unwrap().into(),
        Directed::new(DirectedGoal::Between, vec![early, others, late]).unwrap().into(),
        InOrder::new(vec![ordered(first, late), ordered(third, others)]).unwrap().into(),
        InOrder::new(vec![ordered(third, others), ordered(first, early)]).unwrap().into(),
        Turns::new(vec![turn(first, late), turn(third, others)], second).unwrap().into(),
        Turns::new(vec![turn(third, others), turn(first, early)], first).unwrap().into(),
        Tsa { third_rule: true, stay_probability: 1.0, requirements }.into(),
        Guidance {
            variation: 1,
            wanted: vec![(wanted(first, late), Some(wanted(third, others)))],
            lead: Vec::new(),
        }
        .into(),
        Between { held: id(third, 30), other: id(first, 500) }.into(),
        Between { held: id(first, 30), other: id(second, 500) }.into(),
        Journaled.into(),
    ];
    all.extend(Interruption::ALL.map(|at| Interruptions { at, probability: 1.0 }.into()));
    all
}

fn everybody_comes_to_an_end(macros: &[&str]) {
    let mut server = start(macros);
    let first = server.run(&PolicySpec::new(Random, 1), flags::PROBE).unwrap();
    server.learn(&first.discovered);
    let mut starved = Vec::new();
    for parameters in every_policy(&first) {
        for (time, flags) in [("ordered", 0), ("loose", flags::LOOSE_TIME)] {
            let run = server.run(&PolicySpec::new(parameters.clone(), 1), flags).unwrap();
            let name = parameters.name();
            if run.outcome != Outcome::Passed {
                starved.push(format!("{name}, {time} time, {} steps: {:?}", run.steps, run.outcome));
            }
        }
    }
    assert!(starved.is_empty(), "{macros:?}:\n{}", starved.join("\n"));
}

#[test]
fn no_policy_starves_who_holds_a_lock_that_others_try_to_take() {
    LOCKS.into_iter().for_each(|kind| everybody_comes_to_an_end(&["LOCKS", kind]));
}

#[test]
fn no_policy_starves_who_produces_what_others_poll_for() {
    for (kind, sleeps) in POLLS {
        let macros = [kind, "LATE"];
        everybody_comes_to_an_end(&macros[..if sleeps { 2 } else { 1 }]);
    }
}

#[test]
fn no_policy_is_left_out_here() {
    let run = start(&["POP"]).run(&PolicySpec::new(Random, 1), 0).unwrap();
    let all = every_policy(&run);
    let is_known =
        |number: &u32| !matches!(Parameters::decode(*number, &[]), Err(SpecError::UnknownPolicy(_)));
    let is_missing = |number: &u32| !all.iter().any(|policy| policy.number() == *number);
    assert_eq!((0..1_000).filter(is_known).filter(is_missing).count(), 0);
}
