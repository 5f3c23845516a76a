//! `glyphoxa rehearse`: pages without a browser, at the real program's table.
//!
//! Entry type for other tests: [`Page`].

use std::time::Duration;

use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    runtime::Runtime,
    time::timeout,
};
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream, connect_async,
    tungstenite::{Message, client::IntoClientRequest, http::header},
};

use crate::support::program::Place;

/// Longest wait for a message.
const BOUND: Duration = Duration::from_secs(120);
/// Samples of a frame to pages.
const FRAME: u64 = 960;
/// Bytes of a frame of music: two channels.
const MUSIC_BYTES: usize = 3_840;

/// A page that plays at once all it is sent.
pub struct Page {
    pub socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    /// The turn whose sound comes.
    turn: u64,
    /// Samples of it so far.
    samples: u64,
    /// A frame of music was not silent.
    hears_music: bool,
    /// Events that no one has wanted yet.
    pub passed: Vec<Value>,
}

impl Page {
    /// Opens the socket of a browser with this cookie, and says hello.
    pub async fn open(host: &str, cookie: &str, name: &str) -> Self {
        let base = format!("http://{host}");
        let mut request = format!("ws://{host}/table").into_client_request().expect("an address");
        let headers = request.headers_mut();
        headers.insert(header::ORIGIN, base.parse().expect("a header"));
        headers.insert(header::COOKIE, cookie.parse().expect("a header"));
        let (socket, _) = connect_async(request).await.expect("a socket");
        let mut page = Self { socket, turn: 0, samples: 0, hears_music: false, passed: Vec::new() };
        page.send(&json!({ "type": "hello", "name": name })).await;
        page
    }

    pub async fn send(&mut self, event: &Value) {
        assert!(self.tries_to_send(Message::text(event.to_string())).await, "it is open");
    }

    /// Sends any message; false if the socket has ended.
    pub async fn tries_to_send(&mut self, message: Message) -> bool {
        self.socket.send(message).await.is_ok()
    }

    /// The next event of this kind that is `wanted`, among those passed over too; acknowledges sound
    /// meanwhile.
    pub async fn next(&mut self, kind: &str, wanted: fn(&Value) -> bool) -> Value {
        let is_wanted = |event: &Value| event["type"] == kind && wanted(event);
        if let Some(at) = self.passed.iter().position(is_wanted) {
            return self.passed.remove(at);
        }
        loop {
            match self.receives().await {
                Message::Binary(sound) if sound.len() == MUSIC_BYTES => self.listens(&sound),
                Message::Binary(sound) => {
                    self.samples += FRAME;
                    assert_eq!(sound.len() as u64, 2 * FRAME);
                    let (turn, samples) = (self.turn, self.samples);
                    let played = json!({ "type": "played", "turn": turn, "samples": samples });
                    self.send(&played).await;
                }
                Message::Text(text) => {
                    let event: Value = serde_json::from_str(&text).expect("JSON");
                    if event["type"] == "speech" {
                        self.turn = event["turn"].as_u64().expect("a number");
                        self.samples = 0;
                    }
                    if is_wanted(&event) {
                        return event;
                    }
                    self.passed.push(event);
                }
                _ => {}
            }
        }
    }

    async fn receives(&mut self) -> Message {
        let message = timeout(BOUND, self.socket.next()).await.expect("in time");
        message.expect("it is open").expect("a message")
    }

    fn listens(&mut self, music: &[u8]) {
        self.hears_music |= music.iter().any(|byte| *byte != 0);
    }

    /// Waits for music that sounds.
    async fn hears_music(&mut self) {
        while !self.hears_music {
            match self.receives().await {
                Message::Binary(sound) if sound.len() == MUSIC_BYTES => self.listens(&sound),
                Message::Text(text) => {
                    self.passed.push(serde_json::from_str(&text).expect("JSON"));
                }
                _ => {}
            }
        }
    }

    async fn orders(&mut self, command: &str) -> Value {
        self.send(&json!({ "type": "order", "command": command })).await;
        self.next("answer", |_| true).await
    }
}

/// Exchanges the token of a link for the cookie.
async fn enter(host: &str, token: &str) -> String {
    let body = json!({ "token": token }).to_string();
    let request = format!(
        "POST /enter HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\n\
         Content-Type: application/json\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len(),
    );
    let mut socket = TcpStream::connect(host).await.expect("it listens");
    socket.write_all(request.as_bytes()).await.expect("it reads");
    let mut answer = String::new();
    socket.read_to_string(&mut answer).await.expect("text");
    let cookie = answer.lines().find_map(|line| line.strip_prefix("set-cookie: "));
    cookie.unwrap_or_else(|| panic!("{answer}")).split(';').next().expect("a cookie").to_owned()
}

/// Host and cookie of a browser that opens the one-time link in `said`.
pub async fn enters(said: &str) -> (String, String) {
    let link = said.split_once("once: ").expect("a link").1.trim();
    let (base, token) = link.split_once("/#token=").expect("a link");
    let host = base.strip_prefix("http://").expect("an address").to_owned();
    let cookie = enter(&host, token).await;
    (host, cookie)
}

#[test]
fn page_talks_to_an_npc_and_gives_orders() {
    let place = Place::with_config(
        "npcs:\n  - name: Bartok\n    voice: { provider: flite, voice_id: rms }\n    \
         lines: [{ say: Well met. }]\n",
    )
    .brief();
    let live = place.start(&["rehearse", "--npc", "Bartok", "--port", "0", "--no-open"]);
    let said = live.says("this link lets one browser in, once: http://127.0.0.1:");
    Runtime::new().expect("a runtime").block_on(async {
        let (host, cookie) = enters(&said).await;
        let mut page = Page::open(&host, &cookie, "Ada").await;
        let welcome = page.next("welcome", |_| true).await;
        assert_eq!((&welcome["player"], &welcome["again"]), (&json!("Ada"), &json!(false)));
        assert_eq!(welcome["npcs"][0]["name"], "Bartok", "{welcome}");
        page.send(&json!({ "type": "say", "text": "Good evening." })).await;
        let said = page.next("said", |_| true).await;
        assert_eq!((&said["player"], &said["text"]), (&json!("Ada"), &json!("Good evening.")));
        let thinking = page.next("turn", |event| event["state"] == "thinking").await;
        let speech = page.next("speech", |_| true).await;
        assert_eq!((&speech["turn"], &speech["npc"]), (&thinking["turn"], &json!("Bartok")));
        let line = &page.next("line", |_| true).await["line"];
        let told = (&line["reply"], &line["outcome"], &line["turn"]);
        assert_eq!(told, (&json!("Well met."), &json!("spoken"), &thinking["turn"]));
        assert_eq!(page.orders("/xcard").await["ok"], true);
        let back = page.next("taken_back", |_| true).await;
        assert_eq!((&back["lines"], &back["removals"]), (&json!([1]), &json!(1)));
        let muted = page.orders("/npc mute Bartok").await;
        assert_eq!(muted["ok"], true, "{muted}");
        page.next("npcs", |event| event["npcs"][0]["muted"] == true).await;
        assert_eq!(page.orders("/nonsense").await["ok"], false);
        assert_eq!(page.orders("/music play rain").await["ok"], true);
        page.next("npcs", |event| event["music"]["playing"] == json!(["Rain"])).await;
        page.hears_music().await;
        assert_eq!(page.orders("/music stop").await["ok"], true);
        page.send(&json!({ "type": "tier", "tier": "deep" })).await;
        page.next("npcs", |event| event["npcs"][0]["tier"] == "deep").await;
        // A connection that comes again undoes no choice of its player.
        assert_eq!(page.orders("/privacy optout").await["ok"], true);
        let forgotten = page.next("forgotten", |_| true).await;
        assert_eq!((&forgotten["player"], &forgotten["removals"]), (&json!("Ada"), &json!(2)));
        drop(page);
        let mut page = Page::open(&host, &cookie, "Ada").await;
        page.next("notice", |event| event["text"].as_str().is_some_and(|it| it.contains("optin")))
            .await;
        page.send(&json!({ "type": "say", "text": "Good night." })).await;
        assert_eq!(page.next("answer", |_| true).await["ok"], false);
        assert_eq!(page.orders("/privacy optin").await["ok"], true);
        place.write("glyphoxa.yaml", "npcs:\n  - nmae: Bartok\n");
        let mistakes = page.next("mistakes", |_| true).await;
        assert_eq!(mistakes["files"][0]["line"], 2, "{mistakes}");
    });
    assert_eq!(live.terminate(), 0);
}
