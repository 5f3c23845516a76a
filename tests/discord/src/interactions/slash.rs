//! A slash command as a person types it, against what is registered.
//!
//! Entry type: [`Slash`]. Never: sending it.

use super::filled::{Filled, raw};
use crate::state::{Inner, State, Upload};
use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

/// A slash command with its options: `Slash::new("npc speak").option("name", "Bartok")`.
#[derive(Clone, Debug)]
pub struct Slash {
    path: Vec<String>,
    options: Vec<(String, Given)>,
}

/// Value that a person gave for an option.
#[derive(Clone, Debug)]
pub(super) enum Given {
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

    /// Name as a person would say it.
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
        let (schema, steps) = self.descend(&command)?;
        let mut filled = Filled::new(inner, place);
        let mut options = self.fill(state, &mut filled, schema, focused)?;
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

    /// The options of the subcommand that is named, and the names and types on the way there.
    fn descend<'c>(&self, command: &'c Value) -> anyhow::Result<(&'c [Value], Vec<Step>)> {
        let is_step = |one: &Value| matches!(one["type"].as_u64(), Some(1 | 2));
        let (mut steps, mut at) = (Vec::new(), command);
        for step in self.path.iter().skip(1) {
            let below = at["options"].as_array().context("a command without subcommands")?;
            let sub = below.iter().find(|one| one["name"] == *step && is_step(one));
            at = sub.with_context(|| format!("no subcommand \"{step}\" in \"{}\"", self.name()))?;
            steps.push((at["name"].clone(), at["type"].clone()));
        }
        let schema = at["options"].as_array().map_or(&[][..], Vec::as_slice);
        ensure!(!schema.iter().any(is_step), "\"{}\" needs a subcommand", self.name());
        for (name, _) in &self.options {
            let known = schema.iter().any(|one| one["name"] == *name);
            ensure!(known, "\"{}\" has no option \"{name}\"", self.name());
        }
        Ok((schema, steps))
    }

    /// The options that were given, as the client app would send them.
    fn fill(
        &self,
        state: &mut State,
        filled: &mut Filled,
        schema: &[Value],
        focused: Option<&str>,
    ) -> anyhow::Result<Vec<Value>> {
        let mut options = Vec::new();
        for one in schema {
            let name = one["name"].as_str().unwrap_or_default();
            let Some((_, given)) = self.options.iter().find(|(given, _)| given == name) else {
                let needed = one["required"] == true && focused.is_none();
                ensure!(!needed, "\"{}\" needs its option \"{name}\"", self.name());
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
        Ok(options)
    }
}

/// Name and type of a subcommand or a group.
type Step = (Value, Value);
