//! Record of an evening's events and its log.

use std::{
    fmt::{Debug, Write as _},
    sync::{Arc, Mutex},
};

use tokio::time::Instant;
use tracing::{
    Event, Level, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};

/// Events of an evening, printed if it fails.
pub struct Diary {
    seed: u64,
    began: Option<Instant>,
    lines: Vec<String>,
}

impl Diary {
    pub fn new(seed: u64) -> Self {
        Self { seed, began: None, lines: Vec::new() }
    }

    /// The program starts.
    pub fn starts(&mut self, run: usize) {
        self.began = Some(Instant::now());
        self.note(&format!("start {run}"));
    }

    pub fn note(&mut self, what: &str) {
        let at = self.began.map_or(0, |began| began.elapsed().as_millis());
        self.lines.push(format!("{at:>8} ms  {what}"));
    }
}

impl Drop for Diary {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let lines = self.lines.join("\n");
            eprintln!("GLYPHOXA_TEST_SEED={} fails:\n{lines}", self.seed);
        }
    }
}

/// Everything that is logged at info and above. Clones share it.
#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<String>>);

impl Log {
    pub fn text(&self) -> String {
        self.0.lock().unwrap().clone()
    }
}

/// Fields of one entry, a line.
struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        // Writing to a text cannot fail.
        _ = write!(self.0, "{}={value:?} ", field.name());
    }
}

impl Subscriber for Log {
    fn enabled(&self, about: &Metadata<'_>) -> bool {
        *about.level() <= Level::INFO
    }

    fn new_span(&self, about: &Attributes<'_>) -> Id {
        let mut fields = Fields(String::new());
        about.record(&mut fields);
        self.0.lock().unwrap().push_str(&fields.0);
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, about: &Record<'_>) {
        let mut fields = Fields(String::new());
        about.record(&mut fields);
        self.0.lock().unwrap().push_str(&fields.0);
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields(String::new());
        event.record(&mut fields);
        fields.0.push('\n');
        self.0.lock().unwrap().push_str(&fields.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}
