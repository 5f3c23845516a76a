//! Every command, as the first server uses it and as the second asks for it.
//!
//! Entry functions: [`played`], [`prepared`], [`switched_back`], [`looks`], [`changes`], [`typings`].

use super::side::Order;

/// Begins every word that the first server brings in.
pub const MARK: &str = "zyx";

fn marked(word: &str) -> String {
    format!("{MARK}{word}")
}

fn npc(path: &'static str) -> Order {
    Order::new(path).with("name", "Tessa")
}

fn call(tool: &str, arguments: &str) -> Order {
    Order::new("tools call").with("tool", tool).with("arguments", arguments).with("npc", "Tessa")
}

/// Orders of the first server while it plays, with the mark wherever words are given.
pub fn played() -> Vec<Order> {
    vec![
        Order::new("character set").with("name", marked("hero")),
        Order::new("scene set").with("location", marked("mill")).with("time", marked("dusk")),
        npc("npc direct").with("note", marked("note")),
        npc("npc speak").with("text", marked("puppet")),
        npc("npc pin"),
        Order::new("tier set").with("tier", "deep").with("npc", "Tessa"),
        Order::new("tools deny").with("npc", "Tessa").with("tool", "dice-roller.roll_table"),
        Order::new("ask").with("text", marked("question")),
        Order::new("entity add").with("name", marked("grim")).with("type", "npc"),
        call("file-io.write_file", &format!(r#"{{"path": "key.txt", "content": "{MARK}file"}}"#)),
        call("dice-roller.roll", r#"{"expression": "2d6"}"#),
    ]
}

/// Its orders between two sessions.
pub fn prepared() -> Vec<Order> {
    let people = format!("entities:\n- {{ name: {MARK}anders, type: npc }}\n");
    let campaign = format!("campaign: {{ name: {MARK}vale, description: {MARK}mist }}\n");
    vec![Order::new("entity import").file(&people), Order::new("campaign load").file(&campaign)]
}

/// A character card, whose NPC would play in every server.
const CARD: &str = r#"{"spec": "chara_card_v2", "spec_version": "2.0",
    "data": {"name": "Olma", "description": "A miller.", "first_mes": "Good day."}}"#;

/// Back to the campaign that both play.
pub fn switched_back() -> Order {
    Order::new("campaign switch").with("name", "The Raven Signet")
}

/// Orders that show something.
pub fn looks() -> Vec<Order> {
    vec![
        Order::new("session status"),
        Order::new("session recap"),
        Order::new("session recap").with("audience", "dm"),
        Order::new("session facts"),
        Order::new("npc list"),
        npc("npc show"),
        Order::new("scene show"),
        Order::new("tier show"),
        Order::new("music list"),
        Order::new("tools list"),
        Order::new("tools list").with("npc", "Tessa"),
        Order::new("tools servers"),
        Order::new("tools permits"),
        Order::new("tools leaderboard"),
        Order::new("cost"),
        Order::new("workflow list"),
        Order::new("schedule list"),
        Order::new("entity list"),
        Order::new("entity show").with("name", "grim"),
        Order::new("campaign info"),
        Order::new("privacy info"),
        Order::new("privacy export"),
        Order::new("ask").with("text", "what do you remember of the key?"),
        call("memory.search_sessions", r#"{"query": "key door"}"#),
        call("memory.search_facts", r#"{"query": "key under the mill"}"#),
        call("memory.query_entities", r#"{"name": "anders"}"#),
        call("session-manager.search_history", r#"{"query": "key under the mill"}"#),
        call("file-io.read_file", r#"{"path": "key.txt"}"#),
        Order::new("setup"),
        Order::new("help"),
    ]
}

/// Orders that change something; `dora` is a person of both servers.
pub fn changes(dora: u64) -> Vec<Order> {
    let tool = |path| Order::new(path).with("npc", "Tessa").with("tool", "dice-roller.roll_table");
    let server = |path| Order::new(path).with("name", "home");
    vec![
        Order::new("character set"),
        Order::new("scene set").with("location", "-"),
        Order::new("scene leave").with("npc", "Tessa"),
        Order::new("scene enter").with("npc", "Tessa"),
        npc("npc direct"),
        npc("npc speak").with("text", "well then"),
        npc("npc engine").with("engine", "s2s"),
        npc("npc voice").with("voice", "flite awb"),
        npc("npc pin"),
        Order::new("npc unpin"),
        npc("npc mute"),
        npc("npc unmute"),
        Order::new("npc muteall"),
        Order::new("npc unmuteall"),
        Order::new("tier set").with("tier", "fast"),
        Order::new("tier clear"),
        Order::new("music volume").with("percent", 40),
        Order::new("music play").with("mood", "rain"),
        Order::new("music effect").with("name", "bell"),
        Order::new("music stop"),
        tool("tools deny"),
        tool("tools allow"),
        Order::new("tools revoke").with("tool", "file-io.write_file"),
        Order::new("tools calibrate").with("tool", "dice-roller.roll"),
        server("tools server add").with("url", "https://127.0.0.1:1/mcp"),
        server("tools server trust"),
        server("tools server restart"),
        server("tools server remove"),
        Order::new("workflow run").with("name", "the-evening-begins"),
        Order::new("workflow stop"),
        Order::new("schedule create").with("when", "in 5h").with("npc", "Tessa").with("text", "-"),
        Order::new("schedule cancel").with("id", "a1b2c3"),
        Order::new("roll").with("expression", "2d6"),
        Order::new("entity add").with("name", "Olm").with("type", "npc"),
        Order::new("entity remove").with("name", "anders"),
        Order::new("entity import").file("entities:\n- { name: Ulm, type: location }\n"),
        Order::new("npc import").file(CARD),
        Order::new("campaign switch").with("name", "vale"),
        Order::new("campaign load").file("campaign: { name: Hollow }\n"),
        Order::new("privacy purge").with("user", dora),
        Order::new("privacy delete"),
        Order::new("privacy optout"),
        Order::new("privacy optin"),
        Order::new("session start"),
    ]
}

/// Orders that are completed while they are typed, with the option.
pub fn typings() -> Vec<(Order, &'static str)> {
    vec![
        (Order::new("entity show").with("name", MARK), "name"),
        (Order::new("entity remove").with("name", MARK), "name"),
        (Order::new("campaign switch").with("name", MARK), "name"),
        (Order::new("scene set").with("location", MARK), "location"),
        (Order::new("character set").with("name", MARK), "name"),
        (Order::new("tools revoke").with("tool", MARK), "tool"),
        (Order::new("workflow run").with("name", MARK), "name"),
        (Order::new("schedule cancel").with("id", MARK), "id"),
        (Order::new("workflow stop").with("run", MARK), "run"),
    ]
}
