//! Turns in progress, from their start until they are completely known.
//!
//! Entry type: [`Turns`].

use std::sync::Arc;

use tokio::{
    sync::watch,
    task::{AbortHandle, JoinSet},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use super::{
    SeatId,
    explanations::Basis,
    finished::Finished,
    line::Outcome,
    phase::Phase,
    recall::RecallTold,
    speakers::SpeakerId,
    utterance::{Purpose, Utterance},
};
use crate::{
    domain::{TurnFacts, TurnId},
    engine::{Gate, PlayedPart, Turn, TurnReport, said},
    logic::barge_in::{self, BargeIn},
};

pub struct Active {
    pub id: TurnId,
    pub purpose: Purpose,
    turn: Arc<Turn>,
    pub gate: watch::Sender<Gate>,
    /// Ends the turn; the engine reports its actions.
    cancel: CancellationToken,
    abort: AbortHandle,
    phase: Phase,
    /// True if it is not stored: an X-card was used, or the speaker is forgotten.
    pub taken_back: bool,
    pub recalled: Option<RecallTold>,
}

pub struct EngineHandle {
    pub turn: Arc<Turn>,
    pub gate: watch::Sender<Gate>,
    pub cancel: CancellationToken,
    pub abort: AbortHandle,
}

#[derive(Default)]
pub struct Turns {
    active: Vec<Active>,
    pub tasks: JoinSet<(TurnId, TurnReport)>,
    last: u64,
}

impl Turns {
    pub fn next_id(&mut self) -> TurnId {
        self.last += 1;
        TurnId(self.last)
    }

    pub fn add(&mut self, id: TurnId, purpose: Purpose, engine: EngineHandle) {
        let EngineHandle { turn, gate, cancel, abort } = engine;
        let phase = Phase::first(gate.borrow().confirmed, Instant::now());
        self.active.push(Active {
            id,
            purpose,
            turn,
            gate,
            cancel,
            abort,
            phase,
            taken_back: false,
            recalled: None,
        });
    }

    pub fn get(&mut self, id: TurnId) -> Option<&mut Active> {
        self.active.iter_mut().find(|turn| turn.id == id)
    }

    /// True if the seat has a turn, even one that is stopping.
    pub fn is_busy(&self, seat: SeatId) -> bool {
        self.active.iter().any(|turn| turn.purpose.seat == seat)
    }

    pub fn of_task(&self, task: tokio::task::Id) -> Option<TurnId> {
        self.active.iter().find(|turn| turn.abort.id() == task).map(|turn| turn.id)
    }

    pub fn of_seat(&mut self, seat: SeatId) -> Option<&mut Active> {
        self.active.iter_mut().find(|turn| turn.purpose.seat == seat && turn.is_wanted())
    }

    pub fn peek(&self, id: TurnId) -> Option<&Active> {
        self.active.iter().find(|turn| turn.id == id)
    }

    pub fn iter(&mut self) -> impl Iterator<Item = &mut Active> {
        self.active.iter_mut()
    }

    pub fn all(&self) -> impl Iterator<Item = &Active> {
        self.active.iter()
    }

    pub fn wake_at(&self) -> Option<Instant> {
        self.active.iter().filter_map(|turn| turn.phase.abort_at()).min()
    }

    /// Aborts engines that ignored cancellation.
    pub fn kill_overdue(&mut self, now: Instant) -> Vec<TurnId> {
        let overdue = |turn: &&mut Active| turn.phase.abort_at().is_some_and(|at| at <= now);
        let turns = self.active.iter_mut().filter(overdue);
        turns
            .map(|turn| {
                turn.abort.abort();
                turn.aborted();
                turn.id
            })
            .collect()
    }

    /// The first sound of a turn has left. `partials`: the recogniser gives partials.
    pub fn began(&mut self, id: TurnId, now: Instant, partials: bool) {
        let mut barge_in = BargeIn::new(partials);
        barge_in.handle(now.into_std(), barge_in::Input::Audible);
        if let Some(active) = self.get(id) {
            active.change(|phase| phase.audible(now, barge_in));
        }
    }

    pub fn take_ended(&mut self, id: TurnId) -> Option<Finished> {
        let is_done = |turn: &Active| matches!(turn.phase, Phase::Done { .. });
        let index = self.active.iter().position(|turn| turn.id == id && is_done(turn))?;
        let Active { purpose, turn, phase, taken_back, recalled, .. } = self.active.remove(index);
        let Phase::Done { end, mut report } = phase else { return None };
        // The words of the final may have come after the report.
        if let Some(report) = report.as_mut().filter(|_| turn.final_words.get().is_some()) {
            report.said = said(&turn);
        }
        let basis = Basis::of(&turn, recalled.as_ref());
        let trace = turn.trace.clone();
        Some(Finished { id, purpose, taken_back, recalled, end, report, basis, trace })
    }
}

impl Active {
    /// Since when the engine owes sound; `None` if it is done, given up or only a guess.
    pub fn owes_since(&self) -> Option<Instant> {
        self.phase.owes_since()
    }

    /// Confirms a guess. `by_sound`: it has other words for the same sound.
    pub fn confirm(&mut self, now: Instant, utterance: Utterance, by_sound: bool) {
        if by_sound {
            self.turn.final_words.get_or_init(|| utterance.text.clone());
        }
        self.purpose.utterance = utterance;
        self.change(|phase| phase.confirmed(now));
        self.gate.send_modify(|gate| gate.confirmed = true);
    }

    /// True for a guess whose final is still awaited.
    pub fn is_ahead(&self) -> bool {
        matches!(self.phase, Phase::Guess { .. })
    }

    pub fn is_certain(&self) -> bool {
        matches!(self.phase, Phase::Thinking { .. } | Phase::Audible { .. })
    }

    pub fn is_thinking(&self) -> bool {
        matches!(self.phase, Phase::Thinking { .. })
    }

    pub fn is_audible(&self) -> bool {
        matches!(self.phase, Phase::Audible { .. })
    }

    pub fn is_wanted(&self) -> bool {
        self.is_ahead() || self.is_certain()
    }

    pub fn stop(&mut self, now: Instant, outcome: Outcome, played: PlayedPart) {
        self.cancel.cancel();
        self.change(|phase| phase.ended(now, Some(outcome), played));
    }

    /// Cancels the engine; the utterance is reported elsewhere. Anything played was too short to be
    /// understood.
    pub fn withdraw(&mut self, now: Instant) {
        self.stop(now, Outcome::Cancelled, PlayedPart::default());
        self.change(Phase::withdrawn);
    }

    /// Undoes `began`: the frames have not left.
    pub fn not_audible(&mut self) {
        self.change(Phase::inaudible);
    }

    /// True if it answers what `speaker` said until `end`, and too little was played to be
    /// understood. Speech then withdraws it; later it would interrupt it.
    pub fn gives_way_to(&self, speaker: SpeakerId, end: Instant, now: Instant) -> bool {
        let is_early = self.is_certain() && !self.is_heard(now);
        is_early && self.purpose.utterance.was_said_by(speaker, end)
    }

    /// True if it is audible and enough was played to be understood.
    pub fn is_heard(&self, now: Instant) -> bool {
        matches!(&self.phase, Phase::Audible { began, .. } if now >= *began + barge_in::ARMED_AFTER)
    }

    pub fn audible_since(&self) -> Option<Instant> {
        match &self.phase {
            Phase::Guess { .. } | Phase::Thinking { .. } => None,
            Phase::Audible { began, .. } => Some(*began),
            Phase::Stopping { end, .. } | Phase::Done { end, .. } => end.audible_since(),
        }
    }

    /// An event that may interrupt it, once it is audible.
    pub fn interrupt(
        &mut self,
        now: Instant,
        input: barge_in::Input<'_>,
    ) -> Option<barge_in::Output> {
        match &mut self.phase {
            Phase::Audible { barge_in, .. } => barge_in.handle(now.into_std(), input),
            _ => None,
        }
    }

    /// Deadline of the next [`barge_in::Input::Tick`].
    pub fn interruption_at(&self) -> Option<Instant> {
        match &self.phase {
            Phase::Audible { barge_in, .. } => barge_in.wake_at().map(Instant::from_std),
            _ => None,
        }
    }

    pub fn has_failed(&self) -> bool {
        self.phase.early_report().is_some_and(|report| report.failure.is_some())
    }

    pub fn reported(&mut self, report: TurnReport) {
        self.change(|phase| phase.reported(report));
    }

    pub fn aborted(&mut self) {
        self.change(Phase::aborted);
    }

    /// Facts that its model and tools are given.
    pub fn facts(&self) -> &TurnFacts {
        &self.turn.facts
    }

    /// Drops the record of its prompt, which may quote a person who must be forgotten.
    pub fn leave_unexplained(&self) {
        if let Some(record) = &self.turn.prompt {
            record.take();
        }
    }

    /// It was played to its end.
    pub fn played(&mut self, now: Instant, played: PlayedPart) {
        self.change(|phase| phase.ended(now, None, played));
    }

    fn change(&mut self, to: impl FnOnce(Phase) -> Phase) {
        self.phase = to(std::mem::take(&mut self.phase));
    }
}
