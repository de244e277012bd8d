//! The fork server: the program in its state before its first thread, copied for each execution.

use std::ffi::{CStr, c_int};
use std::mem::ManuallyDrop;

use threadbare_wire::{
    CONTROL_VARIABLE, Control, MAGIC, NO_SPINNING, Reply, ReplyKind, Request, SPIN_VARIABLE, Status, flags,
};

use crate::descriptors::Held;
use crate::engine::{self, engine};
use crate::fiber::Fiber;
use crate::files::OpenFiles;
use crate::processors::Processors;
use crate::shared_memory::Shared;
use crate::steered::Outward;
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
        crate::hidden_objects::init();
        crate::arch::init();
        let main = Fiber::new(ThreadId::MAIN, Fiber::new_frames());
        main.pthread.set(libc::pthread_self());
        main.thread_pointer.set(crate::arch::thread_pointer());
        main.stack.set(threads::stack_of(main.pthread.get()));
        let stack = main.stack.get();
        engine::init(shared, main);
        engine().world.stacks.set(stack.0..stack.1);
        engine().world.libraries();
        engine().world.uninstrumented.set(crate::uninstrument::apply(&shared, 0));
        if shared.control().plan.flags & flags::CALLS != 0 {
            crate::call_profile::begin(shared.control().uninstrument == 0);
        }
        shared.control().status = Status::Starting as u32;
        shared.control().threads = 1;
        shared.control().peak_threads = 1;
        signals::init();
        process::watch_exit();
        crate::library_calls::watch();
        // What the program sees and hands on is the environment it would have had.
        libc::unsetenv(c"LD_PRELOAD".as_ptr());
        libc::unsetenv(c"THREADBARE_CONTROL".as_ptr());
        libc::unsetenv(c"THREADBARE_FILLER".as_ptr());
        let spins = libc::getenv(SPIN_VARIABLE.as_ptr());
        if !spins.is_null() && CStr::from_ptr(spins) == NO_SPINNING {
            libc::unsetenv(SPIN_VARIABLE.as_ptr());
        }
        interpose::set_controlled(true);
        crate::entropy::init();
        crate::processor_clock::init();
        crate::raw_system_calls::init();
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

/// Reports something about this process to the driver.
pub fn report(kind: ReplyKind) {
    reply(Reply { kind: kind as u32, process: sys::process(), status: 0 });
}

fn reply(reply: Reply) {
    // SAFETY: the pipes were set once, before; the record is plain numbers without gaps.
    unsafe {
        let bytes = std::slice::from_raw_parts((&raw const reply).cast::<u8>(), size_of::<Reply>());
        sys::write(PIPES.replies, bytes);
    }
}

/// The next request; none once the driver has gone.
fn next_request() -> Option<u8> {
    loop {
        let mut request = 0u8;
        // SAFETY: a one-byte read.
        let got = unsafe {
            sys::call(libc::SYS_read, [PIPES.requests as usize, &raw mut request as usize, 1, 0, 0, 0])
        };
        if got != -(libc::EINTR as isize) {
            return (got == 1).then_some(request);
        }
    }
}

/// What every copy finds as it was at the snapshot.
struct Surroundings {
    files: OpenFiles,
    processors: Processors,
    descriptors: Held,
}

impl Surroundings {
    /// They as they are. Kept for good: a copy that dropped them would pay for the pages that it writes to.
    #[cold]
    fn look() -> ManuallyDrop<Surroundings> {
        let (files, processors) = (OpenFiles::look(), Processors::look());
        let descriptors = crate::descriptors::hold();
        engine().world.outward.set(Outward::look(files.descriptors(), !descriptors.is_empty()));
        ManuallyDrop::new(Surroundings { files, processors, descriptors })
    }

    /// In a copy, before it continues.
    fn renew(&self) {
        self.processors.renew();
        self.descriptors.renew();
        self.files.renew();
    }
}

/// The program is about to start its first thread. This process stays here and serves; the
/// function returns in each copy, and says whether the copy is to repeat the closure that comes next.
pub fn snapshot() -> bool {
    let engine = engine();
    engine.recorder.complete_write();
    crate::library_calls::watch();
    let mut control = engine.shared.control();
    let surroundings = Surroundings::look();
    control.status = Status::Serving as u32;
    report(ReplyKind::Serving);
    loop {
        let request = next_request();
        let steered = request == Some(Request::Steer as u8);
        let repeats = request == Some(Request::Repeat as u8);
        if !steered && !repeats && request != Some(Request::Run as u8) {
            sys::exit(0);
        }
        while engine.world.learned.get() < control.learned_in {
            if let Some(record) = engine.shared.learned(engine.world.learned.get()) {
                engine.world.heap.borrow_mut().learn(record);
            }
            engine.world.learned.set(engine.world.learned.get() + 1);
        }
        engine
            .world
            .uninstrumented
            .set(crate::uninstrument::apply(&engine.shared, engine.world.uninstrumented.get()));
        engine.world.whole_code.borrow_mut().take_in(&engine.shared);
        threads::fill_pool(control.plan.pool as usize);
        surroundings.files.restore();
        control.status = Status::Running as u32;
        // SAFETY: only this thread runs; parked ones need not exist in the copy.
        let child = unsafe { sys::fork() };
        if child == 0 {
            die_with_server();
            surroundings.renew();
            control.child = sys::process();
            engine.begin();
            return repeats;
        }
        // A steered copy may leave copies of its own behind, all of them children of this process.
        let whom = if steered && !engine.world.forked.get() { -1 } else { child };
        while let Some((process, status)) = next_end(whom) {
            reply(Reply { kind: ReplyKind::Ended as u32, process, status });
            if process == whom {
                break;
            }
        }
        if steered {
            report(ReplyKind::AllEnded);
        }
    }
}

/// Waits for the end of a copy, or of any copy (-1): its number and its wait status; none if there is
/// no copy left.
fn next_end(whom: c_int) -> Option<(c_int, c_int)> {
    loop {
        let mut status: c_int = 0;
        // SAFETY: waits for a child; the status is ours.
        let got = unsafe {
            sys::call(libc::SYS_wait4, [whom as isize as usize, &raw mut status as usize, 0, 0, 0, 0])
        };
        match got {
            process if process > 0 => return Some((process as c_int, status)),
            error if error == -(libc::EINTR as isize) => {}
            _ => return None,
        }
    }
}

/// Makes sure that this copy does not outlive its parent.
pub fn die_with_server() {
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
    crate::raw_system_calls::watch_again();
    die_with_server();
}

impl Shared {
    /// Replaces the shared memory by a private copy of its head.
    pub fn detach(&self) {
        let control = self.control().as_ptr();
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
