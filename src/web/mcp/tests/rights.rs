//! Rights to see and call tools, and owners of the data in answers.

use super::*;
use crate::web::mcp::served::ServedTool;

/// Holders that a tool is for: a player, a game master, a game master where listening is on.
struct ToolRights {
    tool: &'static str,
    player: bool,
    dm: bool,
    listening: bool,
    /// Arguments of a call that reads; `None`: it changes something, or needs a table.
    reads: Option<fn() -> Value>,
}

const fn everyone(tool: &'static str, reads: Option<fn() -> Value>) -> ToolRights {
    ToolRights { tool, player: true, dm: true, listening: true, reads }
}

const fn dm(tool: &'static str, reads: Option<fn() -> Value>) -> ToolRights {
    ToolRights { tool, player: false, dm: true, listening: true, reads }
}

static RIGHTS: [ToolRights; 17] = [
    dm("voice.speak", None),
    ToolRights { tool: "voice.listen", player: false, dm: false, listening: true, reads: None },
    dm("system.health", Some(no_arguments)),
    everyone("session.status", Some(no_arguments)),
    dm("workflow.run", None),
    dm("workflow.list", Some(no_arguments)),
    dm("schedule.create", None),
    dm("schedule.list", Some(no_arguments)),
    dm("schedule.cancel", None),
    everyone("npc.list", Some(no_arguments)),
    everyone("npc.ask", None),
    everyone("memory.search", Some(|| json!({ "query": "gate harbour trap" }))),
    everyone("entity.get", Some(|| json!({ "entity": "gate" }))),
    everyone("session.recap", Some(no_arguments)),
    everyone("session.transcript", Some(no_arguments)),
    everyone("dice.roll", None),
    dm("tools.call", None),
];

fn rights(tool: &ServedTool) -> &'static ToolRights {
    let row = RIGHTS.iter().find(|row| row.tool == tool.name);
    row.unwrap_or_else(|| panic!("'{}' has no row in RIGHTS", tool.name))
}

#[test]
fn each_tool_is_for_the_holders_in_the_table() {
    let (player, master) = (holder(GUILD, AccessRole::Player), holder(GUILD, AccessRole::Dm));
    let listening = McpOptions { listen: true, underscores: false };
    for tool in table::all() {
        let (row, off) = (rights(tool), McpOptions::default());
        let (of_player, of_dm) = (tool.is_for(&player, &listening), tool.is_for(&master, &off));
        assert_eq!((of_player, of_dm), (row.player, row.dm), "{}", tool.name);
        assert_eq!(tool.is_for(&master, &listening), row.listening, "{}", tool.name);
    }
    assert_eq!(table::all().count(), RIGHTS.len(), "RIGHTS has a tool that is gone");
}

#[test]
fn reading_tools_say_that_they_only_read() {
    for tool in table::all() {
        let row = rights(tool);
        let reads = row.reads.is_some() || row.tool == "voice.listen";
        assert_eq!(tool.annotations.reads_only, reads, "{}", tool.name);
        assert!(!(tool.annotations.reads_only && tool.annotations.destructive), "{}", tool.name);
    }
}

#[test]
fn token_with_tools_has_only_these() {
    let tools = Some(["dice.roll", "tools.call"].map(str::to_owned).into());
    let few = Holder { tools, ..Holder::clone(&holder(GUILD, AccessRole::Player)) };
    let options = McpOptions::default();
    let seen = table::all().filter(|tool| tool.is_for(&few, &options)).map(|tool| tool.name);
    assert_eq!(seen.collect::<Vec<_>>(), ["dice.roll"], "its role has no tools.call");
}

#[test]
fn tools_of_tokens_are_known_by_either_name() {
    assert_eq!(table::named("dice.roll"), Ok("dice.roll"));
    assert_eq!(table::named("dice_roll"), Ok("dice.roll"));
    for slip in ["dice_rol", "dice.rol"] {
        let refused = table::named(slip).unwrap_err();
        assert_eq!(refused, "unknown tool (did you mean 'dice.roll'?)");
    }
    let refused = table::named("files").unwrap_err();
    assert!(refused.starts_with("unknown tool (known tools: voice.speak, "), "{refused}");
}

#[tokio::test]
async fn tool_without_rights_is_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let parts = parts(folder.path(), McpOptions::default());
    let player = holder(GUILD, AccessRole::Player);
    let refused = async |name: &str| {
        let told = called(&parts, &player, name, no_arguments()).await;
        told.err().map(|error| error.message.replace(name, "NAME"))
    };
    let unknown = refused("no.tool").await;
    assert!(unknown.is_some());
    for tool in table::all().filter(|tool| !rights(tool).player) {
        assert_eq!(refused(tool.name).await, unknown, "{}", tool.name);
    }
}

#[tokio::test]
async fn answers_hold_what_the_holder_may_know() {
    let folder = tempfile::tempdir().unwrap();
    let parts = parts(folder.path(), McpOptions { listen: true, underscores: false });
    world(&parts).await;
    for tool in table::all() {
        let Some(arguments) = rights(tool).reads else { continue };
        for (owner, role) in [
            (GUILD, AccessRole::Player),
            (GUILD, AccessRole::Dm),
            (OTHER, AccessRole::Player),
            (OTHER, AccessRole::Dm),
            (Owner::Local, AccessRole::Dm),
        ] {
            let holder = holder(owner, role);
            if !tool.is_for(&holder, &parts.options.mcp) {
                continue;
            }
            let told = called(&parts, &holder, tool.name, arguments()).await.unwrap();
            let text = format!("{} {}", told.value, if told.failed { "" } else { &told.text });
            let whose = format!("{} of {owner:?} as {role:?}: {text}", tool.name);
            assert!(owner == GUILD || !text.contains("The gate"), "{whose}");
            assert!(owner == OTHER || !text.contains("harbour"), "{whose}");
            assert!(role == AccessRole::Dm || !text.contains("trap"), "{whose}");
        }
    }
}

#[tokio::test]
async fn game_master_reads_secrets_and_player_not() {
    let folder = tempfile::tempdir().unwrap();
    let parts = parts(folder.path(), McpOptions::default());
    world(&parts).await;
    for (role, lines) in [(AccessRole::Player, 1), (AccessRole::Dm, 2)] {
        let holder = holder(GUILD, role);
        let told = done(&parts, &holder, "session.transcript", no_arguments()).await;
        assert_eq!(told["lines"].as_array().map(Vec::len), Some(lines), "{told}");
        let found = done(&parts, &holder, "memory.search", json!({ "query": "gate" })).await;
        assert_eq!(found["lines"].as_array().map(Vec::len), Some(lines), "{found}");
        let secret = called(&parts, &holder, "entity.get", json!({ "entity": "trap-gate" })).await;
        assert_eq!(secret.unwrap().failed, role == AccessRole::Player);
        let recap = called(&parts, &holder, "session.recap", json!({ "secrets": true })).await;
        assert_eq!(recap.unwrap().failed, role == AccessRole::Player);
    }
}

#[tokio::test]
async fn player_learns_of_no_npc_off_stage() {
    let folder = tempfile::tempdir().unwrap();
    let parts = parts(folder.path(), McpOptions::default());
    for (role, npcs) in [(AccessRole::Player, 0), (AccessRole::Dm, 1)] {
        let told = done(&parts, &holder(GUILD, role), "npc.list", no_arguments()).await;
        assert_eq!(told["npcs"].as_array().map(Vec::len), Some(npcs), "{told}");
    }
    let player = holder(GUILD, AccessRole::Player);
    let asked = json!({ "npc": "Bartok", "text": "Are you there?" });
    let told = called(&parts, &player, "npc.ask", asked).await.unwrap();
    assert!(told.failed && told.text.contains("no table is running"), "{}", told.text);
}
