//! Permission bits, and who has which where.
//!
//! Entry function: `of`. Never: deciding what a missing bit means.

use super::model::{Channel, Guild, OverwriteOf};

/// Administrator: everything.
pub const ADMINISTRATOR: u64 = 1 << 3;
/// Manage Channels.
pub const MANAGE_CHANNELS: u64 = 1 << 4;
/// Manage Server.
pub const MANAGE_GUILD: u64 = 1 << 5;
/// Add Reactions.
pub const ADD_REACTIONS: u64 = 1 << 6;
/// View Channel.
pub const VIEW_CHANNEL: u64 = 1 << 10;
/// Send Messages.
pub const SEND_MESSAGES: u64 = 1 << 11;
/// Manage Messages.
pub const MANAGE_MESSAGES: u64 = 1 << 13;
/// Embed Links.
pub const EMBED_LINKS: u64 = 1 << 14;
/// Attach Files.
pub const ATTACH_FILES: u64 = 1 << 15;
/// Read Message History.
pub const READ_MESSAGE_HISTORY: u64 = 1 << 16;
/// Mention `@everyone`.
pub const MENTION_EVERYONE: u64 = 1 << 17;
/// Connect to voice.
pub const CONNECT: u64 = 1 << 20;
/// Speak in voice.
pub const SPEAK: u64 = 1 << 21;
/// Mute Members.
pub const MUTE_MEMBERS: u64 = 1 << 22;
/// Move Members.
pub const MOVE_MEMBERS: u64 = 1 << 24;
/// Use Voice Activity.
pub const USE_VAD: u64 = 1 << 25;
/// Manage Roles.
pub const MANAGE_ROLES: u64 = 1 << 28;
/// Use Application Commands.
pub const USE_APPLICATION_COMMANDS: u64 = 1 << 31;
/// Request to Speak, in stage channels.
pub const REQUEST_TO_SPEAK: u64 = 1 << 32;
/// Set Voice Channel Status.
pub const SET_VOICE_CHANNEL_STATUS: u64 = 1 << 48;

/// Permissions of `@everyone` in a new guild.
pub const EVERYONE: u64 = ADD_REACTIONS
    | VIEW_CHANNEL
    | SEND_MESSAGES
    | EMBED_LINKS
    | ATTACH_FILES
    | READ_MESSAGE_HISTORY
    | CONNECT
    | SPEAK
    | USE_VAD
    | REQUEST_TO_SPEAK
    | USE_APPLICATION_COMMANDS;

/// All bits Discord knows.
pub(crate) const ALL: u64 = (1 << 53) - 1;

/// The permissions of `user` in `guild`, and in `channel` if there is one.
pub(crate) fn of(guild: &Guild, user: u64, channel: Option<&Channel>) -> u64 {
    let Some(member) = guild.members.get(&user) else { return 0 };
    let role = |id: &u64| guild.roles.get(id).map_or(0, |role| role.permissions);
    let base = member.roles.iter().fold(role(&guild.id), |bits, id| bits | role(id));
    if guild.owner == user || base & ADMINISTRATOR != 0 {
        return ALL;
    }
    let Some(channel) = channel else { return base };
    let mut bits = base;
    let mut apply = |(allow, deny): (u64, u64)| bits = (bits & !deny) | allow;
    let of_role = |id: u64| channel.overwrites.get(&(OverwriteOf::Role, id)).copied();
    apply(of_role(guild.id).unwrap_or_default());
    let of_roles = member.roles.iter().filter_map(|id| of_role(*id));
    apply(of_roles.fold((0, 0), |sum, one| (sum.0 | one.0, sum.1 | one.1)));
    apply(channel.overwrites.get(&(OverwriteOf::Member, user)).copied().unwrap_or_default());
    if bits & VIEW_CHANNEL == 0 {
        return 0;
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::super::model::{Member, Role};
    use super::*;

    fn guild() -> Guild {
        let mut guild = Guild::new(1, "table", 100);
        guild.roles.insert(1, Role::new(1, "@everyone", VIEW_CHANNEL | SEND_MESSAGES));
        guild.roles.insert(2, Role::new(2, "loud", CONNECT | SPEAK));
        guild.roles.insert(3, Role::new(3, "quiet", 0));
        for user in [100, 200] {
            guild.members.insert(user, Member { roles: vec![2, 3], ..Member::default() });
        }
        guild
    }

    #[test]
    fn overwrites_apply_everyone_roles_then_member() {
        let guild = guild();
        let mut channel = Channel::new(9, Some(1), 2, "voice");
        assert_eq!(of(&guild, 100, Some(&channel)), ALL, "the owner may everything");
        assert_eq!(of(&guild, 300, Some(&channel)), 0, "strangers nothing");
        channel.overwrites.insert((OverwriteOf::Role, 1), (0, CONNECT));
        channel.overwrites.insert((OverwriteOf::Role, 2), (CONNECT, 0));
        channel.overwrites.insert((OverwriteOf::Role, 3), (0, CONNECT | SPEAK));
        assert_eq!(of(&guild, 200, Some(&channel)), VIEW_CHANNEL | SEND_MESSAGES | CONNECT);
        channel.overwrites.insert((OverwriteOf::Member, 200), (SPEAK, CONNECT));
        assert_eq!(of(&guild, 200, Some(&channel)), VIEW_CHANNEL | SEND_MESSAGES | SPEAK);
        channel.overwrites.insert((OverwriteOf::Member, 200), (0, VIEW_CHANNEL));
        assert_eq!(of(&guild, 200, Some(&channel)), 0, "unseen is untouchable");
    }
}
