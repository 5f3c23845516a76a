//! The log on stderr: text of others cannot control the terminal, begin a line or show a secret.
//! Entry function: [`log_to_stderr`].
//!
//! Such text is always the value of a field or part of the message; names and colours are our own.
//! So each value is cleaned separately, before a line is coloured. **Never**: writes a raw value.

use std::{
    fmt,
    io::{self, IsTerminal},
    mem,
};

use tracing::{
    Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::{
    EnvFilter, Layer,
    field::RecordFields,
    fmt::{FormatFields, MakeWriter, format::Writer},
    layer::SubscriberExt,
    registry::LookupSpan,
    reload,
    util::SubscriberInitExt,
};

use crate::domain::{redact, revealed_name};

/// Name of the field shown without its name.
const MESSAGE: &str = "message";

/// Logs to stderr from `level` on; the returned function changes the level.
pub fn log_to_stderr(level: &str) -> impl Fn(&str) + Send + Sync + use<> {
    let filter =
        |level: &str| EnvFilter::new(format!("warn,rmcp=off,songbird=error,glyphoxa={level}"));
    let by_environment = EnvFilter::try_from_default_env().ok();
    let is_fixed = by_environment.is_some();
    let (chosen, handle) = reload::Layer::new(by_environment.unwrap_or_else(|| filter(level)));
    let lines = lines(io::stderr, io::stderr().is_terminal());
    // A second start in one process keeps the first subscriber.
    let _ = tracing_subscriber::registry().with(chosen).with(lines).try_init();
    move |level| {
        if !is_fixed {
            // A dropped subscriber logs nothing anyway.
            let _ = handle.reload(filter(level));
        }
    }
}

fn lines<S, W>(to: W, has_colours: bool) -> impl Layer<S> + Send + Sync
where
    S: Subscriber + for<'span> LookupSpan<'span>,
    W: for<'writer> MakeWriter<'writer> + Send + Sync + 'static,
{
    tracing_subscriber::fmt::layer().with_ansi(has_colours).fmt_fields(Cleaned).with_writer(to)
}

/// Formats fields as tracing-subscriber does, with cleaned values.
struct Cleaned;

impl<'writer> FormatFields<'writer> for Cleaned {
    fn format_fields<R: RecordFields>(&self, writer: Writer<'writer>, fields: R) -> fmt::Result {
        let mut line = FieldWriter { writer, is_empty: true, result: Ok(()) };
        fields.record(&mut line);
        line.result
    }
}

struct FieldWriter<'writer> {
    writer: Writer<'writer>,
    is_empty: bool,
    result: fmt::Result,
}

impl Visit for FieldWriter<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            MESSAGE => self.record_debug(field, &format_args!("{value}")),
            // Quotation marks would hide a secret that contains one.
            _ => self.record_debug(field, &redact::known(value)),
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Source location of an event of the `log` crate, which the line begins with.
        let is_place = field.name().starts_with("log.");
        if self.result.is_ok() && !is_place {
            self.result = self.add(field.name(), &format!("{value:?}"));
        }
    }
}

impl FieldWriter<'_> {
    fn add(&mut self, name: &str, value: &str) -> fmt::Result {
        let value = revealed_name(&redact::known(value));
        if !mem::replace(&mut self.is_empty, false) {
            self.writer.write_char(' ')?;
        }
        let name = name.strip_prefix("r#").unwrap_or(name);
        if name == MESSAGE {
            return self.writer.write_str(&value);
        }
        match self.writer.has_ansi_escapes() {
            // The name is italic, the equals sign dim.
            true => write!(self.writer, "\u{1b}[3m{name}\u{1b}[0m\u{1b}[2m=\u{1b}[0m{value}"),
            false => write!(self.writer, "{name}={value}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Seek};

    use super::*;
    use crate::domain::is_hidden;

    /// Clears a terminal, sets its clipboard, colours (also by C1), rings, reverses, starts a line.
    const ACTS: &str =
        "no\u{1b}[2J\u{1b}]52;c;cm0=\u{7}\u{9b}31m\u{9d}\u{202e}\r\nERROR glyphoxa: forged";
    /// [`ACTS`] as the log shows it.
    const SHOWN: &str =
        r"no\u001b[2J\u001b]52;c;cm0=\u0007\u009b31m\u009d\u202e\u000d\nERROR glyphoxa: forged";

    /// The log of what `says` does.
    fn logged(has_colours: bool, says: impl FnOnce()) -> String {
        let mut file = tempfile::tempfile().unwrap();
        let to = file.try_clone().unwrap();
        let log = tracing_subscriber::registry().with(lines(to, has_colours));
        tracing::subscriber::with_default(log, says);
        let mut text = String::new();
        file.rewind().unwrap();
        file.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn text_of_others_in_the_log_is_escaped() {
        let log = logged(false, || {
            let span = tracing::info_span!("call", server = %ACTS);
            span.in_scope(|| tracing::warn!(error = %ACTS, quoted = ACTS, debug = ?ACTS, "{ACTS}"));
        });
        assert_eq!(log.matches(SHOWN).count(), 3, "span, error and message: {log:?}");
        assert!(!log.contains(is_hidden), "{log:?}");
        assert_eq!(log.lines().count(), 1, "{log:?}");
    }

    #[test]
    fn log_on_a_terminal_has_its_colours_alone() {
        let log = logged(true, || tracing::warn!(error = %ACTS, n = 7, "failed"));
        let named = |name: &str| format!("\u{1b}[3m{name}\u{1b}[0m\u{1b}[2m=\u{1b}[0m");
        let fields = format!("failed {}{SHOWN} {}7\n", named("error"), named("n"));
        assert!(log.starts_with("\u{1b}[2m") && log.ends_with(&fields), "{log:?}");
    }

    #[test]
    fn secret_is_in_no_field_of_the_log() {
        let secret = "raven-\"under\"-the-mill-4711";
        redact::keep_secret(secret);
        let log = logged(false, || {
            tracing::warn!(error = %secret, quoted = secret, "got {secret}");
        });
        assert!(!log.contains("raven") && !log.contains("4711"), "{log:?}");
        assert!(log.ends_with("got <secret> error=<secret> quoted=\"<secret>\"\n"), "{log:?}");
    }
}
