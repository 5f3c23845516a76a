//! Members in the voice channel: who may be heard, and their notices.
//!
//! **Never**: lets a user be heard who opted out or was not notified.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use futures::{FutureExt, future::BoxFuture};
use serenity::all::{ChannelId, CreateMessage, Member, Permissions, UserId};
use tokio::time::{sleep, timeout};

use super::{
    mic_check::{self, PATIENCE, TEST_LINE},
    people::{Changes, Person},
    refusal::GuildRefusal,
    session::GuildSession,
    state::{Guild, Job},
};
use crate::{
    audio::FRAME,
    campaign::{Announcement, Consent, Deletion, ForgetFrom, Services, now},
    discord::ui::{names::cleaned, notices},
    session::{Command, Speaker, SpeakerId},
};

struct Attendance {
    /// People in the session's voice channel, by user.
    people: BTreeMap<u64, Person>,
    mine: Option<ChannelId>,
}

/// Notifies newcomers, in writing and aloud, that they are heard or cannot be.
fn notice(
    session: &GuildSession,
    names: &[&str],
    consent: Consent,
    services: &Services,
) -> (CreateMessage, Announcement) {
    let voice = session.voice_channel.get();
    if session.cannot_hear.is_some() {
        let english = notices::SPOKEN_UNHEARD.to_owned();
        return (notices::written_unheard(names, voice), Announcement { english, german: None });
    }
    let speaks_german = session.cast().iter().all(|it| it.npc.language == GERMAN);
    let german = speaks_german.then(|| notices::spoken_german(consent, services));
    let english = notices::spoken(consent, services);
    (notices::written(names, voice, consent, services), Announcement { english, german })
}

/// ISO 639-1 code. Notices are spoken in German if all NPCs speak it.
const GERMAN: &str = "de";

impl Guild {
    pub fn seat_people(&mut self) {
        let Ok(session) = self.session() else { return };
        let Some(mut found) = self.look_around(session.voice_channel) else { return };
        if let Some(moved) = found.mine.filter(|mine| *mine != session.voice_channel) {
            // The bot was moved: the session continues there.
            let Some(there) = self.look_around(moved) else { return };
            found = there;
        }
        let Some(session) = &mut self.session else { return };
        match found.mine {
            Some(channel) => {
                session.voice_channel = channel;
                session.voice.seen_in_channel();
            }
            None if session.voice.is_up() && session.voice.was_seen() => {
                return self.disconnected();
            }
            None => {}
        }
        let changes = session.people.update(found.people);
        if !changes.is_empty() {
            session.panel.refresh_soon();
        }
        session.announce(&self.settings.values().opted_out);
        session.voice.receive(session.people.received());
        session.count_listeners();
        self.tell_table(changes);
        self.tell_newcomers();
    }

    /// The bot is in no voice channel any more. If it was in one, it was removed by hand.
    pub fn disconnected(&mut self) {
        if self.session().is_ok_and(|session| session.voice.was_seen()) {
            self.end_soon("someone disconnected me from the channel");
        }
    }

    /// People in `voice`, and the bot's channel; `None`: not reported by the gateway yet.
    fn look_around(&self, voice: ChannelId) -> Option<Attendance> {
        let guild = self.shared.cache.guild(self.id)?;
        let mine = guild.voice_states.get(&self.shared.me).and_then(|it| it.channel_id);
        let people = guild
            .voice_states
            .values()
            .filter(|state| state.channel_id == Some(voice))
            .filter_map(|state| {
                let member = state.member.as_ref().or_else(|| guild.members.get(&state.user_id))?;
                let may = guild.member_permissions(member);
                let is_person = !member.user.bot;
                is_person.then(|| (state.user_id.get(), self.person(member, may)))
            })
            .collect();
        Some(Attendance { people, mine })
    }

    /// True if a person is in `voice`; `None`: not reported by the gateway yet.
    pub(super) fn has_people(&self, voice: ChannelId) -> Option<bool> {
        self.look_around(voice).map(|found| !found.people.is_empty())
    }

    fn person(&self, member: &Member, may: Permissions) -> Person {
        let user = member.user.id.get();
        Person {
            name: cleaned(member.display_name()),
            is_dm: self.is_dm(member, may),
            is_received: self.may_receive(user),
        }
    }

    /// True if `user` may be heard once notified.
    fn may_receive(&self, user: u64) -> bool {
        let settings = self.settings();
        let agreed = match self.consent() {
            Consent::Notice => true,
            Consent::Ask => settings.agreed.contains(&user),
        };
        let can_hear = self.session().is_ok_and(|session| session.cannot_hear.is_none());
        can_hear && self.check_settings().is_ok() && agreed && !settings.opted_out.contains(&user)
    }

    fn tell_table(&self, changes: Changes) {
        let Ok(session) = self.session() else { return };
        for user in changes.left {
            if let Err(why) = session.leave(user) {
                tracing::warn!(%why, "cannot remove a player from the table");
            }
        }
        for (user, person) in changes.changed {
            let speaker = Speaker { id: SpeakerId(user), name: person.name, is_dm: person.is_dm };
            if let Err(why) = session.sit_down(speaker, self.settings().characters.get(&user)) {
                tracing::warn!(%why, "cannot seat a player at the table");
            }
        }
    }

    /// Seats the user of a command at the table, even outside the voice channel.
    pub fn sit_down(&self, speaker: Speaker) -> Result<SpeakerId, GuildRefusal> {
        let (session, id) = (self.session()?, speaker.id);
        if session.people.get(id.0).is_none() {
            session.sit_down(speaker, self.settings().characters.get(&id.0))?;
        }
        Ok(id)
    }

    /// Drops players' current speech if outside services receive it that they were not notified of;
    /// hears them again once notified.
    pub fn tell_of_services(&mut self) {
        let services = self.services();
        let Some(session) = &mut self.session else { return };
        let received: Vec<u64> = session.people.received().collect();
        if !session.people.given_to(services.announced()) {
            return session.announce(&self.settings.values().opted_out);
        }
        for user in received {
            // They are seated again below.
            if let Err(why) = session.leave(user) {
                tracing::warn!(%why, "cannot drop an open utterance");
            }
        }
        self.seat_people();
    }

    /// Notifies newcomers, aloud and in writing.
    fn tell_newcomers(&mut self) {
        let (consent, services) = (self.consent(), self.services());
        let Some(session) = &mut self.session else { return };
        session.people.given_first(services.announced());
        if !session.voice.is_up() {
            // No one could hear it; sent once the connection is back.
            return;
        }
        let new = session.people.newcomers(&self.settings.values().opted_out);
        if new.is_empty() {
            return;
        }
        let names: Vec<&str> = new.iter().map(|(_, name)| name.as_str()).collect();
        let (message, aloud) = notice(session, &names, consent, &services);
        // The spoken notice does not say where own voices go.
        let own_voices = services.speaks_and_hears.iter().any(|it| !it.service.is_local());
        let has_to_read = session.cannot_hear.is_none() && own_voices;
        let told: BTreeSet<String> = services.announced().collect();
        let users: Vec<u64> = new.iter().map(|(user, _)| *user).collect();
        let (id, channel) = (session.id.clone(), session.text_channel);
        let connector = session.voice.connector();
        let http = Arc::clone(&self.shared.http);
        let announcer = self.shared.handles.announcer.clone();
        self.spawn(async move {
            let written = channel.send_message(&http, message).await;
            let spoken = match announcer.announce(&aloud).await {
                Ok(frames) => {
                    connector.announce(frames).await;
                    Ok(())
                }
                Err(why) => Err(why),
            };
            Box::new(move |guild: &mut Self| {
                let knows_all = guild.services().announced().all(|it| told.contains(&it));
                let Some(session) = guild.session.as_mut().filter(|it| it.id == id) else { return };
                let why = spoken.err();
                match written {
                    Err(error) if has_to_read || why.is_some() => {
                        let why = why.map(|it| it.to_string());
                        tracing::error!(%error, why, "cannot notify players that they are heard");
                        session.people.not_told(users);
                        session.panel.note(
                            "I can't notify players that I hear them, so I don't listen (let me \
                             write in this channel)"
                                .to_owned(),
                        );
                    }
                    _ if knows_all => session.people.inform(users),
                    // An NPC's engine changed meanwhile: notify them again.
                    _ => session.people.not_told(users),
                }
                guild.seat_people();
            }) as Job
        });
    }

    /// Stops hearing `user`, also after a restart.
    pub fn opt_out(&mut self, user: u64) {
        self.change_settings(|settings| {
            settings.opted_out.insert(user);
            settings.agreed.remove(&user);
        });
        self.seat_people();
        if let Ok(session) = self.session()
            && let Err(why) = session.tell(Command::Forget(SpeakerId(user)))
        {
            tracing::warn!(%why, "an opted-out speaker was not forgotten");
        }
        self.withdraw_calls_of(user);
        self.forget_session_of(user);
    }

    /// Deletes the words of `user` in the running session.
    fn forget_session_of(&mut self, user: u64) {
        let Ok(session) = self.session() else { return };
        let names = session.people.get(user).map(|it| it.name.clone());
        let character = self.settings().characters.get(&user).cloned();
        let names = names.into_iter().chain(character).collect();
        let from = ForgetFrom { owner: self.scope().owner, session: Some(session.id.clone()) };
        let privacy = self.shared.handles.privacy.clone();
        let what = Deletion { names, ..Deletion::of(user.to_string(), from, now()) };
        self.spawn(async move {
            let deleted = privacy.forget(what).await;
            Box::new(move |guild: &mut Self| {
                let Err(why) = deleted else { return };
                guild.note(format!(
                    "I can't delete the lines of a player who opted out yet: {why} (I keep trying, \
                     even after a restart, and tell them when it's done)"
                ));
            }) as Job
        });
    }

    /// Lets `user` be heard.
    pub fn opt_in(&mut self, user: u64) {
        self.change_settings(|settings| {
            settings.opted_out.remove(&user);
            settings.agreed.insert(user);
        });
        if let Some(session) = &mut self.session {
            session.people.inform([user]);
        }
        self.seat_people();
    }

    /// Plays a test line; the future returns what was heard of `user`.
    pub fn check_mic(&mut self, user: UserId) -> Result<BoxFuture<'static, String>, GuildRefusal> {
        let ask = self.consent() == Consent::Ask;
        let opted_out = self.settings().opted_out.contains(&user.get());
        let announcer = self.shared.handles.announcer.clone();
        let session = self.session.as_mut().ok_or(GuildRefusal::NoSession)?;
        let person = session.people.get(user.get());
        let person = person.ok_or(GuildRefusal::NotInChannel(session.voice_channel))?;
        if !session.voice.is_up() {
            return Err(GuildRefusal::Reconnecting);
        }
        if let Some(why) = &session.cannot_hear {
            return Err(GuildRefusal::CannotHear(why.clone()));
        }
        if !person.is_received {
            return Err(GuildRefusal::Unheard(match (opted_out, ask) {
                (true, _) => "you opted out, so I don't hear you (/privacy optin)",
                (_, true) => "you have not agreed to be heard yet (/privacy optin)",
                _ => "I haven't notified you yet that I hear you (try again in a moment)",
            }));
        }
        let came = session.voice.came_within(user.get(), PATIENCE);
        let connector = session.voice.connector();
        let waiting = session.mic_checks.begin(user);
        let check = async move {
            let played = match announcer.frames(TEST_LINE).await {
                Ok(frames) => {
                    let length = FRAME.saturating_mul(u32::try_from(frames.len()).unwrap_or(0));
                    connector.announce(frames).await;
                    sleep(length).await;
                    "I have said a test line.".to_owned()
                }
                Err(why) => format!("I could not say a test line: {why}."),
            };
            let heard = match timeout(PATIENCE, waiting).await {
                Ok(Ok(heard)) => heard,
                _ => mic_check::nothing(came()).to_owned(),
            };
            format!("{played} {heard}")
        };
        Ok(check.boxed())
    }
}
