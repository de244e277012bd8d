//! How large the frames of functions are that keep no frame pointer, from the tables for unwinding.

use std::collections::BTreeMap;

use addr2line::gimli::{self, BaseAddresses, CfaRule, EhFrame, UnwindContext, UnwindSection as _};
use object::elf::FileHeader64;
use object::read::elf::ElfFile;
use object::{Endianness, Object as _, ObjectSection as _};

use super::reading::Slice;

const RSP: gimli::Register = gimli::Register(7);

/// The distance from the stack pointer to the caller's frame, by where a function's code begins.
#[derive(Default)]
pub(super) struct FrameSizes(BTreeMap<u64, i64>);

impl FrameSizes {
    /// Reads a file's tables; what is damaged or missing is left out.
    pub(super) fn read(elf: &ElfFile<'_, FileHeader64<Endianness>>) -> FrameSizes {
        let mut sizes = FrameSizes::default();
        if let Some(section) = elf.section_by_name(".eh_frame")
            && let Ok(data) = section.data()
        {
            let frames = EhFrame::from(Slice::new(data, gimli::RunTimeEndian::Little));
            let bases = BaseAddresses::default().set_eh_frame(section.address());
            let _ = sizes.read_frames(&frames, &bases);
        }
        sizes
    }

    fn read_frames(&mut self, frames: &EhFrame<Slice<'_>>, bases: &BaseAddresses) -> gimli::Result<()> {
        let mut context = UnwindContext::new();
        let mut entries = frames.entries(bases);
        while let Some(entry) = entries.next()? {
            let gimli::CieOrFde::Fde(partial) = entry else { continue };
            let function = partial.parse(EhFrame::cie_from_offset)?;
            let mut rows = function.rows(frames, bases, &mut context)?;
            let mut largest = None;
            while let Some(row) = rows.next_row()? {
                if let CfaRule::RegisterAndOffset { register: RSP, offset } = row.cfa() {
                    largest = largest.max(Some(*offset));
                }
            }
            if let Some(size) = largest {
                self.0.insert(function.initial_address(), size);
            }
        }
        Ok(())
    }

    /// The size of the frame of the function that begins here, once it is set up.
    pub(super) fn of(&self, function: u64) -> Option<i64> {
        self.0.get(&function).copied()
    }
}
