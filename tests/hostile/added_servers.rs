//! Tool servers that two game masters add under one name: each has its own, and sees nothing of the
//! other's.

use std::time::{Duration, Instant};

use discord_loopback::{AUDIBLE, Guild, Member, Options, Player, Slash};
use serde_json::{Value, json};

use super::loopback::{self, Asked, Loopback, Said};
use crate::{
    bot::hall::{BOUND, Hall},
    support::chat_server::{ChatServer, Script},
};

/// An MCP server over HTTP, everything of which says `mark`.
fn tool_server(mark: &'static str) -> Loopback {
    Loopback::start(move |asked, _| answer(asked, mark))
}

fn answer(asked: &Asked, mark: &str) -> Said {
    if !asked.line.starts_with("POST") {
        return (405, Vec::new(), String::new());
    }
    let body = asked.rest.find('{').map_or("", |start| &asked.rest[start..]);
    let request: Value = serde_json::from_str(body).unwrap_or_default();
    let Some(id) = request.get("id") else { return (202, Vec::new(), String::new()) };
    let result = match request["method"].as_str().unwrap_or_default() {
        "initialize" => json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
            "serverInfo": {"name": mark, "version": "1"}}),
        "ping" => json!({}),
        "tools/list" => {
            json!({"tools": [{"name": "look", "description": format!("Looks at {mark}."),
            "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true},
            "_meta": {"glyphoxa/category": format!("{mark}lore"),
                "glyphoxa/estimated_duration_ms": 5, "glyphoxa/cacheable_seconds": 600}}]})
        }
        "tools/call" => json!({"content": [{"type": "text", "text": format!("{mark} is seen")}]}),
        _ => {
            let error = json!({"code": -32601, "message": "Method not found"});
            return loopback::json(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
        }
    };
    loopback::json(&json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

/// Marks calls by a game master; measuring calls lack it.
const BY_HAND: &str = "{\"by\": \"hand\"}";

/// A server for whichever world a request names; it refuses a request that names none.
fn world_server() -> Loopback {
    Loopback::start(|asked, _| match world(asked) {
        Some(world) => answer(asked, &world),
        None => (400, Vec::new(), "which world?".to_owned()),
    })
}

/// The world that a request names in a header.
fn world(asked: &Asked) -> Option<String> {
    let named = asked.rest.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("x-world").then(|| value.trim().to_owned())
    });
    named.filter(|world| !world.is_empty())
}

/// Calls by game masters that a server was asked for.
fn calls(server: &Loopback) -> usize {
    server.asked().iter().filter(|it| it.rest.contains("\"by\":\"hand\"")).count()
}

/// Number of connections to it.
fn connections(server: &Loopback) -> usize {
    server.asked().iter().filter(|it| it.rest.contains("\"initialize\"")).count()
}

/// A guild, its game master, and what is never to be read there.
struct Side {
    guild: Guild,
    dm: Member,
    own: &'static str,
    others: [String; 2],
}

impl Side {
    async fn told(&self, hall: &Hall, slash: Slash) -> String {
        let told = hall.told_in(&self.dm, self.guild.text, slash).await;
        self.is_clean(&told);
        told
    }

    fn is_clean(&self, told: &str) {
        for other in &self.others {
            assert!(!told.contains(other), "of the other guild: {told}");
        }
    }

    async fn server(&self, hall: &Hall, what: &str, name: &str) -> String {
        self.told(hall, Slash::new(&format!("tools server {what}")).option("name", name)).await
    }

    async fn adds(&self, hall: &Hall, name: &str, server: &Loopback) -> String {
        let add = Slash::new("tools server add").option("name", name);
        self.told(hall, add.option("url", &*format!("{}/mcp", server.origin()))).await
    }

    /// Asks until the answer is as wanted.
    async fn until(&self, hall: &Hall, slash: impl Fn() -> Slash, wanted: &str) {
        let asked = Instant::now();
        loop {
            let told = self.told(hall, slash()).await;
            if told.contains(wanted) {
                return;
            }
            assert!(asked.elapsed() < BOUND, "wanted '{wanted}': {told}");
        }
    }

    async fn has_its_own(&self, hall: &Hall) {
        let own = format!("calls itself '{}", self.own);
        self.until(hall, || Slash::new("tools servers"), &own).await;
        self.until(hall, || Slash::new("tools list"), "home.look").await;
    }

    async fn starts(&self, hall: &Hall) -> Player {
        let seat = hall.discord.join_voice(&self.dm, self.guild.voice).await.expect("a seat");
        let start = hall.asks_in(&self.dm, self.guild.text, Slash::new("session start")).await;
        assert!(start.text().contains("I listen"), "{}", start.text());
        let heard = hall.discord.wait_for_message(self.guild.text, BOUND, |it| {
            it.content().split("Heard:").nth(1).is_some_and(|rest| !rest.contains("no one"))
        });
        heard.await.expect("somebody is heard");
        hall.has_greeted(&seat).await;
        seat
    }

    /// Says something to Tessa and waits until she answers.
    async fn says(&self, hall: &Hall, seat: &Player, text: &str) {
        let (bot, quiet) = (hall.discord.bot(), Duration::from_millis(700));
        seat.wait_for_silence(bot, quiet, BOUND).await.expect("it is quiet");
        seat.forget();
        let say = Slash::new("say").option("text", text).option("npc", "Tessa");
        hall.asks_in(&self.dm, self.guild.text, say).await;
        seat.wait_for_voice(bot, AUDIBLE, BOUND).await.expect("she answers");
    }

    async fn calls(&self, hall: &Hall, tool: &str) -> String {
        let call = Slash::new("tools call").option("tool", tool).option("npc", "Tessa");
        self.told(hall, call.option("arguments", BY_HAND)).await
    }

    /// Tries every command and completion that may show a tool or its server.
    async fn looks_everywhere(&self, hall: &Hall) {
        for slash in [
            Slash::new("tools allow").option("npc", "Tessa").option("tool", "home.*"),
            Slash::new("tools list").option("npc", "Tessa"),
            Slash::new("tools calibrate").option("tool", "home"),
            Slash::new("tools leaderboard"),
            Slash::new("tools permits"),
        ] {
            let path = format!("{slash:?}");
            let told = self.told(hall, slash).await;
            assert!(told.contains("home") || path.contains("permits"), "{path}: {told}");
        }
        for (path, option) in [
            ("tools call", "tool"),
            ("tools server remove", "name"),
            ("tools leaderboard", "category"),
        ] {
            let typing = Slash::new(path).option(option, "");
            let asked = hall.discord.autocomplete(&self.dm, self.guild.text, typing, option).await;
            let choices = asked.unwrap().wait_first(BOUND).await.unwrap().choices();
            let all: Vec<String> = choices.into_iter().map(|(name, _)| name).collect();
            self.is_clean(&all.join(" "));
            let own = format!("{}lore", self.own);
            assert!(all.iter().any(|it| it.contains("home") || *it == own), "{path}: {all:?}");
        }
    }
}

/// Two guilds, each with a server of its own under the name `home`, and one for both.
struct Stage {
    hall: Hall,
    sides: [Side; 2],
    homes: [Loopback; 2],
    far: Loopback,
    model: ChatServer,
}

impl Stage {
    async fn new() -> Self {
        let homes = [tool_server("zyx"), tool_server("qvw")];
        let (far, model) = (tool_server("farland"), ChatServer::start());
        model.otherwise(|_| Script::text(&["I have looked", "."]));
        let more = format!(
            "  trust_dms: true\nproviders:\n  llm: {{ name: openai, base_url: \"{}\", model: m }}\n\
             npcs:\n  - {{ name: Tessa, voice: {{ voice_id: slt }}, tools: [far.*], budget_tier: deep }}\n\
             mcp:\n  servers:\n    - {{ name: far, url: \"{}/mcp\" }}\n",
            model.base_url(),
            far.origin()
        );
        let mut hall = Hall::new(Options::default(), &more).await;
        let other = hall.discord.guild("The Sunken Oar");
        let theirs = other.owner();
        hall.start().await;
        let ports = homes.each_ref().map(|it| format!(":{}", it.port()));
        let [first, second] = ports;
        let sides = [
            Side {
                guild: hall.inn.clone(),
                dm: hall.dm.clone(),
                own: "zyx",
                others: ["qvw".to_owned(), second],
            },
            Side { guild: other, dm: theirs, own: "qvw", others: ["zyx".to_owned(), first] },
        ];
        Self { hall, sides, homes, far, model }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn guilds_with_equal_server_names_stay_separate() {
    let Stage { mut hall, sides, homes, far, model } = Stage::new().await;
    for (side, home) in sides.iter().zip(&homes) {
        let added = side.adds(&hall, "home", home).await;
        assert!(added.contains("Connecting 'home' for this server only"), "{added}");
    }
    let mut seats = Vec::new();
    for side in &sides {
        side.has_its_own(&hall).await;
        seats.push(side.starts(&hall).await);
    }
    for ((side, home), seat) in sides.iter().zip(&homes).zip(&seats) {
        side.looks_everywhere(&hall).await;
        let before = (calls(home), homes.iter().map(calls).sum::<usize>());
        let called = side.calls(&hall, "home.look").await;
        assert!(called.contains(&format!("{} is seen", side.own)), "{called}");
        let after = (calls(home), homes.iter().map(calls).sum::<usize>());
        assert_eq!(after, (before.0 + 1, before.1 + 1), "the other's was not called");
        // The request to a model that answers there.
        let seen = model.requests().len();
        side.says(&hall, seat, "what is there?").await;
        let asked = model.requests().split_off(seen);
        let wire: String = asked.iter().map(|it| String::from_utf8_lossy(&it.body)).collect();
        assert!(wire.contains(&format!("Looks at {}.", side.own)), "{wire}");
        side.is_clean(&wire);
    }
    shared_server_results_are_cached_per_guild(&hall, &sides, &far).await;

    // Servers of the other guild are absent, whatever is tried.
    let [first, second] = &sides;
    first.adds(&hall, "cellar", &homes[0]).await;
    for what in ["restart", "remove"] {
        let told = second.server(&hall, what, "cellar").await;
        assert!(told.contains("unknown tool server 'cellar'"), "{told}");
    }
    let told = second.server(&hall, "trust", "cellar").await;
    assert!(told.contains("'cellar' was not added here"), "{told}");
    let before = connections(&homes[0]);
    let told = second.server(&hall, "restart", "home").await;
    assert!(told.ends_with("Reconnecting 'home'."), "{told}");
    second.has_its_own(&hall).await;
    first.calls(&hall, "home.look").await;
    assert!(connections(&homes[0]) <= before + 1, "only 'cellar' has been connected since");

    // A server removed in one guild stays in the other, and added servers survive a restart.
    let told = first.server(&hall, "remove", "home").await;
    assert!(told.contains("Removed 'home'"), "{told}");
    // Its task ends, and takes the tools with it.
    let call = || Slash::new("tools call").option("tool", "home.look");
    first.until(&hall, call, "unknown tool 'home.look'").await;
    let told = second.calls(&hall, "home.look").await;
    assert!(told.contains("qvw is seen"), "{told}");
    assert_eq!(hall.program.take().unwrap().terminate(), 0);
    hall.start().await;
    second.has_its_own(&hall).await;
    let told = first.told(&hall, Slash::new("tools servers")).await;
    assert!(!told.contains("home"), "{told}");
    assert_eq!(hall.program.take().unwrap().terminate(), 0);
    assert_eq!(hall.discord.violations(), Vec::<String>::new());
}

async fn shared_server_results_are_cached_per_guild(
    hall: &Hall,
    sides: &[Side; 2],
    far: &Loopback,
) {
    for side in sides {
        let before = calls(far);
        for _ in 0..2 {
            let called = side.calls(hall, "far.look").await;
            assert!(called.contains("farland is seen"), "{called}");
        }
        assert_eq!(calls(far), before + 1, "asked once, and for each guild");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn configured_server_keeps_name_and_connection() {
    let Stage { mut hall, sides, homes, far, model: _model } = Stage::new().await;
    let [first, _] = &sides;
    first.until(&hall, || Slash::new("tools list"), "far.look").await;
    let told = first.adds(&hall, "far", &homes[0]).await;
    assert!(told.contains("'far' is reserved"), "{told}");
    let told = first.server(&hall, "restart", "far").await;
    assert!(told.contains("other servers use it too"), "{told}");
    let told = first.server(&hall, "remove", "far").await;
    assert!(told.contains("it is in glyphoxa.yaml"), "{told}");
    assert_eq!((connections(&far), connections(&homes[0])), (1, 0));

    // A name that the configuration takes later is taken from the guild that has it, with a notice.
    first.adds(&hall, "home", &homes[0]).await;
    first.has_its_own(&hall).await;
    let _seat = first.starts(&hall).await;
    let file = hall.place.path("glyphoxa.yaml");
    let text = std::fs::read_to_string(file).unwrap().replace("name: far", "name: home");
    hall.place.write("glyphoxa.yaml", text.replace("tools: [far.*]", "tools: [home.*]"));
    hall.reads(|it| it.text().contains("**home**, which was added here, is no longer connected"))
        .await;
    first.until(&hall, || Slash::new("tools servers"), "calls itself 'farland").await;
    let told = first.told(&hall, Slash::new("tools servers")).await;
    assert!(
        told.contains("home: added here, but not connected: a server in glyphoxa.yaml"),
        "{told}"
    );
    first.until(&hall, || Slash::new("tools list"), "home.look").await;
    let called = first.calls(&hall, "home.look").await;
    assert!(called.contains("farland is seen"), "{called}");
    assert_eq!(hall.program.take().unwrap().terminate(), 0);
    assert_eq!(hall.discord.violations(), Vec::<String>::new());
}

/// Two guilds that are to play worlds of their own, and a configured server whose header names the world.
async fn two_worlds(far: &Loopback) -> (Hall, [Side; 2]) {
    let more = format!(
        "npcs:\n  - {{ name: Tessa, voice: {{ voice_id: slt }}, tools: [far.*], budget_tier: deep }}\n\
         campaigns:\n  - {{ file: qvw.yaml, shared: true }}\n  - {{ file: zyx.yaml, shared: true }}\n\
         mcp:\n  servers:\n    - {{ name: far, url: \"{}/mcp\", headers: {{ X-World: \
         \"${{campaign.name}}\" }} }}\n",
        far.origin()
    );
    let mut hall = Hall::new(Options::default(), &more).await;
    for world in ["qvw", "zyx"] {
        hall.place.write(&format!("{world}.yaml"), format!("campaign: {{ name: {world} }}\n"));
    }
    let other = hall.discord.guild("The Sunken Oar");
    let theirs = other.owner();
    hall.start().await;
    let never = |other: &str| [other.to_owned(), format!("Looks at {other}")];
    let (inn, dm) = (hall.inn.clone(), hall.dm.clone());
    let first = Side { guild: inn, dm, own: "zyx", others: never("qvw") };
    let second = Side { guild: other, dm: theirs, own: "qvw", others: never("zyx") };
    (hall, [first, second])
}

/// A configured server whose header names the played world: a guild's world is in no request that another
/// one's session leads to, nor in what that is offered.
#[tokio::test(flavor = "multi_thread")]
async fn server_with_world_header_is_asked_per_session() {
    let far = world_server();
    let (mut hall, [first, second]) = two_worlds(&far).await;
    let mut seats = Vec::new();
    for side in [&first, &second] {
        let switch = Slash::new("campaign switch").option("name", side.own);
        hall.asks_in(&side.dm, side.guild.text, switch).await;
        let told = side.told(&hall, Slash::new("tools servers")).await;
        assert!(told.contains("waiting for a session"), "before it has one: {told}");
        seats.push(side.starts(&hall).await);
        side.until(&hall, || Slash::new("tools list"), "far.look").await;
    }
    let named = |name: &str, what: &str| {
        let asked = far.asked();
        let is_theirs = |it: &&Asked| world(it).as_deref() == Some(name) && it.rest.contains(what);
        asked.iter().filter(is_theirs).count()
    };
    for side in [&first, &second] {
        let told = side.told(&hall, Slash::new("tools servers")).await;
        assert!(told.contains(&format!("calls itself '{}", side.own)), "{told}");
        let called = side.calls(&hall, "far.look").await;
        assert!(called.contains(&format!("{} is seen", side.own)), "{called}");
        let told = side.server(&hall, "restart", "far").await;
        assert!(told.ends_with("Reconnecting 'far'."), "it disturbs nobody: {told}");
        let asked = Instant::now();
        while named(side.own, "\"initialize\"") < 2 {
            assert!(asked.elapsed() < BOUND, "it does not reconnect");
            side.told(&hall, Slash::new("tools servers")).await;
        }
        side.until(&hall, || Slash::new("tools list"), "far.look").await;
    }
    // Every request names one world, at connecting and otherwise.
    for world in ["zyx", "qvw"] {
        assert_eq!((named(world, "\"initialize\""), named(world, "\"by\":\"hand\"")), (2, 1));
        assert!(named(world, "\"tools/list\"") >= 2);
    }
    assert!(far.asked().iter().all(|it| world(it).is_some()), "{:?}", far.asked());

    let stop = Slash::new("session stop");
    hall.asks_in(&second.dm, second.guild.text, stop).await;
    let call = || Slash::new("tools call").option("tool", "far.look");
    second.until(&hall, call, "unknown tool 'far.look'").await;
    let told = second.told(&hall, Slash::new("tools servers")).await;
    assert!(told.contains("waiting for a session"), "{told}");
    let called = first.calls(&hall, "far.look").await;
    assert!(called.contains("zyx is seen"), "{called}");
    assert_eq!(hall.program.take().unwrap().terminate(), 0);
    assert_eq!(hall.discord.violations(), Vec::<String>::new());
}
