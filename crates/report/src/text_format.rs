//! How a text for people should look.

use anstyle::{AnsiColor, Style};
use threadbare_trace::ThreadId;

/// How a text for people should look.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TextFormat {
    /// How many columns there are.
    pub width: usize,
    /// Whether to use colour.
    pub colour: bool,
    /// Whether to show the steps that rarely matter: allocations, initialisations, thread starts.
    pub verbose: bool,
    /// Whether to show every step, however many there are.
    pub full: bool,
}

impl Default for TextFormat {
    fn default() -> TextFormat {
        TextFormat { width: 100, colour: false, verbose: false, full: false }
    }
}

impl TextFormat {
    /// The text in a style, or as it is where colour is not wanted.
    pub fn paint(&self, style: Style, text: &str) -> String {
        if self.colour && !text.is_empty() { format!("{style}{text}{style:#}") } else { text.to_string() }
    }

    /// Things in the background.
    pub fn dim(&self, text: &str) -> String {
        self.paint(Style::new().dimmed(), text)
    }

    /// Headings.
    pub fn strong(&self, text: &str) -> String {
        self.paint(Style::new().bold(), text)
    }

    /// What went wrong.
    pub fn alarm(&self, text: &str) -> String {
        self.paint(AnsiColor::Red.on_default().bold(), text)
    }

    /// The style of one thread's lane.
    pub fn lane(&self, thread: ThreadId) -> Style {
        const COLOURS: [AnsiColor; 6] = [
            AnsiColor::Cyan,
            AnsiColor::Yellow,
            AnsiColor::Green,
            AnsiColor::Magenta,
            AnsiColor::Blue,
            AnsiColor::BrightRed,
        ];
        COLOURS[thread.index() % COLOURS.len()].on_default()
    }
}
