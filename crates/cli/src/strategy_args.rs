//! How strategies and their options are described on the command line: all of it is read from the table of strategies.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use threadbare_explore::strategies::{Group, StrategyOption, TABLE};

/// Where the description of a strategy begins, and where it has to end.
const INDENT: usize = 17;
const WIDTH: usize = 100;

/// The part of help that lists the strategies.
pub fn strategies_help() -> String {
    let mut text = "STRATEGIES".to_string();
    for group in Group::ALL {
        if let Some(heading) = group.heading() {
            text.push_str(&format!("\n\n  {heading}:"));
        }
        for row in TABLE.iter().filter(|row| row.group == group) {
            let options: Vec<String> =
                row.reads.iter().map(|option| format!("--{}", option.name())).collect();
            let options =
                if options.is_empty() { String::new() } else { format!(" ({})", options.join(", ")) };
            text.push_str(&format!("\n{}", hanging(row.name, &format!("{}{options}", row.help))));
        }
    }
    text
}

/// A name with its description beside it, in as many lines as it takes.
fn hanging(name: &str, description: &str) -> String {
    let mut text = format!("  {name:<width$}", width = INDENT - 2);
    let mut column = INDENT;
    for word in description.split(' ') {
        let wanted = word.chars().count() + usize::from(column > INDENT);
        if column + wanted > WIDTH {
            text.push_str(&format!("\n{:INDENT$}", ""));
            column = INDENT;
        }
        if column > INDENT {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += word.chars().count();
    }
    text
}

/// The help of an option that only some strategies read.
pub fn option_help(option: StrategyOption) -> String {
    format!("{}: {}", option.readers().join(", "), option.help())
}

/// What clap knows such an option by.
pub fn option_id(option: StrategyOption) -> String {
    option.name().split('-').collect::<Vec<_>>().join("_")
}

/// A strategy's name as an argument: shells complete it. One that does not exist is refused later, with the same sentence
/// wherever it comes from.
#[derive(Clone)]
pub struct StrategyName;

impl TypedValueParser for StrategyName {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(TABLE.iter().map(|row| PossibleValue::new(row.name).help(row.help))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_wider_than_help_is() {
        let help = strategies_help();
        assert!(help.lines().all(|line| line.chars().count() <= WIDTH), "{help}");
        let one_line = |it: &&threadbare_explore::strategies::Row| it.help.chars().count() > WIDTH - INDENT;
        assert_eq!(TABLE.iter().find(one_line).map(|row| row.name), None, "one line of help each");
    }
}
