//! The first fails. Every way in which it may is met where the clients and their chains are
//! (`src/provider/chain/tests.rs`, `src/engine/asking/tests.rs`).

use serde_json::json;

use super::{INNARDS, Two, answer, assert_answered_by, entry, say, table};
use crate::support::{
    chat_server::{ChatServer, Script, Step},
    program::Place,
};

#[test]
fn next_answers_for_one_that_cannot() {
    let two = Two::new();
    two.first.otherwise(|_| Script::error(500, "server_error", INNARDS));
    let ran = say(&two.table("", ""), 1).ends_with(0);
    let line = ran.line();
    assert_answered_by(&line, "second");
    assert_eq!(line["reply"], "I am the second.");
    assert_eq!(two.asked(), (1, 1), "each is asked once");
    assert!(!ran.stdout.contains(INNARDS), "{ran:#?}");
}

#[test]
fn first_answers_alone_where_it_can() {
    let two = Two::new();
    let line = say(&two.table("", ""), 1).ends_with(0).line();
    assert_answered_by(&line, "first");
    assert_eq!(line["brain"], "first, else second");
    let made_by =
        json!({"heard": "typed", "thought": ["first"], "spoke": "flite", "engine": "cascaded"});
    assert_eq!(line["made_by"], made_by);
    assert_eq!(two.asked(), (1, 0));
}

#[test]
fn bad_or_filtered_requests_do_not_fall_back() {
    let withheld = Script::stream().chunk(json!({}), Some("content_filter")).usage(9, 0, 0).done();
    for script in [Script::error(400, "invalid_request_error", INNARDS), withheld] {
        let two = Two::new();
        let shown = format!("{script:?}");
        two.first.otherwise(move |_| script.clone());
        let line = say(&two.table("", ""), 1).ends_with(1).line();
        assert_eq!((&line["outcome"], &line["reply"]), (&json!("model_error"), &json!("")));
        assert_eq!(line["audio_ms"], 0, "{line:#}");
        assert_eq!(two.asked().1, 0, "{shown}: {line:#}");
    }
}

#[test]
fn partial_answer_is_not_continued_by_fallback() {
    let two = Two::new();
    let begun = Script::stream().chunk(json!({"content": "Sit down. The"}), None).step(Step::Cut);
    two.first.otherwise(move |_| begun.clone());
    let line = say(&two.table("", ""), 1).ends_with(0).line();
    assert_eq!((&line["outcome"], &line["reply"]), (&json!("cut_short"), &json!("Sit down.")));
    assert_eq!(line["made_by"]["thought"], json!(["first"]));
    assert!(line["detail"].as_str().is_some_and(|it| it.starts_with("first: ")), "{line:#}");
    assert_eq!(two.asked(), (1, 0));
}

#[test]
fn refused_key_is_tried_and_reported_once() {
    let two = Two { first: ChatServer::with_key(Some("sk-right")), ..Two::new() };
    let ran = say(&two.table(", api_key: sk-wrong", ""), 4).ends_with(0);
    for line in ran.lines() {
        assert_answered_by(&line, "second");
    }
    assert_eq!(two.asked(), (1, 4));
    let told = "first is disabled until its settings change";
    assert_eq!(ran.stderr.matches(told).count(), 1, "{ran:#?}");
    assert!(!format!("{ran:?}").contains("sk-wrong"), "{ran:#?}");
}

#[test]
fn total_failure_speaks_line_and_shows_reasons() {
    let two = Two::new();
    for server in [&two.first, &two.second] {
        server.otherwise(|_| Script::error(500, "server_error", INNARDS));
    }
    let place = two.table("", "");
    let ran = say(&place, 1).ends_with(1);
    let line = ran.line();
    let said = json!("Give me a moment, friend.");
    assert_eq!((&line["outcome"], &line["reply"]), (&json!("model_error"), &said));
    assert!(line["audio_ms"].as_u64() > Some(500), "{line:#}");
    assert_eq!(line["made_by"]["thought"], json!([]));
    let detail = line["detail"].as_str().unwrap_or_default();
    assert!(detail.contains("first: ") && detail.contains("; second: "), "{detail}");
    assert_eq!(two.asked(), (1, 3), "only the last is asked again");
    assert!(place.path("out.wav").exists());
    let shown = two.table("", "").run(&["ask", "--text", "Bartok, hello"]).ends_with(1).stdout;
    assert!(
        shown.contains("  the model failed: ") && shown.contains("a moment, friend"),
        "{shown}"
    );
}

#[test]
fn lines_of_the_npc_may_be_the_last_resort() {
    let first = ChatServer::start();
    first.otherwise(|_| Script::error(500, "server_error", INNARDS));
    let place = Place::with_config(&format!(
        "providers:\n  llm:\n{}    - {{ service: scripted }}\nnpcs:\n  - {{ name: Bartok, voice: {{ \
         provider: flite, voice_id: rms }}, lines: [{{ say: Later. }}] }}\n",
        entry("first", &first.base_url(), "")
    ));
    let line = say(&place, 1).ends_with(0).line();
    assert_answered_by(&line, "scripted");
    assert_eq!(line["reply"], "Later.");
    assert_eq!(first.requests().len(), 1);
}

/// Each attempt may have been billed, by either service: together they stay below the cap.
#[test]
fn all_that_is_billed_by_all_stays_below_the_cap() {
    const PRICE: &str = ", price: { input: 0, output: 1000 }";
    let two = Two::new();
    two.first.otherwise(|_| Script::stream().step(Step::Cut));
    two.second.otherwise(|_| answer(100));
    let entries = [("first", &two.first), ("second", &two.second)].map(|(name, server)| {
        entry(name, &server.base_url(), &format!(", max_tokens: 100{PRICE}"))
    });
    let place = table(&entries, "budget: { session_max: 0.5 }\n");
    let ran = say(&place, 8);
    let lines = ran.lines();
    assert_answered_by(&lines[0], "second");
    let last = lines.last().expect("a line");
    assert_eq!(last["outcome"], "over_budget", "{last:#}");
    let (first, second) = two.asked();
    let billed = 0.1 * (first + second) as f64;
    assert!((0.3..=0.5 + 1e-9).contains(&billed), "{billed} billed under a cap of 0.50");
    let spent = last["spent"].as_f64().expect("a sum");
    assert!(spent >= billed - 1e-9, "{spent} counted, {billed} billed");
}
