//! Sentences, fillers, failures and money.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::json;
use tokio::{
    sync::watch,
    time::{Instant, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{
    Bench, Failure, Gate,
    props::{Step::*, count, ms},
};
use crate::{
    engine::tests::props::{Hum, Model},
    logic::budget::{BudgetOptions, Price},
    provider::Kind,
    tools::{Declared, Definition, SourceKind},
};

const ROLL: &str = r#"{"expression":"2d6"}"#;

#[tokio::test(start_paused = true)]
async fn filler_covers_long_tool_once_and_is_forgotten() {
    let bench = Bench::new();
    bench.model.then(&[Call("long", ROLL)]).then(&[Wait(900), Call("roll", ROLL)]);
    let mut answered = bench.answer().await;
    assert_eq!(answered.sentences, ["[Let me think.]", "Well met."]);
    answered.conversation.add(&answered.report, "Well met.");
    assert!(!format!("{:?}", answered.conversation.messages()).contains("think"));
}

#[tokio::test(start_paused = true)]
async fn tool_with_own_fillers_uses_one_of_them() {
    let mut bench = Bench::new();
    bench.tools.filler = Some("Where did I put it?");
    bench.model.then(&[Call("long", ROLL)]);
    assert_eq!(bench.answer().await.sentences, ["[Where did I put it?]", "Well met."]);
}

#[tokio::test(start_paused = true)]
async fn tools_are_prepared_while_nobody_waits() {
    let bench = Bench::new();
    let engine = bench.engine();
    assert_eq!(count(&bench.tools.prepared), 0, "an NPC that sits down loads nothing");
    engine.warm_up().await;
    let tools =
        bench.host().visible("Bartok", bench.npc.budget_tier, bench.npc.budget_tier.ceiling());
    assert!(tools.iter().count() > 0);
    assert_eq!(count(&bench.tools.prepared), tools.iter().count());
}

#[tokio::test(start_paused = true)]
async fn slow_model_call_gets_filler_in_any_round() {
    let bench = Bench::new();
    bench.model.then(&[Wait(800), Call("roll", ROLL)]);
    assert_eq!(bench.answer().await.sentences, ["[Let me think.]", "Well met."]);
    let bench = Bench::new();
    bench.model.then(&[Call("roll", ROLL)]).then(&[Wait(800), Call("look", ROLL)]);
    assert_eq!(bench.answer().await.sentences, ["[Let me think.]", "Well met."]);
}

/// A [`Bench`] whose NPC has fast tools, and those of "stub2" when they come.
fn quick() -> Bench {
    let mut bench = Bench::new();
    bench.npc.tools = ["stub.roll", "stub.look", "stub2.*"].map(str::to_owned).to_vec();
    bench
}

#[tokio::test(start_paused = true)]
async fn note_is_the_style_of_its_turn() {
    let bench = quick();
    let (_keep, gate) = watch::channel(Gate { confirmed: true, playing: usize::MAX });
    let notes =
        [Some("You are furious."), Some("You whisper."), None].map(|it| it.map(Arc::<str>::from));
    for note in &notes {
        let mut asked = bench.turn(gate.clone(), &CancellationToken::new());
        asked.turn.setting.note.clone_from(note);
        assert_eq!(bench.run(asked).await.sentences, ["Well met."]);
    }
    assert_eq!(*bench.voice.styles.lock().unwrap(), notes);
    assert_eq!(bench.voice.said(), ["Well met."; 3], "a note is not spoken");
}

#[tokio::test(start_paused = true)]
async fn filler_is_made_ahead_for_slow_tools_only() {
    let bench = quick();
    bench.model.then(&[Call("roll", ROLL)]);
    assert_eq!(bench.answer().await.sentences, ["Well met."]);
    assert_eq!(bench.voice.said(), ["Well met."], "nothing is made ahead");
    // A slow model needs one all the same; it is made then.
    let bench = quick();
    bench.model.then(&[Wait(800), Call("roll", ROLL)]);
    assert_eq!(bench.answer().await.sentences, ["[Let me think.]", "Well met."]);

    let bench = quick();
    let engine = bench.engine();
    engine.warm_up().await;
    assert_eq!(bench.voice.said(), [""; 0]);
    // A server is ready later. Nothing waits for what comes after the turn.
    for (name, takes, said) in [("late", 9_000, 0), ("far", 900, 1)] {
        let tool = Definition {
            name: name.to_owned(),
            description: String::new(),
            input: json!({ "type": "object" }),
            output: None,
            declared: Declared {
                estimated: Some(ms(takes)),
                max: Some(ms(15_000)),
                follow_up: Some(true),
                ..Declared::default()
            },
            handler: bench.tools.stub(takes, &bench.tools.long),
        };
        let host = &engine.calls().host;
        assert_eq!(host.offer("stub2", SourceKind::BuiltIn, vec![tool]), []);
        engine.warm_up().await;
        assert_eq!(bench.voice.said().len(), said, "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn quick_or_spoken_replies_get_no_filler() {
    let bench = Bench::new();
    bench.model.then(&[Wait(500), Call("roll", ROLL)]);
    assert_eq!(bench.answer().await.sentences, ["Well met."]);
    let bench = Bench::new();
    bench.model.then(&[Text("Hm, wait. "), Call("long", ROLL)]);
    assert_eq!(bench.answer().await.sentences, ["Hm, wait.", "Well met."]);
}

#[tokio::test(start_paused = true)]
async fn failing_model_is_failure_and_nothing_is_said() {
    for script in [&[Fail(Kind::Unavailable)][..], &[Text("Hal"), Fail(Kind::Interrupted)]] {
        let bench = Bench::new();
        bench.model.then(script);
        let answered = bench.answer().await;
        assert!(matches!(answered.report.failure, Some(Failure::Model(_))));
        assert!(answered.sentences.is_empty() && bench.voice.said().len() == 1, "the filler");
    }
}

#[tokio::test(start_paused = true)]
async fn of_a_cut_stream_whole_sentences_are_said() {
    let bench = Bench::new();
    bench.model.then(&[Text("Welcome. Have a s"), Fail(Kind::Interrupted)]);
    let answered = bench.answer().await;
    assert_eq!(answered.sentences, ["Welcome."]);
    assert!(matches!(answered.report.failure, Some(Failure::Model(_))));
    assert!(!bench.voice.said().concat().contains("secret"));
}

#[tokio::test(start_paused = true)]
async fn nothing_to_say_is_an_empty_reply() {
    for script in [&[][..], &[Text("   ")], &[Text("*nods* 🙂")]] {
        let bench = Bench::new();
        bench.model.then(script);
        let answered = bench.answer().await;
        assert_eq!(answered.report.failure, Some(Failure::EmptyReply), "{script:?}");
    }
    // A filler is no reply.
    let bench = Bench::new();
    bench.model.then(&[Call("long", ROLL)]).then(&[]);
    let answered = bench.answer().await;
    assert_eq!(answered.sentences, ["[Let me think.]"]);
    assert_eq!(answered.report.failure, Some(Failure::EmptyReply));
}

#[tokio::test(start_paused = true)]
async fn failing_voice_ends_turn_of_hanging_model() {
    let mut bench = Bench::new();
    bench.npc.fillers.clear();
    bench.voice = Hum { fails_at: Some(1), ..Hum::default() }.into();
    bench.model.then(&[Text("One. Two. "), Stall]);
    let before = Instant::now();
    let answered = bench.answer().await;
    assert!(matches!(answered.report.failure, Some(Failure::Voice(_))));
    assert_eq!((answered.frames, before.elapsed()), (50, ms(2_000)), "its words are waited for");
    assert_eq!(answered.report.unspoken, "Two.");
}

#[tokio::test(start_paused = true)]
async fn words_after_a_failed_voice_are_reported() {
    let mut bench = Bench::new();
    bench.npc.fillers.clear();
    bench.voice = Hum { fails_at: Some(0), ..Hum::default() }.into();
    bench.model.then(&[Text("One. "), Wait(1_000), Text("Two. Three.")]);
    let answered = bench.answer().await;
    assert!(matches!(answered.report.failure, Some(Failure::Voice(_))));
    assert_eq!(answered.report.unspoken, "One. Two. Three.");
    assert_eq!((answered.report.engine.spoke, bench.voice.said().len()), (None, 1));
}

#[tokio::test(start_paused = true)]
async fn reply_ends_at_sentence_limit_without_waiting() {
    let mut bench = Bench::new();
    bench.npc.max_sentences = 2;
    bench.model.then(&[Text("One. Two. "), Text("Three. "), Stall]);
    let answered = bench.answer().await;
    assert_eq!(answered.sentences, ["One.", "Two."]);
    assert_eq!(answered.report.failure, None);
}

#[tokio::test(start_paused = true)]
async fn labels_and_stage_directions_are_dropped() {
    let bench = Bench::new();
    bench.model.then(&[Text("Bartok: *smiles* You owe 7 gold. "), Text("Now.")]);
    let answered = bench.answer().await;
    assert_eq!(answered.sentences, ["You owe 7 gold.", "Now."]);
    assert_eq!(bench.voice.said()[1..], ["You owe seven gold.", "Now."]);
}

#[tokio::test(start_paused = true)]
async fn sentence_is_spoken_while_the_model_goes_on() {
    let bench = Bench::new();
    bench.model.then(&[Text("Welcome."), Wait(5_000), Text(" Sit.")]);
    let before = Instant::now();
    let said = async {
        while bench.voice.said().len() < 2 {
            tokio::time::sleep(ms(1)).await;
        }
        before.elapsed()
    };
    let (said, _) = tokio::join!(timeout(ms(60_000), said), bench.answer());
    let said = said.expect("it is said");
    assert!(said <= ms(2), "{said:?}");
}

#[tokio::test(start_paused = true)]
async fn money_is_asked_for_before_the_call() {
    let mut bench = Bench::new();
    bench.model = Model { price: Some("dear"), ..Model::default() }.into();
    let price = Price { input: 1.0, output: 1e6, ..Price::default() };
    let prices = BTreeMap::from([("dear".to_owned(), price)]);
    bench.budget = BudgetOptions { session_max: Some(50.0), month_max: None, prices };
    let answered = bench.answer().await;
    assert!(matches!(answered.report.failure, Some(Failure::OverBudget(_))));
    assert_eq!(bench.model.asked(), 0);
    bench.budget.session_max = Some(150.0);
    bench.model.then(&[Text("Ay."), Usage(10, 10), Call("roll", ROLL)]);
    let answered = bench.answer().await;
    assert_eq!((answered.report.failure, bench.model.asked()), (None, 2), "billed 10, not 100");
}
