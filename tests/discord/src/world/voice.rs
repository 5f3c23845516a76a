//! Moves of users into and out of voice channels: by the gateway, by a test, by a moderator.
//!
//! Entry functions: [`Inner::voice_requested`], [`Inner::seat`], [`Inner::unseat`].
//! Never: sound.

use super::{
    json,
    model::{VoiceState, kind},
    permission,
};
use crate::{
    gateway::Audience,
    state::{Inner, State},
    voice::snowflake,
};
use serde_json::{Value, json};

/// Reason for refusing a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoSeat {
    /// No such voice channel in the guild, or no such member.
    Unknown,
    /// View Channel or Connect is missing.
    Forbidden,
    /// All seats are taken.
    Full,
}

impl Inner {
    /// Op 4 of a gateway client. Ignores the requests that Discord ignores.
    pub(crate) fn voice_requested(&self, session: &str, data: &Value) {
        let Some(guild) = snowflake(&data["guild_id"]) else { return };
        let user = self.read(|state| state.gateway.sessions.get(session).map(|one| one.user));
        let Some(user) = user else { return };
        let Some(channel) = snowflake(&data["channel_id"]) else {
            self.unseat(guild, user);
            return;
        };
        let flag = |name: &str| data[name].as_bool().unwrap_or_default();
        let wanted = VoiceState {
            channel,
            session: session.to_owned(),
            self_mute: flag("self_mute"),
            self_deaf: flag("self_deaf"),
            ..VoiceState::default()
        };
        if let Err(refused) = self.seat(guild, user, wanted) {
            tracing::debug!(?refused, user, channel, "no seat");
        }
    }

    /// Seats a user, tells everyone, and sends the user to its voice server.
    ///
    /// Returns the server's token and endpoint; none when only the flags have changed.
    pub(crate) fn seat(
        &self,
        guild: u64,
        user: u64,
        mut wanted: VoiceState,
    ) -> Result<Option<(String, String)>, NoSeat> {
        self.change(|state| {
            may_sit(state, guild, user, wanted.channel)?;
            let one = state.world.guilds.get(&guild).ok_or(NoSeat::Unknown)?;
            let before = one.voice.get(&user).cloned();
            let same = before.as_ref().filter(|before| before.channel == wanted.channel);
            match same {
                Some(before) => {
                    wanted.suppress = before.suppress;
                    wanted.request_to_speak.clone_from(&before.request_to_speak);
                }
                None => wanted.suppress = on_stage(state, guild, user, wanted.channel),
            }
            wanted.mute = before.as_ref().is_some_and(|before| before.mute);
            let flags = |one: &VoiceState| (one.self_mute, one.self_deaf, one.session.clone());
            let only_flags = same.is_some_and(|before| {
                before.session == wanted.session && flags(before) != flags(&wanted)
            });
            let (channel, session) = (wanted.channel, wanted.session.clone());
            state.set_voice(guild, user, Some(wanted));
            if only_flags {
                return Ok(None);
            }
            let (token, endpoint) = self.voice.admit(guild, channel, user, &session);
            state.tell_server(guild, user, &token, &endpoint);
            Ok(Some((token, endpoint)))
        })
    }

    /// Takes a user's seat away; nothing happens to who has none.
    pub(crate) fn unseat(&self, guild: u64, user: u64) {
        let had = self.change(|state| state.set_voice(guild, user, None));
        if had {
            self.voice.leave(guild, user);
        }
    }

    /// The session cannot be resumed: it is forgotten, with its seats.
    pub(crate) fn session_ended(&self, id: &str) {
        let seats: Vec<(u64, u64)> = self.change(|state| {
            state.gateway.sessions.remove(id);
            let seats = state.world.guilds.values().flat_map(|guild| {
                let mine = guild.voice.iter().filter(|(_, voice)| voice.session == id);
                mine.map(|(user, _)| (guild.id, *user))
            });
            seats.collect()
        });
        for (guild, user) in seats {
            self.unseat(guild, user);
        }
    }
}

/// Checks that a user may sit down in a channel.
fn may_sit(state: &State, guild: u64, user: u64, channel: u64) -> Result<(), NoSeat> {
    let one = state.world.guilds.get(&guild).ok_or(NoSeat::Unknown)?;
    let room = state.world.channels.get(&channel).ok_or(NoSeat::Unknown)?;
    if room.guild != Some(guild) || !room.is_voice() || !one.members.contains_key(&user) {
        return Err(NoSeat::Unknown);
    }
    let bits = permission::of(one, user, Some(room));
    if bits & permission::VIEW_CHANNEL == 0 || bits & permission::CONNECT == 0 {
        return Err(NoSeat::Forbidden);
    }
    let others = one.voice.iter().filter(|(id, voice)| **id != user && voice.channel == channel);
    let taken = u64::try_from(others.count()).unwrap_or(u64::MAX);
    if room.user_limit > 0 && taken >= room.user_limit && bits & permission::MOVE_MEMBERS == 0 {
        return Err(NoSeat::Full);
    }
    Ok(())
}

/// True if a user arrives in the audience of a stage.
fn on_stage(state: &State, guild: u64, user: u64, channel: u64) -> bool {
    const MODERATOR: u64 =
        permission::MANAGE_CHANNELS | permission::MUTE_MEMBERS | permission::MOVE_MEMBERS;
    let (one, room) = (state.world.guilds.get(&guild), state.world.channels.get(&channel));
    let bits = one.map_or(0, |one| permission::of(one, user, room));
    room.is_some_and(|room| room.kind == kind::STAGE) && bits & MODERATOR != MODERATOR
}

impl State {
    /// Sets or removes a voice state and tells the guild; whether there was or is one.
    pub(crate) fn set_voice(&mut self, guild: u64, user: u64, new: Option<VoiceState>) -> bool {
        let Some(one) = self.world.guilds.get_mut(&guild) else { return false };
        let leaving = new.is_none();
        let before = match new {
            Some(new) => one.voice.insert(user, new),
            None => one.voice.remove(&user),
        };
        if leaving && before.is_none() {
            return false;
        }
        let session = before.map(|before| before.session).unwrap_or_default();
        let Some(one) = self.world.guilds.get(&guild) else { return false };
        let event = json::voice_state(&self.world, one, user, one.voice.get(&user), &session);
        self.dispatch(Audience::Guild(guild), "VOICE_STATE_UPDATE", &event);
        true
    }

    /// Sends the session with which a user sits in a guild to a voice server.
    pub(crate) fn tell_server(&mut self, guild: u64, user: u64, token: &str, endpoint: &str) {
        let Some(one) = self.world.guilds.get(&guild) else { return };
        let Some(voice) = one.voice.get(&user) else { return };
        let Some(session) = self.gateway.sessions.get_mut(&voice.session) else { return };
        let event = json!({"token": token, "guild_id": guild.to_string(), "endpoint": endpoint});
        session.push("VOICE_SERVER_UPDATE", &event);
    }
}
