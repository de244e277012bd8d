//! Response files: `@file` is replaced by the arguments in the file.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

/// Files may name files; a cycle must end.
const MAX_DEPTH: usize = 16;

/// The arguments with every readable response file replaced by its content.
pub(super) fn expand(words: &[OsString]) -> Vec<OsString> {
    let mut expanded = Vec::with_capacity(words.len());
    expand_into(words, 0, &mut expanded);
    expanded
}

fn expand_into(words: &[OsString], depth: usize, expanded: &mut Vec<OsString>) {
    for word in words {
        let content = word
            .as_bytes()
            .strip_prefix(b"@")
            .filter(|_| depth < MAX_DEPTH)
            .and_then(|name| fs::read(OsString::from_vec(name.to_vec())).ok());
        match content {
            Some(content) => expand_into(&split(&content), depth + 1, expanded),
            // Compilers take an unreadable one for a file of that name.
            None => expanded.push(word.clone()),
        }
    }
}

/// Splits as GCC and Clang do: at white space, with quotes and backslashes.
fn split(content: &[u8]) -> Vec<OsString> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quote = None;
    let mut bytes = content.iter().copied();
    while let Some(byte) = bytes.next() {
        match (byte, quote) {
            (b'\\', _) => word.get_or_insert_default().extend(bytes.next()),
            (_, Some(open)) if byte == open => quote = None,
            (_, Some(_)) => word.get_or_insert_default().push(byte),
            (b'"' | b'\'', None) => {
                quote = Some(byte);
                word.get_or_insert_default();
            }
            _ if byte.is_ascii_whitespace() => words.extend(word.take().map(OsString::from_vec)),
            _ => word.get_or_insert_default().push(byte),
        }
    }
    words.extend(word.map(OsString::from_vec));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_compilers_do() {
        let words = split(b"-DX='a b' \"c d.o\"\n-I\\ x\t'' e\\\"f");
        assert_eq!(words, ["-DX=a b", "c d.o", "-I x", "", "e\"f"]);
    }

    #[test]
    fn nested_and_circular_files_end() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| format!("@{}", folder.path().join(name).display());
        fs::write(folder.path().join("outer"), format!("a.o {} -lm", at("inner"))).unwrap();
        fs::write(folder.path().join("inner"), "b.o").unwrap();
        fs::write(folder.path().join("cycle"), at("cycle")).unwrap();
        let expand_one = |name: &str| expand(&[OsString::from(at(name))]);
        assert_eq!(expand_one("outer"), ["a.o", "b.o", "-lm"]);
        assert_eq!(expand_one("cycle").len(), 1);
        assert_eq!(expand_one("missing"), [OsString::from(at("missing"))]);
    }
}
