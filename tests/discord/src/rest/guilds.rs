//! Guilds: themselves, channels, roles, members, voice states.
//!
//! Entry functions: handlers. Never: messages.

use super::{
    refusal::{Answered, Problems, Refusal, Reply},
    route::Call,
};
use crate::{
    state::State,
    world::{
        json,
        model::{Guild, VoiceState, kind},
        permission,
    },
};
use serde_json::Value;

/// The guild of the path, for its members.
fn guild<'s>(call: &Call, state: &'s State) -> Result<&'s Guild, Refusal> {
    let id = call.id("guild_id")?;
    let guild = state.world.guilds.get(&id).ok_or_else(|| Refusal::unknown(10_004, "Guild"))?;
    if !guild.members.contains_key(&call.user) {
        return Err(Refusal::access());
    }
    Ok(guild)
}

/// The user of the path, `@me` too.
fn user(call: &Call) -> Result<u64, Refusal> {
    match call.param("user_id") {
        None | Some("@me") => Ok(call.user),
        Some(_) => call.id("user_id"),
    }
}

/// A guild.
pub(crate) fn show(call: &Call) -> Answered {
    call.inner.read(|state| Reply::ok(json::guild(guild(call, state)?)))
}

/// Its channels.
pub(crate) fn channels(call: &Call) -> Answered {
    call.inner.read(|state| {
        let guild = guild(call, state)?;
        let all = state.world.channels_of(guild.id);
        Reply::ok(all.map(|channel| json::channel(&state.world, channel)).collect())
    })
}

/// Its roles.
pub(crate) fn roles(call: &Call) -> Answered {
    call.inner.read(|state| Reply::ok(json::roles(guild(call, state)?)))
}

/// A member.
pub(crate) fn member(call: &Call) -> Answered {
    let id = user(call)?;
    call.inner.read(|state| match json::member(&state.world, guild(call, state)?, id) {
        Value::Null if state.world.users.contains_key(&id) => {
            Err(Refusal::unknown(10_007, "Member"))
        }
        Value::Null => Err(Refusal::unknown(10_013, "User")),
        member => Reply::ok(member),
    })
}

/// Voice state of a user.
pub(crate) fn voice_state(call: &Call) -> Answered {
    let id = user(call)?;
    call.inner.read(|state| {
        let guild = guild(call, state)?;
        let voice = guild.voice.get(&id).ok_or_else(|| Refusal::unknown(10_065, "Voice State"))?;
        Reply::ok(json::voice_state(&state.world, guild, id, Some(voice), ""))
    })
}

/// Speaks up on a stage, or raises a hand.
pub(crate) fn edit_voice_state(call: &Call) -> Answered {
    let body = &call.body;
    call.inner.change(|state| {
        let guild = guild(call, state)?;
        let voice =
            guild.voice.get(&call.user).ok_or_else(|| Refusal::unknown(10_065, "Voice State"))?;
        let room = state.world.channels.get(&voice.channel).filter(|room| room.kind == kind::STAGE);
        let room = room.ok_or_else(|| {
            Refusal::new(400, 50_024, "Cannot execute action on this channel type")
        })?;
        let bits = permission::of(guild, call.user, Some(room));
        let channel = &body["channel_id"];
        let named = channel.as_str().and_then(|id| id.parse::<u64>().ok());
        if !channel.is_null() && named != Some(room.id) {
            return Err(Problems::only(
                "channel_id",
                "CHANNEL_INVALID",
                "not the channel one sits in",
            ));
        }
        let mut voice: VoiceState = voice.clone();
        if let Some(suppress) = body["suppress"].as_bool() {
            if !suppress && bits & permission::MUTE_MEMBERS == 0 {
                return Err(Refusal::permissions());
            }
            voice.suppress = suppress;
        }
        if let Some(raised) = body.get("request_to_speak_timestamp") {
            if bits & permission::REQUEST_TO_SPEAK == 0 {
                return Err(Refusal::permissions());
            }
            voice.request_to_speak = raised.as_str().map(str::to_owned);
        }
        let id = guild.id;
        state.set_voice(id, call.user, Some(voice));
        Reply::nothing()
    })
}
