//! The real program with a chat model: a server on loopback that answers well, badly or not at all.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::support::{
    NOBODY,
    answers::text,
    chat_server::{ChatServer, Recorded, Script, Step},
    program::{Place, Ran, repository},
    skipped::skipped,
    speech::read_wav,
};

/// Words of a failing server that must not reach the table.
const INNARDS: &str = "upstream exploded in the boiler room";

const CAST: &str = r#"
campaign: world.yaml
npcs:
  - name: Bartok the Barkeep
    aliases: [Bartok]
    personality: A gruff innkeeper.
    behavior_rules: [Short sentences.]
    secret_knowledge: [The cellar leads to the river.]
    knowledge_scope: [everything]
    voice: { provider: flite, voice_id: rms }
    budget_tier: standard
    tools: [dice-roller.roll, dice-roller.roll_table]
  - name: Mira Quickfingers
    aliases: [Mira]
    personality: A thief.
    secret_knowledge: [Mira stole the signet.]
    knowledge_scope: [places]
    voice: { provider: flite, voice_id: slt }
"#;

const WORLD: &str = "
campaign: { name: Test }
entities:
  - { id: town, name: Ravenford, type: location, description: A wet town. }
  - { id: mine, name: Quarry, type: location, visibility: dm, description: The wagons are hidden here. }
";

/// A table whose NPCs think at `base_url`; `settings` are more keys of the provider.
fn table_at(base_url: &str, settings: &str) -> Place {
    let llm = format!("{{ name: openai, base_url: \"{base_url}\", model: test-model{settings} }}");
    let place = Place::with_config(&format!("providers:\n  llm: {llm}\n{CAST}")).brief();
    place.write("world.yaml", WORLD);
    place
}

fn table(server: &ChatServer) -> Place {
    table_at(&server.base_url(), "")
}

/// One line to Bartok.
fn ask(place: &Place) -> Ran {
    place.run(&["ask", "--json", "--out", "out.wav", "--text", "Bartok, roll for me"])
}

/// Result of one line to Bartok when the server answers so.
fn answered(scripts: Vec<Script>, settings: &str) -> (Value, Vec<Recorded>, Place) {
    let server = ChatServer::start();
    scripts.into_iter().for_each(|script| server.push(script));
    let place = table_at(&server.base_url(), settings);
    let ran = ask(&place);
    let line = ran.line();
    assert_eq!(ran.status == 0, !text(&line, "reply").is_empty(), "{ran:#?}");
    (line, server.requests(), place)
}

/// Like [`answered`], when every request is answered so.
fn always(script: Script, settings: &str) -> (Value, usize) {
    let server = ChatServer::start();
    server.otherwise(move |_| script.clone());
    let place = table_at(&server.base_url(), settings);
    let ran = ask(&place).ends_with(1);
    assert!(!place.path("out.wav").exists(), "nobody spoke, nothing is written");
    (ran.line(), server.requests().len())
}

/// An outcome without a word spoken, which says what was wrong and what to do.
#[track_caller]
fn assert_failed(line: &Value, outcome: &str, says: &str) {
    assert_eq!(line["outcome"], outcome, "{line:#}");
    assert_eq!((&line["reply"], &line["audio_ms"]), (&json!(""), &json!(0)), "{line:#}");
    assert_eq!(line["npc"], "Bartok the Barkeep");
    let detail = text(line, "detail");
    assert!(detail.contains(says) && detail.ends_with(')'), "{detail}");
}

#[track_caller]
fn assert_spoken(line: &Value, reply: &str) {
    assert_eq!((text(line, "outcome"), text(line, "reply")), ("spoken", reply), "{line:#}");
    assert!(line["audio_ms"].as_u64() > Some(300), "{line:#}");
}

fn roll(id: &'static str, expression: &str) -> (&'static str, &'static str, String) {
    (id, "roll", json!({"expression": expression}).to_string())
}

fn calls(calls: &[(&str, &str, String)]) -> Script {
    let calls: Vec<_> = calls.iter().map(|(id, name, args)| (*id, *name, args.as_str())).collect();
    Script::calls(&calls)
}

/// The last message of a role in a request.
fn last_message<'r>(request: &'r Recorded, role: &str) -> &'r Value {
    let messages = request.json["messages"].as_array().expect("messages");
    messages.iter().rfind(|message| message["role"] == role).expect("a message of the role")
}

#[test]
fn lines_written_for_others_are_not_spoken() {
    for text in [
        "Have a seat.\nWren: I sit down.\nMira: Me too.",
        "**Bartok:** Have a seat.\n\n**Mira Quickfingers** (grinning): Me too.",
        "Have a seat. Player: I sit down. Bartok: Good.",
        "Wren: May I?\nBartok: Have a seat.\nDM: He sits.",
    ] {
        let server = ChatServer::start();
        server.push(Script::text(&text.split_inclusive(' ').collect::<Vec<_>>()));
        let place = table(&server);
        let said = ["--speaker", "Wren", "--text", "Bartok, may I?"];
        let line = place.run(&[&["ask", "--json", "--out", "out.wav"][..], &said].concat()).line();
        assert_spoken(&line, "Have a seat.");
    }
}

#[test]
fn sentence_cut_off_by_the_service_is_not_spoken() {
    for (reason, tokens, reply, says) in [
        ("length", &["Sit down. ", "I owe the"][..], "Sit down.", "(raise max_tokens under"),
        ("content_filter", &["Sit down. ", "Kill"], "Sit down.", "content filter"),
        ("length", &["Sit down."], "Sit down.", ""),
        ("length", &["I owe the"], "", "(raise max_tokens under providers.llm)"),
    ] {
        let script = Script::stream();
        let script =
            tokens.iter().fold(script, |it, text| it.chunk(json!({"content": text}), None));
        let script = script.chunk(json!({}), Some(reason)).usage(20, 0, 10).done();
        let (line, ..) = answered(vec![script], "");
        assert_eq!(text(&line, "reply"), reply, "{line:#}");
        let expected = match says {
            "" => "spoken",
            _ if reply.is_empty() => "model_error",
            _ => "cut_short",
        };
        assert_eq!(line["outcome"], expected, "{line:#}");
        assert!(says.is_empty() || text(&line, "detail").contains(says), "{line:#}");
    }
}

#[test]
fn unanswered_question_is_marked_in_the_prompt() {
    let server = ChatServer::start();
    server.push(Script::error(400, "invalid_request_error", INNARDS));
    server.push(Script::text(&["Three silver."]));
    let place = table(&server);
    let ran = place.run(&[
        "ask",
        "--json",
        "--out",
        "out.wav",
        "--text",
        "Bartok, how much?",
        "--text",
        "Bartok?",
    ]);
    assert_eq!(ran.lines()[1]["reply"], "Three silver.", "{ran:#?}");
    let asked = last_message(&server.requests()[1], "user")["content"].to_string();
    let marked = "Bartok, how much? [to you, and you have not answered]";
    assert!(asked.contains(marked) && asked.contains("not to you unless it says so"), "{asked}");
}

/// Two sentences, token by token.
pub const STREAMED: [&str; 8] = ["Well", " met", ",", " friend", ".", " Sit", " down", "."];
/// The first of them.
pub const FIRST_STREAMED: &str = "Well met, friend.";

/// Makes Bartok speak with `voice`.
pub fn speaks_with(place: &Place, voice: &ChatServer) {
    let config = std::fs::read_to_string(place.path("glyphoxa.yaml")).unwrap();
    let tts =
        format!("  tts: {{ name: openai, base_url: \"{}\", model: tts }}\n", voice.base_url());
    let config = config.replace("providers:\n", &format!("providers:\n{tts}"));
    let voice = "provider: openai, voice_id: alloy";
    place.write("glyphoxa.yaml", config.replace("provider: flite, voice_id: rms", voice));
}

/// The model goes on only once the voice has its first sentence.
#[test]
fn streamed_answer_is_spoken_before_it_ends() {
    let (server, asked) = (ChatServer::start(), Arc::new(Notify::new()));
    let voice = ChatServer::voice(FIRST_STREAMED, &asked);
    server.push(Script::text(&STREAMED).held_after(" Sit", &asked));
    let place = table_at(&server.base_url(), ", idle_timeout_ms: 100000");
    speaks_with(&place, &voice);
    let line = ask(&place).ends_with(0).line();
    assert_spoken(&line, "Well met, friend. Sit down.");
    assert_eq!((text(&line, "brain"), text(&line, "tts")), ("openai", "openai"));
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn streamed_answer_is_spoken_in_time() {
    let script = Script::text(&STREAMED).paced(Duration::from_millis(120));
    let (line, requests, place) = answered(vec![script], "");
    assert_spoken(&line, "Well met, friend. Sit down.");
    assert_eq!((text(&line, "brain"), text(&line, "stt")), ("openai", "typed"));
    let whole = 120.0 * (STREAMED.len() + 3) as f64;
    let first_sound = line["ms"]["speech_end_to_first_audio"].as_f64().expect("a time");
    assert!(first_sound < whole, "{first_sound} ms, the answer took {whole}");
    assert!(read_wav(&place.path("out.wav")).level() > 0.01);
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].refused, None);
}

#[test]
fn parallel_calls_run_and_return_their_results() {
    let called = calls(&[roll("a", "2d6+3"), roll("b", "1d20")]);
    let slow = Script::text(&["Both", " are", " thrown", "."]).paced(Duration::from_millis(60));
    let (line, requests, _) = answered(vec![called.paced(Duration::from_millis(10)), slow], "");
    assert_spoken(&line, "Both are thrown.");
    let tools = line["tools"].as_array().expect("calls");
    assert_eq!(tools.len(), 2, "{line:#}");
    assert!(tools.iter().all(|call| call["ok"] == true && call["tool"] == "dice-roller.roll"));
    assert_eq!(requests.len(), 2);
    assert!(requests.iter().all(|request| request.refused.is_none()), "{requests:#?}");
    let results: Vec<&Value> = requests[1].json["messages"]
        .as_array()
        .expect("messages")
        .iter()
        .filter(|message| message["role"] == "tool")
        .collect();
    assert_eq!(
        (&results[0]["tool_call_id"], &results[1]["tool_call_id"]),
        (&json!("a"), &json!("b"))
    );
    let result = text(results[0], "content");
    assert!(result.contains(&tools[0]["result"]["total"].to_string()), "{result}");
}

#[test]
fn invalid_calls_are_reported_to_the_model() {
    let wrong: [(&str, &str, &str, &str); 5] = [
        ("roll", "{\"expression\": ", "invalid_arguments", "JSON"),
        ("roll", "{}", "invalid_arguments", "expression"),
        ("roll", "{\"expression\": \"banana\"}", "", "banana"),
        ("roll", "{\"expression\": \"9999999d6\"}", "", "dice"),
        ("summon_dragon", "{}", "not_found", "summon_dragon"),
    ];
    for (name, arguments, kind, says) in wrong {
        let (line, requests, _) = answered(
            vec![Script::calls(&[("x", name, arguments)]), Script::text(&["Hm", "."])],
            "",
        );
        assert_spoken(&line, "Hm.");
        let call = &line["tools"][0];
        assert_eq!(call["ok"], false, "{call:#}");
        assert!(kind.is_empty() || call["result"]["error"] == kind, "{call:#}");
        assert!(text(&call["result"], "message").contains(says), "{call:#}");
        let told = text(last_message(&requests[1], "tool"), "content");
        assert!(told.contains(says), "{told}");
        assert_eq!(requests[1].refused, None);
    }
}

#[test]
fn tools_an_npc_was_not_given_are_not_offered() {
    let server = ChatServer::start();
    let place = table(&server);
    let lines = place.run(&["ask", "--json", "--text", "Mira, hello", "--text", "Bartok, hello"]);
    assert_eq!(lines.ends_with(0).lines().len(), 2);
    let requests = server.requests();
    assert_eq!(requests[0].json.get("tools"), None);
    assert_eq!(requests[1].json["tools"].as_array().map(Vec::len), Some(2));
}

#[test]
fn model_that_only_calls_is_stopped() {
    let server = ChatServer::start();
    server.otherwise(|request| match request.json.get("tools") {
        Some(_) => Script::calls(&[("x", "roll", "{\"expression\": \"d20\"}")]),
        None => Script::text(&["Enough", "."]),
    });
    let line = ask(&table(&server)).ends_with(0).line();
    assert_spoken(&line, "Enough.");
    assert!(server.requests().len() <= 5, "{}", server.requests().len());
    let ran = line["tools"].as_array().expect("calls").iter().filter(|call| call["ok"] == true);
    assert_eq!(ran.count(), 2, "the same call is not run a third time: {line:#}");
}

#[test]
fn service_failures_are_reported_but_not_spoken() {
    let error = |status| Script::error(status, "server_error", INNARDS);
    let (line, requests) = always(error(500), "");
    assert_failed(&line, "model_error", "the service failed with status 500");
    assert_eq!(requests, 3, "two more tries");
    let (line, requests) = always(error(401), "");
    assert_failed(&line, "model_error", "the key was refused");
    assert_eq!(requests, 1, "asking again does not help");
    let (line, requests) = always(error(429).header("retry-after", "60"), "");
    assert_failed(&line, "model_error", "too many requests");
    assert_eq!(requests, 1, "nobody waits a minute for an answer");
    let page = Script::plain(200, "text/html").raw("<html>login please</html>");
    let (line, _) = always(page, "");
    assert_failed(&line, "model_error", "not a chat completion");
}

#[test]
fn failures_that_pass_are_waited_for() {
    let limited = Script::error(429, "rate_limit_error", INNARDS).header("retry-after", "1");
    let failed = Script::error(503, "server_error", INNARDS);
    let (line, requests, _) = answered(vec![limited, failed, Script::text(&["Aye", "."])], "");
    assert_spoken(&line, "Aye.");
    assert_eq!(requests.len(), 3);
    assert!(!line.to_string().contains(INNARDS), "{line:#}");
}

#[test]
fn cut_stream_leaves_what_was_whole() {
    let said = |tokens: &[&str]| {
        tokens
            .iter()
            .fold(Script::stream(), |script, token| script.chunk(json!({"content": token}), None))
    };
    let cut = said(&["Sit", " down", ".", " The", " river"]).step(Step::Cut);
    let (line, requests, _) = answered(vec![cut], "");
    assert_eq!(line["outcome"], "cut_short", "{line:#}");
    assert_eq!(line["reply"], "Sit down.");
    assert!(text(&line, "detail").contains("stopped in the middle"), "{line:#}");
    assert_eq!(requests.len(), 1, "what was heard is not said again");
    let early = Script::stream().step(Step::Cut);
    let (line, requests, _) = answered(vec![early.clone(), Script::text(&["Aye", "."])], "");
    assert_spoken(&line, "Aye.");
    assert_eq!(requests.len(), 2);
    let (line, _) = always(early, "");
    assert_failed(&line, "model_error", "stopped in the middle");
}

#[test]
fn stalled_stream_is_given_up() {
    let stalled =
        Script::stream().chunk(json!({"content": "Sit down. The"}), None).step(Step::Stall);
    let (line, _, _) = answered(vec![stalled], ", idle_timeout_ms: 2000");
    assert_eq!((text(&line, "outcome"), text(&line, "reply")), ("cut_short", "Sit down."));
    assert!(text(&line, "detail").contains("no answer in time"), "{line:#}");
    let silent = Script::stream().step(Step::Stall);
    let (line, _) = always(silent, ", first_byte_timeout_ms: 300");
    assert_failed(&line, "model_error", "no answer in time");
}

#[test]
fn empty_answer_says_so() {
    let (line, _) = always(Script::text(&[]), "");
    assert_eq!((text(&line, "outcome"), text(&line, "reply")), ("empty_reply", ""), "{line:#}");
    let (line, _) = always(Script::text(&["*shrugs*"]), "");
    assert_eq!((text(&line, "outcome"), text(&line, "reply")), ("empty_reply", ""), "{line:#}");
}

#[test]
fn server_that_is_down_says_so() {
    let address = format!("http://{NOBODY}/v1");
    let ran = ask(&table_at(&address, "")).ends_with(1);
    assert_failed(&ran.line(), "model_error", "nothing listens there");
    let shown = table_at(&address, "").run(&["ask", "--text", "Bartok, hello"]).ends_with(1);
    assert!(shown.stdout.contains("  the model failed: "), "{shown:#?}");
    assert!(shown.stdout.contains("is the server running? check base_url"), "{shown:#?}");
    let doctor = table_at(&address, "").run(&["doctor"]).ends_with(1);
    assert!(doctor.stdout.contains("✗ thinking: "), "{doctor:#?}");
}

#[test]
fn stage_directions_and_labels_are_not_spoken() {
    let reply =
        "*wipes the counter* Bartok: **Welcome**, [smiles] friend! 🍺 See https://x.example .";
    let (line, _, _) = answered(vec![Script::text(&[reply])], "");
    let spoken = text(&line, "reply");
    assert_eq!(line["outcome"], "spoken", "{line:#}");
    for unwanted in ["*", "wipes", "Bartok:", "[", "🍺"] {
        assert!(!spoken.contains(unwanted), "{unwanted}: {spoken}");
    }
}

#[test]
fn prompt_holds_only_facts_known_to_its_npc() {
    let server = ChatServer::start();
    let place = table(&server);
    let said = ["--text", "Bartok, hello", "--text", "and the quarry?", "--text", "Mira, hello"];
    place.run(&[&["ask", "--json"], &said[..]].concat()).ends_with(0);
    let requests = server.requests();
    let sent: Vec<String> = requests.iter().map(|request| request.json.to_string()).collect();
    assert_eq!(sent.len(), 3);
    let (cellar, signet) = ("The cellar leads to the river.", "Mira stole the signet.");
    assert!(sent[..2].iter().all(|sent| sent.contains(cellar) && !sent.contains(signet)));
    assert!(sent[2].contains(signet) && !sent[2].contains(cellar));
    for sent in &sent {
        assert!(sent.contains("A wet town.") && !sent.contains("wagons"), "{sent}");
        assert!(!sent.contains("Quarry"), "{sent}");
    }
}

/// Settings of the moment: a stage note, the place and the time.
#[test]
fn stage_notes_reach_the_model_and_nothing_else() {
    let server = ChatServer::start();
    let place = table(&server);
    let lines = "/npc direct Bartok 1: You owe Anna money.\n/scene set The river, dusk\n\
                 Bartok, hello\nBartok, hello again";
    let ran = place.run_typing(&["ask", "--json", "--as-dm", "--session", "one"], lines);
    let ran = ran.ends_with(0);
    let requests = server.requests();
    let told = |turn: usize| last_message(&requests[turn], "user")["content"].as_str().unwrap();
    assert!(told(0).contains("You owe Anna money."), "{}", told(0));
    assert!(told(0).starts_with("[Scene: The river]\n[Time of day: dusk]\n"), "{}", told(0));
    assert!(told(1).contains("[Time of day: dusk]"), "{}", told(1));
    assert!(!requests[1].json.to_string().contains("owe Anna"), "it is over and was never said");
    let kept = std::fs::read_to_string(place.path("data/sessions/one.json")).unwrap();
    assert!(!kept.contains("owe Anna"), "{kept}");
    let conversations = serde_json::from_str::<Value>(&kept).unwrap()["histories"].to_string();
    assert!(!conversations.contains("dusk"), "{kept}");
    assert!(!format!("{ran:?}").contains("owe Anna"), "{ran:#?}");
}

#[test]
fn assistant_uses_the_model_within_the_budget() {
    let server = ChatServer::start();
    server.push(calls(&[roll("one", "2d6")]));
    let place = table(&server);
    let asked = ["ask", "--json", "--assistant", "--text", "Where are the wagons? Roll 2d6."];
    let answer = place.run(&asked).ends_with(0).line();
    let requests = server.requests();
    assert_eq!(requests.len(), 2, "one round of tools");
    assert_eq!(answer["tools"][0]["ok"], true, "{answer:#}");
    assert_ne!(answer["text"], "", "{answer:#}");
    let system = requests[0].json["messages"][0]["content"].as_str().unwrap();
    assert!(system.contains("The wagons are hidden here. Secret: the players do not know."));
    assert!(!system.contains("Mira stole the signet."), "an npc's secrets are its own");
    let price = "prices: { test-model: { input: 1000, output: 1000 } }\n";
    let config = std::fs::read_to_string(place.path("glyphoxa.yaml")).unwrap();
    place.write("glyphoxa.yaml", format!("{config}{price}budget: {{ session_max: 0.01 }}\n"));
    let refused = place.run(&asked).ends_with(1);
    assert!(refused.stderr.contains("0.01"), "{refused:#?}");
    assert_eq!(server.requests().len(), 2, "nothing was asked");
}

#[test]
fn earlier_messages_are_resent_unchanged() {
    let server = ChatServer::start();
    server.push(calls(&[roll("a", "d20")]));
    let place = table(&server);
    let said = ["--text", "Bartok, roll", "--text", "and now?", "--text", "and then?"];
    place.run(&[&["ask", "--json"], &said[..]].concat()).ends_with(0);
    let requests = server.requests();
    assert_eq!(requests.len(), 4);
    let messages = |index: usize| requests[index].json["messages"].as_array().expect("messages");
    // A turn's last message holds its passing facts; what stands before it does not change.
    let (second, third) = (messages(2), messages(3));
    let settled = second.len() - 1;
    assert_eq!(second[..settled], third[..settled]);
    assert_eq!(messages(0)[0], third[0]);
    assert!(third.len() > second.len());
    assert!(requests.iter().all(|request| request.json["tools"] == requests[0].json["tools"]));
}

#[test]
fn money_that_is_not_there_is_not_spent() {
    let server = ChatServer::start();
    let place = table(&server);
    let config = std::fs::read_to_string(place.path("glyphoxa.yaml")).unwrap();
    let price = "prices: { test-model: { input: 1000, output: 1000 } }\n";
    place.write("glyphoxa.yaml", format!("{config}{price}budget: {{ session_max: 0.01 }}\n"));
    let line = ask(&place).ends_with(1).line();
    assert_eq!(
        (text(&line, "outcome"), text(&line, "reply")),
        ("over_budget", "Forgive me, I have no more words for today."),
        "{line:#}"
    );
    assert!(text(&line, "detail").contains("0.01"), "{line:#}");
    assert!(line["audio_ms"].as_u64() > Some(500), "he says that he has no more words");
    assert_eq!(server.requests().len(), 0, "checked before the call");
    place.write("glyphoxa.yaml", format!("{config}{price}budget: {{ session_max: 5 }}\n"));
    let arguments = ["ask", "--json", "--session", "s", "--text", "Bartok, hello"];
    server.otherwise(|_| {
        let script = Script::stream().chunk(json!({"content": "Aye."}), Some("stop"));
        script.usage(600, 0, 5).done()
    });
    let spent = place.run(&arguments).ends_with(0).line()["spent"].as_f64();
    assert_eq!(spent, Some(0.605), "600 tokens read and 5 written, by the server's count");
    let spent = place.run(&arguments).ends_with(0).line()["spent"].as_f64();
    assert_eq!(spent, Some(1.21), "a kept session remembers what it has spent");
}

#[test]
fn key_is_sent_and_never_printed() {
    let key = "sk-test-1234567890";
    let server = ChatServer::with_key(Some(key));
    let echo = format!("the key {key} may not do that");
    server.push(Script::error(403, "permission_error", &echo));
    let place = table_at(&server.base_url(), ", api_key: \"${TABLE_KEY}\"")
        .env("TABLE_KEY", key)
        .env("RUST_LOG", "trace")
        .with_whisper();
    let Some(place) = place else { return };
    for (arguments, status) in [
        (&["ask", "--json", "--text", "Bartok, hello"][..], 1),
        (&["ask", "--json", "--session", "s", "--text", "Bartok, hello"], 0),
        (&["check", "--json"], 0),
        (&["doctor", "--json"], 0),
    ] {
        let ran = place.run(arguments).ends_with(status);
        assert!(!ran.stdout.contains(key) && !ran.stderr.contains(key), "{arguments:?}: {ran:#?}");
    }
    let kept = std::fs::read_to_string(place.path("data/sessions/s.json")).unwrap();
    assert!(!kept.contains(key));
    let wrong = place.env("TABLE_KEY", "sk-wrong-0987654321");
    let line = wrong.run(&["ask", "--json", "--text", "Bartok, hello"]).ends_with(1).line();
    assert_failed(&line, "model_error", "the key was refused with status 401");
    let missing = table_at(&server.base_url(), ", api_key: \"${TABLE_KEY}\"");
    let ran = missing.run(&["check"]).ends_with(2);
    assert!(ran.message().contains("TABLE_KEY") && ran.message().starts_with("glyphoxa.yaml:2:"));
}

/// A table with a server that asks for a chat model, which costs something here.
fn table_with_server(server: &ChatServer, more: &str) -> Place {
    let place = table(server);
    let config = std::fs::read_to_string(place.path("glyphoxa.yaml")).unwrap();
    let config = config.replace("dice-roller.roll_table]", "dice-roller.roll_table, \"home.*\"]");
    let python = repository("tests/support/mcp/server.py");
    let home = format!(
        "mcp: {{ servers: [{{ name: home, command: \"python3 '{}' plain\", env: {{ MORE: yes }}, \
         tools: {{ think: {{ effects: none, open_world: false }} }}{more} }}] }}\n",
        python.display()
    );
    let price = "prices: { test-model: { input: 0, output: 10 } }\n";
    place.write("glyphoxa.yaml", format!("{config}{price}{home}"));
    place
}

/// Result of Bartok's call of the tool that asks for a model.
fn thought(more: &str, budget: &str) -> (Value, Vec<Recorded>) {
    let server = ChatServer::start();
    server.otherwise(|request| match request.json.to_string().contains("What is in the cellar?") {
        _ if request.json["messages"][0]["content"] == "Answer in three words." => {
            Script::text(&["A", " dead", " smuggler", "."])
        }
        true => Script::text(&["A", " smuggler", "."]),
        false => match request.json["messages"].as_array().and_then(|it| it.last()) {
            Some(last) if last["role"] == "tool" => Script::text(&["So", " it", " is", "."]),
            _ => Script::calls(&[("x", "think", "{}")]),
        },
    });
    let place = table_with_server(&server, more);
    let config = std::fs::read_to_string(place.path("glyphoxa.yaml")).unwrap();
    place.write("glyphoxa.yaml", format!("{config}{budget}"));
    let arguments = ["ask", "--json", "--tier", "deep", "--text", "Bartok, think"];
    let line = place.run(&arguments).line();
    (line["tools"][0].clone(), server.requests())
}

#[test]
fn sampling_needs_permission_and_budget() {
    if std::process::Command::new("python3").arg("--version").output().is_err() {
        return skipped("tests with MCP servers", "there is no python3");
    }
    let (call, requests) = thought(", allow_sampling: true", "");
    assert_eq!(call["result"], "A dead smuggler.", "{call:#}");
    assert_eq!(requests.len(), 3);
    let sample = &requests[1].json;
    assert_eq!(requests[1].refused, None);
    assert_eq!(sample["messages"].as_array().map(Vec::len), Some(2), "nothing of the table");
    let longest = sample.get("max_completion_tokens").or_else(|| sample.get("max_tokens"));
    assert_eq!(longest, Some(&json!(512)), "{sample:#}");
    let (call, requests) = thought("", "");
    assert!(text(&call, "result").contains("lends no model"), "{call:#}");
    assert_eq!(requests.len(), 2);
    // Enough for the NPC's own words, and not for 512 tokens more.
    let (call, requests) = thought(", allow_sampling: true", "budget: { session_max: 0.004 }\n");
    assert!(text(&call, "result").contains("spending cap"), "{call:#}");
    assert_eq!(requests.len(), 2, "{requests:#?}");
}
