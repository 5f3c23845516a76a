//! Parts of a table with scripted services, shared by all table tests.

use std::sync::{Arc, Mutex, atomic::AtomicBool};

use super::{
    super::{Backlog, Options, Outlets, Seat, TableParts, TableSetup},
    voices::Recogniser,
};
use crate::{
    domain::{Campaign, Message, Npc, SessionId},
    engine::{
        Budget, Cascaded, Conversation, NpcCalls, NpcModel, Synthesizer,
        tests::props::{Live, ms},
    },
    logic::{music::Library, tier::Keywords},
    provider::{Candidate, Chain, ChatModel, SpeechToText, SttAbilities, TextToSpeech},
    tools::{SessionCalls, ToolHost, builtin::Music},
};

/// Services that all NPCs of a table share.
pub struct Shared<'s> {
    pub campaign: &'s Campaign,
    pub host: &'s ToolHost,
    pub budget: &'s Budget,
    pub voice: Arc<dyn TextToSpeech>,
}

impl Shared<'_> {
    /// The seat of `npc` with `model` and `history`.
    pub fn seat(&self, npc: &Arc<Npc>, model: Arc<dyn ChatModel>, history: Vec<Message>) -> Seat {
        let model = NpcModel {
            npc: Arc::clone(npc),
            models: Chain::of("stand-in", model),
            budget: self.budget.clone(),
            max_tokens: 100,
        };
        let made = SessionCalls::default();
        let calls = NpcCalls { host: self.host.clone(), made, filler_after: ms(700) };
        let conversation = Conversation::new(model.clone(), self.campaign, history);
        let (voice, world) = (Arc::clone(&self.voice), &self.campaign.entities);
        let speech = Synthesizer::new(Arc::clone(npc), voice, self.budget.clone(), world);
        let engine = Box::new(Cascaded::new(model, calls, speech));
        Seat::new(Arc::clone(npc), conversation, engine, "stand-in", "hum")
    }

    /// A table with these seats and no optional parts.
    pub fn parts(&self, seats: Vec<Seat>) -> TableParts {
        TableParts {
            options: Options::default(),
            seats,
            campaign: Arc::new(self.campaign.clone()),
            music: Music::new(Arc::new(Library::default()), rand::SeedableRng::seed_from_u64(1)),
            keywords: Keywords::shipped(["en"]),
            rules: Arc::from([]),
            budget: self.budget.clone(),
            memory: None,
            continuation: None,
            traces: Default::default(),
        }
    }
}

/// Setup of a table for `session` with the recogniser `stt`.
pub fn setup(
    session: SessionId,
    stt: &Arc<Recogniser>,
    host: &ToolHost,
    outlets: Outlets,
) -> TableSetup {
    TableSetup {
        is_here: false,
        is_heard: true,
        session,
        stt: Chain::of("stand-in", Arc::clone(stt) as Arc<dyn SpeechToText>),
        judge: None,
        outlets,
        host: host.clone(),
        backlog: Backlog::default(),
        seed: 7,
    }
}

/// Both recognisers in this order, as "first" and "second".
pub fn both(first: &Arc<Recogniser>, second: &Arc<Recogniser>) -> Chain<dyn SpeechToText> {
    let candidate = |name, stt: &Arc<Recogniser>| {
        Candidate::new(name, Arc::clone(stt) as Arc<dyn SpeechToText>, Arc::default())
    };
    Chain::new(candidate("first", first), vec![candidate("second", second)], false)
}

/// Another recogniser without a script, with its own price.
pub fn another(abilities: SttAbilities) -> Arc<Recogniser> {
    let others = Arc::into_inner(recogniser(abilities)).expect("it is new");
    Arc::new(Recogniser { priced_as: "other ears", ..others })
}

/// A recogniser without a script.
pub fn recogniser(abilities: SttAbilities) -> Arc<Recogniser> {
    Arc::new(Recogniser {
        script: Mutex::default(),
        abilities,
        priced_as: "ears",
        live: Live::default(),
        frames: Arc::default(),
        is_stuck: AtomicBool::new(false),
    })
}
