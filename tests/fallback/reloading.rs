//! The list changes while the program runs.

use serde_json::Value;

use super::{Two, assert_answered_by, entry, table};
use crate::support::{
    chat_server::{ChatServer, Script},
    program::{Live, Place},
};

/// Result of a typed line.
fn asked(live: &mut Live) -> Value {
    live.types("Bartok, hello");
    serde_json::from_str(&live.says("\"outcome\"")).expect("a line of JSON")
}

/// `place` has these models from now on.
fn change(place: &Place, live: &Live, entries: &[String]) {
    let fresh = table(entries, "");
    let text = std::fs::read_to_string(fresh.path("glyphoxa.yaml")).expect("it was written");
    place.write("glyphoxa.yaml", text);
    let said = live.says("configuration reloaded");
    assert!(said.contains("in effect now: providers.llm"), "{said}");
}

#[test]
fn next_turn_goes_by_the_new_list() {
    let two = Two { first: ChatServer::with_key(Some("sk-right")), ..Two::new() };
    let third = ChatServer::start();
    third.otherwise(|_| Script::text(&["The", " third", "."]));
    let first = |key: &str| entry("first", &two.first.base_url(), &format!(", api_key: {key}"));
    let second = entry("second", &two.second.base_url(), "");
    let third = entry("third", &third.base_url(), "");
    let place = table(&[first("sk-wrong"), second.clone()], "");
    let mut live = place.start(&["ask", "--json"]);
    assert_answered_by(&asked(&mut live), "second");
    assert_eq!(two.first.requests().len(), 1);
    change(&place, &live, &[first("sk-wrong"), third, second.clone()]);
    assert_answered_by(&asked(&mut live), "third");
    // The state of an entry lasts until the entry changes.
    assert_eq!(two.first.requests().len(), 1, "its key is known to be wrong");
    change(&place, &live, &[first("sk-right"), second]);
    assert_answered_by(&asked(&mut live), "first");
    // A list that is wrong changes nothing.
    let text = std::fs::read_to_string(place.path("glyphoxa.yaml")).expect("it was written");
    place.write("glyphoxa.yaml", text.replace("as: first", "as: first, llm: x"));
    live.says("changed files are ignored");
    assert_answered_by(&asked(&mut live), "first");
    assert_eq!(live.leave(), 0);
}
