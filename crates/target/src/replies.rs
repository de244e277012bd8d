//! What comes back from a server.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd};
use std::time::{Duration, Instant};

use threadbare_wire::{Reply, ReplyKind};

use crate::launch::Process;

/// What a wait on the server ended with.
pub(crate) enum Answer {
    /// It sent a reply.
    Reply {
        /// What.
        kind: ReplyKind,
        /// The process it is about.
        process: i32,
        /// Its wait status, if it ended.
        status: i32,
    },
    /// The time passed.
    Silence,
    /// The server is gone, or out of step.
    Ended,
}

/// The pipe that replies come through.
pub(crate) struct Replies {
    pipe: File,
}

impl Replies {
    pub fn new(pipe: File) -> Replies {
        Replies { pipe }
    }

    /// Waits for a reply, the server's end, or the time to pass.
    pub fn wait(&mut self, process: &Process, limit: Duration) -> io::Result<Answer> {
        let watch = |descriptor: BorrowedFd<'_>| libc::pollfd {
            fd: descriptor.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        let deadline = Instant::now() + limit;
        loop {
            let mut watched = [watch(self.pipe.as_fd()), watch(process.handle())];
            let left = deadline.saturating_duration_since(Instant::now());
            let milliseconds = i32::try_from(left.as_micros().div_ceil(1000)).unwrap_or(i32::MAX);
            // SAFETY: the array is ours and its length is given.
            let ready =
                unsafe { libc::poll(watched.as_mut_ptr(), watched.len() as libc::nfds_t, milliseconds) };
            if ready == 0 {
                return Ok(Answer::Silence);
            }
            if ready < 0 {
                let error = io::Error::last_os_error();
                if error.kind() == io::ErrorKind::Interrupted {
                    continue;
                }
                return Err(error);
            }
            let is_readable = watched[0].revents & libc::POLLIN != 0;
            return Ok(if is_readable { self.read()? } else { Answer::Ended });
        }
    }

    /// Reads one reply. They are written in one piece, and shorter than a pipe's unit of atomicity.
    fn read(&mut self) -> io::Result<Answer> {
        let mut words = [[0u8; 4]; 3];
        if self.pipe.read(words.as_flattened_mut())? != size_of::<Reply>() {
            return Ok(Answer::Ended);
        }
        let [kind, process, status] = words.map(i32::from_ne_bytes);
        let reply = Reply { kind: kind as u32, process, status };
        Ok(reply.kind().map_or(Answer::Ended, |kind| Answer::Reply { kind, process, status }))
    }
}
