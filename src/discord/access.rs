//! Who may do what: game masters, and the bot itself.
//!
//! **Never**: trusts what Discord's clients hide; every use is checked here.

use serenity::all::{ChannelType, Guild, GuildChannel, Member, Permissions, UserId};

use super::{options::Options, settings::Settings};

/// What the bot needs in a voice channel and why, in the order it is said.
const VOICE_NEEDS: &[(Permissions, &str)] = &[
    (Permissions::VIEW_CHANNEL, "View Channel"),
    (Permissions::CONNECT, "Connect"),
    (Permissions::SPEAK, "Speak"),
];
/// What it needs where its panel stands.
const TEXT_NEEDS: &[(Permissions, &str)] = &[
    (Permissions::VIEW_CHANNEL, "View Channel"),
    (Permissions::SEND_MESSAGES, "Send Messages"),
    (Permissions::EMBED_LINKS, "Embed Links"),
    (Permissions::ATTACH_FILES, "Attach Files"),
];

/// Everything the invite link asks for.
pub const INVITE: Permissions = Permissions::VIEW_CHANNEL
    .union(Permissions::CONNECT)
    .union(Permissions::SPEAK)
    .union(Permissions::SEND_MESSAGES)
    .union(Permissions::EMBED_LINKS)
    .union(Permissions::ATTACH_FILES);

/// Whether a member may do what game masters do. Without a role, those who manage the server.
pub fn is_dm(options: &Options, settings: &Settings, member: &Member, may: Permissions) -> bool {
    if options.everyone_is_dm || may.administrator() {
        return true;
    }
    match settings.dm_role.or(options.dm_role) {
        Some(role) => member.roles.iter().any(|own| own.get() == role),
        None => may.manage_guild(),
    }
}

/// What the bot lacks in a voice channel; `None`: nothing. One line that says what to do.
pub fn lacks_voice(guild: &Guild, channel: &GuildChannel, me: UserId) -> Option<String> {
    if channel.kind == ChannelType::Stage {
        return Some(format!(
            "<#{}> is a stage, where a bot is in the audience (use an ordinary voice channel)",
            channel.id
        ));
    }
    let missing = missing(guild, channel, me, VOICE_NEEDS);
    if !missing.is_empty() {
        return Some(format!(
            "I lack {} in <#{}> (grant it in the channel's settings, under permissions)",
            missing.join(", "),
            channel.id
        ));
    }
    let inside = guild.voice_states.values().filter(|it| it.channel_id == Some(channel.id)).count();
    let full = channel
        .user_limit
        .is_some_and(|limit| limit > 0 && u32::try_from(inside).is_ok_and(|it| it >= limit));
    let may_squeeze = permissions(guild, channel, me).move_members();
    let is_inside = guild.voice_states.get(&me).is_some_and(|it| it.channel_id == Some(channel.id));
    (full && !may_squeeze && !is_inside)
        .then(|| format!("<#{}> is full (raise its user limit, or let somebody leave)", channel.id))
}

/// What the bot lacks in a text channel, by name.
pub fn lacks_text(guild: &Guild, channel: &GuildChannel, me: UserId) -> Vec<&'static str> {
    missing(guild, channel, me, TEXT_NEEDS)
}

/// Each thing the bot needs in a voice and a text channel, and whether it has it.
pub fn needs(
    guild: &Guild,
    (voice, text): (Option<&GuildChannel>, Option<&GuildChannel>),
    me: UserId,
) -> Vec<(String, bool)> {
    let check = |channel: Option<&GuildChannel>, needs: &[(Permissions, &'static str)]| {
        let Some(channel) = channel else { return Vec::new() };
        let has = permissions(guild, channel, me);
        let line = |(need, name): &(Permissions, &str)| {
            (format!("{name} in <#{}>", channel.id), has.contains(*need))
        };
        needs.iter().map(line).collect()
    };
    let mut all = check(voice, VOICE_NEEDS);
    all.extend(check(text, TEXT_NEEDS));
    all
}

fn missing(
    guild: &Guild,
    channel: &GuildChannel,
    me: UserId,
    needs: &[(Permissions, &'static str)],
) -> Vec<&'static str> {
    let has = permissions(guild, channel, me);
    needs.iter().filter(|(need, _)| !has.contains(*need)).map(|(_, name)| *name).collect()
}

/// What the bot may do in a channel; everything where its own member is not known yet, since
/// Discord then says itself what is missing.
fn permissions(guild: &Guild, channel: &GuildChannel, me: UserId) -> Permissions {
    guild
        .members
        .get(&me)
        .map_or(Permissions::all(), |member| guild.user_permissions_in(channel, member))
}
