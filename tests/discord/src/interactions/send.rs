//! People use commands, press buttons, choose, and fill in forms.
//!
//! Entry functions: on [`Discord`]. Never: answering.

use super::{Answer, Interaction, Slash, filled, kind};
use crate::{
    discord::Discord,
    gateway::Audience,
    state::State,
    world::{Member, json, message::components, permission},
};
use anyhow::{Context as _, ensure};
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use serde_json::{Value, json};

/// An interaction before it is sent.
struct Deed {
    kind: u8,
    name: String,
    channel: u64,
    source: Option<u64>,
    data: Value,
    /// In a conversation with the bot alone, so that no guild is named.
    whispered: bool,
}

impl Deed {
    /// Use of a component of `message`.
    const fn component(name: String, channel: u64, message: u64, data: Value) -> Self {
        let (kind, source) = (kind::COMPONENT, Some(message));
        Self { kind, name, channel, source, data, whispered: false }
    }
}

impl Discord {
    /// A member uses a slash command in a channel; returns once it is first answered, or has not
    /// been in time (see [`Discord::violations`]).
    ///
    /// # Errors
    /// Fails if the client app would not let the member: no such command or option, a value that
    /// does not fit, no permission; or if the bot is not connected.
    pub async fn command(
        &self,
        member: &Member,
        channel: u64,
        slash: Slash,
    ) -> anyhow::Result<Answer> {
        self.slash(member, channel, &slash, None).await
    }

    /// A member is typing the option `focused` of a slash command.
    ///
    /// # Errors
    /// Fails like [`Discord::command`]; also if the option is not completed.
    pub async fn autocomplete(
        &self,
        member: &Member,
        channel: u64,
        slash: Slash,
        focused: &str,
    ) -> anyhow::Result<Answer> {
        self.slash(member, channel, &slash, Some(focused)).await
    }

    /// A command, finished or not.
    async fn slash(
        &self,
        member: &Member,
        channel: u64,
        slash: &Slash,
        focused: Option<&str>,
    ) -> anyhow::Result<Answer> {
        let kind = if focused.is_some() { kind::AUTOCOMPLETE } else { kind::COMMAND };
        let data = self.inner.change(|state| {
            may_use(state, member, channel, slash)?;
            slash.data(&self.inner, state, (member.guild, channel), focused)
        })?;
        let whispered = false;
        self.act(member, Deed { kind, name: slash.name(), channel, source: None, data, whispered })
            .await
    }

    /// A member uses a slash command as if in a conversation with the bot alone: no guild is named. The
    /// answer lies in `channel`.
    ///
    /// # Errors
    /// Fails like [`Discord::command`].
    pub async fn whisper(
        &self,
        member: &Member,
        channel: u64,
        slash: Slash,
    ) -> anyhow::Result<Answer> {
        let data = self.inner.change(|state| {
            may_use(state, member, channel, &slash)?;
            slash.data(&self.inner, state, (member.guild, channel), None)
        })?;
        let (kind, name) = (kind::COMMAND, slash.name());
        self.act(member, Deed { kind, name, channel, source: None, data, whispered: true }).await
    }

    /// A member sends the press of a button that no message has, as a client of theirs might.
    ///
    /// # Errors
    /// Fails if the bot is not connected.
    pub async fn forge(
        &self,
        member: &Member,
        channel: u64,
        custom_id: &str,
    ) -> anyhow::Result<Answer> {
        let source = self.say(member, channel, "(a message with a forged button)")?;
        let data = json!({"custom_id": custom_id, "component_type": 2});
        let name = format!("forged button {custom_id}");
        let (kind, source) = (kind::COMPONENT, Some(source));
        self.act(member, Deed { kind, name, channel, source, data, whispered: false }).await
    }

    /// A member presses the button with this `custom_id` on a message.
    ///
    /// # Errors
    /// Fails if the member does not see the message, or the button does not exist or is disabled.
    pub async fn press(
        &self,
        member: &Member,
        channel: u64,
        message: u64,
        custom_id: &str,
    ) -> anyhow::Result<Answer> {
        let data = self.component(member, channel, message, custom_id)?;
        ensure!(data["component_type"] == 2, "\"{custom_id}\" is not a button");
        let name = format!("button {custom_id}");
        self.act(member, Deed::component(name, channel, message, data)).await
    }

    /// A member chooses from the menu of a place, which is channel, message and `custom_id`; ids as text.
    ///
    /// # Errors
    /// Fails if the member does not see the message, or the menu or the choice does not exist.
    pub async fn choose(
        &self,
        member: &Member,
        place: (u64, u64, &str),
        values: &[&str],
    ) -> anyhow::Result<Answer> {
        let (channel, message, custom_id) = place;
        let mut data = self.component(member, channel, message, custom_id)?;
        let menu = self.inner.read(|state| part(state, channel, message, custom_id))?;
        let bound = |name: &str| usize::try_from(menu[name].as_u64().unwrap_or(1)).unwrap_or(1);
        let fits = (bound("min_values")..=bound("max_values")).contains(&values.len());
        ensure!(fits, "{} values are not what the menu takes", values.len());
        if menu["type"] == 3 {
            let options = menu["options"].as_array().cloned().unwrap_or_default();
            for value in values {
                ensure!(options.iter().any(|one| one["value"] == *value), "no choice \"{value}\"");
            }
        }
        let kind = menu["type"].as_u64().unwrap_or_default();
        let place = (member.guild, channel);
        let resolved =
            self.inner.read(|state| filled::chosen(&self.inner, state, place, kind, values))?;
        if let Some(resolved) = resolved {
            data["resolved"] = resolved;
        }
        data["values"] = json!(values);
        let name = format!("menu {custom_id}");
        self.act(member, Deed::component(name, channel, message, data)).await
    }

    /// A member fills in and sends the form that `answer` opened; inputs by their `custom_id`.
    ///
    /// # Errors
    /// Fails if no form was opened for the member, or a value does not fit its input.
    pub async fn submit(
        &self,
        member: &Member,
        answer: &Answer,
        values: &[(&str, &str)],
    ) -> anyhow::Result<Answer> {
        let found = self.inner.read(|state| {
            let it = state.interactions.by_id.get(&answer.id)?;
            let form = it.first.as_ref().filter(|first| first.kind == 9)?;
            (it.user == member.id).then(|| (it.channel, it.source, form.data.clone()))
        });
        let (channel, source, form) = found.context("no form was opened for the member")?;
        let mut rows = Vec::new();
        for input in components(&form) {
            let id = input["custom_id"].as_str().unwrap_or_default();
            let given = values.iter().find(|(name, _)| *name == id).map(|(_, value)| *value);
            let value = given.or(input["value"].as_str()).unwrap_or_default();
            let length = u64::try_from(value.chars().count())?;
            ensure!(length > 0 || input["required"] == false, "the input \"{id}\" is required");
            ensure!(length <= input["max_length"].as_u64().unwrap_or(4000), "\"{id}\" is too long");
            ensure!(
                length == 0 || length >= input["min_length"].as_u64().unwrap_or_default(),
                "\"{id}\" is too short"
            );
            let part = json!({"type": 4, "custom_id": id, "value": value});
            rows.push(json!({"type": 1, "components": [part]}));
        }
        let id = form["custom_id"].clone();
        let name = format!("form {}", id.as_str().unwrap_or_default());
        let data = json!({"custom_id": id, "components": rows});
        self.act(member, Deed { kind: kind::MODAL, name, channel, source, data, whispered: false })
            .await
    }

    /// The data of a component, if the member can use it.
    fn component(
        &self,
        member: &Member,
        channel: u64,
        message: u64,
        custom_id: &str,
    ) -> anyhow::Result<Value> {
        self.inner.read(|state| {
            let room = state.world.channels.get(&channel).context("no such channel")?;
            let sees = state.world.permissions(member.id, room) & permission::VIEW_CHANNEL != 0;
            let shown = state.world.message(channel, message).context("no such message")?;
            let mine = shown.ephemeral_for.is_none_or(|user| user == member.id);
            ensure!(sees && mine, "the member does not see the message");
            let part = part(state, channel, message, custom_id)?;
            ensure!(part["disabled"] != true, "\"{custom_id}\" is disabled");
            Ok(json!({"custom_id": custom_id, "component_type": part["type"]}))
        })
    }

    /// Sends the bot an interaction and waits for its first answer, for as long as it may take.
    async fn act(&self, member: &Member, deed: Deed) -> anyhow::Result<Answer> {
        let id = self.inner.clock.id();
        let secret: [u8; 32] = rand::random();
        let it = Interaction {
            id,
            token: BASE64_URL_SAFE_NO_PAD.encode(secret),
            kind: deed.kind,
            name: deed.name.clone(),
            user: member.id,
            guild: member.guild,
            channel: deed.channel,
            created: self.inner.clock.now(),
            source: deed.source,
            first: None,
            late: None,
            original: None,
            follow_ups: Vec::new(),
        };
        self.inner.change(|state| {
            let bot = state.world.bot;
            let guild = Some(member.guild).filter(|_| !deed.whispered);
            ensure!(
                state.gateway.of(bot).any(|session| !session.ended && session.serves(guild)),
                "the bot is not connected (start it first)"
            );
            let event = event(state, &it, &deed)?;
            state.interactions.by_id.insert(id, it);
            state.dispatch(Audience::User(bot, guild), "INTERACTION_CREATE", &event);
            Ok(())
        })?;
        let answer = Answer { inner: self.inner.clone(), id };
        // Late or never is noted among the violations.
        let _ = answer.wait_first(self.inner.options.answer_within).await;
        Ok(answer)
    }
}

/// A component of a message.
fn part(state: &State, channel: u64, message: u64, custom_id: &str) -> anyhow::Result<Value> {
    let message = state.world.message(channel, message).context("no such message")?;
    let found = message.components().into_iter().find(|one| one["custom_id"] == custom_id).cloned();
    found.with_context(|| format!("the message has no \"{custom_id}\""))
}

/// Checks that the client app offers the command to the member.
fn may_use(state: &State, member: &Member, channel: u64, slash: &Slash) -> anyhow::Result<()> {
    let guild = state.world.guilds.get(&member.guild).context("no such guild")?;
    let room = state.world.channels.get(&channel).context("no such channel")?;
    ensure!(room.guild == Some(guild.id), "the channel is in another guild");
    let bits = permission::of(guild, member.id, Some(room));
    let needed = permission::VIEW_CHANNEL | permission::USE_APPLICATION_COMMANDS;
    ensure!(bits & needed == needed, "the member may not use commands here");
    let command = slash.registered(state, guild.id)?;
    let default = &command["default_member_permissions"];
    let open = command["name"].as_str().is_some_and(|name| guild.open_commands.contains(name));
    if let Some(wanted) =
        default.as_str().and_then(|text| text.parse::<u64>().ok()).filter(|_| !open)
    {
        let all = permission::of(guild, member.id, None);
        let wanted = if wanted == 0 { permission::ADMINISTRATOR } else { wanted };
        let has = all & wanted == wanted || all & permission::ADMINISTRATOR != 0;
        ensure!(has, "\"{}\" is not offered to the member (default permissions)", slash.name());
    }
    Ok(())
}

/// The data of `INTERACTION_CREATE`.
fn event(state: &State, it: &Interaction, deed: &Deed) -> anyhow::Result<Value> {
    let guild = state.world.guilds.get(&it.guild).context("no such guild")?;
    let room = state.world.channels.get(&it.channel).context("no such channel")?;
    let mut channel = json::channel(&state.world, room);
    channel["permissions"] = json!(permission::of(guild, it.user, Some(room)).to_string());
    let bot = permission::of(guild, state.world.bot, Some(room));
    let mut event = json!({
        "id": it.id.to_string(), "application_id": state.world.bot.to_string(), "type": it.kind, "data": deed.data,
        "guild_id": guild.id.to_string(), "guild": {"id": guild.id.to_string(), "locale": guild.locale, "features": []},
        "channel_id": room.id.to_string(), "channel": channel, "token": it.token, "version": 1,
        "member": json::calling_member(&state.world, guild, it.user, room),
        "app_permissions": bot.to_string(), "locale": "en-US", "guild_locale": guild.locale, "entitlements": [],
        "authorizing_integration_owners": {"0": guild.id.to_string()}, "context": 0,
        "attachment_size_limit": 10 * 1024 * 1024,
    });
    if deed.whispered {
        event["user"] = event["member"]["user"].clone();
        event["context"] = json!(1);
        if let Some(fields) = event.as_object_mut() {
            for guilds in ["guild_id", "guild", "guild_locale", "member"] {
                fields.remove(guilds);
            }
        }
    }
    if let Some(message) = it.source.and_then(|id| state.world.message(it.channel, id)) {
        event["message"] = message.json().clone();
    }
    Ok(event)
}
