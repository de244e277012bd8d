//! Starting a program with the runtime in it, and never leaving it behind.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};

use threadbare_wire::{CONTROL_VARIABLE, NO_SPINNING, SPIN_VARIABLE};

use crate::harness::test_output;
use crate::initial_stack;
use crate::memory::memory_file;
use crate::program::Program;
use crate::runtime_library::RuntimeLibrary;
use crate::start_entropy;
use crate::strays::{self, FileId};

/// Where the program finds our descriptors: out of the way of those it opens itself, which get
/// the lowest free numbers and must get the same ones without us.
const FIRST_DESCRIPTOR: RawFd = 900;

/// The most of a program's output that is kept of one execution.
const OUTPUT_LIMIT: u64 = 4 << 20;

/// A started program with the ends of its pipes.
pub(crate) struct Launched {
    pub process: Process,
    /// Requests to the program.
    pub requests: File,
    /// Replies from the program.
    pub replies: File,
    pub output: Output,
    /// The program's standard input; the file offset is shared with the program.
    pub stdin: Option<File>,
}

/// Starts the program; its runtime will find `memory` and two pipes.
pub(crate) fn launch(
    program: &Program,
    library: &RuntimeLibrary,
    memory: BorrowedFd<'_>,
) -> io::Result<Launched> {
    let (request_read, requests) = io::pipe()?;
    let (replies, reply_write) = io::pipe()?;
    let output = Output::new()?;
    let stdin = program.stdin.as_deref().map(copy_to_memory).transpose()?;

    let given = [memory.as_raw_fd(), request_read.as_raw_fd(), reply_write.as_raw_fd()];
    let first = FIRST_DESCRIPTOR.min(open_file_limit() - 16);
    let numbers = [first, first + 1, first + 2];
    let mut environment: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
    environment.extend(program.env.iter().map(|(name, value)| (name.into(), value.into())));
    // The program may have been linked with an older runtime; the same library name makes the
    // loader use this one instead.
    environment.insert("LD_PRELOAD".into(), preload(library));
    // Symbols looked up before the snapshot need not be looked up in every copy.
    environment.insert("LD_BIND_NOW".into(), "1".into());
    // The runtime takes it out again, if it is this very text.
    let spins = [SPIN_VARIABLE, NO_SPINNING].map(|text| OsStr::from_bytes(text.to_bytes()).to_os_string());
    let [variable, value] = spins;
    environment.entry(variable).or_insert(value);
    let control = numbers.map(|number| number.to_string()).join(",");
    environment.insert(CONTROL_VARIABLE.into(), control.into());
    initial_stack::fill(&mut environment, &program.executable, &program.args);
    let mut command = Command::new(&program.executable);
    command
        .args(&program.args)
        .env_clear()
        .envs(environment)
        .stdin(stdin.as_ref().map_or(Ok(Stdio::null()), |file| file.try_clone().map(Stdio::from))?)
        .stdout(output.file.try_clone()?)
        .stderr(output.file.try_clone()?)
        .process_group(0);
    if let Some(folder) = &program.folder {
        command.current_dir(folder);
    }
    let parent = std::process::id();
    // SAFETY: the closure only makes system calls that are safe between fork and exec.
    unsafe { command.pre_exec(move || prepare_child(given, numbers, parent)) };
    let given = [FileId::of(memory)?, FileId::of(output.file.as_fd())?];
    let process = Process::new(command.spawn()?, given)?;
    start_entropy::fix(process.id())?;
    Ok(Launched {
        process,
        requests: File::from(OwnedFd::from(requests)),
        replies: File::from(OwnedFd::from(replies)),
        output,
        stdin,
    })
}

/// Runs in the child between fork and exec: system calls only.
fn prepare_child(given: [RawFd; 3], numbers: [RawFd; 3], parent: u32) -> io::Result<()> {
    // SAFETY: plain system calls on numbers and local structures.
    unsafe {
        // An end of ours must be the end of the program, however ours comes.
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        if libc::getppid() as u32 != parent {
            return Err(io::ErrorKind::Interrupted.into());
        }
        // Where a sandbox forbids this, addresses differ between servers, but not within one.
        let persona = libc::personality(0xffff_ffff);
        if persona >= 0 {
            libc::personality(persona as libc::c_ulong | libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
        }
        // Executions fail on purpose and often: no core files.
        libc::setrlimit(libc::RLIMIT_CORE, &libc::rlimit { rlim_cur: 0, rlim_max: 0 });
        // First out of the way of the wanted numbers, then onto them.
        let mut high = [0; 3];
        for (place, descriptor) in high.iter_mut().zip(given) {
            *place = libc::fcntl(descriptor, libc::F_DUPFD_CLOEXEC, numbers[2] + 1);
        }
        for (from, to) in high.into_iter().zip(numbers) {
            if from < 0 || libc::dup2(from, to) < 0 {
                return Err(io::Error::last_os_error());
            }
        }
    }
    start_entropy::stop_at_start();
    Ok(())
}

fn open_file_limit() -> RawFd {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure is ours.
    unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) };
    RawFd::try_from(limit.rlim_cur).unwrap_or(RawFd::MAX)
}

fn preload(library: &RuntimeLibrary) -> OsString {
    let mut value = library.path().as_os_str().to_os_string();
    if let Some(others) = std::env::var_os("LD_PRELOAD").filter(|others| !others.is_empty()) {
        value.push(":");
        value.push(others);
    }
    value
}

/// A copy in memory: the user's file can neither change nor run away during a campaign.
fn copy_to_memory(path: &std::path::Path) -> io::Result<File> {
    let mut copy = memory_file(c"stdin")?;
    io::copy(&mut File::open(path)?, &mut copy)?;
    copy.rewind()?;
    Ok(copy)
}

/// What the program writes to standard output and standard error, in one file.
pub(crate) struct Output {
    file: File,
}

impl Output {
    fn new() -> io::Result<Output> {
        let file = memory_file(c"output")?;
        // Appending, so that the file can be cut back between executions without a gap.
        // SAFETY: a system call on a descriptor that is open.
        if unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFL, libc::O_APPEND) } < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Output { file })
    }

    /// How much has been written.
    pub fn len(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    /// Forgets what was written after the first `len` bytes.
    pub fn cut(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    /// What has been written from byte `from` on, up to a limit.
    pub fn read(&self, from: u64) -> io::Result<Vec<u8>> {
        let mut file = &self.file;
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.take(OUTPUT_LIMIT).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// The end of it.
    pub fn end(&self) -> Vec<u8> {
        let start = self.len().unwrap_or(0).saturating_sub(8000);
        self.read(start).unwrap_or_default()
    }

    /// The last lines, for messages.
    pub fn tail(&self) -> String {
        let bytes = self.end();
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = test_output(&text).lines().collect();
        lines[lines.len().saturating_sub(12)..].join("\n")
    }
}

/// A process group that ends with this value, and with it what has left the group.
pub(crate) struct Process {
    /// What nobody else has.
    given: [FileId; 2],
    child: Child,
    handle: OwnedFd,
    ended: Option<ExitStatus>,
}

impl Process {
    fn new(mut child: Child, given: [FileId; 2]) -> io::Result<Process> {
        // SAFETY: a system call on numbers; the result is checked before it is owned.
        let handle = unsafe { libc::syscall(libc::SYS_pidfd_open, child.id(), 0) };
        if handle < 0 {
            let error = io::Error::last_os_error();
            let _ = child.kill();
            let _ = child.wait();
            return Err(error);
        }
        // SAFETY: the descriptor is fresh and belongs to nobody else.
        let handle = unsafe { OwnedFd::from_raw_fd(handle as RawFd) };
        Ok(Process { child, handle, ended: None, given })
    }

    /// The process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// A descriptor that becomes readable when the process ends.
    pub fn handle(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }

    /// Whether the system was kept from choosing load addresses at random.
    pub fn has_fixed_addresses(&self) -> bool {
        let persona = std::fs::read_to_string(format!("/proc/{}/personality", self.id())).unwrap_or_default();
        let fixed = libc::ADDR_NO_RANDOMIZE as u32;
        u32::from_str_radix(persona.trim(), 16).is_ok_and(|persona| persona & fixed != 0)
    }

    /// Ends the whole group, copies of the program included, and says how its leader ended.
    pub fn end(&mut self) -> io::Result<ExitStatus> {
        if let Some(status) = self.ended {
            return Ok(status);
        }
        // Before waiting: until then the group's number cannot belong to anybody else.
        // SAFETY: a system call on numbers.
        unsafe { libc::kill(-(self.id() as i32), libc::SIGKILL) };
        let status = self.child.wait()?;
        strays::end(&self.given);
        self.ended = Some(status);
        Ok(status)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.end();
    }
}
