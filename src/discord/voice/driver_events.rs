//! songbird's events as packets and news; filters speakers who may not be heard.
//!
//! Entry type: [`DriverEvents`]. songbird calls it on one task per connection, behind an unbounded
//! queue: **never** waits, decodes or panics. Ignores `VoiceTick`, whose sound is noise under DAVE.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use async_trait::async_trait;
use songbird::{
    CoreEvent, Driver, Event, EventContext, EventHandler,
    events::context_data::{DisconnectReason, RtpData},
    packet::Packet as _,
};
use tokio::{sync::mpsc, time::Instant};

use super::{
    audience::{Audience, UserId, Verdict},
    reorder::Packet,
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VoiceNews {
    /// Connected, for the first time or again.
    Connected,
    /// Disconnected, with the reason.
    Lost(String),
    /// Discord reports that this user speaks, since this moment.
    Speaks(UserId, Instant),
    /// This user has left.
    Left(UserId),
}

/// Counts of dropped packets.
#[derive(Debug, Default)]
pub struct Dropped {
    /// The queue was full.
    pub full: AtomicU64,
    /// The source's user was not known.
    pub unknown: AtomicU64,
}

#[derive(Clone)]
pub struct DriverEvents {
    pub audience: Audience,
    /// Packets of users who may be heard.
    pub packets: mpsc::Sender<(UserId, Packet)>,
    /// Other events; dropped when full, which the supervisor makes up for.
    pub news: mpsc::Sender<VoiceNews>,
    pub dropped: Arc<Dropped>,
}

impl DriverEvents {
    /// Registers for all events of `driver`.
    pub fn listen(self, driver: &mut Driver) {
        let events = [
            CoreEvent::RtpPacket,
            CoreEvent::SpeakingStateUpdate,
            CoreEvent::ClientDisconnect,
            CoreEvent::DriverConnect,
            CoreEvent::DriverReconnect,
            CoreEvent::DriverDisconnect,
        ];
        for event in events {
            driver.add_global_event(event.into(), self.clone());
        }
    }

    fn packet(&self, data: &RtpData) {
        let rtp = data.rtp();
        let user = match self.audience.verdict(rtp.get_ssrc()) {
            Verdict::Receive(user) => user,
            Verdict::Ignore => return,
            Verdict::Unknown => return count(&self.dropped.unknown),
        };
        let payload = rtp.payload();
        let end = payload.len().saturating_sub(data.payload_end_pad);
        let Some(opus) = payload.get(data.payload_offset..end) else { return };
        let packet = Packet {
            sequence: rtp.get_sequence().0.0,
            timestamp: rtp.get_timestamp().0.0,
            at: Instant::now(),
            opus: opus.to_vec(),
        };
        if self.packets.try_send((user, packet)).is_err() {
            count(&self.dropped.full);
        }
    }

    fn tell(&self, news: VoiceNews) {
        if let Err(lost) = self.news.try_send(news) {
            tracing::debug!(%lost, "dropped an event of a voice connection");
        }
    }
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

#[async_trait]
impl EventHandler for DriverEvents {
    async fn act(&self, event: &EventContext<'_>) -> Option<Event> {
        match event {
            EventContext::RtpPacket(data) => self.packet(data),
            EventContext::SpeakingStateUpdate(update) => {
                if let Some(user) = update.user_id {
                    self.audience.is_voice_of(update.ssrc, user.0);
                    if !update.speaking.is_empty() {
                        self.tell(VoiceNews::Speaks(user.0, Instant::now()));
                    }
                }
            }
            EventContext::ClientDisconnect(left) => {
                self.audience.left(left.user_id.0);
                self.tell(VoiceNews::Left(left.user_id.0));
            }
            EventContext::DriverConnect(_) | EventContext::DriverReconnect(_) => {
                self.tell(VoiceNews::Connected);
            }
            EventContext::DriverDisconnect(gone) => match gone.reason {
                None | Some(DisconnectReason::Requested | DisconnectReason::AttemptDiscarded) => {}
                Some(reason) => self.tell(VoiceNews::Lost(why(reason))),
            },
            _ => {}
        }
        None
    }
}

fn why(reason: DisconnectReason) -> String {
    match reason {
        DisconnectReason::WsClosed(Some(code)) => format!("discord closed it ({code:?})"),
        DisconnectReason::WsClosed(None) => "discord closed it".to_owned(),
        DisconnectReason::TimedOut => "discord did not answer in time".to_owned(),
        DisconnectReason::Io => "the network failed".to_owned(),
        other => format!("{other:?}"),
    }
}
