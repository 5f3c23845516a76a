//! Answers of the voice gateway to a client, in versions 4 to 8.
//!
//! Entry: [`State::text`] and [`State::binary`] take one message of a [`Connection`]; an error is
//! the close code Discord would send.
//! Never waits and never reads a socket.

use super::{
    seat::Close,
    state::{State, Who},
    transport::{Mode, Transport},
};
use rand::Rng as _;
use serde_json::{Value, json};
use std::net::IpAddr;
use tokio::{sync::mpsc, time::Instant};
use tokio_tungstenite::tungstenite::Message;

/// Opcodes of clients that have no answer here: video and its wishes, versions, platforms.
const UNANSWERED: [u64; 4] = [12, 15, 16, 20];

/// One web socket.
pub(super) struct Connection {
    /// Its number.
    pub id: u64,
    /// Version of the voice gateway.
    pub version: u8,
    /// Index of the server it came to.
    pub server: usize,
    /// From IDENTIFY or RESUME on.
    pub who: Option<Who>,
    /// To the socket; the session has it from IDENTIFY on.
    pub outbox: Option<mpsc::Sender<Message>>,
}

impl Connection {
    /// The first message of the server.
    pub(super) fn hello(&self, state: &State) -> Message {
        let interval = state.options.heartbeat.as_secs_f64() * 1000.0;
        let d = json!({"v": self.version, "heartbeat_interval": interval});
        Message::text(json!({"op": 8, "d": d}).to_string())
    }
}

/// A close with a code.
pub(super) fn close<T>(code: u16, why: impl Into<String>) -> Result<T, Close> {
    Err(Close(code, why.into()))
}

impl State {
    /// One JSON message; what is answered at once.
    pub(super) fn text(
        &mut self,
        connection: &mut Connection,
        text: &str,
    ) -> Result<Option<Message>, Close> {
        let Ok(message) = serde_json::from_str::<Value>(text) else {
            return close(4002, "a message is not JSON");
        };
        let (Some(op), d) = (message["op"].as_u64(), &message["d"]) else {
            return close(4002, "a message has no op");
        };
        if op == 3 {
            return self.heartbeat(connection, d);
        }
        match (op, connection.who) {
            (0, None) => self.identify(connection, d)?,
            (7, None) => self.resume(connection, d)?,
            (0 | 7, Some(_)) => return close(4005, "already identified"),
            (1 | 5 | 23 | 31, None) => return close(4003, format!("op {op} before IDENTIFY")),
            (1 | 5 | 23 | 31, Some(who)) if !self.carries(connection, who) => {}
            (1, Some(who)) => self.select_protocol(who, d)?,
            (5, Some(who)) => self.speaking(who, d)?,
            (23 | 31, Some(who)) => self.transition(who, op, d)?,
            (op, Some(_)) if UNANSWERED.contains(&op) => {}
            (op, _) => return close(4001, format!("unknown op {op}")),
        }
        Ok(None)
    }

    /// One binary message.
    pub(super) fn binary(&mut self, connection: &Connection, bytes: &[u8]) -> Result<(), Close> {
        let Some((&op, body)) = bytes.split_first() else {
            return close(4002, "an empty binary message");
        };
        if !matches!(op, 26 | 28) {
            return close(4001, format!("unknown binary op {op}"));
        }
        let Some((guild, user)) = connection.who else {
            return close(4003, format!("op {op} before IDENTIFY"));
        };
        if !self.carries(connection, (guild, user)) {
            return Ok(());
        }
        let Some(channel) = self.seats.get(&(guild, user)).map(|seat| seat.channel) else {
            return Ok(());
        };
        let now = Instant::now();
        let Some(group) = self.group(guild, channel) else { return Ok(()) };
        if group.version == 0 {
            self.violation(format!("user {user} sent op {op} in a call without DAVE"));
            return Ok(());
        }
        let said = match op {
            26 => group.key_package(user, body, now),
            _ => group.commit_welcome(user, body, now),
        };
        self.speak(guild, said);
        Ok(())
    }

    /// True if a user's session is on this connection. Messages still on their way
    /// when the user was moved or its session ended do not count.
    pub(super) fn carries(&self, connection: &Connection, who: Who) -> bool {
        let session = self.seats.get(&who).and_then(|seat| seat.session.as_ref());
        session.is_some_and(|session| session.connection == connection.id)
    }

    /// Op 1: the transport's mode and the client's address.
    fn select_protocol(&mut self, who: Who, d: &Value) -> Result<(), Close> {
        if d["protocol"] != "udp" {
            return close(4012, format!("unknown protocol {}", d["protocol"]));
        }
        let data = &d["data"];
        let mode = data["mode"].as_str().and_then(Mode::named);
        let Some(mode) = mode.filter(|mode| self.options.modes.contains(mode)) else {
            return close(4016, format!("unknown encryption mode {}", data["mode"]));
        };
        let ip = data["address"].as_str().and_then(|text| text.parse::<IpAddr>().ok());
        let port = data["port"].as_u64().and_then(|port| u16::try_from(port).ok());
        let (Some(ip), Some(port)) = (ip, port) else {
            return close(4002, "SELECT PROTOCOL without address or port");
        };
        let nonce = self.random.random();
        let Some(seat) = self.seats.get(&who) else { return Ok(()) };
        let channel = seat.channel;
        let version = self.group(who.0, channel).map_or(0, |group| group.version);
        let known = self.spoken(who, channel);
        let Some(session) = self.session(who) else { return Ok(()) };
        session.transport = Some(Transport::new(mode, &session.key, nonce));
        session.address = Some((ip, port).into());
        let key = session.key.to_vec();
        session.json(4, &json!({
            "mode": mode.name(), "secret_key": key, "dave_protocol_version": version,
            "audio_codec": "opus", "video_codec": "H264", "media_session_id": format!("media-{}", session.ssrc),
        }));
        for update in known {
            session.json(5, &update);
        }
        Ok(())
    }

    /// The speaking updates a newcomer has missed.
    fn spoken(&self, (guild, user): Who, channel: u64) -> Vec<Value> {
        let others = self.in_channel(guild, channel).into_iter().filter(|other| *other != user);
        let told = others.filter(|other| !self.faults((guild, *other)).speaking_withheld);
        told.filter_map(|other| {
            let session = self.seats.get(&(guild, other))?.session.as_ref()?;
            let update = json!({"speaking": 0, "ssrc": session.ssrc, "user_id": other.to_string()});
            session.spoke.then_some(update)
        })
        .collect()
    }

    /// Op 5: all others learn whose source it is.
    fn speaking(&mut self, who: Who, d: &Value) -> Result<(), Close> {
        let Some(speaking) = d["speaking"].as_u64() else {
            return close(4002, "a speaking update without speaking");
        };
        let Some(seat) = self.seats.get_mut(&who) else { return Ok(()) };
        seat.counts.speaking_updates += 1;
        let channel = seat.channel;
        let Some(session) = &mut seat.session else { return Ok(()) };
        let ssrc = session.ssrc;
        session.spoke |= speaking > 0;
        if d["ssrc"].as_u64() != Some(u64::from(ssrc)) {
            let text = format!("user {} speaks as source {}, it is {ssrc}", who.1, d["ssrc"]);
            self.violation(text);
        }
        if !self.faults(who).speaking_withheld {
            let d = json!({"speaking": speaking, "ssrc": ssrc, "user_id": who.1.to_string()});
            self.broadcast(who.0, channel, (who.1, 5), &d);
        }
        Ok(())
    }

    /// Op 3: answered with what it says.
    fn heartbeat(&mut self, connection: &Connection, d: &Value) -> Result<Option<Message>, Close> {
        let answer = if connection.version >= 8 { &d["t"] } else { d };
        if !answer.is_u64() {
            return close(4020, format!("a heartbeat of version {} holds {d}", connection.version));
        }
        let ack =
            Message::text(json!({"op": 6, "d": d_of(connection.version, answer)}).to_string());
        let carried = connection.who.filter(|who| self.carries(connection, *who));
        let Some(who) = carried else { return Ok(Some(ack)) };
        let Some(seat) = self.seats.get_mut(&who) else { return Ok(Some(ack)) };
        seat.counts.heartbeats += 1;
        if let Some(session) = &mut seat.session {
            session.beat = Instant::now();
            let seen = d["seq_ack"].as_u64().and_then(|ack| u16::try_from(ack).ok());
            if connection.version >= 8
                && let Some(seen) = seen
                && !session.acknowledged(seen)
            {
                self.violation(format!("user {} acknowledged message {seen}, never sent", who.1));
            }
        }
        Ok((!self.faults(who).heartbeats_unacknowledged).then_some(ack))
    }

    /// Ops 23 and 31.
    fn transition(&mut self, (guild, user): Who, op: u64, d: &Value) -> Result<(), Close> {
        let Some(id) = d["transition_id"].as_u64() else {
            return close(4002, format!("op {op} without transition_id"));
        };
        let now = Instant::now();
        let Some(channel) = self.seats.get(&(guild, user)).map(|seat| seat.channel) else {
            return Ok(());
        };
        let Some(group) = self.group(guild, channel) else { return Ok(()) };
        let said = match op {
            23 => group.ready(user, id, now),
            _ => group.refused(user, now),
        };
        self.speak(guild, said);
        Ok(())
    }
}

/// The body of a heartbeat's answer.
fn d_of(version: u8, answer: &Value) -> Value {
    if version >= 8 { json!({"t": answer}) } else { answer.clone() }
}
