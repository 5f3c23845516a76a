//! Late messages of a user's old connection after the user has gone elsewhere, without a wire.

use super::{CHANNEL, GUILD, identify, select};
use crate::voice::{
    VoiceOptions,
    protocol::Connection,
    state::{State, Who},
};
use davey::{DaveSession, ProposalsOperationType};
use serde_json::{Value, json};
use std::{net::SocketAddr, num::NonZeroU16};
use tokio::sync::mpsc::{Receiver, channel};
use tokio_tungstenite::tungstenite::Message;

const ELSEWHERE: u64 = 4005;

/// A client that has identified, and the messages sent to it.
struct Client {
    connection: Connection,
    inbox: Receiver<Message>,
}

impl Client {
    /// User `user` comes to `channel`.
    fn come(state: &mut State, user: u64, channel_id: u64) -> Self {
        let session = format!("s{user}");
        let (token, _) = state.admit((GUILD, user), channel_id, &session);
        let (outbox, inbox) = channel(64);
        let id = state.connection();
        let connection = Connection { id, version: 8, server: 0, who: None, outbox: Some(outbox) };
        let mut client = Self { connection, inbox };
        let mut d = identify(&token);
        (d["user_id"], d["session_id"]) = (json!(user.to_string()), json!(session));
        client.say(state, 0, &d);
        client
    }

    fn say(&mut self, state: &mut State, op: u8, d: &Value) {
        let text = json!({"op": op, "d": d}).to_string();
        state.text(&mut self.connection, &text).expect("the connection stays");
    }

    fn send(&self, state: &mut State, op: u8, body: &[u8]) {
        state.binary(&self.connection, &[&[op], body].concat()).expect("the connection stays");
    }

    /// The body of the next binary message with this `op`.
    fn told(&mut self, op: u8) -> Vec<u8> {
        loop {
            let message = self.inbox.try_recv().expect("there is such a message");
            if let Message::Binary(bytes) = message
                && bytes[2] == op
            {
                return bytes[3..].to_vec();
            }
        }
    }
}

fn state() -> State {
    let address = SocketAddr::from(([127, 0, 0, 1], 9));
    State::new(VoiceOptions::default(), vec![address], vec![address])
}

/// User 1 in a call, and its commit that lets user 2 in, which has not been sent.
fn with_commit(state: &mut State) -> (Client, Vec<u8>) {
    let session = |user| DaveSession::new(NonZeroU16::MIN, user, CHANNEL, None).unwrap();
    let (mut one, mut two) = (session(1), session(2));
    let mut client = Client::come(state, 1, CHANNEL);
    client.send(state, 26, &one.create_key_package().unwrap());
    one.set_external_sender(&client.told(25)).unwrap();
    let second = Client::come(state, 2, CHANNEL);
    second.send(state, 26, &two.create_key_package().unwrap());
    let proposals = client.told(27);
    let append = ProposalsOperationType::APPEND;
    let made = one.process_proposals(append, &proposals[1..], None).unwrap().unwrap();
    (client, [made.commit, made.welcome.unwrap_or_default()].concat())
}

#[test]
fn late_commit_after_move_is_no_violation() {
    let mut state = state();
    let (old, commit) = with_commit(&mut state);
    let moved = state.admit((GUILD, 1), ELSEWHERE, "s1");
    assert!(!moved.0.is_empty());
    old.send(&mut state, 28, &commit);
    assert_eq!(state.violations, Vec::<String>::new(), "between the two connections");
    let _new = Client::come(&mut state, 1, ELSEWHERE);
    old.send(&mut state, 28, &commit);
    assert_eq!(state.violations, Vec::<String>::new(), "on the new connection");
}

#[test]
fn commit_for_another_group_is_violation() {
    let mut state = state();
    let (_old, commit) = with_commit(&mut state);
    let new = Client::come(&mut state, 1, ELSEWHERE);
    new.send(&mut state, 28, &commit);
    let [violation] = &state.violations[..] else { panic!("{:?}", state.violations) };
    assert!(violation.contains("the commit is for another group"), "{violation}");
}

#[test]
fn old_connection_cannot_change_new_session() {
    let mut state = state();
    let who: Who = (GUILD, 1);
    let mut old = Client::come(&mut state, 1, CHANNEL);
    let mut new = Client::come(&mut state, 1, ELSEWHERE);
    let said = [
        (1, select()),
        (3, json!({"t": 1, "seq_ack": 20_000})),
        (5, json!({"speaking": 1, "ssrc": 1001})),
        (23, json!({"transition_id": 17})),
        (31, json!({"transition_id": 17})),
    ];
    for (op, d) in &said {
        old.say(&mut state, *op, d);
    }
    assert_eq!(state.violations, Vec::<String>::new());
    assert_eq!(state.group(GUILD, ELSEWHERE).unwrap().refused, 0);
    let seat = &state.seats[&who];
    assert_eq!((seat.counts.heartbeats, seat.counts.speaking_updates), (0, 0));
    assert!(seat.session.as_ref().unwrap().transport.is_none());
    // From the connection that carries the session, they count.
    for (op, d) in &said {
        new.say(&mut state, *op, d);
    }
    let seat = &state.seats[&who];
    assert_eq!((seat.counts.heartbeats, seat.counts.speaking_updates), (1, 1));
    assert!(seat.session.as_ref().unwrap().transport.is_some());
    let refused = state.group(GUILD, ELSEWHERE).unwrap().refused;
    assert_eq!((state.violations.len(), refused), (3, 1), "{:?}", state.violations);
}
