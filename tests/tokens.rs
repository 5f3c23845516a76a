//! Access tokens through the real program: made, listed, revoked, left out of exports.

use serde_json::{Value, json};

use crate::support::program::Place;

fn table() -> Place {
    Place::with_config("npcs: [{ name: Pip, lines: [{ say: Hm. }] }]\n")
}

/// The tokens as JSON.
fn listed(place: &Place, of: &[&str]) -> Vec<Value> {
    place.run(&[&["token", "list", "--json"], of].concat()).ends_with(0).lines()
}

/// True if `text` holds the secret of a token: `glx_` and 43 characters.
fn holds_secret(text: &str) -> bool {
    let is_digit = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    text.split("glx_").skip(1).any(|it| it.chars().take_while(|c| is_digit(*c)).count() == 43)
}

#[test]
fn token_is_shown_once_listed_and_revoked() {
    let place = table();
    let made = place.run(&["token", "create", "--role", "player"]).ends_with(0);
    assert_eq!((made.stdout.trim_end().len(), made.stdout.lines().count()), (47, 1), "{made:#?}");
    assert!(holds_secret(&made.stdout) && !holds_secret(&made.stderr), "{made:#?}");
    assert!(made.stderr.contains("player of this machine, all tools"), "{made:#?}");
    let limited = ["--guild", "42", "--tools", "npc_list,dice.roll", "--days", "2", "--json"];
    let made = place.run(&[&["token", "create", "--role", "dm"], &limited[..]].concat());
    let made = made.ends_with(0).line();
    assert!(holds_secret(made["token"].as_str().unwrap()), "{made}");
    let all = listed(&place, &[]);
    assert_eq!(all.len(), 2, "{all:?}");
    assert_eq!((&all[1]["role"], &all[1]["owner"]), (&json!("dm"), &json!("42")));
    assert_eq!(all[1]["tools"], json!(["dice.roll", "npc.list"]));
    let lasts = all[1]["ends"].as_i64().unwrap() - all[1]["made"].as_i64().unwrap();
    assert_eq!((lasts, &all[0]["ends"]), (172_800_000, &Value::Null));
    assert_eq!(listed(&place, &["--local"]), all[..1]);
    assert_eq!(listed(&place, &["--guild", "42"]), all[1..]);
    let shown = place.run(&["token", "list"]).ends_with(0).stdout;
    assert!(shown.contains("dm of the Discord server 42, tools dice.roll npc.list"), "{shown}");
    assert!(!holds_secret(&shown) && !shown.contains("hash"), "{shown}");
    for token in &all {
        place.run(&["token", "revoke", token["id"].as_str().unwrap()]).ends_with(0);
    }
    assert_eq!(listed(&place, &[]), Vec::<Value>::new());
}

#[test]
fn wrong_tokens_are_refused_with_a_way_out() {
    let place = table();
    let unknown = place.run(&["token", "revoke", "00000000"]).ends_with(2);
    assert!(unknown.message().starts_with("unknown token '00000000' ("), "{unknown:#?}");
    let secret = place.run(&["token", "create", "--role", "dm"]).ends_with(0).stdout;
    let given = place.run(&["token", "revoke", secret.trim_end()]).ends_with(2);
    assert!(given.message().contains("give its id") && !holds_secret(&given.stderr), "{given:#?}");
    for wrong in [
        &["--role", "admin"][..],
        &["--role", "dm", "--guild", "1", "--local"],
        &["--role", "dm", "--days", "0"],
        &["--role", "dm", "--tools", "two words"],
        &["--role", "dm", "--tools", ""],
        &["--role", "dm", "--tools", "dice.rol"],
        &["--role", "player", "--tools", "dice.roll,voice.speak"],
        &[],
    ] {
        place.run(&[&["token", "create"], wrong].concat()).ends_with(2);
    }
    let misspelt = place.run(&["mcp", "entry", "--tools", "dice_rol"]).ends_with(2);
    assert!(misspelt.stderr.contains("unknown tool (did you mean 'dice.roll'?)"), "{misspelt:#?}");
    assert_eq!(listed(&place, &[]).len(), 1, "nothing else was made");
}

#[test]
fn entry_of_each_client_carries_a_new_token() {
    let place = table();
    let entry = |arguments: &[&str]| -> Value {
        let ran = place.run(&[&["mcp", "entry"], arguments].concat()).ends_with(0);
        assert!(!holds_secret(&ran.stderr), "{ran:#?}");
        serde_json::from_str(&ran.stdout).expect("JSON alone")
    };
    let url = "http://127.0.0.1:4100/mcp";
    let desktop = entry(&[])["mcpServers"]["glyphoxa"].clone();
    let arguments =
        json!(["-y", "mcp-remote", url, "--header", "Authorization:${GLYPHOXA_BEARER}"]);
    assert_eq!((&desktop["command"], &desktop["args"]), (&json!("npx"), &arguments));
    let code = entry(&["--client", "vscode", "--role", "dm"])["servers"]["glyphoxa"].clone();
    assert_eq!((&code["type"], &code["url"]), (&json!("http"), &json!(url)));
    let elsewhere = ["--client", "cursor", "--guild", "42", "--url", "https://table.example/mcp"];
    let cursor = entry(&elsewhere)["mcpServers"]["glyphoxa"].clone();
    assert_eq!(cursor["url"], "https://table.example/mcp");
    let bearers = [
        &desktop["env"]["GLYPHOXA_BEARER"],
        &code["headers"]["Authorization"],
        &cursor["headers"]["Authorization"],
    ];
    for bearer in bearers {
        let bearer = bearer.as_str().unwrap();
        assert!(bearer.starts_with("Bearer glx_") && holds_secret(bearer), "{bearer}");
    }
    let made: Vec<Value> = listed(&place, &[])
        .into_iter()
        .map(|token| json!([token["role"], token["owner"]]))
        .collect();
    assert_eq!(made, [json!(["player", "local"]), json!(["dm", "local"]), json!(["player", "42"])]);
    let remote = entry(&["--url", "http://inn:4100/mcp"])["mcpServers"]["glyphoxa"].clone();
    assert_eq!(remote["args"][5], "--allow-http", "mcp-remote refuses it otherwise: {remote}");
    for wrong in ["ftp://x/mcp", "https://", "https://a:b@c/mcp", "127.0.0.1:4100"] {
        place.run(&["mcp", "entry", "--url", wrong]).ends_with(2);
    }
}

#[test]
fn entry_has_the_address_of_the_settings() {
    let entry = |settings: &str| {
        let place = Place::with_config(&format!(
            "npcs: [{{ name: Pip, lines: [{{ say: Hm. }}] }}]\n{settings}"
        ));
        let ran = place.run(&["mcp", "entry", "--client", "cursor"]).ends_with(0);
        let printed: Value = serde_json::from_str(&ran.stdout).expect("JSON alone");
        (printed["mcpServers"]["glyphoxa"]["url"].clone(), ran.stderr)
    };
    let (url, notes) = entry("web: { listen: '127.0.0.1:4200' }\n");
    assert_eq!(url, "http://127.0.0.1:4200/mcp");
    assert!(!notes.contains("no listener") && !notes.contains("Discord"), "{notes}");
    let proxied = "web: { listen: '0.0.0.0:4100', behind_tls: true, hosts: [inn.example] }\n";
    assert_eq!(entry(proxied).0, "https://inn.example/mcp");
    let (url, notes) = entry("discord: { token: MTIz.abcdef.ghijkl, guild_id: '42' }\n");
    assert_eq!(url, "http://127.0.0.1:4100/mcp");
    assert!(notes.contains("no listener is configured (start glyphoxa serve"), "{notes}");
    assert!(notes.contains("doesn't reach tables on Discord (for these: --guild 42;"), "{notes}");
}

#[test]
fn export_leaves_tokens_behind() {
    let place = table();
    let without = place.run(&["export", "before"]).ends_with(0);
    assert!(!without.stderr.contains("access token"), "{without:#?}");
    let made = place.run(&["token", "create", "--role", "dm", "--json"]).ends_with(0).line();
    place.run(&["token", "create", "--role", "dm", "--guild", "42"]).ends_with(0);
    let ran = place.run(&["export", "backup"]).ends_with(0);
    assert!(ran.stderr.contains("note: 1 access token left out ("), "{ran:#?}");
    let id = made["id"].as_str().unwrap();
    for file in ["README.md", "glyphoxa-export.json", "store/schedules.jsonl", "store/runs.jsonl"] {
        let text = std::fs::read_to_string(place.path("backup").join(file)).unwrap();
        assert!(!text.contains(id) && !holds_secret(&text), "{file}: {text}");
    }
    place.run(&["token", "revoke", id]).ends_with(0);
    place.run(&["import", "backup"]).ends_with(0);
    assert_eq!(listed(&place, &["--local"]), Vec::<Value>::new());
}
