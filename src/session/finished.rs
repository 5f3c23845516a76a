//! Ended turns, and their lines in the report.
//!
//! Entry type: [`Finished`].

use tokio::time::Instant;

use super::{
    SeatId,
    explanations::Basis,
    line::{Circumstances, MadeBy, Outcome, Timings, TurnLine, between},
    phase::{End, Recorded},
    recall::RecallTold,
    traced::{self, Moments},
    utterance::{Cast, Purpose, Utterance},
};
use crate::{
    domain::{EngineKind, TurnId},
    engine::{Failure, PlayedPart, TurnReport},
    logic::barge_in,
    traces::Trace,
};

/// Failure of a voice that spoke without sound.
const SILENT: &str =
    "the voice sent nothing but silence (use another voice, or look at its service's log)";

pub struct Finished {
    pub id: TurnId,
    pub purpose: Purpose,
    pub taken_back: bool,
    pub recalled: Option<RecallTold>,
    pub end: End,
    /// `None` if the engine was aborted.
    pub report: Option<TurnReport>,
    /// `None`: its answer is not explained.
    pub basis: Option<Basis>,
    pub trace: Trace,
}

pub struct Ended {
    pub seat: SeatId,
    pub report: Option<TurnReport>,
    pub played: PlayedPart,
    pub line: Option<TurnLine>,
    pub counts: bool,
}

impl Finished {
    /// Builds the line of the report and the entry for the engine's history. `stt`: the recogniser
    /// of an utterance that names none.
    pub fn into_ended(self, cast: impl FnOnce(SeatId) -> Cast, stt: &str, spent: f64) -> Ended {
        let seat = self.purpose.seat;
        let cast = cast(seat);
        let counts = match self.end.recorded {
            Recorded::Line => true,
            // Effects of tools cannot be undone with the answer.
            Recorded::Effects => self.report.as_ref().is_some_and(|it| !it.exchange.is_empty()),
            Recorded::Nothing => false,
        };
        let is_told = self.end.recorded == Recorded::Line;
        let line = is_told.then(|| self.line(cast, stt, spent));
        if let Some(line) = line.as_ref().filter(|_| !self.taken_back) {
            self.trace_out(line);
        }
        Ended { seat, report: self.report, played: self.end.played, line, counts }
    }

    fn trace_out(&self, line: &TurnLine) {
        let utterance = &self.purpose.utterance;
        let moments = Moments {
            speech_end: utterance.speech_end,
            final_at: utterance.final_at,
            first_text: self.report.as_ref().and_then(|report| report.first_text_at),
            audible: self.end.began,
            ended: Instant::now(),
        };
        traced::finish(&self.trace, &moments, line);
    }

    fn line(&self, cast: Cast, stt: &str, spent: f64) -> TurnLine {
        let End { played, began: audible, outcome: stopped_as, .. } = &self.end;
        let audible = *audible;
        let report = self.report.as_ref();
        let failure = failure(report, &self.end);
        let outcome = stopped_as.unwrap_or_else(|| outcome(failure.as_ref(), played));
        let utterance = &self.purpose.utterance;
        let stt = utterance.source(stt);
        let made_by = made_by(report, stt, &cast);
        let is_cascade =
            report.is_none_or(|report| report.engine.kind != EngineKind::SpeechToSpeech);
        let tts = if is_cascade { made_by.spoke.clone() } else { cast.tts };
        // A line in place of an answer is reported too.
        let said = [played.text.as_str(), played.instead.as_str()];
        let reply = said.iter().filter(|it| !it.is_empty()).copied().collect::<Vec<_>>().join(" ");
        TurnLine {
            turn: self.id.0,
            speaker: String::new(),
            from: None,
            understood: utterance.text.clone(),
            partials: utterance.partials,
            npc: Some(cast.npc),
            tier: Some(self.purpose.tier.line()),
            visible: report.map(|report| report.visible.clone()).unwrap_or_default(),
            tools: report.map(|r| r.calls.iter().map(Into::into).collect()).unwrap_or_default(),
            reply,
            unspoken: report.map(|it| it.unspoken.clone()).filter(|words| !words.is_empty()),
            outcome,
            detail: failure.as_ref().and_then(detail),
            audio_ms: u64::try_from(played.audio.as_millis()).unwrap_or(u64::MAX),
            ms: timings(utterance, report, audible),
            recalled: self.recalled.as_ref().and_then(|told| told.get()).cloned(),
            made_by: Some(made_by),
            brain: Some(cast.brain),
            stt: stt.to_owned(),
            tts: Some(tts),
            spent,
            trace: self.trace.id(),
            circumstances: Circumstances {
                turn: Some(self.id),
                answered_at: audible,
                ..self.purpose.circumstances()
            },
        }
    }
}

fn timings(
    utterance: &Utterance,
    report: Option<&TurnReport>,
    audible: Option<Instant>,
) -> Timings {
    let first_text = report.and_then(|report| report.first_text_at);
    // Text that was ready before the final counts from the final.
    let text_or_final = first_text.max(utterance.final_at);
    Timings {
        speech_end_to_final: between(Some(utterance.speech_end), utterance.final_at),
        final_to_first_text: between(utterance.final_at, first_text),
        first_text_to_first_audio: between(text_or_final, audible),
        speech_end_to_first_audio: between(Some(utterance.speech_end), audible),
    }
}

fn made_by(report: Option<&TurnReport>, stt: &str, cast: &Cast) -> MadeBy {
    let engine = report.map(|report| &report.engine);
    MadeBy {
        understood: stt.to_owned(),
        thought: report.map(thought).unwrap_or_default(),
        spoke: engine.and_then(|it| it.spoke.clone()).unwrap_or_else(|| cast.tts.clone()),
        engine: engine.map_or(EngineKind::Cascaded, |it| it.kind).name(),
        because: engine.and_then(|it| it.because.clone()),
    }
}

fn thought(report: &TurnReport) -> Vec<String> {
    report.thought.iter().map(ToString::to_string).collect()
}

/// Why a turn ended early or was played without sound.
fn failure(report: Option<&TurnReport>, end: &End) -> Option<Failure> {
    let failure = report?.failure.clone();
    failure.or_else(|| is_silent(end).then(|| Failure::Voice(SILENT.to_owned())))
}

/// True if it was played to its end without anything to hear. One that was interrupted may have
/// played a filler, or the silence before its first word.
fn is_silent(end: &End) -> bool {
    let PlayedPart { text, instead, audio, answered, .. } = &end.played;
    let is_mute = !audio.is_zero() && answered.is_zero();
    end.outcome.is_none() && is_mute && text.is_empty() && instead.is_empty()
}

fn outcome(failure: Option<&Failure>, played: &PlayedPart) -> Outcome {
    // A voice model's speech may lack a transcript.
    let is_heard = !played.text.is_empty() || played.answered >= barge_in::ARMED_AFTER;
    match failure {
        None => Outcome::Spoken,
        Some(_) if is_heard => Outcome::CutShort,
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn speech_without_a_transcript_was_cut_short() {
        let failure = Failure::Model("talker: the answer was cut off".to_owned());
        for (answered, wanted) in [
            (Duration::from_secs(28), Outcome::CutShort),
            (Duration::from_millis(200), Outcome::ModelError),
        ] {
            let played = PlayedPart { audio: answered, answered, ..PlayedPart::default() };
            assert_eq!(outcome(Some(&failure), &played), wanted);
        }
    }

    #[test]
    fn silence_fails_if_played_to_its_end() {
        let ended = |outcome, instead: &str| {
            let (audio, instead) = (Duration::from_secs(1), instead.to_owned());
            let played = PlayedPart { audio, instead, ..PlayedPart::default() };
            End { outcome, played, began: None, recorded: Recorded::Line }
        };
        assert!(is_silent(&ended(None, "")));
        assert!(!is_silent(&ended(None, "I have nothing to say.")));
        assert!(!is_silent(&ended(Some(Outcome::Interrupted), "")), "after a filler");
    }
}
