//! The cascade: chat model, sentences, voice. With an [`Opener`], the sentence cascade of two
//! models.
//!
//! Entry type: [`Cascaded`]. The transcript comes with the turn.

use std::sync::Arc;

use futures::{FutureExt, future::BoxFuture};
use tokio::sync::mpsc;

use super::{
    Failure, NpcModel, Opener, PlayedPart, ReplyPort, Reservation, Synthesizer, Turn, TurnReport,
    VoiceEngine, VoiceLevels,
    asking::Payer,
    calls::{NpcCalls, TurnCalls},
    conversation::{Excerpt, message, said},
    occasion::Occasion,
    opened::Opened,
    report::{EngineUsed, RoundResults},
    speech::{Fillers, TurnVoice},
    tool_loop::{Before, Thinking, converse},
};
use crate::{
    audio::FRAME,
    domain::Tier,
    provider::{Error, Kind},
};

/// Sentences that the model may be ahead of the voice.
const SENTENCES_AHEAD: usize = 16;

/// An NPC that reads transcripts, thinks with a chat model and speaks with a synthesizer.
#[derive(Clone)]
pub struct Cascaded {
    model: NpcModel,
    opener: Option<Opener>,
    calls: NpcCalls,
    voice: Synthesizer,
    fillers: Fillers,
    /// The NPC's tier, or that of its last turn if higher; decides which fillers are prepared.
    tier: Tier,
}

impl Cascaded {
    pub fn new(model: NpcModel, calls: NpcCalls, voice: Synthesizer) -> Self {
        let (tier, fillers) = (model.npc.budget_tier, &model.npc.fillers);
        let fillers = Fillers::new(voice.clone(), fillers);
        Self { model, opener: None, calls, voice, fillers, tier }
    }

    #[must_use]
    pub fn opened_by(self, opener: Opener) -> Self {
        Self { opener: Some(opener), ..self }
    }

    pub fn go_on(
        &self,
        turn: Arc<Turn>,
        replies: ReplyPort,
        before: Before,
    ) -> impl Future<Output = TurnReport> + Send + use<> {
        self.with(None, turn, replies, before)
    }

    /// Answers a turn after `before`; `opener` speaks the first sentence.
    fn with(
        &self,
        opener: Option<Opener>,
        turn: Arc<Turn>,
        replies: ReplyPort,
        before: Before,
    ) -> impl Future<Output = TurnReport> + Send + use<> {
        let (model, calls) = (self.model.clone(), self.calls.clone());
        let voice = self.voice.clone().styled(turn.setting.note.clone());
        let fillers = self.fillers.clone();
        let voice = TurnVoice { voice, fillers, turn: Arc::clone(&turn), replies };
        answer(turn, (model, opener), calls, voice, before)
    }

    /// Notes that a turn begins at `tier`.
    pub fn begins(&mut self, tier: Tier) {
        self.tier = self.model.npc.budget_tier.max(tier);
    }

    pub const fn calls(&self) -> &NpcCalls {
        &self.calls
    }

    pub const fn model(&self) -> &NpcModel {
        &self.model
    }

    pub const fn levels(&self) -> Option<&VoiceLevels> {
        self.voice.levels()
    }

    pub const fn fillers(&self) -> &Fillers {
        &self.fillers
    }
}

impl VoiceEngine for Cascaded {
    fn start(&mut self, turn: Arc<Turn>, replies: ReplyPort) -> BoxFuture<'static, TurnReport> {
        self.begins(turn.tier);
        self.with(self.opener.clone(), turn, replies, Before::default()).boxed()
    }

    fn played(&mut self, played: &PlayedPart) {
        let (npc, position) = (&self.model.npc.name, played.position);
        // Text and sound are separate here: no service needs to know where playback ended.
        tracing::debug!(npc, ?position, "answer heard");
    }

    fn costs(&self) -> bool {
        let opens = self.opener.as_ref().map(Opener::model);
        let mut models = std::iter::once(&self.model).chain(opens);
        models.any(|model| model.models.costs()) || self.voice.costs()
    }

    fn warm(&self, _: Excerpt) -> BoxFuture<'static, ()> {
        self.warm_up().boxed()
    }
}

impl Cascaded {
    /// Prepares voice, lines and tools.
    pub fn warm_up(&self) -> impl Future<Output = ()> + Send + use<> {
        let (fillers, tier) = (self.fillers.clone(), self.tier);
        let tools = self.calls.host.visible(&self.model.npc.name, tier, tier.ceiling());
        // Tools that a server offers later have their filler made within a turn.
        let slow = self.calls.slow(&tools, tier);
        let (costs, voice) = (self.costs(), self.voice.clone());
        let fails_over = !self.model.models.is_alone();
        async move {
            if let Err(error) = voice.warm().await {
                tracing::warn!(%error, "a voice is not ready");
            }
            if let Err(error) = fillers.prepare_tools(&slow).await {
                tracing::warn!(%error, "no filler line prepared");
            }
            if costs && let Err(error) = fillers.prepare(Occasion::Spent).await {
                tracing::warn!(%error, "no line prepared for a spending cap");
            }
            if fails_over && let Err(error) = fillers.prepare(Occasion::Unanswered).await {
                tracing::warn!(%error, "no line prepared for models that do not answer");
            }
            for offered in tools.iter() {
                offered.tool.prepare().await;
            }
        }
    }
}

async fn answer(
    turn: Arc<Turn>,
    (model, opener): (NpcModel, Option<Opener>),
    calls: NpcCalls,
    voice: TurnVoice,
    before: Before,
) -> TurnReport {
    let (npc, models) = (Arc::clone(&model.npc), model.models.clone());
    let (opens, speaker) = (opener.clone(), voice.voice.clone());
    let prompt = turn.conversation.prompt(message(&turn).await);
    let (out, sentences) = mpsc::channel(SENTENCES_AHEAD);
    // A failed voice ends the turn too.
    let stop = turn.cancel.child_token();
    let opened = Opened::default();
    let thinking = Thinking { model, calls, prompt, before, opened, out, stop: stop.clone() };
    let speaking = async {
        let voiced = voice.utter(sentences).await;
        if voiced.sentences.is_err() {
            stop.cancel();
        }
        voiced
    };
    let thinking = think(Arc::clone(&turn), thinking, opener);
    let ((talk, calls), voiced) = tokio::join!(thinking, speaking);
    let utterance = FRAME * u32::try_from(turn.audio.len()).unwrap_or(u32::MAX);
    tracing::debug!(
        turn = turn.id.0,
        npc = npc.name,
        utterance_ms = utterance.as_millis(),
        tool_ms = calls.tool_time().as_secs_f64() * 1e3,
        "reply made"
    );
    let said = said(&turn);
    TurnReport {
        topics: calls.topics(&said.text),
        said,
        exchange: talk.exchange,
        told_secrets: turn.tells_secrets().await,
        visible: talk.visible,
        calls: calls.into_records(),
        thought: talk.thought,
        engine: EngineUsed {
            spoke: spoke(&voiced.spoke),
            other_voice: voiced.other_voice,
            ..EngineUsed::cascaded(opens.is_some())
        },
        news: {
            let of_models = models.news().into_iter().chain(opens.iter().flat_map(Opener::news));
            of_models.chain(speaker.news()).collect()
        },
        first_text_at: talk.first_text_at,
        unspoken: voiced.unspoken,
        failure: failure(talk.failure, voiced.sentences, turn.cancel.is_cancelled()),
    }
}

async fn think(
    turn: Arc<Turn>,
    mut thinking: Thinking,
    opener: Option<Opener>,
) -> (RoundResults, TurnCalls) {
    let (Some(opener), Some(message)) = (opener, thinking.prompt.turn.first().cloned()) else {
        return converse(turn, thinking).await;
    };
    // Without money to continue, the opening is not spoken.
    if !is_payable(&turn, &thinking) {
        return converse(turn, thinking).await;
    }
    let stop = thinking.stop.clone();
    let (opened, rest) = opener.open(&turn, message, &thinking.out, &stop).await;
    thinking.opened = opened;
    let reading = async {
        if let Some(rest) = rest {
            stop.run_until_cancelled(rest.read_on()).await;
        }
    };
    tokio::join!(converse(turn, thinking), reading).0
}

/// True if the caps allow the first request of the main model.
fn is_payable(turn: &Turn, thinking: &Thinking) -> bool {
    let model = &thinking.model;
    let Some(strong) = model.models.iter().next() else { return true };
    let (_, size) = thinking.prompt.request(&model.npc.name, &turn.tools.specs);
    let payer = Payer { npc: Arc::clone(&model.npc), budget: model.budget.clone() };
    let reserved = payer.reserve(&**strong.service(), size.total(), model.max_tokens);
    reserved.map(Reservation::unused).is_ok()
}

/// The voices that spoke, in words; `None`: the turn was silent.
fn spoke(names: &[Arc<str>]) -> Option<String> {
    (!names.is_empty()).then(|| names.join(", then "))
}

/// Why a turn ended early; `voiced` is the number of sentences sent.
fn failure(
    of_model: Option<Failure>,
    voiced: Result<usize, Error>,
    is_cancelled: bool,
) -> Option<Failure> {
    match voiced {
        Err(error) if error.kind() == Kind::OverBudget => {
            Some(Failure::OverBudget(error.to_string()))
        }
        Err(error) => Some(Failure::Voice(error.to_string())),
        Ok(sentences) => {
            let silent = sentences == 0 && !is_cancelled;
            of_model.or(silent.then_some(Failure::EmptyReply))
        }
    }
}
