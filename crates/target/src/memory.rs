//! The shared memory, from the driver's side.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd as _};
use std::sync::atomic::{AtomicU32, Ordering};

use memmap2::MmapRaw;
use threadbare_wire::{Area, Control, FileChange, Layout, MAGIC, Order, Slot};

use crate::files::put_back;

/// What areas begin at multiples of.
const PAGE: usize = 4096;

/// An anonymous file in memory, closed when a program is started.
pub(crate) fn memory_file(name: &std::ffi::CStr) -> io::Result<File> {
    // SAFETY: the name is a C string, and the result is checked before it is owned.
    unsafe {
        let descriptor = libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC);
        if descriptor < 0 { Err(io::Error::last_os_error()) } else { Ok(File::from_raw_fd(descriptor)) }
    }
}

/// One shared memory with its control block and areas.
///
/// The other side is a process that writes at will while a request is under way. Between
/// requests nobody else writes, and only then are references handed out.
pub(crate) struct Memory {
    file: File,
    map: MmapRaw,
    layout: Layout,
    /// Somebody else sees to the files that were changed; otherwise they are put back when this is dropped.
    pub leaves_files: bool,
}

impl Drop for Memory {
    fn drop(&mut self) {
        if !self.leaves_files {
            put_back(&self.file_changes(0));
        }
    }
}

impl Memory {
    /// A fresh memory for executions of up to `steps` visible steps, of which so many events are kept.
    pub fn new(steps: u64, most_events: u64) -> io::Result<Memory> {
        let layout = Layout::for_steps(steps, most_events);
        let file = memory_file(c"threadbare")?;
        file.set_len(layout.bytes)?;
        let map = MmapRaw::map_raw(&file)?;
        let mut memory = Memory { file, map, layout, leaves_files: false };
        let control = memory.control_mut();
        control.magic = MAGIC;
        control.layout = layout;
        Ok(memory)
    }

    /// The file, for the program to inherit.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Where the areas lie. Ours rather than the shared copy: the program could have damaged that.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// What was in files before they were changed, from this byte of the records on.
    pub fn file_changes(&self, from: u64) -> Vec<FileChange> {
        let area = self.layout.file_changes;
        let end = self.control().file_changes.min(area.capacity);
        let rest = Area { offset: area.offset + from.min(end), capacity: area.capacity - from.min(end) };
        // SAFETY: the area holds bytes.
        FileChange::decode_all(&unsafe { self.records::<u8>(rest, end - from.min(end)) })
    }

    /// The control block, while no request is under way.
    pub fn control(&self) -> &Control {
        // SAFETY: the map is page-aligned and larger than a control block, all of whose fields
        // are plain numbers, valid for any content; nobody writes between requests.
        unsafe { &*self.map.as_ptr().cast::<Control>() }
    }

    /// The control block for writing, while no request is under way.
    pub fn control_mut(&mut self) -> &mut Control {
        // SAFETY: as for `control`, and `&mut self` keeps other references of ours away.
        unsafe { &mut *self.map.as_mut_ptr().cast::<Control>() }
    }

    /// How far the copy has got (the repetition and its steps), and which process it is, while a request is under way.
    pub fn progress(&self) -> ((u64, u64), i32) {
        let control = self.map.as_ptr().cast::<Control>();
        // SAFETY: all fields lie within the map; volatile, since another process writes them.
        unsafe {
            let begun = (&raw const (*control).repetition.begun).read_volatile();
            let steps = (&raw const (*control).steps).read_volatile();
            ((begun, steps), (&raw const (*control).child).read_volatile())
        }
    }

    /// Gives a stopped copy of the program an order, and wakes it.
    ///
    /// Returns `false` if there is no slot with this number.
    pub fn give_order(&mut self, slot: u32, order: Order, heir: u32) -> bool {
        let area = self.layout.slots;
        if u64::from(slot) >= area.capacity {
            return false;
        }
        // SAFETY: the slot lies within the map; the word is used as an atomic by both sides, and the
        // copy reads the rest only after it has seen the word change.
        unsafe {
            let place = self.map.as_mut_ptr().add(area.offset as usize).cast::<Slot>().add(slot as usize);
            (&raw mut (*place).heir).write_volatile(heir);
            let word = AtomicU32::from_ptr(&raw mut (*place).order);
            word.store(order as u32, Ordering::Release);
            libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, 1);
        }
        true
    }

    /// The same as `records`, piece by piece where there are very many, and gives the memory of each piece back: a long execution need not be there
    /// twice. Only the first `kept` of the area are still there afterwards.
    ///
    /// # Safety
    /// As for `records`.
    pub unsafe fn take_records<T: Copy>(&self, area: Area, count: u64, kept: u64) -> Vec<T> {
        /// Whole pages of any record.
        const PIECE: usize = 4 << 20;
        /// To have the system clear memory again costs as much as to copy it, so it has to be worth it.
        const MANY: usize = 64 << 20;
        let count = count.min(area.capacity) as usize;
        if count * size_of::<T>() <= MANY {
            // SAFETY: as the caller vouches.
            return unsafe { self.records(area, count as u64) };
        }
        let kept = (kept as usize * size_of::<T>()).next_multiple_of(PAGE);
        let mut all = Vec::with_capacity(count);
        for begin in (0..count).step_by(PIECE / size_of::<T>()) {
            let end = count.min(begin + PIECE / size_of::<T>());
            let offset = area.offset as usize + begin * size_of::<T>();
            // SAFETY: the layout keeps all records of an area within the map, and areas start at page boundaries; the caller vouches for the
            // type. What is given back lies within the area, and reads as zeros from then on; nobody writes between requests.
            unsafe {
                let start = self.map.as_ptr().add(offset).cast::<T>();
                all.extend_from_slice(std::slice::from_raw_parts(start, end - begin));
                let from = (begin * size_of::<T>()).max(kept);
                let whole = (end * size_of::<T>()).saturating_sub(from) / PAGE * PAGE;
                let place = self.map.as_mut_ptr().add(area.offset as usize + from);
                libc::madvise(place.cast(), whole, libc::MADV_REMOVE);
            }
        }
        all
    }

    /// Copies the first `count` records out of an area, or as many as it can hold.
    ///
    /// # Safety
    /// `T` must be the area's record type, valid for any content.
    pub unsafe fn records<T: Copy>(&self, area: Area, count: u64) -> Vec<T> {
        let count = count.min(area.capacity) as usize;
        // SAFETY: the layout keeps all records of an area within the map, and areas start at
        // page boundaries; the caller vouches for the type.
        unsafe {
            let start = self.map.as_ptr().add(area.offset as usize).cast::<T>();
            std::slice::from_raw_parts(start, count).to_vec()
        }
    }

    /// Writes records into an area from `index` on; `false` if they do not all fit.
    ///
    /// # Safety
    /// `T` must be no larger than the area's record type.
    pub unsafe fn write<T: Copy>(&mut self, area: Area, index: u64, records: &[T]) -> bool {
        if index.saturating_add(records.len() as u64) > area.capacity {
            return false;
        }
        // SAFETY: the range was checked against the capacity, which the layout keeps in the map.
        unsafe {
            let start = self.map.as_mut_ptr().add(area.offset as usize).cast::<T>();
            std::ptr::copy_nonoverlapping(records.as_ptr(), start.add(index as usize), records.len());
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadbare_wire::LearnedRecord;

    #[test]
    fn records_come_back_as_written_and_never_beyond_the_area() {
        let mut memory = Memory::new(10, u64::MAX).unwrap();
        let area = memory.layout().learned;
        let records: Vec<LearnedRecord> = (0..5).map(|n| LearnedRecord { site: n, place: n * 8 }).collect();
        // SAFETY: the learned area holds `LearnedRecord`s.
        unsafe {
            assert!(memory.write(area, 3, &records));
            assert_eq!(memory.records::<LearnedRecord>(area, 8)[3..], records);
            assert!(!memory.write(area, area.capacity - 1, &records));
            assert_eq!(memory.records::<LearnedRecord>(area, u64::MAX).len() as u64, area.capacity);
        }
        assert_eq!(memory.control().magic, MAGIC);
    }
}
