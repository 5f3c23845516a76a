//! NPCs choose a model of the list by its name (`llm: fast`).

use serde_json::{Value, json};

use super::{Two, assert_answered_by, entry, say, table};
use crate::support::{
    NOBODY,
    answers::answer,
    chat_server::{ChatServer, Recorded, Script},
    program::{Live, Place},
};

const BARTOK: &str = "name: Bartok\nllm: first\nvoice: { provider: flite, voice_id: rms }\n";
const MIRA: &str = "name: Mira\nllm: second\nvoice: { provider: flite, voice_id: slt }\n";
const TOM: &str = "name: Tom\nvoice: { provider: flite, voice_id: awb }\n";

/// A table with these models and an NPC in each of these files.
fn place(llm: &str, npcs: &[(&str, &str)]) -> Place {
    let place = Place::with_config(&format!("data_dir: data\n{llm}"));
    for (file, text) in npcs {
        place.write(&format!("npcs/{file}.yaml"), text);
    }
    place
}

/// The models of a list of these entries.
fn listed(entries: &[String]) -> String {
    format!("providers:\n  llm:\n{}", entries.concat())
}

/// Result of a typed line.
fn asked(live: &mut Live, line: &str) -> Value {
    live.types(line);
    serde_json::from_str(&live.says("\"outcome\"")).expect("a line of JSON")
}

fn longest(request: &Recorded) -> Option<u64> {
    let keys = ["max_tokens", "max_completion_tokens"];
    keys.iter().find_map(|key| request.json[*key].as_u64())
}

/// True if a request is about `npc`, by its system prompt, and may have `tokens` of answer.
fn is_for(request: &Recorded, npc: &str, tokens: u64) -> bool {
    let prompt = request.json["messages"][0]["content"].as_str().unwrap_or_default();
    prompt.contains(npc) && longest(request) == Some(tokens)
}

#[test]
fn each_npc_asks_the_model_it_names_and_pays_it() {
    let (first, second) = (ChatServer::start(), ChatServer::start());
    for server in [&first, &second] {
        server.otherwise(|_| answer(50));
    }
    let price =
        |tokens, output| format!(", max_tokens: {tokens}, price: {{ input: 0, output: {output} }}");
    let models = listed(&[
        entry("first", &first.base_url(), &price(60, 1000)),
        entry("second", &second.base_url(), &price(90, 200)),
    ]);
    let place = place(&models, &[("bartok", BARTOK), ("mira", MIRA), ("tom", TOM)]);
    let lines = ["Mira, hello", "Bartok, hello", "Tom, hello"].map(|line| ["--text", line]);
    let said = place.run(&[&["ask", "--json"][..], &lines.concat()].concat()).ends_with(0);
    let answers = said.lines();
    // Sums spent so far: 50 tokens of the second model, then of the first, which is the default.
    for (line, (name, brain, spent)) in answers.iter().zip([
        ("second", "second, else first", 0.01),
        ("first", "first, else second", 0.06),
        ("first", "first, else second", 0.11),
    ]) {
        assert_answered_by(line, name);
        assert_eq!(line["brain"], brain);
        let sum = line["spent"].as_f64().expect("a sum");
        assert!((sum - spent).abs() < 1e-9, "{sum} instead of {spent}");
    }
    let (first, second) = (first.requests(), second.requests());
    let [bartok, tom] = first.as_slice() else { panic!("{first:#?}") };
    assert!(is_for(bartok, "Bartok", 60) && is_for(tom, "Tom", 60), "{first:#?}");
    let [mira] = second.as_slice() else { panic!("{second:#?}") };
    assert!(is_for(mira, "Mira", 90), "{mira:#?}");
}

#[test]
fn wrong_model_name_is_reported_with_position() {
    let near = "http://127.0.0.1:1/v1";
    let (fast, main) = (entry("fast", near, ""), entry("main", near, ""));
    let both = listed(&[fast.clone(), main.clone()]);
    let mira = MIRA.replace("second", "fats");
    let (at, twin) = ("npcs/mira.yaml:2:6: unknown chat model 'fats'", entry("fast", near, ""));
    for (models, said) in [
        (both.clone(), format!("{at} (did you mean 'fast'? providers.llm has fast, main)")),
        (listed(std::slice::from_ref(&main)), format!("{at} (providers.llm has main)")),
        (String::new(), format!("{at} (list it under providers.llm)")),
        // A list that is wrong itself may well have it.
        (
            both.replace("as: main", "as: { }"),
            "glyphoxa.yaml:5:30: 'providers.llm.as' is a mapping (expected text)".to_owned(),
        ),
        ("providers: { llm: fats }\n".to_owned(), "'providers.llm' is 'fats'".to_owned()),
    ] {
        let ran = place(&models, &[("mira", &mira)]).run(&["check"]).ends_with(2);
        assert!(ran.stderr.contains(&said), "{said}: {ran:#?}");
        assert_eq!(ran.stderr.lines().count(), 1, "{ran:#?}");
    }
    let twins = place(&listed(&[main, fast, twin]), &[("tom", TOM)]).run(&["check"]).ends_with(2);
    let said =
        "glyphoxa.yaml:6:30: two chat models are called 'fast' (give one of them another name: ";
    assert!(twins.stderr.contains(said), "{twins:#?}");
    // A model that no NPC names is not reported.
    let quiet = place(&both, &[("tom", TOM)]).run(&["check"]).ends_with(0);
    assert!(quiet.stderr.is_empty(), "{quiet:#?}");
}

#[test]
fn check_and_the_doctor_cover_every_model() {
    let (first, away) = (ChatServer::start(), format!("http://{NOBODY}/v1"));
    let first = entry("first", &first.base_url(), "");
    let far = entry("far", "https://api.openai.com/v1", ", free: true");
    let wrong = entry("wrong", "chat.example/v1", ", free: true");
    let models = listed(&[first.clone(), far, wrong]);
    let said = place(&models, &[("tom", TOM)]).run(&["check"]).ends_with(2).stderr;
    for part in [
        "glyphoxa.yaml:5:7: missing key 'api_key' of 'providers.llm' (api_key: ${OPENAI_API_KEY}",
        "glyphoxa.yaml:6:47: 'providers.llm.base_url' is 'chat.example/v1' (it begins with http://",
    ] {
        assert!(said.contains(part), "{said}");
    }
    let models = listed(&[first, entry("away", &away, "")]);
    let doctor = place(&models, &[("tom", TOM)]).run(&["doctor", "--json"]).ends_with(1);
    let found = doctor.lines().into_iter().filter(|it| it["what"] == "thinking");
    let found: Vec<_> = found.map(|it| (it["ok"].clone(), it["detail"].to_string())).collect();
    let [(well, first), (bad, away)] = found.as_slice() else { panic!("{found:#?}") };
    assert_eq!((well, bad), (&json!(true), &json!(false)));
    assert!(first.starts_with("\"first: ") && away.starts_with("\"away: "), "{found:#?}");
}

#[test]
fn npc_changes_its_model_and_remembers() {
    let two = Two::new();
    let models = listed(&[
        entry("first", &two.first.base_url(), ""),
        entry("second", &two.second.base_url(), ""),
    ]);
    let place = place(&models, &[("bartok", BARTOK)]);
    let mut live = place.start(&["ask", "--json", "--as-dm"]);
    live.types("/session status");
    let status = live.says("\"status\"");
    assert!(status.contains("first, else second"), "{status}");
    assert_answered_by(&asked(&mut live, "Bartok, the mill burns"), "first");
    place.write("npcs/bartok.yaml", BARTOK.replace("first", "second"));
    let said = live.says("configuration reloaded");
    assert!(said.contains("changed: Bartok"), "{said}");
    let line = asked(&mut live, "Bartok, and now?");
    assert_answered_by(&line, "second");
    assert_eq!((&line["reply"], two.asked()), (&json!("I am the second."), (1, 1)));
    let messages = two.second.requests().pop().expect("a request").json["messages"].to_string();
    assert!(messages.contains("the mill burns") && messages.contains("Aye."), "{messages}");
    live.types("/session status");
    let status = live.says("\"status\"");
    assert!(status.contains("second, else first"), "{status}");
    // A name that is not there, and a list without the name, change nothing.
    place.write("npcs/bartok.yaml", BARTOK.replace("first", "secnd"));
    live.says("npcs/bartok.yaml:2:6: unknown chat model 'secnd' (did you mean 'second'?");
    assert_answered_by(&asked(&mut live, "Bartok, hello"), "second");
    place.write("npcs/bartok.yaml", BARTOK.replace("first", "second"));
    live.says("configuration reloaded");
    let config = std::fs::read_to_string(place.path("glyphoxa.yaml")).expect("it was written");
    place.write("glyphoxa.yaml", config.replace("as: second", "as: other"));
    live.says("unknown chat model 'second'");
    assert_answered_by(&asked(&mut live, "Bartok, hello"), "second");
    assert_eq!(live.leave(), 0);
}

/// Written lines always answer: a model after them would never be asked.
#[test]
fn scripted_lines_and_chat_model_can_coexist() {
    let server = ChatServer::start();
    let scripted = "    - { service: scripted }\n".to_owned();
    let models = listed(&[scripted, entry("first", &server.base_url(), "")]);
    let place = place(&models, &[("bartok", BARTOK), ("tom", TOM)]);
    let checked = place.run(&["check"]).ends_with(0).stderr;
    assert!(checked.contains("npcs/tom.yaml:1:1: 'Tom' has no lines"), "{checked}");
    assert!(checked.contains("or choose a model of providers.llm with 'llm')"), "{checked}");
    assert!(!checked.contains("Bartok"), "{checked}");
    place.write("npcs/tom.yaml", format!("{TOM}lines: [{{ say: Tom is here. }}]\n"));
    assert!(place.run(&["check"]).ends_with(0).stderr.is_empty());
    let ran = place.run(&["ask", "--json", "--text", "Tom, hello", "--text", "Bartok, hello"]);
    let lines = ran.ends_with(0).lines();
    assert_answered_by(&lines[0], "scripted");
    assert_eq!(
        (&lines[0]["reply"], &lines[0]["brain"]),
        (&json!("Tom is here."), &json!("scripted"))
    );
    assert_answered_by(&lines[1], "first");
    assert_eq!(lines[1]["brain"], "first, else scripted");
    assert_eq!(server.requests().len(), 1);
}

/// Lines as the last resort speak in turns; they do not write for a model that is away.
#[test]
fn recaps_are_not_written_by_lines() {
    let server = ChatServer::start();
    let scripted = "    - { service: scripted }\n".to_owned();
    let place = table(&[entry("first", &server.base_url(), ""), scripted], "");
    let kept = ["ask", "--as-dm", "--session", "one", "--text", "Bartok, the mill is old"];
    place.run(&kept).ends_with(0);
    server.otherwise(|_| Script::error(500, "server_error", "no"));
    let recap = place.run(&["session", "recap", "one", "--json"]).ends_with(0).line();
    let note = recap["note"].as_str().unwrap_or_default();
    assert!(
        !note.contains("none of its claims"),
        "the model is away, and nobody else has written: {recap:#}"
    );
    assert!(recap["claims"].to_string().contains("the mill is old"), "{recap:#}");
    server.otherwise(|_| Script::text(&["Aye", "."]));
    assert_answered_by(&say(&place, 1).ends_with(0).line(), "first");
}
