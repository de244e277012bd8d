//! Text from outside, made harmless: a terminal or a page must not obey what a program printed or what a file is called.

use std::borrow::Cow;

/// The text with every control character but line breaks and tabs replaced by its picture.
pub fn printable(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_harmless) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(
        text.chars().map(|letter| if is_harmless(letter) { letter } else { picture(letter) }).collect(),
    )
}

fn is_harmless(letter: char) -> bool {
    // What turns the direction of writing makes a line read as another one.
    let turns = matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    matches!(letter, '\n' | '\t') || !(letter.is_control() || turns)
}

fn picture(letter: char) -> char {
    match u32::from(letter) {
        code @ 0..0x20 => char::from_u32(0x2400 + code).unwrap_or('\u{fffd}'),
        0x7f => '\u{2421}',
        _ => '\u{fffd}',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_become_pictures() {
        assert_eq!(printable("plain → text\n\tmore"), "plain → text\n\tmore");
        assert_eq!(printable("a\u{1b}[31mred\0\u{7f}"), "a\u{241b}[31mred\u{2400}\u{2421}");
        assert_eq!(printable("\u{9b}2J\u{202e}"), "\u{fffd}2J\u{fffd}");
        assert_eq!(printable("back\rwards"), "back\u{240d}wards");
    }
}
