//! What an executable says about the Rust standard library in it.
//!
//! The stubs come with a note, a section that stays in the executable whoever strips or moves it. So it is known of every
//! executable, whoever runs it later, which functions of its library are one step and must not be claimed to be explored.

use std::fmt::Write as _;

use object::elf::FileHeader64;
use object::read::elf::ElfFile;
use object::{Endianness, Object as _, ObjectSection as _};

const SECTION: &str = ".note.threadbare.std";
const OWNER: &str = "Threadbare";
/// The size of a note's three numbers: of its owner's name, of its content, and its kind.
const HEAD: usize = 12;
const INSTRUMENTED: &str = "instrumented";

/// How the standard library in an executable can be seen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum StdNote {
    /// It was compiled along with the program, with instrumentation.
    Instrumented,
    /// It came compiled.
    Stubbed {
        /// The compiler that it belongs to.
        compiler: String,
        /// What has no stub, as people know it.
        missing: Vec<String>,
    },
}

impl StdNote {
    /// The note as text for the assembler.
    pub(super) fn assembly(&self) -> String {
        let content = match self {
            StdNote::Instrumented => INSTRUMENTED.to_string(),
            StdNote::Stubbed { compiler, missing } => {
                missing.iter().fold(compiler.clone(), |text, name| text + "\n" + name)
            }
        };
        let mut text = format!(
            ".section {SECTION},\"a\",@note\n.balign 4\n.long {}, {}, 1\n.asciz \"{OWNER}\"\n.balign 4\n.byte ",
            OWNER.len() + 1,
            content.len()
        );
        let bytes: Vec<String> = content.bytes().map(|byte| byte.to_string()).collect();
        let _ = write!(text, "{}\n.balign 4\n", bytes.join(","));
        text
    }

    /// The note of an executable, if it has one.
    pub(crate) fn of(elf: &ElfFile<'_, FileHeader64<Endianness>>) -> Option<StdNote> {
        StdNote::read(elf.section_by_name(SECTION)?.data().ok()?)
    }

    fn read(section: &[u8]) -> Option<StdNote> {
        let number = |at: usize| Some(u32::from_le_bytes(section.get(at..at + 4)?.try_into().ok()?) as usize);
        let (name, size) = (number(0)?, number(4)?);
        let begin = HEAD + name.next_multiple_of(4);
        let content = std::str::from_utf8(section.get(begin..begin.checked_add(size)?)?).ok()?;
        if content == INSTRUMENTED {
            return Some(StdNote::Instrumented);
        }
        let mut lines = content.lines().map(String::from);
        Some(StdNote::Stubbed { compiler: lines.next()?, missing: lines.collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_note_is_none() {
        let whole = [11_u32, 3, 1].map(u32::to_le_bytes).concat();
        let whole = [&whole[..], b"Threadbare\0\0", b"a\nb\0"].concat();
        let read = StdNote::Stubbed { compiler: "a".to_string(), missing: vec!["b".to_string()] };
        assert_eq!(StdNote::read(&whole), Some(read));
        for length in 0..whole.len() - 1 {
            assert_eq!(StdNote::read(&whole[..length]), None, "{length} bytes");
        }
    }
}
