//! Putting back the files that the program has changed.

use std::ffi::{CString, OsStr};
use std::fs::{self, File, FileTimes, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::time::{Duration, SystemTime};

use threadbare_wire::{Before, FileChange};

/// Undoes changes, the last one first. Returns the paths where that was not possible.
pub(crate) fn put_back(changes: &[FileChange]) -> Vec<String> {
    let undone = changes.iter().rev().map(|change| (change, undo(change)));
    undone
        .filter(|(_, result)| result.is_err())
        .map(|(change, _)| path(change).display().to_string())
        .collect()
}

/// What is at the path of a change now.
pub(crate) fn now(change: &FileChange) -> FileChange {
    let path = path(change);
    let stat = fs::symlink_metadata(path);
    let before = match &stat {
        Err(_) => Before::Nothing,
        Ok(stat) if stat.is_dir() => Before::Folder,
        Ok(stat) if stat.is_symlink() => fs::read_link(path)
            .map_or(Before::Lost, |target| Before::Link(target.as_os_str().as_bytes().to_vec())),
        Ok(stat) if stat.is_file() => {
            let modified = (stat.mtime(), stat.mtime_nsec());
            fs::read(path).map_or(Before::Lost, |content| Before::File { content, modified })
        }
        Ok(_) => Before::Lost,
    };
    FileChange { path: change.path.clone(), mode: stat.map_or(0, |stat| stat.mode() & 0o7777), before }
}

fn path(change: &FileChange) -> &Path {
    Path::new(OsStr::from_bytes(&change.path))
}

fn undo(change: &FileChange) -> io::Result<()> {
    let path = path(change);
    match &change.before {
        Before::Nothing => remove(path),
        Before::File { content, modified } => {
            if !fs::symlink_metadata(path).is_ok_and(|stat| stat.is_file()) {
                remove(path)?;
            }
            write(path, content, change.mode, *modified)
        }
        Before::Link(target) => {
            let target = Path::new(OsStr::from_bytes(target));
            if fs::read_link(path).is_ok_and(|now| now == target) {
                return Ok(());
            }
            remove(path)?;
            std::os::unix::fs::symlink(target, path)
        }
        Before::Folder => {
            if !fs::symlink_metadata(path).is_ok_and(|stat| stat.is_dir()) {
                remove(path)?;
                fs::create_dir(path)?;
            }
            fs::set_permissions(path, Permissions::from_mode(change.mode))
        }
        Before::Called(old) => rename_if_there(path, Path::new(OsStr::from_bytes(old))),
        // The user has been told.
        Before::Lost => Ok(()),
    }
}

/// Removes what the program has made.
fn remove(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(stat) if stat.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(_) => Ok(()),
    }
}

fn write(path: &Path, content: &[u8], mode: u32, (seconds, nanoseconds): (i64, i64)) -> io::Result<()> {
    if !fs::read(path).is_ok_and(|now| now == content) {
        // The same file as before, if it is still there: others may have it open, or mapped.
        // It is cut afterwards: some file systems wait for the disk where a file was emptied and written anew.
        let open = || OpenOptions::new().write(true).create(true).truncate(false).mode(mode).open(path);
        let mut file = open().or_else(|_| {
            fs::remove_file(path)?;
            open()
        })?;
        file.write_all(content)?;
        file.set_len(content.len() as u64)?;
    }
    fs::set_permissions(path, Permissions::from_mode(mode))?;
    let since = Duration::new(seconds.max(0) as u64, nanoseconds as u32);
    // Where the program has no right to read its own file, its age is no matter.
    let _ = File::open(path)
        .map(|file| file.set_times(FileTimes::new().set_modified(SystemTime::UNIX_EPOCH + since)));
    Ok(())
}

/// The program may have failed to rename it in the first place.
fn rename_if_there(from: &Path, to: &Path) -> io::Result<()> {
    if fs::symlink_metadata(from).is_err() || fs::symlink_metadata(to).is_ok_and(|_| !replaces(from, to)) {
        return Ok(());
    }
    let text = |path: &Path| CString::new(path.as_os_str().as_bytes());
    let (from, to) = (text(from)?, text(to)?);
    // SAFETY: both are texts.
    let result = unsafe { libc::rename(from.as_ptr(), to.as_ptr()) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Whether something may take the place of what the program has put there since.
fn replaces(from: &Path, to: &Path) -> bool {
    let kind = |path: &Path| fs::symlink_metadata(path).map(|stat| stat.is_dir());
    kind(from).ok() == kind(to).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(path: &Path, before: Before) -> FileChange {
        FileChange { path: path.as_os_str().as_bytes().to_vec(), mode: 0o644, before }
    }

    fn file(content: &[u8]) -> Before {
        Before::File { content: content.to_vec(), modified: (1_000_000, 5) }
    }

    #[test]
    fn changes_are_undone_the_last_one_first() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("old"), b"before").unwrap();
        fs::write(at("kept"), b"kept").unwrap();
        let changes = [
            change(&at("old"), file(b"before")),
            change(&at("new"), Before::Nothing),
            change(&at("sub"), Before::Nothing),
            change(&at("kept"), file(b"kept")),
            change(&at("kept"), Before::Called(at("new").as_os_str().as_bytes().to_vec())),
        ];
        fs::write(at("old"), b"after, and longer").unwrap();
        fs::write(at("new"), b"made").unwrap();
        fs::create_dir(at("sub")).unwrap();
        fs::write(at("sub/inside"), b"x").unwrap();
        fs::rename(at("new"), at("kept")).unwrap();
        assert_eq!(put_back(&changes), Vec::<String>::new());
        assert_eq!(fs::read(at("old")).unwrap(), b"before");
        assert_eq!(fs::read(at("kept")).unwrap(), b"kept");
        assert_eq!(fs::metadata(at("kept")).unwrap().mtime(), 1_000_000);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "what was made is gone");
    }

    #[test]
    fn what_was_not_changed_in_the_end_stays_the_same_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, b"same").unwrap();
        let inode = fs::metadata(&path).unwrap().ino();
        put_back(&[change(&path, file(b"same"))]);
        fs::write(&path, b"other").unwrap();
        put_back(&[change(&path, file(b"same"))]);
        assert_eq!((fs::read(&path).unwrap(), fs::metadata(&path).unwrap().ino()), (b"same".to_vec(), inode));
    }

    #[test]
    fn what_is_there_now_can_be_brought_back_after_it_was_undone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sub");
        let inside = path.join("file");
        let changes = [change(&path, Before::Nothing), change(&inside, Before::Nothing)];
        fs::create_dir(&path).unwrap();
        fs::write(&inside, b"made").unwrap();
        let world: Vec<FileChange> = changes.iter().map(now).collect();
        put_back(&changes);
        assert!(!path.exists());
        let again: Vec<FileChange> = world.into_iter().rev().collect();
        put_back(&again);
        assert_eq!(fs::read(&inside).unwrap(), b"made");
    }
}
