//! Lists of chat models and voices through the real program: who is asked when the first does not answer, who pays,
//! and who says so.

mod failing;
mod hedging;
mod listing;
mod naming;
mod reloading;
mod speaking;

use serde_json::{Value, json};

use crate::support::{
    answers::answer,
    chat_server::{ChatServer, Script},
    program::{Place, Ran},
};

/// Words of a failing server that must not reach the table.
const INNARDS: &str = "upstream exploded in the boiler room";

/// An entry of the list, called `name`, at `base_url`; `more` are further keys of it.
fn entry(name: &str, base_url: &str, more: &str) -> String {
    format!("    - {{ service: openai, as: {name}, base_url: \"{base_url}\", model: m{more} }}\n")
}

/// A table with one NPC and the models of `entries`; `more` goes into the configuration.
fn table(entries: &[String], more: &str) -> Place {
    let llm = entries.concat();
    Place::with_config(&format!(
        "data_dir: data\nproviders:\n  llm:\n{llm}{more}\nnpcs:\n  - {{ name: Bartok, voice: {{ \
         provider: flite, voice_id: rms }} }}\n"
    ))
    .brief()
}

/// Two models, `first` and `second`, of which the second says so.
struct Two {
    first: ChatServer,
    second: ChatServer,
}

impl Two {
    fn new() -> Self {
        let second = ChatServer::start();
        second.otherwise(|_| Script::text(&["I", " am", " the", " second", "."]));
        Self { first: ChatServer::start(), second }
    }

    /// A table that asks them in this order; `keys` are further ones of the first.
    fn table(&self, keys: &str, more: &str) -> Place {
        let first = entry("first", &self.first.base_url(), keys);
        table(&[first, entry("second", &self.second.base_url(), "")], more)
    }

    /// Number of requests to each.
    fn asked(&self) -> (usize, usize) {
        (self.first.requests().len(), self.second.requests().len())
    }
}

/// Says so many lines to Bartok.
fn say(place: &Place, lines: usize) -> Ran {
    let mut arguments = vec!["ask", "--json", "--out", "out.wav"];
    for _ in 0..lines {
        arguments.extend(["--text", "Bartok, hello"]);
    }
    place.run(&arguments)
}

#[track_caller]
fn assert_answered_by(line: &Value, name: &str) {
    assert_eq!(line["outcome"], "spoken", "{line:#}");
    assert_eq!(line["made_by"]["thought"], json!([name]), "{line:#}");
    assert!(line["audio_ms"].as_u64() > Some(200), "{line:#}");
}
