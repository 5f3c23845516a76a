//! Files that change while the program runs: what holds from the next turn on, what waits for the next
//! start and says so, what is broken and changes nothing.

use serde_json::json;

use crate::support::{
    chat_server::{ChatServer, Script},
    program::{Live, Place, repository},
};

const BARTOK: &str = r#"
name: Bartok the Barkeep
aliases: [Bartok]
voice: { provider: flite, voice_id: rms }
budget_tier: deep
tools: ["dice-roller.*", "rules-lookup.*"]
lines:
  - { when: [fate], tool: { name: roll_table, arguments: { table_name: fate } }, say: "It is {result.result}." }
  - { when: [weather], tool: { name: roll_table, arguments: { table_name: weather } }, say: "We have {result.result}." }
  - { when: [luck], tool: { name: get_rule, arguments: { id: house-luck } }, say: "{result.text}" }
  - { say: "The old line." }
"#;

const TOM: &str = "name: Old Tom\naliases: [Tom]\nlines: [{ say: \"Tom is here.\" }]\n";

const MIRA: &str = r#"
name: Mira
voice: { provider: flite, voice_id: slt }
tools: [dice-roller.roll]
lines:
  - { when: [roll], tool: { name: dice-roller.roll, arguments: { expression: 1d1 } }, say: "{result.total} it is." }
  - { say: "Mira is here." }
"#;

/// A table of Bartok and Tom, each in a file; `more` goes into the configuration.
fn table(more: &str) -> Place {
    let place = Place::with_config(&format!("data_dir: data\n{more}")).brief();
    place.write("npcs/bartok.yaml", BARTOK);
    place.write("npcs/tom.yaml", TOM);
    place
}

impl Live {
    /// Message about files that were read again.
    #[track_caller]
    fn reread(&self) -> String {
        self.says("configuration reloaded")
    }
}

#[test]
fn only_valid_changes_apply_between_lines() {
    let place = table("");
    let mut live = place.start(&["ask", "--json"]);
    assert_eq!(live.asked("Bartok, hello")["reply"], "The old line.");
    place.write("npcs/bartok.yaml", BARTOK.replace("The old line.", "A new line."));
    let said = live.says("changed: Bartok the Barkeep");
    assert!(!said.contains("start") && !said.contains("Tom"), "{said}");
    assert_eq!(live.asked("Bartok, hello")["reply"], "A new line.");
    place.write("npcs/bartok.yaml", BARTOK.replace("aliases:", "alises:"));
    live.says("changed files are ignored");
    live.says("did you mean 'aliases'");
    assert_eq!(live.asked("Bartok, hello")["reply"], "A new line.");
    assert_eq!(live.leave(), 0);
}

#[test]
fn new_npc_joins_and_a_deleted_one_leaves() {
    let place = table("");
    let mut live = place.start(&["ask", "--json", "--as-dm", "--session", "evening"]);
    assert_eq!(live.asked("Mira, roll")["outcome"], "nobody_addressed");
    place.write("npcs/mira.yaml", MIRA);
    assert!(live.reread().contains("; joins: Mira"));
    let line = live.asked("Mira, roll");
    assert_eq!((&line["npc"], &line["reply"]), (&json!("Mira"), &json!("1 it is.")), "{line:#}");
    assert_eq!(line["tools"][0]["ok"], true, "{line:#}");
    assert!(line["audio_ms"].as_u64().unwrap_or_default() > 100, "she has a voice: {line:#}");
    // She is in the commands' names as she is at the table, and orders mean her by voice.
    live.types("/npc mute Mira");
    live.says("Mira is muted");
    assert_eq!(live.asked("Mira, roll")["outcome"], "nobody_addressed");
    assert_eq!(live.asked("unmute Mira")["detail"], "Mira may speak again");
    live.types("/npc pin Mira");
    live.says("All words go to Mira");

    std::fs::remove_file(place.path("npcs/mira.yaml")).expect("it was written");
    assert!(live.reread().contains("; leaves: Mira"));
    assert_eq!(live.asked("Mira, roll")["outcome"], "nobody_addressed");
    live.types("/npc mute Mira");
    live.says("npc 'Mira' (known: Bartok the Barkeep, Old Tom)");
    live.types("/session status");
    let status = live.says("\"status\"");
    assert!(!status.contains("Mira"), "{status}");
    // An NPC that is alone with a player needs no name.
    std::fs::remove_file(place.path("npcs/tom.yaml")).expect("it was written");
    assert!(live.reread().contains("; leaves: Old Tom"));
    let line = live.asked("and the fire?");
    assert_eq!(line["npc"], "Bartok the Barkeep", "{line:#}");

    // Orders mean the NPC of the name, not of a place that another has left.
    place.write("npcs/mira.yaml", MIRA);
    assert!(live.reread().contains("; joins: Mira"));
    assert_eq!(live.asked("mute Mira")["detail"], "Mira is muted");
    assert_eq!(live.asked("Bartok, hello")["reply"], "The old line.");
    assert_eq!(live.leave(), 0);
    // She remembers what was said to her before she left.
    let kept =
        std::fs::read_to_string(place.path("data/sessions/evening.json")).expect("it is kept");
    assert!(kept.contains("\"Mira\"") && kept.contains("1 it is."), "{kept}");
}

#[test]
fn broken_npc_file_is_reported_once() {
    let place = table("");
    let mut live = place.start(&["ask", "--json"]);
    assert_eq!(live.asked("Bartok, hello")["outcome"], "spoken");
    place.write("npcs/mira.yaml", MIRA.replace("tools:", "tolls:"));
    live.says("changed files are ignored");
    live.says("mira.yaml:4:1: unknown key 'tolls'");
    live.says("unchanged until then");
    for line in ["Bartok, hello", "Bartok, hello", "Tom, hello", "Bartok, hello"] {
        assert_eq!(live.asked(line)["outcome"], "spoken");
    }
    assert_eq!(live.said(), Vec::<String>::new(), "it is reported once");
    place.write("npcs/mira.yaml", MIRA);
    assert!(live.reread().contains("; joins: Mira"));
    assert_eq!(live.asked("Mira, hello")["reply"], "Mira is here.");
    assert_eq!(live.leave(), 0);
}

/// The fixed file may be one that was not there when the program began.
#[test]
fn broken_new_file_is_read_after_its_fix() {
    let place = table("");
    let mut live = place.start(&["ask", "--json"]);
    assert_eq!(live.asked("Bartok, hello")["outcome"], "spoken");
    let world = "campaign: { name: default }\nscenes: [{ name: Mill, npcs: [Tom] }]\n";
    place.write("worlds/mill.yaml", world.replace("npcs:", "npc:"));
    place.write("glyphoxa.yaml", "data_dir: data\ncampaign: worlds/mill.yaml\n");
    live.says("mill.yaml:2:24: unknown key 'npc'");
    place.write("worlds/mill.yaml", world);
    assert!(live.reread().contains("; in effect now: campaign"));
    assert_eq!(live.leave(), 0);
}

#[test]
fn changed_settings_apply_from_the_next_line() {
    let place = table("");
    let mut live = place.start(&["ask", "--json"]);
    let line = live.asked("Bartok, ponder the fate");
    assert_eq!(line["tools"][0]["ok"], false, "there is no such table: {line:#}");
    assert_ne!(line["tier"]["selected"], "deep", "{line:#}");
    let settings = "data_dir: data\ntiers: { deep: { add: [ponder] } }\n";
    place.write("glyphoxa.yaml", settings);
    let said = live.reread();
    assert!(said.ends_with("no npc changed; in effect now: tiers"), "{said}");
    assert_eq!(live.asked("Bartok, ponder it")["tier"]["selected"], "deep");

    let settings = format!("{settings}tools:\n  table_dir: tables\n  tables: {{ fate: [rain] }}\n");
    place.write("tables/weather.yaml", "entries: [mist]\n");
    place.write("glyphoxa.yaml", &settings);
    assert!(live.reread().contains("in effect now: tools.tables"));
    assert_eq!(live.asked("Bartok, our fate?")["reply"], "It is rain.");
    assert_eq!(live.asked("Bartok, the weather?")["reply"], "We have mist.");
    place.write("tables/weather.yaml", "entries: [hail]\n");
    assert!(live.reread().contains("tools.tables"));
    assert_eq!(live.asked("Bartok, the weather?")["reply"], "We have hail.");

    let settings = format!("{settings}rules: {{ files: [house.yaml] }}\n");
    let rules = "rules: [{ id: house-luck, name: Luck, text: Touch the raven. }]\n";
    place.write("house.yaml", rules);
    place.write("glyphoxa.yaml", &settings);
    // The rules may be read before the line that names them.
    live.says("in effect now: rules");
    assert_eq!(live.asked("Bartok, what of luck?")["reply"], "Touch the raven.");
    place.write("house.yaml", rules.replace("the raven", "wood"));
    assert!(live.reread().contains("in effect now: rules"));
    assert_eq!(live.asked("Bartok, what of luck?")["reply"], "Touch wood.");

    place.write("glyphoxa.yaml", format!("{settings}file_io: {{ base_dir: files }}\n"));
    let read = "name: Old Tom\naliases: [Tom]\nbudget_tier: deep\ntools: [file-io.read_file]\nlines:\n  - { tool: \
                { name: read_file, arguments: { path: note.txt } }, say: \"{result.content}\" }\n";
    place.write("npcs/tom.yaml", read);
    live.says("file_io");
    let line = live.asked("Tom, read carefully, and ponder it");
    assert_eq!(line["tools"][0]["tool"], "file-io.read_file", "{line:#}");
    let found = line["tools"][0]["result"]["message"].to_string();
    assert!(
        found.contains("there is no file 'note.txt'"),
        "the folder is this campaign's: {found}"
    );
    assert_eq!(live.leave(), 0);
}

/// The system prompt of the last request.
fn prompt(server: &ChatServer) -> String {
    let asked = server.requests();
    asked.last().expect("a request").json["messages"][0]["content"].to_string()
}

#[test]
fn changed_campaign_applies_to_the_next_turn() {
    let server = ChatServer::start();
    server.otherwise(|_| Script::text(&["Well met", "."]));
    let settings = format!(
        "data_dir: data\ncampaign: world.yaml\nproviders:\n  llm: {{ name: openai, base_url: \"{}\", \
         model: test-model }}\n",
        server.base_url()
    );
    let world = |text: &str, scene: &str| {
        format!(
            "campaign: {{ name: Raven, description: {text} }}\nscenes: [{{ name: {scene}, npcs: [Bartok, \
             Old Tom] }}]\nplayers: [{{ name: Player, character: Thorin }}]\n"
        )
    };
    let place = Place::with_config(&settings);
    place.write("npcs/bartok.yaml", "name: Bartok\n");
    place.write("npcs/tom.yaml", "name: Old Tom\naliases: [Tom]\n");
    place.write("world.yaml", world("A wet town.", "Tankard"));
    let mut live = place.start(&["ask", "--json", "--as-dm", "--session", "evening"]);
    live.asked("Bartok, hello");
    assert!(prompt(&server).contains("A wet town."));
    place.write("world.yaml", world("A burnt town.", "Ruins").replace("Thorin", "Elara"));
    assert!(live.reread().ends_with("in effect now: campaign"));
    live.asked("Bartok, and now?");
    let asked = server.requests().pop().expect("a request").json["messages"].to_string();
    assert!(asked.contains("A burnt town.") && !asked.contains("A wet town."), "{asked}");
    assert!(asked.contains("Thorin: Bartok, hello"), "what was said stays: {asked}");
    assert!(asked.contains("Elara: Bartok, and now?"), "{asked}");
    // A scene that the file has now, with those whom it has there.
    live.types("/scene set Ruins");
    live.types("/scene show");
    live.says("\"location\":\"Ruins\"");
    place.write("world.yaml", world("A burnt town.", "Ruins").replace("Bartok, Old Tom", "Bartok"));
    live.reread();
    assert_eq!(live.asked("Tom, hello")["outcome"], "nobody_addressed");

    // Another campaign has a memory of its own: it waits until this session is over.
    place.write("other.yaml", world("A desert.", "Dune").replace("Raven", "Sand"));
    place.write("glyphoxa.yaml", settings.replace("world.yaml", "other.yaml"));
    let said = live.reread();
    assert!(
        said.ends_with("`campaign.name` changed; it takes effect with the next session"),
        "{said}"
    );
    live.asked("Bartok, and then?");
    assert!(prompt(&server).contains("A burnt town."));
    assert_eq!(live.leave(), 0);
}

#[test]
fn restart_settings_are_named_without_values() {
    let secret = "hush-hush-4711";
    let place = table("discord: { token: before-4711 }\n");
    let mut live = place.start(&["ask", "--json", "--as-dm"]);
    assert_eq!(live.asked("Bartok, hello")["outcome"], "spoken");
    let more = format!(
        "discord: {{ token: {secret} }}\nproviders:\n  stt: {{ name: openai, base_url: \
         \"http://127.0.0.1:1/v1\", model: other, api_key: {secret} }}\n"
    );
    place.write("glyphoxa.yaml", format!("data_dir: data\n{more}"));
    let said = live.reread();
    let waits = "`providers.stt`, `discord.token` changed; they take effect at the next start";
    assert!(said.ends_with(waits), "{said}");
    assert_eq!(live.asked("Bartok, hello")["reply"], "The old line.", "the scripted model answers");
    // Changes that were reported are not reported again.
    let more = format!("{more}memory: {{ retention_days: 3 }}\n");
    place.write("glyphoxa.yaml", format!("data_dir: elsewhere\n{more}"));
    let said = live.reread();
    let waits = "no npc changed; `data_dir`, `memory` changed; they take effect at the next start";
    assert!(said.ends_with(waits), "{said}");
    // An NPC that changes meanwhile goes on with the services there are.
    place.write("npcs/bartok.yaml", BARTOK.replace("The old line.", "A new line."));
    live.says("changed: Bartok the Barkeep");
    assert_eq!(live.asked("Bartok, hello")["reply"], "A new line.");
    live.types("/session status");
    let status = live.says("\"status\"");
    assert!(status.contains("scripted") && !status.contains("\"other\""), "{status}");
    let rest = live.said().join("\n");
    assert!(!rest.contains(secret), "{rest}");
    assert!(!place.path("elsewhere").exists());
    assert_eq!(live.leave(), 0);
}

/// A campaign may name a deleted NPC: it leaves all the same, and what is left to do is said.
#[test]
fn deleted_npcs_leave_their_scene() {
    let place = table("campaign: c.yaml\n");
    place.write("npcs/mira.yaml", MIRA);
    let campaign = "campaign: { name: Mill }\nscenes:\n  - { name: Inn, npcs: [Bartok, Mira, Tom] }\nentities:\n  - \
                    { name: Red Key, type: item, visibility: [Tom] }\n";
    place.write("c.yaml", campaign);
    let mut live = place.start(&["ask"]);
    live.types("Tom, hello");
    live.says("Old Tom: Tom is here.");
    std::fs::remove_file(place.path("npcs/tom.yaml")).expect("it was written");
    assert!(live.reread().contains("; leaves: Old Tom"));
    live.says("the scene names 'Tom', who is no longer in the cast (");
    live.types("Tom, hello");
    live.says("no NPC answers");
    place.write("npcs/tom.yaml", TOM);
    assert!(live.reread().contains("; joins: Old Tom"));
    live.types("Tom, hello");
    live.says("Old Tom: Tom is here.");
    // Other mistakes are still mistakes.
    place.write("c.yaml", campaign.replace("Bartok", "Bartock"));
    live.says("unknown npc 'Bartock'");
    assert_eq!(live.leave(), 0);
}

/// A table needs an NPC: the last one stays, with a notice.
#[test]
fn last_npc_stays_until_there_is_another() {
    let place = table("");
    std::fs::remove_file(place.path("npcs/tom.yaml")).expect("it was written");
    let mut live = place.start(&["ask", "--json"]);
    assert_eq!(live.asked("Bartok, hello")["reply"], "The old line.");
    std::fs::remove_file(place.path("npcs/bartok.yaml")).expect("it was written");
    live.says("changed files are ignored");
    live.says("no npcs found (put one YAML file per npc into the folder 'npcs'");
    live.says("unchanged until then: Bartok the Barkeep");
    assert_eq!(live.asked("Bartok, hello")["reply"], "The old line.");
    std::fs::remove_dir(place.path("npcs")).expect("it is empty");
    place.write("npcs/mira.yaml", MIRA);
    let said = live.reread();
    assert!(said.contains("; joins: Mira; leaves: Bartok the Barkeep"), "{said}");
    assert_eq!(live.asked("Mira, hello")["reply"], "Mira is here.");
    assert_eq!(live.leave(), 0);
}

/// Without a configuration the built-in cast plays, and a notice says that NPC files are ignored.
#[test]
fn npc_files_without_configuration_are_ignored() {
    let place = Place::new();
    place.write("npcs/odo.yaml", "name: Odo\nlines: [{ say: Odo is here. }]\n");
    let unread = "npcs:1:1: this folder is ignored without glyphoxa.yaml";
    let checked = place.run(&["check"]).ends_with(0);
    assert!(checked.stderr.contains(&format!("warning: {unread}")), "{checked:#?}");
    let mut live = place.start(&["ask", "--json"]);
    live.says(unread);
    assert_eq!(live.asked("Odo, hello")["outcome"], "nobody_addressed");
    place.write("npcs/odo.yaml", "name: Odo\nlines: [{ say: Odo is there. }]\n");
    place.write("npcs/ulla.yaml", "name: Ulla\nlines: [{ say: Ulla is here. }]\n");
    live.says("no npc changed");
    live.says(unread);
    assert_eq!(live.leave(), 0);
    place.write("glyphoxa.yaml", "");
    let mut live = place.start(&["ask", "--json"]);
    assert_eq!(live.asked("Odo, hello")["reply"], "Odo is there.");
    std::fs::remove_file(place.path("npcs/odo.yaml")).expect("it was written");
    assert!(live.reread().contains("; leaves: Odo"));
    assert_eq!(live.asked("and you?")["reply"], "Ulla is here.");
    assert_eq!(live.leave(), 0);
    assert!(Place::new().run(&["check"]).ends_with(0).stderr.is_empty());
}

#[test]
fn music_that_is_added_is_there_at_once() {
    let place = table("");
    let mut live = place.start(&["ask", "--json"]);
    assert_eq!(live.asked("Bartok, hello")["outcome"], "spoken");
    let sound = std::fs::read(repository("assets/music/fire.opus")).expect("it is shipped");
    place.write("music/inn/lute.opus", &sound);
    // The folder may be seen before its file is.
    live.says("in effect now: music");
    place.write("music/cave/bats.opus", &sound);
    live.says("in effect now: music");
    place.write("music/cave/music.yaml", "tracks: [{ file: bats.opus, titel: Bats }]");
    live.says("music.yaml:1:29: unknown key 'titel' in 'tracks' (did you mean 'title'?)");
    place.write("music/cave/music.yaml", "tracks: [{ file: bats.opus, title: Bats }]");
    assert!(live.reread().contains("in effect now: music"));
    assert_eq!(live.leave(), 0);
}
