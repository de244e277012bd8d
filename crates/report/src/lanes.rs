//! The table: a column for each thread, drawn to fit a width.

use threadbare_trace::ThreadId;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::TextFormat;

/// One line of the table before it is fitted.
pub(crate) enum Line {
    /// A step in its thread's lane, with the locks held during it.
    Step { number: String, site: String, thread: ThreadId, text: String, holds: String, source: String },
    /// Something that concerns the whole width.
    Across(String),
    /// Something in the background, in a thread's lane.
    Note { thread: ThreadId, text: String },
}

const GAP: &str = "  ";
/// A lane narrower than this makes reading harder than a list does.
const NARROWEST_LANE: usize = 16;
const NARROWEST_SOURCE: usize = 24;
/// Lanes are narrowed down to this width to make room for the source.
const COMFORTABLE_LANE: usize = 22;
const WIDEST_SITE: usize = 28;
/// The head of the column of locks.
const HOLDS: &str = "holds";
/// Longer lists of locks take several lines.
const WIDEST_HOLDS: usize = 24;

/// How wide each column is.
struct Columns {
    number: usize,
    site: usize,
    /// Empty for a list: all threads in one column, with their names in front.
    lanes: Vec<(ThreadId, usize)>,
    /// The one column of a list.
    list: usize,
    /// The locks held during a step; 0 if none ever are.
    holds: usize,
    /// The source beside the steps; 0 if there is no room for it there.
    source: usize,
}

/// Draws the table. `titles` names the threads that have lanes.
pub(crate) fn draw(titles: &[(ThreadId, String)], lines: &[Line], format: &TextFormat) -> String {
    let columns = Columns::fit(titles, lines, format.width);
    let mut text = columns.head(titles, format);
    let mut above = "";
    for line in lines {
        match line {
            Line::Across(line) => {
                for part in wrap(line, format.width.saturating_sub(columns.number + GAP.len()).max(20)) {
                    let indent = " ".repeat(columns.number);
                    text.push_str(&format!("{indent}{GAP}{}\n", format.dim(&part)));
                }
            }
            Line::Note { thread, text: note } => {
                columns.step(["", "", note, "", ""], *thread, true, format, &mut text);
            }
            Line::Step { number, site, thread, text: step, holds, source } => {
                columns.step([number, site, step, holds, source], *thread, false, format, &mut text);
                if columns.source == 0 && source != above {
                    columns.source_below(source, *thread, format, &mut text);
                }
                above = source;
            }
        }
    }
    text
}

impl Columns {
    fn fit(titles: &[(ThreadId, String)], lines: &[Line], width: usize) -> Columns {
        let mut number = 4;
        let mut site = 0;
        let mut holds = 0;
        let mut source = 0;
        let mut lanes: Vec<(ThreadId, usize)> =
            titles.iter().map(|(thread, title)| (*thread, title.width().max(4))).collect();
        for line in lines {
            let (thread, text) = match line {
                Line::Across(_) => continue,
                Line::Note { thread, text } => (thread, text),
                Line::Step { number: n, site: s, thread, text, holds: locks, source: code } => {
                    number = number.max(n.width());
                    holds = holds.max(locks.width()).min(WIDEST_HOLDS).min(width / 4);
                    site = site.max(s.width()).min(WIDEST_SITE);
                    source = source.max(code.width());
                    (thread, text)
                }
            };
            if let Some((_, lane)) = lanes.iter_mut().find(|(id, _)| id == thread) {
                *lane = (*lane).max(text.width());
            }
        }
        if holds > 0 {
            holds = holds.max(HOLDS.len());
        }
        let beside = if holds == 0 { 0 } else { holds + GAP.len() };
        let room = width.saturating_sub(number + site + beside + 2 * GAP.len());
        let needed = |lanes: &[(ThreadId, usize)]| -> usize {
            lanes.iter().map(|(_, lane)| lane + GAP.len()).sum::<usize>().saturating_sub(GAP.len())
        };
        let mut columns = Columns { number, site, lanes, list: 0, holds, source: 0 };
        let with_source = room.saturating_sub(NARROWEST_SOURCE.min(source) + GAP.len());
        if needed(&columns.lanes) > with_source && !columns.shrink(with_source, COMFORTABLE_LANE) {
            columns.shrink_or_list(room);
        }
        let used = match columns.lanes.is_empty() {
            true => columns.list,
            false => needed(&columns.lanes),
        };
        let left = room.saturating_sub(used + GAP.len());
        if left >= NARROWEST_SOURCE.min(source) {
            columns.source = source.min(left);
        }
        columns
    }

    /// Narrows the widest lanes, but not below `narrowest`, until all fit; whether they do.
    fn shrink(&mut self, room: usize, narrowest: usize) -> bool {
        let gaps = GAP.len() * self.lanes.len().saturating_sub(1);
        let mut widest = self.lanes.iter().map(|(_, lane)| *lane).max().unwrap_or(0);
        let total = |cap: usize| self.lanes.iter().map(|(_, lane)| (*lane).min(cap)).sum::<usize>() + gaps;
        while widest >= narrowest && total(widest) > room {
            widest -= 1;
        }
        let fits = widest >= narrowest;
        if fits {
            self.lanes.iter_mut().for_each(|(_, lane)| *lane = (*lane).min(widest));
        }
        fits
    }

    /// Narrows the lanes, or gives them up for a list.
    fn shrink_or_list(&mut self, room: usize) {
        let natural = self.lanes.iter().map(|(_, lane)| *lane).max().unwrap_or(0);
        if !self.shrink(room, NARROWEST_LANE) {
            let name = self.lanes.iter().map(|(thread, _)| thread.to_string().len()).max().unwrap_or(2);
            self.lanes.clear();
            self.list = (natural + name + GAP.len()).min(room).max(NARROWEST_LANE);
        }
    }

    /// A line of source in a row of its own, from its thread's lane on.
    fn source_below(&self, source: &str, thread: ThreadId, format: &TextFormat, out: &mut String) {
        if source.is_empty() {
            return;
        }
        let lanes = self.lanes.iter().take_while(|(id, _)| *id != thread);
        let beside: usize = lanes.map(|(_, lane)| lane + GAP.len()).sum();
        let beside = if self.lanes.is_empty() { 0 } else { beside };
        let source = format!("│ {source}");
        let column = self.number + self.site + 2 * GAP.len();
        // What does not fit to the right of its lane's beginning begins further left.
        let indent = (column + beside).min(format.width.saturating_sub(source.width()).max(column));
        let room = format.width.saturating_sub(indent).max(NARROWEST_LANE);
        out.push_str(&format!("{}{}\n", " ".repeat(indent), format.dim(&clip(&source, room))));
    }

    fn head(&self, titles: &[(ThreadId, String)], format: &TextFormat) -> String {
        let mut head = format!("{:>1$}{GAP}", "step", self.number);
        head.push_str(&pad("site", self.site));
        for (thread, lane) in &self.lanes {
            let title = titles.iter().find(|(id, _)| id == thread).map_or("", |(_, title)| title);
            head.push_str(GAP);
            head.push_str(&format.paint(format.lane(*thread).bold(), &pad(&clip(title, *lane), *lane)));
        }
        if self.lanes.is_empty() {
            head.push_str(GAP);
            head.push_str(&pad("thread and step", self.list));
        }
        if self.holds > 0 {
            head.push_str(&format!("{GAP}{HOLDS}"));
        }
        let mut head = trimmed(head, format);
        head.push('\n');
        head
    }

    fn step(&self, cells: [&str; 5], thread: ThreadId, note: bool, format: &TextFormat, out: &mut String) {
        let [number, site, text, holds, source] = cells;
        let named;
        let (width, text) = match self.lanes.iter().find(|(id, _)| *id == thread) {
            Some((_, lane)) => (*lane, text),
            None => {
                named = format!("{thread}{GAP}{text}");
                (self.list, named.as_str())
            }
        };
        let parts = wrap(text, width);
        let holds = if holds.is_empty() { Vec::new() } else { wrap(holds, self.holds) };
        for index in 0..parts.len().max(holds.len()) {
            let first = index == 0;
            let part = parts.get(index).map_or("", String::as_str);
            let mut line = format!("{:>1$}{GAP}", if first { number } else { "" }, self.number);
            line.push_str(&pad(&clip_front(if first { site } else { "" }, self.site), self.site));
            let style = if note { format.lane(thread).dimmed() } else { format.lane(thread) };
            if self.lanes.is_empty() {
                line.push_str(GAP);
                line.push_str(&format.paint(style, &pad(part, self.list)));
            }
            for (id, lane) in &self.lanes {
                line.push_str(GAP);
                if *id == thread {
                    line.push_str(&format.paint(style, &pad(part, *lane)));
                } else {
                    line.push_str(&pad("", *lane));
                }
            }
            if self.holds > 0 {
                line.push_str(GAP);
                line.push_str(&pad(holds.get(index).map_or("", String::as_str), self.holds));
            }
            if first && self.source > 0 && !source.is_empty() {
                line.push_str(GAP);
                line.push_str(&format.dim(&clip(source, self.source)));
            }
            out.push_str(&trimmed(line, format));
            out.push('\n');
        }
    }
}

/// Trailing blanks are noise in a file, and invisible on a terminal.
fn trimmed(line: String, format: &TextFormat) -> String {
    if format.colour { line } else { line.trim_end().to_string() }
}

fn pad(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

/// The text up to `width` columns, with a mark where it was cut.
fn clip(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_string();
    }
    let mut clipped = String::new();
    let mut used = 1;
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used > width {
            break;
        }
        clipped.push(c);
    }
    clipped + "…"
}

/// A site's end says more than its beginning: the line number is there.
fn clip_front(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_string();
    }
    let mut kept: Vec<char> = Vec::new();
    let mut used = 1;
    for c in text.chars().rev() {
        used += c.width().unwrap_or(0);
        if used > width {
            break;
        }
        kept.push(c);
    }
    std::iter::once('…').chain(kept.into_iter().rev()).collect()
}

/// Breaks a text into lines of at most `width` columns, between words where it can.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    // An arrow stays with its two values.
    let text = text.replace(" → ", "\u{a0}→\u{a0}");
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let mut word = word.replace('\u{a0}', " ");
        let line = lines.last_mut().expect("there is always a last line");
        if !line.is_empty() && line.width() + 1 + word.width() <= width {
            line.push(' ');
            line.push_str(&word);
            continue;
        }
        if !line.is_empty() {
            lines.push(String::new());
        }
        while word.width() > width {
            let mut used = 0;
            let cut = word
                .char_indices()
                .find(|(_, c)| {
                    used += c.width().unwrap_or(0);
                    used > width
                })
                .map_or(word.len(), |(index, _)| index);
            let cut = if cut == 0 { word.len() } else { cut };
            let tail = word.split_off(cut);
            lines.last_mut().expect("there is always a last line").push_str(&word);
            if tail.is_empty() {
                word = tail;
                break;
            }
            lines.push(String::new());
            word = tail;
        }
        lines.last_mut().expect("there is always a last line").push_str(&word);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapping_loses_no_word_and_keeps_the_width() {
        let text = "write a_rather_long_name_of_an_object.with.fields 0 → 1";
        for width in 1..70 {
            let lines = wrap(text, width);
            assert!(lines.iter().all(|line| line.width() <= width), "{width}: {lines:?}");
            assert_eq!(lines.concat().replace(' ', ""), text.replace(' ', ""), "{width}");
        }
    }

    #[test]
    fn clipping_keeps_the_end() {
        assert_eq!(clip("int balance;", 6), "int b…");
        assert_eq!(clip_front("folder/bank.c:12", 10), "…bank.c:12");
        assert_eq!(clip("short", 5), "short");
    }
}
