//! Who sits in the voice channel, and who of them may be heard.
//!
//! **Never**: lets anybody be heard who opted out, or who was not told.

use std::collections::BTreeMap;

use serenity::all::{ChannelId, Member};

use super::{
    guild::Guild,
    live::{Live, Person, Standing},
    options::Consent,
};
use crate::session::{Command, Speaker, SpeakerId};

impl Guild {
    /// Looks who is in the channel, and tells the table.
    pub fn seat_people(&mut self) {
        let Some(live) = self.live_mut() else { return };
        let (voice, before) = (live.voice, live.people.clone());
        let Some((people, mine)) = self.look_around(voice) else { return };
        match mine {
            Some(channel) if channel != voice => {
                // Somebody has moved the bot: it goes on there.
                if let Some(live) = self.live_mut() {
                    live.voice = channel;
                }
                return self.seat_people();
            }
            Some(_) => {
                if let Some(live) = self.live_mut() {
                    live.seen = true;
                }
            }
            None if self.live().is_ok_and(|live| live.seen && live.standing == Standing::Up) => {
                // It runs, or it would not stand.
                let _ = self.stop("somebody disconnected me from the channel");
                return;
            }
            None => {}
        }
        let Some(live) = self.live_mut() else { return };
        let mut people = people;
        for (user, person) in &mut people {
            person.heard &= live.warned.contains(user);
        }
        live.panel.urgent |= before != people;
        tell_changes(live, &before, &people);
        live.link.audience.set(people.iter().filter(|(_, it)| it.heard).map(|(user, _)| *user));
        live.people = people;
        self.tell_newcomers();
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

fn tell_changes(live: &Live, before: &BTreeMap<u64, Person>, now: &BTreeMap<u64, Person>) {
    for user in before.keys().filter(|user| !now.contains_key(user)) {
        if let Err(why) = live.tell(Command::Leave(SpeakerId(*user))) {
            tracing::warn!(why, "somebody could not leave");
        }
    }
    for (user, person) in now.iter().filter(|(user, person)| before.get(user) != Some(person)) {
        let speaker =
            Speaker { id: SpeakerId(*user), name: person.name.clone(), is_dm: person.is_dm };
        if let Err(why) = live.tell(Command::Join(speaker)) {
            tracing::warn!(why, "somebody could not sit down");
        }
    }
}
