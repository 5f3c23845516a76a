//! Writing the panel, and what its buttons do.
//!
//! **Never**: writes faster than Discord takes.

use serenity::all::{ChannelId, CreateMessage, Message};
use tokio::time::Instant;

use crate::discord::{
    buttons::ButtonPress,
    commands::{Answer, Refusal},
    guild::outbox::ChannelMessage,
    guild::session::{GuildSession, Person, Standing},
    guild::task::{Guild, Job},
    rest,
    ui::panel::{Panel, Rendered, View, render},
    ui::reply::Reply,
};
use crate::session::{Command, Status};

impl Guild {
    /// Writes the panel when it is time.
    pub fn refresh_panel(&mut self, now: Instant) {
        let Some(live) = self.session_mut() else { return };
        if !live.panel.is_due(now) {
            return;
        }
        live.panel.busy = true;
        let status = live.status();
        self.spawn(async move {
            let status = status.await.ok();
            Box::new(move |guild: &mut Self| guild.write_panel(status.as_ref())) as Job
        });
    }

    fn write_panel(&mut self, status: Option<&Status>) {
        let Some(live) = self.session_mut() else { return };
        let rendered = look(live, status);
        if !live.panel.takes(Instant::now(), &rendered.text()) {
            live.panel.busy = false;
            return;
        }
        let (session, channel, message) = (live.session.clone(), live.text, live.panel.message);
        let http = self.shared.http.clone();
        self.spawn(async move {
            let written = write(&http, channel, message, &rendered).await;
            Box::new(move |guild: &mut Self| {
                let Some(live) = guild.session_mut().filter(|it| it.session == session) else {
                    return;
                };
                live.panel.busy = false;
                match written {
                    Ok(written) => live.panel.message = Some(written),
                    Err(error) => tracing::warn!(%error, "the panel could not be written"),
                }
            }) as Job
        });
    }

    /// Puts a message where the session's panel is.
    pub fn post(&mut self, message: CreateMessage) {
        if let Ok(live) = self.session() {
            self.post_in(live.text, message);
        }
    }

    fn post_in(&mut self, channel: ChannelId, message: CreateMessage) {
        let http = self.shared.http.clone();
        self.send(async move {
            if let Err(error) = channel.send_message(&http, message).await {
                tracing::warn!(%error, "a message could not be sent");
            }
        });
    }

    /// Shows for the last time how a session stood.
    pub fn close_panel(&mut self, (channel, panel): (ChannelId, Panel), why: &str) {
        let Some(message) = panel.message else { return };
        let rendered = render(&View {
            status: None,
            people: Vec::<&Person>::new(),
            standing: &Standing::Left,
            notes: panel.notes(),
            over: Some(why),
        });
        let http = self.shared.http.clone();
        self.send(async move {
            if let Err(error) = write(&http, channel, Some(message), &rendered).await {
                tracing::warn!(%error, "the panel could not be written");
            }
        });
    }
}

/// What the panel of a session that runs looks like.
pub fn look(live: &GuildSession, status: Option<&Status>) -> Rendered {
    render(&View {
        status,
        people: live.people.values().collect(),
        standing: &live.standing,
        notes: live.panel.notes(),
        over: None,
    })
}

/// Edits the message, or writes a new one when there is none any more; which it is.
async fn write(
    http: &serenity::http::Http,
    channel: ChannelId,
    message: Option<serenity::all::MessageId>,
    rendered: &Rendered,
) -> serenity::Result<serenity::all::MessageId> {
    if let Some(message) = message {
        match channel.edit_message(http, message, rendered.edit()).await {
            Ok(_) => return Ok(message),
            // Somebody has deleted it.
            Err(error) if rest::status(&error) == Some(404) => {}
            Err(error) => return Err(error),
        }
    }
    channel.send_message(http, rendered.message()).await.map(|it: Message| it.id)
}

/// One of the panel's buttons.
///
/// # Errors
/// It is a game master's, or no session runs.
pub fn pressed(guild: &mut Guild, press: &ButtonPress, which: &str) -> Result<Answer, Refusal> {
    if which == "xcard" {
        return guild.halt().map(Answer::Now);
    }
    if !press.is_dm {
        return Err(guild.only_dms().into());
    }
    let done = match which {
        "mute" => {
            guild.session()?.tell(Command::Mute { seat: None, muted: true })?;
            "Everyone is muted (/npc unmuteall lets them speak again)."
        }
        "pause" => {
            guild.session()?.tell(Command::Pause(true))?;
            "Nobody is answered until you press Resume."
        }
        "resume" => {
            guild.session()?.tell(Command::Pause(false))?;
            "The NPCs answer again."
        }
        "next" => {
            guild.session()?.tell(Command::Skip)?;
            "On to the next."
        }
        _ => {
            guild.stop("the game master ended it")?;
            "The session is over."
        }
    };
    if let Some(live) = guild.session_mut() {
        live.panel.urgent = true;
    }
    Ok(Reply::private(done).into())
}

impl Guild {
    /// The X-card: everyone falls silent at once; nobody learns who held it up.
    ///
    /// # Errors
    /// No session runs.
    pub fn halt(&self) -> Result<Reply, Refusal> {
        self.session()?.tell(Command::Halt)?;
        Ok(Reply::private(
            "Everyone is silent, and the last exchange is taken back. Nobody learns who held up the \
             card.",
        ))
    }

    /// The table has halted: the game master is told, without a name.
    pub fn halted(&mut self) {
        let text = "An X-card was held up. Everyone is silent and muted, and the last exchange is \
                    taken back from the transcript and from what NPCs remember; take the moment you \
                    need, then /npc unmuteall.";
        if let Some(live) = self.session_mut() {
            live.panel.note("an X-card was held up".to_owned());
        }
        self.tell_dm(text.to_owned());
    }

    /// Tells the game master something: in the log channel, else where the session's panel is.
    pub fn tell_dm(&mut self, text: String) {
        let message = ChannelMessage::text(text).message();
        match self.settings.log_channel.map(ChannelId::new) {
            Some(channel) => self.post_in(channel, message),
            None => self.post(message),
        }
    }
}
