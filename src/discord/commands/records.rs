//! People's records on a server, for the shared commands.
//!
//! Entry functions: [`wanted`], [`forgotten`], [`within`]. **Never**: shows a person's lines to
//! another.

use futures::{
    FutureExt,
    future::{BoxFuture, ready},
};

use crate::{
    campaign::{Consent, Deletion, ForgetFrom, NamesOf, now},
    commands::{FaceWords, HeardState, Refusal, StoredWords},
    discord::{guild::Guild, ui::names::strong},
    domain::Owner,
    session::{Speaker, SpeakerId},
};

/// Longest text of a reply with a button, in characters: Discord allows 2,000.
const TEXT_MAX: usize = 1_900;

const PLACE: FaceWords = FaceWords {
    name: "your name on this server",
    written: "I write down all I understand at the table, said to an NPC or not, on the machine I run \
              on, with your name on this server, the time and who was there. I also store the NPCs' \
              answers and the tool calls they led to, so that the next session can go on from there. \
              For this server I store your character, and whether you opted out or agreed.",
    opting_out: "I discard your sound before decoding it, delete what you said in this session, and \
                 remember this after a restart.",
    here: "on this server",
    left: "Messages in Discord channels stay, and so do lines from other servers.",
};

impl StoredWords for Guild {
    fn face_words(&self) -> FaceWords {
        PLACE
    }

    fn hearing(&self, speaker: SpeakerId) -> Result<HeardState, Refusal> {
        let settings = self.settings();
        let you = You {
            opted_out: settings.opted_out.contains(&speaker.0),
            is_asked: self.consent() == Consent::Ask,
            agreed: settings.agreed.contains(&speaker.0),
            cannot_hear: self.cannot_hear(),
        };
        let (is_heard, services) = (you.is_heard(), self.services());
        Ok(HeardState { now: you.now(), is_heard, services, named: strong })
    }

    fn written(&mut self) -> BoxFuture<'static, bool> {
        let (sessions, owner) = (&self.shared.handles.sessions, self.owner());
        let Some(table) = sessions.tables(owner).pop() else {
            return ready(false).boxed();
        };
        let transcripts = sessions.transcripts().clone();
        async move { transcripts.answers_for(owner, &table.link.events).await }.boxed()
    }

    fn own_words(&self, speaker: &Speaker) -> BoxFuture<'static, Result<String, Refusal>> {
        let (settings, user) = (self.settings(), speaker.id.0);
        let kept = [
            settings.characters.get(&user).map(|name| format!("Your character here: {name}")),
            settings.opted_out.contains(&user).then(|| "You opted out here.".to_owned()),
            settings.agreed.contains(&user).then(|| "You agreed to be heard here.".to_owned()),
        ];
        let kept = kept.into_iter().flatten().collect::<Vec<_>>().join("\n");
        let privacy = self.shared.handles.privacy.clone();
        let lines = privacy.own_lines(Owner::Guild(self.id.get()), user.to_string());
        async move {
            let lines = lines.await?;
            Ok::<_, Refusal>(format!("{lines}\n{kept}\n"))
        }
        .boxed()
    }

    fn names_of(&self, speaker: &Speaker) -> BoxFuture<'static, Result<NamesOf, Refusal>> {
        let user = speaker.id.0;
        let what = wanted(self, user, Some(&speaker.name), user);
        let names = self.shared.handles.privacy.clone().names(what);
        async move { Ok::<_, Refusal>(names.await?) }.boxed()
    }

    fn forget(&mut self, speaker: &Speaker) -> BoxFuture<'static, Result<u64, Refusal>> {
        let user = speaker.id.0;
        forgotten(self, user, Some(&speaker.name), user)
    }
}

/// The deletion of the lines of `user`, called `name` here, requested by `asker`.
pub fn wanted(guild: &Guild, user: u64, name: Option<&String>, asker: u64) -> Deletion {
    let character = guild.settings().characters.get(&user);
    let from = ForgetFrom { owner: Owner::Guild(guild.id.get()), session: None };
    Deletion {
        names: name.into_iter().chain(character).cloned().collect(),
        asker: asker.to_string(),
        ..Deletion::of(user.to_string(), from, now())
    }
}

/// Deletes the lines of `user`, called `name` here, for `asker`; returns their number.
pub fn forgotten(
    guild: &mut Guild,
    user: u64,
    name: Option<&String>,
    asker: u64,
) -> BoxFuture<'static, Result<u64, Refusal>> {
    let what = wanted(guild, user, name, asker);
    guild.change_settings(|settings| settings.characters.remove(&user));
    guild.withdraw_calls_of(user);
    let done = guild.shared.handles.privacy.clone().forget(what);
    async move {
        done.await.map_err(|why| {
            Refusal(format!(
                "I couldn't delete everything yet: {why}. I keep trying, even after a restart, \
                 and send you a message when it's done."
            ))
        })
    }
    .boxed()
}

/// `text` shortened to fit a reply with a button.
pub fn within(text: &str) -> String {
    text.chars().take(TEXT_MAX).collect()
}

struct You {
    opted_out: bool,
    is_asked: bool,
    agreed: bool,
    /// Reason for hearing no player, with the fix.
    cannot_hear: Option<String>,
}

impl You {
    fn is_heard(&self) -> bool {
        !self.opted_out && (self.agreed || !self.is_asked)
    }

    fn now(&self) -> String {
        match self {
            Self { opted_out: true, .. } => "You opted out: I don't hear you.".to_owned(),
            Self { cannot_hear: Some(why), .. } => {
                format!("I can't hear anyone: {why}. Once this is fixed, the following applies.")
            }
            Self { is_asked: true, agreed: false, .. } => {
                "You have not agreed: I don't hear you.".to_owned()
            }
            _ => "I hear you while a session runs and you are in its voice channel.".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_whether_one_is_heard() {
        let you =
            |opted_out, is_asked, agreed| You { opted_out, is_asked, agreed, cannot_hear: None };
        assert!(you(false, false, false).is_heard());
        assert!(you(false, true, true).is_heard());
        assert!(!you(false, true, false).is_heard());
        assert!(!you(true, true, true).is_heard());
    }
}
