//! Summaries of the oldest part of a conversation, by the NPC's own model.
//!
//! Entry function: [`summarising`]; a [`Summary`] replaces exactly the messages it was made from.
//! **Never**: treats the model's words as instructions.

use std::time::Duration;

use futures::{FutureExt, future::BoxFuture};
use tokio::time::timeout;

use super::exchanges::{Parties, parties};
use crate::{
    domain::Message,
    engine::NpcModel,
    logic::prompt,
    provider::{Error, Kind},
};

const PATIENCE: Duration = Duration::from_secs(60);

pub struct SummaryTask {
    /// Oldest messages, in whole exchanges.
    pub of: Vec<Message>,
    /// Longest summary, in tokens.
    pub longest: u32,
}

pub struct Summarising {
    /// Cancel safe: dropping the future ends the request.
    pub work: BoxFuture<'static, Result<Summary, Error>>,
    /// True if any turn cancels it: the model may serve one request at a time, and a retry is free.
    pub gives_way: bool,
}

#[derive(Debug)]
pub struct Summary {
    /// The messages it replaces.
    pub(super) of: Vec<Message>,
    pub(super) instead: Message,
}

impl Summary {
    fn new(of: Vec<Message>, text: String) -> Self {
        let outside = of.iter().any(Message::is_from_outside);
        let gated = of.iter().any(Message::is_gated);
        let Parties { speakers, people } = parties(&of);
        let instead = Message::Summary { speakers, people, text, outside, gated };
        Self { of, instead }
    }

    /// Shortened text of messages that no model has summarised, of at most `most` bytes.
    pub fn extract(npc: &str, of: Vec<Message>, most: usize) -> Self {
        let text = prompt::extract(npc, &of, most);
        Self::new(of, text)
    }
}

/// Starts a summary by the NPC's model, paid for like a turn.
pub fn summarising(model: NpcModel, task: SummaryTask) -> Summarising {
    let gives_way = !model.models.costs();
    let work = async move {
        let SummaryTask { of, longest } = task;
        let npc = &model.npc.name;
        // A word has less than two tokens in most languages.
        let asked = prompt::summary_task(npc, longest / 2);
        let told = prompt::told(npc, &of).join("\n");
        let messages = vec![Message::System(asked), Message::User(told.into())];
        let asking = model.ask_once(messages, longest);
        let written = timeout(PATIENCE, asking).await.map_err(|_| {
            let most = PATIENCE.as_secs();
            Error::new(Kind::Timeout, format!("no summary in {most} s (use a faster model)"))
        })??;
        let text = prompt::summary(&written).ok_or_else(|| {
            Error::new(
                Kind::Protocol,
                "the summary is empty (use a model that does not only think)",
            )
        })?;
        tracing::info!(npc, messages = of.len(), "conversation summed up");
        tracing::trace!(npc, pii_summary = text, "summary");
        Ok(Summary::new(of, text))
    };
    Summarising { work: work.boxed(), gives_way }
}
