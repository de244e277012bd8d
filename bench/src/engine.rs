//! Steps a second, executions a second, and the price of instrumentation.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use threadbare_explore::{Options, hunt};
use threadbare_sched::{Parameters, PolicySpec, Random, RoundRobin};
use threadbare_target::{Program, Server, ServerOptions, resolve};
use threadbare_wire::flags;

use crate::figure::{Demand, Figure};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// How often each thing is measured.
const TRIES: usize = 5;

/// Everything, in the order it is printed.
pub fn measure() -> Result<Vec<Figure>> {
    let folder = tempfile::tempdir()?;
    let mut figures = Vec::new();
    steps(folder.path(), &mut figures)?;
    executions(folder.path(), &mut figures)?;
    compute(folder.path(), &mut figures)?;
    Ok(figures)
}

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("programs").join(name)
}

fn program(name: &str, cflags: &[&str], args: &[String], folder: &Path) -> Result<Program> {
    let cflags: Vec<String> = cflags.iter().map(|flag| flag.to_string()).collect();
    let mut program = resolve(&source(name), &cflags, folder)?;
    program.args = args.to_vec();
    Ok(program)
}

fn server(program: &Program, flags: u32) -> Result<Server> {
    let options = ServerOptions {
        max_steps: 20_000_000,
        most_events: u64::MAX,
        flags,
        stall: Duration::from_secs(60),
        stop: Arc::default(),
    };
    let mut server = Server::start(program, &options)?;
    // What is shared has to be known before anything is worth measuring.
    for seed in 0..2 {
        let run = server.run(&PolicySpec::new(Random, seed), flags::PROBE)?;
        server.learn(&run.discovered);
        server.set_pool(run.peak_threads - 1);
    }
    Ok(server)
}

/// The shortest time one execution took, and its steps.
///
/// Events are recorded in full; copying them to the driver afterwards is not part of the run.
fn best_run(server: &mut Server, policy: &Parameters, flags: u32) -> Result<(f64, u64)> {
    let mut best = (f64::MAX, 0);
    for seed in 0..TRIES as u64 {
        let policy = PolicySpec::new(policy.clone(), seed);
        let begin = Instant::now();
        let run = server.run(&policy, flags | flags::EVENTS_OF_FAILURES)?;
        let time = begin.elapsed().as_secs_f64();
        if time < best.0 {
            best = (time, run.steps);
        }
    }
    Ok(best)
}

fn steps(folder: &Path, figures: &mut Vec<Figure>) -> Result<()> {
    let rate = |rounds: u64, policy: Parameters, flags: u32| -> Result<f64> {
        let program = program("steps.c", &[], &[rounds.to_string()], folder)?;
        let (time, steps) = best_run(&mut server(&program, flags)?, &policy, flags)?;
        Ok(steps as f64 / time)
    };
    let walk = rate(250_000, Random.into(), 0)?;
    figures.push(Figure::with(
        "steps a second in one execution, random walk, recording",
        walk,
        "steps/s",
        Demand::AtLeast(5e6),
    ));
    // Every step switches to the other thread, so this is the price of a context switch.
    let fibers = rate(250_000, RoundRobin { turn: 1 }.into(), 0)?;
    let os = rate(20_000, RoundRobin { turn: 1 }.into(), flags::OS_THREADS)?;
    figures.push(Figure::plain("hand-overs a second, fibers", fibers, "steps/s"));
    figures.push(Figure::plain("hand-overs a second, OS threads", os, "steps/s"));
    figures.push(Figure::with("fibers against OS threads", fibers / os, "times", Demand::AtLeast(20.0)));
    Ok(())
}

fn executions(folder: &Path, figures: &mut Vec<Figure>) -> Result<()> {
    let program = program("small.c", &[], &[], folder)?;
    let stop = Arc::new(AtomicBool::new(false));
    let mut steps = 0.0;
    let mut rate = |jobs: usize| -> Result<f64> {
        let mut best = 0.0f64;
        for seed in 0..TRIES as u64 {
            let options =
                Options { strategy: "random".into(), seed, executions: 5_000, jobs, ..Options::default() };
            let campaign = hunt(&program, &options, &|_| {}, &stop)?;
            best = best.max(campaign.executions as f64 / campaign.elapsed.as_secs_f64());
            steps = campaign.steps as f64 / campaign.executions as f64;
        }
        Ok(best)
    };
    let (one, two) = (rate(1)?, rate(2)?);
    figures.push(Figure::with(
        format!("executions a second, 3 threads, {steps:.0} steps, --jobs 1"),
        one,
        "executions/s",
        Demand::AtLeast(3000.0),
    ));
    figures.push(Figure::plain("executions a second, --jobs 2", two, "executions/s"));
    figures.push(Figure::with("--jobs 2 against --jobs 1", two / one, "times", Demand::AtLeast(1.6)));
    Ok(())
}

fn compute(folder: &Path, figures: &mut Vec<Figure>) -> Result<()> {
    const ROUNDS: u64 = 4_000;
    for level in ["-O0", "-O1", "-O2"] {
        let native = folder.join(format!("native{level}"));
        let built = Command::new("cc")
            .args([level, "-pthread", "-o"])
            .arg(&native)
            .arg(source("compute.c"))
            .status()?;
        if !built.success() {
            return Err("the C compiler could not build compute.c".into());
        }
        let mut fastest = f64::MAX;
        for _ in 0..TRIES {
            let begin = Instant::now();
            Command::new(&native).arg(ROUNDS.to_string()).stdout(Stdio::null()).status()?;
            fastest = fastest.min(begin.elapsed().as_secs_f64());
        }
        let program = program("compute.c", &[level], &[ROUNDS.to_string()], folder)?;
        let (controlled, _) = best_run(&mut server(&program, 0)?, &Random.into(), 0)?;
        figures.push(Figure::with(
            format!("private compute loop under control against native, {level}"),
            controlled / fastest,
            "times",
            Demand::Below(15.0),
        ));
    }
    Ok(())
}
