//! Looking after the voice connection, and what the table tells.
//!
//! **Never**: stays silent about being deaf or mute.

use std::time::Duration;

use tokio::time::Instant;

use super::{
    effects::Ask,
    guild::{Guild, Job},
    live::Standing,
    voice::VoiceNews,
};
use crate::session::TableEvent;

/// Waited before a lost connection is made anew, at first and at most.
const REJOIN: Duration = Duration::from_secs(1);
const REJOIN_MAX: Duration = Duration::from_secs(30);

impl Guild {
    /// The voice connection says something.
    pub fn voice_news(&mut self, news: VoiceNews) {
        match news {
            VoiceNews::Connected => {
                if let Some(live) = self.live_mut() {
                    live.standing = Standing::Up;
                }
            }
            VoiceNews::Lost(why) => self.rejoin(why),
            VoiceNews::Speaks(_) | VoiceNews::Left(_) => {}
        }
    }

    /// Makes the connection anew, after a while that grows.
    fn rejoin(&mut self, why: String) {
        let Some(live) = self.live_mut() else { return };
        let attempts = match &live.standing {
            Standing::Down { attempts, .. } => attempts + 1,
            Standing::Up => 0,
        };
        tracing::warn!(why, attempts, "the voice connection is made anew");
        live.standing = Standing::Down { why, attempts };
        let wait = REJOIN.saturating_mul(1 << attempts.min(5)).min(REJOIN_MAX);
        let (wire, channel) = (live.link.wire(), live.voice);
        self.spawn(async move {
            tokio::time::sleep(wait).await;
            let made = wire.reconnect(channel).await;
            Box::new(move |guild: &mut Self| match made {
                Ok(()) => guild.voice_news(VoiceNews::Connected),
                Err(why) => guild.rejoin(why),
            }) as Job
        });
    }

    /// The table tells something.
    pub fn table_event(&mut self, event: TableEvent) {
        if let TableEvent::Notice(text) = event {
            tracing::info!(text, "notice");
        }
    }

    /// A tool wants something of the guild.
    pub fn ask(&mut self, ask: Ask) {
        match ask {
            Ask::Show(text) => tracing::info!(text, "shown"),
            Ask::Attach { .. } | Ask::Approve(..) | Ask::Elicit(..) => {}
        }
    }

    /// Looks how things stand, every second.
    pub fn look(&mut self, now: Instant) {
        let idle = self.shared.options.idle;
        let Some(live) = self.live_mut() else { return };
        if !live.people.is_empty() {
            live.alone_since = None;
            return;
        }
        let since = *live.alone_since.get_or_insert(now);
        if now.duration_since(since) >= idle {
            // It runs, or there would be nobody to be alone.
            let _ = self.stop("nobody was there any more");
        }
    }
}
