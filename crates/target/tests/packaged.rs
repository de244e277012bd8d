//! What `cargo package` puts into this crate's package: the sources of the runtime library as well, which its build
//! script compiles wherever it is.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The files of a package, by their paths in it.
fn packaged() -> BTreeSet<PathBuf> {
    let output = Command::new(env!("CARGO"))
        .args(["package", "--list", "--allow-dirty", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text").lines().map(PathBuf::from).collect()
}

/// All files below a folder, links not followed.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn the_package_carries_the_sources_of_the_runtime_and_of_what_it_needs() {
    let packaged = packaged();
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for name in ["runtime", "library", "trace", "sched", "wire"] {
        let home = crates.join(name);
        let sources = files(&home.join("src"));
        assert!(!sources.is_empty(), "{name} has sources");
        for source in sources {
            let file = Path::new("runtime").join(name).join(source.strip_prefix(&home).expect("below it"));
            assert!(packaged.contains(&file), "{} is missing", file.display());
        }
        assert!(packaged.contains(&Path::new("runtime").join(name).join("manifest.toml")), "{name}");
    }
    for file in [
        "build.rs",
        "runtime/runtime/build.rs",
        "runtime/runtime/hot_code.ld",
        "runtime/workspace.toml",
        "runtime/workspace.lock",
    ] {
        assert!(packaged.contains(Path::new(file)), "{file} is missing");
    }
}
