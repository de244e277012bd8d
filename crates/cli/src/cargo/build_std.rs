//! Building the standard library along with a crate, so that it is instrumented as well.

use std::path::PathBuf;
use std::process::Command;

use super::error::CargoError;

/// Makes cargo build the standard library too, if its sources are there.
pub fn set_up(cargo: &mut Command) -> Result<(), CargoError> {
    let sources = sources().ok_or(CargoError::NoCompiler)?;
    if !sources.exists() {
        return Err(CargoError::NoStdSources { place: sources });
    }
    // Cargo only does this where unstable options are allowed, and then a stable compiler does as well.
    cargo.env("RUSTC_BOOTSTRAP", "1").args(["-Zbuild-std=std,panic_unwind,test"]);
    Ok(())
}

/// Where the sources are, if they are installed.
fn sources() -> Option<PathBuf> {
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(compiler).args(["--print", "sysroot"]).output().ok()?;
    let sysroot = String::from_utf8(output.stdout).ok()?;
    Some(PathBuf::from(sysroot.trim()).join("lib/rustlib/src/rust/library/Cargo.lock"))
}
