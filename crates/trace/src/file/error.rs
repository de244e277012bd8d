//! Why a file could not be read, and how far it could.

use std::fmt;

use super::TraceFile;

/// Why a file is not a whole trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceError {
    /// The byte at which reading stopped; everything before it is in `partial`.
    pub offset: u64,
    /// What is wrong there.
    pub kind: TraceErrorKind,
    /// Everything before it.
    pub partial: Box<TraceFile>,
}

/// What is wrong with a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TraceErrorKind {
    /// It does not begin as a trace does.
    Foreign,
    /// It was written by a version this one does not know.
    Version(String),
    /// It ends in the middle.
    Truncated,
    /// A record makes no sense; the words say which and why.
    Record(&'static str),
    /// Every record makes sense, but some byte is not what was written.
    Checksum,
    /// Something follows the last record.
    Trailing,
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let offset = self.offset;
        match &self.kind {
            TraceErrorKind::Foreign => write!(f, "byte {offset}: this is not a threadbare trace"),
            TraceErrorKind::Version(version) => write!(
                f,
                "byte {offset}: trace version `{version}` is not known to this threadbare (it reads version {})",
                super::VERSION
            ),
            TraceErrorKind::Truncated => {
                write!(f, "byte {offset}: the file was cut short in the record that begins here")
            }
            TraceErrorKind::Record(what) => write!(f, "byte {offset}: the file is damaged: {what}"),
            TraceErrorKind::Checksum => {
                write!(f, "byte {offset}: the file is damaged: its content does not match its checksum")
            }
            TraceErrorKind::Trailing => write!(f, "byte {offset}: something follows the end of the trace"),
        }
    }
}

impl std::error::Error for TraceError {}
