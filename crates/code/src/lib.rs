//! What an executable's machine code says: its functions, whom they call, and how control flows in them.
//!
//! It is read from the file, not from a process, so all addresses are those of the file. Nothing here knows how programs are
//! run. What cannot be known (a jump through a table, a call through a pointer) is said to be unknown, and whoever asks errs on the
//! safe side.

mod announced;
mod basic_blocks;
mod callers;
mod dead_registers;
mod flows;
mod function;
mod hidden_inputs;
mod image;
mod isa;
mod unavoidable_blocks;

use std::path::Path;

pub use announced::Announcement;
pub use basic_blocks::BasicBlock;
pub use callers::Inheritance;
pub use dead_registers::DeadRegisters;
pub use flows::{Fate, Flows};
pub use function::{Call, Callee, CodeFunction};
pub use hidden_inputs::HiddenInput;

use image::{Image, Refusal};

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum CodeError {
    /// The file could not be read.
    #[error("cannot read {path}: {cause}")]
    Unreadable {
        /// The file.
        path: String,
        /// Why.
        cause: std::io::Error,
    },
    /// The file is no executable that we know.
    #[error("cannot read the code of {path}: {cause}; threadbare reads ELF files for x86-64")]
    NotElf {
        /// The file.
        path: String,
        /// Why.
        cause: object::Error,
    },
    /// The executable is for a processor that we do not know.
    #[error(
        "cannot read the code of {path}: it is for another processor; threadbare reads ELF files for x86-64"
    )]
    OtherProcessor {
        /// The file.
        path: String,
    },
    /// There are no functions to be seen.
    #[error("{path} does not name its functions; build it without `strip` or `-s`")]
    Stripped {
        /// The file.
        path: String,
    },
}

/// The code of an executable.
pub struct Code {
    /// The functions, by address.
    functions: Vec<CodeFunction>,
    /// The whole file.
    bytes: Vec<u8>,
}

impl std::fmt::Debug for Code {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.debug_struct("Code").field("functions", &self.functions).finish_non_exhaustive()
    }
}

impl Code {
    /// Reads the code of a file.
    pub fn read(path: &Path) -> Result<Code, CodeError> {
        let shown = path.display().to_string();
        let bytes =
            std::fs::read(path).map_err(|cause| CodeError::Unreadable { path: shown.clone(), cause })?;
        let image = Image::parse(&bytes).map_err(|refusal| match refusal {
            Refusal::NotElf(cause) => CodeError::NotElf { path: shown.clone(), cause },
            Refusal::OtherProcessor => CodeError::OtherProcessor { path: shown.clone() },
        })?;
        let functions = function::read_all(&image);
        if functions.is_empty() {
            return Err(CodeError::Stripped { path: shown });
        }
        Ok(Code { functions, bytes })
    }

    /// All functions, by address.
    pub fn functions(&self) -> &[CodeFunction] {
        &self.functions
    }

    /// The function that an address lies in. A part that the compiler put aside belongs to its function.
    pub fn function_at(&self, address: u64) -> Option<&CodeFunction> {
        let after = self.functions.partition_point(|function| function.start <= address);
        let found = self.functions.get(after.checked_sub(1)?).filter(|found| address < found.end)?;
        match found.part_of {
            Some(start) => self.function_from(start),
            None => Some(found),
        }
    }

    /// The function that begins at an address.
    pub fn function_from(&self, start: u64) -> Option<&CodeFunction> {
        let place = self.functions.binary_search_by_key(&start, |function| function.start).ok()?;
        Some(&self.functions[place])
    }
}
