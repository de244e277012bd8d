//! Tables 12 and 15 to 18 of the thesis on total replay again: test cases and graphs for programs in the shape of its own.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use serde::Deserialize;
use threadbare_explore::{Campaign, Options, Verification, hunt, verify};
use threadbare_models::variants::pair_orders;
use threadbare_target::{Program, resolve};

use crate::Result;

/// What can be said about the tables.
#[derive(Args)]
pub struct TotalArgs {
    /// Only these programs
    #[arg(long, value_delimiter = ',')]
    subjects: Vec<String>,
    /// Test cases of the baselines after which they are left at "more than"
    #[arg(long, default_value_t = 100_000)]
    most: u64,
    /// Steps from one checkpoint to the next
    #[arg(long, default_value_t = 16)]
    gap: u64,
    /// Seconds after which they are
    #[arg(long, default_value_t = 300)]
    seconds: u64,
}

/// The programs, in the order of the thesis.
const PROGRAMS: [&str; 5] = ["pool", "client", "ping", "crawler", "database"];

#[derive(Deserialize)]
struct Subject {
    paper: Paper,
}

/// What the thesis says of the program that this one has the shape of; none stands for infinitely many.
#[derive(Deserialize)]
struct Paper {
    name: String,
    tpair: Option<u64>,
    total: u64,
    affected: u64,
    #[serde(default)]
    variant_nodes: Option<u64>,
    #[serde(default)]
    graph_nodes: Option<u64>,
}

/// What a baseline came to.
struct Baseline {
    cases: u64,
    is_all: bool,
    nodes: u64,
    bytes: u64,
}

impl Baseline {
    fn of(program: &Program, strategy: &str, args: &TotalArgs) -> Result<Baseline> {
        let options = Options {
            strategy: strategy.to_string(),
            executions: args.most,
            time: Some(Duration::from_secs(args.seconds)),
            keep_going: true,
            ..Options::default()
        };
        let campaign: Campaign = hunt(program, &options, &|_| {}, &Arc::default())?;
        let graph = campaign.effort.graph;
        // The first execution looks for shared memory.
        let cases = campaign.executions.saturating_sub(1);
        // Pairs of threads are not everything, so nothing is claimed when all of theirs are tried.
        let is_all = campaign.exhausted
            || campaign.executions < args.most && campaign.elapsed.as_secs() < args.seconds;
        Ok(Baseline { cases, is_all, nodes: graph.nodes, bytes: graph.bytes })
    }

    fn words(&self) -> String {
        if self.is_all { self.cases.to_string() } else { format!(">{}", self.cases) }
    }
}

struct Row {
    name: &'static str,
    paper: Paper,
    total: Verification,
    tpair: Baseline,
    /// The orders of every two threads of one execution, counted without making them.
    orders: u128,
    reach: Baseline,
    /// The same with many checkpoints, and with none.
    checkpoints: [Verification; 2],
}

/// Prints the tables and whether our demands are met.
pub fn print(args: &TotalArgs) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let mut rows = Vec::new();
    for name in PROGRAMS {
        if args.subjects.is_empty() || args.subjects.iter().any(|wanted| wanted == name) {
            rows.push(row(name, folder.path(), args)?);
            eprintln!("{name} is done");
        }
    }
    println!("Table 12: test cases (the thesis's figures for the original in brackets)\n");
    println!(
        "{:<10} {:<20} {:>7} {:>18} {:>18} {:>16} {:>10} {:>10} {:>10}",
        "program",
        "in the shape of",
        "threads",
        "branches affected",
        "tpair",
        "orders of pairs",
        "reach",
        "total",
        "exhausted"
    );
    for row in &rows {
        let affected = row.total.graphs.affected;
        let in_thesis = row.paper.tpair.map_or("infinite".to_string(), |cases| cases.to_string());
        println!(
            "{:<10} {:<20} {:>7} {:>18} {:>18} {:>16} {:>10} {:>10} {:>10}",
            row.name,
            row.paper.name,
            row.total.check.threads,
            format!("{affected} ({})", row.paper.affected),
            format!("{} ({in_thesis})", row.tpair.words()),
            row.orders,
            row.reach.words(),
            format!("{} ({})", row.total.test_cases, row.paper.total),
            if row.total.exhausted { "yes" } else { "no" }
        );
    }
    println!("\nTables 14 to 17: what total found\n");
    for row in &rows {
        let Verification { groups, checked, check, .. } = &row.total;
        println!(
            "{:<10} {groups} race-equivalent groups, {} races, {} failures; pairs of access-manners checked: {}, known before: {}, executions cleared: {}; {:.1} s",
            row.name,
            check.findings.len(),
            check.failures.len(),
            checked.pairs,
            checked.known,
            checked.cleared,
            check.elapsed.as_secs_f64()
        );
    }
    println!("\nTable 18: graphs\n");
    println!(
        "{:<10} {:>22} {:>14} {:>24} {:>12}",
        "program", "variant graph: nodes", "bytes", "dependency graph: nodes", "bytes"
    );
    let in_thesis = |nodes: Option<u64>| nodes.map_or("infinite".to_string(), |nodes| nodes.to_string());
    for row in &rows {
        println!(
            "{:<10} {:>22} {:>14} {:>24} {:>12}",
            row.name,
            format!("{} ({})", row.reach.nodes, in_thesis(row.paper.variant_nodes)),
            row.reach.bytes,
            format!("{} ({})", row.total.graphs.nodes(), in_thesis(row.paper.graph_nodes)),
            row.total.graphs.bytes()
        );
    }
    restarts(&rows, args.gap);
    demands(&rows);
    Ok(())
}

/// What checkpoints save (§7.6.4).
fn restarts(rows: &[Row], gap: u64) {
    println!("\nCheckpoints every {gap} steps: steps that had to be made\n");
    println!(
        "{:<10} {:>12} {:>12} {:>12} {:>10} {:>10} {:>10} {:>10}",
        "program", "executions", "without", "with", "restarts", "copies", "s without", "s with"
    );
    for row in rows {
        let [with, without] = &row.checkpoints;
        println!(
            "{:<10} {:>12} {:>12} {:>12} {:>10} {:>10} {:>10.3} {:>10.3}",
            row.name,
            with.check.executions,
            without.check.steps,
            with.check.steps - with.spared.steps,
            with.spared.executions,
            with.spared.copies,
            without.check.elapsed.as_secs_f64(),
            with.check.elapsed.as_secs_f64()
        );
    }
}

fn row(name: &'static str, folder: &Path, args: &TotalArgs) -> Result<Row> {
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("../subjects/total").join(name);
    let subject: Subject = toml::from_str(&std::fs::read_to_string(home.join("subject.toml"))?)?;
    let program = resolve(&home.join(name).with_extension("c"), &[], folder)?;
    let options = Options {
        executions: args.most,
        time: Some(Duration::from_secs(args.seconds)),
        ..Options::default()
    };
    let total = verify(&program, &options, &|_| {}, &Arc::default())?;
    let with_gap = |checkpoint_gap| {
        verify(&program, &Options { checkpoint_gap, ..options.clone() }, &|_| {}, &Arc::default())
    };
    let checkpoints = [with_gap(Some(args.gap))?, with_gap(None)?];
    let tpair = Baseline::of(&program, "tpair", args)?;
    let reach = Baseline::of(&program, "reach", args)?;
    let orders = total.graphs.run.as_ref().map_or(0, |run| pair_orders(&run.events));
    Ok(Row { name, paper: subject.paper, total, tpair, orders, reach, checkpoints })
}

/// What must come out.
fn demands(rows: &[Row]) {
    println!();
    for row in rows {
        let cases = row.total.test_cases;
        let demand = |what: String, met: bool| {
            println!("{:<10} {what}: {}", row.name, if met { "met" } else { "NOT MET" });
        };
        match row.name {
            "pool" => {
                demand(format!("2 test cases ({cases})"), cases == 2);
                demand("the race is found".to_string(), !row.total.check.findings.is_empty());
                demand(format!("reach takes more than 100 ({})", row.reach.words()), row.reach.cases > 100);
                let (large, small) = (row.reach.nodes, row.total.graphs.nodes() as u64);
                demand(
                    format!("the graph is 100 times smaller ({large} and {small} nodes)"),
                    large >= 100 * small,
                );
            }
            "client" => demand(format!("1 test case ({cases})"), cases == 1),
            "ping" | "crawler" => {
                demand(format!("at most 4 test cases ({cases})"), cases <= 4 && row.total.exhausted);
            }
            _ => demand(
                format!("1,000 times fewer than tpair ({cases} and {} orders of pairs)", row.orders),
                row.orders >= 1000 * u128::from(cases),
            ),
        }
    }
}
