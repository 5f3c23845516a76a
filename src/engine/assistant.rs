//! One question of the game master, answered in writing by an agent that is no NPC.
//!
//! Entry type: [`Assistant`]. It thinks and calls tools as NPCs do, and pays from the same purse.
//! **Never**: speaks, or remembers an earlier question.

use std::sync::Arc;

use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::{
    Cause, Failure, Gate, Setting, Turn,
    cascaded::CascadedParts,
    tool_loop::{Offer, converse, own_tools},
    window::{Prompt, Window},
};
use crate::{
    domain::{Campaign, Message, SessionId, TurnFacts, TurnId},
    logic::{prompt, spoken},
    tools::{CallRecord, Effects},
};

/// Sentences on their way to nobody.
const SENTENCES_AHEAD: usize = 16;
/// What the one who asks is called.
const GAME_MASTER: &str = "Game master";

/// The game master's assistant.
pub struct Assistant {
    parts: CascadedParts,
    system: String,
}

/// One question.
pub struct Question {
    /// Play session.
    pub session: SessionId,
    /// What is asked.
    pub text: String,
    /// What tools may do beside answering.
    pub effects: Arc<dyn Effects>,
}

/// What came of it.
#[derive(Debug)]
pub struct Answer {
    /// The answer as the model wrote it.
    pub text: String,
    /// Calls made for it.
    pub tools: Vec<CallRecord>,
}

impl Assistant {
    /// An assistant described as an NPC is; voice, address and fillers mean nothing.
    pub fn new(parts: CascadedParts, campaign: &Campaign) -> Self {
        Self { system: prompt::assistant_prompt(&parts.npc, campaign), parts }
    }

    /// Answers a question. Cancel safe: dropping the future ends its requests and its calls.
    ///
    /// # Errors
    /// The model failed, a spending cap was reached, or there was nothing to say.
    pub async fn ask(&self, question: Question) -> Result<Answer, Failure> {
        let parts = self.parts.clone();
        let text = question.text.trim().to_owned();
        let system = parts.host.filled(&self.system);
        let window = Window::of(&*parts.model, parts.max_tokens, &system);
        let messages = vec![Message::System(system), Message::User(text.clone())];
        let prompt = Prompt { messages, turn_at: 1, window };
        let tier = parts.npc.budget_tier;
        let tools = parts.host.visible(&parts.npc.name, tier, tier.ceiling());
        let cancel = CancellationToken::new();
        let _ended = cancel.clone().drop_guard();
        let (_gate, gate) = watch::channel(Gate { confirmed: true, playing: 0 });
        let turn = Turn {
            session: question.session,
            id: TurnId(0),
            facts: Arc::new(TurnFacts {
                speaker: GAME_MASTER.to_owned(),
                dice: spoken::dice_in(&text).or_else(|| spoken::typed_dice(&text)),
                utterance: text,
            }),
            setting: Setting::default(),
            audio: Arc::from([]),
            recall: None,
            cause: Cause::Utterance,
            tier,
            gate,
            cancel: cancel.clone(),
            effects: question.effects,
        };
        let (out, mut sentences) = mpsc::channel(SENTENCES_AHEAD);
        let offer = Offer { tools, recent: Vec::new(), own: own_tools(&parts.npc) };
        let unspoken = async { while sentences.recv().await.is_some() {} };
        let (talk, ()) =
            tokio::join!(converse(parts, Arc::new(turn), prompt, offer, (out, cancel)), unspoken);
        match talk.failure {
            Some(failure) => Err(failure),
            None if talk.text.trim().is_empty() => Err(Failure::EmptyReply),
            None => Ok(Answer { text: talk.text.trim().to_owned(), tools: talk.calls }),
        }
    }
}
