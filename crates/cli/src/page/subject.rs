//! What a campaign is about.

use std::path::Path;

use threadbare_report::Subject;

use crate::args::HuntArgs;
use crate::artifacts;

/// The program of a command, with what it is given.
pub fn subject(args: &HuntArgs) -> Subject {
    let input = args.stdin.iter().map(|path| format!("< {}", quoted(&path.display().to_string())));
    let given: Vec<String> = args.args.iter().map(|word| quoted(word)).chain(input).collect();
    Subject {
        name: artifacts::file_stem(&args.program),
        program: absolute(&args.program),
        given: given.join(" "),
    }
}

/// A suite, whose inputs are in its file; records are called after its program.
pub fn suite_subject(file: &Path, program: &str) -> Subject {
    Subject { name: artifacts::file_stem(Path::new(program)), program: absolute(file), given: String::new() }
}

fn absolute(path: &Path) -> String {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf()).display().to_string()
}

/// A word as it can be typed.
pub fn quoted(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| word.to_string(), |quoted| quoted.into_owned())
}
