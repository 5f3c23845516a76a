//! A player's web socket to the voice gateway, version 8.
//!
//! Entry: [`Line::run`], until it is cancelled. A socket that is lost or closed resumably is
//! resumed; any other close ends the connection until the player is sent elsewhere.
//! Never touches sound.

use super::{
    Seat,
    dave::Dave,
    ears,
    shared::{Command, Link, Shared},
    wires::Wires,
};
use crate::voice::{Mode, transport::Transport};
use anyhow::Context as _;
use futures::StreamExt as _;
use serde_json::{Value, json};
use std::{net::SocketAddr, sync::Arc, time::Duration};
use tokio::{
    net::UdpSocket,
    sync::mpsc,
    task::JoinSet,
    time::{interval, sleep},
};
use tokio_rustls::TlsConnector;
use tokio_tungstenite::tungstenite::Message;
use tokio_util::sync::CancellationToken;

/// Between two attempts to resume.
const PAUSE: Duration = Duration::from_millis(200);

/// End of a connection.
enum End {
    /// It may be resumed.
    Resume,
    /// It is over.
    Over,
    /// Another server is wanted.
    Moved,
    /// The player leaves.
    Left,
}

/// One player's line.
pub(super) struct Line {
    /// Its seat in a voice channel.
    seat: Seat,
    /// Trusts the server's certificate.
    tls: TlsConnector,
    /// The mode wanted; none takes the server's first.
    mode: Option<Mode>,
    /// State shared with its other tasks.
    shared: Arc<Shared>,
    /// Its orders.
    orders: mpsc::Receiver<Command>,
    /// The last number the server has used; −1 before.
    seq: i32,
    /// True if there is a session to resume.
    resumable: bool,
    /// Between READY and SESSION DESCRIPTION.
    udp: Option<(Arc<UdpSocket>, u32)>,
    /// Hears.
    ears: JoinSet<()>,
}

impl Line {
    /// A line that is not yet up.
    pub(super) fn new(
        seat: Seat,
        tls: TlsConnector,
        mode: Option<Mode>,
        shared: Arc<Shared>,
        orders: mpsc::Receiver<Command>,
    ) -> Self {
        let ears = JoinSet::new();
        Self { seat, tls, mode, shared, orders, seq: -1, resumable: false, udp: None, ears }
    }

    /// Keeps the line up until the player leaves.
    pub(super) async fn run(mut self, left: CancellationToken) {
        loop {
            let end = match self.connection(&left).await {
                Ok(end) => end,
                Err(error) if self.resumable => {
                    tracing::debug!(%error, "a player's voice socket was lost");
                    End::Resume
                }
                Err(error) => {
                    self.shared.change(|state| {
                        state.failure.get_or_insert(format!("{error:#}"));
                    });
                    End::Over
                }
            };
            match end {
                End::Resume => sleep(PAUSE).await,
                End::Moved => {}
                End::Left => return,
                End::Over => {
                    self.over();
                    let moved = tokio::select! {
                        () = left.cancelled() => return,
                        moved = self.next_server() => moved,
                    };
                    if !moved {
                        return;
                    }
                }
            }
        }
    }

    /// The connection is over: nothing is left to resume.
    fn over(&mut self) {
        (self.resumable, self.seq, self.udp) = (false, -1, None);
        self.ears.abort_all();
        let dave = Dave::new(self.seat.user, self.seat.channel);
        self.shared.change(|state| {
            (state.link, state.dave) = (None, dave);
            state.sources.clear();
        });
    }

    /// Waits for another server; false if the player has gone.
    async fn next_server(&mut self) -> bool {
        while let Some(command) = self.orders.recv().await {
            if self.moved(command) {
                return true;
            }
        }
        false
    }

    /// From now on it is another place, if this order says so.
    fn moved(&mut self, command: Command) -> bool {
        match command {
            Command::Speaking(..) => return false,
            Command::Server { endpoint, token } => {
                (self.seat.endpoint, self.seat.token) = (endpoint, token);
            }
            Command::Seat(seat) => self.seat = seat,
        }
        self.shared.change(|state| {
            state.failure = None;
            state.moves -= 1;
        });
        true
    }

    /// One web socket, from its first byte to its last.
    async fn connection(&mut self, left: &CancellationToken) -> anyhow::Result<End> {
        let mut wires = Wires::open(&self.seat.endpoint, &self.tls).await?;
        loop {
            tokio::select! {
                () = left.cancelled() => {
                    // A player who leaves does not wait for an answer.
                    let _unheard = wires.socket.close(None).await;
                    return Ok(End::Left);
                }
                _ = wires.heartbeat.tick() => {
                    let d = json!({"t": 1, "seq_ack": self.seq});
                    wires.json(3, &d).await?;
                }
                order = self.orders.recv() => match order {
                    None => return Ok(End::Left),
                    Some(Command::Speaking(on, written)) => {
                        let ssrc = self.udp.as_ref().map(|(_, ssrc)| *ssrc);
                        let d = json!({"speaking": u8::from(on), "delay": 0, "ssrc": ssrc});
                        wires.json(5, &d).await?;
                        // The receiver may have been dropped.
                        let _gone = written.send(());
                    }
                    Some(elsewhere) => {
                        self.over();
                        self.moved(elsewhere);
                        return Ok(End::Moved);
                    }
                },
                heard = wires.socket.next() => {
                    let heard = heard.context("the voice socket was dropped")??;
                    match heard {
                        Message::Close(frame) => {
                            let code = frame.map_or(1005, |frame| u16::from(frame.code));
                            return Ok(self.closed(code));
                        }
                        heard => self.message(&mut wires, heard).await?,
                    }
                }
            }
        }
    }

    /// Meaning of a close code.
    fn closed(&self, code: u16) -> End {
        self.shared.change(|state| state.close_code = Some(code));
        if self.resumable && (code < 4000 || matches!(code, 4009 | 4015)) {
            return End::Resume;
        }
        self.shared.change(|state| {
            state.failure = Some(format!("the voice server closed with {code}"));
        });
        End::Over
    }

    /// One message of the server.
    async fn message(&mut self, wires: &mut Wires, heard: Message) -> anyhow::Result<()> {
        match heard {
            Message::Text(text) => {
                let message: Value = serde_json::from_str(&text)?;
                if let Some(seq) = message["seq"].as_u64() {
                    self.seq = i32::try_from(seq)?;
                }
                let op = message["op"].as_u64().context("a message without op")?;
                self.json(wires, op, &message["d"]).await
            }
            Message::Binary(bytes) => {
                let [high, low, op, body @ ..] = &bytes[..] else { return Ok(()) };
                self.seq = i32::from(u16::from_be_bytes([*high, *low]));
                let answers = self.shared.change(|state| state.dave.binary(*op, body))?;
                wires.answers(answers).await
            }
            _ => Ok(()),
        }
    }

    /// One JSON message.
    async fn json(&mut self, wires: &mut Wires, op: u64, d: &Value) -> anyhow::Result<()> {
        match op {
            8 => self.hello(wires, d).await,
            2 => self.ready(wires, d).await,
            4 => self.described(wires, d).await,
            5 | 11 | 13 => {
                self.shared.change(|state| ears::told(state, op, d));
                Ok(())
            }
            21 | 22 | 24 => {
                let answers = self.shared.change(|state| state.dave.json(op, d))?;
                wires.answers(answers).await
            }
            _ => Ok(()),
        }
    }

    /// Op 8: who this is.
    async fn hello(&self, wires: &mut Wires, d: &Value) -> anyhow::Result<()> {
        let period = Duration::from_secs_f64(d["heartbeat_interval"].as_f64().unwrap_or(1e4) / 1e3);
        wires.heartbeat = interval(period.max(Duration::from_millis(1)));
        let seat = &self.seat;
        let mut d = json!({
            "server_id": seat.guild.to_string(), "session_id": seat.session_id, "token": seat.token,
        });
        if self.resumable {
            d["seq_ack"] = json!(self.seq);
            return wires.json(7, &d).await;
        }
        d["user_id"] = json!(seat.user.to_string());
        d["max_dave_protocol_version"] = json!(davey::DAVE_PROTOCOL_VERSION);
        let dave = Dave::new(seat.user, seat.channel);
        self.shared.change(|state| state.dave = dave);
        wires.json(0, &d).await
    }

    /// Op 2: the server's UDP address.
    async fn ready(&mut self, wires: &mut Wires, d: &Value) -> anyhow::Result<()> {
        let ssrc = u32::try_from(d["ssrc"].as_u64().context("READY without ssrc")?)?;
        let ip = d["ip"].as_str().context("READY without ip")?.parse()?;
        let port = u16::try_from(d["port"].as_u64().context("READY without port")?)?;
        let (socket, seen) = ears::connect(SocketAddr::new(ip, port), ssrc).await?;
        self.udp = Some((Arc::new(socket), ssrc));
        let mode =
            self.mode.map(|mode| json!(mode.name())).unwrap_or_else(|| d["modes"][0].clone());
        let data = json!({"address": seen.ip(), "port": seen.port(), "mode": mode});
        wires.json(1, &json!({"protocol": "udp", "data": data})).await
    }

    /// Op 4: the key.
    async fn described(&mut self, wires: &mut Wires, d: &Value) -> anyhow::Result<()> {
        let mode = d["mode"].as_str().and_then(Mode::named).context("an unknown mode")?;
        let key: Vec<u8> = serde_json::from_value(d["secret_key"].clone())?;
        let key: [u8; 32] = key.try_into().ok().context("a key of another length")?;
        let (socket, ssrc) = self.udp.clone().context("a description before READY")?;
        let version = d["dave_protocol_version"].as_u64().unwrap_or_default();
        let link =
            Link { socket: Arc::clone(&socket), transport: Transport::new(mode, &key, 0), ssrc };
        let answers = self.shared.change(|state| {
            (state.link, state.failure, state.close_code) = (Some(link), None, None);
            state.dave.begin(version)
        })?;
        self.resumable = true;
        self.ears.abort_all();
        self.ears.spawn(ears::listen(Arc::clone(&self.shared), socket));
        wires.answers(answers).await
    }
}
