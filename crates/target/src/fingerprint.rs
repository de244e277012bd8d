//! Short names for contents.

use std::fmt::Write as _;
use std::fs::File;
use std::io;
use std::path::Path;

use sha2::{Digest as _, Sha256};

/// A short hash of an executable's content, by which a schedule file knows its program again.
pub fn fingerprint(executable: &Path) -> io::Result<String> {
    let mut file = File::open(executable)?;
    let mut hash = Sha256::new();
    let mut block = vec![0; 1 << 16];
    loop {
        match io::Read::read(&mut file, &mut block)? {
            0 => return Ok(short_hex(&hash.finalize(), 8)),
            count => hash.update(&block[..count]),
        }
    }
}

/// A short hash of several contents; what belongs to which of them counts.
pub fn fingerprint_of<'a>(contents: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hash = Sha256::new();
    for content in contents {
        hash.update((content.len() as u64).to_le_bytes());
        hash.update(content);
    }
    short_hex(&hash.finalize(), 8)
}

/// The first bytes of a hash, in hexadecimal.
pub(crate) fn short_hex(hash: &[u8], bytes: usize) -> String {
    hash.iter().take(bytes).fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_that_are_split_otherwise_have_another_fingerprint() {
        let of = |contents: &[&str]| fingerprint_of(contents.iter().map(|content| content.as_bytes()));
        assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
        assert_eq!(of(&["ab", "c"]), of(&["ab", "c"]));
    }

    #[test]
    fn a_fingerprint_is_the_start_of_the_sha_256() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("abc");
        std::fs::write(&file, "abc").unwrap();
        assert_eq!(fingerprint(&file).unwrap(), "ba7816bf8f01cfea");
    }
}
