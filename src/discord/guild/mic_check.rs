//! Trying whether somebody is heard: a line is played, and what comes back is shown to them.
//!
//! Entry function: [`Guild::try_out`]. **Never**: shows what was heard of one player to another.

use std::time::Duration;

use futures::future::FutureExt;
use serenity::all::UserId;
use tokio::{sync::oneshot, time::timeout};

use crate::discord::{
    commands::{Answer, Refusal, Then},
    guild::session::{GuildSession, Standing},
    guild::task::Guild,
    ui::reply::Reply,
};
use crate::{
    audio::FRAME,
    campaign::Consent,
    session::{Outcome, SpeakerId, TurnLine},
};

/// Played.
const TEST_LINE: &str = "Hello. If you can hear me, say a few words now.";
/// Somebody speaks within this, or is told that nothing came.
const PATIENCE: Duration = Duration::from_secs(10);

/// Somebody who waits for what is heard of them.
#[derive(Debug)]
pub struct MicCheck {
    user: SpeakerId,
    heard: oneshot::Sender<String>,
}

impl Guild {
    /// Plays a test line and tells `user` what is then heard of them.
    ///
    /// # Errors
    /// No session runs, or they could not be heard, with the way out.
    pub fn try_out(&mut self, user: UserId) -> Result<Answer, Refusal> {
        let ask = self.consent() == Consent::Ask;
        let opted_out = self.settings.opted_out.contains(&user.get());
        let live = self.session()?;
        let person = live.people.get(&user.get()).ok_or_else(|| {
            Refusal(format!("you are not in <#{}> (join it, then press Test again)", live.voice))
        })?;
        if live.standing != Standing::Up {
            return Err("the voice connection is being made anew (try again in a moment)".into());
        }
        if !person.heard {
            return Err(match (opted_out, ask) {
                (true, _) => "you opted out, so nothing of you is heard (/privacy optin)",
                (_, true) => "you have not agreed to be heard yet (/privacy optin)",
                _ => "you were not told yet that you are heard (try again in a moment)",
            }
            .into());
        }
        let (hearing, wire) = (live.link.hearing.clone(), live.link.wire());
        let announcer = self.shared.handles.announcer.clone();
        let (heard, waiting) = oneshot::channel();
        if let Some(live) = self.session_mut() {
            live.trials.retain(|trial| !trial.heard.is_closed());
            live.trials.push(MicCheck { user: SpeakerId(user.get()), heard });
        }
        let work = async move {
            let played = match announcer.frames(TEST_LINE).await {
                Ok(frames) => {
                    let length = FRAME.saturating_mul(u32::try_from(frames.len()).unwrap_or(0));
                    wire.announce(frames).await;
                    tokio::time::sleep(length).await;
                    "I have said a test line.".to_owned()
                }
                Err(why) => format!("I could not say a test line: {why}."),
            };
            let heard = match timeout(PATIENCE, waiting).await {
                Ok(Ok(heard)) => heard,
                _ => {
                    let report = hearing.borrow();
                    let last = report.speakers.get(&user.get()).map(|it| it.last.elapsed());
                    nothing(last.is_some_and(|it| it <= PATIENCE)).to_owned()
                }
            };
            Box::new(move |_: &mut Self| Reply::private(format!("{played} {heard}"))) as Then
        };
        Ok(Answer::Later { public: false, work: work.boxed() })
    }
}

impl GuildSession {
    /// Tells whoever tries whether they are heard.
    pub fn tell_trials(&mut self, line: &TurnLine) {
        if line.stt == TurnLine::TYPED {
            return;
        }
        for index in (0..self.trials.len()).rev() {
            if self.trials.get(index).is_some_and(|trial| Some(trial.user) == line.from) {
                let trial = self.trials.swap_remove(index);
                // Whoever waited too long was told so.
                let _ = trial.heard.send(what_was_heard(line));
            }
        }
    }
}

fn what_was_heard(line: &TurnLine) -> String {
    match line.outcome {
        Outcome::HearingError => {
            let why = line.detail.as_deref().unwrap_or("it gave no reason");
            format!("I heard you, but what turns speech into text failed: {why}")
        }
        _ if line.heard.trim().is_empty() => {
            "I heard your voice, but understood no word (speak nearer to the microphone, and in \
             the language of the NPCs)."
                .to_owned()
        }
        _ => format!("I heard: “{}”", line.heard),
    }
}

/// What to do when nothing was heard; `came`: packets did.
fn nothing(came: bool) -> &'static str {
    if came {
        "Sound came from you within 10 s, but no speech (turn your microphone up, or Discord's \
         noise suppression down)."
    } else {
        "Nothing came from you within 10 s (are you muted, or on push-to-talk? is the right \
         microphone chosen in Discord's settings? if all that is well, leave the channel and join \
         again)."
    }
}
