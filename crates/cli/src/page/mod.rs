//! `threadbare report`, and what `--html` writes: a campaign as one page.

mod args;
mod gather;
mod graphs;
mod keep;
mod subject;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub use self::args::{REPORT_AFTER, ReportArgs};
pub use self::graphs::graph_cards;
pub use self::keep::{command_line, failure_files, keep};
pub use self::subject::{subject, suite_subject};
use crate::error::CliError;
use crate::output;

/// What the page is called in its folder where nobody says otherwise.
const PAGE: &str = "report.html";

/// Writes the page of a campaign's folder; returns the exit status.
pub fn run(args: &ReportArgs) -> Result<u8, CliError> {
    let path = args.output.clone().unwrap_or_else(|| args.folder.join(PAGE));
    let gathered = gather::folder(&args.folder)?;
    output::check_target(&path)?;
    let html = gathered.to_html();
    output::write_whole(&path, html.as_bytes())?;
    let campaigns = output::counted(gathered.campaigns.len(), "campaign");
    output::print(&format!("{campaigns} in {} ({} kB)\n", path.display(), html.len().div_ceil(1000)))?;
    if args.open {
        open(&path);
    }
    match gathered.problems.is_empty() {
        true => Ok(crate::NOTHING),
        false => Err(CliError::CampaignNotWhole {
            path: args.folder.clone(),
            problems: gathered.problems.join("; "),
            page: path,
        }),
    }
}

/// Writes the page of one campaign whose record was just kept in a folder.
fn write(record: &threadbare_report::CampaignRecord, folder: &Path, html: &Path) -> Result<(), CliError> {
    let gathered = gather::one(record, folder);
    gathered.problems.iter().for_each(|problem| output::say(&format!("warning: {problem}")));
    output::write_whole(html, gathered.to_html().as_bytes())
}

/// Shows a page in the user's browser.
fn open(path: &Path) {
    let path = std::path::absolute(path).unwrap_or_else(|_| PathBuf::from(path));
    let opener = std::env::var_os("BROWSER").unwrap_or_else(|| "xdg-open".into());
    let mut command = Command::new(&opener);
    command.arg(&path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Err(error) = command.spawn() {
        output::say(&format!(
            "warning: `{}` could not be started ({error}); open {} yourself",
            opener.to_string_lossy(),
            path.display()
        ));
    }
}
