//! Channels and the messages in them.
//!
//! Entry functions: handlers. Never: interactions.

use super::{
    check_message,
    refusal::{Answered, Problems, Refusal, Reply},
    route::Call,
    write::Draft,
};
use crate::world::{json, permission};
use serde_json::{Value, json};

/// A channel.
pub(crate) fn show(call: &Call) -> Answered {
    call.inner.read(|state| Reply::ok(json::channel(&state.world, call.channel(state, 0)?)))
}

/// Its messages, the newest first.
pub(crate) fn messages(call: &Call) -> Answered {
    let number = |name: &str| {
        let pair = call.query.split('&').find_map(|pair| pair.strip_prefix(name));
        pair.and_then(|rest| rest.strip_prefix('=')).and_then(|value| value.parse::<u64>().ok())
    };
    let limit = number("limit").unwrap_or(50);
    if !(1..=100).contains(&limit) {
        return Err(Problems::only(
            "limit",
            "NUMBER_TYPE_RANGE",
            "int value should be between 1 and 100.",
        ));
    }
    let (before, after) =
        (number("before").unwrap_or(u64::MAX), number("after").unwrap_or_default());
    call.inner.read(|state| {
        let channel = call.channel(state, 0)?;
        if state.world.permissions(call.user, channel) & permission::READ_MESSAGE_HISTORY == 0 {
            return Reply::ok(json!([]));
        }
        let all = state.messages(channel.id);
        let wanted = all.iter().rev().filter(|one| one.id < before && one.id > after);
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        Reply::ok(wanted.take(limit).map(|one| one.json().clone()).collect::<Value>())
    })
}

/// One message.
pub(crate) fn message(call: &Call) -> Answered {
    let id = call.id("message_id")?;
    call.inner.read(|state| {
        let channel = call.channel(state, permission::READ_MESSAGE_HISTORY)?;
        let message = state.world.message(channel.id, id).filter(|one| one.ephemeral_for.is_none());
        let message = message.ok_or_else(|| Refusal::unknown(10_008, "Message"))?;
        Reply::ok(message.json().clone())
    })
}

/// Permissions that a message needs besides the right to write.
fn needed(call: &Call) -> u64 {
    let embeds = call.body["embeds"].as_array().is_some_and(|embeds| !embeds.is_empty());
    let mut bits = if embeds { permission::EMBED_LINKS } else { 0 };
    if !call.files.is_empty() {
        bits |= permission::ATTACH_FILES;
    }
    bits
}

/// A new message.
pub(crate) fn send(call: &Call) -> Answered {
    check_message::message(&call.body)?;
    call.inner.change(|state| {
        let channel = call.channel(state, permission::SEND_MESSAGES | needed(call))?;
        let closed = |id: &u64| state.world.users.get(id).is_some_and(|user| user.no_dms);
        if channel.recipients.iter().any(closed) {
            return Err(Refusal::new(403, 50_007, "Cannot send messages to this user"));
        }
        if call.body["flags"].as_u64().is_some_and(|flags| flags & 64 != 0) {
            return Err(Problems::only(
                "flags",
                "MESSAGE_FLAGS_INVALID",
                "only answers to interactions are ephemeral",
            ));
        }
        let draft = Draft {
            channel: channel.id,
            author: call.user,
            body: &call.body,
            files: &call.files,
            interaction: None,
            ephemeral_for: None,
        };
        let id = draft.write(call.inner, state)?;
        let channel = draft.channel;
        Reply::ok(
            state.world.message(channel, id).map(|one| one.json().clone()).unwrap_or_default(),
        )
    })
}

/// Other words for a message.
pub(crate) fn edit(call: &Call) -> Answered {
    check_message::message(&call.body)?;
    let id = call.id("message_id")?;
    call.inner.change(|state| {
        let channel = call.channel(state, needed(call))?.id;
        let message = state.world.message(channel, id).filter(|one| one.ephemeral_for.is_none());
        let message = message.ok_or_else(|| Refusal::unknown(10_008, "Message"))?;
        if message.author != call.user {
            return Err(Refusal::new(
                403,
                50_005,
                "Cannot edit a message authored by another user",
            ));
        }
        Reply::ok(super::write::rewrite(call.inner, state, (channel, id), &call.body, &call.files)?)
    })
}

/// A message goes.
pub(crate) fn delete(call: &Call) -> Answered {
    let id = call.id("message_id")?;
    call.inner.change(|state| {
        let channel = call.channel(state, 0)?;
        let (channel, bits) = (channel.id, state.world.permissions(call.user, channel));
        let message = state.world.message(channel, id).filter(|one| one.ephemeral_for.is_none());
        let message = message.ok_or_else(|| Refusal::unknown(10_008, "Message"))?;
        if message.author != call.user && bits & permission::MANAGE_MESSAGES == 0 {
            return Err(Refusal::permissions());
        }
        super::write::erase(state, channel, id);
        Reply::nothing()
    })
}

/// A user is typing.
pub(crate) fn typing(call: &Call) -> Answered {
    call.inner.read(|state| call.channel(state, permission::SEND_MESSAGES).map(|_| ()))?;
    Reply::nothing()
}

/// The line under a voice channel's name.
pub(crate) fn voice_status(call: &Call) -> Answered {
    let mut problems = Problems::default();
    problems.text("status", &call.body["status"], 0, 500);
    problems.done()?;
    call.inner.change(|state| {
        let channel = call.channel(state, permission::SET_VOICE_CHANNEL_STATUS)?;
        if !channel.is_voice() {
            return Err(Refusal::new(400, 50_024, "Cannot execute action on this channel type"));
        }
        let (id, guild) = (channel.id, channel.guild.and_then(|id| state.world.guilds.get(&id)));
        let seat = guild.and_then(|guild| guild.voice.get(&call.user));
        let inside = seat.is_some_and(|voice| voice.channel == id);
        if !inside && state.world.permissions(call.user, channel) & permission::MANAGE_CHANNELS == 0
        {
            return Err(Refusal::permissions());
        }
        let status =
            call.body["status"].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        if let Some(channel) = state.world.channels.get_mut(&id) {
            channel.status = status;
        }
        Reply::nothing()
    })
}
