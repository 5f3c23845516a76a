//! Interactions: what people do with commands, buttons and forms.
//!
//! Entry types: [`Slash`], [`Answer`], `Interactions`. Never: REST.

mod answer;
mod filled;
mod send;
mod slash;

pub use answer::{Answer, Response};
pub use slash::Slash;

use crate::{state::State, world::json};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use tokio::time::Instant;

/// Kinds of interactions, as Discord numbers them.
pub(crate) mod kind {
    /// A command.
    pub(crate) const COMMAND: u8 = 2;
    /// A button or a select menu.
    pub(crate) const COMPONENT: u8 = 3;
    /// A command that is still being typed.
    pub(crate) const AUTOCOMPLETE: u8 = 4;
    /// A form that was sent.
    pub(crate) const MODAL: u8 = 5;
}

/// The first answer to an interaction.
#[derive(Clone, Debug)]
pub(crate) struct First {
    /// Time of the answer.
    pub(crate) at: Instant,
    /// Its type.
    pub(crate) kind: u64,
    /// Its content.
    pub(crate) data: Value,
}

/// An interaction and what has become of it.
#[derive(Clone, Debug)]
pub(crate) struct Interaction {
    /// Id.
    pub(crate) id: u64,
    /// Good for answers.
    pub(crate) token: String,
    /// See [`kind`].
    pub(crate) kind: u8,
    /// Name as a person would say it: `/npc mute`, `button stop`.
    pub(crate) name: String,
    /// Its user.
    pub(crate) user: u64,
    /// In which guild.
    pub(crate) guild: u64,
    /// In which channel.
    pub(crate) channel: u64,
    /// Time of creation.
    pub(crate) created: Instant,
    /// The message with the button.
    pub(crate) source: Option<u64>,
    /// The first answer.
    pub(crate) first: Option<First>,
    /// Time of the first answer that came too late.
    pub(crate) late: Option<Instant>,
    /// The message that the first answer wrote or changes.
    pub(crate) original: Option<u64>,
    /// Further messages.
    pub(crate) follow_ups: Vec<u64>,
}

/// All interactions.
#[derive(Debug, Default)]
pub(crate) struct Interactions {
    /// By id.
    pub(crate) by_id: BTreeMap<u64, Interaction>,
}

impl Interaction {
    /// Metadata in the messages that answer it.
    pub(crate) fn metadata(&self, state: &State) -> Value {
        let mut metadata = json!({
            "id": self.id.to_string(), "type": self.kind, "user": state.world.users.get(&self.user).map(json::user),
            "authorizing_integration_owners": {"0": self.guild.to_string()},
        });
        match self.kind {
            kind::COMPONENT => {
                metadata["interacted_message_id"] = json!(self.source.map(|id| id.to_string()))
            }
            kind::MODAL => {
                let mut cause = metadata.clone();
                cause["type"] = json!(kind::COMMAND);
                metadata["triggering_interaction_metadata"] = cause;
            }
            _ => {}
        }
        metadata
    }

    /// Fault in how it was answered, if any.
    pub(crate) fn violation(&self, now: Instant, within: std::time::Duration) -> Option<String> {
        let name = &self.name;
        match (&self.first, self.late) {
            (Some(_), _) => None,
            (None, Some(at)) => {
                Some(format!("interaction {name}: first answered after {:?}", at - self.created))
            }
            (None, None) if now > self.created + within => {
                Some(format!("interaction {name}: not answered within {within:?}"))
            }
            (None, None) => None,
        }
    }
}
