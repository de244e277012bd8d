//! How many executions it takes to try out everything, for programs that grow.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use threadbare_explore::{Options, hunt, verify};
use threadbare_target::{Program, resolve};

use crate::Result;
use crate::plot::{Panel, draw};

/// What can be said about the table.
#[derive(Args)]
pub struct GrowthArgs {
    /// Only these families
    #[arg(long, value_delimiter = ',')]
    families: Vec<String>,
    /// Seconds after which a strategy is given up
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// How many executions run side by side
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Where the plot goes
    #[arg(long, default_value = "target/verify-growth.svg")]
    svg: PathBuf,
}

/// Programs of one kind, the smallest first.
struct Family {
    name: &'static str,
    /// What it is called, what is defined for the compiler, and whether `verify` has to come to its end in time.
    sizes: &'static [(&'static str, &'static [&'static str], bool)],
}

const FAMILIES: [Family; 5] = [
    Family {
        name: "account",
        sizes: &[
            ("2 x 2", &["-DTHREADS=2", "-DROUNDS=2"], false),
            ("2 x 4", &["-DTHREADS=2", "-DROUNDS=4"], false),
            ("2 x 8", &["-DTHREADS=2", "-DROUNDS=8"], true),
            ("3 x 4", &["-DTHREADS=3", "-DROUNDS=4"], true),
            ("4 x 3", &["-DTHREADS=4", "-DROUNDS=3"], true),
            ("8 x 2", &["-DTHREADS=8", "-DROUNDS=2"], true),
        ],
    },
    Family {
        name: "bounded_queue",
        sizes: &[
            ("1 + 1, 3 items", &["-DPAIRS=1", "-DITEMS=3"], false),
            ("2 + 2, 1 item", &["-DPAIRS=2", "-DITEMS=1"], false),
            ("2 + 2, 2 items", &["-DPAIRS=2", "-DITEMS=2"], false),
            ("2 + 2, 3 items", &["-DPAIRS=2", "-DITEMS=3"], true),
        ],
    },
    Family {
        name: "readers_writer",
        sizes: &[
            ("2 threads", &["-DTHREADS=2"], false),
            ("3 threads", &["-DTHREADS=3"], false),
            ("4 threads", &["-DTHREADS=4"], true),
        ],
    },
    Family {
        name: "vyukov_queue",
        sizes: &[("2 threads", &["-DTHREADS=2"], false), ("3 threads", &["-DTHREADS=3"], true)],
    },
    Family {
        name: "philosophers",
        sizes: &[
            ("3", &["-DTHREADS=3"], false),
            ("4", &["-DTHREADS=4"], false),
            ("5", &["-DTHREADS=5"], true),
        ],
    },
];

/// Who tries out everything; `verify` first, of which something is asked.
const STRATEGIES: [&str; 4] = ["verify", "states", "dfs", "mcr"];

/// What a strategy came to.
struct Outcome {
    executions: u64,
    states: u64,
    elapsed: Duration,
    exhausted: bool,
}

impl Outcome {
    fn of(program: &Program, strategy: &str, args: &GrowthArgs) -> Result<Outcome> {
        let options = Options {
            strategy: if strategy == "verify" { "total" } else { strategy }.to_string(),
            executions: 10_000_000,
            time: Some(Duration::from_secs(args.seconds)),
            jobs: args.jobs,
            ..Options::default()
        };
        let begin = Instant::now();
        let (executions, states, exhausted) = if strategy == "verify" {
            let result = verify(program, &options, &|_| {}, &Arc::default())?;
            (result.check.executions, 0, result.exhausted)
        } else {
            let campaign = hunt(program, &options, &|_| {}, &Arc::default())?;
            (campaign.executions, campaign.effort.states, campaign.exhausted)
        };
        Ok(Outcome { executions, states, elapsed: begin.elapsed(), exhausted })
    }

    fn words(&self) -> String {
        let more = if self.exhausted { "" } else { ">" };
        format!("{more}{} in {:.2} s", self.executions, self.elapsed.as_secs_f64())
    }
}

/// The tool for models of programs in Rust that runs everything, too, on the same programs written for it.
struct Loom(PathBuf);

impl Loom {
    /// Builds it, apart from our own dependences.
    fn build() -> Result<Loom> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("rust");
        let built =
            Command::new("cargo").args(["build", "--release", "--quiet"]).current_dir(&folder).status()?;
        if !built.success() {
            return Err("the programs for loom do not build".into());
        }
        Ok(Loom(folder.join("target/release/threadbare-bench-rust")))
    }

    /// Its executions, and whether nothing was left after them; what it cannot do at all is a dash.
    fn words(&self, family: &str, defines: &[&str], seconds: u64) -> Result<String> {
        let numbers = defines.iter().filter_map(|define| define.split_once('=')).map(|(_, number)| number);
        let [threads, rounds] = match numbers.collect::<Vec<_>>()[..] {
            [threads] => [threads, "1"],
            [threads, rounds] => [threads, rounds],
            _ => return Err(format!("a size of {family} has one or two numbers").into()),
        };
        let begin = Instant::now();
        let answer = Command::new(&self.0)
            .args(["--seconds", &seconds.to_string(), "--growth", family, threads, rounds])
            .stderr(Stdio::null())
            .output()?;
        let elapsed = begin.elapsed().as_secs_f64();
        let answer = String::from_utf8(answer.stdout)?;
        Ok(match answer.trim().split_once(' ') {
            Some((executions, "true")) => format!("{executions} in {elapsed:.2} s"),
            Some((executions, _)) => format!(">{executions} in {elapsed:.2} s"),
            None => "-".to_string(),
        })
    }
}

/// Prints the table, draws the plot, and says whether our demands are met.
pub fn print(args: &GrowthArgs) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let loom = Loom::build()?;
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/growth");
    let mut panels = Vec::new();
    let mut demands = Vec::new();
    let is_wanted =
        |family: &&Family| args.families.is_empty() || args.families.iter().any(|it| it == family.name);
    for family in FAMILIES.iter().filter(is_wanted) {
        println!("{}: executions until all is tried (>: it was not)\n", family.name);
        println!(
            "{:<16} {:>8} {:>20} {:>20} {:>20} {:>20} {:>20}",
            "", "states", "verify", "states", "dfs", "mcr", "loom"
        );
        let mut series: Vec<(String, Vec<f64>)> =
            STRATEGIES.map(|name| (name.to_string(), Vec::new())).to_vec();
        series.push(("number of states".to_string(), Vec::new()));
        for (size, defines, has_bar) in family.sizes {
            let flags: Vec<String> = defines.iter().map(ToString::to_string).collect();
            // Its executable is named after the source.
            let folder = folder.path().join(format!("{}-{}", family.name, size.replace([' ', ','], "")));
            std::fs::create_dir(&folder)?;
            let program = resolve(&sources.join(format!("{}.c", family.name)), &flags, &folder)?;
            let mut outcomes = Vec::new();
            for strategy in STRATEGIES {
                outcomes.push(Outcome::of(&program, strategy, args)?);
            }
            let states = outcomes[1].states;
            let words: Vec<String> =
                outcomes.iter().map(|outcome| format!("{:>20}", outcome.words())).collect();
            let loom = loom.words(family.name, defines, args.seconds)?;
            println!("{size:<16} {states:>8} {} {loom:>20}", words.join(" "));
            let all = outcomes.iter().map(|it| if it.exhausted { it.executions as f64 } else { f64::NAN });
            for ((_, points), value) in series.iter_mut().zip(all.chain([states as f64])) {
                points.push(value);
            }
            if *has_bar {
                let (whole, walk) = (&outcomes[0], &outcomes[1]);
                let is_met = whole.exhausted && walk.exhausted && walk.executions <= states;
                demands.push((
                    format!("{} {size}", family.name),
                    whole.words(),
                    walk.executions,
                    states,
                    is_met,
                ));
            }
        }
        panels.push(vec![Panel { title: format!("{}: executions, by size", family.name), series }]);
        println!();
    }
    println!("verify is through within {} s, and a walk has no more executions than states:\n", args.seconds);
    for (name, words, executions, states, is_met) in demands {
        let verdict = if is_met { "met" } else { "MISSED" };
        println!("{name:<32} {words:>20} {executions:>8} of {states:<8} {verdict}");
    }
    if let Some(parent) = args.svg.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::write(&args.svg, draw(&panels))?;
    println!("\nThe plot is {}", args.svg.display());
    Ok(())
}
