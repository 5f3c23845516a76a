//! A running session: events of its table, state of its connection, its panel.
//!
//! Entry methods: [`Guild::take_event`], [`Guild::look`]. **Never**: hides that the bot is deaf or
//! mute.

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;

use super::{
    panel::{self, Writing},
    session::SessionEvent,
    state::{Guild, Job},
    supervisor::{ConnectionChange, Trouble},
};
use crate::{
    discord::{
        ui::{message::unspoken, names::escaped},
        voice::VoiceNews,
    },
    domain::SessionId,
    session::{Outcome, State, Status, TableEvent, TurnLine},
};

impl Guild {
    /// Handles an event of the running session.
    pub(super) fn take_event(&mut self, event: SessionEvent) {
        match event {
            SessionEvent::Table(Some(event)) => self.table_event(event),
            SessionEvent::Table(None) => self.end_soon("the table failed (see the log)"),
            SessionEvent::Voice(news) => self.voice_news(news),
            SessionEvent::Tool(request) => self.take_request(request),
        }
    }

    fn voice_news(&mut self, news: VoiceNews) {
        let Some(session) = &mut self.session else { return };
        let change = session.voice.take(news);
        self.connection_changed(change);
    }

    fn connection_changed(&mut self, change: Option<ConnectionChange>) {
        match change {
            None => {}
            Some(ConnectionChange::Restored) => {
                self.shared.handles.figures.voice_reconnected();
                self.note("the voice connection is back");
                // Changes reported during the reconnect take effect now.
                self.seat_people();
            }
            Some(ConnectionChange::Lost(wait)) => self.reconnect_after(wait),
        }
    }

    /// Reconnects after `wait`, unless the connection is back by then.
    pub(super) fn reconnect_after(&mut self, wait: Duration) {
        let Some(session) = &mut self.session else { return };
        session.panel.refresh_soon();
        let id = session.id.clone();
        self.spawn(async move {
            tokio::time::sleep(wait).await;
            Box::new(move |guild: &mut Self| guild.reconnect(id)) as Job
        });
    }

    fn reconnect(&mut self, id: SessionId) {
        let Some(session) = self.session.as_mut().filter(|it| it.id == id) else { return };
        let Some(connector) = session.voice.begin_reconnect() else { return };
        let channel = session.voice_channel;
        self.spawn(async move {
            let made = connector.reconnect(channel).await;
            Box::new(move |guild: &mut Self| {
                let Some(session) = guild.session.as_mut().filter(|it| it.id == id) else { return };
                let change = match made {
                    Ok(()) => session.voice.restored(),
                    Err(why) => Some(ConnectionChange::Lost(session.voice.lost(why.to_string()))),
                };
                guild.connection_changed(change);
            }) as Job
        });
    }

    fn table_event(&mut self, event: TableEvent) {
        match event {
            TableEvent::Line(line) => self.table_line(&line),
            TableEvent::Notice(text) => self.note(text),
            TableEvent::Private(text) => {
                let instead =
                    "music or a schedule failed (choose a log channel in /setup to see why)";
                self.tell_log(escaped(&text), instead);
            }
            TableEvent::State(state) => {
                if let Some(session) = &mut self.session {
                    session.answering = match state {
                        State::Thinking(npc) | State::Speaking(npc) => Some(npc),
                        State::Listening | State::Paused => None,
                    };
                }
                self.refresh_panel_soon();
            }
            TableEvent::Stands(_) | TableEvent::Mark(_) | TableEvent::Missed(_) => {
                self.refresh_panel_soon();
            }
            TableEvent::Halted { .. } => self.halted(),
            TableEvent::Said(_)
            | TableEvent::Asked(_)
            | TableEvent::Forgotten(_)
            | TableEvent::Conversed(_) => {}
        }
    }

    fn table_line(&mut self, line: &TurnLine) {
        let Some(session) = &mut self.session else { return };
        session.mic_checks.understood(line);
        if let (Some(npc), Some(words)) = (&line.npc, &line.unspoken) {
            self.outbox.line(unspoken(npc, words));
        }
        let Some(detail) = line.detail.clone() else { return };
        let failed = line.npc.is_some() && (!line.outcome.is_well() || line.unspoken.is_some());
        // A player who types expects an answer; talk at the table may need none.
        let typed_to_nobody =
            line.outcome == Outcome::NobodyAddressed && line.stt == TurnLine::TYPED;
        match (failed, typed_to_nobody) {
            (true, _) => session.panel.note(detail),
            (_, true) => session.panel.note(format!("{}: {detail}", escaped(&line.speaker))),
            _ => {}
        }
    }

    /// Notifies the game master that the table has halted, without a name.
    fn halted(&mut self) {
        if let Some(session) = &self.session {
            self.approvals.pending.halt(&session.id);
        }
        let text = "An X-card was held up. Everyone is silent and muted. What was audible then, or else \
                    the last exchange, is taken back with everything since, from the transcript and \
                    from what NPCs remember; take the moment you need, then /npc unmuteall.";
        self.note("an X-card was held up");
        self.tell_dm(text.to_owned());
    }

    /// Runs every second.
    pub(super) fn look(&mut self, now: Instant) {
        let closed = self.approvals.close_expired();
        if !closed.is_empty() {
            self.forget_decided();
            self.keep_settings();
        }
        self.close_messages(closed);
        let idle = self.shared.options.idle;
        let Some(session) = &mut self.session else { return };
        if session.people.are_gone(now, idle) {
            return self.end_soon("nobody was left in the channel");
        }
        self.tell_of_services();
        self.send_shown();
        self.tell_changed_tools();
        self.tell_displaced_servers();
        self.check_connection(now);
        self.refresh_panel(now);
        self.record_running();
    }

    /// Notifies the game master of changed tools, once.
    fn tell_changed_tools(&mut self) {
        for changed in self.shared.handles.servers.changed(self.owner()) {
            let name = &changed.server;
            if !self.told_changes.insert(changed.what.clone()) {
                continue;
            }
            let way_out = match changed.owner.is_some() {
                true => format!("/tools server trust {name}"),
                false => format!("glyphoxa mcp trust {name}, by the bot's owner"),
            };
            let what = changed.what.join("\n").replace("```", "'''");
            self.tell_dm(format!(
                "The tools of **{name}** have changed; I won't call them until they are accepted \
                 ({way_out}):\n```\n{what}\n```"
            ));
        }
    }

    /// Notifies the game master, once, of servers added here whose names the configuration has
    /// taken.
    fn tell_displaced_servers(&mut self) {
        for name in self.shared.handles.servers.displaced(self.owner()) {
            let text = format!(
                "**{name}**, which was added here, is no longer connected: glyphoxa.yaml now has \
                 a server of that name (use /tools server remove {name}, and add it under \
                 another name)"
            );
            if self.told_changes.insert(vec![text.clone()]) {
                self.tell_dm(text);
            }
        }
    }

    fn check_connection(&mut self, now: Instant) {
        if let Some(why) = self.muted_by_server() {
            self.note(why);
        }
        let Some(session) = &mut self.session else { return };
        for trouble in session.voice.check(now) {
            match trouble {
                Trouble::Crowded => self.note(
                    "this machine is too busy to hear everything (use a smaller model or a \
                     faster machine)",
                ),
                Trouble::Deaf(wait) => self.reconnect_after(wait),
                Trouble::DeafTo(user) => self.note_about(
                    user,
                    "speaks, but Discord sends me no sound (ask them to leave the channel and \
                     join again)",
                ),
                Trouble::Garbled(user) => self.note_about(
                    user,
                    "sends sound that I can't decode (ask them to leave the channel and join \
                     again)",
                ),
            }
        }
    }

    fn note_about(&mut self, user: u64, what: &str) {
        let Some(session) = &mut self.session else { return };
        let name = session.people.get(user).map_or("somebody", |it| it.name.as_str());
        let name = escaped(name);
        let note = format!("{name} {what}");
        session.panel.note(note);
    }

    /// Note if the bot was muted or deafened by the server, with the fix.
    fn muted_by_server(&self) -> Option<&'static str> {
        let guild = self.shared.cache.guild(self.id)?;
        let mine = guild.voice_states.get(&self.shared.me)?;
        if mine.mute || mine.suppress {
            return Some("I am muted on this server: right-click me in the channel, Server Mute");
        }
        mine.deaf.then_some("I am deafened on this server: right-click me in the channel")
    }

    /// Writes the panel when it is time.
    fn refresh_panel(&mut self, now: Instant) {
        let Some(session) = &mut self.session else { return };
        let Some(writing) = session.panel.begins(now) else { return };
        let status = session.status();
        self.spawn(async move {
            let status = status.await.ok();
            Box::new(move |guild: &mut Self| guild.write_panel(status.as_ref(), writing)) as Job
        });
    }

    fn write_panel(&mut self, status: Option<&Status>, writing: Writing) {
        let is_listened_to = self.is_listened_to();
        let Some(session) = &mut self.session else { return };
        let rendered = session.render(status, is_listened_to, self.shared.node.as_deref());
        if !session.panel.takes(Instant::now(), &rendered.text()) {
            return;
        }
        let (id, channel) = (session.id.clone(), session.text_channel);
        let message = session.panel.message();
        let http = Arc::clone(&self.shared.http);
        self.spawn(async move {
            let written = panel::write(&http, channel, message, &rendered).await;
            Box::new(move |guild: &mut Self| {
                drop(writing);
                let Some(session) = guild.session.as_mut().filter(|it| it.id == id) else { return };
                match written {
                    Ok(written) => session.panel.written(Some(written)),
                    Err(error) => {
                        session.panel.written(None);
                        tracing::warn!(%error, "cannot write the panel");
                    }
                }
            }) as Job
        });
    }
}
