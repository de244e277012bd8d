//! The calls that change files.

use std::ffi::{c_char, c_int, c_uint, c_void};

use libc::{AT_FDCWD, mode_t, off_t, timespec};

use super::{about_to_change, about_to_rename, has_made};
use crate::interpose::{interpose, real};

/// Whether a file that is opened so may be changed.
fn may_change(flags: c_int) -> bool {
    let is_unnamed = flags & libc::O_TMPFILE == libc::O_TMPFILE;
    let changes = flags & libc::O_ACCMODE != libc::O_RDONLY || flags & (libc::O_CREAT | libc::O_TRUNC) != 0;
    changes && !is_unnamed && flags & libc::O_PATH == 0
}

/// Whether an opened file with the mode of a stream may be changed.
///
/// # Safety
/// The mode must be null or a text.
unsafe fn stream_may_change(mode: *const c_char) -> bool {
    // SAFETY: as the caller vouches.
    !mode.is_null()
        && unsafe { std::ffi::CStr::from_ptr(mode) }.to_bytes().iter().any(|letter| b"wa+".contains(letter))
}

unsafe fn before_open(folder: c_int, path: *const c_char, flags: c_int) {
    if may_change(flags) {
        let follows = flags & libc::O_NOFOLLOW == 0
            && flags & (libc::O_CREAT | libc::O_EXCL) != libc::O_CREAT | libc::O_EXCL;
        // SAFETY: the program's own path.
        unsafe { about_to_change(folder, path, follows) };
    }
}

type Open = unsafe extern "C-unwind" fn(*const c_char, c_int, mode_t) -> c_int;
type OpenAt = unsafe extern "C-unwind" fn(c_int, *const c_char, c_int, mode_t) -> c_int;
type OpenStream = unsafe extern "C-unwind" fn(*const c_char, *const c_char) -> *mut c_void;
type ReopenStream = unsafe extern "C-unwind" fn(*const c_char, *const c_char, *mut c_void) -> *mut c_void;
type Path = unsafe extern "C-unwind" fn(*const c_char) -> c_int;
type PathMode = unsafe extern "C-unwind" fn(*const c_char, mode_t) -> c_int;
type Paths = unsafe extern "C-unwind" fn(*const c_char, *const c_char) -> c_int;
type PathLength = unsafe extern "C-unwind" fn(*const c_char, off_t) -> c_int;
type Template = unsafe extern "C-unwind" fn(*mut c_char) -> c_int;

interpose! {
    /// Opens a file.
    fn open(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
        before_open(AT_FDCWD, path, flags);
        real!(open as Open)(path, flags, mode)
    }
    /// Opens a file.
    fn open64(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
        before_open(AT_FDCWD, path, flags);
        real!(open64 as Open)(path, flags, mode)
    }
    /// Opens a file, with a check of the arguments.
    fn __open_2(path: *const c_char, flags: c_int) -> c_int {
        before_open(AT_FDCWD, path, flags);
        real!(open as Open)(path, flags, 0)
    }
    /// Opens a file, with a check of the arguments.
    fn __open64_2(path: *const c_char, flags: c_int) -> c_int {
        before_open(AT_FDCWD, path, flags);
        real!(open64 as Open)(path, flags, 0)
    }
    /// Opens a file in a folder.
    fn openat(folder: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
        before_open(folder, path, flags);
        real!(openat as OpenAt)(folder, path, flags, mode)
    }
    /// Opens a file in a folder.
    fn openat64(folder: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
        before_open(folder, path, flags);
        real!(openat64 as OpenAt)(folder, path, flags, mode)
    }
    /// Makes a file, or empties it.
    fn creat(path: *const c_char, mode: mode_t) -> c_int {
        about_to_change(AT_FDCWD, path, true);
        real!(creat as PathMode)(path, mode)
    }
    /// Makes a file, or empties it.
    fn creat64(path: *const c_char, mode: mode_t) -> c_int {
        about_to_change(AT_FDCWD, path, true);
        real!(creat64 as PathMode)(path, mode)
    }
    /// Opens a stream.
    fn fopen(path: *const c_char, mode: *const c_char) -> *mut c_void {
        if stream_may_change(mode) { about_to_change(AT_FDCWD, path, true) }
        real!(fopen as OpenStream)(path, mode)
    }
    /// Opens a stream.
    fn fopen64(path: *const c_char, mode: *const c_char) -> *mut c_void {
        if stream_may_change(mode) { about_to_change(AT_FDCWD, path, true) }
        real!(fopen64 as OpenStream)(path, mode)
    }
    /// Opens another file with a stream.
    fn freopen(path: *const c_char, mode: *const c_char, stream: *mut c_void) -> *mut c_void {
        if stream_may_change(mode) { about_to_change(AT_FDCWD, path, true) }
        real!(freopen as ReopenStream)(path, mode, stream)
    }
    /// Opens another file with a stream.
    fn freopen64(path: *const c_char, mode: *const c_char, stream: *mut c_void) -> *mut c_void {
        if stream_may_change(mode) { about_to_change(AT_FDCWD, path, true) }
        real!(freopen64 as ReopenStream)(path, mode, stream)
    }
    /// Makes a file with a name of its own.
    fn mkstemp(template: *mut c_char) -> c_int {
        let made = real!(mkstemp as Template)(template);
        if made >= 0 { has_made(template) }
        made
    }
    /// Makes a file with a name of its own.
    fn mkstemp64(template: *mut c_char) -> c_int {
        let made = real!(mkstemp64 as Template)(template);
        if made >= 0 { has_made(template) }
        made
    }
    /// Makes a file with a name of its own, with flags.
    fn mkostemp(template: *mut c_char, flags: c_int) -> c_int {
        let made = real!(mkostemp as unsafe extern "C-unwind" fn(*mut c_char, c_int) -> c_int)(template, flags);
        if made >= 0 { has_made(template) }
        made
    }
    /// Makes a file with a name of its own and an ending.
    fn mkstemps(template: *mut c_char, ending: c_int) -> c_int {
        let made = real!(mkstemps as unsafe extern "C-unwind" fn(*mut c_char, c_int) -> c_int)(template, ending);
        if made >= 0 { has_made(template) }
        made
    }
    /// Makes a folder with a name of its own.
    fn mkdtemp(template: *mut c_char) -> *mut c_char {
        let made = real!(mkdtemp as unsafe extern "C-unwind" fn(*mut c_char) -> *mut c_char)(template);
        if !made.is_null() { has_made(made) }
        made
    }
    /// Removes a name of a file.
    fn unlink(path: *const c_char) -> c_int {
        about_to_change(AT_FDCWD, path, false);
        real!(unlink as Path)(path)
    }
    /// Removes a name of a file, or a folder.
    fn unlinkat(folder: c_int, path: *const c_char, flags: c_int) -> c_int {
        about_to_change(folder, path, false);
        real!(unlinkat as unsafe extern "C-unwind" fn(c_int, *const c_char, c_int) -> c_int)(folder, path, flags)
    }
    /// Removes a file or a folder.
    fn remove(path: *const c_char) -> c_int {
        about_to_change(AT_FDCWD, path, false);
        real!(remove as Path)(path)
    }
    /// Removes a folder.
    fn rmdir(path: *const c_char) -> c_int {
        about_to_change(AT_FDCWD, path, false);
        real!(rmdir as Path)(path)
    }
    /// Gives a file another name.
    fn rename(from: *const c_char, to: *const c_char) -> c_int {
        about_to_rename((AT_FDCWD, from), (AT_FDCWD, to));
        real!(rename as Paths)(from, to)
    }
    /// Gives a file another name.
    fn renameat(old: c_int, from: *const c_char, new: c_int, to: *const c_char) -> c_int {
        about_to_rename((old, from), (new, to));
        real!(renameat as unsafe extern "C-unwind" fn(c_int, *const c_char, c_int, *const c_char) -> c_int)(old, from, new, to)
    }
    /// Gives a file another name, with flags.
    fn renameat2(old: c_int, from: *const c_char, new: c_int, to: *const c_char, flags: c_uint) -> c_int {
        about_to_rename((old, from), (new, to));
        real!(renameat2 as unsafe extern "C-unwind" fn(c_int, *const c_char, c_int, *const c_char, c_uint) -> c_int)(old, from, new, to, flags)
    }
    /// Gives a file one more name.
    fn link(from: *const c_char, to: *const c_char) -> c_int {
        about_to_change(AT_FDCWD, to, false);
        real!(link as Paths)(from, to)
    }
    /// Gives a file one more name.
    fn linkat(old: c_int, from: *const c_char, new: c_int, to: *const c_char, flags: c_int) -> c_int {
        about_to_change(new, to, false);
        real!(linkat as unsafe extern "C-unwind" fn(c_int, *const c_char, c_int, *const c_char, c_int) -> c_int)(old, from, new, to, flags)
    }
    /// Makes a link to a path.
    fn symlink(target: *const c_char, path: *const c_char) -> c_int {
        about_to_change(AT_FDCWD, path, false);
        real!(symlink as Paths)(target, path)
    }
    /// Makes a link to a path.
    fn symlinkat(target: *const c_char, folder: c_int, path: *const c_char) -> c_int {
        about_to_change(folder, path, false);
        real!(symlinkat as unsafe extern "C-unwind" fn(*const c_char, c_int, *const c_char) -> c_int)(target, folder, path)
    }
    /// Makes a folder.
    fn mkdir(path: *const c_char, mode: mode_t) -> c_int {
        about_to_change(AT_FDCWD, path, false);
        real!(mkdir as PathMode)(path, mode)
    }
    /// Makes a folder.
    fn mkdirat(folder: c_int, path: *const c_char, mode: mode_t) -> c_int {
        about_to_change(folder, path, false);
        real!(mkdirat as unsafe extern "C-unwind" fn(c_int, *const c_char, mode_t) -> c_int)(folder, path, mode)
    }
    /// Makes a named pipe.
    fn mkfifo(path: *const c_char, mode: mode_t) -> c_int {
        about_to_change(AT_FDCWD, path, false);
        real!(mkfifo as PathMode)(path, mode)
    }
    /// Changes the length of a file.
    fn truncate(path: *const c_char, length: off_t) -> c_int {
        about_to_change(AT_FDCWD, path, true);
        real!(truncate as PathLength)(path, length)
    }
    /// Changes the length of a file.
    fn truncate64(path: *const c_char, length: off_t) -> c_int {
        about_to_change(AT_FDCWD, path, true);
        real!(truncate64 as PathLength)(path, length)
    }
    /// Changes the permissions of a file.
    fn chmod(path: *const c_char, mode: mode_t) -> c_int {
        about_to_change(AT_FDCWD, path, true);
        real!(chmod as PathMode)(path, mode)
    }
    /// Changes the times of a file.
    fn utimensat(folder: c_int, path: *const c_char, times: *const timespec, flags: c_int) -> c_int {
        about_to_change(folder, path, flags & libc::AT_SYMLINK_NOFOLLOW == 0);
        real!(utimensat as unsafe extern "C-unwind" fn(c_int, *const c_char, *const timespec, c_int) -> c_int)(folder, path, times, flags)
    }
    /// Opens memory that has a name.
    fn shm_open(name: *const c_char, flags: c_int, mode: mode_t) -> c_int {
        if may_change(flags) { about_to_change_memory(name) }
        real!(shm_open as Open)(name, flags, mode)
    }
    /// Removes a name of memory.
    fn shm_unlink(name: *const c_char) -> c_int {
        about_to_change_memory(name);
        real!(shm_unlink as Path)(name)
    }
}

/// The program is about to change memory that has a name.
unsafe fn about_to_change_memory(name: *const c_char) {
    if name.is_null() {
        return;
    }
    // SAFETY: the program's own name.
    let name = unsafe { std::ffi::CStr::from_ptr(name) }.to_bytes();
    let start = name.iter().position(|byte| *byte != b'/').unwrap_or(name.len());
    let path = [super::NAMES_OF_MEMORY, &name[start..], &[0]].concat();
    // SAFETY: a text.
    unsafe { about_to_change(AT_FDCWD, path.as_ptr().cast(), false) };
}

/// The same for a system call by number.
///
/// # Safety
/// The arguments must be what the kernel expects.
pub unsafe fn before_system_call(number: i64, args: [usize; 4]) {
    let [a, b, c, d] = args;
    let text = |word: usize| word as *const c_char;
    // SAFETY: as the caller vouches.
    unsafe {
        match number {
            libc::SYS_open => before_open(AT_FDCWD, text(a), b as c_int),
            libc::SYS_openat => before_open(a as c_int, text(b), c as c_int),
            libc::SYS_creat | libc::SYS_truncate | libc::SYS_chmod => {
                about_to_change(AT_FDCWD, text(a), true)
            }
            libc::SYS_unlink | libc::SYS_rmdir | libc::SYS_mkdir | libc::SYS_mknod => {
                about_to_change(AT_FDCWD, text(a), false);
            }
            libc::SYS_unlinkat | libc::SYS_mkdirat | libc::SYS_mknodat => {
                about_to_change(a as c_int, text(b), false)
            }
            libc::SYS_link | libc::SYS_symlink => about_to_change(AT_FDCWD, text(b), false),
            libc::SYS_symlinkat => about_to_change(b as c_int, text(c), false),
            libc::SYS_linkat => about_to_change(c as c_int, text(d), false),
            libc::SYS_rename => about_to_rename((AT_FDCWD, text(a)), (AT_FDCWD, text(b))),
            libc::SYS_renameat | libc::SYS_renameat2 => {
                about_to_rename((a as c_int, text(b)), (c as c_int, text(d)));
            }
            _ => {}
        }
    }
}
