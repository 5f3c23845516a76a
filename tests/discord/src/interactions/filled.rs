//! Values of options and menus, checked as the client app does, and what they refer to.
//!
//! Entry types: [`Filled`]; function [`chosen`]. Never: sending.

use super::slash::Given;
use crate::{
    state::{Inner, State, Upload},
    world::{json, model::Guild},
};
use anyhow::{Context as _, bail, ensure};
use serde_json::{Value, json};

/// Objects that the ids chosen in a menu of this component type refer to; none for a menu of texts.
pub(super) fn chosen(
    inner: &Inner,
    state: &State,
    place: (u64, u64),
    component: u64,
    ids: &[&str],
) -> anyhow::Result<Option<Value>> {
    // As options of commands: user, role, mentionable, channel.
    let kind = match component {
        5 => 6,
        6 => 8,
        7 => 9,
        8 => 7,
        _ => return Ok(None),
    };
    let mut filled = Filled::new(inner, place);
    for id in ids {
        filled.refer(state, kind, &json!(id))?;
    }
    Ok(Some(filled.resolved))
}

/// Text being typed, as the client app sends it: a string, whatever the option.
pub(super) fn raw(given: &Given) -> anyhow::Result<Value> {
    match given {
        Given::Value(Value::String(text)) => Ok(json!(text)),
        Given::Value(other) => Ok(json!(other.to_string())),
        Given::File(_) => bail!("a file cannot be completed"),
    }
}

/// Fills options in and collects what they refer to.
pub(super) struct Filled<'a> {
    inner: &'a Inner,
    /// Guild and channel.
    place: (u64, u64),
    /// Users, members, roles, channels and attachments, by id.
    pub(super) resolved: Value,
}

impl<'a> Filled<'a> {
    /// Nothing yet, in this guild and channel.
    pub(super) fn new(inner: &'a Inner, place: (u64, u64)) -> Self {
        Self { inner, place, resolved: json!({}) }
    }

    /// The value of one option, as the client app would take it.
    pub(super) fn value(
        &mut self,
        state: &mut State,
        schema: &Value,
        given: &Given,
    ) -> anyhow::Result<Value> {
        let kind = schema["type"].as_u64().unwrap_or_default();
        let value = match given {
            Given::File(upload) => {
                ensure!(kind == 11, "it takes no file");
                return Ok(self.attach(state, upload));
            }
            Given::Value(value) => value,
        };
        let fits = match kind {
            3 => value.is_string(),
            4 => value.is_i64(),
            5 => value.is_boolean(),
            6..=9 => return self.refer(state, kind, value),
            10 => value.is_number(),
            _ => false,
        };
        ensure!(fits, "{value} does not fit type {kind}");
        let choices = schema["choices"].as_array().map_or(&[][..], Vec::as_slice);
        if !choices.is_empty() {
            let chosen = choices.iter().find(|one| one["value"] == *value || one["name"] == *value);
            return Ok(
                chosen.with_context(|| format!("{value} is none of its choices"))?["value"].clone()
            );
        }
        bounded(schema, value)?;
        Ok(value.clone())
    }

    /// The id of a user, role or channel, whose object is added to the resolved ones.
    fn refer(&mut self, state: &State, kind: u64, value: &Value) -> anyhow::Result<Value> {
        let id =
            value.as_u64().or_else(|| value.as_str()?.parse().ok()).context("it takes an id")?;
        let guild: &Guild = state.world.guilds.get(&self.place.0).context("no such guild")?;
        let mut add = |group: &str, object: Value| {
            if self.resolved[group].is_null() {
                self.resolved[group] = json!({});
            }
            self.resolved[group][id.to_string()] = object;
        };
        let user = state.world.users.get(&id).filter(|_| matches!(kind, 6 | 9));
        let role = guild.roles.get(&id).filter(|_| matches!(kind, 8 | 9));
        let channel =
            state.world.channels.get(&id).filter(|one| kind == 7 && one.guild == Some(guild.id));
        if let Some(user) = user {
            add("users", json::user(user));
            if let Some(member) = guild.members.get(&id) {
                let mut member = json::bare_member(member);
                let bits = crate::world::permission::of(
                    guild,
                    id,
                    state.world.channels.get(&self.place.1),
                );
                member["permissions"] = json!(bits.to_string());
                add("members", member);
            }
        } else if let Some(role) = role {
            add("roles", json::role(role, 0));
        } else if let Some(channel) = channel {
            add("channels", json::channel(&state.world, channel));
        } else {
            bail!("{id} is not what type {kind} takes");
        }
        Ok(json!(id.to_string()))
    }

    /// Uploads a file.
    fn attach(&mut self, state: &mut State, upload: &Upload) -> Value {
        let id = self.inner.clock.id();
        let url = self.inner.upload_url(self.place.1, id, &upload.name);
        state.uploads.insert(id, upload.clone());
        let object = json!({
            "id": id.to_string(), "filename": upload.name, "size": upload.bytes.len(), "url": url, "proxy_url": url,
            "content_type": upload.kind, "ephemeral": true,
        });
        if self.resolved["attachments"].is_null() {
            self.resolved["attachments"] = json!({});
        }
        self.resolved["attachments"][id.to_string()] = object;
        json!(id.to_string())
    }
}

/// Checks a value against the bounds of its option.
fn bounded(schema: &Value, value: &Value) -> anyhow::Result<()> {
    let below = |name: &str, number: f64| schema[name].as_f64().is_some_and(|bound| number < bound);
    let above = |name: &str, number: f64| schema[name].as_f64().is_some_and(|bound| number > bound);
    if let Some(number) = value.as_f64() {
        ensure!(
            !below("min_value", number) && !above("max_value", number),
            "{value} is out of its bounds"
        );
    }
    if let Some(text) = value.as_str() {
        let length = text.chars().count();
        let most = schema["max_length"].as_u64().unwrap_or(6000);
        ensure!(u64::try_from(length)? <= most, "{length} characters are too many");
        ensure!(
            u64::try_from(length)? >= schema["min_length"].as_u64().unwrap_or_default(),
            "too short"
        );
        ensure!(schema["required"] != true || length > 0, "it must not be empty");
    }
    Ok(())
}
