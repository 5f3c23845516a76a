//! Making guilds, roles, members and channels.
//!
//! Entry functions: on [`Inner`]. Never: REST.

use super::{
    json,
    model::{Channel, Guild, Member, Role, User, kind},
    permission,
};
use crate::{
    gateway::Audience,
    state::{Inner, State},
};
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use serde_json::{Value, json};

/// Ids of a new guild's parts.
pub(crate) struct NewGuild {
    /// The guild.
    pub(crate) id: u64,
    /// Its owner, who is a member.
    pub(crate) owner: u64,
    /// Its text channel.
    pub(crate) text: u64,
    /// Its voice channel.
    pub(crate) voice: u64,
    /// The bot's managed role.
    pub(crate) bot_role: u64,
}

impl Inner {
    /// A new user.
    pub(crate) fn new_user(&self, name: &str, bot: bool) -> u64 {
        let id = self.clock.id();
        let part = |bytes: usize| {
            let bytes: Vec<u8> = (0..bytes).map(|_| rand::random()).collect();
            BASE64_URL_SAFE_NO_PAD.encode(bytes)
        };
        let whose = BASE64_URL_SAFE_NO_PAD.encode(id.to_string());
        let token = format!("{whose}.{}.{}", &part(6)[..6], part(27));
        let user = User { id, name: name.into(), bot, token, no_dms: false };
        self.change(|state| state.world.users.insert(id, user));
        id
    }

    /// A guild on this shard, with one text and one voice channel, an owner, and the bot if it is invited.
    pub(crate) fn new_guild(&self, name: &str, with_bot: bool, shard: (u64, u64)) -> NewGuild {
        let owner = self.new_user(&format!("{name}'s owner"), false);
        let id = self.clock.id_on(shard);
        let [text, voice, bot_role] = [(); 3].map(|()| self.clock.id());
        let joined = Member { joined_at: self.clock.timestamp(), ..Member::default() };
        self.change(|state| {
            let bot = state.world.bot;
            let mut guild = Guild::new(id, name, owner);
            guild.roles.insert(id, Role::new(id, "@everyone", permission::EVERYONE));
            guild.members.insert(owner, joined.clone());
            if with_bot {
                let bits = self.options.bot_permissions;
                let role =
                    Role { managed: true, ..Role::new(bot_role, &self.options.bot_name, bits) };
                guild.roles.insert(bot_role, role);
                guild.members.insert(bot, Member { roles: vec![bot_role], ..joined });
            }
            state.world.guilds.insert(id, guild);
            for (channel, kind, name) in
                [(text, kind::TEXT, "general"), (voice, kind::VOICE, "Table")]
            {
                state.world.channels.insert(channel, Channel::new(channel, Some(id), kind, name));
            }
            state.announce_guild(id, None);
        });
        NewGuild { id, owner, text, voice, bot_role }
    }

    /// A new user in a guild.
    pub(crate) fn new_member(&self, guild: u64, name: &str, roles: &[u64], bot: bool) -> u64 {
        let user = self.new_user(name, bot);
        self.join_guild(guild, user, roles);
        user
    }

    /// A user joins a guild.
    pub(crate) fn join_guild(&self, guild: u64, user: u64, roles: &[u64]) {
        let member =
            Member { roles: roles.to_vec(), nick: None, joined_at: self.clock.timestamp() };
        self.change(|state| {
            let Some(one) = state.world.guilds.get_mut(&guild) else { return };
            one.members.insert(user, member);
            let event = state.member_event(guild, user);
            state.announce_guild(guild, Some(user));
            state.dispatch(Audience::Guild(guild), "GUILD_MEMBER_ADD", &event);
        });
    }

    /// A new channel.
    pub(crate) fn new_channel(&self, guild: u64, kind: u8, name: &str) -> u64 {
        let id = self.clock.id();
        self.change(|state| {
            state.world.channels.insert(id, Channel::new(id, Some(guild), kind, name));
            state.channel_event("CHANNEL_CREATE", id);
        });
        id
    }

    /// A new role.
    pub(crate) fn new_role(&self, guild: u64, name: &str, permissions: u64) -> u64 {
        let id = self.clock.id();
        self.change(|state| {
            if let Some(one) = state.world.guilds.get_mut(&guild) {
                one.roles.insert(id, Role::new(id, name, permissions));
            }
            state.role_event("GUILD_ROLE_CREATE", guild, id);
        });
        id
    }

    /// Changes a member, and says so.
    pub(crate) fn change_member(&self, guild: u64, user: u64, change: impl FnOnce(&mut Member)) {
        self.change(|state| {
            let Some(one) = state.world.guilds.get_mut(&guild) else { return };
            if let Some(member) = one.members.get_mut(&user) {
                change(member);
            }
            let event = state.member_event(guild, user);
            state.dispatch(Audience::Guild(guild), "GUILD_MEMBER_UPDATE", &event);
        });
    }

    /// Changes a channel, and says so.
    pub(crate) fn change_channel(&self, id: u64, change: impl FnOnce(&mut Channel)) {
        self.change(|state| {
            if let Some(channel) = state.world.channels.get_mut(&id) {
                change(channel);
            }
            state.channel_event("CHANNEL_UPDATE", id);
        });
    }

    /// Removes a channel; who sat in it stands.
    pub(crate) fn remove_channel(&self, id: u64) {
        let guild = self.read(|state| state.world.channels.get(&id)?.guild);
        let Some(guild) = guild else { return };
        let seated = self.read(|state| {
            let there = |(user, voice): (&u64, &super::model::VoiceState)| {
                (voice.channel == id).then_some(*user)
            };
            let guild = state.world.guilds.get(&guild);
            guild
                .map(|one| one.voice.iter().filter_map(there).collect::<Vec<u64>>())
                .unwrap_or_default()
        });
        for user in seated {
            self.unseat(guild, user);
        }
        self.change(|state| {
            state.channel_event("CHANNEL_DELETE", id);
            state.world.channels.remove(&id);
        });
    }

    /// Removes a user from a guild.
    pub(crate) fn remove_member(&self, guild: u64, user: u64) {
        self.unseat(guild, user);
        self.change(|state| {
            let lost = json!({"id": guild.to_string()});
            state.dispatch(Audience::User(user, Some(guild)), "GUILD_DELETE", &lost);
            let gone = state.world.users.get(&user).map(json::user);
            if let Some(one) = state.world.guilds.get_mut(&guild) {
                one.members.remove(&user);
            }
            let event = json!({"guild_id": guild.to_string(), "user": gone});
            state.dispatch(Audience::Guild(guild), "GUILD_MEMBER_REMOVE", &event);
        });
    }
}

impl State {
    /// A member, with its guild's id.
    fn member_event(&self, guild: u64, user: u64) -> Value {
        let one = self.world.guilds.get(&guild);
        let mut event = one.map(|one| json::member(&self.world, one, user)).unwrap_or_default();
        json::merge(&mut event, json!({"guild_id": guild.to_string()}));
        event
    }

    /// Tells a guild of one of its channels.
    pub(crate) fn channel_event(&mut self, event: &str, id: u64) {
        let Some(channel) = self.world.channels.get(&id) else { return };
        let (Some(guild), data) = (channel.guild, json::channel(&self.world, channel)) else {
            return;
        };
        self.dispatch(Audience::Guild(guild), event, &data);
    }

    /// Tells a guild of one of its roles.
    pub(crate) fn role_event(&mut self, event: &str, guild: u64, id: u64) {
        let Some(one) = self.world.guilds.get(&guild) else { return };
        let Some(position) = one.roles.keys().position(|key| *key == id) else { return };
        let Some(role) = one.roles.get(&id) else { return };
        let data = json!({"guild_id": guild.to_string(), "role": json::role(role, position)});
        self.dispatch(Audience::Guild(guild), event, &data);
    }
}
