//! Processes that a tested program leaves behind: daemons that have left its process group, or those that others started for it.
//!
//! They are known by what only the program was given: the memory that it shares with us, which copies of it keep, and the file that takes
//! its output, which other programs inherit. Whatever has neither is left alone: it could be anybody's. So are processes that execute what we
//! do: those are ours, on the way to starting another program.

use std::fs;
use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd, RawFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

/// A file, whatever it is called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    /// Of an open file.
    pub fn of(file: BorrowedFd<'_>) -> io::Result<FileId> {
        FileId::at(Path::new(&format!("/proc/self/fd/{}", file.as_raw_fd())))
    }

    fn at(path: &Path) -> io::Result<FileId> {
        let metadata = fs::metadata(path)?;
        Ok(FileId { device: metadata.dev(), inode: metadata.ino() })
    }
}

/// The most time that is spent on looking, where there are very many processes.
const LONGEST: Duration = Duration::from_millis(200);
/// How often it is looked whether there are others: a process may start another one before it is ended.
const ROUNDS: usize = 8;

/// Ends all processes that have one of these files.
pub(crate) fn end(files: &[FileId]) {
    let begin = Instant::now();
    let Ok(ours) = FileId::at(Path::new("/proc/self/exe")) else { return };
    for _ in 0..ROUNDS {
        let all = processes().take_while(|_| begin.elapsed() < LONGEST);
        let strays: Vec<OwnedFd> = all.filter_map(|process| handle_of(process, files, ours)).collect();
        if strays.is_empty() {
            return;
        }
        for stray in strays {
            // SAFETY: a system call on a descriptor of ours and numbers.
            unsafe {
                let none = std::ptr::null::<libc::siginfo_t>();
                libc::syscall(libc::SYS_pidfd_send_signal, stray.as_raw_fd(), libc::SIGKILL, none, 0);
            }
            await_end(&stray);
        }
    }
}

/// All processes but this one.
fn processes() -> impl Iterator<Item = u32> {
    let own = std::process::id();
    let entries = fs::read_dir("/proc").into_iter().flatten();
    let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    numbers.filter(move |process| *process != own)
}

/// A process that has one of the files, by a descriptor that stays its own even if it ends meanwhile.
fn handle_of(process: u32, files: &[FileId], ours: FileId) -> Option<OwnedFd> {
    if !has_one(process, files, ours) {
        return None;
    }
    // SAFETY: a system call on numbers; the descriptor is fresh and belongs to nobody else.
    let handle = unsafe {
        let handle = libc::syscall(libc::SYS_pidfd_open, process, 0);
        (handle >= 0).then(|| OwnedFd::from_raw_fd(handle as RawFd))?
    };
    // The number could have been given to another process before.
    has_one(process, files, ours).then_some(handle)
}

fn has_one(process: u32, files: &[FileId], ours: FileId) -> bool {
    let folder = format!("/proc/{process}");
    // What cannot be read belongs to somebody else.
    if FileId::at(Path::new(&format!("{folder}/exe"))).map_or(true, |executable| executable == ours) {
        return false;
    }
    let is_it = |path: String| FileId::at(Path::new(&path)).is_ok_and(|id| files.contains(&id));
    (0..3).any(|descriptor| is_it(format!("{folder}/fd/{descriptor}"))) || maps_one(&folder, files)
}

/// Lines of `maps` are: addresses, rights, offset, device, inode, name.
fn maps_one(folder: &str, files: &[FileId]) -> bool {
    let maps = fs::read(format!("{folder}/maps")).unwrap_or_default();
    let is_it = |line: &[u8]| {
        let line = String::from_utf8_lossy(line);
        let mut words = line.split_ascii_whitespace().skip(3);
        let (Some(device), Some(inode)) = (words.next(), words.next()) else { return false };
        let device = device.split_once(':').and_then(|(major, minor)| {
            Some(libc::makedev(u32::from_str_radix(major, 16).ok()?, u32::from_str_radix(minor, 16).ok()?))
        });
        let Some(device) = device else { return false };
        inode.parse().is_ok_and(|inode| files.contains(&FileId { device, inode }))
    };
    maps.split(|byte| *byte == b'\n').any(is_it)
}

/// Waits a moment for a process to be gone, so that it is not found again.
fn await_end(handle: &OwnedFd) {
    const MOMENT: libc::c_int = 100;
    let mut wanted = libc::pollfd { fd: handle.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one structure of ours.
    unsafe { libc::poll(&raw mut wanted, 1, MOMENT) };
}
