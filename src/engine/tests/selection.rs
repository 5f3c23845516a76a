//! Requests of an NPC with more tools than its model should read.

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{
    Bench, Gate,
    props::{Step::*, count},
};
use crate::domain::ToolChoice;

const MOON: &str = r#"{"query":"where the moon stands"}"#;

fn bench(utterance: &'static str) -> Bench {
    Bench { narrow: true, utterance, ..Bench::new() }
}

/// Names of the tools in each request.
fn shown(bench: &Bench) -> Vec<Vec<String>> {
    let requests = bench.model.requests.lock().unwrap();
    let names = |tools: &[crate::domain::ToolSpec]| -> Vec<String> {
        tools.iter().map(|spec| spec.name.to_string()).collect()
    };
    requests.iter().map(|request| names(&request.tools)).collect()
}

#[tokio::test(start_paused = true)]
async fn turn_shows_what_fits_it_in_every_round() {
    let bench = bench("roll for me");
    bench.model.then(&[Call("stub_roll", r#"{"expression":"d6"}"#)]);
    let answered = bench.answer().await;
    assert_eq!(shown(&bench), [["stub_roll", "discover_tools"], ["stub_roll", "discover_tools"]]);
    assert_eq!(answered.report.visible, ["stub_roll", "discover_tools"]);
}

#[tokio::test(start_paused = true)]
async fn discovered_tools_stay_callable_for_turn() {
    let bench = bench("roll for me");
    bench.model.then(&[Call("discover_tools", MOON)]);
    bench.model.then(&[Call("find", r#"{"expression":"moon"}"#)]).then(&[Text("In the west.")]);
    let answered = bench.answer().await;
    let later = ["stub_roll", "find", "discover_tools"];
    assert_eq!(shown(&bench), [&["stub_roll", "discover_tools"][..], &later, &later]);
    assert_eq!(count(&bench.tools.look), 1, "{:?}", answered.results());
    assert_eq!(answered.sentences.last().map(String::as_str), Some("In the west."));
}

#[tokio::test(start_paused = true)]
async fn discovering_does_not_wait_for_the_final() {
    let bench = bench("roll for me");
    bench.model.then(&[Call("discover_tools", MOON)]);
    let (_gate, gate_in) = watch::channel(Gate { confirmed: false, playing: usize::MAX });
    let answered = bench.run(bench.turn(gate_in, &CancellationToken::new())).await;
    assert!(answered.results()[0].contains("find"), "{:?}", answered.results());
}

#[tokio::test(start_paused = true)]
async fn demanded_tool_is_shown_whatever_was_said() {
    let mut bench = bench("well met");
    bench.npc.policy.tool_choice = ToolChoice::Named("look".to_owned());
    bench.model.then(&[Call("look", r#"{"expression":"d6"}"#)]);
    bench.answer().await;
    assert_eq!(shown(&bench)[0], ["look", "discover_tools"]);
}

#[tokio::test(start_paused = true)]
async fn tools_relevant_to_last_turns_stay_offered() {
    let first = bench("tell me of the sky");
    first.model.then(&[Text("It is wide.")]);
    let mut answered = first.answer().await;
    answered.conversation.add(&answered.report, "It is wide.");
    let second = bench("and now?");
    let (_keep, gate) = watch::channel(Gate { confirmed: true, playing: usize::MAX });
    let asked = second.turn_in(answered.conversation, gate, &CancellationToken::new());
    first.run_with(answered.engine, asked).await;
    assert_eq!(shown(&first).last().unwrap(), &["find", "discover_tools"]);
}
