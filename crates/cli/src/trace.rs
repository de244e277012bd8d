//! `threadbare trace`: trace files, without the program they came from.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use threadbare_explore::pointed_out;
use threadbare_report::{Interleaving, RecordedNames, interleaving, write_perfetto, write_trace_json};
use threadbare_trace::{StdExport, TraceError, TraceErrorKind, TraceFile};

use crate::error::CliError;
use crate::output;

const AFTER: &str = "\
A trace file is left beside each schedule by `hunt`, and written by `replay --trace`. It carries all \
names, so neither the program nor its source is needed.

EXIT STATUS
  0  all of the file was shown or written
  2  the file could not be read, or not to its end; what could be read is shown or written";

/// Options of `trace`.
#[derive(Args, Debug)]
#[command(after_long_help = AFTER)]
pub struct TraceArgs {
    /// What to do with the file.
    #[command(subcommand)]
    command: TraceCommand,
}

#[derive(Subcommand, Debug)]
enum TraceCommand {
    /// Show the interleaving as a table
    #[command(after_long_help = "EXAMPLE\n  threadbare trace show .threadbare/lost_update-1.trace")]
    Show(ShowArgs),
    /// Write the trace in a format that other tools read
    #[command(after_long_help = EXPORT_AFTER)]
    Export(ExportArgs),
}

/// Options of `trace show`.
#[derive(Args, Debug)]
struct ShowArgs {
    /// A trace file
    file: PathBuf,

    /// Show allocations, initialisations and thread starts too
    #[arg(long, short)]
    verbose: bool,

    /// Show every step, however many there are
    #[arg(long)]
    full: bool,
}

const EXPORT_AFTER: &str = "\
FORMATS
  std       RAPID's format, a line for each operation: `T1|r(V3)|12`. With -o, what the numbers mean and what was left out is written to OUT.map.
  perfetto  Chrome's trace-event JSON, for the Perfetto viewer: a track for each thread, spans for locks, arrows for switches and for writes that are read
  json      one JSON object with events, switches, places and names

EXAMPLES
  threadbare trace export --format std -o bank.std .threadbare/bank-1.trace
  threadbare trace export --format perfetto -o bank.json .threadbare/bank-1.trace";

/// Options of `trace export`.
#[derive(Args, Debug)]
struct ExportArgs {
    /// A trace file
    file: PathBuf,

    /// The format to write; `--help` describes them
    #[arg(long, value_name = "FORMAT", value_enum)]
    format: Format,

    /// Where to write it (default: standard output)
    #[arg(long, short = 'o', value_name = "OUT")]
    output: Option<PathBuf>,
}

/// What other tools read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Format {
    /// RAPID's lines.
    #[value(name = "std")]
    Std,
    /// Chrome's trace events.
    Perfetto,
    /// One JSON object.
    Json,
}

/// Shows or writes a trace file; returns the exit status.
pub fn run(args: &TraceArgs) -> Result<u8, CliError> {
    match &args.command {
        TraceCommand::Show(args) => with_trace(&args.file, "shown", |file| show(args, file)),
        TraceCommand::Export(args) => {
            args.output.as_deref().map_or(Ok(()), output::check_target)?;
            with_trace(&args.file, "written", |file| export(args, file))
        }
    }
}

/// Does something with a trace file, or with as much of it as can be read.
fn with_trace(
    path: &Path,
    done: &str,
    act: impl FnOnce(&TraceFile) -> Result<(), CliError>,
) -> Result<u8, CliError> {
    let bytes = std::fs::read(path).map_err(|source| CliError::Read { path: path.to_path_buf(), source })?;
    let problem = match TraceFile::read(&bytes) {
        Ok(file) => return act(&file).map(|()| crate::NOTHING),
        Err(problem) => problem,
    };
    let rest = if usable(&problem) {
        act(&problem.partial)?;
        let events = match problem.partial.events().len() {
            1 => "1 event".to_string(),
            count => format!("{count} events"),
        };
        format!("what comes before it ({events}) was {done}")
    } else {
        "give a `.trace` file that `threadbare hunt` or `replay --trace` wrote".to_string()
    };
    Err(CliError::Trace { path: path.to_path_buf(), problem, rest })
}

/// Whether there is anything before the place where reading stopped.
fn usable(problem: &TraceError) -> bool {
    let recognised = !matches!(problem.kind, TraceErrorKind::Foreign | TraceErrorKind::Version(_));
    recognised && problem.partial.outcome.is_some()
}

fn show(args: &ShowArgs, file: &TraceFile) -> Result<(), CliError> {
    let Some(outcome) = &file.outcome else {
        return output::print("The trace does not say how the run ended.\n");
    };
    let marked = file.shows.as_ref().map_or_else(Vec::new, |shown| pointed_out(shown, file.events()));
    let execution =
        Interleaving { events: file.events(), switches: file.switches(), outcome, marked: &marked };
    let format = output::text_format_for(args.verbose, args.full);
    output::print(&interleaving(&execution, &RecordedNames::new(file), &format))
}

fn export(args: &ExportArgs, file: &TraceFile) -> Result<(), CliError> {
    let mut bytes = Vec::new();
    match args.format {
        Format::Std => {
            let StdExport { trace, map } = StdExport::new(file);
            bytes = trace.into_bytes();
            match &args.output {
                Some(path) => output::write_whole(&beside(path), map.as_bytes())?,
                None => output::say("the map of numbers to names is only written with -o"),
            }
        }
        Format::Perfetto => write_perfetto(file, &mut bytes).map_err(CliError::Stdout)?,
        Format::Json => write_trace_json(file, &mut bytes).map_err(CliError::Stdout)?,
    }
    match &args.output {
        Some(path) => output::write_whole(path, &bytes),
        None => output::print_bytes(&bytes),
    }
}

/// The file next to an STD trace that says what its numbers mean.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(".map");
    PathBuf::from(name)
}
