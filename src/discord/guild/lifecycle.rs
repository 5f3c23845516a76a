//! Start and end of a session.
//!
//! Entry methods: [`Guild::start`], [`Guild::stop`]. **Never**: leaves remains of a session that
//! failed to start.

use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt};
use serenity::all::{ChannelId, UserId};
use tokio::sync::oneshot;

use super::{
    approvals::{Approvals, ClosedMessage},
    outbox::Outbox,
    panel::{self, MessagePlace},
    refusal::GuildRefusal,
    session::{ClosedSession, GuildSession, SessionOptions},
    state::{Guild, Job},
};
use crate::{
    campaign::{Fact, PlayedCampaign, RecapError, RunningSession, Sessions, now},
    discord::{
        access,
        ui::{
            approvals, facts,
            message::ChannelMessage,
            panel::{PanelView, render},
        },
        voice::ConnectionState,
    },
    domain::{Scope, SessionId},
};

/// Facts proposed at the end of a session; the command lists the others.
const FACTS_MAX: usize = 5;

pub struct SessionStart {
    pub user: UserId,
    pub text: ChannelId,
    /// `None`: the channel that `user` is in.
    pub voice: Option<ChannelId>,
}

/// A session to be opened.
pub struct SessionPlan {
    pub id: SessionId,
    pub after: Option<SessionId>,
    pub played: Option<PlayedCampaign>,
    pub scope: Scope,
    /// Its last record, if it was interrupted.
    pub before: Option<RunningSession>,
}

/// A session that was opened, or the error; for [`Guild::started`].
pub struct StartedSession {
    opened: Result<GuildSession, GuildRefusal>,
    by: UserId,
    before: Option<RunningSession>,
    /// Marks that a session is being opened until dropped.
    _opening: Arc<()>,
}

impl Guild {
    /// # Errors
    /// Why no session can start, with the fix.
    pub fn start(
        &mut self,
        start: &SessionStart,
    ) -> Result<BoxFuture<'static, StartedSession>, GuildRefusal> {
        let (settings, scope) = (self.settings(), self.scope());
        let plan = SessionPlan {
            id: Sessions::name(self.id.get()),
            after: settings.last_of(&scope.campaign).cloned().map(SessionId),
            played: self.played().cloned(),
            scope,
            before: None,
        };
        self.open_session(start, plan)
    }

    pub(super) fn open_session(
        &mut self,
        start: &SessionStart,
        plan: SessionPlan,
    ) -> Result<BoxFuture<'static, StartedSession>, GuildRefusal> {
        if let Some(session) = &self.session {
            return Err(GuildRefusal::AlreadyRuns(session.voice_channel));
        }
        if self.opening.strong_count() > 0 {
            return Err(GuildRefusal::Opening);
        }
        let voice = self.check_channels(start)?;
        let SessionPlan { id, after, played, scope, before } = plan;
        let (capacity, guild) = (&self.shared.capacity, self.id.get());
        let place = match &before {
            Some(_) => capacity.take_anyway(guild),
            None => capacity.take(guild).map_err(GuildRefusal::Full)?,
        };
        let (settings, by) = (self.settings(), start.user);
        let options = SessionOptions {
            guild: self.id,
            id,
            after,
            began: before.as_ref().map(|it| it.began),
            voice,
            text: start.text,
            volume: settings.music_volume,
            tools: settings.tools.clone(),
            tenure: self.shared.tenure.clone(),
            place,
            played,
            scope,
        };
        let sessions = self.shared.handles.sessions.clone();
        let songbird = Arc::clone(&self.shared.songbird);
        let opening = Arc::new(());
        self.opening = Arc::downgrade(&opening);
        let leaving = self.leaving.take();
        let open = async move {
            // Joining while the previous session leaves would be undone by it.
            if let Some(left) = leaving {
                _ = left.await;
            }
            let opened = GuildSession::open(sessions, songbird, options).await;
            StartedSession { opened, by, before, _opening: opening }
        };
        Ok(open.boxed())
    }

    /// The voice channel, once all requirements are met.
    fn check_channels(&self, start: &SessionStart) -> Result<ChannelId, GuildRefusal> {
        let me = self.shared.me;
        let guild = self.shared.cache.guild(self.id).ok_or(GuildRefusal::UnknownServer)?;
        let theirs = guild.voice_states.get(&start.user).and_then(|it| it.channel_id);
        let voice = start.voice.or(theirs).ok_or(GuildRefusal::NoVoiceChannel)?;
        let found = guild.channels.get(&voice).ok_or(GuildRefusal::Hidden(voice))?;
        if let Some(lack) = access::lacks_voice(&guild, found, me) {
            return Err(lack.into());
        }
        if let Some(panel) = guild.channels.get(&start.text) {
            let lacks = access::lacks_text(&guild, panel, me);
            if !lacks.is_empty() {
                let (lacks, channel) = (lacks.join(", "), start.text);
                return Err(GuildRefusal::CannotWrite { lacks, channel });
            }
        }
        Ok(voice)
    }

    /// Continues with an opened session; returns its voice channel.
    pub fn started(&mut self, started: StartedSession) -> Result<ChannelId, GuildRefusal> {
        let (mut session, before) = (started.opened?, started.before);
        if let Some(before) = &before {
            self.know_again(&mut session, before);
        }
        let (id, voice) = (session.id.clone(), session.voice_channel);
        self.shared.handles.tools.set_permits(&id, self.settings().permits.clone());
        let (after, began) = match before {
            Some(before) => (before.after, before.began),
            None => (self.settings().last_of(&session.campaign).cloned(), now()),
        };
        let running = session.begun(after, started.by.get(), began);
        self.change_settings(|settings| {
            settings.begun(running.campaign.clone(), running.session.clone());
            settings.running = Some(running);
        });
        self.session = Some(session);
        self.recount_calls();
        self.seat_people();
        Ok(voice)
    }

    /// Ends the session. In the background it leaves the channel and searches the transcript for
    /// facts worth keeping.
    pub fn stop(&mut self, why: &str) -> Result<(), GuildRefusal> {
        let session = self.take_session(why)?;
        let (handles, panel) = (self.shared.handles.clone(), session.text_channel);
        let (leaves, left) = oneshot::channel();
        self.leaving = Some(left);
        self.spawn(async move {
            let consolidated = handles.recaps.consolidate(&session.id);
            keep(&handles.sessions, session).await;
            // The receiver continues when this is dropped, even if the job never reaches this line.
            drop::<oneshot::Sender<()>>(leaves);
            let found = consolidated.await;
            Box::new(move |guild: &mut Self| guild.propose(panel, found)) as Job
        });
        Ok(())
    }

    /// Ends the session and waits for unfinished work, without asking a model. Cancel safe.
    pub(super) async fn close(&mut self) {
        // Requests that wait for a decision keep waiting after the restart.
        self.approvals = Approvals::default();
        // Without a session nothing needs closing.
        let why = "I am shutting down; start me again and use /session start";
        if let Ok(session) = self.take_session(why) {
            let sessions = self.shared.handles.sessions.clone();
            self.send(async move { keep(&sessions, session).await });
        }
        while self.closing.join_next().await.is_some() {}
        while self.jobs.join_next().await.is_some() {}
    }

    /// Removes the session from the guild; the caller closes and stores it.
    fn take_session(&mut self, why: &str) -> Result<GuildSession, GuildRefusal> {
        self.send_shown();
        let session = self.session.take().ok_or(GuildRefusal::NoSession)?;
        // Unsent output must not reach another session.
        self.outbox = Outbox::default();
        let closed = self.approvals.close_of(&session.id);
        if !closed.is_empty() {
            self.forget_decided();
        }
        self.change_settings(|settings| settings.running = None);
        self.keep_settings();
        self.close_messages(closed);
        tracing::info!(guild = self.id.get(), why, "session ended");
        self.close_panel(&session, why);
        Ok(session)
    }

    fn close_panel(&mut self, session: &GuildSession, why: &str) {
        if let Some(message) = session.panel.message() {
            let place = MessagePlace { channel: session.text_channel, message };
            self.write_over(place, session.panel.notes(), why);
        }
    }

    /// Shows in its panel that a session is over.
    pub(super) fn write_over(&mut self, panel: MessagePlace, notes: Vec<&str>, why: &str) {
        let MessagePlace { channel, message } = panel;
        let rendered = render(&PanelView {
            status: None,
            heard: Vec::new(),
            unheard: Vec::new(),
            cannot_hear: None,
            is_listened_to: false,
            connection: &ConnectionState::Left,
            node: None,
            notes,
            over: Some(why),
        });
        let http = Arc::clone(&self.shared.http);
        self.send(async move {
            if let Err(error) = panel::write(&http, channel, Some(message), &rendered).await {
                tracing::warn!(%error, "cannot write the panel");
            }
        });
    }

    pub(super) fn close_messages(&mut self, closed: Vec<ClosedMessage>) {
        for ClosedMessage { place, text } in closed {
            let http = Arc::clone(&self.shared.http);
            let edit = approvals::without_buttons(text);
            self.send(async move {
                if let Err(error) = place.channel.edit_message(&http, place.message, edit).await {
                    tracing::warn!(%error, "cannot mark a request as decided");
                }
            });
        }
    }

    /// Proposes a session's facts to the game master: in the log channel, else by a note in
    /// `panel`, which players read.
    fn propose(&mut self, panel: ChannelId, found: Result<Vec<Fact>, RecapError>) {
        let log = self.log_channel();
        let facts = match found {
            Ok(facts) if facts.is_empty() => return,
            Ok(facts) => facts,
            Err(why) => {
                let text = format!(
                    "I couldn't look for facts worth keeping in this session: {why} (to try \
                     again, use /session recap as a game master)"
                );
                return self.post(log.unwrap_or(panel), ChannelMessage::text(text).message());
            }
        };
        let http = Arc::clone(&self.shared.http);
        self.send(async move {
            let mut why = String::new();
            if let Some(log) = log {
                match put(&http, log, &facts).await {
                    Ok(()) => return,
                    Err(error) => why = format!(" I cannot write in <#{log}>: {error}."),
                }
            }
            let count = facts.len();
            let text = format!("{count} facts wait for the game master (/session facts).{why}");
            if let Err(error) =
                panel.send_message(&http, ChannelMessage::text(text).message()).await
            {
                tracing::warn!(%error, "cannot notify the game master of the facts that wait");
            }
        });
    }
}

/// A message for each fact, and a note about those beyond the limit.
async fn put(
    http: &serenity::http::Http,
    channel: ChannelId,
    facts: &[Fact],
) -> serenity::Result<()> {
    for fact in facts.iter().take(FACTS_MAX) {
        channel.send_message(http, facts::message(fact)).await?;
    }
    if let Some(more) = facts.len().checked_sub(FACTS_MAX).filter(|&more| more > 0) {
        let text = format!("… and {more} more facts wait for you (/session facts)");
        channel.send_message(http, ChannelMessage::text(text).message()).await?;
    }
    Ok(())
}

/// Closes a session and stores its results.
pub(super) async fn keep(sessions: &Sessions, session: GuildSession) {
    let ClosedSession { id, kept, unfinished } = session.close().await;
    unfinished.finished();
    if let Err(why) = sessions.keep(&id, kept).await {
        tracing::error!(%why, "cannot save a session");
    }
}
