//! Published packages of fixed versions, unpacked side by side as members of one workspace, so that one lock file pins
//! all that their tests depend on, and that is built once.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

use crate::Result;

/// The packages.
#[derive(Deserialize)]
pub struct Packages {
    #[serde(rename = "crate")]
    all: Vec<Package>,
}

/// One published version of a crate.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Whether its tests are so long that they are run in the sizes that the crate has for Miri.
    #[serde(default)]
    small: bool,
    /// Features that its tests need.
    #[serde(default)]
    features: Vec<String>,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Found>,
}

#[derive(Deserialize)]
struct Found {
    name: String,
    version: String,
    manifest_path: PathBuf,
}

impl fmt::Display for Package {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.version)
    }
}

impl Package {
    /// A package without features.
    #[cfg(test)]
    pub fn new(name: &str, version: &str) -> Package {
        let (name, version) = (name.to_string(), version.to_string());
        Package { name, version, small: false, features: Vec::new() }
    }

    /// The name of its folder.
    pub fn folder(&self) -> String {
        format!("{}-{}", self.name, self.version)
    }

    /// What `cargo threadbare test` is told besides.
    pub fn arguments(&self) -> Vec<String> {
        let mut words = vec!["--locked".to_string()];
        words.extend(self.small.then(|| "--small".to_string()));
        if !self.features.is_empty() {
            words.extend(["--features".to_string(), self.features.join(",")]);
        }
        words
    }
}

impl Packages {
    /// Those of the list beside this file.
    pub fn pinned() -> Result<Packages> {
        Ok(toml::from_str(include_str!("crates.toml"))?)
    }

    /// Those of these names, or all.
    pub fn chosen(&self, names: &[String]) -> Result<Vec<&Package>> {
        if let Some(name) = names.iter().find(|name| self.all.iter().all(|package| package.name != **name)) {
            let known: Vec<&str> = self.all.iter().map(|package| package.name.as_str()).collect();
            return Err(
                format!("there is no crate `{name}` in the list; there are {}", known.join(", ")).into()
            );
        }
        Ok(self.all.iter().filter(|package| names.is_empty() || names.contains(&package.name)).collect())
    }

    /// Whether one has this name and version.
    #[cfg(test)]
    pub fn contain(&self, name: &str, version: &str) -> bool {
        self.all.iter().any(|package| package.name == name && package.version == version)
    }

    /// Has cargo download them, and copies what has been published to a workspace in `folder`, which is returned. What is
    /// there already stays.
    pub fn unpack(&self, folder: &Path, relock: bool) -> Result<PathBuf> {
        let workspace = folder.join("crates");
        fs::create_dir_all(&workspace)?;
        if self.all.iter().any(|package| !workspace.join(package.folder()).exists()) {
            self.download(folder, &workspace)?;
        }
        let members: Vec<String> = self.all.iter().map(Package::folder).collect();
        write(
            &workspace.join("Cargo.toml"),
            &format!("[workspace]\nresolver = \"3\"\nmembers = {members:?}\n"),
        )?;
        let lock = workspace.join("Cargo.lock");
        write(&lock, include_str!("Cargo.lock"))?;
        if relock {
            metadata(&workspace)?;
            fs::copy(lock, Path::new(env!("CARGO_MANIFEST_DIR")).join("src/strangers/Cargo.lock"))?;
        }
        Ok(workspace)
    }

    /// Cargo downloads what a package depends on, checks its sum, and says where it is.
    fn download(&self, folder: &Path, workspace: &Path) -> Result<()> {
        let wanting = folder.join("wanted");
        fs::create_dir_all(wanting.join("src"))?;
        fs::write(wanting.join("src/lib.rs"), "")?;
        let mut manifest =
            "[package]\nname = \"wanted\"\nedition = \"2021\"\n\n[workspace]\n\n[dependencies]\n".to_string();
        for Package { name, version, .. } in &self.all {
            manifest
                .push_str(&format!("{name} = {{ version = \"={version}\", default-features = false }}\n"));
        }
        fs::write(wanting.join("Cargo.toml"), manifest)?;
        let found = metadata(&wanting)?.packages;
        for package in &self.all {
            let to = workspace.join(package.folder());
            if to.exists() {
                continue;
            }
            let source = found.iter().find(|it| it.name == package.name && it.version == package.version);
            let source = source.and_then(|it| it.manifest_path.parent());
            let source = source.ok_or_else(|| format!("cargo did not download {package}"))?;
            // Whole or not at all: an interrupted copy would be taken for a package.
            let part = workspace.join("unpacking");
            if part.exists() {
                fs::remove_dir_all(&part)?;
            }
            copy(source, &part)?;
            fs::rename(part, to)?;
        }
        Ok(())
    }
}

fn metadata(folder: &Path) -> Result<Metadata> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["metadata", "--format-version", "1", "--filter-platform", "x86_64-unknown-linux-gnu"])
        .arg("--manifest-path")
        .arg(folder.join("Cargo.toml"))
        .stderr(Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err("cargo could not download the crates".into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Writes a file unless it says that already, since a newer file has everything built again.
fn write(path: &Path, text: &str) -> Result<()> {
    if fs::read_to_string(path).is_ok_and(|there| there == text) {
        return Ok(());
    }
    Ok(fs::write(path, text)?)
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
