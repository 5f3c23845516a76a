//! Model and tool rounds.

use tokio::{
    sync::watch,
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;

use super::{
    Answered, Bench, Failure, Gate,
    props::{Step::*, count, ms},
};
use crate::{
    domain::{Message, Tier, ToolChoice},
    engine::TurnReport,
    logic::prompt::SideLine,
    tools::CallErrorKind,
};

const ROLL: &str = r#"{"expression":"2d6"}"#;

fn kinds(report: &TurnReport) -> Vec<Option<CallErrorKind>> {
    report.calls.iter().map(|call| call.result.as_ref().err().map(|error| error.kind)).collect()
}

#[tokio::test(start_paused = true)]
async fn tool_round_is_answered_from_its_result() {
    let bench = Bench::new();
    bench.model.then(&[Text("Let me see. "), Call("roll", ROLL)]).then(&[Text("You got eleven.")]);
    let answered = bench.answer().await;
    assert_eq!(answered.sentences, ["Let me see.", "You got eleven."]);
    assert_eq!(answered.report.failure, None);
    assert!(bench.model.read(1).contains(r#"{\"total\":11}"#), "{}", bench.model.read(1));
    assert_eq!(answered.frames, 100, "two sentences of a second each");
    assert_eq!(answered.report.visible, ["long", "look", "roll", "slow"]);
}

#[tokio::test(start_paused = true)]
async fn prompt_is_recorded_with_its_calls() {
    let bench = Bench::new();
    bench.model.then(&[Call("roll", ROLL)]).then(&[Text("You got eleven.")]);
    let parts = bench.answer().await.parts;
    let [first, .., own, calls] = parts.as_slice() else { panic!("{parts:?}") };
    let names = [first, own, calls].map(|part| part.name.as_str());
    assert_eq!(names, ["Role", "This turn", "Calls and results"]);
    assert!(own.text.ends_with("Thorin: roll for me"), "{own:?}");
    assert!(calls.text.contains("Bartok used roll") && calls.text.contains("11"), "{calls:?}");
}

#[tokio::test(start_paused = true)]
async fn text_beside_call_enters_history_once() {
    let bench = Bench::new();
    bench.model.then(&[Text("Let me see. "), Call("roll", ROLL)]).then(&[Text("Eleven.")]);
    let mut answered = bench.answer().await;
    answered.conversation.add(&answered.report, "Let me…");
    let history = format!("{:?}", answered.conversation.messages());
    assert_eq!(history.matches("Let me").count(), 1, "{history}");
    assert!(!history.contains("Let me see") && history.contains("total"), "{history}");
}

#[tokio::test(start_paused = true)]
async fn calls_of_round_run_in_parallel_even_if_equal() {
    let bench = Bench::new();
    bench.model.then(&[Call("look", ROLL), Call("look", ROLL), Call("look", ROLL)]);
    let before = Instant::now();
    let answered = bench.answer().await;
    assert_eq!(count(&bench.tools.look), 3);
    assert!(before.elapsed() < ms(60), "{:?}", before.elapsed());
    let Message::Assistant { calls, .. } = &answered.report.exchange[0] else { panic!() };
    assert_eq!((calls.len(), answered.report.exchange.len()), (3, 4));
}

#[tokio::test(start_paused = true)]
async fn third_identical_call_is_refused() {
    let bench = Bench::new();
    for _ in 0..3 {
        bench.model.then(&[Call("roll", ROLL)]);
    }
    let answered = bench.answer().await;
    assert_eq!(count(&bench.tools.roll), 2);
    assert_eq!(kinds(&answered.report), [None, None, Some(CallErrorKind::Policy)]);
    assert_eq!(answered.sentences, ["Well met."]);
}

#[tokio::test(start_paused = true)]
async fn invalid_calls_become_error_text_for_model() {
    let mut bench = Bench::new();
    bench.npc.policy.blocklist = vec!["look".to_owned()];
    bench.model.then(&[
        Call("roll", "{\"expression\": 2d6"),
        Call("roll", "[1]"),
        Call("roll", ""),
        Call("dance", "{}"),
        Call("look", ROLL),
    ]);
    let answered = bench.answer().await;
    assert_eq!(answered.sentences, ["Well met."]);
    let bad = Some(CallErrorKind::InvalidArguments);
    let (unknown, unseen) = (Some(CallErrorKind::NotFound), Some(CallErrorKind::NotVisible));
    assert_eq!(kinds(&answered.report), [bad, bad, bad, unknown, unseen]);
    for (at, result) in answered.results().iter().enumerate() {
        assert!(result.starts_with("error: "), "{result}");
        assert!(bench.model.read(1).contains("error: "), "{at}");
    }
    assert_eq!(count(&bench.tools.roll) + count(&bench.tools.look), 0);
}

#[tokio::test(start_paused = true)]
async fn slow_tool_is_cut_and_the_turn_goes_on() {
    let bench = Bench::new();
    bench.model.then(&[Call("slow", ROLL), Call("roll", ROLL)]);
    let before = Instant::now();
    let answered = bench.answer().await;
    assert_eq!(kinds(&answered.report), [Some(CallErrorKind::Timeout), None]);
    assert_eq!(answered.results()[0], "error: timed out after 400 ms");
    assert_eq!(answered.sentences, ["Well met."]);
    assert!(before.elapsed() < ms(450));
}

#[tokio::test(start_paused = true)]
async fn tool_time_is_limited_across_rounds() {
    let mut bench = Bench::new();
    bench.tier = Tier::Fast;
    bench.npc.policy.max_identical = 9;
    bench.model.then(&[Call("slow", ROLL)]).then(&[Call("slow", ROLL)]);
    let answered = bench.answer().await;
    assert_eq!(answered.results()[0], "error: timed out after 400 ms");
    assert_eq!(answered.results()[1], "error: timed out after 100 ms");
    let offered: Vec<usize> =
        bench.model.requests.lock().unwrap().iter().map(|request| request.tools.len()).collect();
    assert_eq!(offered, [3, 3, 0]);
}

#[tokio::test(start_paused = true)]
async fn after_the_last_round_the_model_has_to_answer() {
    let mut bench = Bench::new();
    bench.npc.policy.max_rounds = 2;
    bench.model.then(&[Call("look", ROLL)]).then(&[Call("roll", ROLL)]);
    bench.model.then(&[Text("Enough. "), Call("roll", ROLL)]);
    let answered = bench.answer().await;
    assert_eq!(answered.sentences, ["Enough."]);
    assert_eq!((bench.model.asked(), count(&bench.tools.roll)), (3, 1));
    let requests = bench.model.requests.lock().unwrap();
    assert!(requests[2].tools.is_empty() && !requests[1].tools.is_empty());
}

#[tokio::test(start_paused = true)]
async fn tool_may_end_the_calling() {
    let mut bench = Bench::new();
    bench.npc.policy.stop_on_tool = vec!["roll".to_owned()];
    bench.model.then(&[Call("roll", ROLL)]).then(&[Call("roll", ROLL)]);
    let answered = bench.answer().await;
    assert!(bench.model.requests.lock().unwrap()[1].tools.is_empty());
    assert_eq!(kinds(&answered.report), [None, Some(CallErrorKind::Policy)]);
    assert_eq!(answered.sentences, ["Well met."]);
}

#[tokio::test(start_paused = true)]
async fn demanded_tool_is_demanded_once() {
    for choice in [ToolChoice::Required, ToolChoice::Named("roll".to_owned())] {
        let mut bench = Bench::new();
        bench.npc.policy.tool_choice = choice.clone();
        bench.model.then(&[Call("roll", ROLL)]);
        bench.answer().await;
        let requests = bench.model.requests.lock().unwrap();
        let choices: Vec<_> = requests.iter().map(|request| request.tool_choice.clone()).collect();
        assert_eq!(choices, [choice, ToolChoice::Auto]);
    }
}

#[tokio::test(start_paused = true)]
async fn tool_choice_none_offers_nothing() {
    let mut bench = Bench::new();
    bench.npc.policy.tool_choice = ToolChoice::None;
    let answered = bench.answer().await;
    assert!(bench.model.requests.lock().unwrap()[0].tools.is_empty());
    assert!(answered.report.visible.is_empty());
}

#[tokio::test(start_paused = true)]
async fn dice_wait_for_the_final_and_keep_their_time() {
    let bench = Bench::new();
    bench.model.then(&[Call("long", ROLL)]).then(&[Text("Eleven.")]);
    let (gate, gate_in) = watch::channel(Gate { confirmed: false, playing: usize::MAX });
    let turn = bench.turn(gate_in, &CancellationToken::new());
    let late = async {
        // Longer than the tier's tool time: waiting does not count.
        sleep(ms(4_000)).await;
        assert_eq!(count(&bench.tools.long), 0);
        gate.send_modify(|gate| gate.confirmed = true);
    };
    let (answered, ()) = tokio::join!(bench.run(turn), late);
    assert_eq!(kinds(&answered.report), [None]);
    assert_eq!(answered.sentences.last().map(String::as_str), Some("Eleven."));
}

#[tokio::test(start_paused = true)]
async fn reading_does_not_wait_for_the_final() {
    let bench = Bench::new();
    bench.model.then(&[Call("look", ROLL)]);
    let (_gate, gate_in) = watch::channel(Gate { confirmed: false, playing: usize::MAX });
    let answered = bench.run(bench.turn(gate_in, &CancellationToken::new())).await;
    assert_eq!(kinds(&answered.report), [None]);
}

#[tokio::test(start_paused = true)]
async fn cancelled_round_retains_finished_results() {
    let bench = Bench::new();
    bench.model.then(&[Call("roll", ROLL), Call("slow", ROLL)]);
    let cancel = CancellationToken::new();
    let (_gate, gate_in) = watch::channel(Gate { confirmed: true, playing: usize::MAX });
    let turn = bench.turn(gate_in, &cancel);
    let stop = async {
        sleep(ms(50)).await;
        cancel.cancel();
    };
    let before = Instant::now();
    let (mut answered, ()) = tokio::join!(bench.run(turn), stop);
    assert!(before.elapsed() < ms(60), "{:?}", before.elapsed());
    assert_eq!(kinds(&answered.report), [None, Some(CallErrorKind::Cancelled)]);
    assert_eq!((bench.model.asked(), answered.report.failure.clone()), (1, None::<Failure>));
    answered.conversation.add(&answered.report, "");
    assert!(format!("{:?}", answered.conversation.messages()).contains("total"));
}

#[tokio::test(start_paused = true)]
async fn new_engine_continues_same_conversation() {
    let bench = Bench::new();
    bench.model.then(&[Call("roll", ROLL)]).then(&[Text("Eleven.")]);
    let Answered { mut conversation, engine, report, .. } = bench.answer().await;
    conversation.add(&report, "Eleven.");
    conversation.add_side_line(SideLine {
        speaker: "Elara".to_owned(),
        by: None,
        text: "well rolled".to_owned(),
        unanswered: false,
    });
    drop(engine);
    let (_keep, gate) = watch::channel(Gate { confirmed: true, playing: usize::MAX });
    let asked = bench.turn_in(conversation, gate, &CancellationToken::new());
    bench.run(asked).await;
    let read = bench.model.read(2);
    for known in ["Thorin: roll for me", r#"{\"total\":11}"#, "Eleven.", "well rolled"] {
        assert!(read.contains(known), "{known}: {read}");
    }
}
