//! Folders and files of this user alone: what is loaded into programs must not be anybody else's to change.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// Bits of a mode that let others write.
const OTHERS_WRITE: u32 = 0o022;
/// In a folder with this bit nobody may rename or remove what belongs to somebody else.
const STICKY: u32 = 0o1000;

/// The folders in which this user may keep what can be made again, best first; see [`own_subfolder`] for what has to hold below them.
pub fn cache_folders() -> Vec<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let caches = [absolute("XDG_CACHE_HOME"), absolute("HOME").map(|home| home.join(".cache"))];
    let own = caches.into_iter().flatten().map(|cache| cache.join("threadbare"));
    own.chain(in_temporary(&std::env::temp_dir())).collect()
}

/// Names in a folder that everybody can write to. Another user may have taken some of them, so there are several.
fn in_temporary(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    const NAMES: u32 = 16;
    let (folder, user) = (folder.to_path_buf(), user());
    let name = move |number| match number {
        0 => folder.join(format!("threadbare-{user}")),
        _ => folder.join(format!("threadbare-{user}-{number}")),
    };
    (0..NAMES).map(name)
}

fn user() -> u32 {
    // SAFETY: `geteuid` has no preconditions.
    unsafe { libc::geteuid() }
}

/// A folder below `root`, both of this user alone, which are made if they are not there.
pub fn own_subfolder(root: &Path, names: &[&str]) -> io::Result<PathBuf> {
    if let Some(parent) = root.parent() {
        fs::create_dir_all(parent)?;
        check_parent(parent)?;
    }
    let mut folder = root.to_path_buf();
    make_own(&folder)?;
    for name in names {
        folder.push(name);
        make_own(&folder)?;
    }
    Ok(folder)
}

/// Whether a file is this user's, and nobody else may write to it.
pub fn is_own_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|about| {
        about.is_file() && about.uid() == user() && about.permissions().mode() & OTHERS_WRITE == 0
    })
}

/// Refuses a folder in which another user could put something else into the place of what is there.
fn check_parent(parent: &Path) -> io::Result<()> {
    let about = fs::metadata(parent)?;
    let is_trusted = [user(), 0].contains(&about.uid());
    let is_closed = about.mode() & OTHERS_WRITE == 0 || about.mode() & STICKY != 0;
    // Who shares a group with himself alone often lets it write: the folder is his all the same.
    let is_of_own_group = about.uid() == user() && about.mode() & 0o002 == 0;
    if is_trusted && (is_closed || is_of_own_group) { Ok(()) } else { Err(refused(parent, &about)) }
}

fn make_own(folder: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o755).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let about = fs::symlink_metadata(folder)?;
    if !about.is_dir() || about.uid() != user() {
        return Err(refused(folder, &about));
    }
    if about.mode() & OTHERS_WRITE != 0 {
        fs::set_permissions(folder, Permissions::from_mode(about.mode() & 0o7777 & !OTHERS_WRITE))?;
    }
    Ok(())
}

fn refused(folder: &Path, about: &Metadata) -> io::Error {
    let name = folder.file_name().unwrap_or(OsStr::new("/")).display();
    let owner = about.uid();
    io::Error::new(
        io::ErrorKind::PermissionDenied,
        format!("`{name}` belongs to user {owner}, or others may write to it, so it cannot be trusted"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_made_and_closed_to_others() {
        let cache = tempfile::tempdir().unwrap();
        let root = cache.path().join("threadbare");
        let folder = own_subfolder(&root, &["abc"]).unwrap();
        assert!(folder.is_dir());
        fs::set_permissions(&folder, Permissions::from_mode(0o777)).unwrap();
        assert_eq!(own_subfolder(&root, &["abc"]).unwrap(), folder);
        assert_eq!(fs::metadata(&folder).unwrap().mode() & OTHERS_WRITE, 0);
    }

    #[test]
    fn a_link_is_not_followed_and_a_file_not_taken_for_a_folder() {
        let cache = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        let root = cache.path().join("threadbare");
        std::os::unix::fs::symlink(elsewhere.path(), &root).unwrap();
        assert!(own_subfolder(&root, &[]).is_err());
        fs::remove_file(&root).unwrap();
        fs::write(&root, "").unwrap();
        assert!(own_subfolder(&root, &[]).is_err());
    }

    #[test]
    fn what_lies_where_everybody_can_rename_it_is_refused() {
        let cache = tempfile::tempdir().unwrap();
        let open = cache.path().join("open");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, Permissions::from_mode(0o777)).unwrap();
        assert!(own_subfolder(&open.join("threadbare"), &[]).is_err());
        fs::set_permissions(&open, Permissions::from_mode(0o1777)).unwrap();
        assert!(own_subfolder(&open.join("threadbare"), &[]).is_ok());
    }

    #[test]
    fn what_another_user_has_prepared_is_left_alone() {
        // Only the system's administrator can give folders away.
        if user() != 0 {
            return;
        }
        let temporary = tempfile::tempdir().unwrap();
        let nobody = 65534;
        let names: Vec<PathBuf> = in_temporary(temporary.path()).collect();
        fs::create_dir(&names[0]).unwrap();
        std::os::unix::fs::chown(&names[0], Some(nobody), Some(nobody)).unwrap();
        assert!(own_subfolder(&names[0], &[]).is_err());
        assert!(own_subfolder(&names[1], &[]).is_ok());
        let file = names[1].join("file");
        fs::write(&file, "").unwrap();
        assert!(is_own_file(&file));
        std::os::unix::fs::chown(&file, Some(nobody), Some(nobody)).unwrap();
        assert!(!is_own_file(&file));
    }
}
