//! NPCs' memories of earlier evenings, through the real program and a chat server on loopback.

use serde_json::{Value, json};

use crate::support::{
    chat_server::{ChatServer, Recorded, Script},
    program::{Place, has_late_call, untimed},
};

const PROMISE: &str = "I promised your father to find the silver hammer";

/// Long enough for what is remembered, however busy the machine is.
const PATIENT: &str = "turn: { recall_ms: 5000 }\n";

const CAST: &str = r#"
campaign: world.yaml
npcs:
  - name: Bartok the Barkeep
    aliases: [Bartok]
    personality: A gruff innkeeper.
    secret_knowledge: [The cellar leads to the river.]
    knowledge_scope: [places]
    voice: { provider: flite, voice_id: rms }
    budget_tier: standard
    tools: [memory.search_sessions, memory.query_entities, memory.search_facts]
  - name: Mira Quickfingers
    aliases: [Mira]
    personality: A thief.
    knowledge_scope: [places]
    voice: { provider: flite, voice_id: slt }
    budget_tier: standard
    tools: ["memory.*", "session-manager.*"]
"#;

const WORLD: &str = "
campaign: { name: Test }
players: [{ name: Anna, character: Wren }]
scenes:
  - { name: The tavern, npcs: [THE ONE WHO IS THERE] }
entities:
  - { id: town, name: Ravenford, type: location, description: A wet town. }
  - { id: mine, name: Quarry, type: location, visibility: dm, description: The stolen wagons stand here. }
";

/// The world, with only `npc` in the scene.
fn world(npc: &str) -> String {
    let there = match npc {
        "Bartok" => "Bartok the Barkeep",
        "Mira" => "Mira Quickfingers",
        _ => "",
    };
    WORLD.replace("THE ONE WHO IS THERE", there)
}

fn table(server: &ChatServer) -> Place {
    let llm = format!("{{ name: openai, base_url: \"{}\", model: m }}", server.base_url());
    let place = Place::with_config(&format!("{PATIENT}providers:\n  llm: {llm}\n{CAST}")).brief();
    place.write("world.yaml", world("Nobody"));
    place
}

fn ask(place: &Place, session: &str, npc: &str, text: &str) -> Value {
    place.write("world.yaml", world(npc));
    let said = ["--speaker", "Anna", "--npc", npc, "--text", text];
    let arguments = [&["ask", "--json", "--session", session], said.as_slice()].concat();
    let line = place.run(&arguments).ends_with(0).line();
    assert!(line["npc"].as_str().unwrap().starts_with(npc), "{line:#}");
    line
}

fn messages(request: &Recorded) -> &Vec<Value> {
    request.json["messages"].as_array().unwrap()
}

fn content(message: &Value) -> &str {
    message["content"].as_str().unwrap_or_default()
}

#[test]
fn promise_is_recalled_only_by_npc_that_heard_it() {
    let server = ChatServer::start();
    server.otherwise(|_| Script::text(&["Well", " met", "."]));
    let place = table(&server);
    ask(&place, "evening", "Bartok", PROMISE);
    ask(&place, "evening", "Bartok", "What did I promise your father?");
    let line = ask(&place, "next", "Bartok", "What did I promise your father, in Ravenford?");
    assert_eq!(line["recalled"]["late"], json!([]), "{line:#}");
    assert!(line["recalled"]["found"].as_u64() >= Some(2), "{line:#}");
    ask(&place, "next", "Mira", "What did I promise your father?");
    let requests = server.requests();
    let [_, same, next, mira] = requests.as_slice() else { panic!("{requests:#?}") };

    let told = |request: &Recorded| serde_json::to_string(messages(request)).unwrap();
    assert_eq!(told(same).matches(PROMISE).count(), 1, "the conversation has it already");
    let [system, last] = messages(next).as_slice() else { panic!("{next:#?}") };
    let last = content(last);
    assert!(last.contains(&format!("- Wren to Bartok the Barkeep, just now: {PROMISE}")), "{last}");
    assert!(last.contains("- Ravenford: A wet town."), "{last}");
    assert!(last.ends_with("\nWren: What did I promise your father, in Ravenford?"), "{last}");
    assert_eq!(content(system), content(&messages(same)[0]), "what is cached stays as it is");
    assert!(!told(mira).contains("hammer"), "{mira:#?}");
    // Results of look-ups are no part of the conversation.
    ask(&place, "next", "Bartok", "And now?");
    let again = server.requests().pop().unwrap();
    assert!(!told(&again).contains("hammer"), "{again:#?}");
}

/// Answers from the prompt alone: the promise, where the NPC's prompt has it.
fn answers_from_its_prompt(server: &ChatServer) {
    server.otherwise(|request| {
        let last = content(messages(request).last().unwrap());
        match (last.contains("What did I promise"), request.json.to_string().contains(PROMISE)) {
            (false, _) => Script::text(&["Aye", "."]),
            (true, true) => Script::text(&["To", " find", " the", " silver", " hammer", "."]),
            (true, false) => Script::text(&["I", " know", " of", " no", " promise", "."]),
        }
    });
}

#[test]
fn evening_later_it_is_still_remembered() {
    let server = ChatServer::start();
    answers_from_its_prompt(&server);
    let place = table(&server);
    ask(&place, "evening", "Bartok", PROMISE);
    place.write("world.yaml", world("Bartok"));
    // An hour of talk, in calls of their own.
    for half in 0..2 {
        let texts: Vec<String> =
            (0..60).map(|n| format!("Tell me of ale number {n} of round {half}")).collect();
        let mut said = vec!["ask", "--json", "--session", "evening", "--speaker", "Anna"];
        said.extend(["--npc", "Bartok"]);
        texts.iter().for_each(|text| said.extend(["--text", text]));
        assert_eq!(place.run(&said).ends_with(0).lines().len(), 60);
    }
    let line = ask(&place, "evening", "Bartok", "What did I promise your father?");
    assert_eq!(line["reply"], "To find the silver hammer.", "{line:#}");
    let line = ask(&place, "evening", "Mira", "What did I promise your father?");
    assert_eq!(line["reply"], "I know of no promise.", "{line:#}");
}

#[test]
fn game_master_secrets_are_in_no_prompt() {
    let server = ChatServer::start();
    server.otherwise(|_| Script::text(&["I", " do", " not", " know", "."]));
    let place = table(&server);
    for npc in ["Bartok", "Mira"] {
        ask(&place, "one", npc, "Tell me about the Quarry and about Ravenford");
        ask(&place, "two", npc, "What about the Quarry last time?");
    }
    for request in server.requests() {
        let told = request.json.to_string();
        assert!(!told.contains("wagons"), "{told}");
        let bartok = told.contains("A gruff innkeeper");
        assert_eq!(told.contains("leads to the river"), bartok, "{told}");
    }
}

#[test]
fn last_session_is_recalled_on_request() {
    let server = ChatServer::start();
    server.otherwise(|_| Script::text(&["Fine", "."]));
    let place = table(&server);
    ask(&place, "one", "Bartok", "The geese are gone");
    ask(&place, "two", "Bartok", "What happened last time?");
    let request = server.requests().pop().unwrap();
    let last = content(messages(&request).last().unwrap()).to_owned();
    assert!(last.contains("[Of the last session you remember:]\n- Wren to Bartok"), "{last}");
    assert!(last.contains("The geese are gone") && last.contains("Fine."), "{last}");
}

#[test]
fn tools_find_what_their_npc_has_heard() {
    let server = ChatServer::start();
    server.otherwise(|request| match messages(request).last() {
        Some(last) if last["role"] == "tool" => Script::text(&["So", " it", " is", "."]),
        _ if request.json.to_string().contains("look it up") => {
            let arguments = json!({"query": "promise father"}).to_string();
            Script::calls(&[("a", "search_sessions", &arguments)])
        }
        _ => Script::text(&["Well", "."]),
    });
    let place = table(&server);
    ask(&place, "one", "Bartok", PROMISE);
    let found = |npc: &str| {
        let text = "Do you remember the tale, look it up";
        let line = untimed(|| ask(&place, "two", npc, text), has_late_call);
        line["tools"][0]["result"].clone()
    };
    let bartok = found("Bartok");
    assert_eq!(bartok["results"][0]["text"], PROMISE, "{bartok:#}");
    assert_eq!(found("Mira")["results"], json!([]));
    let call = |tool: &str, arguments: Value, npc: Option<&str>| {
        let arguments = arguments.to_string();
        let mut all = vec!["tools", "call", "--json", tool, &arguments];
        all.extend(npc.into_iter().flat_map(|npc| ["--npc", npc]));
        untimed(|| place.run(&all).line()["result"].take(), |result| result["error"] == "timeout")
    };
    let everything = call("memory.search_facts", json!({"query": "silver hammer"}), None);
    assert_eq!(everything["results"][0]["who"], "Wren", "{everything:#}");
    assert!(everything["searched"].as_str().unwrap().contains("no embedder"), "{everything:#}");
    let places = json!({"type": "location"});
    let count = |value: Value| value["results"].as_array().unwrap().len();
    assert_eq!(count(call("memory.query_entities", places.clone(), None)), 2);
    assert_eq!(count(call("memory.query_entities", places, Some("Mira"))), 1);
    let last = call("session-manager.get_session_summary", json!({"session_id": "one"}), None);
    assert_eq!(last["lines"][0], format!("Wren: {PROMISE}"), "{last:#}");
    let alias = call("session-manager.get_summary", json!({"session_id": "one"}), None);
    assert_eq!(alias["lines"], last["lines"], "{alias:#}");
}
