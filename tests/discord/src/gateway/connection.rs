//! One socket of the gateway.
//!
//! Entry function: [`serve`]. Never: deciding which client gets which event.

use super::{
    identify::{self, Begun},
    order,
    session::Order,
};
use crate::{state::Shared, stream::Stream};
use futures::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use std::{collections::VecDeque, ops::ControlFlow, time::Duration};
use tokio::time::Instant;
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        Message,
        handshake::server::{Request, Response},
        protocol::CloseFrame,
    },
};

/// Payloads a client may send in [`PAYLOAD_WINDOW`].
const PAYLOADS: usize = 120;
/// See [`PAYLOADS`].
const PAYLOAD_WINDOW: Duration = Duration::from_secs(60);
/// The longest payload of a client, in bytes.
const PAYLOAD_BYTES: usize = 4096;
/// Close codes that say what the operator did wrong, not what the client did.
const OPERATOR: [u16; 2] = [4004, 4014];

/// A socket, and what is known of its client.
struct Connection<'a> {
    inner: &'a Shared,
    socket: WebSocketStream<Box<dyn Stream>>,
    number: u64,
    session: Option<String>,
    sent: u64,
    beat: Instant,
    payloads: VecDeque<Instant>,
}

/// State of the connection after a payload.
type Next = anyhow::Result<ControlFlow<()>>;

/// Talks with a client until one of the two has enough.
pub(crate) async fn serve(inner: &Shared, stream: Box<dyn Stream>) -> anyhow::Result<()> {
    let mut query = String::new();
    #[expect(clippy::result_large_err, reason = "the signature is tungstenite's")]
    let look = |request: &Request, response: Response| {
        query = request.uri().query().unwrap_or_default().to_owned();
        Ok(response)
    };
    let socket = tokio_tungstenite::accept_hdr_async(stream, look).await?;
    let number = inner.change(|state| {
        state.gateway.connections += 1;
        state.gateway.connections
    });
    let mut connection = Connection {
        inner,
        socket,
        number,
        session: None,
        sent: 0,
        beat: Instant::now(),
        payloads: VecDeque::new(),
    };
    let result = connection.talk(&query).await;
    connection.gone();
    result
}

impl Connection<'_> {
    /// The whole conversation.
    async fn talk(&mut self, query: &str) -> anyhow::Result<()> {
        let has = |pair: &str| query.split('&').any(|one| one == pair);
        if !has("v=10") && !has("v=9") {
            let why = format!("no known version in \"{query}\"");
            return self.close(4012, &why).await.map(drop);
        }
        if query.contains("compress=") || query.contains("encoding=") && !has("encoding=json") {
            let why = format!("only uncompressed JSON here, not \"{query}\"");
            return self.close(4002, &why).await.map(drop);
        }
        let interval = self.inner.options.heartbeat_interval;
        self.send(&json!({"op": 10, "s": null, "t": null, "d": {"heartbeat_interval": interval.as_millis()}})).await?;
        let mut bell = self.inner.bell.subscribe();
        loop {
            if self
                .inner
                .read(|state| state.frozen_until.is_some_and(|until| until > Instant::now()))
            {
                self.inner.thawed().await;
                self.beat = Instant::now();
            }
            let next = tokio::select! {
                changed = bell.changed() => { changed?; self.flush().await? }
                message = self.socket.next() => match message {
                    Some(Ok(message)) => self.hear(message).await?,
                    Some(Err(error)) => return Err(error.into()),
                    None => return Ok(()),
                },
                () = tokio::time::sleep_until(self.beat + interval.mul_f32(1.5)) => {
                    self.forget();
                    self.close(4009, "the client's heart stopped").await?
                }
            };
            if next.is_break() {
                return Ok(());
            }
        }
    }

    /// Sends what the session has for its client, and does what the test ordered.
    async fn flush(&mut self) -> Next {
        let Some(id) = &self.session else { return Ok(ControlFlow::Continue(())) };
        let (number, sent) = (self.number, self.sent);
        let taken = self.inner.quietly(|state| {
            let session = state.gateway.sessions.get_mut(id)?;
            if session.connection != Some(number) {
                return None;
            }
            let held = session.held;
            let events: Vec<_> = session.after(sent).take_while(|_| !held).cloned().collect();
            Some((events, std::mem::take(&mut session.orders)))
        });
        let Some((events, orders)) = taken else {
            return Ok(ControlFlow::Break(()));
        };
        for (number, text) in events {
            self.socket.feed(Message::text(text)).await?;
            self.sent = number;
        }
        self.socket.flush().await?;
        for order in orders {
            match order {
                Order::Send(payload) => {
                    self.send(&payload).await?;
                    if payload["op"] == 9 {
                        self.gone();
                    }
                }
                Order::Cut => return Ok(ControlFlow::Break(())),
                Order::Close(code) => {
                    self.farewell(code, "").await?;
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Hears one message of the client.
    async fn hear(&mut self, message: Message) -> Next {
        let text = match message {
            Message::Text(text) => text,
            Message::Binary(_) => return self.close(4002, "a binary payload").await,
            Message::Close(frame) => {
                if frame.is_some_and(|frame| [1000, 1001].contains(&u16::from(frame.code))) {
                    self.forget();
                }
                return Ok(ControlFlow::Break(()));
            }
            _ => return Ok(ControlFlow::Continue(())),
        };
        let now = Instant::now();
        self.payloads.retain(|at| *at + PAYLOAD_WINDOW > now);
        self.payloads.push_back(now);
        if self.payloads.len() > PAYLOADS {
            return self.close(4008, "more than 120 payloads in a minute").await;
        }
        if text.len() > PAYLOAD_BYTES {
            return self.close(4002, &format!("a payload of {} bytes", text.len())).await;
        }
        let payload = serde_json::from_str::<Value>(&text).unwrap_or_default();
        let Some(op) = payload["op"].as_u64() else {
            return self.close(4002, "a payload without \"op\"").await;
        };
        self.obey(op, &payload["d"]).await
    }

    /// Does what a payload asks for.
    async fn obey(&mut self, op: u64, data: &Value) -> Next {
        let begun = match (op, &self.session) {
            (1, _) => {
                self.beat = Instant::now();
                self.send(&json!({"op": 11, "s": null, "t": null, "d": null})).await?;
                return Ok(ControlFlow::Continue(()));
            }
            (2 | 6, Some(_)) => Err((4005, "identified twice".to_owned())),
            (2, None) => identify::identify(self.inner, self.number, data),
            (6, None) => identify::resume(self.inner, self.number, data),
            (_, None) => Err((4003, format!("op {op} before identifying"))),
            (_, Some(id)) => match order::obey(self.inner, id, op, data) {
                Ok(()) => return Ok(ControlFlow::Continue(())),
                Err(refusal) => Err(refusal),
            },
        };
        match begun {
            Ok(Begun::Session(id, seq)) => {
                self.session = Some(id);
                self.sent = seq;
                self.flush().await
            }
            Ok(Begun::Invalid) => {
                self.send(&json!({"op": 9, "s": null, "t": null, "d": false})).await?;
                Ok(ControlFlow::Continue(()))
            }
            Err((code, why)) => self.close(code, &why).await,
        }
    }

    /// Sends one payload.
    async fn send(&mut self, payload: &Value) -> anyhow::Result<()> {
        Ok(self.socket.send(Message::text(payload.to_string())).await?)
    }

    /// Closes because of what the client did, and notes it.
    async fn close(&mut self, code: u16, why: &str) -> Next {
        if !OPERATOR.contains(&code) {
            self.inner.change(|state| state.violation(format!("gateway {code}: {why}")));
        }
        self.farewell(code, why).await?;
        Ok(ControlFlow::Break(()))
    }

    /// Closes, and waits a moment for the other side to have read it.
    async fn farewell(&mut self, code: u16, why: &str) -> anyhow::Result<()> {
        let frame = CloseFrame { code: code.into(), reason: why.to_owned().into() };
        self.socket.close(Some(frame)).await?;
        let rest = async { while let Some(Ok(_)) = self.socket.next().await {} };
        let _ = tokio::time::timeout(Duration::from_secs(1), rest).await;
        Ok(())
    }

    /// The session is over: it cannot be resumed, and its user leaves the voice channels.
    fn forget(&mut self) {
        if let Some(id) = self.session.take() {
            self.inner.session_ended(&id);
        }
    }

    /// The socket is gone; the session waits to be resumed.
    fn gone(&mut self) {
        let Some(id) = self.session.take() else { return };
        let number = self.number;
        self.inner.change(|state| {
            if let Some(session) = state.gateway.sessions.get_mut(&id)
                && session.connection == Some(number)
            {
                session.connection = None;
            }
        });
    }
}
