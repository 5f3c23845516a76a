//! Telling players that they are heard, before they are.
//!
//! **Never**: lets anybody be heard who was neither written to nor spoken to.

use serenity::all::{ButtonStyle, CreateActionRow, CreateButton, CreateMessage};

use crate::discord::{
    buttons::ButtonPress,
    commands::{Answer, Refusal},
    guild::task::{Guild, Job},
    ui::reply::Reply,
};
use crate::{
    campaign::{Consent, ForgetFrom, ForgetRequest},
    session::{Command, SpeakerId},
};

/// Said aloud.
const SPOKEN_NOTICE: &str = "Hello. The characters of this game listen in this channel. \
    To opt out, type slash privacy.";
const SPOKEN_ASK: &str = "Hello. The characters of this game would like to listen in this channel. \
    Nobody is heard before pressing the button in the text channel.";

impl Guild {
    /// Tells everybody who was not told yet, aloud and in writing.
    pub fn tell_newcomers(&mut self) {
        let ask = self.consent() == Consent::Ask;
        let opted_out = self.settings.opted_out.clone();
        let Some(live) = self.session_mut() else { return };
        let new: Vec<(u64, String)> = live
            .people
            .iter()
            .filter(|(user, _)| !live.told.contains(user) && !opted_out.contains(user))
            .map(|(user, person)| (*user, person.name.clone()))
            .collect();
        if new.is_empty() {
            return;
        }
        live.told.extend(new.iter().map(|(user, _)| *user));
        let (session, channel, wire) = (live.session.clone(), live.text, live.link.wire());
        let message = written(&new, live.voice.get(), ask);
        let (http, announcer) = (self.shared.http.clone(), self.shared.handles.announcer.clone());
        self.spawn(async move {
            let written = channel.send_message(&http, message).await;
            let spoken = announcer.frames(if ask { SPOKEN_ASK } else { SPOKEN_NOTICE });
            let spoken = match spoken.await {
                Ok(frames) => {
                    wire.announce(frames).await;
                    Ok(())
                }
                Err(why) => Err(why),
            };
            Box::new(move |guild: &mut Self| {
                let Some(live) = guild.session_mut().filter(|it| it.session == session) else {
                    return;
                };
                match (written, spoken) {
                    (Err(error), Err(why)) => {
                        tracing::error!(%error, %why, "players could not be told that they are heard");
                        live.told.retain(|user| new.iter().all(|(of, _)| of != user));
                        live.panel.note(
                            "I could tell nobody that they are heard, so I do not listen (let me \
                             write in this channel)"
                                .to_owned(),
                        );
                    }
                    _ => live.warned.extend(new.iter().map(|(user, _)| *user)),
                }
                guild.seat_people();
            }) as Job
        });
    }
}

fn written(new: &[(u64, String)], voice: u64, ask: bool) -> CreateMessage {
    let names = new.iter().map(|(_, name)| name.as_str()).collect::<Vec<_>>().join(", ");
    let text = if ask {
        format!(
            "**{names}**: the characters of this game would like to listen in <#{voice}>. What you \
             say is turned into text, answered and written down; the sound is not kept. You are \
             not heard before you press the button. /privacy info says where it goes."
        )
    } else {
        format!(
            "**{names}**: the characters of this game listen in <#{voice}>. What you say is turned \
             into text, answered and written down; the sound is not kept. You may opt out at any time; /privacy \
             info says where it goes."
        )
    };
    let mut buttons = vec![
        CreateButton::new("consent:out").label("Do not hear me").style(ButtonStyle::Secondary),
    ];
    if ask {
        let agree = CreateButton::new("consent:in").label("Let the characters hear me");
        buttons.insert(0, agree.style(ButtonStyle::Primary));
    }
    CreateMessage::new().content(text).components(vec![CreateActionRow::Buttons(buttons)])
}

/// A button of a notice; everybody decides for themselves.
///
/// # Errors
/// It cannot be kept.
pub fn pressed(guild: &mut Guild, press: &ButtonPress, which: &str) -> Result<Answer, Refusal> {
    let user = press.user.get();
    let done = if which == "in" { guild.opt_in(user) } else { guild.opt_out(user) };
    Ok(Reply::private(done).into())
}

impl Guild {
    /// `user` is not heard from now on, also after a restart.
    pub fn opt_out(&mut self, user: u64) -> &'static str {
        self.settings.opted_out.insert(user);
        self.settings.agreed.remove(&user);
        self.seat_people();
        if let Some(live) = self.session_mut()
            && let Err(why) = live.tell(Command::Forget(SpeakerId(user)))
        {
            tracing::warn!(why, "an opted-out speaker was not forgotten");
        }
        self.forget_session_of(user);
        self.keep();
        "You are not heard any more (/privacy optin takes that back)."
    }

    /// What `user` has said in the session that runs is deleted.
    fn forget_session_of(&mut self, user: u64) {
        let Ok(live) = self.session() else { return };
        let names = live.people.get(&user).map(|it| it.name.clone());
        let names = names.into_iter().chain(self.settings.characters.get(&user).cloned()).collect();
        let from = ForgetFrom::Session(live.session.clone());
        let deleted =
            self.shared.handles.privacy.clone().forget(ForgetRequest { user, names, from });
        self.spawn(async move {
            let deleted = deleted.await;
            Box::new(move |guild: &mut Self| {
                let (Err(why), Some(live)) = (deleted, guild.session_mut()) else { return };
                tracing::error!(%why, "lines of somebody who opted out are still kept");
                live.panel.note(format!(
                    "what somebody said who opted out is not deleted: {why} (/privacy delete)"
                ));
            }) as Job
        });
    }

    /// `user` may be heard from now on.
    pub fn opt_in(&mut self, user: u64) -> &'static str {
        self.settings.opted_out.remove(&user);
        self.settings.agreed.insert(user);
        if let Some(live) = self.session_mut() {
            live.told.insert(user);
            live.warned.insert(user);
        }
        self.seat_people();
        self.keep();
        "The characters hear you (/privacy optout takes that back)."
    }
}
