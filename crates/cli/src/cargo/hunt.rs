//! `cargo threadbare hunt`.

use super::args::CargoHuntArgs;
use super::build::{Wanted, Workspace};
use super::error::CargoError;
use crate::error::CliError;
use crate::hunt;

/// Builds a binary or an example of a crate and hunts in it; returns the exit status.
pub fn run(mut args: CargoHuntArgs) -> Result<u8, CliError> {
    if let Some(program) = args.named_program() {
        let what = format!("`{program}` is not built by cargo");
        return Err(CargoError::Binary(what).into());
    }
    let wanted = match &args.example {
        Some(name) => Wanted::Example(name),
        None => Wanted::Binary(args.bin.as_deref()),
    };
    let built = Workspace::find(&args.build)?.build(&args.build, wanted)?;
    let path = match &built.executables[..] {
        [] => return Err(CargoError::Binary("the crate has no binary".into()).into()),
        [one] => one.path.clone(),
        many => {
            let names: Vec<&str> = many.iter().map(|it| it.id.rsplit('/').next().unwrap_or(&it.id)).collect();
            return Err(
                CargoError::Binary(format!("there are several binaries: {}", names.join(", "))).into()
            );
        }
    };
    let here = std::env::current_dir().unwrap_or_default();
    args.hunt.program = path.strip_prefix(&here).map_or_else(|_| path.clone(), |path| path.to_path_buf());
    hunt::run(&args.hunt)
}
