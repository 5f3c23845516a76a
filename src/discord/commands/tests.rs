//! Registration of the commands with Discord, and parsing of their use.

use futures::{FutureExt, future::ready};
use serde_json::{Value, json};
use serenity::all::{CommandInteraction, UserId};

use super::*;
pub use crate::commands::stand_in::{seat, status};
use crate::{
    commands::{Finders, GivenFile, stand_in::Recorded},
    session::{Speaker, SpeakerId},
};

fn registered(command: &Command) -> Value {
    serde_json::to_value(command.register()).unwrap()
}

/// Checks a command or option by Discord's rules, recursively; returns its total characters.
fn check(it: &Value, path: &str) -> usize {
    let text = |key: &str| it[key].as_str().unwrap_or_default();
    let (name, description) = (text("name"), text("description"));
    let path = format!("{path} {name}");
    let plain = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    assert!((1..=32).contains(&name.chars().count()), "{path}");
    assert!(name.chars().all(plain) && name == name.to_lowercase(), "{path}");
    assert!((1..=100).contains(&description.chars().count()), "{path}: '{description}'");
    let empty = Vec::new();
    let list = |key: &str| it[key].as_array().unwrap_or(&empty);
    let (options, choices) = (list("options"), list("choices"));
    assert!(options.len() <= 25 && choices.len() <= 25, "{path}");
    assert!(choices.is_empty() || it["autocomplete"] != json!(true), "{path}");
    let required: Vec<bool> = options.iter().map(|it| it["required"] == json!(true)).collect();
    assert!(required.is_sorted_by(|a, b| a >= b), "{path}: required options come first");
    let names: std::collections::BTreeSet<_> =
        options.iter().map(|it| it["name"].as_str()).collect();
    assert_eq!(names.len(), options.len(), "{path}");
    let said = |key: &str| it[key].as_str().map_or(0, |text| text.chars().count());
    let own = said("name") + said("description");
    let chosen: usize =
        choices.iter().map(|it| it["name"].as_str().unwrap_or_default().len()).sum();
    own + chosen + options.iter().map(|it| check(it, &path)).sum::<usize>()
}

#[test]
fn commands_keep_discords_limits() {
    assert!(ALL.len() <= 100);
    for command in ALL {
        let registered = registered(command);
        assert_eq!(registered["name"], command.name());
        let characters = check(&registered, "/");
        assert!(characters <= 8_000, "/{}: {characters} characters", command.name());
    }
}

/// `UPDATE_EXPECT=1` rewrites them.
#[test]
fn commands_are_registered_as_they_were() {
    for command in ALL {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/commands");
        let mut text = serde_json::to_string_pretty(&registered(command)).unwrap();
        text.push('\n');
        expect_test::expect_file![format!("{folder}/{}.json", command.name())].assert_eq(&text);
    }
}

pub fn used(kind: u8, data: Value) -> CommandInteraction {
    let user = json!({
        "id": "11", "username": "mira", "global_name": "Mira", "discriminator": "0",
        "avatar": null,
    });
    let used = json!({
        "id": "1", "application_id": "2", "type": kind, "token": "t", "version": 1,
        "guild_id": "3", "channel_id": "4", "locale": "en-US", "entitlements": [],
        "attachment_size_limit": 10485760,
        "authorizing_integration_owners": {}, "app_permissions": "0",
        "member": {
            "user": user, "nick": "Mira the Bold", "roles": [], "permissions": "32",
            "joined_at": "2026-01-01T00:00:00Z", "deaf": false, "mute": false, "flags": 0,
        },
        "data": data,
    });
    serde_json::from_value(used).unwrap()
}

#[test]
fn use_is_read_as_it_was_typed() {
    let options = json!([{"name": "direct", "type": 1, "options": [
        {"name": "name", "type": 3, "value": " Bartok "},
        {"name": "note", "type": 3, "value": "  "},
        {"name": "turns", "type": 4, "value": 3},
        {"name": "player", "type": 6, "value": "12"},
        {"name": "secret", "type": 5, "value": true},
    ]}]);
    let used = used(2, json!({"id": "5", "name": "npc", "type": 1, "options": options}));
    let call = Call::of(&used, true, offers);
    assert_eq!((call.path.as_str(), call.name.as_str()), ("direct", "Mira the Bold"));
    assert!(call.may.manage_guild() && call.is_dm);
    assert_eq!(call.words("name").unwrap(), "Bartok");
    assert_eq!(call.text("note"), None);
    assert_eq!(call.words("note").unwrap_err().0, "'note' is empty (fill it in)");
    assert_eq!(call.user("player"), Some(UserId::new(12)));
    assert!(call.flag("secret") && !call.flag("name"));
    assert_eq!(call.text("turns"), None);
}

#[test]
fn focused_option_is_found_below_subcommand() {
    let options = json!([{"name": "set", "type": 1, "options": [
        {"name": "tier", "type": 3, "value": "deep"},
        {"name": "npc", "type": 3, "value": "bar", "focused": true},
    ]}]);
    let used = used(4, json!({"id": "5", "name": "tier", "type": 1, "options": options}));
    assert_eq!(typed(&used), Some(("npc".to_owned(), "bar".to_owned())));
    let known = ["Bartok", "Mira", "Old Barnaby"].map(str::to_owned);
    assert_eq!(choices(known, "bar"), ["Bartok", "Old Barnaby"]);
    let many = (0..40).map(|index| format!("npc {index}"));
    assert_eq!(choices(many, "").len(), 25);
    assert!(choices(["x".repeat(101), String::new(), " ".to_owned()], "").is_empty());
    let twice = ["rain", "wind", "rain"].map(str::to_owned);
    assert_eq!(choices(twice, ""), ["rain", "wind"]);
}

fn option(name: &str, value: &Value) -> Value {
    let kind = match (name, value) {
        ("player", _) => 6,
        (_, Value::Number(_)) => 4,
        (_, Value::Bool(_)) => 5,
        _ => 3,
    };
    json!({"name": name, "type": kind, "value": value})
}

/// The table's orders and the answer after a use on a server.
fn used_in_a_server(path: &str, given: &Value) -> (Vec<String>, String) {
    let (name, sub_name) = path.split_once(' ').unwrap_or((path, ""));
    let options = given.as_object().into_iter().flatten();
    let mut options: Value = options.map(|(name, value)| option(name, value)).collect();
    if !sub_name.is_empty() {
        options = json!([{"name": sub_name, "type": 1, "options": options}]);
    }
    let call = used(2, json!({"id": "5", "name": name, "type": 1, "options": options}));
    let call = Call::of(&call, true, offers);
    let command = crate::commands::ALL.into_iter().find(|it| it.name == name).expect("a command");
    let sub = command.sub(&call.path).expect("a subcommand");
    let mut table = Recorded::table();
    let answer = table.carries_out(sub, &shared::used(&call, sub));
    (table.orders, answer)
}

/// The table's orders and the answer after a typed line.
fn typed_line(line: &str) -> (Vec<String>, String) {
    let speaker = Speaker { id: SpeakerId(11), name: "Mira the Bold".to_owned(), is_dm: true };
    let person = |name: &str| (name == "Anna").then_some(SpeakerId(12));
    let file = |path: &str| GivenFile::new(path, None, || ready(Ok(Vec::new())).boxed());
    let found = Finders { person: &person, file: &file };
    let read = crate::commands::read(&crate::commands::ALL, line, speaker, found);
    let (sub, call) = read.expect("a slash").expect("the right words");
    let mut table = Recorded::table();
    let answer = table.carries_out(sub, &call);
    (table.orders, answer)
}

/// Commands by path, as typed, as sent by Discord, and part of the order to the table.
const USES: &[(&str, &str, &str, &str)] = &[
    ("npc list", "/npc list", r#"{}"#, ""),
    ("npc show", "/npc show Bartok", r#"{"name": "Bartok"}"#, ""),
    (
        "npc mute",
        "/npc mute Bartok",
        r#"{"name": "Bartok"}"#,
        "Mute { seat: Some(SeatId(0)), muted: true",
    ),
    ("npc unmute", "/npc unmute Bartok", r#"{"name": "Bartok"}"#, "muted: false"),
    ("npc muteall", "/npc muteall", r#"{}"#, "Mute { seat: None, muted: true"),
    ("npc unmuteall", "/npc unmuteall", r#"{}"#, "Mute { seat: None, muted: false"),
    (
        "npc speak",
        "/npc speak Bartok: Well, no.",
        r#"{"name": "Bartok", "text": "Well, no."}"#,
        "Puppet { speaker: SpeakerId(11), seat: SeatId(0), text: \"Well, no.\"",
    ),
    (
        "npc direct",
        "/npc direct Mira 3: be brief",
        r#"{"name": "Mira", "note": "be brief", "turns": 3}"#,
        "Direct { seat: SeatId(1), note: \"be brief\", turns: Some(3)",
    ),
    ("npc engine", "/npc engine Mira s2s", r#"{"name": "Mira", "engine": "s2s"}"#, ""),
    (
        "npc engine",
        "/npc engine Mira s2s confirm",
        r#"{"name": "Mira", "engine": "s2s", "confirm": true}"#,
        "engine Mira SpeechToSpeech",
    ),
    (
        "npc voice",
        "/npc voice Mira: piper joe",
        r#"{"name": "Mira", "voice": "piper joe"}"#,
        "voice Mira piper joe",
    ),
    (
        "npc pin",
        "/npc pin Mira player:Anna",
        r#"{"name": "Mira", "player": "12"}"#,
        "Pin { seat: Some(SeatId(1)), player: Some(SpeakerId(12))",
    ),
    ("npc unpin", "/npc unpin", r#"{}"#, "Pin { seat: None, player: None"),
    ("say", "/say Good evening", r#"{"text": "Good evening"}"#, "Typed { speaker"),
    (
        "say",
        "/say Good evening npc:Mira",
        r#"{"text": "Good evening", "npc": "Mira"}"#,
        "TypedTo { speaker: SpeakerId(11), seat: SeatId(1)",
    ),
    ("ask", "/ask what is prone?", r#"{"text": "what is prone?"}"#, ""),
    (
        "character set",
        "/character set Balin the Wise",
        r#"{"name": "Balin the Wise"}"#,
        "character SpeakerId(11) Balin the Wise; Character { speaker: SpeakerId(11)",
    ),
    (
        "scene set",
        "/scene set Old Mill, dusk",
        r#"{"location": "Old Mill", "time": "dusk"}"#,
        "Set { location: Some(\"Old Mill\"), time: Some(\"dusk\")",
    ),
    ("scene enter", "/scene enter Mira", r#"{"npc": "Mira"}"#, "Enter(SeatId(1))"),
    ("scene leave", "/scene leave Mira", r#"{"npc": "Mira"}"#, "Leave(SeatId(1))"),
    ("scene show", "/scene show", r#"{}"#, ""),
    (
        "tier set",
        "/tier set deep Mira 5",
        r#"{"tier": "deep", "npc": "Mira", "minutes": 5}"#,
        "SetTier { seat: Some(SeatId(1)), tier: Some(Deep), until: Some",
    ),
    ("tier clear", "/tier clear", r#"{}"#, "SetTier { seat: None, tier: None, until: None"),
    ("tier show", "/tier show", r#"{}"#, ""),
    (
        "entity add",
        "/entity add Old Mill, A ruin location secret",
        r#"{"name": "Old Mill", "type": "location", "description": "A ruin", "secret": true}"#,
        "world Add(NewEntity { name: \"Old Mill\", kind: Location, description: \"A ruin\"",
    ),
    ("entity list", "/entity list quest", r#"{"type": "quest"}"#, "world List(Some(Quest))"),
    ("entity show", "/entity show Old Mill", r#"{"name": "Old Mill"}"#, "world Show(\"Old Mill\")"),
    (
        "entity remove",
        "/entity remove Old Mill",
        r#"{"name": "Old Mill"}"#,
        "world Find(\"Old Mill\")",
    ),
    ("campaign info", "/campaign info", r#"{}"#, "world Info"),
    (
        "campaign switch",
        "/campaign switch The Sunken City",
        r#"{"name": "The Sunken City"}"#,
        "play The Sunken City",
    ),
    ("tools permits", "/tools permits", r#"{}"#, ""),
    ("tools revoke", "/tools revoke home.dust", r#"{"tool": "home.dust"}"#, "revoke home.dust"),
    ("privacy optout", "/privacy optout", r#"{}"#, "heard SpeakerId(11) false"),
    ("privacy optin", "/privacy optin", r#"{}"#, "heard SpeakerId(11) true"),
    ("privacy info", "/privacy info", r#"{}"#, ""),
    ("privacy export", "/privacy export", r#"{}"#, ""),
    ("privacy delete", "/privacy delete", r#"{}"#, ""),
    ("session status", "/session status", r#"{}"#, ""),
    ("music play", "/music play inn", r#"{"mood": "inn"}"#, "Music(Play(Track"),
    ("music stop", "/music stop", r#"{}"#, "Music(Stop)"),
    ("music volume", "/music volume 40", r#"{"percent": 40}"#, "Music(Volume(40)); volume 40"),
    ("music list", "/music list", r#"{}"#, ""),
    ("music effect", "/music effect bell", r#"{"name": "bell"}"#, "Music(Play(Track"),
    ("schedule list", "/schedule list", r#"{}"#, ""),
    (
        "schedule create",
        "/schedule create in 90m npc:Bartok text:Last orders!",
        r#"{"when": "in 90m", "npc": "Bartok", "text": "Last orders!"}"#,
        "",
    ),
    ("schedule cancel", "/schedule cancel a1b2c3", r#"{"id": "a1b2c3"}"#, ""),
    ("cost", "/cost 2026-11", r#"{"month": "2026-11"}"#, ""),
    ("xcard", "/xcard", r#"{}"#, "Halt"),
];

/// A command has the same text, effect and answer in every interface.
#[tokio::test(start_paused = true)]
async fn command_is_one_in_every_face() {
    for (path, line, given, order) in USES {
        let given: Value = serde_json::from_str(given).unwrap();
        let (orders, answer) = typed_line(line);
        assert_eq!(used_in_a_server(path, &given), (orders.clone(), answer.clone()), "{line}");
        assert!(!answer.contains("is empty"), "{line}: {answer}");
        let told = orders.join("; ");
        assert!(told.contains(order) && order.is_empty() == told.is_empty(), "{line}: {told}");
    }
}
