//! Model of the world: users, guilds, roles, members, channels, voice states.
//!
//! Entry type: [`World`]. Never: clocks, IO, JSON.

use super::message::Stored;
use std::collections::{BTreeMap, BTreeSet};

/// Kinds of channels, as Discord numbers them.
pub(crate) mod kind {
    /// Text channel of a guild.
    pub(crate) const TEXT: u8 = 0;
    /// Direct messages of two.
    pub(crate) const DM: u8 = 1;
    /// Voice channel.
    pub(crate) const VOICE: u8 = 2;
    /// Stage channel.
    pub(crate) const STAGE: u8 = 13;
}

/// A user of Discord.
#[derive(Clone, Debug)]
pub(crate) struct User {
    /// Id.
    pub(crate) id: u64,
    /// Username.
    pub(crate) name: String,
    /// True if it is a bot.
    pub(crate) bot: bool,
    /// Token of its requests.
    pub(crate) token: String,
    /// True if the user takes no direct messages.
    pub(crate) no_dms: bool,
}

/// A role of a guild.
#[derive(Clone, Debug)]
pub(crate) struct Role {
    /// Id; the guild's own for `@everyone`.
    pub(crate) id: u64,
    /// Name.
    pub(crate) name: String,
    /// Bits.
    pub(crate) permissions: u64,
    /// True if it came with a bot.
    pub(crate) managed: bool,
}

impl Role {
    /// A role of people.
    pub(crate) fn new(id: u64, name: &str, permissions: u64) -> Self {
        Self { id, name: name.into(), permissions, managed: false }
    }
}

/// A user inside a guild.
#[derive(Clone, Debug, Default)]
pub(crate) struct Member {
    /// Roles without `@everyone`.
    pub(crate) roles: Vec<u64>,
    /// Name in this guild.
    pub(crate) nick: Option<String>,
    /// ISO time.
    pub(crate) joined_at: String,
}

/// Subject of an overwrite: a role or a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum OverwriteOf {
    /// A role.
    Role,
    /// A member.
    Member,
}

/// A channel of a guild or of two users.
#[derive(Clone, Debug)]
pub(crate) struct Channel {
    /// Id.
    pub(crate) id: u64,
    /// The guild; none for direct messages.
    pub(crate) guild: Option<u64>,
    /// See [`kind`].
    pub(crate) kind: u8,
    /// Name; empty for direct messages.
    pub(crate) name: String,
    /// Allowed and denied bits.
    pub(crate) overwrites: BTreeMap<(OverwriteOf, u64), (u64, u64)>,
    /// Seats of a voice channel; 0 is no limit.
    pub(crate) user_limit: u64,
    /// Status line of a voice channel.
    pub(crate) status: Option<String>,
    /// The two of direct messages.
    pub(crate) recipients: Vec<u64>,
    /// All messages, deleted and ephemeral ones too.
    pub(crate) messages: Vec<Stored>,
}

impl Channel {
    /// An open channel.
    pub(crate) fn new(id: u64, guild: Option<u64>, kind: u8, name: &str) -> Self {
        Self {
            id,
            guild,
            kind,
            name: name.into(),
            overwrites: BTreeMap::new(),
            user_limit: 0,
            status: None,
            recipients: Vec::new(),
            messages: Vec::new(),
        }
    }

    /// True if people speak in it.
    pub(crate) fn is_voice(&self) -> bool {
        matches!(self.kind, kind::VOICE | kind::STAGE)
    }
}

/// A user in a voice channel.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct VoiceState {
    /// The voice channel.
    pub(crate) channel: u64,
    /// Session of the voice gateway.
    pub(crate) session: String,
    /// Muted by itself.
    pub(crate) self_mute: bool,
    /// Deafened by itself.
    pub(crate) self_deaf: bool,
    /// Muted by the guild.
    pub(crate) mute: bool,
    /// Audience of a stage.
    pub(crate) suppress: bool,
    /// ISO time of a raised hand.
    pub(crate) request_to_speak: Option<String>,
}

/// A guild.
#[derive(Clone, Debug)]
pub(crate) struct Guild {
    /// Id.
    pub(crate) id: u64,
    /// Name.
    pub(crate) name: String,
    /// Owning user.
    pub(crate) owner: u64,
    /// By id, `@everyone` first.
    pub(crate) roles: BTreeMap<u64, Role>,
    /// By user.
    pub(crate) members: BTreeMap<u64, Member>,
    /// By user.
    pub(crate) voice: BTreeMap<u64, VoiceState>,
    /// Discord cannot reach it just now.
    pub(crate) unavailable: bool,
    /// Commands that the guild's settings give to everyone.
    pub(crate) open_commands: BTreeSet<String>,
    /// ISO 639 language.
    pub(crate) locale: String,
}

impl Guild {
    /// An empty guild.
    pub(crate) fn new(id: u64, name: &str, owner: u64) -> Self {
        Self {
            id,
            name: name.into(),
            owner,
            roles: BTreeMap::new(),
            members: BTreeMap::new(),
            voice: BTreeMap::new(),
            unavailable: false,
            open_commands: BTreeSet::new(),
            locale: "en-US".into(),
        }
    }
}

/// All of it.
#[derive(Debug, Default)]
pub(crate) struct World {
    /// By id.
    pub(crate) users: BTreeMap<u64, User>,
    /// By id.
    pub(crate) guilds: BTreeMap<u64, Guild>,
    /// By id.
    pub(crate) channels: BTreeMap<u64, Channel>,
    /// The application's own user; its id is the application's.
    pub(crate) bot: u64,
}

impl World {
    /// User of `token`.
    pub(crate) fn user_of(&self, token: &str) -> Option<&User> {
        self.users.values().find(|user| user.token == token)
    }

    /// The channels of `guild`.
    pub(crate) fn channels_of(&self, guild: u64) -> impl Iterator<Item = &Channel> {
        self.channels.values().filter(move |channel| channel.guild == Some(guild))
    }

    /// Permission bits of `user` in `channel`; in direct messages everything but the guild's.
    pub(crate) fn permissions(&self, user: u64, channel: &Channel) -> u64 {
        match channel.guild.map(|id| self.guilds.get(&id)) {
            Some(Some(guild)) => super::permission::of(guild, user, Some(channel)),
            Some(None) => 0,
            None if channel.recipients.contains(&user) => super::permission::EVERYONE,
            None => 0,
        }
    }

    /// The message `id` of `channel` that is still there.
    pub(crate) fn message_mut(&mut self, channel: u64, id: u64) -> Option<&mut Stored> {
        let messages = &mut self.channels.get_mut(&channel)?.messages;
        messages.iter_mut().find(|message| message.id == id && !message.deleted)
    }

    /// Like [`Self::message_mut`], to read.
    pub(crate) fn message(&self, channel: u64, id: u64) -> Option<&Stored> {
        let messages = &self.channels.get(&channel)?.messages;
        messages.iter().find(|message| message.id == id && !message.deleted)
    }
}
