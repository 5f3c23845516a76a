//! The world in Discord's JSON.
//!
//! Entry functions: one per object. Never: changing anything.

use super::model::{Channel, Guild, Member, OverwriteOf, Role, User, VoiceState, World, kind};
use super::permission;
use serde_json::{Value, json};

/// A user object.
pub(crate) fn user(user: &User) -> Value {
    json!({
        "id": user.id.to_string(), "username": user.name, "discriminator": "0",
        "global_name": if user.bot { Value::Null } else { json!(user.name) },
        "avatar": null, "banner": null, "accent_color": null, "bot": user.bot, "system": false,
        "public_flags": 0, "avatar_decoration_data": null, "primary_guild": null,
    })
}

/// The user object for the user itself, with the fields that only it may see.
pub(crate) fn me(user_: &User) -> Value {
    let mut object = user(user_);
    for (key, value) in [
        ("mfa_enabled", json!(true)),
        ("verified", json!(true)),
        ("locale", json!("en-US")),
        ("flags", json!(0)),
    ] {
        object[key] = value;
    }
    object["email"] = Value::Null;
    object
}

/// A role object.
pub(crate) fn role(role: &Role, position: usize) -> Value {
    json!({
        "id": role.id.to_string(), "name": role.name, "color": 0,
        "colors": {"primary_color": 0, "secondary_color": null, "tertiary_color": null},
        "hoist": false, "icon": null, "unicode_emoji": null, "position": position,
        "permissions": role.permissions.to_string(), "managed": role.managed, "mentionable": false, "flags": 0,
    })
}

/// All roles of a guild.
pub(crate) fn roles(guild: &Guild) -> Value {
    guild.roles.values().enumerate().map(|(position, one)| role(one, position)).collect()
}

/// A member object without its user.
pub(crate) fn bare_member(member: &Member) -> Value {
    json!({
        "nick": member.nick, "avatar": null, "banner": null,
        "roles": member.roles.iter().map(u64::to_string).collect::<Vec<_>>(),
        "joined_at": member.joined_at, "premium_since": null, "deaf": false, "mute": false, "flags": 0,
        "pending": false, "communication_disabled_until": null, "avatar_decoration_data": null,
    })
}

/// A member object, or null for who is none.
pub(crate) fn member(world: &World, guild: &Guild, id: u64) -> Value {
    let (Some(member), Some(one)) = (guild.members.get(&id), world.users.get(&id)) else {
        return Value::Null;
    };
    let mut object = bare_member(member);
    object["user"] = user(one);
    object
}

/// A channel object; for interactions also with `permissions` by the caller.
pub(crate) fn channel(world: &World, channel: &Channel) -> Value {
    let id = channel.id.to_string();
    let last = channel.messages.iter().rev().find(|one| one.ephemeral_for.is_none());
    let last = last.map(|message| message.id.to_string());
    let Some(guild) = channel.guild else {
        let others = channel.recipients.iter().filter(|id| **id != world.bot);
        let others: Vec<Value> = others.filter_map(|id| world.users.get(id)).map(user).collect();
        return json!({"id": id, "type": kind::DM, "recipients": others, "last_message_id": last, "flags": 0});
    };
    let mut object = json!({
        "id": id, "type": channel.kind, "guild_id": guild.to_string(), "name": channel.name, "position": 0,
        "permission_overwrites": overwrites(channel), "parent_id": null, "nsfw": false,
        "rate_limit_per_user": 0, "last_message_id": last, "flags": 0,
    });
    if channel.is_voice() {
        object["bitrate"] = json!(64_000);
        object["user_limit"] = json!(channel.user_limit);
        object["rtc_region"] = Value::Null;
        object["status"] = json!(channel.status);
    } else {
        object["topic"] = Value::Null;
    }
    object
}

/// The overwrites of a channel.
fn overwrites(channel: &Channel) -> Value {
    let one = |((of, id), (allow, deny)): (&(OverwriteOf, u64), &(u64, u64))| {
        let kind = u8::from(*of == OverwriteOf::Member);
        json!({"id": id.to_string(), "type": kind, "allow": allow.to_string(), "deny": deny.to_string()})
    };
    channel.overwrites.iter().map(one).collect()
}

/// A voice state object; `state` is none for who has left.
pub(crate) fn voice_state(
    world: &World,
    guild: &Guild,
    id: u64,
    state: Option<&VoiceState>,
    session: &str,
) -> Value {
    let gone = VoiceState::default();
    let there = state.unwrap_or(&gone);
    json!({
        "guild_id": guild.id.to_string(), "channel_id": state.map(|state| state.channel.to_string()),
        "user_id": id.to_string(), "member": member(world, guild, id),
        "session_id": state.map_or(session, |state| state.session.as_str()),
        "deaf": false, "mute": there.mute, "self_deaf": there.self_deaf, "self_mute": there.self_mute,
        "self_stream": false, "self_video": false, "suppress": there.suppress,
        "request_to_speak_timestamp": there.request_to_speak,
    })
}

/// The guild object of REST.
pub(crate) fn guild(guild: &Guild) -> Value {
    json!({
        "id": guild.id.to_string(), "name": guild.name, "icon": null, "splash": null, "discovery_splash": null,
        "owner_id": guild.owner.to_string(), "afk_channel_id": null, "afk_timeout": 300,
        "verification_level": 0, "default_message_notifications": 0, "explicit_content_filter": 0,
        "mfa_level": 0, "nsfw_level": 0, "premium_tier": 0, "premium_subscription_count": 0,
        "preferred_locale": guild.locale, "system_channel_flags": 0, "system_channel_id": null,
        "rules_channel_id": null, "public_updates_channel_id": null, "application_id": null,
        "vanity_url_code": null, "description": null, "banner": null, "features": [], "emojis": [],
        "stickers": [], "premium_progress_bar_enabled": false, "safety_alerts_channel_id": null,
        "max_members": 500_000, "max_video_channel_users": 25, "max_stage_video_channel_users": 50,
        "roles": roles(guild),
    })
}

/// The data of `GUILD_CREATE` for `viewer`: without the intent for members only its own member and those in
/// voice channels.
pub(crate) fn guild_create(world: &World, one: &Guild, viewer: u64, all_members: bool) -> Value {
    let mut object = guild(one);
    let told = |id: &&u64| all_members || **id == viewer || one.voice.contains_key(id);
    let members: Value =
        one.members.keys().filter(told).map(|id| member(world, one, *id)).collect();
    let states = one.voice.iter().map(|(id, state)| {
        let mut state = voice_state(world, one, *id, Some(state), "");
        if let Some(map) = state.as_object_mut() {
            map.remove("guild_id");
            map.remove("member");
        }
        state
    });
    let extra = json!({
        "joined_at": one.members.get(&viewer).map(|member| member.joined_at.as_str()),
        "large": false, "unavailable": false, "member_count": one.members.len(),
        "voice_states": states.collect::<Vec<_>>(), "members": members,
        "channels": world.channels_of(one.id).map(|one| channel(world, one)).collect::<Vec<_>>(),
        "threads": [], "presences": [], "stage_instances": [], "guild_scheduled_events": [], "soundboard_sounds": [],
    });
    merge(&mut object, extra);
    object
}

/// Puts the keys of `extra` into `object`.
pub(crate) fn merge(object: &mut Value, extra: Value) {
    if let (Some(object), Value::Object(extra)) = (object.as_object_mut(), extra) {
        object.extend(extra);
    }
}

/// The member of an interaction: with its permissions in the channel.
pub(crate) fn calling_member(world: &World, guild: &Guild, id: u64, channel: &Channel) -> Value {
    let mut object = member(world, guild, id);
    if object.is_object() {
        object["permissions"] = json!(permission::of(guild, id, Some(channel)).to_string());
    }
    object
}
