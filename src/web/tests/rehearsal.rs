//! Pages in browsers, and those that only seem to be: who gets in, and what ends a socket.

use axum::http::{Request, header};
use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::{sync::mpsc, task::JoinHandle};
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{
        Error, Message, handshake::client::generate_key, protocol::frame::coding::CloseCode,
    },
};

use super::*;
use crate::web::rehearsal::{
    Joined, PageSent, Rehearsal,
    wire::{self, FromPage, ToPage},
};

const JSON: &str = "Content-Type: application/json";
const ORIGIN: &str = "http://localhost";

/// A listener with a page, and those who join.
struct Stage {
    door: Door,
    rehearsal: Rehearsal,
    joined: mpsc::Receiver<Joined>,
    stop: CancellationToken,
    _folder: tempfile::TempDir,
}

/// A browser's end of a socket; the task is its connection.
struct Browser {
    socket: WebSocketStream<DuplexStream>,
    task: JoinHandle<()>,
}

impl Stage {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (rehearsal, joined) = Rehearsal::open(folder.path()).unwrap();
        let stop = CancellationToken::new();
        let open = rehearsal.routes(false, stop.clone());
        let door = Door::beside(Bounds::default(), Router::new(), open).await;
        Self { door, rehearsal, joined, stop, _folder: folder }
    }

    /// The answer to the token of a link.
    async fn posted(&self, token: &str, header: &str) -> String {
        let origin = format!("Origin: {ORIGIN}");
        let body = json!({ "token": token }).to_string();
        self.door.says(&request("POST /enter", &[header, &origin, CLOSE], &body)).await
    }

    fn token(&self) -> String {
        let link = self.rehearsal.link(ORIGIN);
        link.split_once("/#token=").unwrap().1.to_owned()
    }

    /// The cookie of a browser that opened a link.
    async fn enter(&self) -> String {
        let answer = self.posted(&self.token(), JSON).await;
        assert_eq!(status(&answer), 204, "{answer}");
        let cookie = answer.lines().find_map(|it| it.strip_prefix("set-cookie: ")).unwrap();
        cookie.split(';').next().unwrap().to_owned()
    }

    /// Opens a socket with these headers; the status if it is refused.
    async fn open(&self, headers: &[(header::HeaderName, &str)]) -> Result<Browser, u16> {
        self.open_at("/table", headers).await
    }

    async fn open_at(
        &self,
        path: &str,
        headers: &[(header::HeaderName, &str)],
    ) -> Result<Browser, u16> {
        let (client, task) = self.door.connect();
        let mut request = Request::get(format!("ws://localhost{path}"))
            .header(header::CONNECTION, "keep-alive, Upgrade")
            .header(header::UPGRADE, "websocket")
            .header(header::SEC_WEBSOCKET_VERSION, "13")
            .header(header::SEC_WEBSOCKET_KEY, generate_key());
        if !headers.iter().any(|(name, _)| *name == header::HOST) {
            request = request.header(header::HOST, "localhost");
        }
        for (name, value) in headers {
            request = request.header(name, *value);
        }
        match client_async(request.body(()).unwrap(), client).await {
            Ok((socket, _)) => Ok(Browser { socket, task }),
            Err(Error::Http(response)) => Err(response.status().as_u16()),
            Err(error) => panic!("{error}"),
        }
    }

    async fn connect(&self, cookie: &str) -> Browser {
        self.connect_at("/table", cookie).await
    }

    async fn connect_at(&self, path: &str, cookie: &str) -> Browser {
        let headers = [(header::ORIGIN, ORIGIN), (header::COOKIE, cookie)];
        let opened = self.open_at(path, &headers).await;
        opened.unwrap_or_else(|status| panic!("refused: {status}"))
    }

    /// A page that has said hello, and the table's end of it.
    async fn page(&mut self) -> (Browser, Joined) {
        let cookie = self.enter().await;
        let mut browser = self.connect(&cookie).await;
        browser.say(&hello("Ada")).await;
        let joined = self.joined.recv().await.unwrap();
        (browser, joined)
    }
}

impl Browser {
    async fn say(&mut self, event: &Value) {
        self.socket.send(Message::text(event.to_string())).await.unwrap();
    }

    /// The next message but for pings.
    async fn next(&mut self) -> Option<Message> {
        loop {
            match self.socket.next().await?.ok()? {
                Message::Ping(_) => {}
                message => return Some(message),
            }
        }
    }

    /// The reason and the code with which the socket ends.
    async fn ends(mut self) -> (String, CloseCode) {
        let mut reason = String::new();
        while let Some(message) = self.next().await {
            match message {
                Message::Text(text) => {
                    let event: Value = serde_json::from_str(&text).unwrap();
                    reason = event["reason"].as_str().unwrap_or_default().to_owned();
                }
                Message::Close(frame) => {
                    let code = frame.unwrap().code;
                    assert!(self.next().await.is_none());
                    self.task.await.unwrap();
                    return (reason, code);
                }
                _ => {}
            }
        }
        panic!("no close: {reason}");
    }
}

fn hello(name: &str) -> Value {
    json!({ "type": "hello", "name": name })
}

#[tokio::test(start_paused = true)]
async fn page_joins_talks_and_comes_back() {
    let mut stage = Stage::new().await;
    let cookie = stage.enter().await;
    let mut browser = stage.connect(&cookie).await;
    browser.say(&hello("Ada")).await;
    let mut ada = stage.joined.recv().await.unwrap();
    assert_eq!((ada.name.as_str(), ada.again), ("Ada", false));
    assert_eq!(ada.page.player, 1);
    browser.say(&json!({ "type": "talk", "on": true })).await;
    let samples = vec![-2; wire::SAMPLES];
    browser.socket.send(Message::Binary(wire::sound(&samples))).await.unwrap();
    let talk = FromPage::Talk { on: true };
    assert_eq!(ada.sent.recv().await, Some(PageSent::Event(talk)));
    assert_eq!(ada.sent.recv().await, Some(PageSent::Sound(samples)));
    assert!(ada.page.send(&ToPage::Card { on: true }) && ada.page.sound(wire::sound(&[1, 2])));
    let card = Message::text(r#"{"type":"card","on":true}"#);
    assert_eq!(browser.next().await, Some(card));
    assert_eq!(browser.next().await, Some(Message::binary(vec![1, 0, 2, 0])));
    drop(browser.socket);
    assert_eq!(ada.sent.recv().await, None);
    browser.task.await.unwrap();
    // Until its player has left the table, no other one has its number.
    drop(ada);
    let mut back = stage.connect(&cookie).await;
    back.say(&hello("Ada")).await;
    let ada = stage.joined.recv().await.unwrap();
    assert_eq!((ada.page.player, ada.again), (1, true));
    drop(ada);
    assert_eq!(back.ends().await, ("the table is closed".to_owned(), CloseCode::Away));
}

#[tokio::test(start_paused = true)]
async fn page_takes_over_from_its_lost_connection() {
    let mut stage = Stage::new().await;
    let cookies = [stage.enter().await, stage.enter().await];
    let mut lost = stage.connect_at("/table?tab=a", &cookies[0]).await;
    lost.say(&hello("Ada")).await;
    let mut ada = stage.joined.recv().await.unwrap();
    // The other browser and the other tab are other players.
    let mut others = Vec::new();
    for (path, cookie) in [("/table?tab=a", &cookies[1]), ("/table?tab=b", &cookies[0])] {
        let mut other = stage.connect_at(path, cookie).await;
        other.say(&hello("Ben")).await;
        others.push((other, stage.joined.recv().await.unwrap()));
    }
    assert_eq!(others.iter().map(|(_, it)| it.page.player).collect::<Vec<_>>(), [2, 3]);
    let mut back = stage.connect_at("/table?tab=a", &cookies[0]).await;
    back.say(&hello("Ada")).await;
    assert_eq!(ada.sent.recv().await, None, "its lost connection ends");
    drop(ada);
    let ada = stage.joined.recv().await.unwrap();
    assert_eq!((ada.page.player, ada.again), (1, true));
    let (reason, code) = lost.ends().await;
    assert!(reason.contains("connected again") && code == CloseCode::Library(4000), "{reason}");
    assert!(others.iter().all(|(_, it)| !it.sent.is_closed()));
}

#[tokio::test(start_paused = true)]
async fn socket_is_for_our_page_alone() {
    let stage = Stage::new().await;
    let cookie = stage.enter().await;
    let forged = cookie.replacen(".1.", ".2.", 1);
    let (own, mine) = ((header::ORIGIN, ORIGIN), (header::COOKIE, cookie.as_str()));
    for (headers, expected) in [
        (vec![own.clone()], 401),
        (vec![own.clone(), (header::COOKIE, forged.as_str())], 401),
        (vec![mine.clone()], 403),
        (vec![mine.clone(), (header::ORIGIN, "https://evil.example")], 403),
        (vec![mine.clone(), (header::ORIGIN, "http://localhost:3000")], 403),
        (vec![mine.clone(), (header::ORIGIN, "null")], 403),
        (vec![mine.clone(), own.clone(), (header::HOST, "evil.example")], 421),
    ] {
        assert_eq!(stage.open(&headers).await.err(), Some(expected), "{headers:?}");
    }
    let (cookie, origin) = (format!("Cookie: {cookie}"), format!("Origin: {ORIGIN}"));
    let plain = request("GET /table", &[&cookie, &origin, CLOSE], "");
    assert_eq!(status(&stage.door.says(&plain).await), 426);
}

#[tokio::test(start_paused = true)]
async fn guessed_tokens_keep_no_browser_out() {
    let stage = Stage::new().await;
    let right = stage.token();
    let mut said = Vec::new();
    for _ in 0..12 {
        said.push(status(&stage.posted(&"A".repeat(43), JSON).await));
    }
    assert_eq!(said, [[401_u16; 10].as_slice(), &[429; 2]].concat());
    let form = "Content-Type: application/x-www-form-urlencoded";
    assert_eq!(status(&stage.posted(&right, form).await), 415);
    assert_eq!(status(&stage.posted(&right, JSON).await), 204);
    assert_eq!(status(&stage.posted(&right, JSON).await), 429, "it was used");
    let cookie = format!("{JSON}\r\nCookie: {}", stage.enter().await);
    assert_eq!(status(&stage.posted(&right, &cookie).await), 204, "a reload of a used link");
    let odd = request("POST /enter", &[JSON, CLOSE], r#"{"token":["x"]}"#);
    assert_eq!(status(&stage.door.says(&odd).await), 400);
}

#[tokio::test(start_paused = true)]
async fn old_link_says_how_to_get_another() {
    let stage = Stage::new().await;
    let old = stage.token();
    tokio::time::advance(Duration::from_secs(600)).await;
    let answer = stage.posted(&old, JSON).await;
    assert_eq!(status(&answer), 401);
    assert!(answer.contains("ten minutes") && answer.contains("press Enter"), "{answer}");
    assert_eq!(status(&stage.posted(&stage.token(), JSON).await), 204);
}

#[tokio::test(start_paused = true)]
async fn page_may_load_nothing_from_elsewhere() {
    let stage = Stage::new().await;
    let get =
        async |path: &str| stage.door.says(&request(&format!("GET {path}"), &[CLOSE], "")).await;
    let page = get("/").await;
    assert_eq!(status(&page), 200);
    for header in [
        "content-security-policy: default-src 'none'; script-src 'self';",
        "content-type: text/html; charset=utf-8",
        "permissions-policy: microphone=(self)",
        "x-content-type-options: nosniff",
        "x-frame-options: DENY",
        "cache-control: no-store",
    ] {
        assert_eq!(page.matches(header).count(), 1, "{header}: {page}");
    }
    assert!(get("/assets/app.js").await.contains("content-type: text/javascript; charset=utf-8"));
    for nothing in ["/assets/x", "/assets/..%2fmod.rs", "/assets/%2e%2e/app.js", "/assets/app.js/"]
    {
        assert!([401, 404].contains(&status(&get(nothing).await)), "{nothing}");
    }
}

#[tokio::test(start_paused = true)]
async fn page_too_many_waits_for_a_place() {
    let stage = Stage::new().await;
    let cookie = stage.enter().await;
    let mut open = Vec::new();
    for _ in 0..64 {
        open.push(stage.connect(&cookie).await);
    }
    let headers = [(header::ORIGIN, ORIGIN), (header::COOKIE, cookie.as_str())];
    assert_eq!(stage.open(&headers).await.err(), Some(503));
    let first = open.remove(0);
    drop(first.socket);
    first.task.await.unwrap();
    assert!(stage.open(&headers).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn page_without_hello_is_cut_off() {
    let stage = Stage::new().await;
    let cookie = stage.enter().await;
    let (reason, code) = stage.connect(&cookie).await.ends().await;
    assert!(reason.contains("did not say hello") && code == CloseCode::Policy, "{reason}");
    let mut other = stage.connect(&cookie).await;
    other.say(&json!({ "type": "talk", "on": true })).await;
    assert!(other.ends().await.0.contains("did not say hello"));
}

#[tokio::test(start_paused = true)]
async fn odd_messages_end_their_socket() {
    let mut stage = Stage::new().await;
    for (message, expected) in [
        (Message::text("{\"type\":\"shutdown\"}"), "unknown event"),
        (Message::text("[".repeat(50_000)), "nested too deep"),
        (Message::binary(vec![0; 641]), "641 bytes of sound"),
    ] {
        let (mut browser, _joined) = stage.page().await;
        browser.socket.send(message).await.unwrap();
        let (reason, code) = browser.ends().await;
        assert!(reason.contains(expected) && code == CloseCode::Unsupported, "{reason}");
    }
}

/// Sends `messages` until the socket ends; returns the reason.
async fn refused(browser: Browser, messages: impl IntoIterator<Item = Message>) -> String {
    let (mut sink, mut stream) = browser.socket.split();
    let sending = async {
        for message in messages {
            if sink.send(message).await.is_err() {
                break;
            }
        }
    };
    let reading = async {
        match stream.next().await {
            Some(Ok(Message::Text(text))) => text.to_string(),
            other => panic!("{other:?}"),
        }
    };
    tokio::join!(reading, sending).0
}

#[tokio::test(start_paused = true)]
async fn big_messages_are_not_read() {
    let mut stage = Stage::new().await;
    let (browser, _joined) = stage.page().await;
    let big = Message::binary(vec![0; 1 << 20]);
    let reason = refused(browser, [big]).await;
    assert!(reason.contains("too long"), "{reason}");
}

#[tokio::test(start_paused = true)]
async fn page_that_floods_is_cut_off() {
    let mut stage = Stage::new().await;
    let (browser, mut joined) = stage.page().await;
    let flood = (0..2_000).map(|_| Message::text(r#"{"type":"talk","on":true}"#));
    let taking = async {
        let mut taken = 0;
        while joined.sent.recv().await.is_some() {
            taken += 1;
        }
        taken
    };
    let (reason, taken) = tokio::join!(refused(browser, flood), taking);
    assert!(reason.contains("too much at once"), "{reason}");
    assert!((200..400).contains(&taken), "{taken}");
}

#[tokio::test(start_paused = true)]
async fn slow_page_is_cut_off() {
    let mut stage = Stage::new().await;
    let (browser, mut joined) = stage.page().await;
    let frame = wire::sound(&[0; 960]);
    let taken = (0..10_000).take_while(|_| joined.page.sound(frame.clone())).count();
    assert!(taken < 1_000, "{taken}");
    // The browser reads nothing.
    assert_eq!(joined.sent.recv().await, None);
    browser.task.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn silent_page_is_gone() {
    let mut stage = Stage::new().await;
    let (browser, mut joined) = stage.page().await;
    // The browser answers no pings.
    assert_eq!(joined.sent.recv().await, None);
    browser.task.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn page_learns_that_the_program_ends() {
    let mut stage = Stage::new().await;
    let (browser, _joined) = stage.page().await;
    stage.stop.cancel();
    stage.door.shared.stop.cancel();
    assert_eq!(browser.ends().await, ("the program ends".to_owned(), CloseCode::Away));
}
