//! One addressed utterance, as an engine is given it.
//!
//! Entry type: [`Turn`]. **Never**: changes once it was given, save for what its channels tell.

use std::sync::{Arc, OnceLock};

use futures::future::{BoxFuture, Shared};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::conversation::Excerpt;
use crate::{
    audio::Frame,
    domain::{SessionId, Tier, TurnFacts, TurnId},
    logic::{own_lines::Labels, prompt::Recalled},
    tools::{Effects, FollowUp, VisibleTools},
};

/// One addressed utterance.
pub struct Turn {
    /// The play session, which is the scope of tools' changes and of what is remembered.
    pub session: SessionId,
    /// Number of the turn at its table.
    pub id: TurnId,
    /// Facts besides the words.
    pub facts: Arc<TurnFacts>,
    /// Words of the final transcript, where the turn was begun on others and goes on because its sound is the
    /// same; set by the table before [`Gate::confirmed`].
    pub final_words: Arc<OnceLock<String>>,
    /// Circumstances of this moment; none of it goes into the history.
    pub setting: Setting,
    /// The utterance as it was spoken, at 16 kHz: as far as it was spoken when the turn began, and
    /// empty when it was typed.
    pub audio: Arc<[Frame]>,
    /// The NPC's memories of it, when the look-up is done or has taken too long; `None`: nothing is
    /// looked up.
    pub recall: Option<Recall>,
    /// Reason to speak.
    pub cause: Cause,
    /// By which a model may begin lines that are not the NPC's; none: all it writes is.
    pub labels: Arc<Labels>,
    /// The conversation up to this turn.
    pub conversation: Excerpt,
    /// The effective tier, whose ceiling is the turn's tool time.
    pub tier: Tier,
    /// The game master or a word of the utterance has asked for that tier.
    pub tier_is_asked: bool,
    /// Tools that the NPC may call in this turn.
    pub tools: Arc<VisibleTools>,
    /// Decisions of the table, and playback so far.
    pub gate: watch::Receiver<Gate>,
    /// Ends the turn.
    pub cancel: CancellationToken,
    /// Effects that its tools may have on the table.
    pub effects: Arc<dyn Effects>,
}

impl Turn {
    /// The words of the utterance, as far as they are known.
    pub fn words(&self) -> &str {
        self.final_words.get().unwrap_or(&self.facts.utterance)
    }

    /// True if its own message holds secrets, which not everybody may know; waits for
    /// [`Self::recall`]. Cancel safe.
    pub async fn tells_secrets(&self) -> bool {
        self.setting.note.is_some()
            || match self.recall.clone() {
                Some(recall) => recall.await.is_gated,
                None => false,
            }
    }
}

/// A look-up in what is remembered; it ends within its own limit. Dropping it ends it.
pub type Recall = Shared<BoxFuture<'static, Recalled>>;

/// Facts about the moment of a turn, for the NPC.
#[derive(Clone, Default)]
pub struct Setting {
    /// The scene it is in.
    pub scene: Option<String>,
    /// Time of day there.
    pub time_of_day: Option<String>,
    /// The game master's secret note for it; no `Debug`, so that no log shows it.
    pub note: Option<Arc<str>>,
}

/// Reason for an NPC to speak.
#[derive(Clone, Debug)]
pub enum Cause {
    /// Somebody has spoken to it.
    Utterance,
    /// The game master's words, to be said as they are, without asking a model.
    Puppet(String),
    /// A call of an earlier turn has ended.
    FollowUp(Box<FollowUp>),
}

/// Progress of a turn at the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gate {
    /// The final transcript agrees; before that only read-only tools run.
    pub confirmed: bool,
    /// Sentences whose playing has begun.
    pub playing: usize,
}
