//! Output of other people's text to terminals and files: escapes anything invisible or active.
//!
//! Entry functions: [`stdout`], [`stderr`], [`complain`], [`report_panics`], [`counted`], [`within`]; entry
//! type: [`Shown`]. **Never**: writes to a terminal in another way.

use std::{
    backtrace::{Backtrace, BacktraceStatus},
    io::{self, StderrLock, StdoutLock, Write},
    panic, thread,
};

use crate::domain::{redact, revealed};

/// Escapes everything written to it.
pub struct Shown<W>(pub W);

impl<W: Write> Write for Shown<W> {
    /// Text arrives in whole characters.
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.0.write_all(revealed(&String::from_utf8_lossy(text)).as_bytes())?;
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Standard output, for one command at a time.
pub fn stdout() -> Shown<StdoutLock<'static>> {
    Shown(io::stdout().lock())
}

/// Standard error, for one command at a time.
pub fn stderr() -> Shown<StderrLock<'static>> {
    Shown(io::stderr().lock())
}

/// Prints one line on stderr.
pub fn complain(text: &str) {
    // Ignore errors: stderr may be closed.
    let _ = writeln!(stderr(), "{text}");
}

/// Reports panics on stderr, redacted: a message may quote the text in progress.
pub fn report_panics() {
    panic::set_hook(Box::new(|info| {
        let thread = thread::current();
        let text = format!("thread '{}' {info}", thread.name().unwrap_or("unnamed"));
        complain(&within(&redact::known(&text)));
        // `RUST_BACKTRACE` enables it.
        let trace = Backtrace::capture();
        if trace.status() == BacktraceStatus::Captured {
            complain(&trace.to_string());
        }
    }));
}

/// `count` with the noun `what`, in the plural unless it is 1.
pub fn counted(count: impl TryInto<u64>, what: &str) -> String {
    match count.try_into().unwrap_or(u64::MAX) {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    }
}

/// Indents all lines but the first.
pub fn within(text: &str) -> String {
    text.replace('\n', "\n    ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_control_characters_are_escaped() {
        let mut shown = Shown(Vec::new());
        let forged = "a\u{1b}[2J\u{202e}";
        writeln!(shown, "{forged}:\t{:?}", 'ü').unwrap();
        shown.write_all("b\u{9b}".as_bytes()).unwrap();
        assert_eq!(shown.0, "a\\u001b[2J\\u202e:\t'ü'\nb\\u009b".as_bytes());
    }
}
