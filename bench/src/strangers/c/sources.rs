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
    /// What Debian calls it.
    package: String,
    /// The file of the source package that is upstream's.
    archive: String,
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
        let to = folder.join(&self.archive);
        if !to.exists() {
            fs::create_dir_all(folder)?;
            let apt = source_lists(&folder.join("apt"))?;
            let apt_get = || {
                let mut command = Command::new("apt-get");
                command.arg("-qq").args(&apt).current_dir(folder);
                command
            };
            must(apt_get().arg("update"))?;
            must(apt_get().args([
                "source",
                "--download-only",
                "--only-source",
                "--tar-only",
                &self.package,
            ]))?;
        }
        let output = Command::new("sha256sum").arg(&to).output()?;
        let sum = String::from_utf8_lossy(&output.stdout);
        if sum.split_whitespace().next() != Some(self.sha256.as_str()) {
            return Err(format!("{} is not what it was: {}", to.display(), sum.trim()).into());
        }
        Ok(to)
    }
}

/// Options for apt with which it takes source packages from where this machine takes packages: most do not list those.
fn source_lists(folder: &Path) -> Result<[String; 6]> {
    let (parts, state) = (folder.join("parts"), folder.join("state"));
    fs::create_dir_all(&parts)?;
    fs::create_dir_all(state.join("partial"))?;
    let system = Path::new("/etc/apt");
    let in_parts = fs::read_dir(system.join("sources.list.d"))?.flatten().map(|entry| entry.path());
    for list in in_parts.chain([system.join("sources.list")]).filter(|list| list.is_file()) {
        let lines = fs::read_to_string(&list)?;
        let source = |line: &str| match (line.strip_prefix("deb "), line.strip_prefix("Types:")) {
            (Some(rest), _) => format!("deb-src {rest}\n"),
            (_, Some(_)) => "Types: deb-src\n".to_string(),
            _ => format!("{line}\n"),
        };
        let name = list.file_name().ok_or("a list without a name")?;
        fs::write(parts.join(name), lines.lines().map(source).collect::<String>())?;
    }
    let option = |name: &str, value: &Path| ["-o".to_string(), format!("{name}={}", value.display())];
    let [one, list] = option("Dir::Etc::SourceList", Path::new("/dev/null"));
    let [two, parts] = option("Dir::Etc::SourceParts", &parts.canonicalize()?);
    let [three, state] = option("Dir::State::Lists", &state.canonicalize()?);
    Ok([one, list, two, parts, three, state])
}

/// Runs a command that must succeed.
pub fn must(command: &mut Command) -> Result<()> {
    let status = command.status().map_err(|error| format!("{command:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?}: {status}").into()) }
}
