//! Turns that are being made or heard, from their start to their line in the report.
//!
//! Entry type: [`Turns`]. **Never**: decides who is addressed.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::watch,
    task::{AbortHandle, JoinSet},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use super::{
    line::{Circumstances, MadeBy, Outcome, Timings, TurnLine, between},
    recall::RecallTold,
    seat_id::SeatId,
    speakers::SpeakerId,
    utterance::{Cast, Purpose, Utterance},
};
use crate::{
    domain::{EngineKind, TurnId},
    engine::{Failure, Gate, HeardAloud, Turn, TurnReport, said},
    logic::barge_in::{self, BargeIn},
};

/// A turn that was told to stop has this long to tell what it did.
const CANCEL_GRACE: Duration = Duration::from_millis(100);

/// A turn between its start and its line.
pub struct Active {
    /// Number of the turn within the table.
    pub id: TurnId,
    /// The utterance to answer, and its NPC.
    pub purpose: Purpose,
    /// The turn as its engine was given it.
    pub turn: Arc<Turn>,
    /// Tells the engine how far the table is.
    pub gate: watch::Sender<Gate>,
    /// Ends it; it reports what it has done.
    pub cancel: CancellationToken,
    /// Interruptions while it is heard.
    pub barge_in: BargeIn,
    /// Asked ahead of the final transcript.
    pub speculative: bool,
    /// First frame left.
    pub began_at: Option<Instant>,
    started_at: Instant,
    abort: AbortHandle,
    kill_at: Option<Instant>,
    outcome: Option<Outcome>,
    /// The utterance is reported elsewhere.
    pub withdrawn: bool,
    /// Nobody is to remember it: an X-card was used, or the speaker is forgotten.
    pub taken_back: bool,
    /// Outcome of looking up what the NPC remembers.
    pub recalled: Option<RecallTold>,
    report: Option<TurnReport>,
    heard: Option<HeardAloud>,
}

/// Controls of an engine at work.
pub struct EngineHandle {
    /// The turn that it was given.
    pub turn: Arc<Turn>,
    /// Tells it how far the table is.
    pub gate: watch::Sender<Gate>,
    /// Asks it to end and to report.
    pub cancel: CancellationToken,
    /// Ends its task by force.
    pub abort: AbortHandle,
}

/// A turn whose report and heard text are both known.
pub struct Ended {
    /// Seat that answered.
    pub seat: SeatId,
    /// The engine's report, unless it was aborted.
    pub report: Option<TurnReport>,
    /// The part that was heard.
    pub heard: HeardAloud,
    /// The line, unless nobody is to know of the turn.
    pub line: Option<TurnLine>,
    /// The NPC is to remember the turn.
    pub counts: bool,
}

/// All turns of a table.
#[derive(Default)]
pub struct Turns {
    active: Vec<Active>,
    /// Engines at work.
    pub tasks: JoinSet<(TurnId, TurnReport)>,
    last: u64,
    /// The recogniser gives partials.
    partials: bool,
}

impl Turns {
    /// No turns yet; `partials`: the recogniser gives them.
    pub fn new(partials: bool) -> Self {
        Self { partials, ..Self::default() }
    }

    /// The next turn's id.
    pub fn next_id(&mut self) -> TurnId {
        self.last += 1;
        TurnId(self.last)
    }

    /// Adds a turn whose engine is at work.
    pub fn add(&mut self, id: TurnId, purpose: Purpose, engine: EngineHandle) {
        let EngineHandle { turn, gate, cancel, abort } = engine;
        let speculative = !gate.borrow().confirmed;
        self.active.push(Active {
            id,
            purpose,
            turn,
            gate,
            cancel,
            barge_in: BargeIn::new(self.partials),
            speculative,
            began_at: None,
            started_at: Instant::now(),
            abort,
            kill_at: None,
            outcome: None,
            withdrawn: false,
            taken_back: false,
            recalled: None,
            report: None,
            heard: None,
        });
    }

    /// The turn `id`.
    pub fn get(&mut self, id: TurnId) -> Option<&mut Active> {
        self.active.iter_mut().find(|turn| turn.id == id)
    }

    /// True if seat `seat` has a turn, be it one that was told to end and has not yet.
    pub fn is_busy(&self, seat: SeatId) -> bool {
        self.active.iter().any(|turn| turn.purpose.seat == seat)
    }

    /// The turn whose engine runs as `task`.
    pub fn of_task(&self, task: tokio::task::Id) -> Option<TurnId> {
        self.active.iter().find(|turn| turn.abort.id() == task).map(|turn| turn.id)
    }

    /// The turn seat `seat` is busy with.
    pub fn of_seat(&mut self, seat: SeatId) -> Option<&mut Active> {
        self.active.iter_mut().find(|turn| turn.purpose.seat == seat && turn.outcome.is_none())
    }

    /// The turn `id`, to look at.
    pub fn peek(&self, id: TurnId) -> Option<&Active> {
        self.active.iter().find(|turn| turn.id == id)
    }

    /// Every turn, to change.
    pub fn iter(&mut self) -> impl Iterator<Item = &mut Active> {
        self.active.iter_mut()
    }

    /// All turns, to look at.
    pub fn all(&self) -> impl Iterator<Item = &Active> {
        self.active.iter()
    }

    /// Next time at which a turn must be ended by force.
    pub fn wake_at(&self) -> Option<Instant> {
        self.active.iter().filter_map(|turn| turn.kill_at).min()
    }

    /// Ends by force the engines that did not end when told to.
    pub fn kill_overdue(&mut self, now: Instant) -> Vec<TurnId> {
        let overdue = |turn: &&mut Active| turn.kill_at.is_some_and(|at| at <= now);
        let turns = self.active.iter_mut().filter(overdue);
        turns
            .map(|turn| {
                turn.abort.abort();
                turn.kill_at = None;
                turn.id
            })
            .collect()
    }

    /// Takes the turn out if everything about it is known; `aborted` turns have no report.
    pub fn take_ended(&mut self, id: TurnId, aborted: bool) -> Option<Active> {
        let index = self.active.iter().position(|turn| {
            turn.id == id && turn.heard.is_some() && (turn.report.is_some() || aborted)
        })?;
        let mut ended = self.active.remove(index);
        ended.correct_words();
        Some(ended)
    }
}

impl Active {
    /// The engine owes the table sound since then at the latest; `None` when it is done, given up,
    /// or only a guess.
    pub fn owes_since(&self) -> Option<Instant> {
        let owes = self.outcome.is_none() && self.report.is_none() && !self.speculative;
        owes.then_some(self.started_at)
    }

    /// The final transcript agrees: the guess was right. `by_sound`: it has other words for the same sound.
    pub fn confirm(&mut self, now: Instant, utterance: Utterance, by_sound: bool) {
        if by_sound {
            self.turn.final_words.get_or_init(|| utterance.text.clone());
        }
        self.purpose.utterance = utterance;
        self.speculative = false;
        self.started_at = now;
        self.gate.send_modify(|gate| gate.confirmed = true);
    }

    /// True if it was asked ahead of a final transcript that is still awaited.
    pub fn is_ahead(&self) -> bool {
        self.speculative && self.is_wanted()
    }

    /// True if the table hears or awaits it.
    pub fn is_wanted(&self) -> bool {
        self.outcome.is_none()
    }

    /// Tells the engine to end; `heard` is what left until now.
    pub fn stop(&mut self, now: Instant, outcome: Outcome, heard: HeardAloud) {
        self.outcome.get_or_insert(outcome);
        self.heard.get_or_insert(heard);
        self.cancel.cancel();
        if self.report.is_none() {
            self.kill_at.get_or_insert(now + CANCEL_GRACE);
        }
    }

    /// True if it answers what `speaker` said until `end`, for certain.
    pub fn answers(&self, speaker: SpeakerId, end: Instant) -> bool {
        self.purpose.utterance.was_said_by(speaker, end) && self.is_wanted() && !self.speculative
    }

    /// True if nothing of it was heard that could be understood: a speaker who goes on has it taken back now,
    /// and would interrupt it later.
    pub fn is_unheard(&self, now: Instant) -> bool {
        self.began_at.is_none_or(|at| now < at + barge_in::ARMED_AFTER)
    }

    /// True if its engine has given up already.
    pub fn has_failed(&self) -> bool {
        self.report.as_ref().is_some_and(|report| report.failure.is_some())
    }

    /// The engine is done.
    pub fn reported(&mut self, report: TurnReport) {
        self.report = Some(report);
        self.kill_at = None;
    }

    /// Puts the words of the final into its report, which may have been made before.
    fn correct_words(&mut self) {
        if let Some(report) = &mut self.report
            && self.turn.final_words.get().is_some()
        {
            report.said = said(&self.turn);
        }
    }

    /// It was played to its end.
    pub fn played(&mut self, heard: HeardAloud) {
        self.heard = Some(heard);
    }

    /// The line of the report, and what the engine's history needs.
    pub fn into_ended(self, cast: impl FnOnce(SeatId) -> Cast, stt: &str, spent: f64) -> Ended {
        let heard = self.heard.unwrap_or_default();
        let outcome = self.outcome.unwrap_or_else(|| outcome(self.report.as_ref(), &heard));
        let hidden = self.speculative || self.withdrawn;
        let cast = cast(self.purpose.seat);
        // Effects of tools cannot be taken back with the answer.
        let acted = self.report.as_ref().is_some_and(|report| !report.exchange.is_empty());
        let counts = !hidden || (acted && !self.speculative);
        let report = self.report.as_ref();
        let utterance = &self.purpose.utterance;
        let first_text = report.and_then(|report| report.first_text_at);
        let audible = self.began_at;
        // Text that was ready before the final counts from the final on.
        let text_or_final = first_text.max(utterance.final_at);
        let stt = if utterance.typed { TurnLine::TYPED } else { stt };
        let engine = report.map(|report| &report.engine);
        let made_by = MadeBy {
            heard: stt.to_owned(),
            thought: report.map(thought).unwrap_or_default(),
            spoke: engine.and_then(|it| it.spoke.clone()).unwrap_or_else(|| cast.tts.clone()),
            engine: engine.map_or(EngineKind::Cascaded, |it| it.kind).name(),
            because: engine.and_then(|it| it.because.clone()),
        };
        let is_cascade = engine.is_none_or(|it| it.kind != EngineKind::SpeechToSpeech);
        let tts = if is_cascade { made_by.spoke.clone() } else { cast.tts.clone() };
        // The line in place of an answer is reported too.
        let said = [heard.text.as_str(), heard.instead.as_str()];
        let reply = said.iter().filter(|it| !it.is_empty()).copied().collect::<Vec<_>>().join(" ");
        let line = (!hidden).then(|| TurnLine {
            turn: self.id.0,
            speaker: String::new(),
            from: None,
            heard: utterance.text.clone(),
            partials: utterance.partials,
            npc: Some(cast.npc),
            tier: Some(self.purpose.tier.line()),
            visible: report.map(|report| report.visible.clone()).unwrap_or_default(),
            tools: report.map(|r| r.calls.iter().map(Into::into).collect()).unwrap_or_default(),
            reply,
            unspoken: report.map(|it| it.unspoken.clone()).filter(|words| !words.is_empty()),
            outcome,
            detail: report.and_then(|report| report.failure.as_ref()).and_then(detail),
            audio_ms: u64::try_from(heard.audio.as_millis()).unwrap_or(u64::MAX),
            ms: Timings {
                speech_end_to_final: between(Some(utterance.speech_end), utterance.final_at),
                final_to_first_text: between(utterance.final_at, first_text),
                first_text_to_first_audio: between(text_or_final, audible),
                speech_end_to_first_audio: between(Some(utterance.speech_end), audible),
            },
            recalled: self.recalled.as_ref().and_then(|told| told.get()).cloned(),
            made_by: Some(made_by),
            brain: Some(cast.brain),
            stt: stt.to_owned(),
            tts: Some(tts),
            spent,
            circumstances: Circumstances { answered_at: audible, ..self.purpose.circumstances() },
        });
        Ended { seat: self.purpose.seat, report: self.report, heard, line, counts }
    }
}

/// Names of the chat models that answered.
fn thought(report: &TurnReport) -> Vec<String> {
    report.thought.iter().map(ToString::to_string).collect()
}

fn outcome(report: Option<&TurnReport>, heard: &HeardAloud) -> Outcome {
    let failure = report.and_then(|report| report.failure.as_ref());
    match failure {
        None => Outcome::Spoken,
        Some(_) if !heard.text.is_empty() => Outcome::CutShort,
        Some(Failure::Model(_)) => Outcome::ModelError,
        Some(Failure::Voice(_)) => Outcome::VoiceError,
        Some(Failure::OverBudget(_)) => Outcome::OverBudget,
        Some(Failure::EmptyReply) => Outcome::EmptyReply,
    }
}

fn detail(failure: &Failure) -> Option<String> {
    match failure {
        Failure::Model(text) | Failure::Voice(text) | Failure::OverBudget(text) => {
            Some(text.clone())
        }
        Failure::EmptyReply => None,
    }
}
