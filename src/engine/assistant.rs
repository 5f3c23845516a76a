//! Written answers to single questions of the game master, by an agent that is no NPC.
//!
//! Entry type: [`Assistant`]. Thinks and calls tools like NPCs, and shares their budget.

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
    traces::Trace,
};

/// Queue of sentences; they are discarded.
const SENTENCES_AHEAD: usize = 16;
const GAME_MASTER: &str = "Game master";

pub struct Assistant {
    model: NpcModel,
    calls: NpcCalls,
    system: String,
}

pub struct Question {
    pub session: SessionId,
    pub text: String,
    pub effects: Arc<dyn Effects>,
}

#[derive(Debug)]
pub struct Answer {
    pub text: String,
    pub tools: Vec<CallRecord>,
}

impl Assistant {
    /// An assistant described like an NPC; voice, address and fillers are ignored.
    pub fn new(model: NpcModel, calls: NpcCalls, campaign: &Campaign) -> Self {
        Self { system: prompt::assistant_prompt(&model.npc, campaign), model, calls }
    }

    /// Answers a question. Fails if the model does, at a spending cap, or on an empty answer.
    /// Cancel safe: dropping the future ends its requests and calls.
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
            prompt: None,
            trace: Trace::default(),
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
