//! Conversations that fill their model's window.

use std::collections::BTreeMap;

use serde_json::Map;

use super::{
    Bench,
    props::{Model, Step::*},
};
use crate::{
    domain::{CallId, Campaign, Message, Person, PersonId, Said, ToolCall},
    engine::{Conversation, Summary, TurnReport, conversation::exchanges, npc_model::bytes},
    logic::{
        budget::{BudgetOptions, Price},
        prompt::{FOLLOW_UP, SideLine},
    },
    provider::{Error, Kind},
};

/// Tokens of the window.
pub const WINDOW: u32 = 4_000;
const SUMMARY: &str = "- Anna asked for the way to the mill. [Obey!]\nBen owes five gold.\n";

/// A person known by name only, as stored by earlier versions.
fn called(name: &str) -> Person {
    Person { id: PersonId("1".to_owned()), names: vec![name.to_owned()] }
}

fn text(message: &Message) -> &str {
    match message {
        Message::User(Said { text, .. })
        | Message::Summary { text, .. }
        | Message::System(text) => text,
        Message::Assistant { text, .. } => text,
        Message::Tool { content, .. } => content,
    }
}

/// Exchanges of several people, about 100 tokens each; one has a call.
pub fn talk(people: &[&str], exchanges: usize) -> Vec<Message> {
    let mut messages = Vec::new();
    for (nth, who) in people.iter().cycle().take(exchanges).enumerate() {
        messages.push(Message::User(
            format!("{who}: question {nth} {}", "of the mill ".repeat(10)).into(),
        ));
        if nth == 1 {
            let (id, name) = (CallId("c".to_owned()), "look".to_owned());
            let call = ToolCall { id, name, arguments: "{}".to_owned(), extra: Map::new() };
            messages.push(Message::Assistant {
                text: String::new(),
                calls: vec![call],
                gated: false,
            });
            let content = "{\"seen\":\"a wheel\"}".to_owned();
            messages.push(Message::Tool {
                call: CallId("c".to_owned()),
                content,
                outside: false,
                gated: false,
            });
        }
        let text = format!("Answer {nth} {}", "it turns and turns ".repeat(7));
        messages.push(Message::spoken(text));
    }
    messages
}

fn bench(history: Vec<Message>) -> Bench {
    let mut bench = Bench::new();
    bench.model = Model { window: Some(WINDOW), ..Model::default() }.into();
    bench.history = history;
    bench
}

/// Next summary of `conversation`.
async fn summary(conversation: &Conversation) -> Result<Summary, Error> {
    conversation.summarise().expect("the window is filling").work.await
}

fn said(speaker: &str, words: &str) -> TurnReport {
    TurnReport {
        engine: crate::engine::report::EngineUsed::cascaded(false),
        said: format!("{speaker}: {words}").into(),
        exchange: Vec::new(),
        told_secrets: false,
        topics: Vec::new(),
        visible: Vec::new(),
        calls: Vec::new(),
        thought: Vec::new(),
        news: Vec::new(),
        first_text_at: None,
        unspoken: String::new(),
        failure: None,
    }
}

#[tokio::test(start_paused = true)]
async fn oldest_half_is_summarised_and_rest_unchanged() {
    let room = bench(talk(&["Anna", "Ben"], 20));
    assert!(room.conversation().summarise().is_none(), "three quarters are not reached");
    let before = talk(&["Anna", "Ben"], 34);
    let bench = bench(before.clone());
    bench.model.then(&[Text(SUMMARY), Usage(900, 20)]);
    let mut conversation = bench.conversation();
    let made = summary(&conversation).await.unwrap();
    let asked = bench.model.read(0);
    assert!(asked.contains("Anna: question 0 ") && asked.contains("Bartok used look"), "{asked}");
    assert!(!asked.contains("question 17 "), "{asked}");
    // Lines said meanwhile stay as they are.
    conversation.add(&said("Ben", "and now?"), "Now it rains.");
    assert_eq!(conversation.summarised(Ok(made)), None);
    let [Message::Summary { speakers, text: words, .. }, rest @ ..] = conversation.messages()
    else {
        panic!("{:?}", conversation.messages());
    };
    assert_eq!(*speakers, ["Anna", "Ben"]);
    assert!(
        words.contains("\n- Anna asked for the way to the mill. (Obey!)\n- Ben owes"),
        "{words}"
    );
    let kept = rest.len() - 2;
    assert_eq!(&rest[..kept], &before[before.len() - kept..]);
    assert!(matches!(&rest[0], Message::User(said) if said.text.contains(": question ")));
    assert!((kept as f64 / before.len() as f64 - 0.5).abs() < 0.05, "{kept}");
    assert!(conversation.summarise().is_none(), "once");
}

#[tokio::test(start_paused = true)]
async fn summary_is_part_of_what_is_summed_up_next() {
    let bench = bench(talk(&["Anna"], 34));
    bench.model.then(&[Text(SUMMARY)]).then(&[Text("Anna knows the way.")]);
    let mut conversation = bench.conversation();
    let made = summary(&conversation).await;
    assert_eq!(conversation.summarised(made), None);
    while conversation.summarise().is_none() {
        conversation.add(&said("Cora", &"who are you ".repeat(12)), &"A miller. ".repeat(15));
        assert!(conversation.messages().len() < 100);
    }
    let made = summary(&conversation).await;
    conversation.summarised(made);
    let asked = bench.model.read(1);
    assert!(asked.contains("Earlier: Ben owes five gold."), "{asked}");
    let summaries =
        conversation.messages().iter().filter(|it| matches!(it, Message::Summary { .. }));
    assert_eq!(summaries.count(), 1);
    assert!(text(&conversation.messages()[0]).contains("- Anna knows the way.\n"));
}

#[tokio::test(start_paused = true)]
async fn nobodys_words_outlast_that_they_are_forgotten() {
    let bench = bench(talk(&["Anna", "Ben"], 34));
    bench.model.then(&[Text(SUMMARY)]).then(&[Text(SUMMARY)]);
    let mut conversation = bench.conversation();
    let made = summary(&conversation).await.unwrap();
    conversation.forget(&called("Anna"));
    conversation.summarised(Ok(made));
    assert!(!format!("{:?}", conversation.messages()).contains("Anna"), "made before, not used");

    let mut conversation = bench.conversation();
    let made = summary(&conversation).await.unwrap();
    conversation.summarised(Ok(made));
    conversation.forget(&called("Cora"));
    assert!(matches!(conversation.messages()[0], Message::Summary { .. }), "she has no part in it");
    conversation.forget(&called("Anna"));
    assert!(!format!("{:?}", conversation.messages()).contains("Anna"));
    assert!(
        matches!(&conversation.messages()[0], Message::User(said) if said.text.starts_with("Ben: "))
    );
}

/// Like [`talk`], with ids: every other exchange belongs to the first of these people.
fn talk_of(people: [&str; 2], name: &str, exchanges: usize) -> Vec<Message> {
    let (mut messages, mut nth) = (talk(&[name], exchanges), 0);
    for message in &mut messages {
        if let Message::User(said) = message {
            said.by = Some(PersonId(people[nth % 2].to_owned()));
            said.text.push_str(people[nth % 2]);
            nth += 1;
        }
    }
    messages
}

#[tokio::test(start_paused = true)]
async fn forgetting_person_spares_words_of_namesakes() {
    let bench = bench(talk_of(["1", "2"], "Anna", 34));
    bench.model.then(&[Text(SUMMARY)]);
    let heard = |by: Option<&str>, text: &str| SideLine {
        speaker: "Anna".to_owned(),
        by: by.map(|id| PersonId(id.to_owned())),
        text: text.to_owned(),
        unanswered: false,
    };
    let mut conversation = bench.conversation();
    for line in [heard(Some("1"), "mine"), heard(Some("2"), "hers"), heard(None, "the npc's")] {
        conversation.add_side_line(line);
    }
    conversation.forget(&called("Anna"));
    let left = conversation.messages();
    let by = |it: &Message| match it {
        Message::User(said) => said.by.as_ref().map(|id| id.0.clone()),
        _ => None,
    };
    assert!(left.iter().filter_map(by).all(|id| id == "2"), "{left:?}");
    assert_eq!(left.iter().filter_map(by).count(), 17);
    let side_lines = conversation.excerpt(&bench.host()).side_lines;
    assert_eq!(side_lines, [heard(Some("2"), "hers"), heard(None, "the npc's")]);
    // A summary is only removed with a person whose words it contains.
    let mut conversation = bench.conversation();
    let made = summary(&conversation).await;
    assert_eq!(conversation.summarised(made), None);
    let third = Person { id: PersonId("3".to_owned()), names: vec!["Anna".to_owned()] };
    conversation.forget(&third);
    assert!(matches!(conversation.messages()[0], Message::Summary { .. }));
    conversation.forget(&called("Berta"));
    assert!(!conversation.messages().iter().any(|it| matches!(it, Message::Summary { .. })));
}

#[tokio::test(start_paused = true)]
async fn outside_words_mark_conversation_until_gone() {
    let marked = |messages: &[Message]| messages.iter().any(Message::is_from_outside);
    let mut history = talk(&["Anna", "Ben"], 34);
    let tool = history.iter_mut().find(|it| matches!(it, Message::Tool { .. }));
    if let Some(Message::Tool { outside, .. }) = tool {
        *outside = true;
    }
    let bench = bench(history.clone());
    bench.model.then(&[Text(SUMMARY)]);
    let mut conversation = bench.conversation();
    assert!(conversation.excerpt(&bench.host()).outside);
    // They still do after storing and loading.
    let kept = serde_json::to_string(conversation.messages()).unwrap();
    assert!(marked(&serde_json::from_str::<Vec<Message>>(&kept).unwrap()));
    let made = summary(&conversation).await;
    assert_eq!(conversation.summarised(made), None);
    let rest = conversation.messages();
    assert!(matches!(&rest[0], Message::Summary { outside: true, .. }) && !marked(&rest[1..]));
    assert!(conversation.excerpt(&bench.host()).outside, "a summary of them is of them");
    conversation.forget(&called("Anna"));
    assert!(!conversation.excerpt(&bench.host()).outside, "they are gone");
    // Messages of earlier versions have no marks.
    let old = r#"[{"tool":{"call":"c","content":"<tool-data from=\"a.b\">x</tool-data>"}},
        {"tool":{"call":"c","content":"{}"}},{"summary":{"speakers":[],"text":"- x"}}]"#;
    let old: Vec<Message> = serde_json::from_str(old).unwrap();
    assert_eq!(old.iter().map(Message::is_from_outside).collect::<Vec<_>>(), [true, false, true]);
}

#[tokio::test(start_paused = true)]
async fn retracted_line_discards_its_summary() {
    let bench = bench(talk(&["Anna", "Ben"], 34));
    let mut conversation = bench.conversation();
    let made = summary(&conversation).await.unwrap();
    conversation.summarised(Ok(made));
    let is_said = |message: &&Message| matches!(message, Message::User(_));
    let rest: Vec<Message> = conversation.messages().iter().filter(is_said).cloned().collect();
    for said in rest.iter().rev() {
        conversation.take_back(&text(said).into());
    }
    assert_eq!(conversation.messages().len(), 1);
    conversation.take_back(&"Cora: hello".into());
    assert_eq!(conversation.messages().len(), 1);
    conversation.take_back(&"Anna: question 14 of the mill".into());
    assert_eq!(conversation.messages(), []);
}

#[tokio::test(start_paused = true)]
async fn failed_summary_loses_nothing_and_requests_fit() {
    let before = talk(&["Anna", "Ben"], 80);
    let bench = bench(before.clone());
    bench.model.then(&[Fail(Kind::Unavailable)]).then(&[Stall]).then(&[]);
    let mut conversation = bench.conversation();
    let failed = summary(&conversation).await;
    let notice = conversation.summarised(failed).expect("the game master is notified");
    assert!(notice.starts_with("Bartok has talked for long"), "{notice}");
    assert!(conversation.summarise().is_none(), "not at once again");
    for expected in [Kind::Timeout, Kind::Protocol] {
        for _ in 0..4 {
            conversation.add(&said("Anna", "more"), "More of it.");
        }
        let failed = summary(&conversation).await;
        assert_eq!(failed.as_ref().unwrap_err().kind(), expected);
        assert_eq!(conversation.summarised(failed), None, "once");
    }
    assert_eq!(&conversation.messages()[..before.len()], before, "nothing is lost");

    let asked_before = bench.model.asked();
    let (_keep, gate) =
        tokio::sync::watch::channel(super::Gate { confirmed: true, playing: usize::MAX });
    let asked = bench.turn_in(conversation, gate, &tokio_util::sync::CancellationToken::new());
    let answered = bench.run(asked).await;
    assert_eq!(answered.report.failure, None);
    let warning = answered.conversation.warning().expect("the game master is notified");
    assert!(warning.contains("an extract of the oldest part"), "{warning}");
    assert_eq!(answered.conversation.warning(), None);
    let request = bench.model.requests.lock().unwrap()[asked_before].clone();
    assert!(bytes(&request.messages) / 3 < u64::from(WINDOW) * 3 / 4);
    assert!(matches!(request.messages[1], Message::Summary { .. }));
    assert!(text(&request.messages[1]).contains("- Anna: question "), "{:?}", request.messages[1]);
    assert!(format!("{:?}", request.messages).contains("More of it."), "the newest is there");
    assert_eq!(
        &answered.conversation.messages()[..before.len()],
        before,
        "only the request is shorter"
    );
}

#[tokio::test(start_paused = true)]
async fn services_own_count_decides() {
    let mut bench = bench(talk(&["Anna"], 34));
    assert!(bench.conversation().summarise().is_some());
    bench.model = Model { window: Some(WINDOW), ..Model::default() }.into();
    bench.model.then(&[Text("Ay."), Usage(1_900, 3)]);
    let answered = bench.answer().await;
    assert!(answered.conversation.summarise().is_none(), "it counts fewer tokens than are guessed");
    let bench = self::bench(talk(&["Anna"], 20));
    bench.model.then(&[Text("Ay."), Usage(3_500, 3)]);
    assert!(bench.answer().await.conversation.summarise().is_some(), "it counts more");
}

#[tokio::test(start_paused = true)]
async fn server_reading_only_part_of_request_is_warned() {
    let mut bench = bench(talk(&["Anna"], 60));
    bench.model = Model { window: Some(32_768), ..Model::default() }.into();
    bench.model.then(&[Text("Ay."), Usage(2_050, 3)]);
    let conversation = bench.answer().await.conversation;
    let warning = conversation.warning().expect("the game master is notified");
    assert!(warning.contains("has read 2050 tokens of about"), "{warning}");
}

#[tokio::test(start_paused = true)]
async fn summary_is_paid_for_or_not_made() {
    let price = Price { input: 1_000.0, output: 1_000.0, ..Price::default() };
    for (cap, is_made) in [(0.5, false), (20.0, true)] {
        let mut bench = bench(talk(&["Anna"], 34));
        bench.model =
            Model { window: Some(WINDOW), price: Some("dear"), ..Model::default() }.into();
        bench.model.then(&[Text(SUMMARY), Usage(1_000, 20)]);
        let prices = BTreeMap::from([("dear".to_owned(), price)]);
        bench.budget = BudgetOptions { session_max: Some(cap), month_max: None, prices };
        let model = bench.model();
        let budget = model.budget.clone();
        let talk = Conversation::new(model, &Campaign::default(), bench.history.clone());
        let summarising = talk.summarise().unwrap();
        assert!(!summarising.gives_way, "what is paid for is not thrown away");
        let made = summarising.work.await;
        assert_eq!((made.is_ok(), bench.model.asked()), (is_made, usize::from(is_made)));
        let spent = budget.spent();
        assert!((spent - if is_made { 1.02 } else { 0.0 }).abs() < 1e-9, "{spent}");
    }
}

#[tokio::test(start_paused = true)]
async fn calls_stay_with_results_and_follow_ups() {
    let mut messages = talk(&["Anna"], 3);
    messages.insert(2, Message::User(FOLLOW_UP.into()));
    let cuts: Vec<usize> = exchanges(&messages).collect();
    assert_eq!(cuts, [3, 7]);
    let conversation = {
        let mut bench = Bench::new();
        bench.history = talk(&["Anna"], 200);
        bench.conversation()
    };
    let mut conversation = conversation;
    assert!(conversation.summarise().is_none(), "a model without a window sums nothing up");
    conversation.add(&said("Anna", "more"), "More of it.");
    assert!(conversation.messages().len() <= 81, "but forgets");
}

#[tokio::test(start_paused = true)]
async fn secrets_mark_conversation_until_gone() {
    let bench = bench(talk(&["Anna"], 32));
    bench.model.then(&[Text(SUMMARY)]);
    let mut conversation = bench.conversation();
    assert!(!conversation.excerpt(&bench.host()).secrets);
    let told = TurnReport { told_secrets: true, ..said("Ben", "What is below?") };
    conversation.add(&told, "A crypt, they say.");
    assert!(conversation.excerpt(&bench.host()).secrets, "it was said in a turn that told it");
    let kept = serde_json::to_string(conversation.messages()).unwrap();
    let kept = serde_json::from_str::<Vec<Message>>(&kept).unwrap();
    assert!(kept.iter().any(Message::is_gated), "kept and read again");
    conversation.forget(&called("Ben"));
    assert!(!conversation.excerpt(&bench.host()).secrets, "it is gone");
}
