//! One turn of the cascade with scripted models, voices and tools, in paused time.

mod bills;
pub mod long;
pub mod outside;
pub mod props;
mod rounds;
mod selection;
mod sentence_cascade;
mod speech;
mod talker;
mod voice_models;

use std::sync::Arc;

use tokio::{
    sync::{mpsc, watch},
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::{
    domain::{Campaign, Message, Npc, SessionId, Tier, TurnFacts, TurnId},
    logic::{
        budget::{BudgetOptions, Ledger},
        own_lines::Labels,
        prompt::PromptPart,
    },
    provider::Chain,
    tools::{SessionCalls, ToolHost},
};
use props::{Hum, Model, NoEffects, Tools, ms};

/// One NPC's engine and its surroundings.
struct Bench {
    npc: Npc,
    model: Arc<Model>,
    voice: Arc<Hum>,
    tools: Tools,
    tier: Tier,
    budget: BudgetOptions,
    history: Vec<Message>,
    utterance: &'static str,
    /// The tier was requested.
    asked: bool,
    /// Tool lists are narrowed.
    narrow: bool,
}

/// A turn to run, and its conversation.
struct Asked {
    conversation: Conversation,
    turn: Turn,
}

/// Result of a turn.
struct Answered {
    conversation: Conversation,
    engine: Cascaded,
    report: TurnReport,
    /// Sentences in order; fillers in brackets.
    sentences: Vec<String>,
    frames: usize,
    /// Its recorded prompt.
    parts: Vec<PromptPart>,
}

impl Bench {
    fn new() -> Self {
        Self {
            npc: props::npc("Bartok"),
            model: Arc::default(),
            voice: Arc::default(),
            tools: Tools::default(),
            tier: Tier::Standard,
            budget: BudgetOptions::default(),
            history: Vec::new(),
            utterance: "roll for me",
            asked: false,
            narrow: false,
        }
    }

    fn model(&self) -> NpcModel {
        NpcModel {
            npc: Arc::new(self.npc.clone()),
            models: Chain::of("stand-in", Arc::clone(&self.model) as _),
            budget: Budget::new(Ledger::new(self.budget.clone(), 0.0)),
            max_tokens: 100,
        }
    }

    /// The NPC's conversation before a turn.
    fn conversation(&self) -> Conversation {
        Conversation::new(self.model(), &Campaign::default(), self.history.clone())
    }

    fn engine(&self) -> Cascaded {
        let model = self.model();
        let made = SessionCalls::default();
        let calls = NpcCalls { host: self.host(), made, filler_after: ms(700) };
        let (npc, budget) = (Arc::clone(&model.npc), model.budget.clone());
        let voice = Synthesizer::new(npc, props::voice(Arc::clone(&self.voice) as _), budget, &[]);
        Cascaded::new(model, calls, voice)
    }

    fn host(&self) -> ToolHost {
        let cast = [Arc::new(self.npc.clone())];
        if self.narrow { self.tools.narrow_host(&cast) } else { self.tools.host(&cast) }
    }

    fn turn(&self, gate: watch::Receiver<Gate>, cancel: &CancellationToken) -> Asked {
        self.turn_in(self.conversation(), gate, cancel)
    }

    fn turn_in(
        &self,
        conversation: Conversation,
        gate: watch::Receiver<Gate>,
        cancel: &CancellationToken,
    ) -> Asked {
        let host = self.host();
        let turn = Turn {
            session: SessionId("test".to_owned()),
            id: TurnId(1),
            facts: Arc::new(TurnFacts {
                by: None,
                speaker: "Thorin".to_owned(),
                utterance: self.utterance.to_owned(),
                dice: None,
                odds: None,
                last: None,
                dice_withheld: false,
                stops_music: false,
                language: None,
            }),
            final_words: Arc::default(),
            setting: Setting::default(),
            audio: Arc::from([]),
            recall: None,
            cause: Cause::Utterance,
            labels: Arc::new(Labels::new(["Thorin"], [self.npc.name.as_str()])),
            conversation: conversation.excerpt(&host),
            tier: self.tier,
            tier_is_asked: self.asked,
            tools: host.visible(&self.npc.name, self.tier, self.tier.ceiling()),
            gate,
            cancel: cancel.clone(),
            effects: Arc::new(NoEffects),
            prompt: Some(PromptRecord::default()),
            trace: Default::default(),
        };
        Asked { conversation, turn }
    }

    /// A confirmed turn; all of it plays at once.
    async fn answer(&self) -> Answered {
        let (_keep, gate) = watch::channel(Gate { confirmed: true, playing: usize::MAX });
        let turn = self.turn(gate, &CancellationToken::new());
        self.run(turn).await
    }

    async fn run(&self, asked: Asked) -> Answered {
        self.run_with(self.engine(), asked).await
    }

    async fn run_with(&self, mut engine: Cascaded, asked: Asked) -> Answered {
        let Asked { conversation, turn } = asked;
        engine.warm(conversation.excerpt(&self.host())).await;
        let (to, mut replies) = mpsc::channel(128);
        let turn = Arc::new(turn);
        let making = engine.start(Arc::clone(&turn), ReplyPort::new(TurnId(1), to));
        let reading = read(&mut replies);
        let both = async { tokio::join!(making, reading) };
        let (report, (sentences, frames)) = timeout(ms(60_000), both).await.expect("it ends");
        assert_eq!(self.model.live.count(), 0, "no request is left");
        assert_eq!(self.voice.live.count(), 0, "no voice is left");
        let parts = turn.prompt.as_ref().and_then(PromptRecord::take).unwrap_or_default();
        Answered { conversation, engine, report, sentences, frames, parts }
    }
}

/// Sentences of a turn in order, fillers in brackets, and the number of frames.
async fn read(replies: &mut mpsc::Receiver<(TurnId, Reply)>) -> (Vec<String>, usize) {
    let (mut sentences, mut frames) = (Vec::new(), 0);
    while let Some((_, reply)) = replies.recv().await {
        match reply {
            Reply::Instead { text } | Reply::Sentence { text, filler: true } => {
                sentences.push(format!("[{text}]"));
            }
            Reply::Sentence { text, filler: false } => sentences.push(text),
            Reply::Words { sentence, text } => sentences[sentence].push_str(&text),
            Reply::Audio { .. } => frames += 1,
            Reply::Word { .. } | Reply::SentenceDone { .. } => {}
        }
    }
    (sentences, frames)
}

impl Answered {
    /// Results of its calls as read by the model.
    fn results(&self) -> Vec<String> {
        self.report.calls.iter().map(|record| record.for_model.clone()).collect()
    }
}
