//! glibc's tests of threads, outside of its build system.
//!
//! Each is one source file, built once as it is and once by the wrapper. What they take from glibc's folder `support` is in
//! `nptl/nptl-support.h`; those that want glibc's inner headers are not built. A test counts if it passes as it is.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::judgements::Way;
use super::tool::Tool;
use super::{Run, StrangerArgs};
use crate::Result;
use crate::cargo_threadbare::Budget;

/// Headers of which the tests use what is in ours.
const HEADERS: &[&str] = &[
    "support/capture_subprocess.h",
    "support/check.h",
    "support/subprocess.h",
    "support/support.h",
    "support/temp_file.h",
    "support/test-driver.h",
    "support/timespec.h",
    "support/xdlfcn.h",
    "support/xsignal.h",
    "support/xstdio.h",
    "support/xthread.h",
    "support/xtime.h",
    "support/xunistd.h",
    "array_length.h",
    "config.h",
    "libc-diag.h",
    "stackinfo.h",
    "tst-stack-align.h",
];

/// What the tests include at their end for `main`.
const MAINS: &[&str] = &["support/test-driver.c", "test-skeleton.c"];

/// Seconds for a test as it is. Some sleep for long, and none runs for ever that is well.
const PATIENCE: &str = "60";

/// Tests at a time: those that run as they are mostly sleep.
const AT_A_TIME: usize = 2;

/// The tests that glibc's makefiles list, and which flags they want.
#[derive(Default)]
struct Listed {
    names: Vec<String>,
    flags: HashMap<String, Vec<String>>,
}

impl Listed {
    fn read(&mut self, makefile: &str) {
        const LISTS: [&str; 5] = ["tests", "xtests", "tests-internal", "tests-nolibpthread", "test-srcs"];
        for line in makefile.replace("\\\n", " ").lines() {
            let line = line.split('#').next().unwrap_or_default();
            let Some((name, value)) = line.split_once('=') else { continue };
            let name = name.trim_end_matches(['+', ':', ' ']);
            let words = value.split_whitespace();
            if LISTS.contains(&name) {
                self.names.extend(words.filter(|word| word.starts_with("tst-")).map(str::to_string));
            } else if let Some(test) = name.strip_prefix("CFLAGS-").and_then(|test| test.strip_suffix(".c")) {
                let words = words.filter(|word| !word.contains('$') && *word != "-Werror");
                self.flags.entry(test.to_string()).or_default().extend(words.map(str::to_string));
            }
        }
        self.names.sort();
        self.names.dedup();
    }
}

/// Where things are.
struct Places<'a> {
    tool: &'a Tool,
    /// Ours.
    support: PathBuf,
    tests: PathBuf,
    include: PathBuf,
    folder: PathBuf,
}

/// Builds and runs those that are chosen.
pub fn run(args: &StrangerArgs, tool: &Tool, glibc: &Path, folder: &Path) -> Result<Vec<Run>> {
    let folder = folder.join("nptl");
    let places = Places {
        tool,
        support: Path::new(env!("CARGO_MANIFEST_DIR")).join("src/strangers/c/nptl"),
        tests: folder.join("tests/nptl"),
        include: folder.join("tests/include"),
        folder,
    };
    places.lay_out(glibc)?;
    let mut listed = Listed::default();
    for makefile in ["nptl/Makefile", "sysdeps/pthread/Makefile"] {
        listed.read(&fs::read_to_string(glibc.join(makefile))?);
    }
    let budget =
        Budget { executions: args.executions.unwrap_or(100), time: args.time.unwrap_or(5), seed: args.seed };
    let timers: &[&str] = if args.loose { &[] } else { &["--timers", "ordered"] };
    let names: Vec<&String> = listed.names.iter().filter(|name| args.is_chosen(name)).collect();
    let next = AtomicUsize::new(0);
    let runs = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        let worker = || -> std::result::Result<(), String> {
            while let Some(name) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
                let flags = listed.flags.get(*name).map_or(&[][..], Vec::as_slice);
                let (way, message) =
                    places.try_one(name, flags, &budget, timers).map_err(|error| error.to_string())?;
                let run = Run { program: "glibc", test: (*name).clone(), way, message };
                runs.lock().expect("nobody panics with it").push(run);
            }
            Ok(())
        };
        let workers: Vec<_> = (0..AT_A_TIME).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("a worker that does not panic"))
    })?;
    let mut runs = runs.into_inner()?;
    runs.sort_by(|one, other| one.test.cmp(&other.test));
    Ok(runs)
}

impl Places<'_> {
    /// Copies the tests to one folder, and makes headers that lead to ours.
    fn lay_out(&self, glibc: &Path) -> Result<()> {
        for folder in [&self.tests, &self.include.join("support"), &self.include.join("posix"), &self.folder]
        {
            fs::create_dir_all(folder)?;
        }
        for from in ["nptl", "sysdeps/pthread"] {
            for entry in fs::read_dir(glibc.join(from))? {
                let path = entry?.path();
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let is_source = name.ends_with(".c") || name.ends_with(".h");
                if is_source && (name.starts_with("tst-") || name == "eintr.c") {
                    fs::copy(&path, self.tests.join(&name))?;
                }
            }
        }
        for (from, to) in [
            ("sysdeps/pthread/tst-join5.c", "include/sysdeps/pthread"),
            ("posix/tst-vfork1.c", "include/posix"),
            ("posix/tst-vfork2.c", "include/posix"),
            ("elf/tst-unwind-main.c", "elf"),
        ] {
            let to = self.folder.join("tests").join(to);
            fs::create_dir_all(&to)?;
            let name = Path::new(from).file_name().unwrap_or_default();
            fs::copy(glibc.join(from), to.join(name))?;
        }
        for header in HEADERS {
            fs::write(self.include.join(header), "#include \"nptl-support.h\"\n")?;
        }
        for main in MAINS {
            fs::write(self.include.join(main), "#include \"nptl-main.c\"\n")?;
        }
        // Some name it as `../test-skeleton.c`.
        fs::write(self.folder.join("tests/test-skeleton.c"), "#include \"nptl-main.c\"\n")?;
        Ok(())
    }

    fn try_one(
        &self,
        name: &str,
        flags: &[String],
        budget: &Budget,
        timers: &[&str],
    ) -> Result<(Way, String)> {
        let source = self.tests.join(format!("{name}.c"));
        if !source.exists() {
            return Ok((Way::NotBuilt, "it is not in C".to_string()));
        }
        let (plain, instrumented) =
            (self.folder.join("plain").join(name), self.folder.join("built").join(name));
        for (mut compiler, to) in [(Command::new("cc"), &plain), (self.tool.compile("cc"), &instrumented)] {
            if let Some(error) = self.build(&mut compiler, &source, to, flags)? {
                return Ok((Way::NotBuilt, error));
            }
        }
        let work = self.folder.join("work").join(name);
        fs::create_dir_all(&work)?;
        let status = Command::new("timeout")
            .args(["-k", "3", PATIENCE])
            .arg(&plain)
            .current_dir(&work)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()?;
        if !status.success() {
            return Ok((Way::FailsWithoutUs, status.to_string()));
        }
        self.tool.run("hunt", &instrumented, &[], &work, budget, timers)
    }

    /// Builds a test unless that has been done; says what the compiler has against it.
    fn build(
        &self,
        compiler: &mut Command,
        source: &Path,
        to: &Path,
        flags: &[String],
    ) -> Result<Option<String>> {
        if let Some(folder) = to.parent() {
            fs::create_dir_all(folder)?;
        }
        let output = compiler
            .args(["-g", "-O2", "-std=gnu11", "-D_GNU_SOURCE", "-w", "-pthread"])
            .args([
                Path::new("-I"),
                &self.tests,
                Path::new("-I"),
                &self.include,
                Path::new("-I"),
                &self.support,
            ])
            .args(flags)
            .arg(source)
            .args(["-ldl", "-lrt", "-o"])
            .arg(to)
            .output()?;
        if output.status.success() {
            return Ok(None);
        }
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let error = said.lines().find(|line| line.contains("error") || line.contains("undefined"));
        Ok(Some(error.unwrap_or("it does not compile").to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_and_their_flags_are_read_from_a_makefile() {
        let mut listed = Listed::default();
        listed.read("tests += tst-a \\\n\t tst-b other # tst-c\nCFLAGS-tst-b.c += -fexceptions $(x) -Werror\nx = tst-d\n");
        assert_eq!(listed.names, ["tst-a", "tst-b"]);
        assert_eq!(listed.flags["tst-b"], ["-fexceptions"]);
    }
}
