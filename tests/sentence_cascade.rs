//! `engine: sentence_cascade` through the real program: a fast model opens, a strong one goes on.

use serde_json::{Value, json};

use crate::support::{
    chat_server::{ChatServer, Recorded, Script},
    program::{Live, Place},
};

/// Logged for an opening that came too late.
const LATE: &str = "the opening sentence is late";

/// A table with two models, and Bartok, who opens with one and goes on with the other.
struct Two {
    fast: ChatServer,
    main: ChatServer,
}

impl Two {
    /// They write this.
    fn new(fast: &'static str, main: &'static str) -> Self {
        let two = Self { fast: ChatServer::start(), main: ChatServer::start() };
        two.fast.otherwise(move |_| Script::text(&[fast]));
        two.main.otherwise(move |_| Script::text(&[main]));
        two
    }

    /// A table; `keys` are further ones of the strong model, `npc` of Bartok.
    fn place(&self, keys: &str, npc: &str) -> Place {
        let entry = |name: &str, server: &ChatServer, keys: &str| {
            let base_url = server.base_url();
            format!(
                "    - {{ service: openai, as: {name}, base_url: \"{base_url}\", model: m{keys} }}\n"
            )
        };
        Place::with_config(&format!(
            "data_dir: data\nproviders:\n  llm:\n{}{}npcs:\n  - {{ name: Bartok, voice: {{ provider: \
             flite, voice_id: rms }}, engine: sentence_cascade, cascade: {{ opener: fast, strong: main \
             }}{npc} }}\n",
            // Either model may have to go on.
            entry("fast", &self.fast, if keys.contains("continues") { keys } else { "" }),
            entry("main", &self.main, keys)
        ))
    }

    /// An answer to `text` that the fast model has opened. Asks again only after a late opening, up to three
    /// times: a busy machine may miss the 800 ms, and after three failures the fast model rests.
    #[track_caller]
    fn opened(&self, keys: &str, npc: &str, text: &str) -> Opened {
        let place = self.place(keys, npc).env("RUST_LOG", "glyphoxa=warn");
        let mut live = place.start(&["ask", "--json"]);
        for said in 1..=3 {
            let (fast, main) = (self.fast.requests().len(), self.main.requests().len());
            live.types(text);
            let mut lines = live.says_until("\"outcome\"");
            let said_last = lines.pop().expect("a line");
            let line: Value = serde_json::from_str(&said_last).expect("a line of JSON");
            if line["made_by"]["thought"][0] == "fast" {
                let fast = self.fast.requests().split_off(fast);
                let main = self.main.requests().split_off(main);
                return Opened { line, fast, main, said, live, _place: place };
            }
            // The log may come behind the line.
            if !lines.iter().any(|line| line.contains(LATE)) {
                live.says(LATE);
            }
        }
        panic!("never opened by the fast model");
    }
}

/// An answer that the fast model has opened.
struct Opened {
    line: Value,
    /// Requests to each model for this answer.
    fast: Vec<Recorded>,
    main: Vec<Recorded>,
    /// Lines said so far.
    said: usize,
    live: Live,
    _place: Place,
}

/// Result of a typed line.
fn said_to(live: &mut Live, text: &str) -> Value {
    live.types(text);
    serde_json::from_str(&live.says("\"outcome\"")).expect("a line of JSON")
}

/// The last message of a request.
fn last(request: &Recorded) -> Value {
    let messages = request.json["messages"].as_array().expect("messages");
    messages.last().cloned().unwrap_or_default()
}

#[test]
fn two_models_give_one_answer() {
    let two = Two::new("Ah, the old mine.", "Hello! The old mine? It lies north.");
    let Opened { line, fast, main, .. } = two.opened("", "", "Bartok, where is the old mine?");
    assert_eq!(line["outcome"], "spoken", "{line:#}");
    assert_eq!(line["reply"], "Ah, the old mine. It lies north.");
    let made_by = json!({"heard": "typed", "thought": ["fast", "main"], "spoke": "flite",
        "engine": "sentence_cascade"});
    assert_eq!(line["made_by"], made_by);
    assert_eq!((fast.len(), main.len()), (1, 1));
    assert_eq!(fast[0].json["max_tokens"], 40);
    let order = last(&fast[0])["content"].to_string();
    assert!(order.contains("first sentence"), "{order}");
    let order = last(&main[0])["content"].to_string();
    assert!(order.contains("with these words: Ah, the old mine. Go on"), "{order}");
}

#[test]
fn history_has_one_answer() {
    let two = Two::new("Ah, the old mine.", "It lies north.");
    let mut opened = two.opened("", "", "Bartok, where is it?");
    said_to(&mut opened.live, "Bartok, how far is it?");
    let main = two.main.requests();
    let messages = main[opened.said].json["messages"].as_array().expect("messages");
    let answers: Vec<_> = messages.iter().filter(|it| it["role"] == "assistant").collect();
    assert_eq!(answers.len(), opened.said, "{messages:#?}");
    assert_eq!(answers[opened.said - 1]["content"], "Ah, the old mine. It lies north.");
}

#[test]
fn strong_model_answers_for_one_that_fails() {
    let two = Two::new("", "It lies north.");
    two.fast.otherwise(|_| Script::error(500, "server_error", "no"));
    let said = ["ask", "--json", "--text", "Bartok, where is the old mine?"];
    let line = two.place("", "").run(&said).ends_with(0).line();
    assert_eq!((&line["outcome"], &line["reply"]), (&json!("spoken"), &json!("It lies north.")));
    assert_eq!(line["made_by"]["thought"], json!(["main"]));
    assert_eq!(line["made_by"]["engine"], "sentence_cascade");
}

#[test]
fn short_answers_are_the_fast_models_alone() {
    for (fast, npc, text) in [
        ("Well met.", "", "Hello Bartok"),
        ("Aye. ##", "", "Bartok, is it open?"),
        ("It lies north.", ", max_sentences: 1", "Bartok, where is the old mine?"),
    ] {
        let two = Two::new(fast, "Never asked.");
        let opened = two.opened("", npc, text);
        assert_eq!(opened.line["reply"], fast.trim_end_matches(" ##"), "{:#}", opened.line);
        assert_eq!(opened.line["made_by"]["thought"], json!(["fast"]));
        assert_eq!((opened.fast.len(), opened.main.len()), (1, 0));
    }
}

#[test]
fn server_that_continues_gets_the_beginning() {
    let two = Two::new("Ah, the old mine.", "It lies north.");
    let opened = two.opened(", continues: true", "", "Bartok, where is the old mine?");
    assert_eq!(opened.line["reply"], "Ah, the old mine. It lies north.");
    let begun = json!({"role": "assistant", "content": "Ah, the old mine."});
    assert_eq!(last(&opened.main[0]), begun);
    assert_eq!(opened.main[0].json["continue_final_message"], true);
}

#[test]
fn roll_is_the_strong_models() {
    let two = Two::new("Let us see what the bones say.", "There you are.");
    two.main.otherwise(|request| match last(request)["role"] == "tool" {
        true => Script::text(&["There you are."]),
        false => Script::calls(&[("c1", "roll", r#"{"expression":"2d6"}"#)]),
    });
    let opened = two.opened("", ", tools: [dice-roller.roll]", "Bartok, roll 2d6 for me");
    let line = opened.line;
    assert_eq!(line["reply"], "Let us see what the bones say. There you are.", "{line:#}");
    assert_eq!(line["tools"].as_array().map(Vec::len), Some(1), "{line:#}");
    assert!(opened.fast[0].json.get("tools").is_none());
}

#[test]
fn npcs_that_name_two_models_may_change() {
    let two = Two::new("Ah, the old mine.", "It lies north.");
    let price = ", price: { input: 1, output: 5 }";
    let place = two.place(price, "");
    let typed = "/npc engine Bartok cascaded confirm\n/npc engine Bartok sentence_cascade\n";
    let ran = place.run_typing(&["ask", "--json", "--as-dm"], typed).ends_with(0);
    assert!(ran.stderr.contains("speaks by the engine cascaded"), "{ran:#?}");
    assert!(ran.stderr.contains("costs about "), "{ran:#?}");
}
