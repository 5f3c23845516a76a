//! One question of the game master, answered in writing by an agent that is no NPC.
//!
//! Entry type: [`Assistant`]. It thinks and calls tools as NPCs do, and pays from the same budget.
//! **Never**: speaks, or remembers an earlier question.

use std::sync::Arc;

use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::{
    Cause, Failure, Gate, NpcModel, Setting, Turn,
    calls::NpcCalls,
    conversation::{Excerpt, Window},
    opened::Opened,
    tool_loop::{Before, Thinking, converse},
};
use crate::{
    domain::{Campaign, Message, SessionId, TurnFacts, TurnId},
    logic::{language::Language, prompt, spoken},
    tools::{CallRecord, Effects},
};

/// Sentences on their way to nobody.
const SENTENCES_AHEAD: usize = 16;
/// Name of the speaker of a question, in the prompt.
const GAME_MASTER: &str = "Game master";

/// The game master's assistant.
pub struct Assistant {
    model: NpcModel,
    calls: NpcCalls,
    system: String,
}

/// One question of the game master.
pub struct Question {
    /// The play session whose tools are called.
    pub session: SessionId,
    /// Words of the game master.
    pub text: String,
    /// Effects that its tools may have besides answering.
    pub effects: Arc<dyn Effects>,
}

/// Answer to a question.
#[derive(Debug)]
pub struct Answer {
    /// The answer as the model wrote it.
    pub text: String,
    /// Every call made for it, refused ones included.
    pub tools: Vec<CallRecord>,
}

impl Assistant {
    /// An assistant described as an NPC is; voice, address and fillers mean nothing.
    pub fn new(model: NpcModel, calls: NpcCalls, campaign: &Campaign) -> Self {
        Self { system: prompt::assistant_prompt(&model.npc, campaign), model, calls }
    }

    /// Answers a question. Cancel safe: dropping the future ends its requests and its calls.
    ///
    /// # Errors
    /// The model failed, a spending cap was reached, or there was nothing to say.
    pub async fn ask(&self, question: Question) -> Result<Answer, Failure> {
        let (model, calls) = (self.model.clone(), self.calls.clone());
        let npc = Arc::clone(&model.npc);
        let text = question.text.trim().to_owned();
        let dice = spoken::DiceRequest::of(&text);
        let system = calls.host.filled(&self.system);
        let window = Window::of(&model, &system);
        let outside = system != self.system;
        let conversation = Excerpt::of_game_master(system, window, outside);
        let prompt = conversation.prompt(Message::User(text.clone().into()));
        let tier = npc.budget_tier;
        let cancel = CancellationToken::new();
        let _ended = cancel.clone().drop_guard();
        let (_gate, gate) = watch::channel(Gate { confirmed: true, playing: 0 });
        let turn = Turn {
            session: question.session,
            id: TurnId(0),
            facts: Arc::new(TurnFacts {
                speaker: GAME_MASTER.to_owned(),
                by: None,
                dice: dice.rolls().or_else(|| spoken::typed_dice(&text)),
                odds: dice.odds(),
                last: dice.last(),
                dice_withheld: dice.withholds(),
                stops_music: false,
                language: Language::spoken_in(&text).map(|it| it.code),
                utterance: text,
            }),
            final_words: Arc::default(),
            setting: Setting::default(),
            audio: Arc::from([]),
            recall: None,
            cause: Cause::Utterance,
            labels: Arc::default(),
            conversation,
            tier,
            tier_is_asked: false,
            tools: calls.host.visible(&npc.name, tier, tier.ceiling()),
            gate,
            cancel: cancel.clone(),
            effects: question.effects,
        };
        let (out, mut sentences) = mpsc::channel(SENTENCES_AHEAD);
        let thinking = {
            let before = Before::default();
            let opened = Opened::default();
            Thinking { model, calls, prompt, before, opened, out, stop: cancel }
        };
        let unspoken = async { while sentences.recv().await.is_some() {} };
        let ((talk, calls), ()) = tokio::join!(converse(Arc::new(turn), thinking), unspoken);
        match talk.failure {
            Some(failure) => Err(failure),
            None if talk.text.trim().is_empty() => Err(Failure::EmptyReply),
            None => Ok(Answer { text: talk.text.trim().to_owned(), tools: calls.into_records() }),
        }
    }
}
