//! The fork server: the program as it stood before its first thread, copied for each execution.

use std::ffi::c_int;

use threadbare_wire::{CONTROL_VARIABLE, Control, MAGIC, Request, Status};

use crate::engine::{self, engine};
use crate::fiber::Fiber;
use crate::record::Shared;
use crate::{interpose, process, shadow, signals, sys, threads};
use threadbare_trace::ThreadId;

/// The descriptors to the driver.
#[derive(Clone, Copy)]
struct Pipes {
    requests: c_int,
    replies: c_int,
}

static mut PIPES: Pipes = Pipes { requests: -1, replies: -1 };

/// Looks for a driver in the environment and comes under its control.
pub fn connect() {
    // SAFETY: called once, from the library's constructor, with one thread.
    unsafe {
        let Some(shared) = map_shared() else { return };
        shadow::init();
        crate::context::init();
        let mut main = Fiber::new(ThreadId::MAIN, Fiber::new_frames());
        main.pthread = libc::pthread_self();
        main.fs = crate::context::thread_pointer();
        main.stack = threads::stack_of(main.pthread);
        let stack = main.stack;
        engine::init(shared, main);
        engine().world.stacks = stack.0..stack.1;
        engine().world.libraries = crate::libraries::Libraries::look();
        shared.control().status = Status::Starting as u32;
        shared.control().threads = 1;
        shared.control().peak_threads = 1;
        signals::init();
        process::watch_exit();
        // What the program sees and hands on is the environment it would have had.
        libc::unsetenv(c"LD_PRELOAD".as_ptr());
        libc::unsetenv(c"THREADBARE_CONTROL".as_ptr());
        interpose::set_controlled(true);
    }
}

unsafe fn map_shared() -> Option<Shared> {
    let text = std::env::var(CONTROL_VARIABLE).ok()?;
    let mut numbers = text.split(',').map(|word| word.parse::<c_int>());
    let (memory, requests, replies) = (numbers.next()?.ok()?, numbers.next()?.ok()?, numbers.next()?.ok()?);
    // SAFETY: plain system calls on descriptors; the mapping is checked before use.
    unsafe {
        let mut stat: libc::stat = std::mem::zeroed();
        if libc::fstat(memory, &mut stat) != 0 || (stat.st_size as usize) < size_of::<Control>() {
            return None;
        }
        let address = sys::call(
            libc::SYS_mmap,
            [
                0,
                stat.st_size as usize,
                (libc::PROT_READ | libc::PROT_WRITE) as usize,
                libc::MAP_SHARED as usize,
                memory as usize,
                0,
            ],
        );
        if address < 0 || (*(address as *const Control)).magic != MAGIC {
            return None;
        }
        for fd in [memory, requests, replies] {
            sys::call(
                libc::SYS_fcntl,
                [fd as usize, libc::F_SETFD as usize, libc::FD_CLOEXEC as usize, 0, 0, 0],
            );
        }
        PIPES = Pipes { requests, replies };
        Some(Shared::new(address as *mut u8))
    }
}

/// An open file at the snapshot: all copies of the process share its position and its end.
struct OpenFile {
    fd: c_int,
    position: isize,
    /// Its size, if the program may write and what is beyond can only be its own.
    size: Option<isize>,
}

impl OpenFile {
    fn look(fd: c_int) -> Option<OpenFile> {
        let seek = |offset: isize, from: c_int| {
            // SAFETY: fails harmlessly on what has no position.
            unsafe { sys::call(libc::SYS_lseek, [fd as usize, offset as usize, from as usize, 0, 0, 0]) }
        };
        let position = seek(0, libc::SEEK_CUR);
        if position < 0 {
            return None;
        }
        // SAFETY: asks for the flags.
        let flags =
            unsafe { sys::call(libc::SYS_fcntl, [fd as usize, libc::F_GETFL as usize, 0, 0, 0, 0]) } as c_int;
        // Others may append to a file that is open for appending.
        let own = flags & libc::O_ACCMODE != libc::O_RDONLY && flags & libc::O_APPEND == 0;
        let size = own.then(|| seek(0, libc::SEEK_END)).filter(|size| *size >= 0);
        seek(position, libc::SEEK_SET);
        Some(OpenFile { fd, position, size })
    }

    /// Puts the file back to where the program had it.
    fn restore(&self) {
        let fd = self.fd as usize;
        // SAFETY: the program's own file; truncating fails harmlessly on what is none.
        unsafe {
            if let Some(size) = self.size {
                sys::call(libc::SYS_ftruncate, [fd, size as usize, 0, 0, 0, 0]);
            }
            sys::call(libc::SYS_lseek, [fd, self.position as usize, libc::SEEK_SET as usize, 0, 0, 0]);
        }
    }
}

fn open_files() -> Vec<OpenFile> {
    const DESCRIPTORS: c_int = 256;
    (0..DESCRIPTORS).filter_map(OpenFile::look).collect()
}

/// The program is about to start its first thread. This process stays here and serves; the
/// function returns in each copy.
pub fn snapshot() {
    let engine = engine();
    engine.complete_write();
    let control = engine.shared.control();
    let files = open_files();
    let descriptors = crate::descriptors::hold();
    control.status = Status::Serving as u32;
    // SAFETY: written once, before.
    let pipes = unsafe { PIPES };
    sys::write(pipes.replies, b"s");
    loop {
        let mut request = 0u8;
        // SAFETY: a one-byte read.
        let got = unsafe {
            sys::call(libc::SYS_read, [pipes.requests as usize, &raw mut request as usize, 1, 0, 0, 0])
        };
        if got == -(libc::EINTR as isize) {
            continue;
        }
        if got != 1 || request != Request::Run as u8 {
            sys::exit(0);
        }
        while engine.world.learned < control.learned_in {
            if let Some(record) = engine.shared.learned(engine.world.learned) {
                engine.world.heap.learn(record);
            }
            engine.world.learned += 1;
        }
        threads::fill_pool(control.plan.pool as usize);
        files.iter().for_each(OpenFile::restore);
        control.status = Status::Running as u32;
        // SAFETY: only this thread runs; parked ones need not exist in the copy.
        let child = unsafe { sys::fork() };
        if child == 0 {
            die_with_parent();
            descriptors.renew();
            engine.begin();
            return;
        }
        control.child = child;
        let mut status: c_int = 0;
        loop {
            // SAFETY: waits for the copy just made.
            let got =
                unsafe { sys::call(libc::SYS_wait4, [child as usize, &raw mut status as usize, 0, 0, 0, 0]) };
            if got == child as isize || got != -(libc::EINTR as isize) {
                break;
            }
        }
        control.child = 0;
        control.wait_status = status;
        sys::write(pipes.replies, b"d");
    }
}

fn die_with_parent() {
    // SAFETY: plain system calls.
    unsafe {
        sys::call(libc::SYS_prctl, [libc::PR_SET_PDEATHSIG as usize, libc::SIGKILL as usize, 0, 0, 0, 0]);
    }
}

/// This process is a child that the program made itself: it runs on under control, but what it
/// does is not part of the execution.
pub fn leave_campaign() {
    let engine = engine();
    engine.leave_shared_memory();
    threads::forget_pool();
    die_with_parent();
}

impl Shared {
    /// Replaces the shared memory by a private copy of its head.
    pub fn detach(&mut self) {
        let control: *mut Control = self.control();
        // SAFETY: the copy is made before the old address is replaced by private memory, of the
        // same size, at the same place.
        unsafe {
            let bytes = (*control).layout.bytes as usize;
            let copy = sys::map(size_of::<Control>()).cast::<Control>();
            std::ptr::copy_nonoverlapping(control, copy, 1);
            sys::call(
                libc::SYS_mmap,
                [
                    control as usize,
                    bytes,
                    (libc::PROT_READ | libc::PROT_WRITE) as usize,
                    (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED | libc::MAP_NORESERVE)
                        as usize,
                    usize::MAX,
                    0,
                ],
            );
            std::ptr::copy_nonoverlapping(copy, control, 1);
            (*control).plan.flags |= threadbare_wire::flags::NO_EVENTS;
            (*control).plan.max_steps = u64::MAX;
        }
    }
}
