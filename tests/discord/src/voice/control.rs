//! A test's control over the voice servers, and its view of them.
//!
//! Entry: [`Voice::set_faults`], [`Voice::cut`], [`Voice::close`], [`Voice::counts`], [`Voice::sound`],
//! [`Voice::violations`].
//! Never waits: everything takes effect with the next packet or message.

use super::{Counts, Faults, GroupStatus, Scope, Sound, Voice, seat::Close, sound::Sounds};
use std::time::Duration;
use tokio::time::Instant;

impl Voice {
    /// From now on this goes wrong with what the users in `scope` send; the default heals it.
    pub fn set_faults(&self, scope: Scope, faults: Faults) {
        self.shared.state().faults.insert(scope, faults);
    }

    /// Cuts the network for a time: no UDP either way, and web sockets hang. Messages on
    /// sockets arrive afterwards; sound is lost. New sockets hang from IDENTIFY on. Another cut
    /// of the same scope replaces it; one of zero time ends it.
    pub fn cut(&self, scope: Scope, time: Duration) {
        let until = Instant::now() + time;
        let mut state = self.shared.state();
        state.cuts.insert(scope, until);
        for ((guild, user), seat) in &mut state.seats {
            let meant = match scope {
                Scope::Guild(of) => of == *guild,
                Scope::User { guild: of, user: whom } => (of, whom) == (*guild, *user),
            };
            // Heartbeats that hang are not missing.
            if let Some(session) = seat.session.as_mut().filter(|_| meant) {
                session.beat = until;
            }
        }
    }

    /// Closes a user's socket: with a close code of the voice gateway, or by dropping the
    /// connection without one. After a drop, 4009, 4015 and codes below 4000 the client may resume;
    /// others end its session, and it must ask the gateway for a new one.
    pub fn close(&self, guild: u64, user: u64, code: Option<u16>) {
        let mut state = self.shared.state();
        let Some(seat) = state.seats.get_mut(&(guild, user)) else { return };
        let close = code.map(|code| Close(code, "asked for by the test".into()));
        match (close, &mut seat.session) {
            (Some(close), _) if close.0 >= 4000 && !matches!(close.0, 4009 | 4015) => {
                seat.ended = true;
                state.detach((guild, user), &close);
            }
            (Some(close), Some(session)) => session.close(&close),
            (None, Some(session)) => session.gone(session.connection),
            (Some(_) | None, None) => {}
        }
    }

    /// Op 24: the DAVE group of a channel starts again; every member sends a new key package.
    pub fn reset_group(&self, guild: u64, channel: u64) {
        let mut state = self.shared.state();
        let users = state.in_call(guild, channel);
        let Some(group) = state.group(guild, channel) else { return };
        let said = group.reset(&users);
        state.speak(guild, said);
    }

    /// Takes DAVE away from a running call (op 21, then 22).
    pub fn downgrade(&self, guild: u64, channel: u64) {
        let mut state = self.shared.state();
        let users = state.in_call(guild, channel);
        let Some(group) = state.group(guild, channel) else { return };
        let said = group.downgrade(&users, Instant::now());
        state.speak(guild, said);
    }

    /// Gives DAVE to a running call without it (op 24 with a first epoch).
    pub fn upgrade(&self, guild: u64, channel: u64) {
        let mut state = self.shared.state();
        if let Some(group) = state.group(guild, channel) {
            group.version = 1;
        }
        drop(state);
        self.reset_group(guild, channel);
    }

    /// The next commit or welcome that is sent to a user arrives broken: it must refuse it (op 31) and start
    /// again.
    pub fn spoil_commit(&self, guild: u64, channel: u64, user: u64) {
        if let Some(group) = self.shared.state().group(guild, channel) {
            group.spoilt.insert(user);
        }
    }

    /// Counts of a user; zeros for one who is not there.
    #[must_use]
    pub fn counts(&self, guild: u64, user: u64) -> Counts {
        self.shared.state().seats.get(&(guild, user)).map(|seat| seat.counts).unwrap_or_default()
    }

    /// All sound of a user in a guild, over all of its connections, the oldest stretch first.
    #[must_use]
    pub fn sound(&self, guild: u64, user: u64) -> Vec<Sound> {
        let state = self.shared.state();
        state.sounds.get(&(guild, user)).map(|all| all.0.clone()).unwrap_or_default()
    }

    /// Moments in which two connections of a user sent sound into a guild at once: pairs of stretches
    /// within 60 ms of one another.
    #[must_use]
    pub fn sounds_at_once(&self, guild: u64, user: u64) -> Vec<(Sound, Sound)> {
        let state = self.shared.state();
        state.sounds.get(&(guild, user)).map(Sounds::at_once).unwrap_or_default()
    }

    /// The DAVE group of a channel.
    #[must_use]
    pub fn group(&self, guild: u64, channel: u64) -> GroupStatus {
        let mut state = self.shared.state();
        let Some(group) = state.group(guild, channel) else { return GroupStatus::default() };
        GroupStatus {
            version: group.version,
            epoch: group.epoch,
            members: group.members(),
            transitions: group.executed,
            refused: group.refused,
        }
    }

    /// All acts of clients that Discord would not have accepted, oldest first.
    #[must_use]
    pub fn violations(&self) -> Vec<String> {
        self.shared.state().violations.clone()
    }
}
