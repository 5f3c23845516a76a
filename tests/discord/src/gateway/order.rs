//! Payloads of a client that has identified: members, presence, voice.
//!
//! Entry function: [`obey`]. Never: sockets.

use super::intent;
use crate::{state::Shared, voice::snowflake, world::json};
use serde_json::{Value, json};

/// Members in one chunk.
const CHUNK: usize = 1000;

/// Obeys opcode `op` of the session `id`; the error is a close code with its reason.
pub(crate) fn obey(inner: &Shared, id: &str, op: u64, data: &Value) -> Result<(), (u16, String)> {
    match op {
        3 => presence(data),
        4 => {
            let guild = snowflake(&data["guild_id"]);
            let guild = guild.ok_or((4002, "op 4 without \"guild_id\"".to_owned()))?;
            if serves(inner, id, guild, op) {
                inner.voice_requested(id, data);
            }
            Ok(())
        }
        8 => members(inner, id, data),
        31 => Ok(()),
        _ => Err((4001, format!("unknown opcode {op}"))),
    }
}

/// True if the session `id` has this guild. Discord ignores an opcode for one of another shard.
fn serves(inner: &Shared, id: &str, guild: u64, op: u64) -> bool {
    inner.change(|state| {
        let Some(session) = state.gateway.sessions.get(id) else { return false };
        let (is_there, shard) = (session.serves(Some(guild)), session.shard);
        if !is_there {
            state.violation(format!(
                "op {op} for guild {guild}, which shard {shard:?} does not have"
            ));
        }
        is_there
    })
}

/// A presence has a status Discord knows.
fn presence(data: &Value) -> Result<(), (u16, String)> {
    let status = data["status"].as_str().unwrap_or_default();
    if ["online", "idle", "dnd", "invisible", "offline"].contains(&status) {
        return Ok(());
    }
    Err((4002, format!("op 3 with the status \"{status}\"")))
}

/// Answers a request for members.
fn members(inner: &Shared, id: &str, data: &Value) -> Result<(), (u16, String)> {
    let number = |value: &Value| value.as_str().and_then(|text| text.parse::<u64>().ok());
    let guild = number(&data["guild_id"]).ok_or((4002, "op 8 without \"guild_id\"".to_owned()))?;
    if !serves(inner, id, guild, 8) {
        return Ok(());
    }
    let wanted = match &data["user_ids"] {
        Value::Array(ids) => Some(ids.iter().filter_map(number).collect::<Vec<u64>>()),
        one @ Value::String(_) => Some(number(one).into_iter().collect()),
        _ => None,
    };
    let prefix = data["query"].as_str().unwrap_or_default().to_lowercase();
    inner.change(|state| {
        let Some(session) = state.gateway.sessions.get(id) else { return Ok(()) };
        if wanted.is_none() && prefix.is_empty() && session.intents & intent::GUILD_MEMBERS == 0 {
            return Err((4014, "op 8 for all members without the intent".to_owned()));
        }
        let Some(one) = state.world.guilds.get(&guild) else { return Ok(()) };
        let matches = |id: &&u64| match &wanted {
            Some(wanted) => wanted.contains(id),
            None => {
                let user = state.world.users.get(id);
                user.is_some_and(|user| user.name.to_lowercase().starts_with(&prefix))
            }
        };
        let found: Vec<Value> = one
            .members
            .keys()
            .filter(matches)
            .take(CHUNK)
            .map(|id| json::member(&state.world, one, *id))
            .collect();
        let chunk = json!({
            "guild_id": guild.to_string(), "members": found, "chunk_index": 0, "chunk_count": 1,
            "not_found": [], "nonce": data["nonce"],
        });
        if let Some(session) = state.gateway.sessions.get_mut(id) {
            session.push("GUILD_MEMBERS_CHUNK", &chunk);
        }
        Ok(())
    })
}
