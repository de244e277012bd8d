//! The subjects of the CFP paper in our own shape, as `subjects/cfp` has them: built twice, with and without instrumentation.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use threadbare_code::Code;
use threadbare_explore::suite::{Source, SuiteFile};
use threadbare_target::{Program, resolve};

use super::paper::Paper;
use crate::Result;
use crate::clock::{Clock, Spent};

/// A program with its inputs.
pub struct Subject {
    /// Its name.
    pub name: String,
    /// The names of its inputs.
    pub inputs: Vec<String>,
    /// The instrumented program with each input.
    pub programs: Vec<Program>,
    /// The same without instrumentation.
    native: PathBuf,
    /// How many functions the program has.
    pub functions: usize,
    /// What is known of it.
    pub paper: Paper,
    _folder: tempfile::TempDir,
}

impl Subject {
    /// Builds a subject, both times with the same optimization.
    pub fn build(name: &str, level: &str) -> Result<Subject> {
        let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("../subjects/cfp").join(name);
        let home = home.canonicalize().map_err(|error| format!("there is no subject `{name}`: {error}"))?;
        let suite = SuiteFile::read(&home.join("suite.toml"))?;
        let folder = tempfile::tempdir()?;
        let Source::Program(source) = suite.source else {
            return Err(format!("the suite of `{name}` names no source file").into());
        };
        let level = format!("-O{level}");
        let flags = [level.clone(), "-lm".to_string(), "-pthread".to_string()];
        let built = resolve(&source, &flags, folder.path())?;
        let native = folder.path().join("native");
        let compiler = if source.extension().is_some_and(|it| it == "c") { "cc" } else { "c++" };
        let mut command = Command::new(compiler);
        command.args(["-g", &level]).arg(&source).arg("-o").arg(&native).args(&flags[1..]);
        let output = command.output()?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
        }
        let mut programs = Vec::new();
        for input in &suite.inputs {
            let stdin = match &input.stdin {
                Some(text) => {
                    let path = folder.path().join(format!("stdin-{}", input.name));
                    std::fs::write(&path, text)?;
                    Some(path)
                }
                None => None,
            };
            programs.push(Program {
                args: input.args.clone(),
                stdin,
                env: input.env.clone().into_iter().collect(),
                folder: Some(home.clone()),
                ..built.clone()
            });
        }
        let code = Code::read(&built.executable)?;
        let functions =
            code.functions().iter().filter(|it| it.part_of.is_none() && it.is_announced()).count();
        let paper = Paper::read(&home)?;
        let inputs = suite.inputs.into_iter().map(|input| input.name).collect();
        Ok(Subject { name: name.to_string(), inputs, programs, native, functions, paper, _folder: folder })
    }

    /// What running all inputs takes without instrumentation, with as many real threads at a time as there are cores.
    pub fn base(&self, times: u32) -> Result<Spent> {
        let mut total = Spent::default();
        for program in &self.programs {
            let clock = Clock::start();
            for _ in 0..times {
                let stdin = match &program.stdin {
                    Some(path) => Stdio::from(File::open(path)?),
                    None => Stdio::null(),
                };
                let mut command = Command::new(&self.native);
                command.args(&program.args).envs(program.env.clone()).stdin(stdin);
                if let Some(folder) = &program.folder {
                    command.current_dir(folder);
                }
                command.stdout(Stdio::null()).stderr(Stdio::null()).status()?;
            }
            total += clock.spent().shared_by(times);
        }
        Ok(total)
    }
}
