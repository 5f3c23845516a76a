//! A test's handles on a guild and on its members.
//!
//! Entry types: [`Guild`], [`Member`]. Never: rules.

use super::model::{OverwriteOf, kind};
use crate::{gateway::Audience, player::Seat, state::Shared};
use serde_json::json;

/// A guild.
#[derive(Clone)]
pub struct Guild {
    /// Everything.
    pub(crate) inner: Shared,
    /// Id.
    pub id: u64,
    /// Its first text channel.
    pub text: u64,
    /// Its first voice channel.
    pub voice: u64,
    /// The managed role of the bot.
    pub bot_role: u64,
    /// The user who owns it.
    pub owner: u64,
}

/// Bits allowed and denied in one channel, for a role or a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overwrite {
    /// For a role; the guild's id is `@everyone`.
    Role(u64),
    /// For a member.
    Member(u64),
}

/// A user as a member of a guild.
#[derive(Clone)]
pub struct Member {
    /// Everything.
    pub(crate) inner: Shared,
    /// The user.
    pub id: u64,
    /// The guild.
    pub guild: u64,
}

impl Guild {
    /// A new user joins, with these roles.
    #[must_use]
    pub fn add_member(&self, name: &str, roles: &[u64]) -> Member {
        self.member(self.inner.new_member(self.id, name, roles, false))
    }

    /// Another bot joins.
    #[must_use]
    pub fn add_bot(&self, name: &str) -> Member {
        self.member(self.inner.new_member(self.id, name, &[], true))
    }

    /// A user of another guild joins this one too.
    #[must_use]
    pub fn invite(&self, member: &Member) -> Member {
        self.inner.join_guild(self.id, member.id, &[]);
        self.member(member.id)
    }

    /// The user who owns the guild.
    #[must_use]
    pub fn owner(&self) -> Member {
        self.member(self.owner)
    }

    /// The handle of a member by its user's id.
    #[must_use]
    pub fn member(&self, id: u64) -> Member {
        Member { inner: self.inner.clone(), id, guild: self.id }
    }

    /// A new role with these permission bits.
    #[must_use]
    pub fn add_role(&self, name: &str, permissions: u64) -> u64 {
        self.inner.new_role(self.id, name, permissions)
    }

    /// Other permission bits for a role; the guild's id is `@everyone`.
    pub fn set_role(&self, role: u64, permissions: u64) {
        self.inner.change(|state| {
            let guild = state.world.guilds.get_mut(&self.id);
            if let Some(role) = guild.and_then(|guild| guild.roles.get_mut(&role)) {
                role.permissions = permissions;
            }
            state.role_event("GUILD_ROLE_UPDATE", self.id, role);
        });
    }

    /// A new text channel.
    #[must_use]
    pub fn add_text(&self, name: &str) -> u64 {
        self.inner.new_channel(self.id, kind::TEXT, name)
    }

    /// A new voice channel with this number of seats; 0 is no limit.
    #[must_use]
    pub fn add_voice(&self, name: &str, seats: u64) -> u64 {
        let id = self.inner.new_channel(self.id, kind::VOICE, name);
        self.set_seats(id, seats);
        id
    }

    /// A new stage channel.
    #[must_use]
    pub fn add_stage(&self, name: &str) -> u64 {
        self.inner.new_channel(self.id, kind::STAGE, name)
    }

    /// Sets the user limit of a voice channel.
    pub fn set_seats(&self, channel: u64, seats: u64) {
        self.inner.change_channel(channel, |channel| channel.user_limit = seats);
    }

    /// Allows and denies bits in one channel.
    pub fn set_overwrite(&self, channel: u64, whom: Overwrite, allow: u64, deny: u64) {
        let key = match whom {
            Overwrite::Role(id) => (OverwriteOf::Role, id),
            Overwrite::Member(id) => (OverwriteOf::Member, id),
        };
        self.inner.change_channel(channel, |channel| {
            channel.overwrites.insert(key, (allow, deny));
        });
    }

    /// Deletes a channel; who sat in it is disconnected.
    pub fn delete_channel(&self, channel: u64) {
        self.inner.remove_channel(channel);
    }

    /// The line under a voice channel's name.
    #[must_use]
    pub fn voice_status(&self, channel: u64) -> Option<String> {
        self.inner.read(|state| state.world.channels.get(&channel)?.status.clone())
    }

    /// Users in a voice channel.
    #[must_use]
    pub fn seated(&self, channel: u64) -> Vec<u64> {
        self.inner.read(|state| {
            let guild = state.world.guilds.get(&self.id);
            let voice = guild.into_iter().flat_map(|guild| &guild.voice);
            voice.filter(|(_, voice)| voice.channel == channel).map(|(user, _)| *user).collect()
        })
    }

    /// The bot is thrown out of the guild.
    pub fn remove_bot(&self) {
        let bot = self.inner.read(|state| state.world.bot);
        self.inner.remove_member(self.id, bot);
    }

    /// Discord loses the guild, or finds it again.
    pub fn set_available(&self, available: bool) {
        self.inner.change(|state| {
            if let Some(guild) = state.world.guilds.get_mut(&self.id) {
                guild.unavailable = !available;
            }
            if available {
                state.announce_guild(self.id, None);
            } else {
                let lost = json!({"id": self.id.to_string(), "unavailable": true});
                state.dispatch(Audience::Guild(self.id), "GUILD_DELETE", &lost);
            }
        });
    }

    /// The guild's settings let all members use a command, whatever its default permissions.
    pub fn open_command(&self, name: &str) {
        self.inner.change(|state| {
            if let Some(guild) = state.world.guilds.get_mut(&self.id) {
                guild.open_commands.insert(name.to_owned());
            }
        });
    }
}

impl Member {
    /// Token of the user's own client.
    #[must_use]
    pub fn token(&self) -> String {
        let token = |user: &super::model::User| user.token.clone();
        self.inner.read(|state| state.world.users.get(&self.id).map(token)).unwrap_or_default()
    }

    /// Gives the member these roles and no others.
    pub fn set_roles(&self, roles: &[u64]) {
        self.inner.change_member(self.guild, self.id, |member| member.roles = roles.to_vec());
    }

    /// The member's name in this guild.
    pub fn set_nick(&self, nick: Option<&str>) {
        let nick = nick.map(str::to_owned);
        self.inner.change_member(self.guild, self.id, |member| member.nick = nick);
    }

    /// Opens or closes the direct messages of the user.
    pub fn set_dms(&self, open: bool) {
        self.inner.change(|state| {
            if let Some(user) = state.world.users.get_mut(&self.id) {
                user.no_dms = !open;
            }
        });
    }

    /// The voice channel the member sits in.
    #[must_use]
    pub fn voice_channel(&self) -> Option<u64> {
        self.inner.read(|state| {
            let guild = state.world.guilds.get(&self.guild)?;
            guild.voice.get(&self.id).map(|voice| voice.channel)
        })
    }

    /// A moderator disconnects the member from voice; the same when a player leaves.
    pub fn disconnect(&self) {
        self.inner.unseat(self.guild, self.id);
    }

    /// A moderator mutes or unmutes the member in voice.
    pub fn server_mute(&self, mute: bool) {
        self.inner.change(|state| {
            let guild = state.world.guilds.get(&self.guild);
            let voice = guild.and_then(|guild| guild.voice.get(&self.id)).cloned();
            if let Some(voice) = voice {
                let voice = super::model::VoiceState { mute, ..voice };
                state.set_voice(self.guild, self.id, Some(voice));
            }
        });
    }

    /// A moderator moves the member to another voice channel, even a full or a closed one. A client of its
    /// own gets an event; the new seat of a native player is returned.
    pub fn move_to(&self, channel: u64) -> Option<Seat> {
        let (guild, user) = (self.guild, self.id);
        self.inner.change(|state| {
            let voice = state.world.guilds.get(&guild)?.voice.get(&user)?;
            let voice = super::model::VoiceState { channel, ..voice.clone() };
            let session_id = voice.session.clone();
            state.set_voice(guild, user, Some(voice));
            let (token, endpoint) = self.inner.voice.admit(guild, channel, user, &session_id);
            state.tell_server(guild, user, &token, &endpoint);
            let native = !state.gateway.sessions.contains_key(&session_id);
            native.then_some(Seat { endpoint, token, guild, channel, user, session_id })
        })
    }

    /// The user leaves the guild, or is kicked.
    pub fn leave_guild(&self) {
        self.inner.remove_member(self.guild, self.id);
    }
}
