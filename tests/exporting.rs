//! A campaign leaves as a folder of files and returns equal, through the real program.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use serde_json::{Value, json};

use crate::support::program::Place;

/// Must reach no file that is for players.
const SECRET: &str = "The cellar leads to the river.";
const WORLD: &str = "campaign: { name: Saltmarsh }\nentities:\n\
    - { name: The Inn, type: location, description: An old inn., relationships: [{ type: hides, target: The Plot }] }\n\
    - { name: The Plot, type: quest, description: A conspiracy., visibility: dm }\n";
/// Files of an export that return.
const STORE: [&str; 8] = [
    "store/sessions.jsonl",
    "store/lines.jsonl",
    "store/facts.jsonl",
    "store/entities.jsonl",
    "store/relations.jsonl",
    "store/runs.jsonl",
    "store/schedules.jsonl",
    "calls.jsonl",
];

/// A folder whose campaign has an exchange and a roll of dice, exported into its folder "backup"
/// with lines that were taken back and deleted, a fact, a run and a schedule.
pub fn exported() -> Place {
    let config = "campaign: world.yaml\nnpc_dir: npcs\nproviders: { llm: { name: scripted } }\n";
    let place = Place::with_config(config).brief();
    place.write("world.yaml", WORLD);
    let roll = "tool: { name: dice-roller.roll, arguments: { expression: '{dice}' } }";
    let npc = format!(
        "name: Bartok\nsecret_knowledge: [{SECRET}]\ntools: [dice-roller.roll]\nlines:\n  \
         - {{ when: [hello], say: Welcome. }}\n  \
         - {{ when: [roll], say: 'It is {{result.total}}.', {roll} }}\n  - {{ say: Hm. }}\n"
    );
    place.write("npcs/bartok.yaml", npc);
    let mut ask = vec!["ask", "--session", "one", "--speaker", "Anna"];
    ask.extend(["--text", "Bartok, hello", "--text", "Bartok, roll two d six"]);
    place.run(&ask).ends_with(0);
    place.run(&["export", "backup", "--cards", "--transcripts", "md,vtt,json"]).ends_with(0);
    add_gaps(&place.path("backup"));
    place
}

/// A folder with an NPC of its own, to which an export may return.
pub fn other() -> Place {
    let place = Place::with_config("npc_dir: npcs\nproviders: { llm: { name: scripted } }\n");
    place.write("npcs/mira.yaml", "name: Mira\nlines: [{ say: Hello. }]\n");
    place
}

fn entries(folder: &Path, name: &str) -> Vec<Value> {
    let text = fs::read_to_string(folder.join(name)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Everything of an export that returns.
pub fn all_entries(folder: &Path) -> Vec<(&'static str, Vec<Value>)> {
    STORE.iter().map(|name| (*name, entries(folder, name))).collect()
}

/// Adds a line that was taken back, one that was deleted, a fact, a run and a schedule.
fn add_gaps(folder: &Path) {
    let add = |name: &str, new: Vec<Value>| {
        let manifest = folder.join("glyphoxa-export.json");
        let mut about: Value = serde_json::from_slice(&fs::read(&manifest).unwrap()).unwrap();
        let mut all = entries(folder, name);
        all.extend(new);
        about["entries"][name] = json!(all.len());
        let text: String = all.iter().map(|entry| format!("{entry}\n")).collect();
        fs::write(folder.join(name), text).unwrap();
        fs::write(manifest, about.to_string()).unwrap();
    };
    let last = entries(folder, "store/lines.jsonl").pop().unwrap();
    let seq = last["seq"].as_u64().unwrap();
    let gap = |number: u64, speaker: &str, id: Value| {
        let mut line = last.clone();
        let fields = line.as_object_mut().unwrap();
        fields.remove("asked");
        for (key, value) in [
            ("seq", json!(seq + number)),
            ("uid", json!(format!("gap-{number}"))),
            ("speaker", json!(speaker)),
            ("speaker_id", id),
            ("character", Value::Null),
            ("text", json!("")),
            ("raw", Value::Null),
            ("tools", Value::Null),
            ("withdrawn", json!(true)),
        ] {
            fields.insert(key.to_owned(), value);
        }
        line
    };
    add("store/lines.jsonl", vec![gap(1, "Anna", json!("Anna")), gap(2, "", Value::Null)]);
    let fact = json!({
        "id": "fact-1", "kind": "fact", "text": "Anna said hello.", "session": "one",
        "lines": [1, 1], "visibility": "everyone", "status": "accepted", "made": 9_000_000_000_000_i64,
    });
    add("store/facts.jsonl", vec![fact]);
    let record = json!({
        "run": "run-1", "workflow": "bells", "starter": { "person": "Anna" }, "steps": [],
        "tainted": false, "end": "done",
    });
    let run = json!({
        "id": "run-1", "workflow": "bells", "began": 1_000, "ended": 2_000,
        "record": record.to_string(),
    });
    add("store/runs.jsonl", vec![run]);
    let line = json!({ "line": { "npc": "Bartok", "text": "It is late." } });
    let schedule = json!({
        "id": "schedule-1", "when": json!({ "at": 9_000_000_000_000_i64 }).to_string(),
        "action": line.to_string(), "by": "Anna", "made": 1_000, "next": 9_000_000_000_000_i64,
        "last": null,
    });
    add("store/schedules.jsonl", vec![schedule]);
}

/// Imports the export in `backup` and exports it again; the folder.
pub fn there_and_back(place: &Place, backup: &str) -> std::path::PathBuf {
    let done = place.run(&["import", backup]).ends_with(0);
    assert!(done.stdout.contains("saltmarsh: 1 sessions, "), "{done:#?}");
    place.run(&["export", "again", "--campaign", "Saltmarsh"]).ends_with(0);
    place.path("again")
}

#[test]
fn exported_campaign_returns_equal() {
    let from = exported();
    let backup = from.path("backup");
    let to = other().brief();
    let name = backup.display().to_string();
    let tried = to.run(&["import", &name, "--dry-run", "--json"]).ends_with(0).line();
    assert_eq!((&tried["npcs"], &tried["scope"]), (&json!(1), &json!("saltmarsh")), "{tried}");
    assert!(!to.path("npcs/bartok.yaml").exists());
    let again = there_and_back(&to, &name);
    let all = all_entries(&backup);
    assert!(all.iter().all(|(_, entries)| !entries.is_empty()), "each kind is there: {all:#?}");
    assert_eq!(all_entries(&again), all);
    let npc = |place: &Place| fs::read_to_string(place.path("npcs/bartok.yaml")).unwrap();
    assert_eq!(npc(&from), npc(&to));
    to.run(&["check"]).ends_with(0);
    let twice = to.run(&["import", &name, "--json"]).ends_with(0).line();
    assert!(twice["added"].as_object().unwrap().values().all(|it| *it == json!(0)), "{twice}");
    assert_eq!((&twice["npcs"], &twice["calls_left_out"]), (&json!(0), &json!(0)));
}

#[test]
fn servers_campaign_returns_with_its_settings() {
    let from = exported();
    let backup = from.path("backup");
    let settings = json!({
        "consent": "ask", "opted_out": [11], "characters": { "12": "Thorin" }, "music_volume": 40,
    });
    fs::write(backup.join("settings.json"), settings.to_string()).unwrap();
    let to = other();
    let name = backup.display().to_string();
    for is_new in [true, false] {
        let done = to.run(&["import", &name, "--guild", "42", "--json"]).ends_with(0).line();
        assert_eq!(done["settings"], json!(is_new), "{done}");
        let calls = entries(&backup, "calls.jsonl").len();
        assert_eq!(done["calls_left_out"], json!(calls), "a server keeps none of this machine's");
    }
    to.run(&["export", "again", "--guild", "42", "--campaign", "Saltmarsh"]).ends_with(0);
    let again = fs::read(to.path("again/settings.json")).unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&again).unwrap(), settings);
    for name in STORE.into_iter().filter(|name| name.starts_with("store/")) {
        assert_eq!(entries(&to.path("again"), name), entries(&backup, name), "{name}");
    }
}

#[test]
fn parts_for_players_hold_no_secret() {
    let place = exported();
    for name in
        ["transcripts/one.md", "transcripts/one.vtt", "transcripts/one.json", "cards/bartok.json"]
    {
        let path = place.path("backup").join(name);
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains(SECRET) && text.contains("Welcome."), "{name}: {text}");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600, "{name}");
    }
    let card = fs::read_to_string(place.path("backup/cards/bartok.json")).unwrap();
    let card: Value = serde_json::from_str(&card).unwrap();
    assert!(card["data"]["extensions"]["glyphoxa"]["voice"]["voice_id"].is_string(), "{card:#}");
    let refused = place.run(&["export", "backup"]).ends_with(2);
    assert!(refused.stderr.contains("holds an export already"), "{refused:#?}");
    let refused = place.run(&["export", "npcs"]).ends_with(2);
    assert!(refused.stderr.contains("is not empty"), "{refused:#?}");
    let half = place.path("backup/store/entities.jsonl");
    fs::write(half, "").unwrap();
    let refused = place.run(&["import", "backup"]).ends_with(1);
    assert!(refused.stderr.contains("the number of entries is 0, not 2"), "{refused:#?}");
}
