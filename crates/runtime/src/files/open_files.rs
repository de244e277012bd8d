//! Files that are open at the snapshot: all copies of the process share their positions, and what is in them.

use std::ffi::c_int;

use super::{close, content_of, open, path_of, stat_of, warn_of_loss};
use crate::sys;

/// An open file at the snapshot.
struct OpenFile {
    fd: c_int,
    position: isize,
    flags: c_int,
    closes_on_exec: bool,
    /// Where it lies, if that is where it has a name, and which file it is.
    path: Option<Vec<u8>>,
    file: (u64, u64),
    /// What is in it, if the program may write there; only its size if others may append as well.
    content: Option<Vec<u8>>,
}

fn seek(fd: c_int, offset: isize, from: c_int) -> isize {
    // SAFETY: fails harmlessly on what has no position.
    unsafe { sys::call(libc::SYS_lseek, [fd as usize, offset as usize, from as usize, 0, 0, 0]) }
}

fn control(fd: c_int, command: c_int) -> c_int {
    // SAFETY: asks for flags.
    unsafe { sys::call(libc::SYS_fcntl, [fd as usize, command as usize, 0, 0, 0, 0]) as c_int }
}

impl OpenFile {
    fn look(fd: c_int) -> Option<OpenFile> {
        let position = seek(fd, 0, libc::SEEK_CUR);
        if position < 0 {
            return None;
        }
        let stat = stat_of(fd)?;
        let is_file = stat.st_mode & libc::S_IFMT == libc::S_IFREG;
        let flags = control(fd, libc::F_GETFL);
        // What the driver made, it takes care of itself.
        let is_ours = fd <= libc::STDERR_FILENO;
        let may_write = is_file && !is_ours && flags & libc::O_ACCMODE != libc::O_RDONLY;
        let path = path_of(fd).filter(|_| is_file && !is_ours);
        let content = if may_write { content_of(fd) } else { None };
        if may_write && content.is_none() {
            warn_of_loss(&path_of(fd).unwrap_or_default());
        }
        let closes_on_exec = control(fd, libc::F_GETFD) & libc::FD_CLOEXEC != 0;
        let file = (stat.st_dev, stat.st_ino);
        let path = path.filter(|path| {
            super::look(libc::AT_FDCWD, path, false)
                .and_then(|there| there.stat)
                .is_some_and(|it| (it.st_dev, it.st_ino) == file)
        });
        Some(OpenFile { fd, position, flags, closes_on_exec, path, file, content })
    }

    /// Puts the file back to how the program had it.
    fn restore(&self) {
        self.write_content(self.fd);
        seek(self.fd, self.position, libc::SEEK_SET);
    }

    /// Sees to it that what was in the file is in this one.
    fn write_content(&self, fd: c_int) {
        if let Some(content) =
            self.content.as_ref().filter(|content| content_of(fd).as_ref() != Some(content))
        {
            // SAFETY: the program's own file, and memory of ours.
            unsafe {
                // A file that is open for appending is written to at its end, wherever that is said to be.
                let kept = if self.flags & libc::O_APPEND != 0 { 0 } else { content.len() };
                sys::call(libc::SYS_ftruncate, [fd as usize, kept, 0, 0, 0, 0]);
                let (start, bytes) = (content.as_ptr() as usize, content.len());
                sys::call(libc::SYS_pwrite64, [fd as usize, start, bytes, 0, 0, 0]);
            }
        }
    }

    /// In a copy of the process: if another file lies there by now, which has been put back, that one becomes the program's.
    fn renew(&self) {
        let Some(path) = &self.path else { return };
        let Some(new) =
            open(libc::AT_FDCWD, path, self.flags & !(libc::O_CREAT | libc::O_EXCL | libc::O_TRUNC))
        else {
            return;
        };
        if stat_of(new).is_some_and(|stat| (stat.st_dev, stat.st_ino) != self.file) {
            // It was put back with what was in it when it was removed.
            self.write_content(new);
            seek(new, self.position, libc::SEEK_SET);
            let flags = if self.closes_on_exec { libc::O_CLOEXEC } else { 0 };
            // SAFETY: the program's descriptor gets the file that it stands for.
            unsafe { sys::call(libc::SYS_dup3, [new as usize, self.fd as usize, flags as usize, 0, 0, 0]) };
        }
        close(new);
    }
}

/// The files that are open at the snapshot, and the memory that copies share.
pub struct OpenFiles {
    files: Vec<OpenFile>,
    mappings: super::shared_mappings::SharedMappings,
}

impl OpenFiles {
    /// They as they are.
    pub fn look() -> OpenFiles {
        const DESCRIPTORS: c_int = 256;
        let files = (0..DESCRIPTORS).filter_map(OpenFile::look).collect();
        OpenFiles { files, mappings: super::shared_mappings::SharedMappings::look() }
    }

    /// Their descriptors.
    pub fn descriptors(&self) -> impl Iterator<Item = c_int> {
        self.files.iter().map(|file| file.fd)
    }

    /// Puts all of them back, files first: what is mapped lies in them.
    pub fn restore(&self) {
        self.files.iter().for_each(OpenFile::restore);
        self.mappings.restore();
    }

    /// In a copy of the process, before it continues.
    pub fn renew(&self) {
        self.files.iter().for_each(OpenFile::renew);
        self.mappings.renew();
    }
}
