//! `threadbare report`, and what `--html` writes: a campaign as one page.

mod args;
mod campaign_record;
mod gather;
mod graphs;
mod subject;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub use self::args::{REPORT_AFTER, ReportArgs};
pub use self::campaign_record::{command_line, failure_files, save_record};
pub use self::graphs::graph_cards;
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

/// How long a browser is watched: one that cannot show anything gives up at once.
const WATCHED: Duration = Duration::from_secs(2);
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// Shows a page in the user's browser, or says where it is.
fn open(path: &Path) {
    let path = std::path::absolute(path).unwrap_or_else(|_| PathBuf::from(path));
    let opener = std::env::var_os("BROWSER").unwrap_or_else(|| "xdg-open".into());
    let mut command = Command::new(&opener);
    command.arg(&path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let problem = match command.spawn() {
        Ok(browser) => failure(browser),
        Err(error) => Some(format!("could not be started ({error})")),
    };
    if let Some(problem) = problem {
        output::say(&format!(
            "warning: `{}` {problem}; open {} yourself, or name a browser in BROWSER",
            opener.to_string_lossy(),
            path.display()
        ));
    }
}

/// What went wrong with a browser; none if it ended well, or still runs.
fn failure(mut browser: Child) -> Option<String> {
    let begin = Instant::now();
    while begin.elapsed() < WATCHED {
        match browser.try_wait() {
            Ok(Some(status)) if status.success() => return None,
            Ok(Some(status)) => return Some(format!("shows nothing ({status})")),
            Ok(None) => std::thread::sleep(BETWEEN_LOOKS),
            Err(error) => return Some(format!("cannot be waited for ({error})")),
        }
    }
    None
}
