//! Identity of a client: IDENTIFY and RESUME, checked against the admitted users.
//!
//! Entry: [`State::identify`], [`State::resume`].
//! Never waits and never reads a socket.

use super::{
    protocol::{Connection, close},
    seat::{Close, Session},
    state::{State, Who},
};
use serde_json::{Value, json};

/// A snowflake, as text or as a number.
pub(crate) fn snowflake(value: &Value) -> Option<u64> {
    value.as_str().and_then(|text| text.parse().ok()).or_else(|| value.as_u64())
}

impl State {
    /// Op 0.
    pub(super) fn identify(&mut self, connection: &mut Connection, d: &Value) -> Result<(), Close> {
        let (Some(guild), Some(user)) = (snowflake(&d["server_id"]), snowflake(&d["user_id"]))
        else {
            return close(4002, "IDENTIFY without server_id or user_id");
        };
        let who = self.seat_of((guild, user), connection.server, d)?;
        if self.options.dave && d["max_dave_protocol_version"].as_u64().unwrap_or_default() == 0 {
            return close(4017, "E2EE/DAVE protocol required");
        }
        let Some(outbox) = connection.outbox.take() else { return close(4005, "identified twice") };
        // A session identified again begins again, for all users.
        self.detach(who, &Close(4014, "identified elsewhere".into()));
        self.last_ssrc += 1;
        let ssrc = self.last_ssrc;
        let line = (connection.id, outbox);
        let mut session = Session::new(connection.version, ssrc, line, &mut self.random);
        let address = self.media.get(connection.server).copied();
        let modes: Vec<&str> = self.options.modes.iter().map(|mode| mode.name()).collect();
        session.json(
            2,
            &json!({
                "ssrc": ssrc, "ip": address.map(|at| at.ip()), "port": address.map(|at| at.port()),
                "modes": modes, "experiments": [], "streams": [],
            }),
        );
        let Some(seat) = self.seats.get_mut(&who) else { return close(4006, "no such session") };
        seat.counts.identified += 1;
        let channel = seat.channel;
        seat.session = Some(session);
        self.sources.insert(ssrc, who);
        connection.who = Some(who);
        self.introduce(who, channel);
        Ok(())
    }

    /// Tells a newcomer who is there, and those there who has come.
    fn introduce(&mut self, (guild, user): Who, channel: u64) {
        let mut others = self.in_channel(guild, channel);
        others.remove(&user);
        let flags = |of: u64| json!({"user_id": of.to_string(), "flags": 2});
        let platform = |of: u64| json!({"user_id": of.to_string(), "platform": 0});
        if let Some(session) = self.session((guild, user)) {
            let ids: Vec<String> = others.iter().map(ToString::to_string).collect();
            if !ids.is_empty() {
                session.json(11, &json!({"user_ids": ids}));
            }
            for other in &others {
                session.json(18, &flags(*other));
                session.json(20, &platform(*other));
            }
        }
        let came = json!({"user_ids": [user.to_string()]});
        self.broadcast(guild, channel, (user, 11), &came);
        self.broadcast(guild, channel, (user, 18), &flags(user));
        self.broadcast(guild, channel, (user, 20), &platform(user));
    }

    /// The seat of this token, session and server.
    fn seat_of(&self, who: Who, server: usize, d: &Value) -> Result<Who, Close> {
        let token = d["token"].as_str().unwrap_or_default();
        let Some(seat) = self.seats.get(&who) else {
            return close(4006, format!("user {} has no session in guild {}", who.1, who.0));
        };
        if seat.token != token {
            return close(4004, format!("wrong token for user {}", who.1));
        }
        if d["session_id"].as_str() != Some(&seat.session_id) {
            return close(4006, format!("wrong session id for user {}", who.1));
        }
        if seat.ended || seat.server != server {
            return close(4006, format!("the session of user {} is no longer valid here", who.1));
        }
        Ok(who)
    }

    /// Op 7.
    pub(super) fn resume(&mut self, connection: &mut Connection, d: &Value) -> Result<(), Close> {
        let token = d["token"].as_str().unwrap_or_default();
        let guild = snowflake(&d["server_id"]);
        let found = self.seats.iter().find(|((at, _), seat)| {
            Some(*at) == guild && seat.token == token && seat.session.is_some()
        });
        let Some(who) = found.map(|(who, _)| *who) else {
            return close(4006, "nothing to resume");
        };
        self.seat_of(who, connection.server, d)?;
        let ack = d["seq_ack"].as_u64().and_then(|ack| u16::try_from(ack).ok());
        let Some(outbox) = connection.outbox.take() else { return close(4005, "resumed twice") };
        let Some(seat) = self.seats.get_mut(&who) else { return close(4006, "no such session") };
        seat.counts.resumed += 1;
        if let Some(session) = &mut seat.session {
            session.resume(connection.id, outbox, ack);
        }
        connection.who = Some(who);
        Ok(())
    }
}
