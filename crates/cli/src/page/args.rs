//! The options of `report`.

use std::path::PathBuf;

use clap::Args;

/// What `report` says at the end of its help.
pub const REPORT_AFTER: &str = "\
WHAT IS ON THE PAGE
  One file that needs no network and nothing else: interleavings in lanes with their source, the
  minimised schedule beside the one that was found, coverage over executions and time, findings,
  comparisons, suites, and the dependency graphs of `verify`; whatever the folder holds of them.
  `hunt`, `check`, `verify`, `suite` and `compare` leave a record (`*.campaign.json`) in their
  folder for it, the last one of each program, its arguments and strategy; what several strategies
  covered of a program is drawn into the same charts. With --html FILE they write the page themselves, and
  measure coverage for it.

EXIT STATUS
  0  the page was written
  2  the folder holds no campaign, or not all of one; the page has what could be read

EXAMPLES
  threadbare report .threadbare --open
  threadbare report .threadbare -o campaign.html
  threadbare hunt examples/lost_update.c --html lost_update.html";

/// Options of `report`.
#[derive(Args, Debug)]
pub struct ReportArgs {
    /// The folder of a campaign: what --out was, `.threadbare` by default
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,

    /// Where to write the page (default: report.html in the folder)
    #[arg(long, short = 'o', value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Show the page in a browser: the one named by BROWSER, else what xdg-open finds
    #[arg(long)]
    pub open: bool,
}
