//! Refusals of requests to a guild.
//!
//! Entry type: [`GuildRefusal`]. **Never**: shown to anybody but who asked.

use serenity::all::ChannelId;

use super::settings::Unread;
use crate::{
    campaign::OpenError,
    discord::{access::VoiceLack, ui::notices, voice::ConnectError},
};

/// Reason a guild refuses a request, with the fix.
#[derive(Debug, thiserror::Error)]
pub enum GuildRefusal {
    /// The settings of this guild are not read yet, so no opt-out is known.
    #[error("I can't do anything here until this is fixed: {0}")]
    Unread(#[from] Unread),
    /// No session runs.
    #[error("no session is running here (start one: /session start)")]
    NoSession,
    /// A session runs already.
    #[error("a session is already running in <#{0}> (end it first: /session stop)")]
    AlreadyRuns(ChannelId),
    /// One is being opened.
    #[error("I am already joining")]
    Opening,
    /// The gateway has not described the server yet.
    #[error("Discord hasn't described this server to me yet (try again in a few seconds)")]
    UnknownServer,
    /// Nobody said where.
    #[error("join a voice channel first, or name one (/session start channel)")]
    NoVoiceChannel,
    /// The bot does not see a channel.
    #[error("I cannot see <#{0}> (give me View Channel there)")]
    Hidden(ChannelId),
    /// The bot cannot talk in the voice channel.
    #[error(transparent)]
    CannotTalk(#[from] VoiceLack),
    /// The bot lacks permissions where its panel would stand.
    #[error("I lack {lacks} in <#{channel}> (grant it there)")]
    CannotWrite {
        /// The permissions, by name.
        lacks: String,
        /// The text channel.
        channel: ChannelId,
    },
    /// The table's task does not take commands, or does not say how it stands.
    #[error("the table does not answer (end the session and start it again)")]
    TableSilent,
    /// The table could not be opened.
    #[error(transparent)]
    NoTable(#[from] OpenError),
    /// The voice connection could not be made.
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
