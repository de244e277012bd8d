//! Which code is the program's own, and which belongs to the system underneath it.

use std::ffi::{CStr, c_int, c_void};
use std::ops::Range;

/// Libraries whose inner call sites mean nothing to the programmer.
const SYSTEM: [&str; 8] =
    ["libstdc++", "libc.so", "libc++", "libm.so", "libgcc_s", "ld-linux", "linux-vdso", "libthreadbare_rt"];

/// Those of them that have locks which are neither mutexes nor interposed.
const C_LIBRARY: [&str; 2] = ["libc.so", "ld-linux"];

/// The executable ranges of what was loaded when the program started.
#[derive(Default)]
pub struct Libraries {
    system: Vec<(u64, u64)>,
    program: Vec<(u64, u64)>,
    /// The C library and its loader.
    c_library: Vec<(u64, u64)>,
    own: Range<usize>,
    data: Vec<Range<usize>>,
    /// How far below the thread pointer thread-local variables reach.
    variables: usize,
    /// Where the C library's own thread-local variables begin below the thread pointer, and their size.
    allocator: (usize, usize),
}

impl Libraries {
    /// Looks at everything that is loaded now.
    pub fn look() -> Libraries {
        let mut libraries = Libraries::default();
        // SAFETY: the callback gets this very place back while the call lasts.
        unsafe { libc::dl_iterate_phdr(Some(add), (&raw mut libraries).cast()) };
        libraries
    }

    /// From where to where this library reaches, its data included.
    pub fn own(&self) -> Range<usize> {
        self.own.clone()
    }

    /// The variables of the program and of its libraries, apart from those of the system.
    pub fn data(&self) -> &[Range<usize>] {
        &self.data
    }

    /// The C library's own variables in the thread with this thread pointer: those of the allocator are among them.
    pub fn allocator_variables(&self, thread_pointer: usize) -> Range<usize> {
        let start = thread_pointer - self.allocator.0;
        start..start + self.allocator.1
    }

    /// The lowest thread-local variable in the thread with this thread pointer.
    pub fn first_variable(&self, thread_pointer: usize) -> usize {
        thread_pointer - self.variables
    }

    /// The code of the program and of its own libraries.
    pub fn program_code(&self) -> impl Iterator<Item = &'static [u8]> {
        // SAFETY: loaded, readable, and there until the end of the process.
        self.program.iter().map(|(start, end)| unsafe {
            std::slice::from_raw_parts(*start as *const u8, (end - start) as usize)
        })
    }

    /// Whether the address is in the executable itself, which the loader names first.
    pub fn is_of_executable(&self, pc: u64) -> bool {
        self.program.first().is_some_and(|(start, end)| (*start..*end).contains(&pc))
    }

    /// Whether the address is in a system library.
    pub fn is_system(&self, pc: u64) -> bool {
        // Most calls come from the executable.
        !self.is_of_executable(pc) && contains(&self.system, pc)
    }

    /// Whether the address is in the C library, which may hold locks of its own there that nobody sees.
    pub fn is_in_c_library(&self, pc: u64) -> bool {
        contains(&self.c_library, pc)
    }

    /// The code of the C library itself.
    pub fn c_library_proper(&self) -> Option<Range<u64>> {
        // SAFETY: the name is a text; the look-up only reads.
        let inside = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"gnu_get_libc_version".as_ptr()) } as u64;
        self.c_library.iter().map(|(start, end)| *start..*end).find(|code| code.contains(&inside))
    }

    /// Whether the address is in the program and follows a call instruction.
    pub fn is_program_return(&self, pc: u64) -> bool {
        if !contains(&self.program, pc) {
            return false;
        }
        // SAFETY: inside an executable range, and not at its very start.
        unsafe { crate::arch::follows_call(pc) }
    }
}

/// Whether a loaded file of this name belongs to the system.
pub fn is_of_system(path: &str) -> bool {
    let file = path.rsplit('/').next().unwrap_or_default();
    SYSTEM.iter().any(|system| file.starts_with(system))
}

/// Whether a loaded file of this name is this very library.
pub fn is_runtime(path: &str) -> bool {
    path.rsplit('/').next().unwrap_or_default().starts_with("libthreadbare_rt")
}

fn contains(ranges: &[(u64, u64)], pc: u64) -> bool {
    ranges.iter().any(|(start, end)| (start + 8..*end).contains(&pc))
}

unsafe extern "C" fn add(info: *mut libc::dl_phdr_info, _size: usize, into: *mut c_void) -> c_int {
    // SAFETY: the loader passes valid records; `into` is the caller's `Libraries`.
    unsafe {
        let (info, libraries) = (&*info, &mut *into.cast::<Libraries>());
        let name = CStr::from_ptr(info.dlpi_name).to_string_lossy();
        let file = name.rsplit('/').next().unwrap_or_default();
        let is_system = is_of_system(&name);
        let is_of_c_library = C_LIBRARY.iter().any(|start| file.starts_with(start));
        let list = if is_system { &mut libraries.system } else { &mut libraries.program };
        let is_own = is_runtime(&name);
        let variables =
            file.starts_with("libc.so").then_some(info.dlpi_tls_data as usize).filter(|at| *at != 0);
        for header in std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum as usize) {
            let start = info.dlpi_addr + header.p_vaddr;
            if header.p_type == libc::PT_LOAD && is_own {
                let (first, end) =
                    (start as usize & !4095, (start + header.p_memsz).next_multiple_of(4096) as usize);
                let own = &mut libraries.own;
                *own = if own.end == 0 { first..end } else { own.start.min(first)..own.end.max(end) };
            }
            if header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_W != 0 && !is_system {
                libraries.data.push(start as usize..(start + header.p_memsz) as usize);
            }
            if let (libc::PT_TLS, Some(at)) = (header.p_type, variables) {
                let below = crate::arch::thread_pointer() - at;
                libraries.variables = libraries.variables.max(below);
                if file.starts_with("libc.so") {
                    libraries.allocator = (below, header.p_memsz as usize);
                }
            }
            if header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_X != 0 {
                list.push((start, start + header.p_memsz));
                if is_of_c_library {
                    libraries.c_library.push((start, start + header.p_memsz));
                }
            }
        }
    }
    0
}
