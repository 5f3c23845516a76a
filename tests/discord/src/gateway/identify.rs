//! Beginning a session, and going on with one.
//!
//! Entry functions: [`identify`], [`resume`]. Never: sockets.

use super::{intent, session::Session};
use crate::{
    options::Options,
    state::{Shared, State},
    world::json,
};
use serde_json::{Value, json};
use std::collections::VecDeque;

/// Result of an op 2 or 6.
pub(crate) enum Begun {
    /// The session, and the last event its client has.
    Session(String, u64),
    /// Op 9: it has to identify again.
    Invalid,
}

/// Checks op 2 and begins a session; the error is a close code with its reason.
pub(crate) fn identify(
    inner: &Shared,
    connection: u64,
    data: &Value,
) -> Result<Begun, (u16, String)> {
    let now = inner.clock.now();
    let url = inner.gateway_url();
    inner.change(|state| {
        let token = data["token"].as_str().unwrap_or_default();
        let token = token.strip_prefix("Bot ").unwrap_or(token);
        let user = state.world.user_of(token).map(|user| user.id);
        let user = user.ok_or((4004, "the token is wrong".to_owned()))?;
        if !data["properties"].is_object() {
            return Err((4002, "identify without \"properties\"".into()));
        }
        let intents = intents(data, &inner.options)?;
        let shard = shard(data)?;
        let bucket = shard.0 % inner.options.max_concurrency.max(1);
        let last = state.gateway.identified.insert((user, bucket), now);
        if last.is_some_and(|last| now < last + inner.options.identify_interval) {
            *state.gateway.breaches.entry(user).or_default() += 1;
            return Ok(Begun::Invalid);
        }
        *state.gateway.identifies.entry(user).or_default() += 1;
        let id = format!("{:032x}", rand::random::<u128>());
        let session = Session {
            user,
            intents,
            shard,
            seq: 0,
            events: VecDeque::new(),
            connection: Some(connection),
            orders: VecDeque::new(),
            held: false,
            ended: false,
        };
        let ready = ready(state, &session, &id, &url);
        let session = state.gateway.sessions.entry(id.clone()).or_insert(session);
        session.push("READY", &ready);
        welcome(state, &id);
        Ok(Begun::Session(id, 0))
    })
}

/// The intents, if they may be had.
fn intents(data: &Value, options: &Options) -> Result<u64, (u16, String)> {
    let intents = data["intents"].as_u64();
    let intents = intents.filter(|bits| bits & !intent::KNOWN == 0);
    let intents = intents.ok_or_else(|| (4013, format!("intents are {}", data["intents"])))?;
    if intents & intent::PRIVILEGED != 0 && !options.privileged_intents {
        return Err((4014, format!("intents {intents} hold privileged ones")));
    }
    Ok(intents)
}

/// The shard: its number and how many there are.
fn shard(data: &Value) -> Result<(u64, u64), (u16, String)> {
    if data["shard"].is_null() {
        return Ok((0, 1));
    }
    let pair = data["shard"][0].as_u64().zip(data["shard"][1].as_u64());
    let pair = pair.filter(|(number, total)| number < total);
    pair.ok_or_else(|| (4010, format!("shard is {}", data["shard"])))
}

/// The data of `READY`.
fn ready(state: &State, session: &Session, id: &str, url: &str) -> Value {
    let mine = state.world.guilds.values().filter(|guild| {
        guild.members.contains_key(&session.user) && session.serves(Some(guild.id))
    });
    let guilds: Value =
        mine.map(|guild| json!({"id": guild.id.to_string(), "unavailable": true})).collect();
    json!({
        "v": 10, "user": state.world.users.get(&session.user).map(json::me), "guilds": guilds,
        "session_id": id, "session_type": "normal", "resume_gateway_url": url,
        "shard": [session.shard.0, session.shard.1], "relationships": [], "private_channels": [], "presences": [],
        "application": {"id": session.user.to_string(), "flags": 0},
    })
}

/// The guilds, one by one.
fn welcome(state: &mut State, id: &str) {
    let Some(session) = state.gateway.sessions.get_mut(id) else { return };
    if session.intents & intent::GUILDS == 0 {
        return;
    }
    let all = session.intents & intent::GUILD_MEMBERS != 0;
    for guild in state.world.guilds.values() {
        let mine = guild.members.contains_key(&session.user) && session.serves(Some(guild.id));
        if mine && !guild.unavailable {
            session
                .push("GUILD_CREATE", &json::guild_create(&state.world, guild, session.user, all));
        }
    }
}

/// Checks op 6 and goes on with a session; the error is a close code with its reason.
pub(crate) fn resume(
    inner: &Shared,
    connection: u64,
    data: &Value,
) -> Result<Begun, (u16, String)> {
    let token = data["token"].as_str().unwrap_or_default();
    let token = token.strip_prefix("Bot ").unwrap_or(token);
    let id = data["session_id"].as_str().unwrap_or_default();
    let seq = data["seq"].as_u64().ok_or((4002, "resume without \"seq\"".to_owned()))?;
    inner.change(|state| {
        let user = state.world.user_of(token).map(|user| user.id);
        let user = user.ok_or((4004, "the token is wrong".to_owned()))?;
        let Some(session) = state.gateway.sessions.get_mut(id) else { return Ok(Begun::Invalid) };
        if session.user != user || session.ended || !session.knows_after(seq) && seq < session.seq {
            return Ok(Begun::Invalid);
        }
        if seq > session.seq {
            return Err((
                4007,
                format!("resume from {seq}, but the last event was {}", session.seq),
            ));
        }
        session.connection = Some(connection);
        session.orders.clear();
        session.push("RESUMED", &json!({}));
        *state.gateway.resumes.entry(user).or_default() += 1;
        Ok(Begun::Session(id.to_owned(), seq))
    })
}
