//! Notices about schedules to game masters whose table is closed. Notices that cannot be posted
//! wait for the next session.
//!
//! Entry function: [`notify`]. **Never**: posts where players read.

use std::sync::Arc;

use serenity::{all::ChannelId, http::Http};
use tokio::sync::broadcast::{Receiver, error::RecvError};

use super::{
    rest,
    ui::{message::ChannelMessage, names::escaped},
};
use crate::campaign::{GuildStore, ScheduleNotice, Schedules};

/// Posts notices in servers.
pub struct Post {
    /// Holds notices that cannot be posted.
    pub schedules: Schedules,
    pub guilds: GuildStore,
    pub http: Arc<Http>,
}

/// Posts notices in the log channel of their server.
pub async fn notify(mut notices: Receiver<ScheduleNotice>, post: Post) {
    loop {
        let notice = match notices.recv().await {
            Ok(notice) => notice,
            Err(RecvError::Lagged(missed)) => {
                tracing::error!(missed, "game masters were not told of missed schedules");
                continue;
            }
            Err(RecvError::Closed) => return,
        };
        if !post.posts(&notice).await {
            post.schedules.owe(notice);
        }
    }
}

impl Post {
    /// True if it is posted, or has no server.
    async fn posts(&self, ScheduleNotice { scope, text }: &ScheduleNotice) -> bool {
        let Some(guild) = scope.owner.guild() else { return true };
        let channel = match self.guilds.clone().read(guild).await {
            Ok(settings) => settings.log_channel,
            Err(error) => {
                tracing::warn!(guild, %error, "cannot tell of a missed schedule");
                return false;
            }
        };
        let Some(channel) = channel else {
            tracing::warn!(guild, "a schedule was missed (choose a log channel with /setup)");
            return false;
        };
        let message = ChannelMessage::text(escaped(text)).message();
        let sent = ChannelId::new(channel).send_message(&self.http, message).await;
        if let Err(error) = &sent {
            let reason = rest::reason(error);
            tracing::warn!(guild, reason, "cannot tell of a missed schedule");
        }
        sent.is_ok()
    }
}
