//! One turn of the cascade with scripted models, voices and tools, in paused time.

pub mod long;
pub mod props;
mod rounds;
mod selection;
mod speech;

use std::sync::Arc;

use tokio::{
    sync::{mpsc, watch},
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::{
    domain::{Campaign, Npc},
    logic::budget::{BudgetOptions, Ledger},
    tools::ToolHost,
};
use props::{Hum, Model, NoEffects, Tools, ms};

/// One NPC's engine and what surrounds it.
struct Bench {
    npc: Npc,
    model: Arc<Model>,
    voice: Arc<Hum>,
    tools: Tools,
    tier: Tier,
    budget: BudgetOptions,
    history: Vec<Message>,
    utterance: &'static str,
    /// Lists are narrowed.
    narrow: bool,
}

/// What came of a turn.
struct Answered {
    engine: Cascaded,
    report: TurnReport,
    /// Sentences in order; fillers in brackets.
    sentences: Vec<String>,
    frames: usize,
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
            narrow: false,
        }
    }

    fn engine(&self) -> Cascaded {
        self.engine_of(self.parts())
    }

    fn engine_of(&self, parts: CascadedParts) -> Cascaded {
        let voice = Arc::clone(&self.voice) as _;
        Cascaded::new(parts, voice, &Campaign::default(), self.history.clone())
    }

    fn parts(&self) -> CascadedParts {
        let npc = Arc::new(self.npc.clone());
        CascadedParts {
            host: self.host(),
            npc,
            model: Arc::clone(&self.model) as _,
            purse: Purse::new(Ledger::new(self.budget.clone(), 0.0)),
            max_tokens: 100,
            filler_after: ms(700),
            session_calls: SessionCalls::default(),
        }
    }

    fn host(&self) -> ToolHost {
        let cast = [Arc::new(self.npc.clone())];
        if self.narrow { self.tools.narrow_host(&cast) } else { self.tools.host(&cast) }
    }

    fn turn(&self, gate: watch::Receiver<Gate>, cancel: &CancellationToken) -> Turn {
        Turn {
            session: SessionId("test".to_owned()),
            id: TurnId(1),
            facts: Arc::new(TurnFacts {
                speaker: "Thorin".to_owned(),
                utterance: self.utterance.to_owned(),
                dice: None,
            }),
            setting: Setting::default(),
            audio: Arc::from([]),
            recall: None,
            cause: Cause::Utterance,
            tier: self.tier,
            gate,
            cancel: cancel.clone(),
            effects: Arc::new(NoEffects),
        }
    }

    /// A confirmed turn of which everything is played at once.
    async fn answer(&self) -> Answered {
        let (_keep, gate) = watch::channel(Gate { confirmed: true, playing: usize::MAX });
        let turn = self.turn(gate, &CancellationToken::new());
        self.run(turn).await
    }

    async fn run(&self, turn: Turn) -> Answered {
        self.run_with(self.engine(), turn).await
    }

    async fn run_with(&self, mut engine: Cascaded, turn: Turn) -> Answered {
        engine.warm().await;
        engine.set_tools(self.host().visible(&self.npc.name, self.tier, self.tier.ceiling()));
        let (to, mut replies) = mpsc::channel(128);
        let making = engine.start(turn, ReplyPort::new(TurnId(1), to));
        let reading = async {
            let (mut sentences, mut frames) = (Vec::new(), 0);
            while let Some((_, reply)) = replies.recv().await {
                match reply {
                    Reply::Sentence { text, filler: true } => sentences.push(format!("[{text}]")),
                    Reply::Sentence { text, filler: false } => sentences.push(text),
                    Reply::Audio { .. } => frames += 1,
                    Reply::SentenceDone { .. } => {}
                }
            }
            (sentences, frames)
        };
        let both = async { tokio::join!(making, reading) };
        let (report, (sentences, frames)) = timeout(ms(60_000), both).await.expect("it ends");
        assert_eq!(self.model.live.count(), 0, "no request is left");
        assert_eq!(self.voice.live.count(), 0, "no voice is left");
        Answered { engine, report, sentences, frames }
    }
}

impl Answered {
    /// Results of its calls as the model read them.
    fn results(&self) -> Vec<String> {
        self.report.calls.iter().map(|record| record.for_model.clone()).collect()
    }
}
