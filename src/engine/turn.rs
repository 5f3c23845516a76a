//! One addressed utterance, as passed to an engine.
//!
//! Entry type: [`Turn`]. Immutable, except for its channels, [`Turn::final_words`] and
//! [`Turn::prompt`].

use std::sync::{Arc, OnceLock};

use futures::future::{BoxFuture, Shared};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{conversation::Excerpt, prompt_record::PromptRecord};
use crate::{
    audio::Frame,
    domain::{SessionId, Tier, TurnFacts, TurnId},
    logic::{
        own_lines::Labels,
        prompt::{PromptPart, Recalled},
    },
    tools::{Effects, FollowUp, VisibleTools},
    traces::Trace,
};

pub struct Turn {
    /// Scope of tools' changes and of memories.
    pub session: SessionId,
    pub id: TurnId,
    pub facts: Arc<TurnFacts>,
    /// Words of the final transcript, if the turn was begun on others with the same sound. Set by
    /// the table before [`Gate::confirmed`].
    pub final_words: Arc<OnceLock<String>>,
    /// Facts of the moment; not part of the history.
    pub setting: Setting,
    /// 16 kHz sound of the utterance up to the start of the turn; empty if typed.
    pub audio: Arc<[Frame]>,
    /// The NPC's memories, once looked up or late; `None`: no lookup.
    pub recall: Option<Recall>,
    pub cause: Cause,
    /// Labels of lines that are not the NPC's; empty: all text is the NPC's.
    pub labels: Arc<Labels>,
    pub conversation: Excerpt,
    /// Effective tier; its ceiling is the turn's tool time.
    pub tier: Tier,
    /// True if the game master or a word of the utterance asked for it.
    pub tier_is_asked: bool,
    pub tools: Arc<VisibleTools>,
    pub gate: watch::Receiver<Gate>,
    pub cancel: CancellationToken,
    pub effects: Arc<dyn Effects>,
    /// `None`: the table doesn't explain its answers.
    pub prompt: Option<PromptRecord>,
    pub trace: Trace,
}

impl Turn {
    pub fn words(&self) -> &str {
        self.final_words.get().unwrap_or(&self.facts.utterance)
    }

    /// Records the prompt of a request, if the answer may have to be explained.
    pub fn record_prompt(&self, parts: impl FnOnce() -> Vec<PromptPart>) {
        if let Some(record) = &self.prompt {
            record.set(parts());
        }
    }

    /// True if its own message contains secrets; waits for [`Self::recall`]. Cancel safe.
    pub async fn tells_secrets(&self) -> bool {
        self.setting.note.is_some()
            || match self.recall.clone() {
                Some(recall) => recall.await.is_gated,
                None => false,
            }
    }
}

/// A memory lookup; it ends in time by itself. Dropping it ends it.
pub type Recall = Shared<BoxFuture<'static, Recalled>>;

#[derive(Clone, Default)]
pub struct Setting {
    pub scene: Option<String>,
    pub time_of_day: Option<String>,
    /// The game master's secret note; no `Debug`, so that no log shows it.
    pub note: Option<Arc<str>>,
}

#[derive(Clone, Debug)]
pub enum Cause {
    Utterance,
    /// The game master's words, or a workflow's, spoken verbatim without a model.
    Puppet {
        words: String,
        /// Some of them came from outside.
        outside: bool,
    },
    FollowUp(Box<FollowUp>),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gate {
    /// The final transcript agrees; before that, only read-only tools run.
    pub confirmed: bool,
    /// Number of sentences that have begun to play.
    pub playing: usize,
}
