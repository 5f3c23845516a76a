//! Registering commands.
//!
//! Entry functions: handlers. Never: running them.

use super::{
    check_command,
    refusal::{Answered, Problems, Refusal, Reply},
    route::Call,
};
use crate::{state::State, world::json};
use serde_json::{Value, json};

/// Slash commands of one guild, or global ones.
const COMMANDS: usize = 100;

/// Guild of the path; `None`: global commands.
fn scope(call: &Call, state: &State) -> Result<Option<u64>, Refusal> {
    if call.id("application_id")? != call.user || call.user != state.world.bot {
        let message = "You are not authorized to perform this action on this application";
        return Err(Refusal::new(403, 20_012, message));
    }
    if call.param("guild_id").is_none() {
        return Ok(None);
    }
    let id = call.id("guild_id")?;
    let guild = state.world.guilds.get(&id);
    if !guild.is_some_and(|guild| guild.members.contains_key(&call.user)) {
        return Err(Refusal::access());
    }
    Ok(Some(id))
}

/// The command of the path.
fn find<'s>(call: &Call, state: &'s mut State) -> Result<(Option<u64>, &'s mut Value), Refusal> {
    let (scope, id) = (scope(call, state)?, call.id("command_id")?.to_string());
    let all = state.commands.entry(scope).or_default();
    let found = all.iter_mut().find(|one| one["id"] == id);
    Ok((scope, found.ok_or_else(|| Refusal::unknown(10_063, "application command"))?))
}

/// A command as Discord keeps it; with the id of the one it replaces.
fn stored(call: &Call, scope: Option<u64>, body: &Value, old: Option<&Value>) -> Value {
    let id = old.map_or_else(|| json!(call.inner.clock.id().to_string()), |old| old["id"].clone());
    let mut command = json!({
        "id": id, "application_id": call.user.to_string(), "version": call.inner.clock.id().to_string(),
        "type": body["type"].as_u64().unwrap_or(1), "name": body["name"],
        "description": body["description"].as_str().unwrap_or_default(),
        "options": body["options"].as_array().cloned().unwrap_or_default(),
        "default_member_permissions": body["default_member_permissions"],
        "nsfw": body["nsfw"] == true, "contexts": body["contexts"], "integration_types": [0],
    });
    for name in ["name_localizations", "description_localizations", "dm_permission"] {
        command[name] = body[name].clone();
    }
    match scope {
        Some(guild) => command["guild_id"] = json!(guild.to_string()),
        None => command["dm_permission"] = json!(body["dm_permission"] != false),
    }
    command
}

/// True if two commands take the same place.
fn same_place(one: &Value, other: &Value) -> bool {
    one["name"] == other["name"]
        && one["type"].as_u64().unwrap_or(1) == other["type"].as_u64().unwrap_or(1)
}

/// All.
pub(crate) fn list(call: &Call) -> Answered {
    call.inner.read(|state| {
        let all = state.commands.get(&scope(call, state)?);
        Reply::ok(json!(all.cloned().unwrap_or_default()))
    })
}

/// One.
pub(crate) fn show(call: &Call) -> Answered {
    call.inner.quietly(|state| Reply::ok(find(call, state)?.1.clone()))
}

/// One more, or another one of the same name.
pub(crate) fn create(call: &Call) -> Answered {
    let mut problems = Problems::default();
    check_command::command(&mut problems, "", &call.body);
    problems.done()?;
    call.inner.change(|state| {
        let scope = scope(call, state)?;
        let all = state.commands.entry(scope).or_default();
        let at = all.iter().position(|one| same_place(one, &call.body));
        let new = stored(call, scope, &call.body, at.and_then(|at| all.get(at)));
        if let Some(old) = at.and_then(|at| all.get_mut(at)) {
            old.clone_from(&new);
            return Reply::ok(new);
        }
        if all.len() >= COMMANDS {
            return Err(too_many());
        }
        all.push(new.clone());
        Ok(Reply { status: 201, body: Some(new) })
    })
}

/// The hundred are full.
fn too_many() -> Refusal {
    Refusal::fault(400, 30_032, "Maximum number of application commands reached (100).")
}

/// These and no others.
pub(crate) fn overwrite(call: &Call) -> Answered {
    let Some(wanted) = call.body.as_array() else {
        return Err(Problems::only(
            "_root",
            "LIST_TYPE_CONVERT",
            "Only iterables may be used in a ListType",
        ));
    };
    let mut problems = Problems::default();
    for (number, one) in wanted.iter().enumerate() {
        check_command::command(&mut problems, &number.to_string(), one);
        if wanted.iter().take(number).any(|other| same_place(one, other)) {
            let message = "Application command names must be unique";
            problems.add(&number.to_string(), "APPLICATION_COMMANDS_DUPLICATE_NAME", message);
        }
    }
    problems.done()?;
    if wanted.len() > COMMANDS {
        return Err(too_many());
    }
    call.inner.change(|state| {
        let scope = scope(call, state)?;
        let old = state.commands.entry(scope).or_default();
        let new: Vec<Value> = wanted
            .iter()
            .map(|one| stored(call, scope, one, old.iter().find(|old| same_place(one, old))))
            .collect();
        *old = new.clone();
        Reply::ok(json!(new))
    })
}

/// Other words for one.
pub(crate) fn edit(call: &Call) -> Answered {
    call.inner.change(|state| {
        let (scope, old) = find(call, state)?;
        let mut merged = old.clone();
        json::merge(&mut merged, call.body.clone());
        let mut problems = Problems::default();
        check_command::command(&mut problems, "", &merged);
        problems.done()?;
        *old = stored(call, scope, &merged, Some(&old.clone()));
        Reply::ok(old.clone())
    })
}

/// One less.
pub(crate) fn delete(call: &Call) -> Answered {
    call.inner.change(|state| {
        let (scope, found) = find(call, state)?;
        let id = found["id"].clone();
        state.commands.entry(scope).or_default().retain(|one| one["id"] != id);
        Reply::nothing()
    })
}
