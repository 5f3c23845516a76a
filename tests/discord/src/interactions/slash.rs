//! A slash command as a person types it, against what is registered.
//!
//! Entry type: [`Slash`]. Never: sending it.

use crate::{
    state::{Inner, State, Upload},
    world::{json, model::Guild},
};
use anyhow::{Context as _, bail, ensure};
use serde_json::{Value, json};

/// A slash command with its options: `Slash::new("npc speak").option("name", "Bartok")`.
#[derive(Clone, Debug)]
pub struct Slash {
    path: Vec<String>,
    options: Vec<(String, Given)>,
}

/// What a person gave for an option.
#[derive(Clone, Debug)]
enum Given {
    /// Text, number or truth value; ids as numbers.
    Value(Value),
    /// A file.
    File(Upload),
}

impl Slash {
    /// The command by its name, with group and subcommand behind it, without the slash.
    #[must_use]
    pub fn new(path: &str) -> Self {
        Self { path: path.split_whitespace().map(str::to_owned).collect(), options: Vec::new() }
    }

    /// Fills in an option: text, a number, a truth value, or the id of a user, role or channel.
    #[must_use]
    pub fn option(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.options.push((name.into(), Given::Value(value.into())));
        self
    }

    /// Puts a file into an option.
    #[must_use]
    pub fn file(mut self, option: &str, name: &str, kind: &str, bytes: &[u8]) -> Self {
        let upload = Upload { name: name.into(), kind: kind.into(), bytes: bytes.to_vec() };
        self.options.push((option.into(), Given::File(upload)));
        self
    }

    /// What a person would call it.
    pub(crate) fn name(&self) -> String {
        format!("/{}", self.path.join(" "))
    }

    /// The registered command it names: the guild's own before a global one.
    pub(crate) fn registered<'s>(&self, state: &'s State, guild: u64) -> anyhow::Result<&'s Value> {
        let name = self.path.first().context("a command without a name")?;
        let known = [Some(guild), None]
            .into_iter()
            .filter_map(|scope| state.commands.get(&scope))
            .flatten();
        let mut known = known.filter(|one| one["type"] == 1);
        known
            .find(|one| one["name"] == *name)
            .with_context(|| format!("no command \"{}\" is registered", self.name()))
    }

    /// The data of the interaction; with `focused`, as autocomplete sends it for that option.
    pub(crate) fn data(
        &self,
        inner: &Inner,
        state: &mut State,
        place: (u64, u64),
        focused: Option<&str>,
    ) -> anyhow::Result<Value> {
        let command = self.registered(state, place.0)?.clone();
        let mut steps = Vec::new();
        let mut at = &command;
        for step in self.path.iter().skip(1) {
            let below = at["options"].as_array().context("a command without subcommands")?;
            let sub = below
                .iter()
                .find(|one| one["name"] == *step && matches!(one["type"].as_u64(), Some(1 | 2)));
            at = sub.with_context(|| format!("no subcommand \"{step}\" in \"{}\"", self.name()))?;
            steps.push((at["name"].clone(), at["type"].clone()));
        }
        let schema = at["options"].as_array().cloned().unwrap_or_default();
        ensure!(
            schema.iter().all(|one| !matches!(one["type"].as_u64(), Some(1 | 2))),
            "\"{}\" needs a subcommand",
            self.name()
        );
        for (name, _) in &self.options {
            ensure!(
                schema.iter().any(|one| one["name"] == *name),
                "\"{}\" has no option \"{name}\"",
                self.name()
            );
        }
        let mut filled = Filled { inner, place, resolved: json!({}) };
        let mut options = Vec::new();
        for one in &schema {
            let name = one["name"].as_str().unwrap_or_default();
            let Some((_, given)) = self.options.iter().find(|(given, _)| given == name) else {
                ensure!(
                    one["required"] != true || focused.is_some(),
                    "\"{}\" needs its option \"{name}\"",
                    self.name()
                );
                continue;
            };
            let typing = focused == Some(name);
            ensure!(!typing || one["autocomplete"] == true, "\"{name}\" is not completed");
            let value = if typing { raw(given) } else { filled.value(state, one, given) };
            let value =
                value.with_context(|| format!("the option \"{name}\" of \"{}\"", self.name()))?;
            let mut option = json!({"name": name, "type": one["type"], "value": value});
            if typing {
                option["focused"] = json!(true);
            }
            options.push(option);
        }
        for (name, kind) in steps.into_iter().rev() {
            options = vec![json!({"name": name, "type": kind, "options": options})];
        }
        let mut data =
            json!({"id": command["id"], "name": command["name"], "type": 1, "options": options});
        if filled.resolved.as_object().is_some_and(|map| !map.is_empty()) {
            data["resolved"] = filled.resolved;
        }
        if !command["guild_id"].is_null() {
            data["guild_id"] = command["guild_id"].clone();
        }
        Ok(data)
    }
}

/// What the ids chosen in a menu of this component type refer to; none for a menu of texts.
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
    let mut filled = Filled { inner, place, resolved: json!({}) };
    for id in ids {
        filled.refer(state, kind, &json!(id))?;
    }
    Ok(Some(filled.resolved))
}

/// What is being typed, as the client app sends it: text, whatever the option.
fn raw(given: &Given) -> anyhow::Result<Value> {
    match given {
        Given::Value(Value::String(text)) => Ok(json!(text)),
        Given::Value(other) => Ok(json!(other.to_string())),
        Given::File(_) => bail!("a file cannot be completed"),
    }
}

/// Fills options in and collects what they refer to.
struct Filled<'a> {
    inner: &'a Inner,
    /// Guild and channel.
    place: (u64, u64),
    resolved: Value,
}

impl Filled<'_> {
    /// The value of one option, as the client app would take it.
    fn value(&mut self, state: &mut State, schema: &Value, given: &Given) -> anyhow::Result<Value> {
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

    /// The id of somebody or something, which is put among what is resolved.
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
