//! Answers of slash commands without a running session.

use serde_json::{Value, json};

use super::{Message, answered, guild, message};
use crate::discord::commands::{ALL, Call, offers, tests::used};

/// Options of a command, by their names.
fn given(values: &Value) -> Value {
    let kind = |name: &str, value: &Value| match (name, value) {
        ("user" | "player", _) => 6,
        (_, Value::Number(_)) => 4,
        (_, Value::Bool(_)) => 5,
        _ => 3,
    };
    let values = values.as_object().into_iter().flatten();
    values.map(|(name, it)| json!({"name": name, "type": kind(name, it), "value": it})).collect()
}

/// A subcommand with these options.
fn sub(name: &str, values: &Value) -> Value {
    json!([{"name": name, "type": 1, "options": given(values)}])
}

fn of_players() -> Vec<(&'static str, &'static str, Value)> {
    let none = json!({});
    vec![
        ("help", "help", json!([])),
        ("roll wrong dice", "roll", given(&json!({"expression": "2x6"}))),
        ("roll nothing", "roll", given(&json!({"expression": " "}))),
        ("say without a session", "say", given(&json!({"text": "Hello."}))),
        ("card without a session", "xcard", json!([])),
        ("privacy", "privacy", sub("info", &none)),
        ("opt out", "privacy", sub("optout", &none)),
        ("opt in", "privacy", sub("optin", &none)),
        ("export", "privacy", sub("export", &none)),
        ("delete", "privacy", sub("delete", &none)),
        ("recap of no session", "session", sub("recap", &none)),
        ("recap of an unknown session", "session", sub("recap", &json!({"which": "friday"}))),
        ("character", "character", sub("set", &json!({"name": "Thorin"}))),
        ("no character", "character", sub("set", &none)),
        ("character of an npc", "character", sub("set", &json!({"name": "bartok"}))),
        ("long character", "character", sub("set", &json!({"name": "x".repeat(65)}))),
        (
            "another's character",
            "character",
            sub("set", &json!({"name": "Thorin", "player": "12"})),
        ),
    ]
}

fn of_the_game_master() -> Vec<(&'static str, &'static str, Value)> {
    let none = json!({});
    let pip = json!({"name": "Pip"});
    let inn = json!({"name": "The Inn", "type": "location", "description": "Warm."});
    vec![
        ("setup", "setup", json!([])),
        ("start outside of a channel", "session", sub("start", &none)),
        ("stop no session", "session", sub("stop", &none)),
        ("status of no session", "session", sub("status", &none)),
        ("facts", "session", sub("facts", &none)),
        ("purge", "privacy", sub("purge", &json!({"user": "12"}))),
        ("cast", "npc", sub("list", &none)),
        ("npc", "npc", sub("show", &json!({"name": "Bartok"}))),
        ("unknown npc", "npc", sub("show", &pip)),
        ("mute without a session", "npc", sub("mute", &pip)),
        ("import without a file", "npc", sub("import", &none)),
        ("scene of nothing", "scene", sub("set", &none)),
        ("scene without a session", "scene", sub("show", &none)),
        ("unknown tier", "tier", sub("set", &json!({"tier": "slow"}))),
        ("tier without a session", "tier", sub("show", &none)),
        ("campaign", "campaign", sub("info", &none)),
        ("unknown campaign", "campaign", sub("switch", &pip)),
        ("campaign without a file", "campaign", sub("load", &none)),
        ("no entities", "entity", sub("list", &none)),
        ("unknown entity", "entity", sub("show", &pip)),
        ("new entity", "entity", sub("add", &inn)),
        ("entity of an unknown kind", "entity", sub("add", &json!({"name": "Inn", "type": "pub"}))),
        ("remove an unknown entity", "entity", sub("remove", &pip)),
    ]
}

fn of_tools() -> Vec<(&'static str, &'static str, Value)> {
    let none = json!({});
    let (pip, banana) = (json!({"name": "Pip"}), json!({"tool": "banana"}));
    let server = |name: &str, values: &Value| json!([{"name": "server", "type": 2, "options": sub(name, values)}]);
    let allow = json!({"npc": "Bartok", "tool": "banana"});
    vec![
        ("tools", "tools", sub("list", &none)),
        ("tools of an npc", "tools", sub("list", &json!({"npc": "Bartok"}))),
        ("tools of an unknown npc", "tools", sub("list", &json!({"npc": "Pip"}))),
        ("allow an unknown tool", "tools", sub("allow", &allow)),
        ("permits", "tools", sub("permits", &none)),
        ("revoke an unknown tool", "tools", sub("revoke", &banana)),
        ("call an unknown tool", "tools", sub("call", &banana)),
        ("measure an unknown tool", "tools", sub("calibrate", &banana)),
        ("measure nothing", "tools", sub("calibrate", &none)),
        ("no quickest tools", "tools", sub("leaderboard", &none)),
        ("no servers", "tools", sub("servers", &none)),
        ("server that is near", "tools", server("add", &json!({"name": "a", "command": "x"}))),
        ("remove an unknown server", "tools", server("remove", &pip)),
        ("trust an unknown server", "tools", server("trust", &pip)),
        ("restart an unknown server", "tools", server("restart", &pip)),
    ]
}

pub async fn messages() -> Vec<Message> {
    let dms = of_the_game_master().into_iter().chain(of_tools());
    let dms = dms.map(|case| (case, true));
    let mut all = Vec::new();
    for ((name, command, options), is_dm) in
        of_players().into_iter().map(|it| (it, false)).chain(dms)
    {
        let typed = json!({"id": "5", "name": command, "type": 1, "options": options});
        let call = Call::of(&used(2, typed), is_dm, offers);
        let (_folder, mut guild) = guild();
        let known = ALL.iter().find(|it| it.name() == command).expect("a command");
        let answer = known.run(&mut guild, &call);
        all.push(message(&format!("/{command}: {name}"), answered(&mut guild, answer).await));
    }
    all
}
