//! The cascade: chat model, sentences, voice.
//!
//! Entry type: [`Cascaded`]. **Never**: hears; the transcript comes with the turn.

use std::{sync::Arc, time::Duration};

use futures::{FutureExt, future::BoxFuture};
use tokio::sync::mpsc;

use super::{
    Cause, Failure, Purse, Reply, ReplyPort, Turn, TurnReport, VoiceEngine,
    fillers::Fillers,
    history::History,
    limits::SessionCalls,
    recent::Recent,
    speak::Mouth,
    summary::{Summarising, Summary, summarising},
    tool_loop::{Offer, Say, converse, own_tools},
    window::{Prompt, Window},
};
use crate::{
    domain::{Campaign, Message, Npc},
    logic::{
        prompt::{self, Overheard, TurnMessage},
        sentence::SentenceOptions,
    },
    provider::{ChatModel, Error, Kind, TextToSpeech},
    tools::{ToolHost, VisibleTools},
};

/// Sentences a model may be ahead of the voice; then it waits.
const SENTENCES_AHEAD: usize = 16;
/// Messages between a summary that failed and the next attempt.
const TRY_AGAIN: usize = 8;
/// Longest extract of a conversation that nothing has ever summed up, in bytes.
const EXTRACT: usize = 8_000;

/// What the game master is told when nothing was summed up.
const NOT_SUMMED_UP: &str = "and its model has not summed it up; it is tried again, and what was \
     said first is shortened once there is no room for it";

/// What a cascade is made of.
#[derive(Clone)]
pub struct CascadedParts {
    /// Whose speech it makes.
    pub npc: Arc<Npc>,
    /// What thinks.
    pub model: Arc<dyn ChatModel>,
    /// What may be called.
    pub host: ToolHost,
    /// Who pays.
    pub purse: Purse,
    /// Longest answer, in tokens.
    pub max_tokens: u32,
    /// Longest wait for a tool round that is not covered by a filler.
    pub filler_after: Duration,
    /// Calls of this NPC so far.
    pub session_calls: SessionCalls,
}

impl CascadedParts {
    /// How this NPC's sentences are cut.
    pub(super) fn splitting(&self) -> SentenceOptions {
        SentenceOptions { language: self.npc.language.clone(), ..SentenceOptions::default() }
    }
}

/// An NPC that hears text, thinks with a chat model and speaks with a synthesiser.
pub struct Cascaded {
    parts: CascadedParts,
    mouth: Mouth,
    fillers: Fillers,
    system: String,
    history: History,
    window: Window,
    /// Messages there were when a summary failed.
    failed_at: Option<usize>,
    tools: Arc<VisibleTools>,
    own: Arc<[Arc<str>]>,
    recent: Recent,
}

impl Cascaded {
    /// An engine for `npc` with the history it starts from.
    pub fn new(
        parts: CascadedParts,
        voice: Arc<dyn TextToSpeech>,
        campaign: &Campaign,
        history: Vec<Message>,
    ) -> Self {
        let npc = Arc::clone(&parts.npc);
        let mouth = Mouth::new(Arc::clone(&npc), voice, parts.purse.clone(), &campaign.entities);
        let tools = parts.host.visible(&npc.name, npc.budget_tier, npc.budget_tier.ceiling());
        let system = prompt::system_prompt(&npc, campaign);
        Self {
            fillers: Fillers::new(mouth.clone(), &npc.fillers),
            mouth,
            window: Window::of(&*parts.model, parts.max_tokens, &system),
            system,
            history: History::new(history),
            failed_at: None,
            tools,
            own: own_tools(&npc),
            recent: Recent::default(),
            parts,
        }
    }

    /// Everything before the turn's own message.
    fn prompt(&self) -> Prompt {
        let before = self.history.messages();
        let mut messages = Vec::with_capacity(before.len() + 2);
        messages.push(Message::System(self.parts.host.filled(&self.system)));
        messages.extend(before.iter().cloned());
        Prompt { turn_at: messages.len(), messages, window: self.window.clone() }
    }
}

/// The turn's own message, once it is known what is remembered. Cancel safe.
async fn message(turn: &Turn, overheard: &[Overheard]) -> Message {
    let recalled = match turn.recall.clone() {
        Some(recall) => Some(recall.await),
        None => None,
    };
    Message::User(prompt::turn_message(&TurnMessage {
        speaker: &turn.facts.speaker,
        utterance: &turn.facts.utterance,
        dice: turn.facts.dice.as_deref(),
        overheard,
        scene: turn.setting.scene.as_deref(),
        time_of_day: turn.setting.time_of_day.as_deref(),
        recalled: recalled.as_ref(),
        note: turn.setting.note.as_deref(),
        is_follow_up: matches!(turn.cause, Cause::FollowUp(_)),
    }))
}

impl VoiceEngine for Cascaded {
    fn set_tools(&mut self, tools: Arc<VisibleTools>) {
        self.tools = tools;
    }

    fn start(&mut self, turn: Turn, replies: ReplyPort) -> BoxFuture<'static, TurnReport> {
        let (mut prompt, overheard) = (self.prompt(), self.history.overheard().to_vec());
        let turn = Arc::new(turn);
        let parts = self.parts.clone();
        let (tools, own) = (Arc::clone(&self.tools), Arc::clone(&self.own));
        let offer = Offer { tools, recent: self.recent.categories(), own };
        let (mouth, fillers) = (self.mouth.clone(), self.fillers.clone());
        let speech = Speech { mouth, fillers, turn: Arc::clone(&turn), replies };
        async move {
            let npc = Arc::clone(&parts.npc);
            prompt.messages.push(message(&turn, &overheard).await);
            let (out, sentences) = mpsc::channel(SENTENCES_AHEAD);
            // A turn also ends when its voice fails: nobody would hear the rest.
            let stop = turn.cancel.child_token();
            let voice = async {
                let voiced = speech.utter(sentences).await;
                if voiced.is_err() {
                    stop.cancel();
                }
                voiced
            };
            let (talk, voiced) = tokio::join!(
                converse(parts, Arc::clone(&turn), prompt, offer, (out, stop.clone())),
                voice,
            );
            let silent = matches!(voiced, Ok(0)) && !turn.cancel.is_cancelled();
            let failure = match voiced {
                Err(error) if error.kind() == Kind::OverBudget => {
                    Some(Failure::OverBudget(error.to_string()))
                }
                Err(error) => Some(Failure::Voice(error.to_string())),
                Ok(_) => talk.failure.or(silent.then_some(Failure::EmptyReply)),
            };
            tracing::debug!(
                turn = turn.id.0,
                npc = npc.name,
                utterance_ms = turn.audio.len() * 20,
                tool_ms = talk.tool_time.as_secs_f64() * 1e3,
                "reply made"
            );
            TurnReport {
                said: match &turn.cause {
                    Cause::FollowUp(_) => prompt::FOLLOW_UP.to_owned(),
                    _ => format!("{}: {}", turn.facts.speaker, turn.facts.utterance),
                },
                exchange: talk.exchange,
                visible: talk.visible,
                calls: talk.calls,
                first_text_at: talk.first_text_at,
                failure,
            }
        }
        .boxed()
    }

    fn heard(&mut self, turn: &TurnReport, text: &str) {
        self.recent.add(turn, &self.tools, &self.parts.host);
        self.history.add(turn, text);
        match self.window.is_known() {
            false => self.history.trim(),
            true => {
                if let Some(oldest) = self.history.excess() {
                    let oldest = Summary::extract(&self.parts.npc.name, oldest, EXTRACT);
                    self.history.replace(oldest);
                }
            }
        }
    }

    fn overhear(&mut self, speaker: &str, text: &str) {
        self.history.overhear(speaker, text);
    }

    fn forget(&mut self, speaker: &str, text: &str) {
        self.history.forget(speaker, text);
    }

    fn forget_speaker(&mut self, speaker: &str) {
        self.history.forget_speaker(speaker);
    }

    fn take_back(&mut self, said: &str) {
        self.history.take_back(said);
    }

    fn history(&self) -> &[Message] {
        self.history.messages()
    }

    fn summarise(&self) -> Option<Summarising> {
        let messages = self.history.messages();
        if self.failed_at.is_some_and(|at| (at..at + TRY_AGAIN).contains(&messages.len())) {
            return None;
        }
        Some(summarising(&self.parts, self.window.task(messages)?))
    }

    fn summarised(&mut self, outcome: Result<Summary, Error>) -> Option<String> {
        let npc = &self.parts.npc.name;
        match outcome {
            Ok(summary) => {
                self.failed_at = None;
                if !self.history.replace(summary) {
                    tracing::debug!(npc, "summary not used: what it is of has changed");
                }
                None
            }
            Err(error) => {
                tracing::warn!(npc, %error, "conversation not summed up");
                let is_first = self.failed_at.replace(self.history.messages().len()).is_none();
                is_first.then(|| format!("{npc} has talked for long, {NOT_SUMMED_UP}: {error}"))
            }
        }
    }

    fn warning(&mut self) -> Option<String> {
        self.window.warning()
    }

    fn warm(&self) -> BoxFuture<'static, ()> {
        let (fillers, tools) = (self.fillers.clone(), Arc::clone(&self.tools));
        let wanted = !self.tools.specs.is_empty();
        async move {
            if wanted && let Err(error) = fillers.prepare(&tools).await {
                tracing::warn!(%error, "no filler line prepared");
            }
        }
        .boxed()
    }
}

/// The voice of one turn.
struct Speech {
    mouth: Mouth,
    fillers: Fillers,
    turn: Arc<Turn>,
    replies: ReplyPort,
}

impl Speech {
    /// Speaks what the model says until it has said everything or the turn ends; how many
    /// sentences went out, fillers not counted.
    ///
    /// # Errors
    /// The voice's own.
    async fn utter(self, sentences: mpsc::Receiver<Say>) -> Result<usize, Error> {
        let mut spoken = 0;
        let all = self.all(sentences, &mut spoken);
        self.turn.cancel.run_until_cancelled(all).await.transpose()?;
        Ok(spoken)
    }

    async fn all(
        &self,
        mut sentences: mpsc::Receiver<Say>,
        spoken: &mut usize,
    ) -> Result<(), Error> {
        let mut index = 0;
        let mut gate = self.turn.gate.clone();
        let (mut filter, mut scribe) = (self.mouth.filter(), self.mouth.scribe());
        while let Some(say) = sentences.recv().await {
            match say {
                Say::Filler(tool) => {
                    let Some(filler) = self.fillers.take(&tool) else { continue };
                    self.begin(filler.text, true).await?;
                    for frame in filler.frames.iter() {
                        let frame = frame.clone();
                        self.replies.send(Reply::Audio { sentence: index, frame }).await?;
                    }
                }
                Say::Sentence(text) => {
                    let (words, text) = (filter.next(&text), scribe.next(&text));
                    if words.is_empty() {
                        continue;
                    }
                    self.begin(text, false).await?;
                    self.mouth.speak(index, &words, &mut gate, &self.replies).await?;
                    *spoken += 1;
                }
            }
            self.replies.send(Reply::SentenceDone { index }).await?;
            index += 1;
        }
        Ok(())
    }

    async fn begin(&self, text: String, filler: bool) -> Result<(), Error> {
        self.replies.send(Reply::Sentence { text, filler }).await
    }
}
