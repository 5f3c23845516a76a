//! Requests of tools to a guild: notices, output, questions.
//!
//! Entry method: [`Guild::take_request`]. **Never**: decides for the game master.

use std::sync::Arc;

use serenity::all::{ChannelId, Message};

use super::{
    effects::ToolRequest,
    panel::MessagePlace,
    state::{Guild, Job},
};
use crate::{
    campaign::{KeptCall, ShownRequest, now},
    discord::{
        decisions::{Asked, Request},
        ui::{approvals, message::ChannelMessage},
    },
    domain::PersonId,
    tools::{ApprovalRequest, Effects},
};

impl Guild {
    pub(super) fn take_request(&mut self, request: ToolRequest) {
        match request {
            ToolRequest::Tell(text) => {
                let instead =
                    "a tool has something to tell you alone (choose a log channel with /setup)";
                self.tell_log(text, instead);
            }
            ToolRequest::Show(text) => self.outbox.line(text),
            ToolRequest::Attach { tool, attachment, halts, place } => {
                self.outbox.file(&tool, &attachment, halts, Some(place));
            }
            ToolRequest::Approve(asked, answer) => {
                self.ask(Request::Call { asked, answer, callback: None });
            }
            ToolRequest::Elicit(form, answer) => {
                let server = Arc::clone(&form.server);
                match Request::question(form, answer) {
                    Ok(request) => self.ask(request),
                    Err(why) => {
                        self.note(format!(
                            "I declined a question from the tool server '{server}': {why}"
                        ));
                    }
                }
            }
        }
    }

    /// Withdraws the calls for `user`, including waiting approvals and pictures; the caller stores
    /// the settings.
    pub fn withdraw_calls_of(&mut self, user: u64) {
        let person = PersonId(user.to_string());
        self.tools().withdraw(&person);
        self.outbox.withdraw_files_of(&person);
        let closed = self.approvals.withdraw(&person);
        self.close_messages(closed);
        self.forget_decided();
    }

    /// Shows a request to the game master, without waiting for the answer.
    fn ask(&mut self, request: Request) {
        if request.is_over() {
            return;
        }
        let Ok(session) = self.session() else { return };
        let (session, panel) = (session.id.clone(), session.text_channel);
        let asked = request.asked();
        let key = self.approvals.pending.add(&session, request);
        // Stored before it is shown, so that a decision survives a crash.
        let call = match &asked {
            Asked::Call(call) => Some(self.kept_call(&key, call)),
            Asked::Question(_) => None,
        };
        let waiting = ShownRequest { call, ..ShownRequest::default() };
        self.change_settings(|settings| settings.waiting.insert(key.clone(), waiting));
        let kept = self.kept();
        let message = approvals::message(&asked, &key);
        let channels: Vec<ChannelId> = self.log_channel().into_iter().chain([panel]).collect();
        let http = Arc::clone(&self.shared.http);
        self.spawn(async move {
            _ = kept.await;
            let mut sent = Err("no channel to ask in".to_owned());
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
                    guild.change_settings(|settings| match settings.waiting.get_mut(&key) {
                        Some(_) if closed.is_some() => _ = settings.waiting.remove(&key),
                        Some(shown) => {
                            (shown.channel, shown.message) =
                                (place.channel.get(), place.message.get());
                        }
                        None => {}
                    });
                    guild.keep_settings();
                    guild.close_messages(closed.into_iter().collect());
                }
                Err(why) => {
                    // The asker learns that no one is there.
                    guild.approvals.pending.withdraw(&key);
                    guild.forget_decided();
                    let lack =
                        format!("I could not ask you about a tool: {why} (let me write there)");
                    guild.note(lack);
                }
            }) as Job
        });
    }

    /// Requests that no longer wait need no closing after a restart.
    pub fn forget_decided(&mut self) {
        let pending = &self.approvals.pending;
        let is_over = |key: &String| pending.get(key).is_none();
        if self.settings().waiting.keys().any(is_over) {
            let open: Vec<String> =
                self.settings().waiting.keys().filter(|key| !is_over(key)).cloned().collect();
            self.change_settings(|settings| settings.waiting.retain(|key, _| open.contains(key)));
        }
    }

    /// The call `key` as stored over a restart; an operator is notified of it.
    fn kept_call(&mut self, key: &str, call: &ApprovalRequest) -> KeptCall {
        let expires = self.shared.handles.settings.load().approvals.expires;
        let expires = i64::try_from(expires.as_millis()).unwrap_or(i64::MAX);
        let until = now().saturating_add(expires);
        let callback = self.notify(key, call, until);
        KeptCall { callback, ..KeptCall::of(call, until) }
    }

    /// Sends one message of tools' output.
    pub(super) fn send_shown(&mut self) {
        let Ok(session) = self.session() else { return };
        let (effects, channel) = (Arc::clone(&session.effects), session.text_channel);
        let halts = effects.halts();
        self.outbox.withdraw_files(halts);
        let Some(message) = self.outbox.next() else { return };
        if matches!(message, ChannelMessage::Text(_)) {
            return self.post(channel, message.message());
        }
        let http = Arc::clone(&self.shared.http);
        self.send(async move {
            let sent = match channel.send_message(&http, message.message()).await {
                // An X-card also withdraws a message that was being sent.
                Ok(sent) if effects.halts() != halts => sent.delete(&http).await,
                sent => sent.map(drop),
            };
            if let Err(error) = sent {
                tracing::warn!(%error, "cannot send or withdraw a file");
            }
        });
    }
}
