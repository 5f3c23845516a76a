//! The record of the running session, with which another run of the program goes on.
//!
//! Entry methods: [`Guild::record_running`], [`Guild::hand_over`]. `interrupted` reads the record.

use std::{collections::BTreeSet, time::Duration};

use serenity::all::MessageId;

use super::{lifecycle::keep, session::GuildSession, state::Guild};
use crate::campaign::{RunningSession, now};

/// Time between signs of life while nothing changes, in ms.
const SEEN_EVERY: i64 = 10 * 60 * 1_000;
/// Longest wait for the NPC that speaks when another node goes on.
const SENTENCE: Duration = Duration::from_secs(5);

impl GuildSession {
    /// Its first record; `after`: the session it continues, `by`: the user who started it, `began`:
    /// as Unix time in ms.
    pub(super) fn begun(&self, after: Option<String>, by: u64, began: i64) -> RunningSession {
        RunningSession {
            session: self.id.0.clone(),
            after,
            campaign: self.campaign.clone(),
            text_channel: self.text_channel.get(),
            voice_channel: self.voice_channel.get(),
            by,
            began,
            seen: now(),
            panel: None,
            told: BTreeSet::new(),
            told_of: BTreeSet::new(),
            is_listened_to: false,
            answering: None,
            tries: 0,
        }
    }

    /// Its record; `known` has what never changes.
    fn record(&self, known: &RunningSession) -> RunningSession {
        let (told, told_of) = self.people.told();
        // Notices of a session that cannot hear say so.
        let told = if self.cannot_hear.is_some() { BTreeSet::new() } else { told.clone() };
        RunningSession {
            voice_channel: self.voice_channel.get(),
            panel: self.panel.message().map(MessageId::get),
            told,
            told_of: told_of.cloned().unwrap_or_default(),
            answering: self.answering.clone(),
            tries: 0,
            ..known.clone()
        }
    }
}

impl Guild {
    /// Stores the record of the session if it has changed. Runs every second.
    pub(super) fn record_running(&mut self) {
        let (Some(session), Some(known)) = (&self.session, &self.settings().running) else {
            return;
        };
        let (mut running, now) = (session.record(known), now());
        running.is_listened_to = self.is_listened_to();
        if running == *known && now.saturating_sub(known.seen) < SEEN_EVERY {
            return;
        }
        running.seen = now;
        self.change_settings(|settings| settings.running = Some(running));
        self.keep_settings();
    }

    /// Ends for another node, which goes on with the session: the NPC that speaks may finish for
    /// a moment, everything is stored, and nothing is posted.
    pub(super) async fn hand_over(&mut self) {
        self.send_shown();
        self.record_running();
        if let Some(session) = self.session.take() {
            let answering = session.fall_silent(SENTENCE).await;
            self.change_settings(|settings| {
                if let Some(running) = &mut settings.running {
                    (running.answering, running.seen) = (answering, now());
                }
            });
            let sessions = self.shared.handles.sessions.clone();
            sessions.hand_over(&session.id);
            keep(&sessions, session).await;
            // From now on this node may write no line of it.
            if let Err(why) = sessions.transcripts().caught_up().await {
                let guild = self.id.get();
                tracing::error!(guild, %why, "handing over a session with lines that wait here");
            }
        }
        self.keep_settings();
        while self.closing.join_next().await.is_some() {}
    }
}
