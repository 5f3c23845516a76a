//! Decisions of a game master on Discord about calls that outside words may have led to.

use std::fs;

use discord_loopback::{Message, Options, Player, Slash};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

use crate::{
    bot::hall::{BOUND, Hall},
    support::{
        chat_server::{ChatServer, Script},
        program::{Live, Place, repository},
    },
    third_party::free_port,
};

use super::servers::has_python;

/// Name a server would like to have, so that its tool goes unseen.
const HIDDEN: &str = "a\u{202e}b\u{200b}```c";

/// An NPC that hears the hostile server and then does what its arguments say; `more` goes into the
/// file.
fn with_words(hall: &str, more: &str) -> String {
    let server = repository("tests/support/mcp/words.py");
    let (long, hidden) = ("x".repeat(3_000), serde_json::json!(HIDDEN));
    format!(
        "tools:\n  approvals: {{ expire_seconds: 600{more} }}\nmcp:\n  servers:\n    - {{ name: home, command: \
         \"python3 '{}' stdio\", sandbox: off, env: {{ CALLS: \"{hall}\" }} }}\nnpcs:\n  - name: Tessa\n    \
         tools: [\"home.*\"]\n    budget_tier: deep\n    lines:\n      - {{ when: [listen], tool: {{ name: \
         home.says }}, say: \"I hear.\" }}\n      - {{ when: [sweep], tool: {{ name: home.dust, \
         arguments: {{ text: {hidden} }} }}, say: \"I ask.\" }}\n      - {{ when: [scrub], tool: {{ \
         name: home.dust, arguments: {{ text: \"{long}\" }} }}, say: \"I ask.\" }}\n      - say: \"Hm.\"\n",
        server.display()
    )
}

fn say(text: &str) -> Slash {
    Slash::new("say").option("text", text).option("npc", "Tessa")
}

impl Hall {
    /// Calls at the server.
    fn called(&self, tool: &str) -> Vec<String> {
        let noted = fs::read_to_string(self.place.path("calls")).unwrap_or_default();
        noted.lines().filter(|it| it.starts_with(tool)).map(str::to_owned).collect()
    }

    /// Asks the bot something until `done`.
    async fn until(&self, slash: &str, done: impl Fn(&str) -> bool) {
        let waiting = async { while !done(&self.told(&self.dm, Slash::new(slash)).await) {} };
        tokio::time::timeout(BOUND, waiting).await.expect("in time");
    }

    /// Tessa has heard the server once.
    async fn has_listened(&self) {
        self.until("tools servers", |told| told.contains("ready")).await;
        // Tools that were never measured are not offered when an answer has to be quick.
        self.told(&self.dm, Slash::new("tier set").option("tier", "deep")).await;
        // The next line to her waits until she has listened.
        self.asks(&self.dm, say("listen to it")).await;
    }

    /// The next request that can be decided, after the messages of these ids.
    async fn request(&self, but: &[u64]) -> Message {
        self.reads(|it| {
            it.content().contains("wants to call `home.dust`")
                && it.button("Deny").is_some()
                && !but.contains(&it.id)
        })
        .await
    }

    async fn calls_dust(&self, times: usize) {
        self.until("session status", |_| self.called("dust").len() >= times).await;
        assert_eq!(self.called("dust").len(), times);
    }
}

/// A hall whose place is known before its file is written; `more` belongs to `approvals`.
async fn hall(more: &str) -> (Hall, Player) {
    hall_with(more, "").await
}

/// Like `hall`; `top` is the file's own.
async fn hall_with(more: &str, top: &str) -> (Hall, Player) {
    let mut hall = Hall::new(Options::default(), "").await;
    let calls = hall.place.path("calls").display().to_string();
    let file = fs::read_to_string(hall.place.path("glyphoxa.yaml")).unwrap();
    hall.place.write("glyphoxa.yaml", format!("{file}\n{top}\n{}", with_words(&calls, more)));
    let dora = hall.listens().await;
    (hall, dora)
}

#[tokio::test(flavor = "multi_thread")]
async fn always_approval_asks_once_and_can_be_revoked() {
    let (hall, _dora) = hall("").await;
    hall.has_listened().await;
    hall.asks(&hall.dm, say("sweep now")).await;
    let request = hall.request(&[]).await;
    // Nothing is hidden, nothing ends the block, and it is the same JSON.
    let shown = request.content();
    let json = shown.split_once("```json\n").and_then(|(_, rest)| rest.split_once("\n```"));
    let (json, rest) = json.expect("a block");
    assert!(json.contains(r"a\u202eb\u200b\u0060\u0060\u0060c") && rest.is_empty(), "{shown}");
    let meant: serde_json::Value = serde_json::from_str(json).unwrap();
    assert_eq!(meant["text"], HIDDEN);
    // Another server's owner cannot decide.
    let other = hall.discord.guild("The Sunken Oar");
    let mallory = other.owner();
    let ids = request.components();
    for id in ids.iter().filter_map(|it| it["custom_id"].as_str()) {
        let forged = hall.discord.forge(&mallory, other.text, id).await.expect("it is sent");
        let answer = forged.wait_final(BOUND).await.expect("an answer");
        assert!(answer.ephemeral() && !answer.text().contains("dust"), "{id}: {}", answer.text());
    }
    assert_eq!(hall.called("dust"), Vec::<String>::new());
    let pressed = hall.presses(&hall.dm, &request, "Always for this tool").await.text();
    assert!(pressed.contains("Approved for good"), "{pressed}");
    hall.calls_dust(1).await;
    assert_eq!(hall.called("dust"), [format!("dust {{\"text\":{}}}", serde_json::json!(HIDDEN))]);
    // It no longer asks.
    hall.asks(&hall.dm, say("sweep again")).await;
    hall.calls_dust(2).await;
    let listed = hall.told(&hall.dm, Slash::new("tools permits")).await;
    assert!(listed.contains(r"home.dust\: needs no approval"), "{listed}");
    let theirs = hall.told_in(&mallory, other.text, Slash::new("tools permits")).await;
    assert!(!theirs.contains("home.dust"), "{theirs}");
    let revoke = || Slash::new("tools revoke").option("tool", "home.dust");
    let none = hall.told_in(&mallory, other.text, revoke()).await;
    assert!(none.contains("was not allowed for good"), "{none}");
    assert!(hall.told(&hall.dm, revoke()).await.contains("home.dust asks again"));
    assert!(hall.told(&hall.dm, revoke()).await.contains("was not allowed for good"));
    // Arguments too long for a message become a file, and the message says so.
    hall.asks(&hall.dm, say("scrub now")).await;
    let long = hall.request(&[request.id]).await;
    assert!(long.content().contains("`arguments.json`"), "{long:?}");
    let file = &long.json()["attachments"][0];
    assert_eq!(file["filename"], "arguments.json");
    assert!(file["size"].as_u64() > Some(3_000), "{file}");
    assert!(hall.presses(&hall.dm, &long, "Deny").await.text().contains("Denied by Dora"));
    assert_eq!(hall.called("dust").len(), 2);
    hall.ends();
}

#[tokio::test(flavor = "multi_thread")]
async fn pending_approval_can_be_decided_after_kill() {
    let hook = ChatServer::start();
    hook.otherwise(|_| Script::json(200, &serde_json::json!({})));
    let notify = format!(
        ", notify: {{ url: \"{}/hook?key=1\", secret: \"open sesame\" }}",
        hook.base_url().trim_end_matches("/v1")
    );
    let (mut hall, _dora) = hall(&notify).await;
    hall.has_listened().await;
    hall.asks(&hall.dm, say("sweep now")).await;
    let request = hall.request(&[]).await;
    hook.received(1).await;
    let told = &hook.requests()[0];
    assert_eq!(told.line, "POST /hook?key=1");
    let guild = hall.inn.id.to_string();
    let expected = serde_json::json!({"event": "approval_needed", "npc": "Tessa", "tool": "home.dust",
        "guild": guild});
    assert_eq!(told.json, expected, "and nothing of the arguments");
    let header = |name: &str| {
        let found = told.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.clone()).unwrap_or_else(|| panic!("no {name}: {told:?}"))
    };
    let mut mac = Hmac::<Sha256>::new_from_slice(b"open sesame").unwrap();
    mac.update(format!("{}.", header("x-glyphoxa-timestamp")).as_bytes());
    mac.update(&told.body);
    let hex: String = mac.finalize().into_bytes().iter().map(|it| format!("{it:02x}")).collect();
    assert_eq!(header("x-glyphoxa-signature"), format!("sha256={hex}"));
    // The buttons of a program that is gone work in the next one, once.
    hall.told(&hall.dm, Slash::new("session status")).await;
    hall.program.take().unwrap().kill();
    hall.start().await;
    hall.until("tools servers", |told| told.contains("ready")).await;
    assert!(hall.called("dust").is_empty());
    let anna = hall.inn.add_member("Anna", &[]);
    let refused = hall.presses(&anna, &request, "Approve").await.text();
    assert!(refused.contains("only game masters"), "{refused}");
    let pressed = hall.presses(&hall.dm, &request, "Approve").await.text();
    assert!(pressed.contains("Approved by Dora"), "{pressed}");
    hall.reads(|it| it.content().contains("`home.dust`, as approved for Tessa")).await;
    hall.calls_dust(1).await;
    assert_eq!(hall.called("dust"), [format!("dust {{\"text\":{}}}", serde_json::json!(HIDDEN))]);
    assert_eq!(hall.program.take().unwrap().terminate(), 0);
    hall.start().await;
    let late = request.button("Approve").unwrap()["custom_id"].as_str().unwrap().to_owned();
    let pressed = hall.discord.press(&hall.dm, hall.inn.text, request.id, &late).await;
    assert!(pressed.is_err(), "its buttons are gone");
    hall.calls_dust(1).await;
    assert_eq!(hall.program.take().unwrap().terminate(), 0);
}

/// Sends a decision to the address of a notification; the status of the answer.
async fn sends(url: &str, decision: &Value) -> u16 {
    let (address, path) =
        url.trim_start_matches("http://").split_once('/').expect("an address with a path");
    let mut socket = TcpStream::connect(address).await.expect("the listener");
    let body = decision.to_string();
    let request = format!(
        "POST /{path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    socket.write_all(request.as_bytes()).await.expect("it is taken");
    let mut answer = String::new();
    let read = timeout(BOUND, socket.read_to_string(&mut answer)).await;
    read.expect("in time").expect("an answer");
    answer.split(' ').nth(1).and_then(|it| it.parse().ok()).expect("a status")
}

#[tokio::test(flavor = "multi_thread")]
async fn notified_system_decides_each_call_once() {
    let hook = ChatServer::start();
    hook.otherwise(|_| Script::json(200, &json!({})));
    let to = hook.base_url();
    let notify = format!(", notify: {{ url: \"{to}/hook\", secret: \"open sesame\" }}");
    let web = format!("web: {{ listen: \"127.0.0.1:{}\" }}", free_port());
    let (mut hall, _dora) = hall_with(&notify, &web).await;
    let address = |told: usize| {
        let json = hook.requests()[told].json.clone();
        assert!(json["decide"]["expires"].as_i64() > Some(0), "{json}");
        json["decide"]["url"].as_str().expect("an address").to_owned()
    };
    hall.has_listened().await;
    hall.asks(&hall.dm, say("sweep now")).await;
    let request = hall.request(&[]).await;
    hook.received(1).await;
    let url = address(0);
    assert_eq!(sends(&url, &json!({"decision": "always"})).await, 400);
    let complete = json!({"decision": "complete", "result": "The dust is gone."});
    assert_eq!(sends(&url, &complete).await, 200);
    assert_eq!(sends(&url, &json!({"decision": "allow"})).await, 404);
    let decided = "in place of the tool by the notified system";
    let closed = hall.reads(|it| it.id == request.id && it.content().contains(decided)).await;
    assert!(closed.components().is_empty(), "{closed:?}");
    // The address of a call that outlives the program does so too.
    hall.asks(&hall.dm, say("sweep again")).await;
    hall.request(&[request.id]).await;
    hook.received(2).await;
    let url = address(1);
    hall.told(&hall.dm, Slash::new("session status")).await;
    hall.program.take().unwrap().kill();
    hall.start().await;
    hall.until("tools servers", |told| told.contains("ready")).await;
    assert_eq!(hall.called("dust"), Vec::<String>::new());
    assert_eq!(sends(&url, &json!({"decision": "allow"})).await, 200);
    hall.reads(|it| it.content().contains("`home.dust`, as approved for Tessa")).await;
    hall.calls_dust(1).await;
    assert_eq!(hall.program.take().unwrap().terminate(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn pending_approval_expires_despite_restart() {
    let (mut hall, _dora) = hall("").await;
    hall.has_listened().await;
    let file = fs::read_to_string(hall.place.path("glyphoxa.yaml")).unwrap();
    let soon = file.replace("expire_seconds: 600", "expire_seconds: 5");
    hall.place.write("glyphoxa.yaml", soon);
    assert_eq!(hall.program.take().unwrap().terminate(), 0);
    hall.start().await;
    let answer = hall.asks(&hall.dm, Slash::new("session start")).await;
    assert!(answer.text().contains("I listen"), "{}", answer.text());
    hall.has_listened().await;
    hall.asks(&hall.dm, say("sweep now")).await;
    let request = hall.request(&[]).await;
    let kept = |_: &str| {
        let id = request.id.to_string();
        ["data/memory.db", "data/memory.db-wal"].iter().any(|file| {
            let bytes = fs::read(hall.place.path(file)).unwrap_or_default();
            bytes.windows(id.len()).any(|window| window == id.as_bytes())
        })
    };
    hall.until("session status", kept).await;
    assert_eq!(hall.program.take().unwrap().terminate(), 0);
    hall.start().await;
    let closed = hall.reads(|it| it.id == request.id && it.content().contains("Expired")).await;
    assert!(closed.components().is_empty(), "{closed:?}");
    assert!(hall.called("dust").is_empty());
    assert_eq!(hall.program.take().unwrap().terminate(), 0);
}

/// At a terminal: "always" is asked once, over sessions and as long as the tool is the same.
#[test]
fn terminal_always_lasts_until_revoked() {
    if !has_python() {
        return;
    }
    let place = Place::new();
    let calls = place.path("calls").display().to_string();
    place.write("glyphoxa.yaml", with_words(&calls, ""));
    let called = || fs::read_to_string(&calls).unwrap_or_default().matches("dust").count();
    let begin = || {
        let mut live = place.start_at_terminal(&["ask", "--verbose", "--as-dm", "--tier", "deep"]);
        live.says("server ready");
        live.types("Tessa, listen to it");
        live.says("I hear.");
        live
    };
    let leave = |mut live: Live| {
        live.types("\u{4}");
        assert_eq!(live.leave(), 0);
    };
    let mut live = begin();
    live.types("Tessa, sweep now");
    live.says("a = always for this tool");
    live.types("a");
    live.says("home.dust");
    leave(live);
    assert_eq!(called(), 1);
    // Another session, without a name, does not ask.
    let mut live = begin();
    live.types("Tessa, sweep now");
    live.says("I ask.");
    live.types("/tools permits");
    live.says("home.dust: needs no approval");
    assert_eq!(called(), 2);
    live.types("/tools revoke home.dust");
    live.says("home.dust asks again");
    live.types("Tessa, sweep now");
    live.says("a = always for this tool");
    live.types("n");
    leave(live);
    assert_eq!(called(), 2);
}
