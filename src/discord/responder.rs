//! Answers an interaction: at once, after a deferral, or in place of a message.
//!
//! Entry type: [`Responder`]. Failures are logged.

use std::sync::Arc;

use serenity::{
    all::{
        CommandInteraction, ComponentInteraction, CreateInteractionResponse,
        CreateInteractionResponseMessage, ModalInteraction,
    },
    http::Http,
};

use super::ui::reply::Reply;

#[derive(Clone, Debug)]
pub enum Interacted {
    Command(Box<CommandInteraction>),
    Component(Box<ComponentInteraction>),
    Modal(Box<ModalInteraction>),
}

/// Answers one interaction; logs failures.
#[derive(Clone)]
pub struct Responder {
    http: Arc<Http>,
    interaction: Interacted,
}

impl Responder {
    pub fn new(http: Arc<Http>, interaction: Interacted) -> Self {
        Self { http, interaction }
    }

    pub async fn defer(&self, public: bool) {
        let message = CreateInteractionResponseMessage::new().ephemeral(!public);
        self.respond(CreateInteractionResponse::Defer(message)).await;
    }

    pub async fn answer(&self, reply: &Reply) {
        self.respond(CreateInteractionResponse::Message(reply.message())).await;
    }

    pub async fn replace(&self, reply: &Reply) {
        self.respond(CreateInteractionResponse::UpdateMessage(reply.message())).await;
    }

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
