//! One user's place in a voice channel, and its session with the voice server.
//!
//! Entry: [`Seat`]; [`Session::json`] and [`Session::binary`] send, number and keep messages for a
//! resume. Version 8 of the gateway numbers its messages; before, what was missed is what was sent
//! while no socket was there.
//! Never decides anything.

use super::{Counts, transport::Transport};
use rand::Rng;
use serde_json::{Value, json};
use std::{collections::VecDeque, net::SocketAddr};
use tokio::{sync::mpsc, time::Instant};
use tokio_tungstenite::tungstenite::{
    Message,
    protocol::{CloseFrame, frame::coding::CloseCode},
};

/// Messages kept for a resume; the oldest go first.
const KEPT: usize = 512;

/// A close of a socket: a code of the voice gateway, and why.
#[derive(Debug)]
pub(super) struct Close(pub u16, pub String);

impl Close {
    /// The frame for the wire.
    pub(super) fn message(&self) -> Message {
        let code = CloseCode::from(self.0);
        Message::Close(Some(CloseFrame { code, reason: self.1.clone().into() }))
    }
}

/// A user's admission to a voice channel.
pub(super) struct Seat {
    /// Id of the channel.
    pub channel: u64,
    /// The gateway's id of the user's session.
    pub session_id: String,
    /// Token that the client must show.
    pub token: String,
    /// Index of the voice server it must come to.
    pub server: usize,
    /// True if a close code has ended the token.
    pub ended: bool,
    /// From IDENTIFY on.
    pub session: Option<Session>,
    /// Counts of its packets and messages.
    pub counts: Counts,
}

/// A session: what a RESUME finds again.
pub(super) struct Session {
    /// The connection that carries it.
    pub connection: u64,
    /// Version of the voice gateway.
    pub version: u8,
    /// The user's source of sound.
    pub ssrc: u32,
    /// Key of the transport.
    pub key: [u8; 32],
    /// From SELECT PROTOCOL on.
    pub transport: Option<Transport>,
    /// The client's address, from SELECT PROTOCOL on.
    pub address: Option<SocketAddr>,
    /// True if a speaking update has been sent.
    pub spoke: bool,
    /// First packet that came before any speaking update.
    pub early: Option<Instant>,
    /// True if packets without a speaking update were reported.
    pub early_reported: bool,
    /// True if a plain frame was reported.
    pub plain_reported: bool,
    /// Time of the last heartbeat.
    pub beat: Instant,
    /// To the socket, while there is one.
    outbox: Option<mpsc::Sender<Message>>,
    /// Number of the last message.
    seq: u16,
    /// For a resume, with their numbers.
    kept: VecDeque<(u16, Message)>,
}

impl Session {
    /// A new session on a socket.
    pub(super) fn new(
        version: u8,
        ssrc: u32,
        (connection, outbox): (u64, mpsc::Sender<Message>),
        random: &mut impl Rng,
    ) -> Self {
        Self {
            connection,
            version,
            ssrc,
            key: random.random(),
            transport: None,
            address: None,
            spoke: false,
            early: None,
            early_reported: false,
            plain_reported: false,
            beat: Instant::now(),
            outbox: Some(outbox),
            seq: 0,
            kept: VecDeque::new(),
        }
    }

    /// True if a socket is there.
    pub(super) fn connected(&self) -> bool {
        self.outbox.is_some()
    }

    /// Sends JSON.
    pub(super) fn json(&mut self, op: u8, d: &Value) {
        let mut message = json!({"op": op, "d": d});
        if self.numbered() {
            self.seq = self.seq.wrapping_add(1);
            message["seq"] = json!(self.seq);
        }
        self.send(Message::text(message.to_string()));
    }

    /// Sends a binary message.
    pub(super) fn binary(&mut self, op: u8, body: &[u8]) {
        let mut message = Vec::with_capacity(body.len() + 3);
        if self.numbered() {
            self.seq = self.seq.wrapping_add(1);
            message.extend_from_slice(&self.seq.to_be_bytes());
        }
        message.push(op);
        message.extend_from_slice(body);
        self.send(Message::binary(message));
    }

    /// True if messages carry numbers.
    fn numbered(&self) -> bool {
        self.version >= 8
    }

    /// Sends, and keeps what a resume may want.
    fn send(&mut self, message: Message) {
        if self.numbered() || self.outbox.is_none() {
            self.kept.push_back((self.seq, message.clone()));
            if self.kept.len() > KEPT {
                self.kept.pop_front();
            }
        }
        if let Some(outbox) = &self.outbox
            && outbox.try_send(message).is_err()
        {
            self.outbox = None;
        }
    }

    /// A heartbeat's `seq_ack`: what has arrived need not be kept. False if it was never sent.
    pub(super) fn acknowledged(&mut self, seq: u16) -> bool {
        let arrived = |number: u16| seq.wrapping_sub(number) < u16::MAX / 2;
        while self.kept.front().is_some_and(|(number, _)| arrived(*number)) {
            self.kept.pop_front();
        }
        self.seq.wrapping_sub(seq) < u16::MAX / 2
    }

    /// Op 7: the session goes on on another socket, with what was missed; before version 8, which
    /// has numbers for that, only once the client has heard that it is resumed (op 9).
    pub(super) fn resume(
        &mut self,
        connection: u64,
        outbox: mpsc::Sender<Message>,
        ack: Option<u16>,
    ) {
        self.close(&Close(4014, "resumed elsewhere".into()));
        if let Some(ack) = ack {
            self.acknowledged(ack);
        }
        let mut told: Vec<Message> = self.kept.iter().map(|(_, message)| message.clone()).collect();
        let resumed = Message::text(json!({"op": 9, "d": null}).to_string());
        if self.numbered() {
            told.push(resumed);
        } else {
            self.kept.clear();
            told.insert(0, resumed);
        }
        self.connection = connection;
        self.beat = Instant::now();
        for message in told {
            // A full outbox belongs to a client that does not read; it is closed on the next send.
            let _full = outbox.try_send(message);
        }
        self.outbox = Some(outbox);
    }

    /// Sends a close frame and lets the socket go.
    pub(super) fn close(&mut self, close: &Close) {
        if let Some(outbox) = self.outbox.take() {
            let _full = outbox.try_send(close.message());
        }
    }

    /// Lets the socket go if it is this one; without a close frame its task ends when it finds its
    /// outbox closed.
    pub(super) fn gone(&mut self, connection: u64) {
        if self.connection == connection {
            self.outbox = None;
        }
    }
}
