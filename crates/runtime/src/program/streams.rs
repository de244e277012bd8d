//! Stdio streams, as far as they make threads wait for each other.
//!
//! The C library reads inside itself, where nothing can be interposed: a stream over a pipe is
//! therefore waited for before the call. Locks are modelled where programs take them by hand: the
//! C library's own lock would be held across switches, and the next thread to want it would
//! stop everybody. What single stdio calls lock on their own is never held across a switch.

use std::ffi::{c_char, c_int, c_void};

use std::collections::BTreeMap;

use threadbare_library::Stream;

use super::blocking_call::scheduling_point;
use crate::engine::{engine, watched};
use crate::entropy;
use crate::exclusive::Borrow;
use crate::hidden_objects;
use crate::interpose::{interpose, real, site};
use crate::sync::{Limit, mutex};

unsafe extern "C" {
    fn fileno(stream: *mut c_void) -> c_int;
    static stdin: *mut c_void;
    static stdout: *mut c_void;
    static stderr: *mut c_void;
    static _IO_2_1_stdout_: c_int;
    static _IO_2_1_stderr_: c_int;
}

/// What is known of the program's streams.
#[derive(Default)]
pub struct Streams {
    /// The program may see again what goes to standard output or standard error.
    are_redirected: bool,
    /// The streams of C++ that lead out of the process.
    of_cxx: Option<[usize; 3]>,
    /// It locks streams by hand.
    are_locked: bool,
    /// Where the content of a stream over memory is told, and its length.
    memory: BTreeMap<usize, [usize; 2]>,
}

impl Streams {
    /// Whether a stream is one of those that lead out of the process.
    fn goes_out(&mut self, stream: usize) -> bool {
        let of_cxx = self.of_cxx.get_or_insert_with(|| {
            // SAFETY: looks for variables of a library that may not be there.
            [c"_ZSt4cout", c"_ZSt4cerr", c"_ZSt4clog"]
                .map(|name| unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) } as usize)
        });
        let of_c = [&raw const _IO_2_1_stdout_ as usize, &raw const _IO_2_1_stderr_ as usize];
        of_c.contains(&stream) || of_cxx.contains(&stream)
    }
}

fn streams() -> Borrow<'static, Streams> {
    engine().world.streams.borrow_mut()
}

/// A descriptor becomes what another one is.
pub fn replaced(fd: c_int) {
    streams().are_redirected |= fd == libc::STDOUT_FILENO || fd == libc::STDERR_FILENO;
}

/// The running thread is about to call a function of the C library that uses a stream.
pub fn about_to_use(stream: Stream, name: &str, arguments: &[usize], site: u64) {
    // SAFETY: the C library's variables.
    let stream = unsafe {
        match stream {
            Stream::Argument(argument) => arguments[usize::from(argument)],
            Stream::Output => stdout as usize,
            Stream::Errors => stderr as usize,
            Stream::Input => stdin as usize,
        }
    };
    if matches!(name, "fclose" | "fflush") {
        tells(stream, site);
    }
    uses(stream, site);
    if name == "fclose" {
        streams().memory.remove(&stream);
    }
}

/// The content of a stream over memory, and how long it is, is written where the program wants to find it.
fn tells(stream: usize, site: u64) {
    let places = streams().memory.get(&stream).copied();
    for place in places.into_iter().flatten() {
        // SAFETY: the C library is about to write there.
        unsafe { crate::access::range(place, size_of::<usize>(), true, site) };
    }
}

/// Who uses a stream changes what others find in it. What goes out of the process has no order that the program could notice.
fn uses(stream: usize, site: u64) {
    if stream == 0 || watched().is_none() || !engine().running.get() {
        return;
    }
    let are_locked = {
        let mut streams = streams();
        if !streams.are_redirected && streams.goes_out(stream) {
            return;
        }
        streams.are_locked
    };
    loop {
        hidden_objects::use_stream(stream, site);
        // The call would wait for who has locked the stream.
        if !are_locked || !mutex::is_held_by_another(mutex::recursive_at(stream)) {
            return;
        }
        mutex::lock(mutex::recursive_at(stream), Limit::Forever, site);
        mutex::unlock(mutex::recursive_at(stream), site);
    }
}

/// Waits until a stream has something to read, in its buffer or behind it.
unsafe fn await_input(stream: *mut c_void, pc: u64) {
    /// The head of a stream, as the C library's public header has it.
    #[repr(C)]
    struct Head {
        flags: c_int,
        read_pointer: usize,
        read_end: usize,
    }
    // SAFETY: the program passed a stream.
    unsafe {
        let head = &*stream.cast::<Head>();
        if head.read_pointer >= head.read_end {
            // The C library reads on where it was interrupted only after an error; it is as if it restarted.
            while scheduling_point(fileno(stream), libc::POLLIN, false, pc) {}
        }
    }
    uses(stream as usize, pc);
}

interpose! {
    /// A stream that writes to memory.
    fn open_memstream(content: *mut *mut c_char, length: *mut usize) -> *mut c_void {
        type Open = unsafe extern "C-unwind" fn(*mut *mut c_char, *mut usize) -> *mut c_void;
        let stream = real!(open_memstream as Open)(content, length);
        if !stream.is_null() {
            streams().memory.insert(stream as usize, [content as usize, length as usize]);
        }
        stream
    }
    /// Reads a line.
    fn fgets(line: *mut c_char, room: c_int, stream: *mut c_void) -> *mut c_char {
        await_input(stream, site());
        real!(fgets as unsafe extern "C-unwind" fn(*mut c_char, c_int, *mut c_void) -> *mut c_char)(line, room, stream)
    }
    /// Reads a line of any length.
    fn getline(line: *mut *mut c_char, room: *mut usize, stream: *mut c_void) -> isize {
        await_input(stream, site());
        real!(getline as unsafe extern "C-unwind" fn(*mut *mut c_char, *mut usize, *mut c_void) -> isize)(line, room, stream)
    }
    /// Reads records.
    fn fread(place: *mut c_void, size: usize, count: usize, stream: *mut c_void) -> usize {
        await_input(stream, site());
        if entropy::is_read_from(fileno(stream)) {
            entropy::fill(place, size.saturating_mul(count));
            return count;
        }
        real!(fread as unsafe extern "C-unwind" fn(*mut c_void, usize, usize, *mut c_void) -> usize)(place, size, count, stream)
    }
    /// Reads a line, with a check of the buffer's size.
    fn __fgets_chk(line: *mut c_char, size: usize, room: c_int, stream: *mut c_void) -> *mut c_char {
        await_input(stream, site());
        real!(__fgets_chk as unsafe extern "C-unwind" fn(*mut c_char, usize, c_int, *mut c_void) -> *mut c_char)(line, size, room, stream)
    }
    /// Reads records, with a check of the buffer's size.
    fn __fread_chk(place: *mut c_void, room: usize, size: usize, count: usize, stream: *mut c_void) -> usize {
        await_input(stream, site());
        if entropy::is_read_from(fileno(stream)) && size.saturating_mul(count) <= room {
            entropy::fill(place, size.saturating_mul(count));
            return count;
        }
        real!(__fread_chk as unsafe extern "C-unwind" fn(*mut c_void, usize, usize, usize, *mut c_void) -> usize)(place, room, size, count, stream)
    }
    /// Reads a character.
    fn fgetc(stream: *mut c_void) -> c_int {
        await_input(stream, site());
        if entropy::is_read_from(fileno(stream)) {
            return entropy::byte();
        }
        real!(fgetc as unsafe extern "C-unwind" fn(*mut c_void) -> c_int)(stream)
    }
    /// Reads a character.
    fn getc(stream: *mut c_void) -> c_int {
        await_input(stream, site());
        if entropy::is_read_from(fileno(stream)) {
            return entropy::byte();
        }
        real!(getc as unsafe extern "C-unwind" fn(*mut c_void) -> c_int)(stream)
    }
    /// Locks a stream.
    fn flockfile(stream: *mut c_void) {
        let pc = site();
        streams().are_locked = true;
        mutex::lock(mutex::recursive_at(stream as usize), Limit::Forever, pc);
    }
    /// Locks a stream if it is free.
    fn ftrylockfile(stream: *mut c_void) -> c_int {
        let pc = site();
        streams().are_locked = true;
        mutex::lock(mutex::recursive_at(stream as usize), Limit::Try, pc)
    }
    /// Unlocks a stream.
    fn funlockfile(stream: *mut c_void) {
        let pc = site();
        mutex::unlock(mutex::recursive_at(stream as usize), pc);
    }
}
