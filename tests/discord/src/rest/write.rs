//! Messages come into being, change and go.
//!
//! Entry types: [`Draft`]; functions [`rewrite`], [`erase`]. Never: asking who may.

use super::{
    body::File,
    refusal::{Problems, Refusal},
};
use crate::{
    gateway::Audience,
    state::{Inner, State, Upload},
    world::{
        json,
        message::{Message, Stored, Version},
        permission,
    },
};
use serde_json::{Value, json};

/// A message that has passed the checks.
pub(crate) struct Draft<'a> {
    /// Its channel.
    pub(crate) channel: u64,
    /// Its author.
    pub(crate) author: u64,
    /// Its body.
    pub(crate) body: &'a Value,
    /// With which files.
    pub(crate) files: &'a [File],
    /// The interaction it answers, as metadata.
    pub(crate) interaction: Option<Value>,
    /// The only user who sees it, if it is ephemeral.
    pub(crate) ephemeral_for: Option<u64>,
}

impl Draft<'_> {
    /// Writes it; the message's id.
    pub(crate) fn write(&self, inner: &Inner, state: &mut State) -> Result<u64, Refusal> {
        let id = inner.clock.id();
        let attachments = attach(inner, state, self.channel, self.body, self.files)?;
        let flags = self.body["flags"].as_u64().unwrap_or_default();
        let thinking = flags & 128 != 0;
        let mut object = json!({
            "id": id.to_string(), "channel_id": self.channel.to_string(),
            "author": state.world.users.get(&self.author).map(json::user),
            "content": self.body["content"].as_str().unwrap_or_default(),
            "timestamp": inner.clock.timestamp(), "edited_timestamp": null, "tts": false,
            "mention_everyone": false, "mentions": [], "mention_roles": [], "attachments": attachments,
            "embeds": embeds(self.body), "components": list(&self.body["components"]), "pinned": false,
            "type": if self.interaction.is_some() { 20 } else { 0 }, "flags": flags,
        });
        if let Some(metadata) = &self.interaction {
            object["interaction_metadata"] = metadata.clone();
            object["application_id"] = json!(self.author.to_string());
            object["webhook_id"] = json!(self.author.to_string());
        }
        if !thinking && is_empty(&object) {
            return Err(Refusal::fault(400, 50_006, "Cannot send an empty message"));
        }
        mention(state, self.channel, self.author, self.body, &mut object);
        let version = Version { at: inner.clock.now(), json: object };
        let message = Message {
            id,
            channel: self.channel,
            author: self.author,
            ephemeral_for: self.ephemeral_for,
            deleted: false,
            versions: vec![version],
        };
        if self.ephemeral_for.is_none() {
            state.dispatch_message("MESSAGE_CREATE", self.channel, &message);
        }
        if let Some(channel) = state.world.channels.get_mut(&self.channel) {
            channel.messages.push(message);
        }
        Ok(id)
    }
}

/// True if there is nothing to see.
fn is_empty(message: &Value) -> bool {
    let none = |name: &str| message[name].as_array().is_none_or(Vec::is_empty);
    message["content"] == "" && none("embeds") && none("attachments")
}

/// A list, also of nothing.
fn list(value: &Value) -> Value {
    if value.is_array() { value.clone() } else { json!([]) }
}

/// Embeds as Discord gives them back.
fn embeds(body: &Value) -> Value {
    let mut embeds = list(&body["embeds"]);
    for embed in embeds.as_array_mut().into_iter().flatten() {
        json::merge(embed, json!({"type": "rich"}));
    }
    embeds
}

/// An attachment's id, which clients write as text or as a number.
fn id_of(attachment: &Value) -> Option<String> {
    let id = &attachment["id"];
    id.as_str().map(str::to_owned).or(id.as_u64().map(|id| id.to_string()))
}

/// Stores files, and gives what stands in the message for them.
fn attach(
    inner: &Inner,
    state: &mut State,
    channel: u64,
    body: &Value,
    files: &[File],
) -> Result<Vec<Value>, Refusal> {
    let described = body["attachments"].as_array().map_or(&[][..], Vec::as_slice);
    for (number, one) in described.iter().enumerate() {
        let known = id_of(one).is_some_and(|id| {
            let stored = id.parse().is_ok_and(|id: u64| state.uploads.contains_key(&id));
            stored || files.iter().any(|file| file.number == id)
        });
        if !known {
            let path = format!("attachments.{number}.id");
            return Err(Problems::only(
                &path,
                "ATTACHMENT_NOT_FOUND",
                "no such file in the request",
            ));
        }
    }
    let one = |file: &File| {
        let id = inner.clock.id();
        let url = inner.upload_url(channel, id, &file.name);
        let about = described.iter().find(|one| id_of(one).is_some_and(|id| id == file.number));
        let upload =
            Upload { name: file.name.clone(), kind: file.kind.clone(), bytes: file.bytes.clone() };
        state.uploads.insert(id, upload);
        json!({
            "id": id.to_string(), "filename": file.name, "size": file.bytes.len(), "url": url, "proxy_url": url,
            "content_type": file.kind, "description": about.map(|about| about["description"].clone()),
        })
    };
    Ok(files.iter().map(one).collect())
}

/// Finds whom a message calls, as far as it may.
fn mention(state: &State, channel: u64, author: u64, body: &Value, object: &mut Value) {
    let content = object["content"].as_str().unwrap_or_default().to_owned();
    let parse = body["allowed_mentions"]["parse"].as_array();
    let parsed = |kind: &str| {
        body["allowed_mentions"].is_null()
            || parse.is_some_and(|all| all.iter().any(|one| one == kind))
    };
    let listed = |id: &str| {
        let users = body["allowed_mentions"]["users"].as_array();
        users.is_some_and(|users| users.iter().any(|one| one == id))
    };
    let bits =
        state.world.channels.get(&channel).map_or(0, |one| state.world.permissions(author, one));
    let everyone = content.contains("@everyone") || content.contains("@here");
    object["mention_everyone"] =
        json!(everyone && parsed("everyone") && bits & permission::MENTION_EVERYONE != 0);
    let called = |user: &&crate::world::model::User| {
        let id = user.id.to_string();
        let inside =
            content.contains(&format!("<@{id}>")) || content.contains(&format!("<@!{id}>"));
        inside && (parsed("users") || listed(&id))
    };
    object["mentions"] = state.world.users.values().filter(called).map(json::user).collect();
}

/// Changes what the body names of a message; the message as it is then.
pub(crate) fn rewrite(
    inner: &Inner,
    state: &mut State,
    (channel, id): (u64, u64),
    body: &Value,
    files: &[File],
) -> Result<Value, Refusal> {
    let new_files = attach(inner, state, channel, body, files)?;
    let message =
        state.world.message(channel, id).ok_or_else(|| Refusal::unknown(10_008, "Message"))?;
    let (author, mut object) = (message.author, message.json().clone());
    if let Some(content) = body.get("content") {
        object["content"] = json!(content.as_str().unwrap_or_default());
        mention(state, channel, author, body, &mut object);
    }
    if body.get("embeds").is_some() {
        object["embeds"] = embeds(body);
    }
    if body.get("components").is_some() {
        object["components"] = list(&body["components"]);
    }
    let kept = |one: &Value| {
        let wanted = body["attachments"].as_array();
        wanted.is_none_or(|wanted| wanted.iter().any(|other| id_of(other) == id_of(one)))
    };
    let mut attachments = object["attachments"].as_array().cloned().unwrap_or_default();
    attachments.retain(kept);
    attachments.extend(new_files);
    object["attachments"] = json!(attachments);
    if is_empty(&object) {
        return Err(Refusal::fault(400, 50_006, "Cannot send an empty message"));
    }
    // Thinking ends with the first words; who sees a message never changes.
    let flags = object["flags"].as_u64().unwrap_or_default();
    let silent = body["flags"].as_u64().map_or(flags & 4, |new| new & 4);
    object["flags"] = json!(flags & !(128 | 4) | silent);
    object["edited_timestamp"] = json!(inner.clock.timestamp());
    let version = Version { at: inner.clock.now(), json: object.clone() };
    let changed: Option<Stored> = state.world.message_mut(channel, id).map(|message| {
        message.versions.push(version);
        message.clone()
    });
    if let Some(message) = changed.filter(|message| message.ephemeral_for.is_none()) {
        state.dispatch_message("MESSAGE_UPDATE", channel, &message);
    }
    Ok(object)
}

/// Deletes a message.
pub(crate) fn erase(state: &mut State, channel: u64, id: u64) {
    let Some(message) = state.world.message_mut(channel, id) else { return };
    message.deleted = true;
    if message.ephemeral_for.is_some() {
        return;
    }
    let Some(channel) = state.world.channels.get(&channel) else { return };
    let mut event = json!({"id": id.to_string(), "channel_id": channel.id.to_string()});
    let recipients = channel.recipients.clone();
    if let Some(guild) = channel.guild {
        event["guild_id"] = json!(guild.to_string());
        state.dispatch(Audience::Guild(guild), "MESSAGE_DELETE", &event);
    }
    for user in recipients {
        state.dispatch(Audience::User(user, None), "MESSAGE_DELETE", &event);
    }
}
