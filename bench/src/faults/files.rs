//! Damaged files: whatever is in them, they are read or refused, without a panic and without end.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use threadbare_code::Code;
use threadbare_explore::suite::SuiteFile;
use threadbare_sched::Rng;
use threadbare_target::{fingerprint, resolve};
use threadbare_trace::{Schedule, TraceFile};

use super::Tally;
use super::commands::Scene;
use crate::Result;

/// Reading a file takes longer than this only if it does not come to an end by itself.
const LONG: Duration = Duration::from_secs(5);

/// What reads a file.
type Reader = dyn Fn(&[u8]);

/// A format: an intact file, and what reads it.
struct Format {
    name: &'static str,
    intact: Vec<u8>,
    read: Box<Reader>,
    /// One in so many is tried, where reading takes long.
    one_in: u64,
}

/// Reads files of every format with some bytes changed, cut off, repeated or put in.
pub fn damaged(scene: &Scene, count: u64, seed: u64) -> Result<Tally> {
    let mut tally = Tally::default();
    // The message of each panic would hide the figures.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    for format in formats(scene)? {
        for number in 0..count / format.one_in {
            let mut random = Rng::new(Rng::derive(seed, number));
            let bytes = damage(&format.intact, &mut random);
            let begin = Instant::now();
            let read = catch_unwind(AssertUnwindSafe(|| (format.read)(&bytes)));
            let failure = match read {
                Err(_) => Some("a panic"),
                Ok(()) if begin.elapsed() > LONG => Some("it took too long"),
                Ok(()) => None,
            };
            tally.count(failure.map(|what| format!("{} {number}: {what}", format.name)));
        }
    }
    std::panic::set_hook(hook);
    Ok(tally)
}

fn formats(scene: &Scene) -> Result<Vec<Format>> {
    let output = scene.run(scene.command(&["hunt", "losing", "--out", "intact"]))?;
    if output.and_then(|output| output.status.code()) != Some(1) {
        return Err("no failure was found in the program that loses updates".into());
    }
    let read = |name: &str| fs::read(scene.path("intact").join(name));
    let as_text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    // What programs are read from has to lie in a file.
    let file = scene.path("damaged");
    let in_file = |file: &Path, bytes: &[u8]| fs::write(file, bytes).is_ok();
    let (program, suite, code) = (file.clone(), file.with_extension("toml"), file);
    Ok(vec![
        Format {
            name: "schedule",
            intact: read("losing-1.schedule")?,
            read: Box::new(move |bytes| drop(Schedule::parse(&as_text(bytes)))),
            one_in: 1,
        },
        Format {
            name: "trace",
            intact: read("losing-1.trace")?,
            read: Box::new(|bytes| drop(TraceFile::read(bytes))),
            one_in: 1,
        },
        Format {
            name: "suite",
            intact: b"program = \"a.c\"\ncflags = [\"-O1\"]\n[[input]]\nname = \"one\"\nargs = [\"1\"]\n"
                .to_vec(),
            read: Box::new(move |bytes| {
                if in_file(&suite, bytes) {
                    drop(SuiteFile::read(&suite));
                }
            }),
            one_in: 1,
        },
        Format {
            name: "executable",
            intact: fs::read(scene.path("losing"))?,
            read: Box::new(move |bytes| {
                if in_file(&program, bytes) {
                    let resolved = resolve(&program, &[], Path::new("."));
                    drop(fingerprint(&program));
                    drop(
                        resolved
                            .map(|it| (it.unexplored_std(), it.holds_test_harness(), it.offers_closure())),
                    );
                }
            }),
            one_in: 4,
        },
        Format {
            name: "code",
            intact: fs::read(scene.path("losing"))?,
            read: Box::new(move |bytes| {
                if in_file(&code, bytes) {
                    drop(Code::read(&code));
                }
            }),
            one_in: 10,
        },
    ])
}

/// The bytes with something wrong in one to eight places.
fn damage(intact: &[u8], random: &mut Rng) -> Vec<u8> {
    let mut bytes = intact.to_vec();
    for _ in 0..=random.below(8) {
        if bytes.is_empty() {
            break;
        }
        let at = random.below(bytes.len() as u64) as usize;
        match random.below(6) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = random.below(256) as u8,
            2 => bytes.truncate(at),
            3 => bytes.insert(at, random.below(256) as u8),
            4 => {
                let end = (at + 1 + random.below(64) as usize).min(bytes.len());
                let piece = bytes[at..end].to_vec();
                let to = random.below(bytes.len() as u64) as usize;
                bytes.splice(to..to, piece);
            }
            _ => {
                // Numbers that are too large, where lengths and places may be.
                let end = (at + 8).min(bytes.len());
                bytes[at..end].fill(0xff);
            }
        }
    }
    bytes
}
