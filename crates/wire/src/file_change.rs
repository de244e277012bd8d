//! What an execution changes in files: what was there before, so that it can be put back.
//!
//! The runtime appends a record before each change, and the driver undoes them, the last one first. A record is a head, the path, and
//! what was there, filled up to whole words.

/// What was at a path before it was changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Before {
    /// Nothing.
    Nothing,
    /// A file with this content, and when it was modified last: seconds and nanoseconds.
    File {
        /// The bytes of it.
        content: Vec<u8>,
        /// When it was modified.
        modified: (i64, i64),
    },
    /// A link to another path.
    Link(Vec<u8>),
    /// A folder. What is in it has records of its own.
    Folder,
    /// What is there now was called so.
    Called(Vec<u8>),
    /// Something that cannot be put back.
    Lost,
}

/// A change of what is at a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileChange {
    /// The path, without links on the way.
    pub path: Vec<u8>,
    /// The bits of its permissions.
    pub mode: u32,
    /// What was there.
    pub before: Before,
}

/// How long the head of a record is: kind and mode, the lengths of path and data, and when it was modified.
const HEAD: usize = 40;
const NOTHING: u32 = 1;
const FILE: u32 = 2;
const LINK: u32 = 3;
const FOLDER: u32 = 4;
const CALLED: u32 = 5;
const LOST: u32 = 6;

impl FileChange {
    /// How many bytes a record takes, for a path and data of these lengths.
    pub fn room(path: usize, data: usize) -> usize {
        (HEAD + path + data).next_multiple_of(8)
    }

    /// The record.
    pub fn encode(&self) -> Vec<u8> {
        let none: &[u8] = &[];
        let (kind, data, modified) = match &self.before {
            Before::Nothing => (NOTHING, none, (0, 0)),
            Before::File { content, modified } => (FILE, &content[..], *modified),
            Before::Link(target) => (LINK, &target[..], (0, 0)),
            Before::Folder => (FOLDER, none, (0, 0)),
            Before::Called(name) => (CALLED, &name[..], (0, 0)),
            Before::Lost => (LOST, none, (0, 0)),
        };
        let mut bytes = Vec::with_capacity(FileChange::room(self.path.len(), data.len()));
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(self.mode.to_ne_bytes());
        bytes.extend((self.path.len() as u64).to_ne_bytes());
        bytes.extend((data.len() as u64).to_ne_bytes());
        bytes.extend(modified.0.to_ne_bytes());
        bytes.extend(modified.1.to_ne_bytes());
        bytes.extend(&self.path);
        bytes.extend(data);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes
    }

    /// All records, in the order in which they were written. What is cut short, or damaged, ends them.
    pub fn decode_all(mut bytes: &[u8]) -> Vec<FileChange> {
        let mut changes = Vec::new();
        while let Some((change, rest)) = FileChange::decode(bytes) {
            changes.push(change);
            bytes = rest;
        }
        changes
    }

    fn decode(bytes: &[u8]) -> Option<(FileChange, &[u8])> {
        let word = |at: usize| {
            let word = bytes.get(at..at + 8)?;
            Some(u64::from_ne_bytes(word.try_into().ok()?))
        };
        let (kind, mode) = (word(0)? as u32, (word(0)? >> 32) as u32);
        let (path_bytes, data_bytes) = (usize::try_from(word(8)?).ok()?, usize::try_from(word(16)?).ok()?);
        let modified = (word(24)? as i64, word(32)? as i64);
        let path_end = HEAD.checked_add(path_bytes)?;
        let data_end = path_end.checked_add(data_bytes)?;
        let data = bytes.get(path_end..data_end)?.to_vec();
        let before = match kind {
            NOTHING => Before::Nothing,
            FILE => Before::File { content: data, modified },
            LINK => Before::Link(data),
            FOLDER => Before::Folder,
            CALLED => Before::Called(data),
            LOST => Before::Lost,
            _ => return None,
        };
        let change = FileChange { path: bytes[HEAD..path_end].to_vec(), mode, before };
        Some((change, bytes.get(data_end.checked_next_multiple_of(8)?..)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_back_as_they_were_written() {
        let file = Before::File { content: b"abc".to_vec(), modified: (7, -1) };
        let kinds = [
            Before::Nothing,
            file,
            Before::Link(b"there".to_vec()),
            Before::Folder,
            Before::Called(b"/old".to_vec()),
            Before::Lost,
        ];
        let changes: Vec<FileChange> =
            kinds.map(|before| FileChange { path: b"/a/b".to_vec(), mode: 0o644, before }).to_vec();
        let bytes: Vec<u8> = changes.iter().flat_map(FileChange::encode).collect();
        assert_eq!(FileChange::decode_all(&bytes), changes);
        assert_eq!(FileChange::room(4, 3), changes[1].encode().len());
        let cut = &bytes[..bytes.len() - 8];
        assert_eq!(FileChange::decode_all(cut), changes[..5], "a record that is cut short does not count");
    }
}
