use futures::executor::block_on;
use serde_json::json;

use super::*;
use crate::{
    domain::{Calling, LineTool, LineWhen, ScriptedLine, ToolChoice, TurnFacts},
    provider::Attempts,
};

fn line(when: Option<LineWhen>, say: &[&str]) -> ScriptedLine {
    ScriptedLine {
        when,
        language: None,
        say: say.iter().map(|&text| text.to_owned()).collect(),
        tool: None,
        otherwise: Vec::new(),
        once: false,
        weight: 1,
    }
}

fn phrases(phrases: &[&str]) -> Option<LineWhen> {
    Some(LineWhen::Phrases(phrases.iter().map(|&phrase| phrase.to_owned()).collect()))
}

fn dice_line() -> ScriptedLine {
    ScriptedLine {
        tool: Some(LineTool {
            name: "dice-roller.roll".into(),
            arguments: json!({"expression": "{dice}"}),
        }),
        ..line(phrases(&["roll"]), &["The dice show {result.total}."])
    }
}

fn request(utterance: &str, dice: Option<&str>, mut before: Vec<Message>) -> ChatRequest {
    before.push(Message::User(utterance.into()));
    let roll = ToolSpec {
        name: "roll".into(),
        identity: "dice-roller.roll".into(),
        description: "".into(),
        parameters: Arc::new(json!({})),
        calling: Calling::Waits,
    };
    ChatRequest {
        messages: before,
        tools: Arc::from([roll]),
        tool_choice: ToolChoice::Auto,
        max_tokens: 100,
        facts: Arc::new(TurnFacts {
            by: None,
            speaker: "Anna".into(),
            utterance: utterance.into(),
            dice: dice.map(str::to_owned),
            odds: None,
            last: None,
            dice_withheld: false,
            stops_music: false,
            language: None,
        }),
        attempts: Attempts::default(),
    }
}

fn events(lines: Vec<ScriptedLine>, request: ChatRequest) -> Vec<ChatEvent> {
    let brain = Scripted::new("Bartok", Arc::new(Script::new(lines.into(), "en")), 1);
    block_on(brain.stream(request).map(Result::unwrap).collect())
}

fn text(lines: Vec<ScriptedLine>, request: ChatRequest) -> String {
    events(lines, request)
        .into_iter()
        .filter_map(|event| match event {
            ChatEvent::Text(text) => Some(text),
            _ => None,
        })
        .collect()
}

#[test]
fn longest_match_wins_and_words_are_whole() {
    let lines = || {
        vec![
            line(phrases(&["ale"]), &["Ale is two copper."]),
            line(phrases(&["dark ale", "stout"]), &["The dark one costs three."]),
            line(None, &["Hm?"]),
        ]
    };
    assert_eq!(
        text(lines(), request("A dark ale, please", None, vec![])),
        "The dark one costs three."
    );
    assert_eq!(text(lines(), request("some ALE!", None, vec![])), "Ale is two copper.");
    assert_eq!(text(lines(), request("a tale of males", None, vec![])), "Hm?");
}

#[test]
fn phrases_match_words_across_punctuation() {
    let lines = || {
        vec![
            line(phrases(&["what's new", "who are you"]), &["Nothing ever is."]),
            line(phrases(&["Übel"]), &["Bad indeed."]),
            line(phrases(&["?!"]), &["Never."]),
            line(None, &["Hm?"]),
        ]
    };
    for said in ["What’s new?", "so, what's... new", "WHO (are) – you?"] {
        assert_eq!(text(lines(), request(said, None, vec![])), "Nothing ever is.", "{said}");
    }
    assert_eq!(text(lines(), request("das ist ÜBEL", None, vec![])), "Bad indeed.");
    for said in ["whats new", "what new", "übelst", "?!", ""] {
        assert_eq!(text(lines(), request(said, None, vec![])), "Hm?", "{said}");
    }
}

#[test]
fn captures_fill_the_answer() {
    let lines = vec![line(
        Some(LineWhen::Pattern(r"my name is (?<name>\w+)".into())),
        &["Well met, {name}. I am {npc}, and you are no {speaker}."],
    )];
    let answer = text(lines, request("Hello, my name is Zoë", None, vec![]));
    assert_eq!(answer, "Well met, Zoë. I am Bartok, and you are no Anna.");
}

#[test]
fn tool_line_calls_first_and_speaks_the_result() {
    let request_one = request("roll two d six", Some("2d6"), vec![]);
    let events = events(vec![dice_line(), line(None, &["Hm?"])], request_one.clone());
    let ChatEvent::ToolCall(call) = &events[0] else { panic!("no call in {events:?}") };
    assert_eq!((call.name.as_str(), call.arguments.as_str()), ("roll", r#"{"expression":"2d6"}"#));

    let framed = r#"{"total":"<tool-data from=\"program\">seven</tool-data>"}"#;
    for (content, said) in
        [(r#"{"total":7}"#, "The dice show 7."), (framed, "The dice show seven.")]
    {
        let mut after = request_one.clone();
        after.messages.push(Message::Assistant {
            text: String::new(),
            calls: vec![call.clone()],
            gated: false,
        });
        after.messages.push(Message::Tool {
            call: call.id.clone(),
            content: content.into(),
            outside: false,
            gated: false,
        });
        assert_eq!(text(vec![dice_line(), line(None, &["Hm?"])], after), said);
    }
}

#[test]
fn line_that_needs_dice_waits_for_dice() {
    let lines = || vec![dice_line(), line(None, &["Roll what?"])];
    assert_eq!(text(lines(), request("roll over", None, vec![])), "Roll what?");
    let mut without = request("roll a d20", Some("1d20"), vec![]);
    without.tools = Arc::from([]);
    assert_eq!(text(lines(), without), "Roll what?");
}

#[test]
fn line_without_its_tool_uses_otherwise_text() {
    let without = |otherwise: &[&str]| {
        let otherwise = otherwise.iter().map(|&text| text.to_owned()).collect();
        vec![ScriptedLine { otherwise, ..dice_line() }, line(None, &["What?"])]
    };
    let asked = || ChatRequest { tools: Arc::from([]), ..request("roll", Some("2d6"), vec![]) };
    assert_eq!(
        text(without(&["The dice are away, {speaker}."]), asked()),
        "The dice are away, Anna."
    );
    assert_eq!(text(without(&[]), asked()), "What?", "it does not fit");
}

#[test]
fn once_means_once_a_conversation() {
    let lines = || {
        vec![
            ScriptedLine {
                once: true,
                ..line(phrases(&["hello"]), &["Welcome to my tavern, {speaker}."])
            },
            line(None, &["Again?"]),
        ]
    };
    assert_eq!(text(lines(), request("hello", None, vec![])), "Welcome to my tavern, Anna.");
    let said = Message::spoken("Welcome to my tavern, Anna.".into());
    assert_eq!(text(lines(), request("hello", None, vec![said])), "Again?");
}

/// Answer to `utterance` in `language` from an NPC that speaks `own`.
fn told(
    lines: &[ScriptedLine],
    own: &str,
    language: Option<&'static str>,
    utterance: &str,
) -> String {
    let asked = request(utterance, None, vec![]);
    let facts = Arc::new(TurnFacts { language, ..(*asked.facts).clone() });
    let brain = Scripted::new("Bartok", Arc::new(Script::new(lines.into(), own)), 1);
    let events: Vec<_> = block_on(brain.stream(ChatRequest { facts, ..asked }).collect());
    let text = |event| match event {
        Ok(ChatEvent::Text(text)) => Some(text),
        _ => None,
    };
    events.into_iter().filter_map(text).collect()
}

fn in_language(code: &str, line: ScriptedLine) -> ScriptedLine {
    ScriptedLine { language: Some(code.to_owned()), ..line }
}

#[test]
fn line_in_spoken_language_beats_one_without() {
    let lines = [
        line(phrases(&["ale", "an ale please"]), &["Two coppers."]),
        in_language("de", line(phrases(&["ale"]), &["Zwei Kupfer."])),
        in_language("de", line(None, &["Soso."])),
        line(None, &["Hm?"]),
    ];
    let said = |language, utterance| told(&lines, "en", language, utterance);
    assert_eq!(said(Some("de"), "ein Ale"), "Zwei Kupfer.");
    assert_eq!(said(Some("de"), "an ale please"), "Zwei Kupfer.", "however well another fits");
    assert_eq!(said(Some("de"), "Wetter"), "Soso.");
    assert_eq!(said(Some("en"), "ale"), "Two coppers.");
    assert_eq!(said(Some("en"), "weather"), "Hm?");
    assert_eq!(said(None, "ale"), "Two coppers.", "it is taken for the npc's own");
    let own = told(&lines, "de", None, "ale");
    assert_eq!(own, "Zwei Kupfer.");
    let without_default = [&lines[..2], &lines[3..]].concat();
    assert_eq!(told(&without_default, "en", Some("de"), "Wetter"), "Hm?");
}

#[test]
fn own_language_default_is_last_resort() {
    let lines = [
        in_language("de", line(phrases(&["ale"]), &["Zwei Kupfer."])),
        in_language("de", line(None, &["Soso."])),
    ];
    assert_eq!(told(&lines, "de", Some("en"), "ale"), "Soso.");
    assert_eq!(told(&lines, "en", Some("en"), "ale"), "", "it is not the npc's own");
}

#[test]
fn missing_tool_falls_back_in_same_language() {
    let lines = [
        in_language("de", ScriptedLine { language: None, ..dice_line() }),
        in_language("de", line(None, &["Soso."])),
        line(phrases(&["roll"]), &["What?"]),
    ];
    let asked = request("roll", Some("2d6"), vec![]);
    let facts = Arc::new(TurnFacts { language: Some("de"), ..(*asked.facts).clone() });
    let without = ChatRequest { tools: Arc::from([]), facts, ..asked };
    assert_eq!(text(lines.to_vec(), without), "Soso.");
}

#[test]
fn one_total_stands_for_several_where_alone() {
    let answered = |say: &[&str]| {
        let mut after = request("roll 2d6 and 1d20", Some("2d6; 1d20"), vec![]);
        after.messages.push(Message::Tool {
            call: CallId("line-0-1".into()),
            content: r#"{"expression":"2d6; 1d20","totals":[7,15]}"#.into(),
            outside: false,
            gated: false,
        });
        let say = say.iter().map(|&text| text.to_owned()).collect();
        text(vec![ScriptedLine { say, ..dice_line() }, line(None, &["Hm?"])], after)
    };
    assert_eq!(answered(&["They say {result.total}."]), "They say 7, 15.");
    let both = ["They say {result.total}.", "One by one, {result.totals}."];
    assert_eq!(answered(&both), "One by one, 7, 15.");
    assert_eq!(answered(&["It was {result.name}."]), "Hm?");
}

#[test]
fn line_that_rolls_by_itself_fits_no_question() {
    let lines = || {
        let tool =
            LineTool { name: "dice-roller.roll".into(), arguments: json!({"expression": "1d20"}) };
        let rolls =
            ScriptedLine { tool: Some(tool), ..line(phrases(&["roll"]), &["{result.total}."]) };
        vec![rolls, line(None, &["Hm?"])]
    };
    let asked = |withheld: bool| {
        let mut asked = request("what was that roll", None, vec![]);
        let facts = TurnFacts { dice_withheld: withheld, ..(*asked.facts).clone() };
        asked.facts = Arc::new(facts);
        events(lines(), asked)
    };
    assert!(matches!(asked(false)[..], [ChatEvent::ToolCall(_), ..]));
    assert!(!matches!(asked(true)[..], [ChatEvent::ToolCall(_), ..]));
}

/// A conversation of Anna's words and their answers.
fn talk(said: &[(&str, &str)]) -> Vec<Message> {
    let exchange = |(asked, answer): &(&str, &str)| {
        let asked = Message::User(format!("Anna: {asked}").into());
        [asked, Message::spoken((*answer).to_owned())]
    };
    said.iter().flat_map(exchange).collect()
}

#[test]
fn last_three_answers_are_not_said_again() {
    let lines = || {
        vec![
            line(phrases(&["hello"]), &["One, {speaker}.", "Two.", "Three {npc}!", "Four."]),
            line(None, &["Hm?", "What?"]),
        ]
    };
    let mut said: Vec<(String, String)> = Vec::new();
    for round in 0..12 {
        let asked = format!("hello {round}");
        let before: Vec<(&str, &str)> = said.iter().map(|(a, b)| (&**a, &**b)).collect();
        let answer = text(lines(), request(&asked, None, talk(&before)));
        let last: Vec<&String> = said.iter().rev().take(3).map(|(_, answer)| answer).collect();
        assert!(!last.contains(&&answer), "{answer} after {last:?}");
        said.push((asked, answer));
    }
    let cut_off = talk(&[("mumble", "Hm")]);
    assert_eq!(text(lines(), request("mutter", None, cut_off)), "What?");
}

#[test]
fn line_just_said_gives_way_to_another() {
    let lines = || {
        vec![
            line(phrases(&["cold", "rain"]), &["My knee says rain."]),
            line(phrases(&["it"]), &["It is what it is."]),
            line(None, &["Hm?"]),
        ]
    };
    let said = || talk(&[("is it cold", "My knee says rain.")]);
    let answer = |utterance| text(lines(), request(utterance, None, said()));
    assert_eq!(answer("will it rain"), "It is what it is.");
    assert_eq!(answer("rain?"), "Hm?");
    assert_eq!(answer("Is it cold?"), "My knee says rain.", "it is asked for again");
    let framed = "<tool-data from=\"program\">is it cold</tool-data>";
    let of_program = talk(&[(framed, "My knee says rain.")]);
    let again = text(lines(), request(framed, None, of_program));
    assert_eq!(again, "My knee says rain.", "a program asks again");
}

#[test]
fn what_stands_beside_a_greeting_counts() {
    let lines = || {
        vec![
            line(phrases(&["good evening", "guten abend"]), &["Come in."]),
            line(phrases(&["ale", "bier"]), &["Two coppers."]),
            line(None, &["Hm?"]),
        ]
    };
    for (said, answer) in [
        ("Good evening, Bartok, an ale please", "Two coppers."),
        ("An ale, please. Good evening!", "Two coppers."),
        ("guten abend wirt ein bier bitte", "Two coppers."),
        ("Good evening, Bartok", "Come in."),
        ("Guten Abend, was für ein Tag", "Come in."),
    ] {
        assert_eq!(text(lines(), request(said, None, vec![])), answer, "{said}");
    }
}

#[test]
fn value_at_sentence_start_has_a_capital() {
    let lines = || {
        let when = LineWhen::Pattern(r"give me (?:an? )?(?<what>\w+)".into());
        vec![line(Some(when), &["{what}, is it? {what} it is, {speaker}. One {what}."])]
    };
    let answer = text(lines(), request("give me an élan", None, vec![]));
    assert_eq!(answer, "Élan, is it? Élan it is, Anna. One élan.");
}

#[test]
fn introduced_name_is_remembered() {
    let lines = || {
        vec![
            line(Some(LineWhen::Pattern(r"my name is (?<name>\w+)".into())), &["Hi, {name}."]),
            line(phrases(&["do you remember my name"]), &["Of course, {name}."]),
            line(phrases(&["my name"]), &["You never told me."]),
        ]
    };
    let asked = "do you remember my name?";
    let answer = |before: &[(&str, &str)]| text(lines(), request(asked, None, talk(before)));
    assert_eq!(answer(&[]), "You never told me.");
    assert_eq!(answer(&[("my name is mara", "Hi, Mara."), ("so", "Hm.")]), "Of course, Mara.");
    let mut of_another = vec![Message::User("Ben: my name is Odo".into())];
    of_another.push(Message::spoken("Hi, Odo.".into()));
    assert_eq!(text(lines(), request(asked, None, of_another)), "You never told me.");
}

/// Lines with their speakers, and their answers.
fn exchanges(lines: &[(&str, &str)]) -> Vec<Message> {
    let exchange = |(said, answer): &(&str, &str)| {
        [Message::User((*said).into()), Message::spoken((*answer).to_owned())]
    };
    lines.iter().flat_map(exchange).collect()
}

fn pub_lines() -> Vec<ScriptedLine> {
    vec![
        line(phrases(&["joke"]), &["Joke one.", "Joke two."]),
        line(phrases(&["ale"]), &["Ale one.", "Ale two."]),
        line(phrases(&["another one", "another round"]), &["A round."]),
        line(Some(LineWhen::Pattern(r"my name is (?<name>\w+)".into())), &["Well met, {name}."]),
        line(phrases(&["great"]), &["Stop it."]),
        line(None, &["Hm?"]),
    ]
}

#[test]
fn request_for_more_repeats_the_one_before() {
    let joke = ("Anna: Tell me a joke", "Joke one.");
    let ale = ("Anna: one ale please", "Ale one.");
    for (before, said, wanted) in [
        (vec![joke], "Got another one?", "Joke two."),
        (vec![ale], "same again for the whole table", "Ale two."),
        (vec![joke, ale], "Bartok, another one please", "Ale two."),
        (vec![ale, ("Anna: haha great", "Stop it.")], "another one", "Ale two."),
        (vec![ale, ("Anna: my name is Rosalind", "Well met, Rosalind.")], "one more", "Ale two."),
        (vec![joke, ("Ben: one ale", "Ale one.")], "got another one?", "Joke two."),
        (vec![("Ben: one ale", "Ale one.")], "the same for me, please", "Ale two."),
        (vec![ale, ("Anna: same again", "Ale two.")], "and another one", "Ale one."),
        (vec![], "another one", "A round."),
        (vec![joke], "another round", "A round."),
        (vec![ale], "the same to you", "Hm?"),
        (vec![ale], "tell me one more joke", "Joke one."),
        (vec![("Anna: mumble", "Hm?")], "same again", "Hm?"),
    ] {
        let answer = text(pub_lines(), request(said, None, exchanges(&before)));
        assert!(
            answer == wanted || wanted == "Joke one." && answer.starts_with("Joke"),
            "{before:?}, {said}: {answer}"
        );
    }
}

#[test]
fn wish_for_silence_finds_the_line_that_stops() {
    let stop = ScriptedLine {
        tool: Some(LineTool { name: "music-ambiance.stop_music".into(), arguments: json!({}) }),
        otherwise: vec!["It is quiet.".into()],
        ..line(phrases(&["stop the music"]), &["Quiet it is."])
    };
    let lines =
        || vec![stop.clone(), line(phrases(&["music"]), &["A bard."]), line(None, &["Hm?"])];
    let asked = |stops: bool| {
        let request = request("the music can go now", None, vec![]);
        let facts = TurnFacts { stops_music: stops, ..(*request.facts).clone() };
        ChatRequest { facts: Arc::new(facts), ..request }
    };
    assert_eq!(text(lines(), asked(true)), "It is quiet.");
    assert_eq!(text(lines(), asked(false)), "A bard.");
}

#[test]
fn short_forms_are_understood() {
    let german = |when: &[&str], say: &str| ScriptedLine {
        language: Some("de".into()),
        ..line(phrases(when), &[say])
    };
    let lines = || {
        vec![
            german(&["grüß dich"], "Na."),
            german(&["hast du ein bett"], "Fünf Silber."),
            german(&["hast du was gehört"], "Nichts."),
            line(None, &["Hm?"]),
        ]
    };
    let says = |said: &str| {
        let request = request(said, None, vec![]);
        let facts = TurnFacts { language: Some("de"), ..(*request.facts).clone() };
        text(lines(), ChatRequest { facts: Arc::new(facts), ..request })
    };
    assert_eq!(says("Grüß dich Bartok, sag mal, haste 'n Bett?"), "Fünf Silber.");
    assert_eq!(says("haste was gehört"), "Nichts.");
    assert_eq!(says("Grüß dich!"), "Na.");
    assert_eq!(says("Hast du Bettzeug?"), "Hm?");
}

/// An NPC's pattern is compiled only once an utterance contains its words.
#[test]
fn patterns_wait_for_words_they_need() {
    let pattern = |text: &str| Some(LineWhen::Pattern(text.to_owned()));
    let lines = vec![
        line(pattern(r"my name is (?<name>\w+)"), &["Well met, {name}."]),
        line(pattern(r".*\b(?:odds|chances?)\b.*"), &["Even."]),
        line(pattern(r"\bbet (\w+) (gold|silver)\b"), &["You are on."]),
        line(None, &["Hm?"]),
    ];
    let script = Arc::new(Script::new(lines.into(), "en"));
    let brain = Scripted::new("Bartok", Arc::clone(&script), 1);
    assert_eq!(script.compiled(), None, "nothing is prepared before it is asked");
    for (said, compiled) in [
        ("good evening", 0),
        ("a bet? no!", 0),
        ("What are my CHANCES?", 1),
        ("I bet five silver", 2),
        ("good evening", 2),
    ] {
        let asked = brain.stream(request(said, None, vec![]));
        assert!(block_on(asked.collect::<Vec<_>>()).iter().all(Result::is_ok));
        assert_eq!(script.compiled(), Some(compiled), "{said}");
    }
}
