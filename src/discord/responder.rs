//! Answering an interaction: at once, after a deferral, or in place of a message.
//!
//! Entry type: [`Responder`]. **Never**: fails; there is nobody else to tell, so it logs.

use std::sync::Arc;

use serenity::{
    all::{
        CommandInteraction, ComponentInteraction, CreateInteractionResponse,
        CreateInteractionResponseMessage, ModalInteraction,
    },
    http::Http,
};

use super::ui::reply::Reply;

/// The interaction that is answered.
#[derive(Clone, Debug)]
pub enum Interacted {
    /// The use of a command.
    Command(Box<CommandInteraction>),
    /// A button or a menu.
    Component(Box<ComponentInteraction>),
    /// A form that was filled in.
    Modal(Box<ModalInteraction>),
}

/// Answers one interaction; failures are logged.
#[derive(Clone)]
pub struct Responder {
    http: Arc<Http>,
    interaction: Interacted,
}

impl Responder {
    /// Responder to `interaction`; nothing is sent yet.
    pub fn new(http: Arc<Http>, interaction: Interacted) -> Self {
        Self { http, interaction }
    }

    /// Says that the answer takes a while.
    pub async fn defer(&self, public: bool) {
        let message = CreateInteractionResponseMessage::new().ephemeral(!public);
        self.respond(CreateInteractionResponse::Defer(message)).await;
    }

    /// Answers at once.
    pub async fn answer(&self, reply: &Reply) {
        self.respond(CreateInteractionResponse::Message(reply.message())).await;
    }

    /// Puts `reply` in the place of the message whose button was pressed.
    pub async fn replace(&self, reply: &Reply) {
        self.respond(CreateInteractionResponse::UpdateMessage(reply.message())).await;
    }

    /// Answers with anything Discord takes.
    pub async fn respond(&self, response: CreateInteractionResponse) {
        let sent = match &self.interaction {
            Interacted::Command(it) => it.create_response(&self.http, response).await,
            Interacted::Component(it) => it.create_response(&self.http, response).await,
            Interacted::Modal(it) => it.create_response(&self.http, response).await,
        };
        if let Err(error) = sent {
            tracing::warn!(%error, "cannot answer an interaction");
        }
    }

    /// Answers after a deferral.
    pub async fn follow(&self, reply: &Reply) {
        let edit = reply.edit();
        let sent = match &self.interaction {
            Interacted::Command(it) => it.edit_response(&self.http, edit).await,
            Interacted::Component(it) => it.edit_response(&self.http, edit).await,
            Interacted::Modal(it) => it.edit_response(&self.http, edit).await,
        };
        if let Err(error) = sent {
            tracing::warn!(%error, "cannot send a deferred answer");
        }
    }
}
