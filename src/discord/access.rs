//! Rights of game masters, and of the bot itself.
//!
//! **Never**: trusts the checks of Discord's clients; every use is checked here.

use serenity::all::{ChannelType, Guild, GuildChannel, Member, Permissions, UserId};

use super::options::Options;
use crate::campaign::GuildSettings;

/// Permissions the bot needs in a voice channel, in the order shown.
const VOICE_NEEDS: &[(Permissions, &str)] = &[
    (Permissions::VIEW_CHANNEL, "View Channel"),
    (Permissions::CONNECT, "Connect"),
    (Permissions::SPEAK, "Speak"),
];
/// Permissions it needs in the channel of its panel.
const TEXT_NEEDS: &[(Permissions, &str)] = &[
    (Permissions::VIEW_CHANNEL, "View Channel"),
    (Permissions::SEND_MESSAGES, "Send Messages"),
    (Permissions::EMBED_LINKS, "Embed Links"),
    (Permissions::ATTACH_FILES, "Attach Files"),
];

/// Permissions in the invite link.
pub const INVITE: Permissions = Permissions::VIEW_CHANNEL
    .union(Permissions::CONNECT)
    .union(Permissions::SPEAK)
    .union(Permissions::SEND_MESSAGES)
    .union(Permissions::EMBED_LINKS)
    .union(Permissions::ATTACH_FILES);

/// True if a member has the game masters' role or, if no role is set, manages the server.
pub fn is_dm(
    options: &Options,
    settings: &GuildSettings,
    member: &Member,
    may: Permissions,
) -> bool {
    if options.everyone_is_dm || may.administrator() {
        return true;
    }
    match settings.dm_role.or(options.dm_role) {
        Some(role) => member.roles.iter().any(|own| own.get() == role),
        None => may.manage_guild(),
    }
}

/// Reason the bot cannot speak in a voice channel, with the fix.
#[derive(Debug, thiserror::Error)]
pub enum VoiceLack {
    /// A stage channel: speakers must be invited.
    #[error("{0} is a stage, where bots can only listen (use an ordinary voice channel)")]
    Stage(String),
    #[error("I lack {lacks} in {channel} (grant it in the channel's settings, under permissions)")]
    Permissions { lacks: String, channel: String },
    #[error("{0} is full (raise its user limit, or ask someone to leave)")]
    Full(String),
}

/// `None`: the bot can use the voice channel.
pub fn lacks_voice(guild: &Guild, channel: &GuildChannel, me: UserId) -> Option<VoiceLack> {
    let (name, has) = (format!("<#{}>", channel.id), permissions(guild, channel, me));
    if let Some(lack) = forbids_voice(channel, &name, has) {
        return Some(lack);
    }
    let inside = guild.voice_states.values().filter(|it| it.channel_id == Some(channel.id)).count();
    let full = seats(channel, has).is_some_and(|it| u32::try_from(inside).is_ok_and(|n| n >= it));
    let is_inside = guild.voice_states.get(&me).is_some_and(|it| it.channel_id == Some(channel.id));
    (full && !is_inside).then_some(VoiceLack::Full(name))
}

/// Reason the bot, with the permissions `has`, can never speak in the voice channel `name`.
pub fn forbids_voice(channel: &GuildChannel, name: &str, has: Permissions) -> Option<VoiceLack> {
    if channel.kind == ChannelType::Stage {
        return Some(VoiceLack::Stage(name.to_owned()));
    }
    let lacks = missing(has, VOICE_NEEDS).join(", ");
    (!lacks.is_empty()).then(|| VoiceLack::Permissions { lacks, channel: name.to_owned() })
}

/// User limit of a voice channel that applies to the bot; `None`: no limit.
pub fn seats(channel: &GuildChannel, has: Permissions) -> Option<u32> {
    channel.user_limit.filter(|limit| *limit > 0 && !has.move_members())
}

/// Names of permissions the bot lacks in a text channel.
pub fn lacks_text(guild: &Guild, channel: &GuildChannel, me: UserId) -> Vec<&'static str> {
    forbids_text(permissions(guild, channel, me))
}

/// Names of permissions missing from `has` in the channel of the panel.
pub fn forbids_text(has: Permissions) -> Vec<&'static str> {
    missing(has, TEXT_NEEDS)
}

/// The channels a session would use, as far as cached.
pub struct Channels<'a> {
    pub voice: Option<&'a GuildChannel>,
    pub text: Option<&'a GuildChannel>,
}

/// Everything the bot needs in these channels, and whether it has it.
pub fn needs(guild: &Guild, channels: Channels<'_>, me: UserId) -> Vec<(String, bool)> {
    let check = |channel: Option<&GuildChannel>, needs: &[(Permissions, &'static str)]| {
        let Some(channel) = channel else { return Vec::new() };
        let has = permissions(guild, channel, me);
        let line = |(need, name): &(Permissions, &str)| {
            (format!("{name} in <#{}>", channel.id), has.contains(*need))
        };
        needs.iter().map(line).collect()
    };
    let mut all = check(channels.voice, VOICE_NEEDS);
    all.extend(check(channels.text, TEXT_NEEDS));
    all
}

fn missing(has: Permissions, needs: &[(Permissions, &'static str)]) -> Vec<&'static str> {
    needs.iter().filter(|(need, _)| !has.contains(*need)).map(|(_, name)| *name).collect()
}

/// Permissions of the bot in a channel; all of them if its member is not cached, because Discord
/// then reports the missing one itself.
fn permissions(guild: &Guild, channel: &GuildChannel, me: UserId) -> Permissions {
    guild
        .members
        .get(&me)
        .map_or(Permissions::all(), |member| guild.user_permissions_in(channel, member))
}
