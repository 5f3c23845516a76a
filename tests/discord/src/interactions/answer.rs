//! Responses to an interaction.
//!
//! Entry types: [`Answer`], [`Response`]. Never: answering.

use super::Interaction;
use crate::{
    state::{Shared, State},
    world::message::{Message, components},
};
use anyhow::Context as _;
use serde_json::Value;
use std::time::Duration;

/// An interaction under way.
#[derive(Clone)]
pub struct Answer {
    /// Everything.
    pub(crate) inner: Shared,
    /// The interaction.
    pub id: u64,
}

/// Response so far.
#[derive(Clone, Debug, Default)]
pub struct Response {
    /// Name of the interaction as a person would say it: `/npc mute`.
    pub name: String,
    /// Time until the first answer; `None` before it.
    pub after: Option<Duration>,
    /// The type of the first answer: 4 message, 5 and 6 deferred, 7 update, 8 choices, 9 modal.
    pub kind: Option<u64>,
    /// The data of the first answer.
    pub data: Value,
    /// The message the first answer wrote, or changes.
    pub message: Option<Message>,
    /// Further messages, the oldest first.
    pub follow_ups: Vec<Message>,
    /// True if nothing more is to be expected after a deferral.
    pub settled: bool,
}

impl Response {
    /// True if the first answer was a deferral.
    #[must_use]
    pub fn deferred(&self) -> bool {
        matches!(self.kind, Some(5 | 6))
    }

    /// True if only the one who asked sees the answer.
    #[must_use]
    pub fn ephemeral(&self) -> bool {
        self.message.as_ref().is_some_and(|message| message.ephemeral_for.is_some())
    }

    /// All there is to read in the answer and what followed.
    #[must_use]
    pub fn text(&self) -> String {
        let all = self.message.iter().chain(&self.follow_ups);
        all.map(Message::text).collect::<Vec<_>>().join("\n")
    }

    /// The choices of an autocomplete, with the values behind them.
    #[must_use]
    pub fn choices(&self) -> Vec<(String, Value)> {
        let all = self.data["choices"].as_array().map_or(&[][..], Vec::as_slice);
        let name = |one: &Value| one["name"].as_str().unwrap_or_default().to_owned();
        all.iter().map(|one| (name(one), one["value"].clone())).collect()
    }

    /// The form, if one was opened.
    #[must_use]
    pub fn modal(&self) -> Option<&Value> {
        (self.kind == Some(9)).then_some(&self.data)
    }

    /// Ids and labels of the form's inputs.
    #[must_use]
    pub fn inputs(&self) -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let all = self.modal().map(components).unwrap_or_default();
        all.into_iter().map(|one| (text(&one["custom_id"]), text(&one["label"]))).collect()
    }
}

/// Response to an interaction so far.
fn response(state: &State, it: &Interaction) -> Response {
    let message = |id: &u64| {
        let channel = state.world.channels.get(&it.channel);
        channel
            .and_then(|channel| channel.messages.iter().find(|message| message.id == *id))
            .cloned()
    };
    let original = it.original.as_ref().and_then(message);
    let follow_ups: Vec<Message> = it.follow_ups.iter().filter_map(message).collect();
    let first_at = it.first.as_ref().map(|first| first.at);
    let settled = match it.first.as_ref().map(|first| first.kind) {
        None => false,
        Some(5) => original.as_ref().is_some_and(|one| one.deleted || one.edits() > 0),
        Some(6) => {
            let changed =
                original.iter().flat_map(|one| &one.versions).any(|one| Some(one.at) > first_at);
            changed || !follow_ups.is_empty() || original.as_ref().is_some_and(|one| one.deleted)
        }
        Some(_) => true,
    };
    Response {
        name: it.name.clone(),
        after: it.first.as_ref().map(|first| first.at - it.created),
        kind: it.first.as_ref().map(|first| first.kind),
        data: it.first.as_ref().map(|first| first.data.clone()).unwrap_or_default(),
        message: original,
        follow_ups,
        settled,
    }
}

impl Answer {
    /// The response so far.
    #[must_use]
    pub fn now(&self) -> Response {
        self.inner.read(|state| self.look(state))
    }

    /// Like [`Answer::now`], with the lock held.
    fn look(&self, state: &State) -> Response {
        let it = state.interactions.by_id.get(&self.id);
        it.map(|it| response(state, it)).unwrap_or_default()
    }

    /// Waits for the first answer, a deferral too. Cancel safe.
    ///
    /// # Errors
    /// Fails if none comes within `limit`.
    pub async fn wait_first(&self, limit: Duration) -> anyhow::Result<Response> {
        self.wait_until(limit, |response| response.kind.is_some()).await
    }

    /// Waits for what the person finally sees: the first answer, or what fills in a deferral.
    /// Cancel safe.
    ///
    /// # Errors
    /// Fails if that takes longer than `limit`.
    pub async fn wait_final(&self, limit: Duration) -> anyhow::Result<Response> {
        self.wait_until(limit, |response| response.settled).await
    }

    /// Waits until what has come back is as wanted. Cancel safe.
    ///
    /// # Errors
    /// Fails if that takes longer than `limit`; says what there was.
    pub async fn wait_until(
        &self,
        limit: Duration,
        mut wanted: impl FnMut(&Response) -> bool,
    ) -> anyhow::Result<Response> {
        let look = |state: &State| Some(self.look(state)).filter(&mut wanted);
        let found = self.inner.wait(limit, look).await;
        found.with_context(|| {
            let now = self.now();
            format!(
                "waiting {limit:?} for an answer to {}: type {:?}, \"{}\"",
                now.name,
                now.kind,
                now.text()
            )
        })
    }
}
