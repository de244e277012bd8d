//! threadbare: the programs as they are, on std, in an executable of their own.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use threadbare_explore::{Options, hunt};
use threadbare_sched::ClosureStrategy;
use threadbare_target::{Batch, Program, Server, ServerOptions, compile, resolve};

use crate::clock::processor_seconds;

/// How executions are drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// In one process.
    InProcess(ClosureStrategy),
    /// By a strategy that looks at each execution from outside.
    Strategy(&'static str),
}

/// The executable that holds the programs.
pub struct Programs {
    executable: Program,
}

impl Programs {
    /// Builds it.
    pub fn build() -> Result<Programs, String> {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/on_std.rs");
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("target/threadbare");
        let flags = ["-Copt-level=3".to_string()];
        let executable = compile(&source, &flags, &folder).map_err(|error| error.to_string())?;
        let executable = resolve(&executable, &[], &folder).map_err(|error| error.to_string())?;
        Ok(Programs { executable })
    }

    fn named(&self, program: &str) -> Program {
        Program { args: vec![program.to_string()], ..self.executable.clone() }
    }

    /// Executions a second of a program that does not fail.
    pub fn speed(&self, program: &str, strategy: ClosureStrategy, seconds: f64) -> Option<f64> {
        let options = ServerOptions {
            most_events: u64::MAX,
            max_steps: 1_000_000,
            flags: 0,
            stall: Duration::from_secs(60),
            stop: Arc::new(AtomicBool::new(false)),
        };
        let mut server = Server::start(&self.named(program), &options).ok()?;
        let (mut made, begin) = (0, processor_seconds());
        loop {
            let batch =
                Batch { strategy, seed: 1, first: made + 1, count: u64::MAX, enough_steps: 4_000_000 };
            let repeated = server.repeat(&batch, 0).ok()?;
            if repeated.failed.is_some() || repeated.passed == 0 {
                return None;
            }
            server.learn(&repeated.discovered);
            made += repeated.passed;
            let spent = processor_seconds() - begin;
            if spent >= seconds {
                return Some(made as f64 / spent);
            }
        }
    }

    /// The execution that fails first, if one of so many does.
    pub fn first_failure(&self, program: &str, way: Way, seed: u64, most: u64) -> Option<u64> {
        let (strategy, in_process) = match way {
            Way::InProcess(ClosureStrategy::Mixed) => ("auto", true),
            Way::InProcess(ClosureStrategy::Urw) => ("surw", true),
            Way::InProcess(strategy) => (strategy.name(), true),
            Way::Strategy(name) => (name, false),
        };
        let options = Options {
            strategy: strategy.to_string(),
            seed,
            executions: most,
            in_process,
            ..Options::default()
        };
        let stop = Arc::new(AtomicBool::new(false));
        let campaign = hunt(&self.named(program), &options, &|_| {}, &stop).ok()?;
        campaign.found.first().map(|found| found.execution)
    }
}
