//! The runtime library that travels inside this crate, and its place on disk.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use threadbare_wire::RUNTIME_LIBRARY;

use crate::own_folders::{cache_folders, is_own_file, own_subfolder};

static BYTES: &[u8] = include_bytes!(env!("THREADBARE_RUNTIME_PATH"));
const HASH: &str = env!("THREADBARE_RUNTIME_HASH");
/// The header by which people name the operations of an object.
const HEADER: &str = include_str!("../include/threadbare.h");
const HEADER_NAME: &str = "threadbare.h";
const INCLUDE: &str = "include";

/// The runtime library as a file that compilers and loaders can be pointed to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RuntimeLibrary {
    path: PathBuf,
}

/// Why the runtime library could not be put on disk.
#[derive(Debug, thiserror::Error)]
#[error(
    "the runtime library could not be written to {}: {source}; set XDG_CACHE_HOME to a writable folder",
    folder.display()
)]
pub struct UnpackError {
    /// The last folder that was tried.
    pub folder: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

impl RuntimeLibrary {
    /// The library on disk, unpacked on first use to the user's cache folder.
    pub fn unpack() -> Result<RuntimeLibrary, UnpackError> {
        static UNPACKED: OnceLock<RuntimeLibrary> = OnceLock::new();
        if let Some(library) = UNPACKED.get() {
            return Ok(library.clone());
        }
        let mut problem = None;
        for folder in cache_folders() {
            match RuntimeLibrary::unpack_into(&folder) {
                Ok(library) => return Ok(UNPACKED.get_or_init(|| library).clone()),
                Err(error) => problem = Some(error),
            }
        }
        Err(problem.unwrap_or_else(|| UnpackError {
            folder: std::env::temp_dir(),
            source: io::ErrorKind::NotFound.into(),
        }))
    }

    /// Unpacks the library below this folder, unless an intact copy is there. All of it has to be this user's alone: the library is loaded
    /// into programs.
    pub fn unpack_into(root: &Path) -> Result<RuntimeLibrary, UnpackError> {
        let folder = root.join(HASH);
        let failed = |source| UnpackError { folder: folder.clone(), source };
        own_subfolder(root, &[HASH, INCLUDE]).map_err(failed)?;
        let path = folder.join(RUNTIME_LIBRARY);
        let library = RuntimeLibrary { path };
        let files = [
            (library.path.clone(), BYTES, 0o755),
            (library.include().join(HEADER_NAME), HEADER.as_bytes(), 0o644),
        ];
        for (path, bytes, mode) in files {
            // A cut or altered copy must not be used: compare it all, it is small.
            if !is_own_file(&path) || !fs::read(&path).is_ok_and(|present| present == bytes) {
                write_atomically(&path, bytes, mode).map_err(failed)?;
            }
        }
        Ok(library)
    }

    /// The folder that holds the header, for the compiler.
    pub fn include(&self) -> PathBuf {
        self.folder().join(INCLUDE)
    }

    /// The library's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder that holds the library, for the run path of executables.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("."))
    }

    /// A short hash of the library's content.
    pub fn hash(&self) -> &'static str {
        HASH
    }
}

/// Other processes may unpack at the same time: each writes its own file and renames it.
fn write_atomically(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    let partial = path.with_extension(format!("{}.partial", std::process::id()));
    let result = (|| {
        let mut file = fs::File::create(&partial)?;
        file.write_all(bytes)?;
        file.set_permissions(fs::Permissions::from_mode(mode))?;
        fs::rename(&partial, path)
    })();
    if result.is_err() {
        let _ = fs::remove_file(&partial);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use object::elf::FileHeader64;
    use object::read::elf::ElfFile;

    #[test]
    fn a_damaged_copy_is_replaced() {
        let cache = tempfile::tempdir().unwrap();
        let root = cache.path().join("threadbare");
        let library = RuntimeLibrary::unpack_into(&root).unwrap();
        assert_eq!(fs::read(library.path()).unwrap(), BYTES);
        fs::write(library.path(), b"cut short").unwrap();
        let again = RuntimeLibrary::unpack_into(&root).unwrap();
        assert_eq!(again, library);
        assert_eq!(fs::read(again.path()).unwrap(), BYTES);
        assert_eq!(fs::read_to_string(library.include().join(HEADER_NAME)).unwrap(), HEADER);
        let left = |folder: &Path| fs::read_dir(folder).unwrap().count();
        assert_eq!(
            (left(library.folder()), left(&library.include())),
            (2, 1),
            "temporary files were left behind"
        );
    }

    #[test]
    fn an_unwritable_cache_is_named_in_the_error() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = RuntimeLibrary::unpack_into(&file.path().join("threadbare")).unwrap_err();
        assert!(error.to_string().contains("XDG_CACHE_HOME"), "{error}");
    }

    #[test]
    fn the_library_carries_its_own_name() {
        let elf = ElfFile::<FileHeader64<object::Endianness>>::parse(BYTES).unwrap();
        let table = elf.elf_dynamic_table().unwrap();
        let soname = table
            .iter()
            .find(|entry| entry.tag == object::elf::DT_SONAME)
            .map(|entry| table.string(entry).unwrap());
        assert_eq!(soname, Some(RUNTIME_LIBRARY.as_bytes()));
    }
}
