//! First sounds of the sentence cascade, beside each of its two chat models alone.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use futures::{
    StreamExt,
    stream::{self, BoxStream},
};
use glyphoxa::measure::{
    Budget, Campaign, Cascaded, Cause, Chain, ChatEvent, ChatModel, ChatRequest, Conversation,
    EngineKind, Error, Gate, Labels, Ledger, Npc, NpcCalls, NpcModel, Opener, Options, Reply,
    ReplyPort, SessionCalls, SessionId, Setting, Synthesizer, Tier, ToolHost, Turn, TurnFacts,
    TurnId, VoiceEngine,
};
use rand::{SeedableRng, rngs::StdRng};
use tokio::{
    sync::{mpsc, watch},
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use super::support::{
    figures::{Figures, ms},
    stand_ins::{Nothing, Synthesiser},
    table::npc,
};

/// First word of the fast model, and of the strong one.
const FAST: Duration = Duration::from_millis(150);
const STRONG: Duration = Duration::from_millis(900);
/// No turn takes longer.
const GIVEN_UP: Duration = Duration::from_secs(10);

/// A chat model that writes all of its answer after so long.
struct Late(Duration, &'static str);

impl ChatModel for Late {
    fn name(&self) -> &'static str {
        "stand-in"
    }

    fn priced_as(&self) -> Option<&str> {
        None
    }

    fn stream(&self, _: ChatRequest) -> BoxStream<'static, Result<ChatEvent, Error>> {
        let Self(first, text) = *self;
        let said = stream::once(async move {
            sleep(first).await;
            Ok(ChatEvent::Text(text.to_owned()))
        });
        said.chain(stream::iter([Ok(ChatEvent::Done)])).boxed()
    }
}

/// Times in ms from the start of a turn to its first frame.
pub struct FirstSounds {
    /// The fast model alone.
    pub fast: Figures,
    /// The strong model alone.
    pub strong: Figures,
    /// The fast one opens, the strong one goes on.
    pub both: Figures,
}

impl FirstSounds {
    /// So many turns of each, one after the other.
    pub async fn measure(turns: u32) -> Self {
        let (mut fast, mut strong, mut both) = (Vec::new(), Vec::new(), Vec::new());
        let host = ToolHost::new(StdRng::seed_from_u64(1));
        for nth in 0..turns {
            let alone = |it| engine(&host, it);
            let (fast_model, strong_model) =
                (Late(FAST, "Not much."), Late(STRONG, "Not much. Stew."));
            fast.push(turn(alone(fast_model), &host, nth).await);
            strong.push(turn(alone(strong_model), &host, nth).await);
            let (cascade, conversation) = alone(Late(STRONG, "Not much. Stew."));
            let models = Chain::of("fast", Arc::new(Late(FAST, "Not much.")) as _);
            let opener = Opener::new(NpcModel { models, ..cascade.model().clone() });
            both.push(turn((cascade.opened_by(opener), conversation), &host, nth).await);
        }
        Self { fast: Figures::new(fast), strong: Figures::new(strong), both: Figures::new(both) }
    }
}

/// An engine that thinks with `model`, and a conversation that has not begun.
fn engine(host: &ToolHost, model: Late) -> (Cascaded, Conversation) {
    let npc = Arc::new(Npc { tools: Vec::new(), ..npc() });
    let (options, budget) = (Options::default(), Budget::new(Ledger::default()));
    let models = Chain::of("strong", Arc::new(model) as _);
    let max_tokens = options.max_tokens;
    let model = NpcModel { npc: Arc::clone(&npc), models, budget: budget.clone(), max_tokens };
    let filler_after = options.filler_after;
    let calls = NpcCalls { host: host.clone(), made: SessionCalls::default(), filler_after };
    let voice = Arc::new(Synthesiser::new(Duration::from_millis(100)));
    let voice = Synthesizer::new(npc, voice, budget, &[]);
    let conversation = Conversation::new(model.clone(), &Campaign::default(), Vec::new());
    (Cascaded::new(model, calls, voice), conversation)
}

/// Time in ms to the first frame of a turn, which must be answered without saying anything twice.
async fn turn(
    (mut engine, conversation): (Cascaded, Conversation),
    host: &ToolHost,
    nth: u32,
) -> f64 {
    let (_gate, gate) = watch::channel(Gate { confirmed: true, playing: usize::MAX });
    let (id, npc, tier) = (TurnId(u64::from(nth)), npc(), Tier::Standard);
    let facts = TurnFacts {
        by: None,
        speaker: "Player".to_owned(),
        utterance: "well what is new in town".to_owned(),
        dice: None,
        odds: None,
        last: None,
        dice_withheld: false,
        stops_music: false,
        language: None,
    };
    let turn = Turn {
        session: SessionId("bench".to_owned()),
        id,
        facts: Arc::new(facts),
        final_words: Arc::default(),
        setting: Setting::default(),
        audio: Arc::from([]),
        recall: None,
        prompt: None,
        cause: Cause::Utterance,
        labels: Arc::new(Labels::new(["Player"], [npc.name.as_str()])),
        conversation: conversation.excerpt(host),
        tier,
        tier_is_asked: false,
        tools: host.visible(&npc.name, tier, tier.ceiling()),
        gate,
        cancel: CancellationToken::new(),
        effects: Arc::new(Nothing),
        trace: Default::default(),
    };
    let (to, mut replies) = mpsc::channel(128);
    let begun = Instant::now();
    let making = tokio::spawn(engine.start(Arc::new(turn), ReplyPort::new(id, to)));
    let (mut first, mut said) = (f64::NAN, Vec::new());
    while let Some((_, reply)) = timeout(GIVEN_UP, replies.recv()).await.expect("it goes on") {
        match reply {
            Reply::Audio { .. } if first.is_nan() => first = ms(begun.elapsed()),
            Reply::Sentence { text, .. } => said.push(text),
            _ => {}
        }
    }
    let report = making.await.expect("a report");
    assert!(report.failure.is_none(), "not answered: {report:?}");
    let is_opened = report.engine.kind == EngineKind::SentenceCascade;
    assert!(!is_opened || said == ["Not much.", "Stew."], "said twice, or not at all: {said:?}");
    first
}
