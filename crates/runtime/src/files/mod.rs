//! Files that the program changes: what was there is kept before the first change, so that every execution begins with the files that the
//! first one had.
//!
//! The calls that change what is at a path are interposed ([`calls`]), and so is everything that opens a file for writing. What is at the path
//! goes to the shared memory, and the driver puts it back when the execution has ended, also where the process was killed. Between
//! executions nobody else uses the program's files: programs that change some take turns.

mod calls;
mod open_files;
mod shared_mappings;

use std::collections::BTreeSet;
use std::ffi::{CStr, c_char, c_int};
use std::fmt::Write as _;

use threadbare_wire::{Before, FileChange};

use crate::engine::engine;
use crate::sys;

pub use calls::before_system_call;
pub use open_files::OpenFiles;
pub use shared_mappings::is_mapped;

/// The largest file that is put back. Copying takes as long as writing does.
const LARGEST: usize = 16 << 20;

/// Where files are not files.
const SYSTEM: [&[u8]; 3] = [b"/proc/", b"/sys/", b"/dev/"];

/// Shared memory has names there.
const NAMES_OF_MEMORY: &[u8] = b"/dev/shm/";

/// The paths of which it is known what was there when the execution began.
#[derive(Default)]
pub struct Known(BTreeSet<Vec<u8>>);

/// An execution begins.
pub fn begin() {
    engine().world.files.set(Known::default());
}

/// What is at a path now.
struct There {
    path: Vec<u8>,
    /// None if nothing is there.
    stat: Option<libc::stat>,
}

/// The program is about to change what is at a path, which a folder's descriptor may make complete. A link at its end is
/// followed if `follows`.
///
/// # Safety
/// The path must be null or a text.
pub unsafe fn about_to_change(folder: c_int, path: *const c_char, follows: bool) {
    if path.is_null() || engine().world.detour.get() {
        return;
    }
    // SAFETY: as the caller vouches.
    let path = unsafe { CStr::from_ptr(path) };
    if let Some(there) = look(folder, path.to_bytes(), follows) {
        keep(&there);
    }
}

/// The program has made something at a path.
///
/// # Safety
/// The path must be a text.
pub unsafe fn has_made(path: *const c_char) {
    // SAFETY: as the caller vouches.
    let path = unsafe { CStr::from_ptr(path) };
    if let Some(there) = look(libc::AT_FDCWD, path.to_bytes(), false) {
        keep(&There { stat: None, ..there });
    }
}

/// The program is about to give what is at a path another name.
///
/// # Safety
/// The paths must be texts.
pub unsafe fn about_to_rename(from: (c_int, *const c_char), to: (c_int, *const c_char)) {
    // SAFETY: as the caller vouches.
    let (old, new) = unsafe { (CStr::from_ptr(from.1), CStr::from_ptr(to.1)) };
    let (old, new) = (look(from.0, old.to_bytes(), false), look(to.0, new.to_bytes(), false));
    let (Some(old), Some(new)) = (old, new) else { return };
    if old.stat.is_some() && old.path != new.path {
        keep(&new);
        write(&FileChange { path: new.path, mode: 0, before: Before::Called(old.path) });
    }
}

/// Keeps what is at a path, unless it is known what was there.
fn keep(there: &There) {
    if is_of_system(&there.path) || !engine().world.files.borrow_mut().0.insert(there.path.clone()) {
        return;
    }
    let (mode, before) = match &there.stat {
        None => (0, Before::Nothing),
        Some(stat) => (stat.st_mode & 0o7777, before(&there.path, stat)),
    };
    if before == Before::Lost {
        warn_of_loss(&there.path);
    }
    write(&FileChange { path: there.path.clone(), mode, before });
}

fn before(path: &[u8], stat: &libc::stat) -> Before {
    match stat.st_mode & libc::S_IFMT {
        libc::S_IFDIR => Before::Folder,
        libc::S_IFLNK => link_target(libc::AT_FDCWD, path).map_or(Before::Lost, Before::Link),
        libc::S_IFREG if stat.st_size as usize <= LARGEST => {
            let modified = (stat.st_mtime, stat.st_mtime_nsec);
            content(path).map_or(Before::Lost, |content| Before::File { content, modified })
        }
        _ => Before::Lost,
    }
}

fn warn_of_loss(path: &[u8]) {
    let path = String::from_utf8_lossy(path);
    engine().shared.warn(&format!(
        "the program changes {path}, which is too large, or no ordinary file, to be put back after each execution: what one \
         execution leaves there, the next one finds"
    ));
}

fn is_of_system(path: &[u8]) -> bool {
    SYSTEM.iter().any(|folder| path.starts_with(folder)) && !path.starts_with(NAMES_OF_MEMORY)
}

/// Writes a record, or says that it cannot.
fn write(change: &FileChange) {
    let record = change.encode();
    if !engine().shared.file_change(&record) {
        warn_of_loss(&change.path);
    }
}

/// A path as a text for the system.
fn text(path: &[u8]) -> Vec<u8> {
    [path, &[0]].concat()
}

fn open(folder: c_int, path: &[u8], flags: c_int) -> Option<c_int> {
    let path = text(path);
    let flags = flags | libc::O_CLOEXEC;
    // SAFETY: the path is a text.
    let fd = unsafe {
        sys::call(
            libc::SYS_openat,
            [folder as isize as usize, path.as_ptr() as usize, flags as usize, 0, 0, 0],
        )
    };
    (fd >= 0).then_some(fd as c_int)
}

fn close(fd: c_int) {
    // SAFETY: a descriptor of ours.
    unsafe { sys::call(libc::SYS_close, [fd as usize, 0, 0, 0, 0, 0]) };
}

fn stat_of(fd: c_int) -> Option<libc::stat> {
    // SAFETY: a record of zeros is a valid one, and the call fills it in.
    unsafe {
        let mut stat: libc::stat = std::mem::zeroed();
        let error = sys::call(libc::SYS_fstat, [fd as usize, &raw mut stat as usize, 0, 0, 0, 0]);
        (error == 0).then_some(stat)
    }
}

fn link_target(folder: c_int, path: &[u8]) -> Option<Vec<u8>> {
    let path = text(path);
    let mut target = vec![0u8; libc::PATH_MAX as usize];
    // SAFETY: the path is a text, and the buffer as long as is said.
    let length = unsafe {
        let args = [
            folder as isize as usize,
            path.as_ptr() as usize,
            target.as_mut_ptr() as usize,
            target.len(),
            0,
            0,
        ];
        sys::call(libc::SYS_readlinkat, args)
    };
    target.truncate(usize::try_from(length).ok()?);
    Some(target)
}

/// The path of an open file, without links on the way.
pub fn path_of(fd: c_int) -> Option<Vec<u8>> {
    let mut name = String::new();
    let _ = write!(name, "/proc/self/fd/{fd}");
    link_target(libc::AT_FDCWD, name.as_bytes())
}

/// Looks what is at a path. None if there can be nothing.
fn look(folder: c_int, path: &[u8], follows: bool) -> Option<There> {
    const MOST_LINKS: usize = 8;
    let mut wanted = path.to_vec();
    for _ in 0..MOST_LINKS {
        let trimmed = match wanted.iter().rposition(|byte| *byte != b'/') {
            Some(last) => &wanted[..=last],
            None => return None,
        };
        let (parent, name) = match trimmed.iter().rposition(|byte| *byte == b'/') {
            Some(0) => (&trimmed[..1], &trimmed[1..]),
            Some(slash) => (&trimmed[..slash], &trimmed[slash + 1..]),
            None => (&b"."[..], trimmed),
        };
        if name == b"." || name == b".." {
            return None;
        }
        let parent = open(folder, parent, libc::O_PATH | libc::O_DIRECTORY)?;
        let there = open(parent, name, libc::O_PATH | libc::O_NOFOLLOW);
        let stat = there.and_then(stat_of);
        let path = path_of(parent).map(|parent| {
            let slash: &[u8] = if parent == b"/" { b"" } else { b"/" };
            [&parent, slash, name].concat()
        });
        close(parent);
        there.inspect(|fd| close(*fd));
        let path = path?;
        let is_link = stat.is_some_and(|stat| stat.st_mode & libc::S_IFMT == libc::S_IFLNK);
        if !is_link || !follows {
            return Some(There { path, stat });
        }
        let target = link_target(libc::AT_FDCWD, &path)?;
        let folder = path.iter().rposition(|byte| *byte == b'/').map_or(&[][..], |slash| &path[..=slash]);
        wanted = if target.starts_with(b"/") { target } else { [folder, &target].concat() };
    }
    None
}

/// What is in the file at a path.
fn content(path: &[u8]) -> Option<Vec<u8>> {
    let fd = open(libc::AT_FDCWD, path, libc::O_RDONLY | libc::O_NONBLOCK)?;
    let content = content_of(fd);
    close(fd);
    content
}

/// What is in an open file, if it is not too large.
fn content_of(fd: c_int) -> Option<Vec<u8>> {
    let size = stat_of(fd)?.st_size as usize;
    if size > LARGEST {
        return None;
    }
    let mut content = vec![0u8; size];
    let mut got = 0;
    while got < size {
        // SAFETY: the rest of the buffer is as long as is said.
        let n = unsafe {
            let rest = content[got..].as_mut_ptr() as usize;
            sys::call(libc::SYS_pread64, [fd as usize, rest, size - got, got, 0, 0])
        };
        if n <= 0 {
            return None;
        }
        got += n as usize;
    }
    Some(content)
}

/// What is in a file of the system, of which nobody knows how long it is.
pub fn whole(path: &[u8]) -> Vec<u8> {
    const PIECE: usize = 1 << 14;
    let mut content = Vec::new();
    let Some(fd) = open(libc::AT_FDCWD, path, libc::O_RDONLY) else { return content };
    loop {
        let got = content.len();
        content.resize(got + PIECE, 0);
        let place = content[got..].as_mut_ptr() as usize;
        // SAFETY: the rest of the buffer is as long as is said.
        let n = unsafe { sys::call(libc::SYS_read, [fd as usize, place, PIECE, 0, 0, 0]) };
        content.truncate(got + n.max(0) as usize);
        if n <= 0 {
            break;
        }
    }
    close(fd);
    content
}
