//! Web search through the real program, against services and pages of this machine.

mod configuring;
mod hostile;
mod money;
mod reading;
mod refusals;
mod services;

use std::fs;

use serde_json::{Value, json};

use crate::{
    pictures::offered,
    support::{
        chat_server::{ChatServer, Recorded, Script},
        program::Place,
        searches::{Hit, Searches},
        web_server::WebServer,
    },
};

/// The model's answer after its calls.
const SO_BE_IT: [&str; 4] = ["So", " be", " it", "."];
/// A host of the public web, for which the tests' proxy answers.
const FAR: &str = "http://1.1.1.1";

/// A table whose Bartok thinks at a chat server of the test, and may search the web.
struct Table {
    place: Place,
    model: ChatServer,
}

/// Differences of a table from the usual one.
#[derive(Default)]
struct Setting<'s> {
    /// More keys of the service.
    service: &'s str,
    /// More keys of Bartok, a line each.
    npc: &'s str,
    /// More sections of the configuration.
    more: &'s str,
}

impl Table {
    fn of(searches: &Searches) -> Self {
        Self::with(searches, &Setting::default())
    }

    fn with(searches: &Searches, setting: &Setting<'_>) -> Self {
        let (model, place) = (ChatServer::start(), Place::new());
        let Setting { service, npc, more } = setting;
        let paid = service.contains("price");
        let free = if paid || service.contains("free") { "" } else { ", free: true" };
        let entry = searches.entry(&format!("{free}{service}"));
        let config = format!(
            "providers:\n  llm: {{ name: openai, base_url: \"{}\", model: m, free: true }}\n{entry}\
             npcs:\n  - name: Bartok\n    voice: {{ provider: flite, voice_id: rms }}\n    \
             budget_tier: deep\n    tools: [\"web-search.*\"]\n{npc}\
             tools: {{ selection: {{ top_k: 60 }} }}\n{more}",
            model.base_url()
        );
        place.write("glyphoxa.yaml", config);
        Self { place, model }
    }

    /// Adds `proxy`, which answers for the public web.
    fn behind(mut self, proxy: &WebServer) -> Self {
        self.place.set_env("HTTP_PROXY", &proxy.origin());
        self
    }

    /// Replaces a part of the configuration.
    #[track_caller]
    fn rewrites(&self, from: &str, to: &str) {
        let config = fs::read_to_string(self.place.path("glyphoxa.yaml")).expect("a file");
        assert!(config.contains(from), "no '{from}': {config}");
        self.place.write("glyphoxa.yaml", config.replace(from, to));
    }

    /// The model makes these calls in a turn, one after the other, and then says something.
    fn turn(&self, calls: &[(&str, Value)]) {
        for (number, (name, arguments)) in calls.iter().enumerate() {
            let id = format!("c{number}");
            self.model.push(Script::calls(&[(&id, name, &arguments.to_string())]));
        }
        self.model.push(Script::text(&SO_BE_IT));
    }

    /// So many turns in one conversation; a report of each.
    fn plays(&self, turns: usize, more: &[&str]) -> Vec<Value> {
        let mut arguments = vec!["ask", "--json", "--tier", "deep"];
        arguments.extend(more);
        for _ in 0..turns {
            arguments.extend(["--text", "Bartok, go on"]);
        }
        self.place.run(&arguments).ends_with(0).lines()
    }

    /// One turn with these calls; its report of each.
    fn calls(&self, calls: &[(&str, Value)]) -> Vec<Value> {
        self.turn(calls);
        let line = self.plays(1, &[]).remove(0);
        line["tools"].as_array().cloned().unwrap_or_else(|| panic!("no calls: {line:#}"))
    }

    /// A search and the results that the model reads.
    fn searched(&self, query: &str) -> (Value, String) {
        let call = self.calls(&[searching(query)]).remove(0);
        (call, self.results().pop().expect("a result"))
    }

    /// Results of tools as the model has read them, in order.
    fn results(&self) -> Vec<String> {
        let last = |request: Recorded| request.json["messages"].as_array()?.last().cloned();
        let messages = self.model.requests().into_iter().filter_map(last);
        let results = messages.filter(|it| it["role"] == "tool");
        results.map(|it| it["content"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// The operator reads a page by hand: the answer, or the error.
    fn reads(&self, url: &str) -> Value {
        let arguments = json!({ "url": url }).to_string();
        self.place.run(&["tools", "call", "web-search.fetch_page", &arguments, "--json"]).line()
    }
}

/// A call that searches.
fn searching(query: &str) -> (&'static str, Value) {
    ("search", json!({ "query": query }))
}

/// A call that reads a page.
fn fetching(url: &str) -> (&'static str, Value) {
    ("fetch_page", json!({ "url": url }))
}

/// Two pages about the mill.
fn hits() -> [Hit; 2] {
    let mill = "The <strong>old mill</strong> grinds &amp; grinds.";
    [
        Hit::new("The Old Mill", "https://mill.example.org/old", mill),
        Hit::new(
            "Millers of Ravenford",
            "https://guild.example.com/millers?page=2",
            "Seven of them.",
        ),
    ]
}

/// Text of a call, or of its error.
fn said(call: &Value) -> String {
    match &call["result"] {
        Value::String(text) => text.clone(),
        Value::Object(error) if call["ok"] == false => {
            error.get("message").and_then(Value::as_str).unwrap_or_default().to_owned()
        }
        other => other.to_string(),
    }
}

/// The call failed, and says each of `parts`.
#[track_caller]
fn assert_failed(call: &Value, parts: &[&str]) {
    assert_eq!(call["ok"], false, "{call:#}");
    let text = said(call);
    for part in parts {
        assert!(text.contains(part), "no '{part}': {text}");
    }
}

/// The text stands within one frame, with `parts` in it.
#[track_caller]
fn assert_framed(text: &str, parts: &[&str]) {
    let (before, rest) = text.split_once("<tool-data from=\"").expect("a frame");
    let (inside, after) = rest.split_once("</tool-data>").expect("the frame ends");
    assert!(!after.contains("tool-data>"), "one frame: {text}");
    for part in parts {
        assert!(inside.contains(part), "no '{part}' inside: {text}");
        assert!(!before.contains(part) && !after.contains(part), "'{part}' outside: {text}");
    }
}
