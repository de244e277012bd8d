//! The tool at work: killed, asked to end, and short of time.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use threadbare_sched::Rng;

use super::Tally;
use crate::Result;

/// How long the tool may take to end after it was asked to, and after its time.
const PATIENCE: Duration = Duration::from_secs(1);
/// After this a command has failed, whatever it does.
const GIVEN_UP: Duration = Duration::from_secs(120);
/// The latest moment at which it is killed or asked to end.
const LATEST: u64 = 2_000;

/// What the loader says where it cannot start a program.
const LOADER: [&str; 2] = ["error while loading shared libraries", "cannot set up thread-local storage"];

/// A program that loses updates, and threads with much to do.
const LOSING: &str = r"
#include <assert.h>
#include <pthread.h>
static int counter, noise[64];
static void *add(void *none) {
    for (int i = 0; i < 40; i++) noise[(i * 7) % 64] += noise[(i * 3) % 64];
    int seen = counter;
    counter = seen + 1;
    return none;
}
int main(void) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], 0, add, 0);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
    assert(counter == 4);
    return 0;
}
";
/// Many threads and races, none of which makes it fail.
const MANY: &str = r"
#include <pthread.h>
static int shared[64];
static void *work(void *p) {
    long n = (long)p;
    for (int i = 0; i < 60; i++) {
        int k = (i * 7 + n) % 64;
        shared[k] = shared[(k + 1) % 64] + 1;
        shared[(k * 3) % 64]++;
    }
    return 0;
}
int main(void) {
    pthread_t threads[40];
    for (long i = 0; i < 40; i++) pthread_create(&threads[i], 0, work, (void *)i);
    for (int i = 0; i < 40; i++) pthread_join(threads[i], 0);
    return 0;
}
";
/// Threads that never end.
const ENDLESS: &str = r"
#include <pthread.h>
static volatile int stop, x, y;
static void *work(void *none) {
    while (!stop) { x = x + 1; y = x; }
    return none;
}
int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, work, 0);
    while (x < 1000000000);
    stop = 1;
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
    return 0;
}
";

/// A folder with programs, and the tool.
pub struct Scene {
    folder: tempfile::TempDir,
    tool: PathBuf,
    seed: u64,
}

impl Scene {
    /// Programs to be hunted in, built.
    pub fn new(seed: u64) -> Result<Scene> {
        let tool = std::env::current_exe()?.with_file_name("threadbare");
        if !tool.exists() {
            return Err(format!("there is no {}; cargo build --release first", tool.display()).into());
        }
        let scene = Scene { folder: tempfile::tempdir()?, tool, seed };
        for (name, source) in [("losing", LOSING), ("many", MANY), ("endless", ENDLESS)] {
            let file = format!("{name}.c");
            fs::write(scene.path(&file), source)?;
            let built = scene.command(&["cc", "-O0", "-g", &file, "-o", name]).output()?;
            if !built.status.success() {
                return Err(
                    format!("{name} does not build: {}", String::from_utf8_lossy(&built.stderr)).into()
                );
            }
        }
        Ok(scene)
    }

    /// Whether limits that root does not have can only be tried as somebody else.
    pub fn is_of_root(&self) -> bool {
        // SAFETY: asks for a number.
        unsafe { libc::geteuid() == 0 }
    }

    /// Lets others write to the folder.
    pub fn open_to_all(&self) -> Result<()> {
        use std::os::unix::fs::PermissionsExt as _;
        Ok(fs::set_permissions(self.folder.path(), fs::Permissions::from_mode(0o777))?)
    }

    /// A path in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The tool, about to be started in the folder, with a mark by which all that it starts is known.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.tool);
        command.current_dir(self.folder.path()).args(args).env("THREADBARE_FAULTS", self.mark());
        command.stdin(Stdio::null());
        command
    }

    fn mark(&self) -> String {
        self.folder.path().display().to_string()
    }

    /// Runs a command to its end; none if that takes too long.
    pub fn run(&self, mut command: Command) -> Result<Option<Output>> {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0).spawn()?;
        let id = child.id();
        let (out, err) = (child.stdout.take(), child.stderr.take());
        let read = |stream: Option<Box<dyn std::io::Read + Send>>| {
            thread::spawn(move || {
                let mut bytes = Vec::new();
                let _ = stream.map(|mut stream| stream.read_to_end(&mut bytes));
                bytes
            })
        };
        let out = read(out.map(|it| Box::new(it) as _));
        let err = read(err.map(|it| Box::new(it) as _));
        let begin = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break Some(status);
            }
            if begin.elapsed() > GIVEN_UP {
                break None;
            }
            thread::sleep(Duration::from_millis(5));
        };
        if status.is_none() {
            kill_group(id);
            child.wait()?;
        }
        let (stdout, stderr) = (out.join().unwrap_or_default(), err.join().unwrap_or_default());
        Ok(status.map(|status| Output { status, stdout, stderr }))
    }

    /// What is wrong with how a command ended, whatever was done to it.
    pub fn complaint(&self, output: Option<&Output>) -> Option<String> {
        let Some(output) = output else { return Some("it did not end".into()) };
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let last = said.lines().last().unwrap_or_default();
        match output.status.code() {
            None => Some(format!("it died ({}): {last}", output.status)),
            Some(0..=2) if said.contains("this is a bug in threadbare") => Some(last.to_string()),
            Some(2) if said.trim().is_empty() => Some("exit status 2 without a word".into()),
            Some(0..=2) => None,
            // The loader says itself what it lacked: the tool never began.
            Some(127) if LOADER.iter().any(|what| said.contains(what)) => None,
            Some(code) => Some(format!("exit status {code}: {last}")),
        }
    }

    /// Processes that are left of what was started, which are ended.
    fn strays(&self) -> Vec<String> {
        // What was killed needs a moment to be gone.
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = self.started();
            if left.is_empty() || Instant::now() > deadline {
                for (process, _) in &left {
                    // SAFETY: a system call on numbers; the process carries our mark.
                    unsafe { libc::kill(*process, libc::SIGKILL) };
                }
                return left
                    .into_iter()
                    .map(|(process, name)| format!("process {process} ({name}) is left"))
                    .collect();
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn started(&self) -> Vec<(i32, String)> {
        let mark = format!("THREADBARE_FAULTS={}", self.mark());
        let Ok(all) = fs::read_dir("/proc") else { return Vec::new() };
        let numbers = all.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
        let is_ours = |process: &i32| {
            let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|word| word == mark.as_bytes())
        };
        let name = |process: i32| {
            let name = fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default();
            (process, name.trim().to_string())
        };
        numbers.filter(is_ours).map(name).collect()
    }

    /// The tool is killed at random moments while it finds failures: nothing is left running, and what it said it had found is on disk.
    pub fn kills(&self, count: u64) -> Result<Tally> {
        let mut tally = Tally::default();
        for number in 0..count {
            let out = format!("killed-{number}");
            let args = ["hunt", "losing", "--keep-going", "--executions", "1000000", "--out", &out];
            let mut tool = self.command(&args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
            let found = announcements(&mut tool);
            thread::sleep(self.moment(number));
            tool.kill()?;
            tool.wait()?;
            let found = found.join().unwrap_or_default();
            let mut failure = self.strays().into_iter().next();
            if found > 0 && schedules(&self.path(&out)).is_empty() {
                failure = Some(format!("{found} failures were announced, and no schedule is there"));
            }
            for schedule in schedules(&self.path(&out)) {
                let replay =
                    self.run(self.command(&["replay", &schedule.display().to_string(), "--quiet"]))?;
                if replay.as_ref().and_then(|it| it.status.code()) != Some(1) {
                    failure = Some(format!("{} does not fail again", schedule.display()));
                }
            }
            tally.count(failure.map(|what| format!("kill {number}: {what}")));
            let _ = fs::remove_dir_all(self.path(&out));
        }
        Ok(tally)
    }

    /// Every command is asked to end at random moments: it does within a second, with a result, and leaves nothing running.
    pub fn signals(&self, count: u64) -> Result<Tally> {
        let mut tally = Tally::default();
        let commands: [&[&str]; 7] = [
            &["hunt", "many", "--executions", "100000000"],
            &["hunt", "losing", "--keep-going", "--executions", "100000000"],
            &["check", "many", "--executions", "100000"],
            &["verify", "many"],
            &["verify", "endless"],
            &["hunt", "endless", "--strategy", "mcr"],
            &["check", "endless"],
        ];
        for number in 0..count {
            let command = commands[number as usize % commands.len()];
            let json = self.path("signalled.json");
            let _ = fs::remove_file(&json);
            let path = json.display().to_string();
            let args = [command, &["--time", "100", "--json", &path, "--quiet"]].concat();
            let mut tool = self.command(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
            thread::sleep(self.moment(number));
            let begin = Instant::now();
            // SAFETY: a system call on numbers; the tool is our child, and was not waited for.
            unsafe { libc::kill(tool.id() as i32, libc::SIGTERM) };
            while tool.try_wait()?.is_none() && begin.elapsed() < GIVEN_UP {
                thread::sleep(Duration::from_millis(2));
            }
            let took = begin.elapsed();
            let mut failure = self.strays().into_iter().next();
            if took > PATIENCE {
                failure = Some(format!("it took {:.2} s to end", took.as_secs_f64()));
            }
            let ended_before_it_began = tool.wait()?.code() == Some(2);
            if !json.exists() && !ended_before_it_began {
                failure = Some("there is no result".into());
            }
            let _ = tool.kill();
            tally.count(failure.map(|what| format!("signal {number}, {}: {what}", command.join(" "))));
        }
        Ok(tally)
    }

    /// Commands that could go on for long keep their time.
    pub fn deadlines(&self, seconds: u64) -> Result<Tally> {
        let mut tally = Tally::default();
        for program in ["losing", "many", "endless"] {
            for command in ["hunt", "check", "verify"] {
                let time = seconds.to_string();
                let args = [command, program, "--time", &time, "--keep-going", "--executions", "100000000"];
                let begin = Instant::now();
                let output = self.run(self.command(&args))?;
                let late = begin.elapsed().saturating_sub(Duration::from_secs(seconds));
                let failure = self.complaint(output.as_ref());
                let failure = failure
                    .or((late > PATIENCE).then(|| format!("{:.2} s after its time", late.as_secs_f64())));
                tally.count(failure.map(|what| format!("{command} {program}: {what}")));
            }
        }
        Ok(tally)
    }

    fn moment(&self, number: u64) -> Duration {
        Duration::from_millis(Rng::derive(self.seed, number) % LATEST)
    }
}

/// Counts the failures that the tool announces, until it ends.
fn announcements(tool: &mut Child) -> thread::JoinHandle<usize> {
    let stream = tool.stderr.take();
    thread::spawn(move || {
        let lines = stream.map(|stream| BufReader::new(stream).lines());
        lines.map_or(0, |lines| {
            lines.map_while(std::io::Result::ok).filter(|line| line.contains(": found ")).count()
        })
    })
}

/// The schedules in a folder.
fn schedules(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    paths.filter(|path| path.extension().is_some_and(|end| end == "schedule")).collect()
}

fn kill_group(process: u32) {
    // SAFETY: a system call on numbers; the group is that of a child of ours that was not waited for.
    unsafe { libc::kill(-(process as i32), libc::SIGKILL) };
}
