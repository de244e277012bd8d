//! The lines of source that a page shows, cut out of the program's files.

use std::collections::{BTreeMap, BTreeSet};

use super::record::Excerpt;

/// A file up to this length is kept whole.
const SHORT_FILE: usize = 300;
/// Lines that are kept before and after each line that is wanted, in longer ones.
const AROUND: u32 = 12;
/// A longer line is cut.
const LONGEST_LINE: usize = 400;
/// What is kept of all files together, in bytes.
const MOST_BYTES: usize = 300_000;

/// Cuts out the wanted lines of each file with those around them; `read` gives a file's content.
pub fn excerpts(
    wanted: &BTreeMap<String, BTreeSet<u32>>,
    read: impl Fn(&str) -> Option<Vec<u8>>,
) -> BTreeMap<String, Vec<Excerpt>> {
    let mut kept = BTreeMap::new();
    let mut room = MOST_BYTES;
    for (file, lines) in wanted {
        let Some(bytes) = read(file) else { continue };
        let text = String::from_utf8_lossy(&bytes);
        let all: Vec<&str> = text.lines().collect();
        let parts = cut(&all, lines);
        let size: usize = parts.iter().flat_map(|part| &part.lines).map(|line| line.len() + 8).sum();
        if size > room {
            break;
        }
        room -= size;
        if !parts.is_empty() {
            kept.insert(file.clone(), parts);
        }
    }
    kept
}

fn cut(all: &[&str], wanted: &BTreeSet<u32>) -> Vec<Excerpt> {
    let is_near = |number: u32| {
        let around = number.saturating_sub(AROUND)..=number.saturating_add(AROUND);
        all.len() <= SHORT_FILE || wanted.range(around).next().is_some()
    };
    let mut parts: Vec<Excerpt> = Vec::new();
    for (number, line) in (1_u32..).zip(all) {
        if !is_near(number) {
            continue;
        }
        let line = line.chars().take(LONGEST_LINE).collect();
        match parts.last_mut() {
            Some(part) if part.first as usize + part.lines.len() == number as usize => part.lines.push(line),
            _ => parts.push(Excerpt { first: number, lines: vec![line] }),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, lines: &[u32]) -> Vec<Excerpt> {
        let wanted = BTreeMap::from([("a.c".to_string(), lines.iter().copied().collect())]);
        excerpts(&wanted, |_| Some(text.as_bytes().to_vec())).remove("a.c").unwrap_or_default()
    }

    #[test]
    fn a_short_file_is_kept_whole() {
        let parts = of("one\ntwo\nthree\n", &[2]);
        assert_eq!(parts, [Excerpt { first: 1, lines: vec!["one".into(), "two".into(), "three".into()] }]);
    }

    #[test]
    fn of_a_long_file_only_what_is_near_stays_and_neighbours_are_joined() {
        let text: String = (1..=1000).map(|line| format!("line {line}\n")).collect();
        let parts = of(&text, &[100, 110, 900]);
        let bounds: Vec<_> = parts.iter().map(|it| (it.first, it.lines.len())).collect();
        assert_eq!(bounds, [(88, 35), (888, 25)]);
        assert_eq!(parts[1].lines[12], "line 900");
    }

    #[test]
    fn what_is_no_text_does_no_harm() {
        let wanted = BTreeMap::from([("a.c".to_string(), BTreeSet::from([1]))]);
        let parts = excerpts(&wanted, |_| Some(b"int \xff\xfe;\n".to_vec()));
        assert_eq!(parts["a.c"][0].lines, ["int \u{fffd}\u{fffd};"]);
        assert!(excerpts(&wanted, |_| None).is_empty());
    }
}
