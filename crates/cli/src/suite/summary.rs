//! What a person reads at the end of a suite.

use threadbare_report::{FailureReport, suite_table};

use super::Results;
use super::account::Account;
use super::work::Suite;
use crate::output::{self, counted};

/// A line for each finding, failure and input that could not be run, and one for what it all came to.
fn headlines(suite: &Suite, results: &Results, account: &Account) -> String {
    let mut text = account.findings.headlines();
    account.failures.iter().for_each(|failure| text.push_str(&failure_line(failure)));
    text.push_str(&troubles(suite, results));
    text.push_str(&summary(suite, account));
    text
}

/// Findings, failures, the table of inputs, and what it all came to.
pub fn text(suite: &Suite, results: &Results, account: &Account) -> String {
    let args = &suite.args;
    if args.quiet {
        return headlines(suite, results, account);
    }
    let mut text = account.findings.numbered_list(args.verbose, "--verbose");
    if account.findings.lack_lines() {
        text.push_str("No source line is known: compile with `-g`, and do not strip the program.\n\n");
    }
    account.failures.iter().for_each(|failure| text.push_str(&failure_text(failure)));
    if let Some(report) = account.report.suite.as_ref() {
        text.push_str(&suite_table(report));
        text.push('\n');
    }
    text.push_str(&coverage(suite, results, account));
    if args.uncovered {
        text.push_str(&account.uncovered.lines());
    }
    text.push_str(&troubles(suite, results));
    text.push_str(&hindrances(suite, results));
    text.push_str(&what_was_done(suite, results));
    text.push_str(&summary(suite, account));
    text
}

fn troubles(suite: &Suite, results: &Results) -> String {
    let line =
        |(input, why): (&usize, &String)| format!("Input `{}` could not be run: {why}\n", suite.name(*input));
    results.troubles.iter().map(line).collect()
}

fn summary(suite: &Suite, account: &Account) -> String {
    let silenced = match account.findings.silenced {
        0 => String::new(),
        silenced => format!(", {silenced} silenced"),
    };
    format!(
        "{}{silenced} and {} in {}: {}, {:.2} s.\n",
        counted(account.findings.len(), "finding"),
        counted(account.failures.len(), "failure"),
        account.report.program,
        counted(suite.ids.len(), "input"),
        account.report.elapsed_s
    )
}

fn failure_line(failure: &FailureReport) -> String {
    let site = failure.site.as_ref().map_or_else(String::new, |site| format!(" at {site}"));
    let plural = if failure.inputs.len() == 1 { "" } else { "s" };
    format!("Failure: {}{site} (input{plural} {})\n", failure.kind, failure.inputs.join(", "))
}

fn failure_text(failure: &FailureReport) -> String {
    let mut text = failure_line(failure);
    for line in failure.message.lines() {
        text.push_str(&format!("   {line}\n"));
    }
    if let Some(cause) = &failure.cause {
        text.push_str(&format!("   Cause: {cause}.\n"));
    }
    if let Some(schedule) = &failure.schedule {
        text.push_str(&format!("   {}\n", output::replay_command(schedule.as_ref())));
    }
    text.push('\n');
    text
}

/// The coverage, and what need not be looked at.
fn coverage(suite: &Suite, results: &Results, account: &Account) -> String {
    let Some(report) = &account.report.suite else { return String::new() };
    let pairs = report.cfp.aggregated;
    let counted_pairs = counted(pairs as usize, "pair");
    let mut text = format!("CFP: {counted_pairs} of functions can run at the same time");
    let selected = results.selected.len();
    text.push_str(&match selected {
        0 => ".\n".to_string(),
        1 => "; one input shows them all.\n".to_string(),
        _ => format!("; {selected} inputs together show them all.\n"),
    });
    if let left @ 1.. = account.uncovered.len() {
        let left = counted(left, "more pair");
        let hint = if suite.args.uncovered { "" } else { "; --uncovered lists them" };
        text.push_str(&format!("Of these functions no input shows {left}{hint}.\n"));
    }
    if !suite.args.full && selected > 0 {
        let executed: u64 = report.inputs.iter().map(|it| it.functions_executed).sum();
        let looked_at: u64 = report.inputs.iter().map(|it| it.functions_selected).sum();
        let verb = if results.guided.len() < selected { "Chose" } else { "Looked at" };
        text.push_str(&format!(
            "{verb} {} of {} and {looked_at} of {} in them; the rest shows no further pair.\n",
            selected,
            counted(suite.ids.len(), "input"),
            counted(executed as usize, "function")
        ));
    }
    text
}

/// What kept detection from being guided.
fn hindrances(suite: &Suite, results: &Results) -> String {
    let unguided = results.guided.iter().filter(|(_, record)| record.unguided);
    let names: Vec<&str> = unguided.map(|(input, _)| suite.name(*input)).collect();
    if names.is_empty() {
        return String::new();
    }
    format!(
        "All functions were examined under {}: the program waits there for memory to change, without \
         synchronization.\n",
        names.join(", ")
    )
}

/// What was done now, and what was known from before.
fn what_was_done(suite: &Suite, results: &Results) -> String {
    if suite.is_stopped() {
        return "It was interrupted; what is done is kept, and the same command continues from there.\n"
            .into();
    }
    let [measured, detected, driven] = results.made;
    if measured + detected + driven == 0 && results.troubles.is_empty() {
        return "Nothing has changed, so nothing was run: all of this is from before.\n".into();
    }
    let [known, known_detected, _] = results.known;
    if known + known_detected == 0 {
        return String::new();
    }
    format!(
        "Measured {} ({known} from before), and looked for findings under {} ({known_detected} from before).\n",
        counted(measured, "input"),
        counted(detected, "input")
    )
}
