//! Two chat models: one opens, the other continues.

use std::{collections::BTreeMap, sync::Arc};

use tokio::{
    sync::{mpsc, watch},
    time::{Instant, sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{
    Answered, Bench, Cascaded, Failure, Gate, NpcModel, Opener, Reply, ReplyPort, VoiceEngine,
    props::{Model, Step, Step::*, count, ms},
};
use crate::{
    domain::{EngineKind, Message, ToolChoice, TurnId},
    logic::budget::{BudgetOptions, Price},
    provider::{Chain, Kind},
};

const ROLL: &str = r#"{"expression":"2d6"}"#;

/// An NPC with two models.
struct Two {
    bench: Bench,
    fast: Arc<Model>,
}

impl Two {
    /// It was asked about the mine; its models write this.
    fn new(fast: &[Step], strong: &[Step]) -> Self {
        let mut bench = Bench::new();
        bench.utterance = "where is the old mine";
        bench.model.then(strong);
        let two = Self { bench, fast: Arc::default() };
        two.fast.then(fast);
        two
    }

    fn engine(&self) -> Cascaded {
        let cascade = self.bench.engine();
        let models = Chain::of("fast", Arc::clone(&self.fast) as _);
        let opener = Opener::new(NpcModel { models, ..cascade.model().clone() });
        cascade.opened_by(opener)
    }

    async fn answer(&self) -> Answered {
        let (_keep, gate) = watch::channel(Gate { confirmed: true, playing: usize::MAX });
        let asked = self.bench.turn(gate, &CancellationToken::new());
        let answered = self.bench.run_with(self.engine(), asked).await;
        assert_eq!(self.fast.live.count(), 0, "no request is left");
        answered
    }

    /// Time until the first frame of an answer.
    async fn first_sound(&self) -> std::time::Duration {
        let (_keep, gate) = watch::channel(Gate { confirmed: true, playing: usize::MAX });
        let asked = self.bench.turn(gate, &CancellationToken::new());
        let (to, mut replies) = mpsc::channel(128);
        let mut engine = self.engine();
        let begun = Instant::now();
        let making = engine.start(Arc::new(asked.turn), ReplyPort::new(TurnId(1), to));
        let reading = async {
            let mut first = None;
            while let Some((_, reply)) = replies.recv().await {
                if matches!(reply, Reply::Audio { .. }) {
                    first.get_or_insert_with(|| begun.elapsed());
                }
            }
            first.expect("it is heard")
        };
        let both = async { tokio::join!(making, reading).1 };
        timeout(ms(60_000), both).await.expect("it ends")
    }
}

fn thought(answered: &Answered) -> Vec<&str> {
    answered.report.thought.iter().map(|name| &**name).collect()
}

#[tokio::test(start_paused = true)]
async fn one_opens_and_the_other_goes_on() {
    let two = Two::new(&[Text("Ah, the old mine.")], &[Text("It lies north. Take a lantern.")]);
    let mut answered = two.answer().await;
    assert_eq!(answered.sentences, ["Ah, the old mine.", "It lies north.", "Take a lantern."]);
    assert_eq!(thought(&answered), ["fast", "stand-in"]);
    assert_eq!(answered.report.engine.kind, EngineKind::SentenceCascade);
    assert_eq!(answered.report.failure, None);
    let asked = two.fast.requests.lock().unwrap()[0].clone();
    assert_eq!((asked.tools.len(), asked.max_tokens), (0, 40));
    let orders = asked.messages.iter().filter(|it| matches!(it, Message::User(_))).count();
    assert_eq!(orders, 1, "some servers refuse two in a row");
    assert!(two.fast.read(0).contains("Say only the first sentence"), "{}", two.fast.read(0));
    let strong = two.bench.model.read(0);
    assert!(strong.contains("with these words: Ah, the old mine. Go on"), "{strong}");
    assert!(!two.bench.model.requests.lock().unwrap()[0].tools.is_empty());
    answered.conversation.add(&answered.report, "Ah, the old mine. It lies north.");
    let history = format!("{:?}", answered.conversation.messages());
    assert_eq!(history.matches("Assistant").count(), 1, "{history}");
    assert!(!history.contains("with these words"), "{history}");
}

#[tokio::test(start_paused = true)]
async fn first_sound_is_that_of_the_fast_model() {
    let two = Two::new(&[Wait(150), Text("Ah, the mine.")], &[Wait(900), Text("North.")]);
    let first = two.first_sound().await;
    assert!((ms(150)..ms(155)).contains(&first), "{first:?}");
    assert!(two.bench.model.asked() == 1 && two.fast.asked() == 1);
}

#[tokio::test(start_paused = true)]
async fn opener_that_is_late_three_times_rests() {
    let two = Two::new(&[Wait(2_000), Text("Ah, the mine.")], &[Text("North.")]);
    let engine = two.engine();
    let mut news = Vec::new();
    for turn in 0..5 {
        if turn > 0 {
            two.fast.then(&[Wait(2_000), Text("Ah, the mine.")]);
            two.bench.model.then(&[Text("North.")]);
        }
        let (_keep, gate) = watch::channel(Gate { confirmed: true, playing: usize::MAX });
        let asked = two.bench.turn(gate, &CancellationToken::new());
        let answered = two.bench.run_with(engine.clone(), asked).await;
        assert_eq!(answered.sentences, ["North."]);
        news.extend(answered.report.news);
    }
    assert_eq!(two.fast.asked(), 3, "then it rests");
    assert_eq!(news.len(), 1, "{news:?}");
    assert!(news[0].contains("'fast', has failed 3 times in a row: for 10 minutes"), "{news:?}");
    tokio::time::advance(std::time::Duration::from_secs(601)).await;
    let (_keep, gate) = watch::channel(Gate { confirmed: true, playing: usize::MAX });
    let asked = two.bench.turn(gate, &CancellationToken::new());
    two.bench.run_with(engine, asked).await;
    assert_eq!(two.fast.asked(), 4, "it is asked again");
}

#[tokio::test(start_paused = true)]
async fn opener_without_an_end_is_not_late() {
    let two = Two::new(&[Text("Ah, the mine. "), Stall], &[Text("It lies north.")]);
    let engine = two.engine();
    for turn in 0..5 {
        if turn > 0 {
            two.fast.then(&[Text("Ah, the mine. "), Stall]);
            two.bench.model.then(&[Text("It lies north.")]);
        }
        let (_keep, gate) = watch::channel(Gate { confirmed: true, playing: usize::MAX });
        let asked = two.bench.turn(gate, &CancellationToken::new());
        let begun = Instant::now();
        let answered = two.bench.run_with(engine.clone(), asked).await;
        assert_eq!(answered.sentences, ["Ah, the mine.", "It lies north."], "{turn}");
        assert!(answered.report.news.is_empty(), "{:?}", answered.report.news);
        assert!(begun.elapsed() < ms(1_000), "{:?}", begun.elapsed());
    }
}

#[tokio::test(start_paused = true)]
async fn opener_that_is_late_is_not_said() {
    for fast in [&[Wait(801), Text("Ah, the mine.")][..], &[Text("Ah, the"), Stall][..]] {
        let two = Two::new(fast, &[Wait(100), Text("It lies north.")]);
        let first = two.first_sound().await;
        assert!((ms(900)..ms(905)).contains(&first), "{first:?}");
        let two = Two::new(fast, &[Text("It lies north.")]);
        let answered = two.answer().await;
        assert_eq!(answered.sentences, ["It lies north."]);
        assert_eq!(thought(&answered), ["stand-in"]);
        assert!(!two.bench.model.read(0).contains("with these words"));
    }
}

#[tokio::test(start_paused = true)]
async fn opener_that_fails_is_no_failure() {
    for fast in [&[Fail(Kind::Unavailable)][..], &[Text("Ah, the"), Fail(Kind::Interrupted)][..]] {
        let two = Two::new(fast, &[Text("It lies north.")]);
        let answered = two.answer().await;
        assert_eq!(
            (answered.sentences, answered.report.failure),
            (vec!["It lies north.".into()], None)
        );
    }
}

#[tokio::test(start_paused = true)]
async fn opener_may_be_the_whole_answer() {
    for fast in [&[Text("Aye. ##")][..], &[Text("Aye."), Text(" #"), Text("#")], &[Text("Aye ##")]]
    {
        let two = Two::new(fast, &[]);
        let answered = two.answer().await;
        assert_eq!(answered.sentences, ["Aye."]);
        assert_eq!((thought(&answered), two.bench.model.asked()), (vec!["fast"], 0));
        assert_eq!(answered.report.failure, None);
        let prompt = answered.parts.last().expect("its prompt is recorded");
        assert!(prompt.text.contains("Say only the first sentence"), "{prompt:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn small_talk_is_for_the_fast_model_alone() {
    for utterance in ["Hello there, Bartok", "good night my friend", "guten Abend"] {
        let mut two = Two::new(&[Text("Well met, Thorin. Sit down.")], &[]);
        two.bench.utterance = utterance;
        assert_eq!(two.answer().await.sentences, ["Well met, Thorin."]);
        assert_eq!(two.bench.model.asked(), 0, "{utterance}");
    }
}

#[tokio::test(start_paused = true)]
async fn demanded_call_needs_the_strong_model() {
    for (utterance, opener) in [("hello Bartok", "Well met."), ("where is it", "Aye. ##")] {
        let mut two = Two::new(&[Text(opener)], &[Call("look", ROLL)]);
        two.bench.utterance = utterance;
        two.bench.npc.policy.tool_choice = ToolChoice::Required;
        two.answer().await;
        assert_eq!((count(&two.bench.tools.look), two.bench.model.asked()), (1, 2), "{utterance}");
    }
}

#[tokio::test(start_paused = true)]
async fn word_of_rolling_needs_the_strong_model() {
    for utterance in ["roll for me, Bartok", "Bartok, würfel mal für mich"] {
        let mut two = Two::new(&[Text("Very well. ##")], &[Call("roll", ROLL)]);
        two.bench.utterance = utterance;
        two.answer().await;
        assert_eq!((count(&two.bench.tools.roll), two.bench.model.asked()), (1, 2), "{utterance}");
    }
}

#[tokio::test(start_paused = true)]
async fn one_sentence_needs_one_model() {
    let mut two = Two::new(&[Text("It lies north.")], &[Text("It lies south.")]);
    two.bench.npc.max_sentences = 1;
    let answered = two.answer().await;
    assert_eq!(
        (answered.sentences, two.fast.asked()),
        (vec!["It lies south.".into()], 0),
        "it may call"
    );
    let mut two = Two::new(&[Text("It lies north.")], &[Text("It lies south.")]);
    (two.bench.npc.max_sentences, two.bench.npc.tools) = (1, Vec::new());
    let answered = two.answer().await;
    assert_eq!((answered.sentences, two.bench.model.asked()), (vec!["It lies north.".into()], 0));
}

#[tokio::test(start_paused = true)]
async fn strong_model_calls_and_the_opener_fills() {
    let opener = &[Text("Let us see what the bones say.")];
    let two = Two::new(opener, &[Call("long", ROLL)]);
    two.bench.model.then(&[Text("Eleven! Luck is with you.")]);
    let answered = two.answer().await;
    let said = ["Let us see what the bones say.", "Eleven!", "Luck is with you."];
    assert_eq!(answered.sentences, said, "no filler beside it");
    assert_eq!((count(&two.bench.tools.long), two.fast.asked()), (1, 1));
    let second = two.bench.model.read(1);
    assert!(
        second.contains("with these words: Let us see") && second.contains("total"),
        "{second}"
    );
}

#[tokio::test(start_paused = true)]
async fn numbers_wait_for_the_roll() {
    let two = Two::new(&[Text("You rolled a seventeen!")], &[Call("roll", ROLL)]);
    two.bench.model.then(&[Text("It is eleven.")]);
    let answered = two.answer().await;
    assert_eq!(
        (&answered.sentences[..], thought(&answered)),
        (&["It is eleven.".into()][..], vec!["stand-in"])
    );
    let two = Two::new(&[Text("Eleven, I say!")], &[Call("roll", ROLL)]);
    two.bench.model.then(&[Text("Eleven, I say! Luck is with you.")]);
    let answered = two.answer().await;
    assert_eq!(answered.sentences, ["Eleven, I say!", "Luck is with you."]);
    assert_eq!(thought(&answered), ["stand-in", "fast"], "in the order in which they are heard");
    let two = Two::new(&[Text("Seventeen, at least!")], &[Text("No dice today.")]);
    assert_eq!(two.answer().await.sentences, ["No dice today."]);
    let mut two = Two::new(&[Text("Seventeen miles.")], &[Text("Take a horse.")]);
    two.bench.npc.tools = Vec::new();
    assert_eq!(
        two.answer().await.sentences,
        ["Seventeen miles.", "Take a horse."],
        "it cannot roll"
    );
}

#[tokio::test(start_paused = true)]
async fn repeated_and_contradicting_text_is_dropped() {
    let again = &[Text("Hello! Ah, the old mine. It lies north.")];
    let two = Two::new(&[Text("Ah, the old mine.")], again);
    assert_eq!(two.answer().await.sentences, ["Ah, the old mine.", "It lies north."]);
    let two =
        Two::new(&[Text("Yes, I know it.")], &[Text("No, I do not. "), Text("Ask Mira."), Stall]);
    let answered = two.answer().await;
    assert_eq!(
        (answered.sentences, answered.report.failure),
        (vec!["Yes, I know it.".into()], None)
    );
}

#[tokio::test(start_paused = true)]
async fn model_that_continues_gets_the_beginning() {
    let mut two = Two::new(&[Text("Ah, the old mine.")], &[Call("roll", ROLL)]);
    let strong = Model { continues: true, ..Model::default() };
    strong.then(&[Text("It lies"), Call("roll", ROLL)]).then(&[Text("north.")]);
    two.bench.model = Arc::new(strong);
    two.answer().await;
    let requests = two.bench.model.requests.lock().unwrap();
    assert_eq!(requests[0].messages.last(), Some(&Message::spoken("Ah, the old mine.".into())));
    let begun = requests[1].messages.iter().filter_map(|message| match message {
        Message::Assistant { text, calls, .. } => Some((text.as_str(), calls.len())),
        _ => None,
    });
    assert_eq!(begun.collect::<Vec<_>>(), [("Ah, the old mine. It lies", 1)]);
}

#[tokio::test(start_paused = true)]
async fn opener_is_all_there_is_if_the_other_fails() {
    let two = Two::new(&[Text("Ah, the mine.")], &[Fail(Kind::Unavailable)]);
    let mut answered = two.answer().await;
    assert_eq!(answered.sentences, ["Ah, the mine."]);
    assert!(matches!(answered.report.failure, Some(Failure::Model(_))), "{:?}", answered.report);
    answered.conversation.add(&answered.report, "Ah, the mine.");
    let history = format!("{:?}", answered.conversation.messages());
    assert!(history.contains("Ah, the mine."), "{history}");
}

#[tokio::test(start_paused = true)]
async fn fast_model_without_an_end_holds_no_turn_up() {
    let two = Two::new(&[Text("Ah, the mine. And"), Stall], &[Text("It lies north.")]);
    let before = Instant::now();
    assert_eq!(two.answer().await.sentences, ["Ah, the mine.", "It lies north."]);
    assert!(before.elapsed() < ms(900), "{:?}", before.elapsed());
}

#[tokio::test(start_paused = true)]
async fn both_are_paid_from_one_cap() {
    let price = Price { output: 1e6, ..Price::default() };
    let prices = BTreeMap::from([("dear".to_owned(), price)]);
    let dear = || Model { price: Some("dear"), ..Model::default() };
    // An opener costs 40 at most, an answer 100.
    for (cap, said) in [(30.0, 0), (120.0, 1), (150.0, 2)] {
        let mut two = Two::new(&[], &[]);
        (two.bench.model, two.fast) = (dear().into(), dear().into());
        two.fast.then(&[Text("Ah, the mine."), Usage(9, 30)]);
        two.bench.model.then(&[Text("It lies north."), Usage(9, 50)]);
        two.bench.budget =
            BudgetOptions { session_max: Some(cap), month_max: None, prices: prices.clone() };
        let answered = two.answer().await;
        let is_over = matches!(answered.report.failure, Some(Failure::OverBudget(_)));
        assert_eq!((answered.report.unspoken.len(), is_over), (0, said < 2), "{cap}");
        assert_eq!(two.fast.asked() + two.bench.model.asked(), said, "{cap}");
        let says_why = answered.sentences.last().is_some_and(|it| it.starts_with("[Forgive me"));
        assert_eq!(says_why, said < 2, "{:?}", answered.sentences);
    }
}

#[tokio::test(start_paused = true)]
async fn labels_and_directions_hide_no_repetition() {
    let strong = &[Text("*smiles* Hello! Bartok: Ah, the old mine. *nods* It lies north.")];
    for fast in ["Bartok: *sighs* Ah, the old mine.", "*sighs*\nAh, the old mine."] {
        let two = Two::new(&[Text(fast)], strong);
        assert_eq!(two.answer().await.sentences, ["Ah, the old mine.", "It lies north."]);
        let order = two.bench.model.read(0);
        assert!(order.contains("with these words: Ah, the old mine. Go on"), "{order}");
    }
}

#[tokio::test(start_paused = true)]
async fn first_clause_is_no_sentence() {
    let clause = "If you follow the river far enough, past the burned mill and the old stones \
        beyond the ford";
    let mut two = Two::new(&[Text(clause), Stall], &[Text("you find it. Then rest.")]);
    (two.bench.npc.max_sentences, two.bench.npc.tools) = (1, Vec::new());
    let answered = two.answer().await;
    let said = ["If you follow the river far enough,", "you find it."];
    assert_eq!(
        (&answered.sentences[..], answered.report.failure),
        (&said.map(String::from)[..], None)
    );
}

#[tokio::test(start_paused = true)]
async fn opener_that_is_cut_was_said() {
    let two = Two::new(&[Text("Ah, the mine."), Stall], &[]);
    let (_keep, gate) = watch::channel(Gate { confirmed: true, playing: usize::MAX });
    let cancel = CancellationToken::new();
    let asked = two.bench.turn(gate, &cancel);
    let stop = async {
        sleep(ms(50)).await;
        cancel.cancel();
    };
    let (answered, ()) = tokio::join!(two.bench.run_with(two.engine(), asked), stop);
    assert_eq!((thought(&answered), two.bench.model.asked()), (vec!["fast"], 0));
    assert!(answered.report.first_text_at.is_some());
    assert_eq!((answered.report.failure, two.fast.live.count()), (None, 0));
}

#[tokio::test(start_paused = true)]
async fn no_opener_is_endless_or_a_credential() {
    let endless: &str = "ha ".repeat(500).leak();
    let ended: &str = format!("{endless}.").leak();
    let secret = "The word is sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789, friend.";
    for fast in [endless, ended, secret] {
        let two = Two::new(&[Text(fast)], &[Text("It lies north.")]);
        let answered = two.answer().await;
        assert_eq!(answered.sentences, ["It lies north."]);
        assert!(!two.bench.model.read(0).contains("with these words"));
    }
}

#[tokio::test(start_paused = true)]
async fn each_model_has_its_own_window() {
    let mut two = Two::new(&[Text("Ah, the mine.")], &[Text("It lies north.")]);
    two.fast = Model { window: Some(2_048), ..Model::default() }.into();
    two.fast.then(&[Text("Ah, the mine.")]);
    let line = "the road was long and the rain did not stop ".repeat(5);
    let talk = |_| [Message::User(line.clone().into()), Message::spoken(line.clone())];
    two.bench.history = (0..40).flat_map(talk).collect();
    two.answer().await;
    let read = |model: &Model| model.requests.lock().unwrap()[0].messages.len();
    assert!(read(&two.fast) < 80 && read(&two.bench.model) > 80, "{}", read(&two.fast));
}
