//! Looking after the voice connection, and what the table tells.
//!
//! **Never**: stays silent about being deaf or mute.

use std::{sync::atomic::Ordering, time::Duration};

use tokio::time::Instant;

use crate::discord::{
    guild::effects::Ask,
    guild::health::{Ailment, Packets},
    guild::session::Standing,
    guild::task::{Guild, Job},
    voice::{Heard, VoiceNews},
};
use crate::{
    domain::SessionId,
    session::{Outcome, TableEvent, TurnLine},
};

/// Waited before a lost connection is made anew, at first and at most.
const REJOIN: Duration = Duration::from_secs(1);
const REJOIN_MAX: Duration = Duration::from_secs(30);

impl Guild {
    /// The voice connection says something.
    pub fn voice_news(&mut self, news: VoiceNews) {
        let now = Instant::now();
        match news {
            VoiceNews::Connected => self.connected(),
            VoiceNews::Lost(why) => {
                // One attempt at a time; the one under way tells how it went.
                if self.session().is_ok_and(|live| live.standing == Standing::Up) {
                    self.rejoin(why);
                }
            }
            VoiceNews::Speaks(user) => {
                if let Some(live) = self.session_mut()
                    && live.link.audience.hears(user)
                {
                    live.health.speaks(now, user);
                }
            }
            VoiceNews::Left(user) => {
                if let Some(live) = self.session_mut() {
                    live.health.left(user);
                }
            }
        }
    }

    fn connected(&mut self) {
        let Some(live) = self.session_mut() else { return };
        if live.standing != Standing::Up {
            live.standing = Standing::Up;
            live.panel.note("the voice connection stands again".to_owned());
            // What was told while it was made counts now.
            self.seat_people();
        }
    }

    /// Makes the connection anew, after a while that grows, unless it stands again by then: Discord
    /// sends a bot to another voice server by closing the old one first.
    fn rejoin(&mut self, why: String) {
        let Some(live) = self.session_mut() else { return };
        let attempts = match &live.standing {
            Standing::Down { attempts, .. } => attempts + 1,
            _ => 0,
        };
        tracing::warn!(why, attempts, "the voice connection is lost");
        live.standing = Standing::Down { why, attempts };
        live.panel.urgent = true;
        let wait = REJOIN.saturating_mul(1 << attempts.min(5)).min(REJOIN_MAX);
        let session = live.session.clone();
        self.spawn(async move {
            tokio::time::sleep(wait).await;
            Box::new(move |guild: &mut Self| guild.rejoin_now(session)) as Job
        });
    }

    fn rejoin_now(&mut self, session: SessionId) {
        let Some(live) = self.session_mut() else { return };
        if live.session != session || live.standing == Standing::Up {
            return;
        }
        live.seen = false;
        let (wire, channel) = (live.link.wire(), live.voice);
        self.spawn(async move {
            let made = wire.reconnect(channel).await;
            Box::new(move |guild: &mut Self| {
                if guild.session().is_ok_and(|live| live.session == session) {
                    match made {
                        Ok(()) => guild.connected(),
                        Err(why) => guild.rejoin(why),
                    }
                }
            }) as Job
        });
    }

    /// The table tells something.
    pub fn table_event(&mut self, event: TableEvent) {
        match event {
            TableEvent::Line(line) => {
                if let Some(live) = self.session_mut() {
                    live.tell_trials(&line);
                }
                let failed = !line.outcome.is_well() && line.npc.is_some();
                // Whoever types waits for an answer; talk at the table may be to nobody.
                let typed_to_nobody =
                    line.outcome == Outcome::NobodyAddressed && line.stt == TurnLine::TYPED;
                if let (Some(detail), Some(live)) = (line.detail.clone(), self.session_mut()) {
                    match (failed, typed_to_nobody) {
                        (true, _) => live.panel.note(detail),
                        (_, true) => live.panel.note(format!("{}: {detail}", line.speaker)),
                        _ => {}
                    }
                }
            }
            TableEvent::Notice(text) => {
                if let Some(live) = self.session_mut() {
                    live.panel.note(text);
                }
            }
            TableEvent::State(_) | TableEvent::Missed(_) => {
                if let Some(live) = self.session_mut() {
                    live.panel.urgent = true;
                }
            }
            TableEvent::Halted { .. } => self.halted(),
        }
    }

    /// A tool wants something of the guild.
    pub fn ask(&mut self, ask: Ask) {
        match ask {
            Ask::Tell(text) => self.tell_dm(text),
            Ask::Show(text) => self.outbox.line(text),
            Ask::Attach { tool, attachment } => self.outbox.file(&tool, &attachment),
            Ask::Approve(request, answer) => self.ask_leave(request, answer),
            Ask::Elicit(form, answer) => self.ask_form(form, answer),
        }
    }

    /// Looks how things stand, every second.
    pub fn look(&mut self, now: Instant) {
        let idle = self.shared.options.idle;
        let Some(live) = self.session_mut() else { return };
        if live.people.is_empty() {
            let since = *live.alone_since.get_or_insert(now);
            if now.duration_since(since) >= idle {
                // It runs, or there would be nobody to be alone.
                let _ = self.stop("nobody was there any more");
                return;
            }
        } else {
            live.alone_since = None;
        }
        self.send_shown();
        self.tidy_desk();
        self.look_after_connection(now);
        self.refresh_panel(now);
    }

    fn look_after_connection(&mut self, now: Instant) {
        let muted = self.muted_by_server();
        let Some(live) = self.session_mut() else { return };
        if let Some(why) = muted {
            live.panel.note(why.to_owned());
        }
        if live.standing != Standing::Up {
            return;
        }
        let report = live.link.hearing.borrow().clone();
        let packets = |it: &Heard| Packets { last: it.last, last_good: it.last_good };
        let heard = report.speakers.iter().map(|(user, it)| (*user, packets(it))).collect();
        let unclaimed = live.link.dropped.unknown.load(Ordering::Relaxed);
        let crowded = report.crowded_out + live.link.dropped.full.load(Ordering::Relaxed);
        if live.health.is_crowded(crowded) {
            tracing::warn!(crowded, "speech found no room: this machine is too slow");
            live.panel.note(
                "this machine is too busy to hear everything (a smaller model, or a faster machine)"
                    .to_owned(),
            );
        }
        for ailment in live.health.look(now, &heard, unclaimed) {
            match ailment {
                Ailment::Deaf => {
                    return self.rejoin("somebody speaks and nothing arrives".to_owned());
                }
                Ailment::DeafTo(user) => self.note_about(
                    user,
                    "speaks, but Discord sends me nothing of it (have them leave the channel and \
                     join again)",
                ),
                Ailment::Garbled(user) => self.note_about(
                    user,
                    "sends what I cannot decode (have them leave the channel and join again)",
                ),
            }
        }
    }

    fn note_about(&mut self, user: u64, what: &str) {
        let Some(live) = self.session_mut() else { return };
        let name = live.people.get(&user).map_or("somebody", |it| it.name.as_str());
        let note = format!("{name} {what}");
        live.panel.note(note);
    }

    /// What the server has done to the bot's own voice.
    fn muted_by_server(&self) -> Option<&'static str> {
        let guild = self.shared.cache.guild(self.id)?;
        let mine = guild.voice_states.get(&self.shared.me)?;
        if mine.mute || mine.suppress {
            return Some("I am muted on this server: right-click me in the channel, Server Mute");
        }
        mine.deaf.then_some("I am deafened on this server: right-click me in the channel")
    }
}
