//! Which of the variable arguments of `printf`, `scanf` and their like are pointers: the format says so.

/// What a conversion takes from the arguments that travel in general registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Taken {
    /// A number, or a pointer that is only printed.
    Number,
    /// A pointer to memory that is read or written.
    Pointer,
}

/// Goes through a format.
#[derive(Clone, Debug)]
pub struct Format<'a> {
    rest: &'a [u8],
    scans: bool,
    /// The conversion under way has begun, and wants its width from the arguments.
    within: bool,
}

impl Format<'_> {
    /// A format of `printf`, or of `scanf`, where everything that is converted goes to memory.
    pub const fn new(text: &[u8], scans: bool) -> Format<'_> {
        Format { rest: text, scans, within: false }
    }

    /// Whether a format of `printf` has only conversions that print what they are given, whatever it is: none that writes memory, and none of
    /// wide characters, which may be refused.
    pub fn is_plain(text: &[u8]) -> bool {
        let flags = b"-+ #0123456789.'$I*hlqLjztw";
        let conversions = text.split(|byte| *byte == b'%').skip(1);
        // After `%%` comes text.
        conversions.into_iter().all(|conversion| {
            let length = conversion.iter().take_while(|byte| flags.contains(byte)).count();
            let is_long = conversion[..length].contains(&b'l');
            match conversion.get(length) {
                Some(b'n' | b'C' | b'S') => false,
                Some(b'c' | b's') => !is_long,
                _ => true,
            }
        })
    }

    fn next_byte(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    /// Passes over the characters that a `%[` wants.
    fn pass_over_set(&mut self) -> Option<()> {
        let mut byte = self.next_byte()?;
        if byte == b'^' {
            byte = self.next_byte()?;
        }
        // One that comes first belongs to them.
        loop {
            byte = match (byte, self.next_byte()?) {
                (_, b']') => return Some(()),
                (_, next) => next,
            };
        }
    }
}

impl Iterator for Format<'_> {
    type Item = Taken;

    fn next(&mut self) -> Option<Taken> {
        let mut is_skipped = false;
        loop {
            if !self.within {
                while self.next_byte()? != b'%' {}
                is_skipped = false;
            }
            self.within = false;
            loop {
                match self.next_byte()? {
                    b'*' if self.scans => is_skipped = true,
                    b'*' => {
                        self.within = true;
                        return Some(Taken::Number);
                    }
                    b'-' | b'+' | b' ' | b'#' | b'0'..=b'9' | b'.' | b'\'' | b'$' | b'I' => {}
                    b'h' | b'l' | b'q' | b'L' | b'j' | b'z' | b't' | b'w' => {}
                    b'm' if self.scans => {}
                    b'%' => break,
                    b'[' if self.scans => {
                        self.pass_over_set()?;
                        if is_skipped {
                            break;
                        }
                        return Some(Taken::Pointer);
                    }
                    _ if self.scans && is_skipped => break,
                    _ if self.scans => return Some(Taken::Pointer),
                    b's' | b'S' | b'n' => return Some(Taken::Pointer),
                    // These travel in vector registers, or on the stack.
                    b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => break,
                    // The error number is nobody's argument.
                    b'm' => break,
                    _ => return Some(Taken::Number),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use super::*;

    fn taken(text: &str, scans: bool) -> Vec<bool> {
        Format::new(text.as_bytes(), scans).map(|taken| taken == Taken::Pointer).collect()
    }

    #[test]
    fn texts_are_pointers_and_numbers_are_not() {
        assert_eq!(taken("done\n", false), []);
        assert_eq!(taken("%d of %ld: %s %% %p\n", false), [false, false, true, false]);
        assert_eq!(taken("%-8.3s|%+5d|%llu%n", false), [true, false, false, true]);
        assert_eq!(taken("%f %s %.2e", false), [true], "numbers with a fraction travel elsewhere");
        assert_eq!(taken("%*d %.*s", false), [false, false, false, true]);
        assert_eq!(taken("%m%", false), []);
    }

    #[test]
    fn what_writes_or_may_be_refused_is_not_plain() {
        for plain in ["", "done\n", "%d of %-5ld: %s %% %p %c%f %m"] {
            assert!(Format::is_plain(plain.as_bytes()), "{plain}");
        }
        for other in ["%n", "%d%hn", "%C", "%-3lc", "%ls", "a %1$d %2$n"] {
            assert!(!Format::is_plain(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn everything_that_is_scanned_goes_to_memory_unless_it_is_skipped() {
        assert_eq!(taken("%d %*d %lf %15s", true), [true, true, true]);
        assert_eq!(taken("%[^]a] %*[ab] %[]] %n", true), [true, true, true]);
    }
}
