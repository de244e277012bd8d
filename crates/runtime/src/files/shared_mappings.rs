//! Memory that copies of the process share: what one execution writes there, the next one would find.

use std::ffi::c_int;
use std::ops::Range;

use super::{LARGEST, close, open, stat_of};
use crate::engine::engine;
use crate::sys;

/// A mapping that all copies of the process share.
struct Mapping {
    range: Range<usize>,
    protection: c_int,
    offset: usize,
    /// The file that is mapped, by device and number, and its path; none for memory that has no name.
    file: Option<((u64, u64), Vec<u8>)>,
    /// The device and number of what is mapped, named or not.
    object: (u64, u64),
    /// What is there, if it may be written.
    content: Option<Vec<u8>>,
}

/// All of them at the snapshot.
pub struct SharedMappings(Vec<Mapping>);

impl SharedMappings {
    /// Those that there are now.
    pub fn look() -> SharedMappings {
        let maps = super::whole(b"/proc/self/maps");
        let own = engine().shared.address();
        let mappings = String::from_utf8_lossy(&maps).lines().filter_map(Mapping::parse).collect::<Vec<_>>();
        let foreign: Vec<Mapping> =
            mappings.into_iter().filter(|mapping| !mapping.range.contains(&own)).collect();
        note_aliases(&foreign);
        engine().world.mapped_files.set(foreign.iter().map(|mapping| mapping.object).collect());
        SharedMappings(foreign.into_iter().map(Mapping::with_content).collect())
    }

    /// Puts back what was there.
    pub fn restore(&self) {
        self.0.iter().for_each(Mapping::restore);
    }

    /// In a copy of the process: where a file was put back as another one, that one is mapped.
    pub fn renew(&self) {
        self.0.iter().for_each(Mapping::renew);
    }
}

/// Notes memory that is mapped several times: who writes to it by one address is not known to be writing to it by another.
fn note_aliases(mappings: &[Mapping]) {
    for (number, one) in mappings.iter().enumerate() {
        let shows_the_same = |other: &Mapping| {
            let (near, far) = (one.part(), other.part());
            one.object == other.object && near.start < far.end && far.start < near.end
        };
        if mappings[number + 1..].iter().any(shows_the_same) {
            let path = one.file.as_ref().map(|(_, path)| String::from_utf8_lossy(path));
            crate::dependences::note_aliases(path.as_deref().unwrap_or("memory without a name"));
        }
    }
}

/// Whether a descriptor leads to a file that was mapped when the first thread was started, so that who writes there changes memory.
pub fn is_mapped(fd: c_int) -> bool {
    let files = engine().world.mapped_files.borrow_mut();
    !files.is_empty() && stat_of(fd).is_some_and(|stat| files.contains(&(stat.st_dev, stat.st_ino)))
}

impl Mapping {
    /// A line of the kernel's list, if the mapping is shared and not a device's.
    fn parse(line: &str) -> Option<Mapping> {
        let mut words = line.split_whitespace();
        let (start, end) = words.next()?.split_once('-')?;
        let number = |text: &str| usize::from_str_radix(text, 16).ok();
        let permissions = words.next()?.as_bytes();
        let offset = number(words.next()?)?;
        let (major, minor) = words.next()?.split_once(':')?;
        let inode: u64 = words.next()?.parse().ok()?;
        let name = words.collect::<Vec<_>>().join(" ");
        if permissions.get(3) != Some(&b's') || (name.starts_with("/dev/") && !is_memory(&name)) {
            return None;
        }
        let allowed = [(b'r', libc::PROT_READ), (b'w', libc::PROT_WRITE), (b'x', libc::PROT_EXEC)];
        let protection = allowed
            .iter()
            .zip(permissions)
            .filter(|((letter, _), given)| letter == *given)
            .fold(0, |all, ((_, bit), _)| all | bit);
        let device = libc::makedev(number(major)? as u32, number(minor)? as u32);
        let is_named = name.starts_with('/') && !name.ends_with(" (deleted)");
        let file = is_named.then(|| ((device, inode), name.into_bytes()));
        let (range, object) = (number(start)?..number(end)?, (device, inode));
        Some(Mapping { range, protection, offset, file, object, content: None })
    }

    /// Which part of what is mapped it shows.
    fn part(&self) -> Range<usize> {
        self.offset..self.offset + self.range.len()
    }

    fn with_content(mut self) -> Mapping {
        const READ_WRITE: c_int = libc::PROT_READ | libc::PROT_WRITE;
        if self.protection & READ_WRITE != READ_WRITE {
            return self;
        }
        if self.range.len() > LARGEST {
            engine().shared.warn(&format!(
                "the program shares {} MiB of memory with other processes, which is too much to be put back after each execution: \
                 what one execution leaves there, the next one finds",
                self.range.len() >> 20
            ));
            return self;
        }
        let mut content = Vec::with_capacity(self.range.len());
        // A mapping may be longer than its file.
        for page in self.range.clone().step_by(PAGE) {
            if crate::signals::guarded_load(page, 1).is_none() {
                break;
            }
            // SAFETY: the page can be read.
            content.extend_from_slice(unsafe { std::slice::from_raw_parts(page as *const u8, PAGE) });
        }
        self.content = Some(content);
        self
    }

    fn restore(&self) {
        for (page, content) in
            self.range.clone().step_by(PAGE).zip(self.content.iter().flat_map(|content| content.chunks(PAGE)))
        {
            if crate::signals::guarded_load(page, 1).is_none() {
                break;
            }
            // SAFETY: the page is there, and the process that serves changes no mapping: it may be written as it could be.
            unsafe {
                let now = std::slice::from_raw_parts_mut(page as *mut u8, content.len());
                if now != content {
                    now.copy_from_slice(content);
                }
            }
        }
    }

    fn renew(&self) {
        let Some((file, path)) = &self.file else { return };
        let writes = self.protection & libc::PROT_WRITE != 0;
        let Some(fd) = open(libc::AT_FDCWD, path, if writes { libc::O_RDWR } else { libc::O_RDONLY }) else {
            return;
        };
        if stat_of(fd).is_some_and(|stat| (stat.st_dev, stat.st_ino) != *file) {
            let flags = libc::MAP_SHARED | libc::MAP_FIXED;
            let args = [
                self.range.start,
                self.range.len(),
                self.protection as usize,
                flags as usize,
                fd as usize,
                self.offset,
            ];
            // SAFETY: in the place of the program's own mapping, the file that it stands for.
            unsafe { sys::call(libc::SYS_mmap, args) };
            // It was put back with what was in it when it was removed.
            self.restore();
        }
        close(fd);
    }
}

const PAGE: usize = 4096;

/// Whether a name below `/dev` stands for memory.
fn is_memory(name: &str) -> bool {
    name.starts_with("/dev/zero") || name.starts_with("/dev/shm/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_mappings_are_told_from_private_ones_and_devices() {
        let file = Mapping::parse("7f00-8f00 rw-s 00001000 08:01 77   /tmp/a b").expect("a shared file");
        assert_eq!((file.range.clone(), file.offset), (0x7f00..0x8f00, 0x1000));
        assert_eq!(file.protection, libc::PROT_READ | libc::PROT_WRITE);
        assert_eq!(file.file, Some(((libc::makedev(8, 1), 77), b"/tmp/a b".to_vec())));
        let nameless =
            Mapping::parse("7f00-8f00 rw-s 00000000 00:01 5   /dev/zero (deleted)").expect("shared memory");
        assert!(nameless.file.is_none());
        assert!(Mapping::parse("7f00-8f00 rw-p 00000000 08:01 77   /tmp/a").is_none());
        assert!(Mapping::parse("7f00-8f00 rw-s 00000000 00:05 9   /dev/dri/card0").is_none());
    }
}
