//! What a compiler's arguments ask for.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::{WrapperError, response_file};

/// How far the compiler is to go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stage {
    /// No input: print a version, a path, a help text.
    Inform,
    /// Stop before linking (`-c`, `-S`, `-E`, a precompiled header).
    Compile,
    /// Link objects into one object (`-r`).
    Merge,
    /// Link an executable or a shared library.
    Link,
}

/// The arguments, understood as far as instrumenting needs it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Arguments {
    /// What to pass on: the user's arguments, without those that only the compiler's own thread
    /// sanitizer understands.
    pub words: Vec<OsString>,
    /// How far to go.
    pub stage: Stage,
    /// Whether code is to be compiled and instrumented.
    pub instrument: bool,
    /// Whether the preprocessor runs as a process of its own, so that options for the one do not
    /// reach the other.
    pub split: bool,
    /// Whether link-time optimization is asked for.
    pub lto: bool,
}

/// Options whose value is the next word.
const TAKES_WORD: &[&str] = &[
    "--include",
    "--output",
    "--param",
    "--sysroot",
    "--target",
    "-A",
    "-B",
    "-D",
    "-I",
    "-L",
    "-MF",
    "-MQ",
    "-MT",
    "-R",
    "-T",
    "-Tbss",
    "-Tdata",
    "-Ttext",
    "-U",
    "-Xassembler",
    "-Xclang",
    "-Xlinker",
    "-Xpreprocessor",
    "-arch",
    "-aux-info",
    "-dumpbase",
    "-dumpbase-ext",
    "-dumpdir",
    "-e",
    "-idirafter",
    "-imacros",
    "-imultilib",
    "-include",
    "-iprefix",
    "-iquote",
    "-isysroot",
    "-isystem",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-mllvm",
    "-o",
    "-specs",
    "-target",
    "-u",
    "-wrapper",
    "-z",
];

/// Sanitizers that bring a runtime which, like ours, wants to own memory or threads.
const FOREIGN_SANITIZERS: &[&str] = &[
    "address",
    "dataflow",
    "hwaddress",
    "kernel-address",
    "kernel-hwaddress",
    "kernel-memory",
    "leak",
    "memory",
    "realtime",
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Input {
    Source,
    Preprocessed,
    Header,
    Assembly,
    Linkable,
}

/// Understands a compiler's arguments.
pub(super) fn read(given: &[OsString]) -> Result<Arguments, WrapperError> {
    let expanded = response_file::expand(given);
    let mut reader = Reader::default();
    let mut words = expanded.iter();
    while let Some(word) = words.next() {
        reader.take(word, &mut words)?;
    }
    let stage = reader.stage();
    if stage == Stage::Link
        && let Some(option) = reader.fixed
    {
        return Err(WrapperError::Static(option));
    }
    // Response files are left as they are where nothing in them has to go.
    let words = if reader.words == expanded { given.to_vec() } else { reader.words };
    let compiled = |input: &Input| matches!(input, Input::Source | Input::Preprocessed | Input::Header);
    Ok(Arguments {
        words,
        stage,
        instrument: !reader.uninstrumented && reader.inputs.iter().any(compiled),
        split: reader.split || reader.inputs.contains(&Input::Preprocessed),
        lto: reader.lto,
    })
}

#[derive(Default)]
struct Reader {
    words: Vec<OsString>,
    inputs: Vec<Input>,
    language: Option<Input>,
    stops: bool,
    merges: bool,
    split: bool,
    lto: bool,
    uninstrumented: bool,
    fixed: Option<&'static str>,
}

impl Reader {
    fn take<'a>(
        &mut self,
        word: &OsStr,
        rest: &mut impl Iterator<Item = &'a OsString>,
    ) -> Result<(), WrapperError> {
        // Options are ASCII, whatever the files are called that some of them end with.
        let lossy = word.to_string_lossy();
        let text = &*lossy;
        if !text.starts_with('-') || text == "-" {
            self.inputs.push(self.language.unwrap_or_else(|| by_name(word)));
            self.words.push(word.to_os_string());
            return Ok(());
        }
        if let Some(list) = text.strip_prefix("-fsanitize=") {
            return self.sanitizers(list);
        }
        match text {
            "-ltsan" | "-static-libtsan" => return Ok(()),
            "-c" | "-S" | "-E" | "-M" | "-MM" | "-fsyntax-only" | "--compile" | "--assemble"
            | "--preprocess" => self.stops = true,
            "-r" => self.merges = true,
            "-static" | "--static" => self.fixed = Some("-static"),
            "-static-pie" => self.fixed = Some("-static-pie"),
            "-no-integrated-cpp" => self.split = true,
            "-fno-lto" => self.lto = false,
            "-fno-sanitize=thread" | "-fno-sanitize=all" => self.uninstrumented = true,
            _ if text.starts_with("-save-temps") || text.starts_with("--save-temps") => self.split = true,
            _ if text == "-flto" || text.starts_with("-flto=") => self.lto = true,
            _ if text.starts_with("-l") => self.inputs.push(Input::Linkable),
            _ => {}
        }
        self.words.push(word.to_os_string());
        if let Some(language) = text.strip_prefix("-x") {
            let next = if language.is_empty() { rest.next().map(OsString::as_os_str) } else { None };
            self.words.extend(next.map(OsStr::to_os_string));
            self.language = by_language(next.and_then(OsStr::to_str).unwrap_or(language));
        } else if text == "-l" || TAKES_WORD.contains(&text) {
            self.words.extend(rest.next().cloned());
        }
        Ok(())
    }

    fn sanitizers(&mut self, list: &str) -> Result<(), WrapperError> {
        if let Some(foreign) = list.split(',').find(|name| FOREIGN_SANITIZERS.contains(name)) {
            return Err(WrapperError::Sanitizer(foreign.to_string()));
        }
        let others: Vec<&str> = list.split(',').filter(|name| *name != "thread").collect();
        if others.len() < list.split(',').count() {
            self.uninstrumented = false;
        }
        if !others.is_empty() {
            self.words.push(format!("-fsanitize={}", others.join(",")).into());
        }
        Ok(())
    }

    fn stage(&self) -> Stage {
        if self.inputs.is_empty() {
            Stage::Inform
        } else if self.stops || self.inputs.iter().all(|input| *input == Input::Header) {
            Stage::Compile
        } else if self.merges {
            Stage::Merge
        } else {
            Stage::Link
        }
    }
}

fn by_name(file: &OsStr) -> Input {
    match Path::new(file).extension().and_then(OsStr::to_str).unwrap_or("") {
        "c" | "cc" | "cp" | "cxx" | "cpp" | "CPP" | "c++" | "C" | "m" | "mm" | "M" => Input::Source,
        "i" | "ii" | "mi" | "mii" => Input::Preprocessed,
        "h" | "hh" | "hp" | "hxx" | "hpp" | "HPP" | "h++" | "H" | "tcc" => Input::Header,
        "s" | "S" | "sx" => Input::Assembly,
        // Standard input without a language is only accepted together with `-E`.
        _ if file == "-" => Input::Source,
        _ => Input::Linkable,
    }
}

fn by_language(language: &str) -> Option<Input> {
    Some(match language {
        "none" => return None,
        "assembler" | "assembler-with-cpp" => Input::Assembly,
        _ if language.ends_with("cpp-output") => Input::Preprocessed,
        _ if language.ends_with("-header") => Input::Header,
        _ => Input::Source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Arguments {
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        read(&words).unwrap()
    }

    #[test]
    fn files_are_known_by_their_endings_whatever_they_are_called() {
        use std::os::unix::ffi::OsStrExt as _;
        assert!(by_name(OsStr::from_bytes(b"caf\xe9.c")) == Input::Source);
        assert!(by_name(OsStr::from_bytes(b"d\xe9.d/n.o")) == Input::Linkable);
        assert!(by_name(OsStr::new("-")) == Input::Source);
    }

    #[test]
    fn the_stage_follows_from_the_arguments() {
        let cases = [
            ("", Stage::Inform),
            ("--version", Stage::Inform),
            ("-v", Stage::Inform),
            ("-dumpmachine", Stage::Inform),
            ("-print-search-dirs", Stage::Inform),
            ("-print-prog-name=ld", Stage::Inform),
            ("-Wl,--version", Stage::Inform),
            ("-o out", Stage::Inform),
            ("a.c", Stage::Link),
            ("-v a.o", Stage::Link),
            ("a.o -o c", Stage::Link),
            ("-o a.c b.o", Stage::Link),
            ("-shared -fPIC a.o -o liba.so", Stage::Link),
            ("-lfoo", Stage::Link),
            ("-l foo", Stage::Link),
            ("-MD -MF a.d a.c", Stage::Link),
            ("-x c -", Stage::Link),
            ("-c a.c", Stage::Compile),
            ("a.c -S -o -", Stage::Compile),
            ("-E -x c /dev/null -dM", Stage::Compile),
            ("-M a.c", Stage::Compile),
            ("-MM a.c", Stage::Compile),
            ("-fsyntax-only a.c", Stage::Compile),
            ("all.hpp -o all.hpp.gch", Stage::Compile),
            ("-x c++-header all -o all.gch", Stage::Compile),
            ("-r a.o b.o -o c.o", Stage::Merge),
        ];
        for (line, stage) in cases {
            assert_eq!(parse(line).stage, stage, "{line}");
        }
    }

    #[test]
    fn only_compiled_inputs_are_instrumented() {
        let cases = [
            ("-c a.c", true),
            ("-c a.cc b.cpp c.cxx", true),
            ("a.o b.c", true),
            ("-E a.c", true),
            ("-x c -", true),
            ("-xc++ -", true),
            ("-x c a.weird", true),
            ("-x c a -x none b.o", true),
            ("-c a.i", true),
            ("a.o b.a libc.so -lm", false),
            ("-c a.S", false),
            ("-c -x assembler-with-cpp a.c", false),
            ("-include a.c -c b.s", false),
            ("-c a.c -fno-sanitize=thread", false),
            ("-c a.c -fno-sanitize=thread -fsanitize=thread", true),
        ];
        for (line, instrument) in cases {
            assert_eq!(parse(line).instrument, instrument, "{line}");
        }
    }

    #[test]
    fn the_users_own_thread_sanitizer_is_taken_out_and_the_rest_kept() {
        let cases = [
            ("-fsanitize=thread -c a.c", "-c a.c"),
            ("-fsanitize=undefined,thread -c a.c", "-fsanitize=undefined -c a.c"),
            ("a.o -fsanitize=thread -ltsan -static-libtsan -lm", "a.o -lm"),
            ("-fsanitize=bounds a.c", "-fsanitize=bounds a.c"),
            ("-o -fsanitize=thread a.c", "-o -fsanitize=thread a.c"),
        ];
        for (line, kept) in cases {
            let kept: Vec<OsString> = kept.split(' ').map(OsString::from).collect();
            assert_eq!(parse(line).words, kept, "{line}");
        }
    }

    #[test]
    fn other_sanitizers_and_static_links_are_refused() {
        let refused = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            read(&words).unwrap_err().to_string()
        };
        assert!(refused("-fsanitize=undefined,address a.c").contains("address"));
        assert!(refused("-static a.c").contains("-static"));
        assert!(refused("a.o -static-pie").contains("-static-pie"));
        assert_eq!(parse("-static -c a.c").stage, Stage::Compile, "nothing is linked yet");
    }

    #[test]
    fn what_splits_the_preprocessor_off_is_noticed() {
        assert!(parse("a.i").split);
        assert!(parse("-save-temps=obj a.c").split);
        assert!(parse("-x cpp-output -").split);
        assert!(!parse("a.c b.S").split);
        assert!(parse("-flto=auto a.c").lto);
        assert!(!parse("-flto a.c -fno-lto").lto);
    }
}
