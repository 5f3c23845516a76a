//! Figures that are read at the moment of a request, and money, as Prometheus' text.
//!
//! The recorder keeps a gauge for ever, so a server that is gone would stay in it; and its counters
//! are whole numbers, which money is not. Entry types: [`Sample`], [`Lines`].

use std::{collections::BTreeMap, fmt::Display, time::Duration};

use super::{labels::Labels, names::Figure};

/// State of the program at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    pub tables: usize,
    pub blocked: usize,
    /// Lines of transcripts that wait for the store.
    pub backlog: u64,
    /// Configured tool servers by name; true: ready.
    pub servers: Vec<(String, bool)>,
    /// Services by kind and name; true: left alone.
    pub breakers: Vec<(&'static str, Vec<(String, bool)>)>,
    /// `None`: no lease was ever renewed here.
    pub since_renewal: Option<Duration>,
}

/// States by label. Of two names with the same label the one that is `troubled` counts.
pub fn states(
    labels: &Labels,
    label: &'static str,
    all: &[(String, bool)],
    troubled: bool,
) -> BTreeMap<String, bool> {
    let mut states = BTreeMap::new();
    for (name, state) in all {
        let known = states.entry(labels.bounded(label, name)).or_insert(*state);
        if *state == troubled {
            *known = troubled;
        }
    }
    states
}

/// Lines of Prometheus' text.
#[derive(Debug, Default)]
pub struct Lines(String);

impl Lines {
    /// Begins a figure of `kind`: counter or gauge.
    pub fn begin(&mut self, figure: &Figure, kind: &str) {
        let Figure { name, help } = figure;
        self.0.push_str(&format!("# HELP {name} {help}\n# TYPE {name} {kind}\n"));
    }

    /// A value; those of `labels` need no escaping.
    pub fn value(&mut self, figure: &Figure, labels: &[(&str, &str)], value: impl Display) {
        let labels: Vec<String> =
            labels.iter().map(|(name, value)| format!("{name}=\"{value}\"")).collect();
        let labels = match labels.is_empty() {
            true => String::new(),
            false => format!("{{{}}}", labels.join(",")),
        };
        self.0.push_str(&format!("{}{labels} {value}\n", figure.name));
    }

    /// A gauge without labels.
    pub fn gauge(&mut self, figure: &Figure, value: impl Display) {
        self.begin(figure, "gauge");
        self.value(figure, &[], value);
    }

    /// A gauge of states by `label`; nothing without states.
    pub fn states(&mut self, figure: &Figure, label: &str, states: &BTreeMap<String, bool>) {
        if states.is_empty() {
            return;
        }
        self.begin(figure, "gauge");
        for (name, state) in states {
            self.value(figure, &[(label, name)], u8::from(*state));
        }
    }

    pub fn into_text(self) -> String {
        self.0
    }
}
