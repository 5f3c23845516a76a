//! Who sits in the voice channel, and who of them may be heard.
//!
//! **Never**: lets anybody be heard who opted out, or who was not told.

use std::collections::BTreeMap;

use serenity::all::{ChannelId, Member};

use crate::discord::{
    commands::{Call, Refusal},
    guild::session::{GuildSession, Person, Standing},
    guild::task::Guild,
};
use crate::{
    campaign::Consent,
    session::{Command, Speaker, SpeakerId},
};

impl Guild {
    /// Looks who is in the channel, and tells the table.
    pub fn seat_people(&mut self) {
        let Some(live) = self.session_mut() else { return };
        let (voice, before) = (live.voice, live.people.clone());
        let Some((people, mine)) = self.look_around(voice) else { return };
        match mine {
            Some(channel) if channel != voice => {
                // Somebody has moved the bot: it goes on there.
                if let Some(live) = self.session_mut() {
                    live.voice = channel;
                }
                return self.seat_people();
            }
            Some(_) => {
                if let Some(live) = self.session_mut() {
                    // While the connection is made anew the bot leaves and comes back by itself.
                    live.seen |= live.standing == Standing::Up;
                }
            }
            None if self.session().is_ok_and(|live| live.seen && live.standing == Standing::Up) => {
                return self.disconnected();
            }
            None => {}
        }
        let characters = self.settings.characters.clone();
        let Some(live) = self.session_mut() else { return };
        let mut people = people;
        for (user, person) in &mut people {
            person.heard &= live.warned.contains(user);
        }
        live.panel.urgent |= before != people;
        tell_changes(live, &before, &people, &characters);
        live.link.audience.set(people.iter().filter(|(_, it)| it.heard).map(|(user, _)| *user));
        live.people = people;
        self.tell_newcomers();
    }

    /// The bot is in no voice channel any more. Where it was, somebody has put it out.
    pub fn disconnected(&mut self) {
        if self.session().is_ok_and(|live| live.seen) {
            // It runs, or it would not have been seen.
            let _ = self.stop("somebody disconnected me from the channel");
        }
    }

    /// Who is in `voice`, and where the bot is.
    fn look_around(&self, voice: ChannelId) -> Option<(BTreeMap<u64, Person>, Option<ChannelId>)> {
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
        Some((people, mine))
    }

    /// Whoever uses a command sits at the table, though they may not be in the voice channel.
    ///
    /// # Errors
    /// No session runs, or its table does not answer.
    pub fn sit_down(&self, call: &Call) -> Result<SpeakerId, Refusal> {
        let (live, user) = (self.session()?, call.user.get());
        let id = SpeakerId(user);
        if !live.people.contains_key(&user) {
            let speaker = Speaker { id, name: call.name.clone(), is_dm: call.is_dm };
            sit_down(live, speaker, self.settings.characters.get(&user))?;
        }
        Ok(id)
    }

    fn person(&self, member: &Member, may: serenity::all::Permissions) -> Person {
        let user = member.user.id.get();
        Person {
            name: member.display_name().to_owned(),
            is_dm: self.is_dm(member, may),
            heard: self.may_hear(user),
        }
    }

    /// Whether `user` may be heard.
    pub fn may_hear(&self, user: u64) -> bool {
        let agreed = match self.consent() {
            Consent::Notice => true,
            Consent::Ask => self.settings.agreed.contains(&user),
        };
        self.broken.is_none() && agreed && !self.settings.opted_out.contains(&user)
    }
}

fn tell_changes(
    live: &GuildSession,
    before: &BTreeMap<u64, Person>,
    now: &BTreeMap<u64, Person>,
    characters: &BTreeMap<u64, String>,
) {
    for user in before.keys().filter(|user| !now.contains_key(user)) {
        if let Err(why) = live.tell(Command::Leave(SpeakerId(*user))) {
            tracing::warn!(why, "somebody could not leave");
        }
    }
    for (user, person) in now.iter().filter(|(user, person)| before.get(user) != Some(person)) {
        let speaker =
            Speaker { id: SpeakerId(*user), name: person.name.clone(), is_dm: person.is_dm };
        if let Err(why) = sit_down(live, speaker, characters.get(user)) {
            tracing::warn!(why, "somebody could not sit down");
        }
    }
}

/// Somebody sits down as the character they play, if that was set.
fn sit_down(
    live: &GuildSession,
    speaker: Speaker,
    character: Option<&String>,
) -> Result<(), String> {
    let id = speaker.id;
    live.tell(Command::Join(speaker))?;
    match character {
        Some(name) => live.tell(Command::Character { speaker: id, name: Some(name.clone()) }),
        None => Ok(()),
    }
}
