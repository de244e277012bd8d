//! How the process ends, and how it makes others.

use std::ffi::{c_char, c_int, c_uint, c_void};

use threadbare_library::HiddenObject;
use threadbare_trace::{EventKind, FailureKind, ThreadId};
use threadbare_wire::{Status, flags};

use crate::engine::engine;
use crate::fiber::{Breaks, Fiber, Waitable};
use crate::interpose::{instrumented_site, interpose, real, site};
use crate::shared_memory::{note_calls, note_failure};
use crate::sync::{note, step, step_when};
use crate::{hidden_objects, server, sys, thread_specific};

/// Steps that other threads may make while one waits to end the process. Some never come to an end of their own.
const PATIENCE: u64 = 2_000;

/// Registers for the very end of an ordinary exit. Registered first, run last.
pub fn watch_exit() {
    unsafe extern "C" {
        fn on_exit(function: extern "C-unwind" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
        fn at_quick_exit(function: extern "C-unwind" fn()) -> c_int;
    }
    #[unsafe(naked)]
    extern "C-unwind" fn at_end(_status: c_int, _argument: *mut c_void) {
        crate::arch::enter!(end)
    }
    #[unsafe(naked)]
    extern "C-unwind" fn at_quick_end() {
        crate::arch::enter!(end)
    }
    // SAFETY: the functions live as long as the process.
    unsafe {
        on_exit(at_end, std::ptr::null_mut());
        at_quick_exit(at_quick_end);
    }
}

/// The end of the process, which waits until the other threads have made their steps.
///
/// Every run of the program is the beginning of one in which the others go as far as they can before the end, and whoever
/// fails in the one fails in the other. So this order stands for all, and no other has to be tried.
struct EndOfProcess {
    /// The step at which the thread came here.
    since: u64,
}

impl EndOfProcess {
    fn is_impatient(&self) -> bool {
        engine().shared.control().steps > self.since + PATIENCE
    }
}

impl Waitable for EndOfProcess {
    fn ready(&self, fiber: &Fiber) -> bool {
        self.is_impatient() || !engine().threads.live().any(|other| other.id != fiber.id && is_busy(other))
    }

    fn what(&self) -> String {
        "the end of the process".to_string()
    }
}

/// Whether a thread has a step to make before the process ends. A thread that sleeps, or whose wait only time would end, has not:
/// it takes no time to end.
fn is_busy(fiber: &Fiber) -> bool {
    !spins(fiber) && !is_ending(fiber) && !sleeps(fiber) && fiber.ready()
}

/// Whether a thread seems to wait for others, who have done nothing since.
fn spins(fiber: &Fiber) -> bool {
    fiber.yielded_at.get() == Some(engine().progress.get())
}

/// Whether a thread that seems to wait may have a way out of its loop.
fn may_leave_its_loop(fiber: &Fiber) -> bool {
    spins(fiber) && !crate::thread_state_hash::is_in_loop(fiber)
}

fn is_ending(fiber: &Fiber) -> bool {
    next_kind(fiber) == EventKind::End
}

fn sleeps(fiber: &Fiber) -> bool {
    next_kind(fiber) == EventKind::Sleep || fiber.timed_out()
}

fn next_kind(fiber: &Fiber) -> EventKind {
    // SAFETY: nothing changes it meanwhile.
    unsafe { fiber.pending.peek().kind }
}

/// Whether the running thread is one of several.
fn has_company() -> bool {
    engine().running.get() && engine().threads.live_count() > 1
}

/// The right to end the process in order: who calls `exit` while another thread does waits for the end.
struct SoleExit;

impl Waitable for SoleExit {
    fn ready(&self, fiber: &Fiber) -> bool {
        engine().world.exits.get().is_none_or(|thread| thread == fiber.id)
    }

    fn what(&self) -> String {
        "another thread to end the process".to_string()
    }

    fn holder(&self) -> Option<ThreadId> {
        engine().world.exits.get()
    }
}

/// The running thread begins to end the process in order.
extern "C-unwind" fn begin_exit() {
    if !crate::interpose::controlled() {
        return;
    }
    if has_company() {
        let sole = SoleExit;
        step_when(EventKind::End, 0, instrumented_site(), Some(&raw const sole), None);
    } else {
        // The numbers of later operations must not depend on whether others are left.
        engine().current().count_operation();
    }
    hidden_objects::look_at(HiddenObject::ExitFunctions, instrumented_site());
    engine().world.exits.set(Some(engine().current_id()));
}

/// Whether another thread is at it to call the functions of the end: the library looks for the next one after each of them, and that is no step.
pub fn is_ended_by_another() -> bool {
    engine().world.exits.get().is_some_and(|thread| thread != engine().current_id())
}

/// The process ends here, once the other threads have made their steps.
extern "C-unwind" fn end() {
    if !crate::interpose::controlled() {
        return;
    }
    if has_company() {
        let end = EndOfProcess { since: engine().shared.control().steps };
        step_when(EventKind::End, 0, instrumented_site(), Some(&raw const end), None);
        if others_that(may_leave_its_loop) {
            crate::dependences::note_loop_at_end();
        }
        if others_that(is_busy) {
            crate::dependences::note_early_end(false);
        } else if others_that(|other| is_ending(other) || sleeps(other)) {
            crate::dependences::note_early_end(true);
        }
    }
    finish();
}

/// Nobody outside has come for as long as the driver wants to wait: the execution is at its end.
pub fn end_of_waiting() -> ! {
    crate::dependences::note_early_end(false);
    finish();
    sys::exit(0)
}

/// Whether some thread besides the running one is so.
fn others_that(are_so: fn(&Fiber) -> bool) -> bool {
    let current = engine().current_id();
    engine().threads.live().any(|other| other.id != current && are_so(other))
}

/// Whether a failure of the running thread hides what others could have done before: it has made no step yet, and so nobody had a choice; or
/// others would have found changed what its last step changed; or some thread waits to end the process with a bad status, and by itself would
/// not have waited.
pub fn fails_too_early() -> bool {
    let has_no_step = || engine().current().starting.get().is_some();
    let hides_change = || is_noticed(next_kind(engine().current())) && others_that(is_busy);
    let hides_end = || engine().world.ends_badly.get() && others_that(is_ending);
    engine().running.get() && (has_no_step() || hides_change() || hides_end())
}

/// Whether others can find a difference after a step of this kind. What it only looks at, it could as well look at after their steps, or would
/// find something else there.
fn is_noticed(step: EventKind) -> bool {
    use EventKind::*;
    match step {
        Read | ReadRange | AtomicRead | AtomicFailed | LockFailed | SemFailed | OnceSeen | JoinFailed => {
            false
        }
        Yield | Sleep | Fence | Frame | Start | Alloc => false,
        Write | WriteRange | AtomicWrite | AtomicUpdate | Free | Lock | Unlock | ReadLock | Init
        | Destroy => true,
        CondWait | CondWake | CondTimeout | CondSignal | CondBroadcast | BarrierArrive | BarrierLeave => true,
        SemWait | SemPost | OnceBegin | OnceEnd | FutexWait | FutexWoken | FutexTimeout | FutexWake => true,
        Create | Exit | Join | Detach | Cancel | Signal | Io | Process | End | LibraryCall => true,
    }
}

/// A thread is about to end the process with this status.
fn note_status(status: c_int) {
    engine().world.ends_badly.set(engine().world.ends_badly.get() || status != 0);
}

/// The execution reached an end of its own.
fn finish() {
    let engine = engine();
    engine.recorder.complete_write();
    engine.threads.all().for_each(crate::sync::see_that_all_is_recorded);
    crate::call_profile::end(None);
    crate::shared_memory::note_policy();
    engine.shared.control().ended_by = u32::from(engine.current_id().0) + 1;
    engine.shared.control().unheard = threads_that(is_unheard);
    engine.shared.control().joined = threads_that(|fiber| fiber.joined.get());
    engine.shared.control().status = Status::Ended as u32;
}

/// Whether a thread has ended without anybody asking how, and does not know better itself.
fn is_unheard(fiber: &Fiber) -> bool {
    let has_ended = fiber.done.get() || engine().world.ends_last.get() == Some(fiber.id);
    has_ended
        && !fiber.joined.get()
        && !fiber.answers_to_scope.get()
        && !fiber.caught.get()
        && !is_passed_on(fiber)
}

/// Whether a scope may have passed on how a thread ended. A library without stubs does not report which threads belong to one,
/// but a scope panics itself if one of its threads did.
fn is_passed_on(fiber: &Fiber) -> bool {
    !engine().world.has_stubs.get() && engine().fiber(fiber.creator).raised.get()
}

/// Whether a thread has panicked and ended, and nobody has asked how.
pub fn has_unheard_panic() -> bool {
    engine().threads.all().any(|fiber| fiber.raised.get() && is_unheard(fiber))
}

/// A bit for each of the threads that are so, as far as they fit.
fn threads_that(are_so: impl Fn(&Fiber) -> bool) -> u64 {
    let threads = engine().threads.all().filter(|fiber| are_so(fiber));
    threads.filter_map(|fiber| 1u64.checked_shl(u32::from(fiber.id.0))).fold(0, |all, bit| all | bit)
}

/// Notes who ends the program, and where, if that is a failure. The first one counts: a function that runs at the exit
/// may call it again.
fn note_exit(status: c_int) {
    note_status(status);
    let control = engine().shared.control();
    let given_up = engine().world.giving_up.borrow_mut().take_if(|it| it.thread == engine().host_id());
    if let Some(GivingUp { kind, message, .. }) = given_up.filter(|_| status != 0) {
        note_failure(kind, format_args!("{message}"));
    } else if status != 0 {
        if control.stack_len == 0 {
            note_calls();
        }
    } else if control.plan.flags & flags::RUST_TEST != 0 {
        // The harness returns from `main` when a test has passed.
        note_failure(
            FailureKind::Exit,
            format_args!("the test ended the process with exit status 0 before it had a result"),
        );
    }
}

/// The program's own `main`.
pub type Main = unsafe extern "C-unwind" fn(c_int, *mut *mut c_char, *mut *mut c_char) -> c_int;

type StartFn = unsafe extern "C-unwind" fn(
    Main,
    c_int,
    *mut *mut c_char,
    *mut c_void,
    *mut c_void,
    *mut c_void,
    *mut c_void,
) -> c_int;

/// Runs `main`; to return from it is to end the process.
unsafe extern "C-unwind" fn run_main(
    count: c_int,
    arguments: *mut *mut c_char,
    environment: *mut *mut c_char,
) -> c_int {
    let Some(main) = engine().world.main.get() else { sys::die("there is no main") };
    // SAFETY: the program's own main with its own arguments.
    let status = unsafe { main(count, arguments, environment) };
    note_status(status);
    #[unsafe(naked)]
    extern "C-unwind" fn main_has_returned() {
        crate::arch::enter!(begin_exit)
    }
    main_has_returned();
    status
}

/// All threads have ended, main included, but the running one: the functions that are called at the end of the process are part of it.
pub fn end_of_last_thread() -> ! {
    // SAFETY: exit may be called from any thread.
    unsafe { libc::exit(0) }
}

fn print(program_text: &str) {
    sys::write(2, program_text.as_bytes());
}

unsafe fn text(place: *const c_char) -> String {
    if place.is_null() {
        return String::new();
    }
    // SAFETY: the compiler passes C strings.
    unsafe { std::ffi::CStr::from_ptr(place).to_string_lossy().into_owned() }
}

/// A thread that has given up, while the program's handler for that runs.
pub struct GivingUp {
    thread: ThreadId,
    kind: FailureKind,
    message: String,
}

/// The running thread gives up at `pc`. The program's handler comes first, which may know better: it may jump out, or end the process itself.
fn abort_at(pc: u64, kind: FailureKind, message: std::fmt::Arguments<'_>) -> ! {
    let engine = engine();
    let thread = engine.host_id();
    if crate::signals::has_handler(libc::SIGABRT) && !is_giving_up(thread) {
        engine.world.giving_up.set(Some(GivingUp { thread, kind, message: message.to_string() }));
        crate::signals::send::let_through_to_itself(libc::SIGABRT, pc);
        gives_up_no_more(thread);
    }
    engine.current().set_site(pc);
    note_failure(kind, message);
    finish();
    die_by(libc::SIGABRT, 134)
}

fn is_giving_up(thread: ThreadId) -> bool {
    engine().world.giving_up.borrow_mut().as_ref().is_some_and(|it| it.thread == thread)
}

/// The handler for that has been left.
pub fn gives_up_no_more(thread: ThreadId) {
    engine().world.giving_up.borrow_mut().take_if(|it| it.thread == thread);
}

/// The process ends because of a failure. A child of the program dies by the signal, as its parent has to see it. Of the program itself the driver
/// knows why, and the system does not have to write down its memory.
fn die_by(signal: c_int, status: c_int) -> ! {
    if crate::process_identity::is_copy() {
        crate::signals::deliver::die_by(signal);
    }
    sys::exit(status)
}

interpose! {
    /// A failed assertion.
    fn __assert_fail(expression: *const c_char, file: *const c_char, line: c_uint, function: *const c_char) {
        let pc = site();
        let (expression, file, function) = (text(expression), text(file), text(function));
        print(&format!("{file}:{line}: {function}: Assertion `{expression}' failed.\n"));
        abort_at(pc, FailureKind::Assertion, format_args!("assertion `{expression}` failed in {function} ({file}:{line})"))
    }
    /// A failed check of an error number.
    fn __assert_perror_fail(error: c_int, file: *const c_char, line: c_uint, function: *const c_char) {
        let pc = site();
        let (file, function) = (text(file), text(function));
        print(&format!("{file}:{line}: {function}: Unexpected error {error}.\n"));
        abort_at(pc, FailureKind::Assertion, format_args!("unexpected error {error} in {function} ({file}:{line})"))
    }
    /// The program gives up.
    fn abort() {
        let from = crate::arch::caller();
        let by_terminate = engine().world.libraries().is_system(from);
        let pc = instrumented_site();
        if by_terminate {
            abort_at(pc, FailureKind::Exception, format_args!("the C++ runtime called std::terminate"))
        }
        abort_at(pc, FailureKind::Abort, format_args!("the program called abort"))
    }
    /// A smashed stack.
    fn __stack_chk_fail() {
        abort_at(site(), FailureKind::Abort, format_args!("a stack buffer was overrun"))
    }
    /// A write beyond the end of an object, that `_FORTIFY_SOURCE` has found out.
    fn __chk_fail() {
        print("*** buffer overflow detected ***: terminated\n");
        abort_at(site(), FailureKind::Abort, format_args!("a buffer was overrun"))
    }
    /// The process begins; it ends with what `main` returns.
    fn __libc_start_main(
        main: Main,
        count: c_int,
        arguments: *mut *mut c_char,
        init: *mut c_void,
        fini: *mut c_void,
        loader_fini: *mut c_void,
        stack_end: *mut c_void,
    ) -> c_int {
        engine().world.main.set(Some(main));
        real!(__libc_start_main as StartFn)(run_main, count, arguments, init, fini, loader_fini, stack_end)
    }
    /// The process ends in order.
    fn exit(status: c_int) {
        engine().current().set_site(instrumented_site());
        begin_exit();
        note_exit(status);
        thread_specific::run_exit_functions();
        real!(exit as unsafe extern "C-unwind" fn(c_int))(status)
    }
    /// The process ends at once.
    fn _exit(status: c_int) {
        engine().current().set_site(instrumented_site());
        note_exit(status);
        end();
        sys::exit(status)
    }
    /// The process ends at once.
    fn _Exit(status: c_int) {
        engine().current().set_site(instrumented_site());
        note_exit(status);
        end();
        sys::exit(status)
    }
    /// The process ends, with the quick handlers only.
    fn quick_exit(status: c_int) {
        engine().current().set_site(instrumented_site());
        begin_exit();
        note_exit(status);
        real!(quick_exit as unsafe extern "C-unwind" fn(c_int))(status)
    }
    /// Copies the process; the copy has only the calling thread.
    fn fork() -> c_int { fork_program(site()) }
    /// As `fork`: the copy gets memory of its own, which is allowed and safer.
    fn vfork() -> c_int { fork_program(site()) }
    /// Waits for any child process.
    fn wait(status: *mut c_int) -> c_int { wait_for(-1, status, 0, std::ptr::null_mut(), site()) }
    /// Waits for a child process.
    fn waitpid(child: c_int, status: *mut c_int, options: c_int) -> c_int {
        wait_for(child, status, options, std::ptr::null_mut(), site())
    }
    /// Waits for a child process and its usage.
    fn wait4(child: c_int, status: *mut c_int, options: c_int, usage: *mut libc::rusage) -> c_int {
        wait_for(child, status, options, usage, site())
    }
    /// Waits for any child process and its usage.
    fn wait3(status: *mut c_int, options: c_int, usage: *mut libc::rusage) -> c_int {
        wait_for(-1, status, options, usage, site())
    }
    /// Ends the program that a thread without pthreads would escape from.
    fn clone(function: *mut c_void, stack: *mut c_void, flags: c_int, argument: *mut c_void) -> c_int {
        crate::shared_memory::unsupported("clone() to make threads or processes")
    }
}

unsafe fn fork_program(pc: u64) -> c_int {
    step(EventKind::Process, 0, pc);
    note(EventKind::Process, 0, 0);
    if let Some(what) = engine().world.not_shareable.get() {
        crate::shared_memory::unsupported(&format!("fork() together with {what} shared between processes"));
    }
    if crate::signals::handles(libc::SIGCHLD) {
        engine().shared.warn(
            "the program handles SIGCHLD: that handler runs when the system says, not when the policy does",
        );
    }
    engine().world.forked.set(true);
    let become_copy = crate::process_identity::before_copy();
    // SAFETY: the original runs the program's own fork handlers.
    let child = unsafe { real!(fork as unsafe extern "C-unwind" fn() -> c_int)() };
    if child == 0 {
        server::leave_campaign();
        become_copy();
        if engine().world.process_shared.get() {
            crate::sync::mutex::leave_to_the_original();
            crate::sync::rwlock::leave_to_the_original();
        }
    }
    child
}

/// A child process whose end is waited for; lives on the waiting thread's stack.
struct ChildEnd(c_int);

impl Waitable for ChildEnd {
    fn ready(&self, fiber: &Fiber) -> bool {
        // SAFETY: looks without taking; an all-zero record means that nobody has ended.
        crate::cancel::is_due(fiber)
            || unsafe {
                let mut info: libc::siginfo_t = std::mem::zeroed();
                let (kind, id) = if self.0 > 0 { (libc::P_PID, self.0) } else { (libc::P_ALL, 0) };
                let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
                let result = sys::call(
                    libc::SYS_waitid,
                    [kind as usize, id as usize, &raw mut info as usize, options as usize, 0, 0],
                );
                result < 0 || info.si_pid() != 0
            }
    }

    fn what(&self) -> String {
        "a child process to end".to_string()
    }

    fn breaks(&self) -> Breaks {
        Breaks::UnlessRestarted
    }

    fn outside(&self) -> bool {
        true
    }
}

unsafe fn wait_for(
    child: c_int,
    status: *mut c_int,
    options: c_int,
    usage: *mut libc::rusage,
    pc: u64,
) -> c_int {
    let end = ChildEnd(child);
    // Before the first thread the system may as well wait itself.
    if options & libc::WNOHANG == 0 && engine().running.get() {
        crate::cancel::check(engine().current());
        crate::signals::before_call(pc);
        step_when(EventKind::Process, 0, pc, Some(&raw const end), None);
        crate::cancel::check(engine().current());
        if engine().current().take_broken_off() {
            return crate::sync::or_errno(libc::EINTR);
        }
        note(EventKind::Process, 0, 0);
    }
    // SAFETY: the program's own arguments.
    let result = unsafe {
        sys::call(
            libc::SYS_wait4,
            [child as isize as usize, status as usize, options as usize, usage as usize, 0, 0],
        )
    };
    if result < 0 { crate::sync::or_errno(-result as c_int) } else { result as c_int }
}

/// Ends the execution because of a fatal signal.
pub fn killed_by(signal: c_int, address: usize) -> ! {
    match signal {
        libc::SIGSEGV | libc::SIGBUS if is_beyond_stack(address) => {
            let (lowest, highest) = engine().current().stack.get();
            note_failure(
                FailureKind::Segfault,
                format_args!(
                    "stack overflow: the thread has used up its stack of {} KiB",
                    (highest - lowest) >> 10
                ),
            )
        }
        libc::SIGSEGV | libc::SIGBUS if address < 4096 => note_failure(
            FailureKind::Segfault,
            format_args!("segmentation fault: access through a null pointer (address {address:#x})"),
        ),
        libc::SIGSEGV => {
            note_failure(FailureKind::Segfault, format_args!("segmentation fault at address {address:#x}"))
        }
        libc::SIGBUS => {
            note_failure(FailureKind::Segfault, format_args!("bus error at address {address:#x}"))
        }
        libc::SIGFPE => {
            note_failure(FailureKind::Segfault, format_args!("arithmetic fault (division by zero?)"))
        }
        libc::SIGILL => note_failure(FailureKind::Segfault, format_args!("illegal instruction")),
        libc::SIGABRT => note_failure(FailureKind::Abort, format_args!("the program was aborted")),
        other => note_failure(FailureKind::Segfault, format_args!("killed by signal {other}")),
    }
    die_by(signal, 1)
}

/// Whether an address is where the running thread's stack would go on if it had more.
fn is_beyond_stack(address: usize) -> bool {
    /// Guard pages are at least as large, and a function may reach over the first one.
    const GUARD: usize = 1 << 16;
    const PAGE: usize = 4096;
    let (lowest, highest) = engine().current().stack.get();
    highest > lowest && (lowest.saturating_sub(GUARD)..lowest + PAGE).contains(&address)
}
