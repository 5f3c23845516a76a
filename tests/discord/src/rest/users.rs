//! Users, the application, and the way to the gateway.
//!
//! Entry functions: handlers. Never: guilds.

use super::{
    refusal::{Answered, Problems, Refusal, Reply},
    route::Call,
};
use crate::world::{
    json,
    model::{Channel, kind},
    permission,
};
use serde_json::{Value, json};

/// Most identifies of a token per day.
const STARTS: u64 = 1000;

/// Address of the gateway.
pub(crate) fn gateway(call: &Call) -> Answered {
    Reply::ok(json!({"url": call.inner.gateway_url()}))
}

/// Address of the gateway, with the number of shards and of starts.
pub(crate) fn gateway_bot(call: &Call) -> Answered {
    let used = call.inner.read(|state| state.gateway.identifies.get(&call.user).copied());
    let remaining = STARTS.saturating_sub(used.unwrap_or_default());
    let starts = json!({
        "total": STARTS, "remaining": remaining, "reset_after": 86_400_000,
        "max_concurrency": call.inner.options.max_concurrency,
    });
    Reply::ok(json!({"url": call.inner.gateway_url(), "shards": 1, "session_start_limit": starts}))
}

/// The user of the token.
pub(crate) fn me(call: &Call) -> Answered {
    call.inner.read(|state| {
        let user =
            state.world.users.get(&call.user).ok_or_else(|| Refusal::unknown(10_013, "User"))?;
        Reply::ok(json::me(user))
    })
}

/// A user by id.
pub(crate) fn user(call: &Call) -> Answered {
    let id = call.id("user_id")?;
    call.inner.read(|state| {
        let user = state.world.users.get(&id).ok_or_else(|| Refusal::unknown(10_013, "User"))?;
        Reply::ok(json::user(user))
    })
}

/// The guilds one is in.
pub(crate) fn my_guilds(call: &Call) -> Answered {
    call.inner.read(|state| {
        let mine = state.world.guilds.values().filter(|guild| guild.members.contains_key(&call.user));
        let guilds: Value = mine
            .map(|guild| {
                let bits = permission::of(guild, call.user, None);
                json!({
                    "id": guild.id.to_string(), "name": guild.name, "icon": null, "banner": null,
                    "owner": guild.owner == call.user, "permissions": bits.to_string(), "features": [],
                })
            })
            .collect();
        Reply::ok(guilds)
    })
}

/// The application of the bot.
pub(crate) fn application(call: &Call) -> Answered {
    call.inner.read(|state| {
        if call.user != state.world.bot {
            return Err(Refusal::new(401, 0, "401: Unauthorized"));
        }
        let user = state.world.users.get(&call.user).ok_or_else(|| Refusal::unknown(10_013, "User"))?;
        Reply::ok(json!({
            "id": user.id.to_string(), "name": user.name, "icon": null, "description": "", "summary": "",
            "type": null, "bot": json::user(user), "bot_public": true, "bot_require_code_grant": false,
            "verify_key": "0".repeat(64), "flags": 0, "hook": true, "owner": json::user(user), "team": null,
            "approximate_guild_count": state.world.guilds.len(), "redirect_uris": [], "tags": [],
            "interactions_endpoint_url": null, "role_connections_verification_url": null,
            "integration_types_config": {"0": {}},
        }))
    })
}

/// The channel of direct messages with a user.
pub(crate) fn open_dm(call: &Call) -> Answered {
    let id = &call.body["recipient_id"];
    let id = id.as_str().and_then(|text| text.parse::<u64>().ok()).or(id.as_u64());
    let id = id.ok_or_else(|| {
        Problems::only("recipient_id", "BASE_TYPE_REQUIRED", "This field is required")
    })?;
    let new = call.inner.clock.id();
    call.inner.change(|state| {
        if !state.world.users.contains_key(&id) {
            return Err(Refusal::unknown(10_013, "User"));
        }
        if id == call.user {
            return Err(Refusal::new(400, 50_033, "Invalid Recipient(s)"));
        }
        let both = [call.user, id];
        let with = |one: &&Channel| {
            one.kind == kind::DM && both.iter().all(|id| one.recipients.contains(id))
        };
        let known = state.world.channels.values().find(with).map(|channel| channel.id);
        let channel = known.unwrap_or(new);
        state.world.channels.entry(channel).or_insert_with(|| Channel {
            recipients: both.to_vec(),
            ..Channel::new(new, None, kind::DM, "")
        });
        let body = state.world.channels.get(&channel).map(|one| json::channel(&state.world, one));
        Reply::ok(body.unwrap_or_default())
    })
}
