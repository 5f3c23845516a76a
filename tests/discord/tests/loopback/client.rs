//! A client that only knows HTTP and web sockets.

use discord_loopback::Discord;
use futures::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::{net::TcpStream, time::timeout};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, tungstenite::Message};

/// Longest wait of these tests.
pub const SOON: Duration = Duration::from_secs(60);
/// Guilds, voice states, messages in guilds and direct ones.
pub const INTENTS: u64 = 1 | 1 << 7 | 1 << 9 | 1 << 12;

/// A REST client with a token.
#[derive(Clone)]
pub struct Rest {
    http: reqwest::Client,
    base: String,
    token: String,
}

impl Rest {
    /// The bot's, over plain HTTP.
    pub fn new(discord: &Discord) -> Self {
        Self::with_token(discord, &discord.token())
    }

    /// A client with this token.
    pub fn with_token(discord: &Discord, token: &str) -> Self {
        let base = format!("{}/api/v10", discord.http_base());
        let http = reqwest::Client::builder().timeout(Duration::from_secs(60)).build().unwrap();
        Self { http, base, token: format!("Bot {token}") }
    }

    /// Asks; the answer as it is.
    pub async fn raw(
        &self,
        method: &str,
        path: &str,
        body: Option<Value>,
    ) -> reqwest::Result<reqwest::Response> {
        let mut request =
            self.http.request(method.parse().unwrap(), format!("{}{path}", self.base));
        request = request.header("authorization", &self.token);
        if let Some(body) = body {
            request = request.header("content-type", "application/json").body(body.to_string());
        }
        request.send().await
    }

    /// Asks with a form.
    pub async fn form(&self, path: &str, form: reqwest::multipart::Form) -> (u16, Value) {
        let request =
            self.http.post(format!("{}{path}", self.base)).header("authorization", &self.token);
        read(request.multipart(form).send().await.unwrap()).await
    }

    /// Asks; status and JSON of the answer.
    pub async fn ask(&self, method: &str, path: &str, body: Value) -> (u16, Value) {
        let body = Some(body).filter(|body| !body.is_null());
        read(self.raw(method, path, body).await.unwrap()).await
    }

    /// Asks without a body.
    pub async fn get(&self, path: &str) -> (u16, Value) {
        self.ask("GET", path, Value::Null).await
    }
}

/// Status and JSON.
async fn read(response: reqwest::Response) -> (u16, Value) {
    let status = response.status().as_u16();
    (status, serde_json::from_str(&response.text().await.unwrap()).unwrap_or_default())
}

/// A gateway client.
pub struct Gateway {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    /// The last event's number.
    pub seq: u64,
}

impl Gateway {
    /// Connects and hears hello.
    pub async fn connect(discord: &Discord) -> Self {
        let url = format!("{}/?v=10&encoding=json", discord.gateway_url());
        let (socket, _) = tokio_tungstenite::connect_async(url).await.unwrap();
        let mut gateway = Self { socket, seq: 0 };
        assert_eq!(gateway.next().await.unwrap()["op"], 10);
        gateway
    }

    /// Connects and identifies as the bot.
    pub async fn bot(discord: &Discord) -> (Self, Value) {
        Self::identified(discord, &discord.token(), INTENTS).await
    }

    /// Connects and identifies; also what `READY` said.
    pub async fn identified(discord: &Discord, token: &str, intents: u64) -> (Self, Value) {
        let mut gateway = Self::connect(discord).await;
        gateway.identify(token, intents).await;
        let ready = gateway.event("READY").await;
        (gateway, ready)
    }

    /// Connects and identifies as shard `number` of `total` of the bot; also what `READY` said.
    pub async fn shard(discord: &Discord, number: u64, total: u64) -> (Self, Value) {
        let mut gateway = Self::connect(discord).await;
        gateway.identify_shard(&discord.token(), json!([number, total])).await;
        let ready = gateway.event("READY").await;
        (gateway, ready)
    }

    /// Sends op 2.
    pub async fn identify(&mut self, token: &str, intents: u64) {
        let properties = json!({"os": "linux", "browser": "bare", "device": "bare"});
        self.send(2, json!({"token": token, "intents": intents, "properties": properties})).await;
    }

    /// Sends op 2 with a shard.
    pub async fn identify_shard(&mut self, token: &str, shard: Value) {
        let properties = json!({"os": "linux", "browser": "bare", "device": "bare"});
        let data =
            json!({"token": token, "intents": INTENTS, "properties": properties, "shard": shard});
        self.send(2, data).await;
    }

    /// Sends a payload.
    pub async fn send(&mut self, op: u64, data: Value) {
        let payload = json!({"op": op, "d": data}).to_string();
        self.socket.send(Message::text(payload)).await.unwrap();
    }

    /// The next payload; the close code if there is none, 0 if the socket just ended.
    pub async fn next(&mut self) -> Result<Value, u16> {
        loop {
            match timeout(SOON, self.socket.next()).await.unwrap() {
                Some(Ok(Message::Text(text))) => {
                    let payload: Value = serde_json::from_str(&text).unwrap();
                    self.seq = payload["s"].as_u64().unwrap_or(self.seq);
                    return Ok(payload);
                }
                Some(Ok(Message::Close(Some(frame)))) => return Err(frame.code.into()),
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return Err(0),
            }
        }
    }

    /// The data of the next event of this kind.
    pub async fn event(&mut self, name: &str) -> Value {
        loop {
            let payload = self.next().await.unwrap();
            if payload["t"] == name {
                return payload["d"].clone();
            }
        }
    }

    /// All names of events until a heartbeat comes back: what has been sent so far.
    pub async fn so_far(&mut self) -> Vec<String> {
        self.send(1, json!(self.seq)).await;
        let mut names = Vec::new();
        loop {
            let payload = self.next().await.unwrap();
            if payload["op"] == 11 {
                return names;
            }
            names.extend(payload["t"].as_str().map(str::to_owned));
        }
    }

    /// The code the socket is closed with.
    pub async fn closed(&mut self) -> u16 {
        loop {
            if let Err(code) = self.next().await {
                return code;
            }
        }
    }
}
