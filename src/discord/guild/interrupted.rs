//! A session that was interrupted: its program was killed, or another node served the guild.
//!
//! Entry methods: [`Guild::take_up_running`], [`Guild::go_on`]. **Never**: notifies people twice,
//! or begins a session twice.

use std::{collections::BTreeSet, sync::Arc};

use serenity::all::{ChannelId, MessageId, UserId};

use super::{
    lifecycle::{SessionPlan, SessionStart},
    panel::MessagePlace,
    refusal::GuildRefusal,
    session::GuildSession,
    state::{Guild, Job},
};
use crate::{
    campaign::{Consent, PlayedCampaign, RunningSession, Transcript, now},
    discord::ui::message::ChannelMessage,
    domain::{Scope, SessionId},
    logic::spoken::moment,
    session::{Command, SpeakerId},
};

/// Longest time since the last sign of life, in ms: the people there may have gone on without it.
const GOES_ON_WITHIN: i64 = 2 * 60 * 60 * 1_000;
/// Most attempts to go on with one session, which may be the reason why the program ends.
const TRIES_MAX: u32 = 3;

impl Guild {
    /// Takes up the session that the settings say was interrupted.
    pub(super) fn take_up_running(&mut self) {
        self.interrupted = self.settings().running.clone();
        self.go_on();
    }

    /// Goes on with the interrupted session, or ends it, once the gateway has described the server.
    pub(super) fn go_on(&mut self) {
        let Some(running) = self.interrupted.clone() else { return };
        let voice = ChannelId::new(running.voice_channel);
        let Some(has_people) = self.has_people(voice) else { return };
        self.interrupted = None;
        let over = if now().saturating_sub(running.seen) > GOES_ON_WITHIN {
            Some("I was away for too long")
        } else if !has_people {
            Some("I was interrupted, and no player was left in the channel")
        } else if running.tries >= TRIES_MAX {
            Some("I was interrupted again and again")
        } else {
            None
        };
        match over {
            Some(why) => self.end_interrupted(&running, why),
            None => self.open_again(running, voice),
        }
    }

    fn open_again(&mut self, running: RunningSession, voice: ChannelId) {
        self.change_settings(|settings| {
            if let Some(running) = &mut settings.running {
                running.tries += 1;
            }
        });
        self.keep_settings();
        let text = ChannelId::new(running.text_channel);
        let start = SessionStart { user: UserId::new(running.by), text, voice: Some(voice) };
        let opening = self.plan_of(&running).and_then(|plan| self.open_session(&start, plan));
        let opening = match opening {
            Ok(opening) => opening,
            Err(why) => return self.cannot_go_on(&running, &why),
        };
        self.spawn(async move {
            let started = opening.await;
            Box::new(move |guild: &mut Self| match guild.started(started) {
                Ok(voice) => guild.goes_on(&running, voice),
                Err(why) => guild.cannot_go_on(&running, &why),
            }) as Job
        });
    }

    fn plan_of(&self, running: &RunningSession) -> Result<SessionPlan, GuildRefusal> {
        let (handles, owner) = (&self.shared.handles, self.owner());
        let scope = Scope { owner, campaign: running.campaign.clone() };
        let is_it = |played: Option<&PlayedCampaign>| handles.scope(owner, played) == scope;
        let played = self.settings().campaigns.iter().find(|&it| is_it(Some(it))).cloned();
        if played.is_none() && !is_it(None) {
            return Err(GuildRefusal::NoCampaign);
        }
        let id = SessionId(running.session.clone());
        let after = running.after.clone().map(SessionId);
        Ok(SessionPlan { id, after, played, scope, before: Some(running.clone()) })
    }

    /// Counts people as notified whose notice, before the interruption, said all that one would say
    /// now.
    pub(super) fn know_again(&self, session: &mut GuildSession, before: &RunningSession) {
        let services: BTreeSet<String> = session.engines.services().announced().collect();
        let is_known = services.is_subset(&before.told_of)
            && (before.is_listened_to || !self.is_listened_to());
        if !is_known || session.cannot_hear.is_some() {
            return;
        }
        let settings = self.settings();
        let may_be_heard = |user: &u64| match self.consent() {
            Consent::Notice => true,
            Consent::Ask => settings.agreed.contains(user),
        };
        session.people.given_first(before.told_of.iter().cloned());
        session.people.inform(before.told.iter().copied().filter(may_be_heard));
    }

    /// Announces that the session goes on, in its text channel with a new panel.
    fn goes_on(&mut self, before: &RunningSession, voice: ChannelId) {
        let (guild, session) = (self.id.get(), &before.session);
        tracing::info!(guild, %session, "going on with a session that was interrupted");
        self.keep_settings();
        let text = ChannelId::new(before.text_channel);
        let goes_on = format!("I was interrupted; the session in <#{voice}> goes on.");
        self.post(text, ChannelMessage::text(goes_on).message());
        if let Some(panel) = before.panel.map(MessageId::new) {
            let http = Arc::clone(&self.shared.http);
            self.send(async move {
                // It may have been deleted before.
                if let Err(error) = text.delete_message(&http, panel).await {
                    tracing::debug!(%error, "cannot delete the panel of an interrupted session");
                }
            });
        }
        if let Some(npc) = &before.answering {
            self.bridge(npc, SpeakerId(before.by));
        }
    }

    /// Lets an NPC that was cut off ask for a moment, unless it is muted or an X-card is active.
    fn bridge(&mut self, npc: &str, speaker: SpeakerId) {
        let Ok(session) = self.session() else { return };
        let cast = session.cast();
        let Some(seated) = cast.iter().find(|it| it.npc.name == *npc) else { return };
        let (seat, text) = (seated.seat, moment(&seated.npc.language).to_owned());
        let (id, status) = (session.id.clone(), session.status());
        self.spawn(async move {
            let status = status.await.ok();
            let is_free = status
                .is_some_and(|it| it.card.is_none() && it.of(seat).is_some_and(|it| !it.muted));
            Box::new(move |guild: &mut Self| {
                let Some(session) = guild.session.as_ref().filter(|it| it.id == id) else { return };
                let order = Box::new(Command::Puppet { speaker, seat, text });
                // An X-card that is used meanwhile drops it.
                if is_free && let Err(why) = session.tell(Command::Unhalted { halts: 0, order }) {
                    tracing::warn!(%why, "an npc that was cut off says nothing");
                }
            }) as Job
        });
    }

    fn cannot_go_on(&mut self, running: &RunningSession, why: &GuildRefusal) {
        self.end_interrupted(running, "I was interrupted and could not go on");
        let text = format!(
            "I was interrupted and can't go on with the session: {why} (/session start begins the \
             next one)"
        );
        let channel = ChannelId::new(running.text_channel);
        self.post(channel, ChannelMessage::text(text).message());
    }

    /// Ends the interrupted session without asking a model.
    fn end_interrupted(&mut self, running: &RunningSession, why: &str) {
        let (guild, session) = (self.id.get(), &running.session);
        tracing::info!(guild, %session, why, "a session that was interrupted has ended");
        let scope = Scope { owner: self.owner(), campaign: running.campaign.clone() };
        let transcript = Transcript { scope, session: SessionId(session.clone()) };
        self.shared.handles.sessions.transcripts().ends(&transcript);
        self.change_settings(|settings| {
            // Another one may have begun.
            settings.running.take_if(|it| it.session == *session);
        });
        self.keep_settings();
        if let Some(message) = running.panel.map(MessageId::new) {
            let place = MessagePlace { channel: ChannelId::new(running.text_channel), message };
            self.write_over(place, Vec::new(), why);
        }
    }
}
