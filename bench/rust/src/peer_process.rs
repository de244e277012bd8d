//! Questions about the peers, each answered by a process of its own: what a failing execution of theirs leaves behind
//! can make the next one fail at once, and where one of them gives up, it takes the process along.

use std::process::{Command, Stdio};

use clap::{Args, ValueEnum};

use crate::loom_side::{self, Growth};
use crate::shuttle_side::{self, Scheduler};

/// Whom a question is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Peer {
    /// shuttle.
    Shuttle(Scheduler),
    /// loom, with so many preemptions at most.
    Loom(Option<usize>),
}

/// A question.
#[derive(Args, Clone, Debug)]
pub struct Question {
    /// Answers a question about this program.
    #[arg(long, hide = true)]
    program: Option<String>,
    /// On shuttle.
    #[arg(long, hide = true)]
    shuttle: Option<Scheduler>,
    /// On loom.
    #[arg(long, hide = true)]
    bound: Option<usize>,
    /// The seed; how fast it is, without one.
    #[arg(long, hide = true)]
    seed: Option<u64>,
    /// How many executions loom needs to try all of a growing program: its family, threads and rounds.
    #[arg(long, hide = true, num_args = 3, value_names = ["FAMILY", "THREADS", "ROUNDS"])]
    growth: Option<Vec<String>>,
}

fn ask(program: &str, peer: Peer, arguments: &[String]) -> Option<f64> {
    let mut command = Command::new(std::env::current_exe().ok()?);
    command.args(["--program", program]).args(arguments).stderr(Stdio::null());
    match peer {
        Peer::Shuttle(scheduler) => {
            let name = scheduler.to_possible_value()?;
            command.args(["--shuttle", name.get_name()]);
        }
        Peer::Loom(Some(bound)) => {
            command.args(["--bound", &bound.to_string()]);
        }
        Peer::Loom(None) => {}
    }
    let output = command.output().ok()?;
    String::from_utf8(output.stdout).ok()?.lines().last()?.parse().ok()
}

/// Executions a second of a program that does not fail.
pub fn speed(program: &str, peer: Peer, seconds: f64) -> Option<f64> {
    ask(program, peer, &["--seconds".to_string(), seconds.to_string()])
}

/// The execution that fails first, if one of so many does.
pub fn first_failure(program: &str, peer: Peer, seed: u64, most: u64) -> Option<u64> {
    let arguments = ["--seed".to_string(), seed.to_string(), "--executions".to_string(), most.to_string()];
    ask(program, peer, &arguments).map(|count| count as u64)
}

impl Question {
    /// Answers it, if there is one; says whether there was.
    pub fn answer(&self, executions: u64, seconds: f64) -> bool {
        if let Some([family, threads, rounds]) = self.growth.as_deref() {
            let [threads, rounds] = [threads, rounds].map(|number| number.parse().unwrap_or(0));
            if let Some(Growth { executions, exhausted }) =
                loom_side::growth(family, threads, rounds, seconds)
            {
                println!("{executions} {exhausted}");
            }
            return true;
        }
        let Some(program) = &self.program else { return false };
        let answer = match (self.seed, self.shuttle) {
            (None, Some(scheduler)) => shuttle_side::speed(program, scheduler, seconds),
            (None, None) => loom_side::speed(program, self.bound, seconds),
            (Some(seed), Some(scheduler)) => {
                shuttle_side::first_failure(program, scheduler, seed, executions).map(|count| count as f64)
            }
            (Some(_), None) => {
                loom_side::first_failure(program, self.bound, executions).map(|count| count as f64)
            }
        };
        if let Some(answer) = answer {
            println!("{answer}");
        }
        true
    }
}
