//! Choice of the clients that get an event.
//!
//! Entry function: [`State::dispatch`]. Never: sockets.

use super::intent;
use crate::{
    state::State,
    world::{json, message::Message, permission},
};
use serde_json::{Value, json};

/// Recipients of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Audience {
    /// Members of a guild, on the shard that has it.
    Guild(u64),
    /// One user, on the shard that has the guild; for direct messages there is none.
    User(u64, Option<u64>),
}

/// The intents of which one is needed for `event`; 0 if it comes to everyone.
fn needed(event: &str, audience: Audience) -> u64 {
    match event {
        "VOICE_STATE_UPDATE" => intent::GUILD_VOICE_STATES,
        "GUILD_MEMBER_ADD" | "GUILD_MEMBER_UPDATE" | "GUILD_MEMBER_REMOVE" => intent::GUILD_MEMBERS,
        "INTERACTION_CREATE" => 0,
        event if event.starts_with("MESSAGE_") => match audience {
            Audience::Guild(_) => intent::GUILD_MESSAGES,
            Audience::User(..) => intent::DIRECT_MESSAGES,
        },
        _ => intent::GUILDS,
    }
}

impl State {
    /// Sends an event to whom it concerns and who asked for it.
    pub(crate) fn dispatch(&mut self, audience: Audience, event: &str, data: &Value) {
        let needed = needed(event, audience);
        for session in self.gateway.sessions.values_mut() {
            let concerned = match audience {
                Audience::User(user, guild) => session.user == user && session.serves(guild),
                Audience::Guild(id) => {
                    let member = self.world.guilds.get(&id);
                    member.is_some_and(|guild| guild.members.contains_key(&session.user))
                        && session.serves(Some(id))
                }
            };
            let own = event == "GUILD_MEMBER_UPDATE"
                && data["user"]["id"].as_str() == Some(session.user.to_string().as_str());
            if concerned && (needed == 0 || session.intents & needed != 0 || own) {
                session.push(event, data);
            }
        }
    }

    /// Tells of a message: to those who see its channel, and what it says only to those who may know.
    pub(crate) fn dispatch_message(&mut self, event: &str, channel: u64, message: &Message) {
        let Some(channel) = self.world.channels.get(&channel) else { return };
        let guild = channel.guild.and_then(|id| self.world.guilds.get(&id));
        let needed = if guild.is_some() { intent::GUILD_MESSAGES } else { intent::DIRECT_MESSAGES };
        let mut whole = message.json().clone();
        if let Some(guild) = guild {
            let member = guild.members.get(&message.author).map_or(Value::Null, json::bare_member);
            json::merge(&mut whole, json!({"guild_id": guild.id.to_string(), "member": member}));
        }
        let mut blank = whole.clone();
        json::merge(
            &mut blank,
            json!({"content": "", "embeds": [], "attachments": [], "components": []}),
        );
        for session in self.gateway.sessions.values_mut() {
            let sees = match guild {
                Some(guild) => {
                    let bits = permission::of(guild, session.user, Some(channel));
                    bits & permission::VIEW_CHANNEL != 0 && session.serves(Some(guild.id))
                }
                None => channel.recipients.contains(&session.user) && session.serves(None),
            };
            let mention = format!("<@{}>", session.user);
            let reads = session.intents & intent::MESSAGE_CONTENT != 0
                || message.author == session.user
                || guild.is_none()
                || message.content().contains(&mention);
            if sees && session.intents & needed != 0 {
                session.push(event, if reads { &whole } else { &blank });
            }
        }
    }

    /// Tells of everything in `guild` to those who are on it: it is there.
    pub(crate) fn announce_guild(&mut self, guild: u64, to: Option<u64>) {
        let Some(one) = self.world.guilds.get(&guild) else { return };
        for session in self.gateway.sessions.values_mut() {
            let concerned = one.members.contains_key(&session.user)
                && to.is_none_or(|user| user == session.user)
                && session.serves(Some(guild))
                && session.intents & intent::GUILDS != 0;
            if concerned {
                let all = session.intents & intent::GUILD_MEMBERS != 0;
                session
                    .push("GUILD_CREATE", &json::guild_create(&self.world, one, session.user, all));
            }
        }
    }
}
