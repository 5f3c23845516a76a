//! Refusals of requests to a guild.
//!
//! Entry type: [`GuildRefusal`]. **Never**: shown to anyone but the asker.

use serenity::all::ChannelId;

use super::settings::Unread;
use crate::{
    campaign::OpenError,
    discord::{access::VoiceLack, ui::notices, voice::ConnectError},
};

/// Reason a guild refuses a request, with the fix.
#[derive(Debug, thiserror::Error)]
pub enum GuildRefusal {
    /// The settings are not read yet, so no opt-out is known.
    #[error("I can't do anything here until this is fixed: {0}")]
    Unread(#[from] Unread),
    #[error("no session is running here (start one: /session start)")]
    NoSession,
    #[error("a session is already running in <#{0}> (end it first: /session stop)")]
    AlreadyRuns(ChannelId),
    #[error("I am already joining")]
    Opening,
    /// All places for sessions are taken, of this many; another node may get the server.
    #[error(
        "I can't start another session now, because my limit is {0} at once (try again in 15 \
         seconds, when another machine with room may serve this server; if not, wait until a \
         session elsewhere has ended)"
    )]
    Full(u32),
    #[error("its campaign is no longer here (/campaign load brings it back)")]
    NoCampaign,
    /// Not reported by the gateway yet.
    #[error("Discord hasn't described this server to me yet (try again in a few seconds)")]
    UnknownServer,
    #[error("join a voice channel first, or name one (/session start channel)")]
    NoVoiceChannel,
    #[error("I cannot see <#{0}> (give me View Channel there)")]
    Hidden(ChannelId),
    #[error(transparent)]
    CannotTalk(#[from] VoiceLack),
    #[error("I lack {lacks} in <#{channel}> (grant it there)")]
    CannotWrite { lacks: String, channel: ChannelId },
    /// The table's task does not answer or take commands.
    #[error("the table does not answer (end the session and start it again)")]
    TableSilent,
    #[error(transparent)]
    NoTable(#[from] OpenError),
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// The user who wants to be heard is not in the voice channel.
    #[error("you are not in <#{0}> (join it, then press Test again)")]
    NotInChannel(ChannelId),
    /// The voice connection is being made again.
    #[error("I am reconnecting to the voice channel (try again in a moment)")]
    Reconnecting,
    /// The user who wants to be heard is not, for this reason.
    #[error("{0}")]
    Unheard(&'static str),
    /// The session cannot hear.
    #[error("{}", notices::cannot_hear(.0))]
    CannotHear(String),
}
