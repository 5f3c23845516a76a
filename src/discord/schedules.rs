//! Notices about schedules to game masters whose table is closed.
//!
//! Entry function: [`notify`]. **Never**: posts where players read.

use std::sync::Arc;

use serenity::{all::ChannelId, http::Http};
use tokio::sync::broadcast::{Receiver, error::RecvError};

use super::{
    rest,
    ui::{message::ChannelMessage, names::escaped},
};
use crate::campaign::{GuildStore, ScheduleNotice};

/// Posts notices in the log channel of their server.
pub async fn notify(mut notices: Receiver<ScheduleNotice>, guilds: GuildStore, http: Arc<Http>) {
    loop {
        let ScheduleNotice { scope, text } = match notices.recv().await {
            Ok(notice) => notice,
            Err(RecvError::Lagged(missed)) => {
                tracing::error!(missed, "game masters were not told of missed schedules");
                continue;
            }
            Err(RecvError::Closed) => return,
        };
        let Some(guild) = scope.owner.guild() else { continue };
        let channel = match guilds.clone().read(guild).await {
            Ok(settings) => settings.log_channel,
            Err(error) => {
                tracing::warn!(guild, %error, "cannot tell of a missed schedule");
                continue;
            }
        };
        let Some(channel) = channel else {
            tracing::warn!(guild, "a schedule was missed (choose a log channel with /setup)");
            continue;
        };
        let message = ChannelMessage::text(escaped(&text)).message();
        if let Err(error) = ChannelId::new(channel).send_message(&http, message).await {
            let reason = rest::reason(&error);
            tracing::warn!(guild, reason, "cannot tell of a missed schedule");
        }
    }
}
