//! Numbers and texts as bytes: seven bits a byte, the low ones first.

/// Appends a number.
pub fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Appends a number that may be negative, so that small ones of either sign are short.
pub fn put_difference(out: &mut Vec<u8>, number: i64) {
    put_number(out, ((number << 1) ^ (number >> 63)) as u64);
}

/// Appends a text.
pub fn put_text(out: &mut Vec<u8>, text: &str) {
    put_number(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

/// What is left to read.
#[derive(Clone, Copy)]
pub struct Source<'a>(pub &'a [u8]);

impl<'a> Source<'a> {
    /// The next byte.
    pub fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    /// The next number.
    pub fn number(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                return None;
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    /// The next number, where it must fit a smaller type.
    pub fn fitting<T: TryFrom<u64>>(&mut self) -> Option<T> {
        T::try_from(self.number()?).ok()
    }

    /// The next number that may be negative.
    pub fn difference(&mut self) -> Option<i64> {
        let number = self.number()?;
        Some((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    /// The next bytes.
    pub fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    /// The next text.
    pub fn text(&mut self) -> Option<String> {
        let length = self.fitting()?;
        String::from_utf8(self.take(length)?.to_vec()).ok()
    }

    /// All that is left, as a text.
    pub fn rest(&mut self) -> Option<String> {
        let rest = std::mem::take(&mut self.0);
        String::from_utf8(rest.to_vec()).ok()
    }
}

/// A checksum that takes bytes one after the other (FNV-1a).
pub fn checksum(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_length_survive() {
        let edges = (0..64).flat_map(|bit| [(1_u64 << bit) - 1, 1 << bit, (1 << bit) + 1]).chain([u64::MAX]);
        for number in edges {
            let mut bytes = Vec::new();
            put_number(&mut bytes, number);
            put_difference(&mut bytes, number as i64);
            let mut source = Source(&bytes);
            assert_eq!((source.number(), source.difference()), (Some(number), Some(number as i64)));
            assert!(source.0.is_empty());
        }
    }

    #[test]
    fn a_number_that_is_too_long_is_none() {
        assert_eq!(Source(&[0xff; 11]).number(), None);
        assert_eq!(Source(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02]).number(), None);
        assert_eq!(Source(&[0x80]).number(), None);
        assert_eq!(Source(&[0x80, 0x02]).fitting::<u8>(), None);
    }
}
