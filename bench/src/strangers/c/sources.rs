//! Source packages of fixed versions and contents.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use crate::Result;

/// The packages.
#[derive(Deserialize)]
pub struct Sources {
    #[serde(rename = "source")]
    all: Vec<Source>,
}

/// One package.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// What it is unpacked to.
    folder: String,
    url: String,
    sha256: String,
}

impl Sources {
    /// Those of the list beside this file.
    pub fn pinned() -> Result<Sources> {
        Ok(toml::from_str(include_str!("sources.toml"))?)
    }

    /// Those of these names, or all.
    pub fn chosen(&self, names: &[String]) -> Result<Vec<&Source>> {
        if let Some(name) = names.iter().find(|name| self.all.iter().all(|source| source.name != **name)) {
            let known: Vec<&str> = self.all.iter().map(|source| source.name.as_str()).collect();
            return Err(
                format!("there is no program `{name}` in the list; there are {}", known.join(", ")).into()
            );
        }
        Ok(self.all.iter().filter(|source| names.is_empty() || names.contains(&source.name)).collect())
    }
}

impl Source {
    /// Where it is unpacked, after a download if need be.
    pub fn unpacked(&self, folder: &Path) -> Result<PathBuf> {
        let to = folder.join("sources").join(&self.folder);
        if to.exists() {
            return Ok(to);
        }
        let archive = self.downloaded(&folder.join("downloads"))?;
        // Whole or not at all: an interrupted tar would be taken for a package.
        let part = folder.join("sources/unpacking");
        if part.exists() {
            fs::remove_dir_all(&part)?;
        }
        fs::create_dir_all(&part)?;
        must(Command::new("tar").arg("xf").arg(archive).arg("-C").arg(&part))?;
        fs::rename(part.join(&self.folder), &to)?;
        Ok(to)
    }

    fn downloaded(&self, folder: &Path) -> Result<PathBuf> {
        fs::create_dir_all(folder)?;
        let name = self.url.rsplit('/').next().unwrap_or(&self.name).replace("%2b", "+");
        let (to, part) = (folder.join(&name), folder.join(format!("{name}.part")));
        if !to.exists() {
            must(Command::new("curl").args(["-sSfL", "-o"]).arg(&part).arg(&self.url))?;
            fs::rename(&part, &to)?;
        }
        let output = Command::new("sha256sum").arg(&to).output()?;
        let sum = String::from_utf8_lossy(&output.stdout);
        if sum.split_whitespace().next() != Some(self.sha256.as_str()) {
            return Err(format!("{} is not what it was: {}", to.display(), sum.trim()).into());
        }
        Ok(to)
    }
}

/// Runs a command that must succeed.
pub fn must(command: &mut Command) -> Result<()> {
    let status = command.status().map_err(|error| format!("{command:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?}: {status}").into()) }
}
