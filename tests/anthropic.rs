//! The real program with Anthropic's Messages API: a server on loopback that answers well, badly or not
//! at all, and refuses what the real one refuses.

use std::{process::Command, sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::{
    model::{FIRST_STREAMED, STREAMED, speaks_with},
    support::{
        answers::text,
        anthropic_server::{Answer, error, refusal, said},
        chat_server::{ChatServer, Recorded, Script, Step},
        program::{Place, Ran, repository, run},
    },
    third_party::installed,
};

/// Error text of a failing server that must not be spoken at the table.
const INNARDS: &str = "upstream exploded in the boiler room";
const KEY: &str = "sk-ant-0123456789";

const CAST: &str = "
npcs:
  - name: Bartok the Barkeep
    aliases: [Bartok]
    personality: A gruff innkeeper.
    voice: { provider: flite, voice_id: rms }
    budget_tier: standard
    tools: [dice-roller.roll, dice-roller.roll_table]
";

/// A table whose NPC thinks at `server`; `settings` are more keys of the provider, `more` of the file.
fn table(server: &ChatServer, settings: &str, more: &str) -> Place {
    let llm = format!(
        "{{ name: anthropic, base_url: \"{}\", api_key: \"${{ANTHROPIC_API_KEY}}\", model: \
         test-model{settings} }}",
        server.base_url()
    );
    let config = format!("providers:\n  llm: {llm}\n{more}{CAST}");
    Place::with_config(&config).brief().env("ANTHROPIC_API_KEY", KEY)
}

fn start() -> ChatServer {
    ChatServer::with_key(Some(KEY))
}

/// One line to Bartok.
fn ask(place: &Place) -> Ran {
    place.run(&["ask", "--json", "--out", "out.wav", "--text", "Bartok, roll for me"])
}

/// Result of one line to Bartok when the server answers so.
fn answered(scripts: Vec<Script>, settings: &str) -> (Value, Vec<Recorded>) {
    let server = start();
    scripts.into_iter().for_each(|script| server.push(script));
    let ran = ask(&table(&server, settings, ""));
    let line = ran.line();
    assert_eq!(ran.status == 0, !text(&line, "reply").is_empty(), "{ran:#?}");
    assert!(!text(&line, "reply").contains("boiler"), "{line:#}");
    (line, server.requests())
}

/// Like [`answered`], when every request is answered so: nothing is spoken.
fn always(script: Script, settings: &str) -> (Value, usize) {
    let server = start();
    server.otherwise(move |_| script.clone());
    let place = table(&server, settings, "");
    let ran = ask(&place).ends_with(1);
    assert!(!place.path("out.wav").exists(), "nobody spoke, nothing is written");
    (ran.line(), server.requests().len())
}

/// An outcome without a word spoken, which says what was wrong and what to do.
#[track_caller]
fn assert_failed(line: &Value, says: &str) {
    assert_eq!(line["outcome"], "model_error", "{line:#}");
    assert_eq!((&line["reply"], &line["audio_ms"]), (&json!(""), &json!(0)), "{line:#}");
    let detail = text(line, "detail");
    assert!(detail.starts_with("anthropic: ") && detail.contains(says), "{detail}");
    assert!(detail.ends_with(')'), "no way out: {detail}");
}

#[track_caller]
fn assert_spoken(line: &Value, reply: &str) {
    assert_eq!((text(line, "outcome"), text(line, "reply")), ("spoken", reply), "{line:#}");
    assert!(line["audio_ms"].as_u64() > Some(300), "{line:#}");
}

/// Blocks of a kind in the last message of a request.
fn last_blocks<'r>(request: &'r Recorded, kind: &str) -> Vec<&'r Value> {
    let messages = request.json["messages"].as_array().expect("messages");
    let blocks = messages.last().and_then(|last| last["content"].as_array()).expect("blocks");
    blocks.iter().filter(|block| block["type"] == kind).collect()
}

/// The model that rolls twice and says what came of it.
fn roller(thinks: bool) -> impl Fn(&Recorded) -> Script + Send {
    move |request| {
        let results = last_blocks(request, "tool_result");
        if results.is_empty() {
            let begun = Answer::begun().ping();
            let begun = if thinks { begun.thinking("two rolls, then").redacted() } else { begun };
            // No two calls of a conversation have one id.
            let turn = request.json["messages"].as_array().map_or(0, Vec::len);
            return begun
                .call(&format!("toolu_a{turn}"), "roll", r#"{"expression": "2d6+3"}"#)
                .call(&format!("toolu_b{turn}"), "roll", r#"{"expression": "1d20"}"#)
                .ends("tool_use");
        }
        let total = |result: &&Value| {
            let words: String = result["content"].as_str().unwrap_or_default().to_owned();
            let after = words.split("\"total\":").nth(1).unwrap_or_default().trim_start();
            after.chars().take_while(char::is_ascii_digit).collect::<String>()
        };
        let totals: Vec<String> = results.iter().map(total).collect();
        said(&["You rolled ", &totals.join(" and "), "."])
    }
}

#[test]
fn npc_rolls_and_speaks_what_came_of_it() {
    for settings in ["", ", thinking_budget: 1024"] {
        let server = start();
        server.otherwise(roller(!settings.is_empty()));
        let place = table(&server, settings, "");
        let line = ask(&place).ends_with(0).line();
        let tools = line["tools"].as_array().expect("calls");
        assert!(tools.iter().all(|call| call["ok"] == true), "{line:#}");
        let totals = [&tools[0]["result"]["total"], &tools[1]["result"]["total"]];
        assert_spoken(&line, &format!("You rolled {} and {}.", totals[0], totals[1]));
        assert_eq!(text(&line, "brain"), "anthropic");
        let requests = server.requests();
        assert_eq!(requests.len(), 2, "one round of tools");
        assert!(requests.iter().all(|request| request.refused.is_none()), "{requests:#?}");
        let results = last_blocks(&requests[1], "tool_result");
        let ids: Vec<&Value> = results.iter().map(|result| &result["tool_use_id"]).collect();
        assert_eq!(ids, ["toolu_a1", "toolu_b1"], "both results in one message");
        assert_eq!(requests[0].json["tools"][1]["cache_control"]["type"], "ephemeral");
        assert_eq!(requests[0].json["system"][0]["cache_control"]["type"], "ephemeral");
        assert!(requests[0].json.get("temperature").is_none());
    }
}

#[test]
fn thoughts_last_as_long_as_their_turn() {
    let server = start();
    server.otherwise(roller(true));
    let place = table(&server, ", thinking_budget: 1024", "");
    let said = ["--session", "s", "--text", "Bartok, roll", "--text", "Bartok, once more"];
    let ran = place.run(&[&["ask", "--json"], &said[..]].concat()).ends_with(0);
    let requests = server.requests();
    assert!(requests.iter().all(|request| request.refused.is_none()), "{requests:#?}");
    assert_eq!(requests.len(), 4);
    assert!(requests[1].json.to_string().contains("two rolls, then"));
    assert!(!requests[2].json.to_string().contains("two rolls, then"), "its turn is over");
    assert!(!format!("{ran:?}").contains("two rolls"), "{ran:#?}");
    let kept = std::fs::read_to_string(place.path("data/sessions/s.json")).unwrap();
    assert!(kept.contains("toolu_a") && !kept.contains("two rolls"), "{kept}");
}

/// The model goes on only once the voice has its first sentence.
#[test]
fn streamed_answer_is_spoken_before_it_ends() {
    let (server, asked) = (start(), Arc::new(Notify::new()));
    let voice = ChatServer::voice(FIRST_STREAMED, &asked);
    server.push(said(&STREAMED).held_after(" Sit", &asked));
    let place = table(&server, ", idle_timeout_ms: 100000", "");
    speaks_with(&place, &voice);
    assert_spoken(&ask(&place).ends_with(0).line(), "Well met, friend. Sit down.");
    let requests = server.requests();
    assert_eq!((requests.len(), &requests[0].refused), (1, &None));
}

#[test]
fn streamed_answer_is_spoken_in_time() {
    let script = said(&STREAMED).paced(Duration::from_millis(120));
    let (line, requests) = answered(vec![script], "");
    assert_spoken(&line, "Well met, friend. Sit down.");
    let whole = 120.0 * (STREAMED.len() + 5) as f64;
    let first_sound = line["ms"]["speech_end_to_first_audio"].as_f64().expect("a time");
    assert!(first_sound < whole, "{first_sound} ms, the answer took {whole}");
    assert_eq!((requests.len(), &requests[0].refused), (1, &None));
}

#[test]
fn required_thinking_is_learned_from_one_refusal() {
    let server = start();
    let place = table(&server, "", "");
    let config = std::fs::read_to_string(place.path("glyphoxa.yaml")).unwrap();
    place.write("glyphoxa.yaml", config.replace("test-model", "thinker-5"));
    let said = ["ask", "--json", "--text", "Bartok, hello", "--text", "Bartok, hello again"];
    let lines = place.run(&said).ends_with(0).lines();
    assert!(lines.iter().all(|line| line["reply"] == "Aye."), "{lines:#?}");
    let requests = server.requests();
    assert_eq!(requests.len(), 3, "it is asked the wrong way once");
    assert_eq!(requests[2].json["output_config"], json!({"effort": "low"}));
}

#[test]
fn service_failures_are_reported_but_not_spoken() {
    for (status, says, expected) in [
        (400, "the request was refused with status 400", 1),
        (401, "the key was refused with status 401", 1),
        (402, "the account has no credit with status 402", 1),
        (403, "the key was refused with status 403", 1),
        (404, "(check model, and whether base_url ends with a version such as /v1)", 1),
        (500, "the service failed with status 500", 3),
        (529, "the service is overloaded with status 529", 3),
    ] {
        let (line, requests) = always(refusal(status, INNARDS), "");
        assert_failed(&line, says);
        assert_eq!(requests, expected, "{status}");
    }
    let (line, requests) = always(refusal(429, INNARDS), "");
    assert_failed(&line, "too many requests");
    assert_eq!(requests, 3, "two more tries");
    let (line, requests) = always(refusal(429, INNARDS).header("retry-after", "60"), "");
    assert_failed(&line, "too many requests");
    assert_eq!(requests, 1, "nobody waits a minute for an answer");
    let page = Script::plain(200, "text/html").raw("<html>login please</html>");
    assert_failed(&always(page, "").0, "not a message of Anthropic's");
}

#[test]
fn failures_that_pass_are_waited_for() {
    let limited = refusal(429, INNARDS).header("retry-after", "1");
    let (line, requests) = answered(vec![limited, refusal(529, INNARDS), said(&["Aye."])], "");
    assert_spoken(&line, "Aye.");
    assert_eq!(requests.len(), 3);
    let early = Answer::begun().event(&error("overloaded_error", INNARDS)).closes();
    let (line, requests) = answered(vec![early, said(&["Aye."])], "");
    assert_spoken(&line, "Aye.");
    assert_eq!(requests.len(), 2);
    assert!(!line.to_string().contains(INNARDS), "{line:#}");
}

#[test]
fn broken_stream_ends_at_last_full_sentence() {
    let begun = || Answer::begun().open_text("Sit down. The river");
    let broken = [
        (begun().then(Step::Cut), "stopped in the middle"),
        (begun().closes(), "stopped in the middle"),
        (begun().event(&error("overloaded_error", INNARDS)).closes(), "overloaded"),
        (begun().then(Step::Stall), "no answer in time"),
    ];
    for (script, says) in broken {
        let (line, requests) = answered(vec![script], ", idle_timeout_ms: 2000");
        assert_eq!((text(&line, "outcome"), text(&line, "reply")), ("cut_short", "Sit down."));
        assert!(text(&line, "detail").contains(says), "{line:#}");
        assert_eq!(requests.len(), 1, "what was heard is not said again");
    }
    let silent = Answer::begun().then(Step::Stall);
    let (line, _) = always(silent, ", idle_timeout_ms: 200, first_byte_timeout_ms: 200");
    assert_failed(&line, "no answer in time");
}

#[test]
fn early_stop_speaks_only_full_sentences() {
    for (reason, tokens, reply, says) in [
        ("max_tokens", &["Sit down. ", "I owe the"][..], "Sit down.", "(raise max_tokens under"),
        ("refusal", &["Sit down. ", "Kill"], "Sit down.", "content filter"),
        ("max_tokens", &["Sit down."], "Sit down.", ""),
        ("refusal", &[], "", "content filter"),
    ] {
        let begun = Answer::begun();
        let begun = if tokens.is_empty() { begun } else { begun.text(tokens) };
        let (line, _) = answered(vec![begun.ends(reason)], "");
        assert_eq!(text(&line, "reply"), reply, "{line:#}");
        let expected = match says {
            "" => "spoken",
            _ if reply.is_empty() => "model_error",
            _ => "cut_short",
        };
        assert_eq!(line["outcome"], expected, "{line:#}");
        assert!(says.is_empty() || text(&line, "detail").contains(says), "{line:#}");
    }
    let thoughts = Answer::begun().thinking("a long plan").ends("max_tokens");
    assert_failed(&answered(vec![thoughts], "").0, "(raise max_tokens under providers.llm)");
}

#[test]
fn unknown_stream_events_are_ignored() {
    let script = Answer::begun()
        .ping()
        .event(&json!({"type": "hologram_start", "shape": "dragon"}))
        .block(&json!({"type": "hologram"}), &[json!({"type": "hologram_delta"})])
        .text(&["Aye", "."])
        .ends("galaxy_brain");
    assert_spoken(&answered(vec![script], "").0, "Aye.");
}

/// Cost of an answered request, in the prices of [`PRICES`].
fn bill(thoughts: u64) -> f64 {
    let (input, cached, written, output) = (8.0, 8.0, 4.0, 5.0 + thoughts as f64);
    (input * 10.0 + cached + written * 20.0 + output * 1_000.0) / 1e6
}

const PRICES: &str =
    "prices: { test-model: { input: 10, cached_input: 1, cache_write: 20, output: 1000 } }\n";

#[test]
fn cache_tokens_are_billed_and_cap_holds() {
    let arguments = ["ask", "--json", "--session", "s", "--text", "Bartok, hello"];
    let server = start();
    let place = table(&server, "", &format!("{PRICES}budget: {{ session_max: 9 }}\n"));
    let spent = place.run(&arguments).ends_with(0).line()["spent"].as_f64().expect("money");
    // 20 tokens are too few for what was sent, so more is booked for reading it.
    assert!(spent >= bill(0) && spent < 2.0 * bill(0), "{spent} is not about {}", bill(0));

    // A model that uses all it may: its thoughts count as much as its words.
    let server = start();
    server.otherwise(|request| {
        let most = request.json["max_tokens"].as_u64().unwrap_or_default();
        Answer::begun().thinking("long").text(&["Aye."]).ends_after("end_turn", most)
    });
    let settings = ", thinking_budget: 1024, max_tokens: 100";
    let place = table(&server, settings, &format!("{PRICES}budget: {{ session_max: 8.5 }}\n"));
    let mut last = Value::Null;
    for _ in 0..9 {
        last = place.run(&arguments).line();
        if last["outcome"] == "over_budget" {
            break;
        }
        assert_eq!(last["outcome"], "spoken", "{last:#}");
    }
    assert_eq!(last["outcome"], "over_budget", "{last:#}");
    let billed: f64 = server
        .requests()
        .iter()
        .map(|request| bill(request.json["max_tokens"].as_u64().unwrap_or_default() - 5))
        .sum();
    assert!(billed > 1.0 && billed <= 8.5, "{billed} billed under a cap of 8.50");
}

#[test]
fn later_count_of_zero_lowers_nothing() {
    let server = start();
    server.otherwise(|_| {
        let usage = json!({"input_tokens": 400_000, "output_tokens": 1});
        let none = json!({"input_tokens": 0, "output_tokens": 0});
        Answer::begun()
            .event(&json!({"type": "message_start", "message": {"usage": usage}}))
            .text(&["Aye."])
            .event(&json!({"type": "message_delta", "delta": {}, "usage": none}))
            .ends("end_turn")
    });
    let place = table(&server, "", &format!("{PRICES}budget: {{ session_max: 6 }}\n"));
    let arguments = ["ask", "--json", "--session", "s", "--text", "Bartok, hello"];
    let spent = place.run(&arguments).ends_with(0).line()["spent"].as_f64().expect("money");
    assert!(spent >= 4.0, "{spent} booked for 400,000 tokens of 10 a million");
}

#[test]
fn key_is_wanted_and_never_printed() {
    let server = start();
    server.push(refusal(403, &format!("the key {KEY} may not do that")));
    let place = table(&server, "", "").env("RUST_LOG", "trace").with_whisper();
    let Some(place) = place else { return };
    for (arguments, status) in [
        (&["ask", "--json", "--text", "Bartok, hello"][..], 1),
        (&["ask", "--json", "--text", "Bartok, hello"], 0),
        (&["check", "--json"], 0),
        (&["doctor", "--json"], 0),
    ] {
        let ran = place.run(arguments).ends_with(status);
        assert!(!ran.stdout.contains(KEY) && !ran.stderr.contains(KEY), "{arguments:?}: {ran:#?}");
    }
    let doctor = place.run(&["doctor"]).ends_with(0);
    assert!(doctor.stdout.contains("'test-model' among them"), "{doctor:#?}");
    let refused = place.env("ANTHROPIC_API_KEY", "sk-ant-wrong-98765");
    assert_failed(&ask(&refused).ends_with(1).line(), "the key was refused with status 401");
    let doctor = refused.run(&["doctor"]).ends_with(1);
    assert!(doctor.stdout.contains("✗ thinking: "), "{doctor:#?}");
    let check = |llm: &str| {
        let config = format!("providers: {{ llm: {{ name: anthropic, {llm} }} }}\n{CAST}");
        let ran = Place::with_config(&config).run(&["check"]);
        (ran.status, ran.stderr)
    };
    let (status, said) = check("model: m, free: true");
    assert_eq!(status, 2);
    assert!(said.contains("missing key 'api_key' of 'providers.llm'"), "{said}");
    assert!(said.contains("(api_key: ${ANTHROPIC_API_KEY}, or another base_url)"), "{said}");
    let (_, said) = check("model: m, api_key: k, temperature: 0.7, extra_body: { thinking: x }");
    for part in [
        "'providers.llm.temperature' has no effect on 'anthropic'",
        "extra_body cannot set 'thinking'",
        "no price for model 'm' under prices",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

/// The vendor's own client against the service of these tests: what it takes for the real one's answers
/// is what the program is tested with.
#[test]
fn vendor_sdk_accepts_fake_service() {
    let Some(folder) = installed("anthropic-sdk") else { return };
    let server = start();
    server.push(Answer::begun().ping().text(&["Well", " met."]).ends("end_turn"));
    server.push(
        Answer::begun()
            .thinking("hm, Bäume")
            .text(&["Wait."])
            .call("toolu_a", "roll", r#"{"expression": "2d6", "why": "ä\n"}"#)
            .call("toolu_b", "look", "")
            .ends("tool_use"),
    );
    server.push(said(&["Seven", "."]));
    server.push(refusal(529, "Overloaded"));
    server.push(Answer::begun().event(&error("overloaded_error", "Overloaded")).closes());
    let mut command = Command::new(folder.join("bin/python"));
    command.arg(repository("tests/support/anthropic_sdk.py"));
    let base_url = server.base_url();
    command.arg(base_url.trim_end_matches("/v1")).arg(KEY);
    let heard = run(command, "").ends_with(0).line();
    assert_eq!(heard["text"], "Well met.");
    assert_eq!(heard["usage"], json!([8, 8, 4, 5]), "{heard:#}");
    assert_eq!(
        heard["calls"],
        json!([["toolu_a", "roll", {"expression": "2d6", "why": "ä\n"}], ["toolu_b", "look", {}]])
    );
    assert_eq!((&heard["thought"], &heard["stop"]), (&json!("hm, Bäume"), &json!("tool_use")));
    assert_eq!(heard["answer"], "Seven.");
    assert_eq!(heard["errors"], json!([[529, "overloaded_error"], [200, "overloaded_error"]]));
    let requests = server.requests();
    let refused: Vec<_> = requests.iter().filter_map(|it| it.refused.as_deref()).collect();
    assert!(refused.is_empty(), "{refused:?}");
    assert_eq!(requests.len(), 5);
}
