//! Names that are part of the rows.
//!
//! A row with a pointer to its name would have to be relocated when the runtime is loaded. Then its page is the process's own, and each
//! execution, which is a fork, pays for a copy. Without pointers the table is read from the file's pages, which all processes share.

const MOST_BYTES: usize = 63;

/// A name of a function.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Name {
    len: u8,
    bytes: [u8; MOST_BYTES],
}

impl Name {
    /// Names are given in constants: one that is too long does not build.
    pub(crate) const fn new(text: &str) -> Name {
        let mut bytes = [0; MOST_BYTES];
        let (start, _) = bytes.split_at_mut(text.len());
        start.copy_from_slice(text.as_bytes());
        Name { len: text.len() as u8, bytes }
    }

    pub(crate) const fn as_bytes(&self) -> &[u8] {
        self.bytes.split_at(self.len as usize).0
    }

    pub(crate) const fn as_str(&self) -> &str {
        match str::from_utf8(self.as_bytes()) {
            Ok(text) => text,
            Err(_) => panic!("it was made of a text"),
        }
    }
}

impl core::fmt::Debug for Name {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        core::fmt::Debug::fmt(self.as_str(), f)
    }
}
