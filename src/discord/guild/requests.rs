//! What tools want of a guild: to tell, to show, to ask.
//!
//! Entry method: [`Guild::take_request`]. **Never**: decides for the game master.

use std::sync::Arc;

use serenity::all::{ChannelId, Message};

use super::{
    effects::ToolRequest,
    panel::MessagePlace,
    state::{Guild, Job},
};
use crate::discord::{decisions::Request, ui::approvals};

impl Guild {
    /// A tool wants something of the guild.
    pub(super) fn take_request(&mut self, request: ToolRequest) {
        match request {
            ToolRequest::Tell(text) => self.tell_dm(text),
            ToolRequest::Show(text) => self.outbox.line(text),
            ToolRequest::Attach { tool, attachment } => self.outbox.file(&tool, &attachment),
            ToolRequest::Approve(asked, answer) => self.ask(Request::Call { asked, answer }),
            ToolRequest::Elicit(form, answer) => {
                let server = Arc::clone(&form.server);
                match Request::question(form, answer) {
                    Ok(request) => self.ask(request),
                    Err(why) => {
                        self.note(format!("'{server}' asked something and was declined: {why}"));
                    }
                }
            }
        }
    }

    /// Puts a request before the game master; nobody waits here for the answer.
    fn ask(&mut self, request: Request) {
        let Ok(session) = self.session() else { return };
        let (session, panel) = (session.id.clone(), session.text_channel);
        let asked = request.asked();
        let key = self.approvals.pending.add(&session, request);
        let message = approvals::message(&asked, &key);
        let channels: Vec<ChannelId> = self.log_channel().into_iter().chain([panel]).collect();
        let http = Arc::clone(&self.shared.http);
        self.spawn(async move {
            let mut sent = Err("there is no channel for it".to_owned());
            for channel in channels {
                sent = channel
                    .send_message(&http, message.clone())
                    .await
                    .map(|it: Message| MessagePlace { channel, message: it.id })
                    .map_err(|error| format!("<#{channel}>: {error}"));
                if sent.is_ok() {
                    break;
                }
            }
            Box::new(move |guild: &mut Self| match sent {
                Ok(place) => {
                    let closed = guild.approvals.shown(&key, place);
                    guild.close_messages(closed.into_iter().collect());
                }
                Err(why) => {
                    // Whoever asked is told that nobody is there.
                    guild.approvals.pending.withdraw(&key);
                    let lack =
                        format!("I could not ask you about a tool: {why} (let me write there)");
                    guild.note(lack);
                }
            }) as Job
        });
    }

    /// Sends what tools have shown, as much as one message holds.
    pub(super) fn send_shown(&mut self) {
        let Some(message) = self.outbox.next() else { return };
        if let Ok(session) = self.session() {
            self.post(session.text_channel, message.message());
        }
    }
}
