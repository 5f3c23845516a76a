//! The oldest part of a conversation, summed up by the NPC's own model.
//!
//! Entry function: [`summarising`]; [`Summary`] is what comes of it, good for exactly the messages it
//! was made from. **Never**: is waited for by a turn; gives the model's words the weight of an
//! instruction.

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

/// Longest wait for a summary.
const PATIENCE: Duration = Duration::from_secs(60);

/// Part of a conversation to sum up.
pub struct SummaryTask {
    /// The oldest messages of the conversation, whole exchanges.
    pub of: Vec<Message>,
    /// Longest summary, in tokens.
    pub longest: u32,
}

/// A summary in the making.
pub struct Summarising {
    /// Makes it. Cancel safe: dropping the future ends the request.
    pub work: BoxFuture<'static, Result<Summary, Error>>,
    /// True if any turn of the table cancels it: its model may handle one request at a time, and asking
    /// again costs nothing.
    pub gives_way: bool,
}

/// A summary, in place of the oldest messages of a conversation.
#[derive(Debug)]
pub struct Summary {
    /// The messages it was made from; it replaces exactly these.
    pub(super) of: Vec<Message>,
    /// The message that replaces them.
    pub(super) instead: Message,
}

impl Summary {
    /// A summary whose text is `text`.
    fn new(of: Vec<Message>, text: String) -> Self {
        let outside = of.iter().any(Message::is_from_outside);
        let gated = of.iter().any(Message::is_gated);
        let Parties { speakers, people } = parties(&of);
        let instead = Message::Summary { speakers, people, text, outside, gated };
        Self { of, instead }
    }

    /// A shortened text of messages that no model has summed up, of at most so many bytes.
    pub fn extract(npc: &str, of: Vec<Message>, most: usize) -> Self {
        let text = prompt::extract(npc, &of, most);
        Self::new(of, text)
    }
}

/// Has the model of an NPC sum up what it has talked about, paid for like a turn.
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
