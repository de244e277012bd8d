//! Reading what a folder holds, and nothing else: no other place that a name may lead to, and no pipe or device that never ends.

use std::fs::OpenOptions;
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Component, Path};

/// The content of a regular file that lies in the folder itself.
pub fn read(folder: &Path, name: &str) -> io::Result<Vec<u8>> {
    let mut components = Path::new(name).components();
    let (Some(Component::Normal(_)), None) = (components.next(), components.next()) else {
        return Err(io::Error::other("it does not lie in the folder"));
    };
    // A pipe would be waited for when it is opened, and a link leads elsewhere.
    let mut file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(folder.join(name))?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_in_the_folder_are_read() {
        let outer = tempfile::tempdir().expect("a folder");
        let folder = outer.path().join("inner");
        std::fs::create_dir(&folder).expect("a folder");
        std::fs::write(outer.path().join("secret"), "secret").expect("a file");
        std::fs::write(folder.join("own"), "own").expect("a file");
        std::os::unix::fs::symlink("../secret", folder.join("link")).expect("a link");
        std::os::unix::fs::symlink("/dev/zero", folder.join("device")).expect("a link");
        let status = std::process::Command::new("mkfifo").arg(folder.join("pipe")).status().expect("mkfifo");
        assert!(status.success());
        assert_eq!(read(&folder, "own").expect("it is there"), b"own");
        let secret = outer.path().join("secret").display().to_string();
        for name in
            ["../secret", &secret, "link", "device", "pipe", "missing", "", ".", "/dev/zero", "own/../own"]
        {
            assert!(read(&folder, name).is_err(), "{name}");
        }
    }
}
