//! The first word is late, and the next is asked too; its cases are in `src/engine/asking/tests.rs`.

use super::{answer, assert_answered_by, entry, say, table};
use crate::support::{
    block_on,
    chat_server::{ChatServer, Script, Step},
};

/// So many waits for a first word are needed.
const MEASURED: usize = 20;
/// Price of both models; input is free.
const PAID: &str = ", max_tokens: 100, price: { input: 0, output: 1000 }";

/// One that answers so often, and then says nothing more.
fn falls_silent() -> ChatServer {
    let server = ChatServer::start();
    let asked = std::sync::atomic::AtomicUsize::new(0);
    server.otherwise(move |_| {
        match asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) < MEASURED {
            true => answer(5),
            false => Script::stream().step(Step::Stall),
        }
    });
    server
}

#[test]
fn first_to_speak_answers_alone() {
    let (first, second) = (falls_silent(), ChatServer::start());
    second.otherwise(|_| answer(5));
    let patience = format!("{PAID}, first_byte_timeout_ms: 100000");
    let entries =
        [entry("first", &first.base_url(), &patience), entry("second", &second.base_url(), PAID)];
    let place = table(&entries, "  hedge: { llm: true }\nbudget: { session_max: 5 }\n");
    let ran = say(&place, MEASURED + 1).ends_with(0);
    let lines = ran.lines();
    assert_answered_by(&lines[0], "first");
    let last = &lines[MEASURED];
    assert_answered_by(last, "second");
    let waited = last["ms"]["final_to_first_text"].as_f64().expect("a time");
    assert!(waited < 100_000.0, "{waited} ms: the first was given up");
    block_on(first.abandoned(1));
    // Twenty answers, the whole of one that was cancelled, and the one that was given.
    let spent = last["spent"].as_f64().expect("a sum");
    assert!((spent - (0.1 + 0.1 + 0.005)).abs() < 1e-6, "{spent}");
}
