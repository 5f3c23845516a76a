//! Counts of outcomes and latencies of a session.
//!
//! Entry type: [`Statistics`].

use std::collections::VecDeque;

use serde::Serialize;

use super::line::{Outcome, TurnLine};

const TURNS: usize = 100;

#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub utterances: u64,
    /// Answered aloud, even if interrupted.
    pub answered: u64,
    /// Not answered, without a failure.
    pub silent: u64,
    /// Failed: recognition, model, voice, time or money.
    pub errors: u64,
}

/// Latencies of the last 100 spoken turns. Stages that typed lines lack count spoken ones only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Latencies {
    /// Last voiced frame to final transcript.
    pub speech_end_to_final: Option<Quantiles>,
    /// Final transcript to the model's first text.
    pub final_to_first_text: Option<Quantiles>,
    /// The model's first text to the first frame that left.
    pub first_text_to_first_audio: Option<Quantiles>,
    /// Last voiced frame to the first frame that left.
    pub speech_end_to_first_audio: Option<Quantiles>,
}

/// Times in ms by nearest rank.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Quantiles {
    pub p50: f64,
    pub p95: f64,
}

#[derive(Debug, Default)]
pub struct Statistics {
    counts: Counts,
    hearing: Window,
    thinking: Window,
    voice: Window,
    whole: Window,
}

impl Statistics {
    pub fn add(&mut self, line: &TurnLine) {
        // The game master's own words and late results answer no utterance.
        if line.understood.is_empty() && line.npc.is_some() {
            return;
        }
        self.counts.utterances += 1;
        *(match line.outcome {
            Outcome::Spoken | Outcome::Interrupted => &mut self.counts.answered,
            Outcome::NobodyAddressed
            | Outcome::EmptyTranscript
            | Outcome::Cancelled
            | Outcome::PutOff
            | Outcome::Stopped
            | Outcome::Command
            | Outcome::Granted => &mut self.counts.silent,
            Outcome::CutShort
            | Outcome::HearingError
            | Outcome::ModelError
            | Outcome::VoiceError
            | Outcome::EmptyReply
            | Outcome::OverBudget
            | Outcome::Timeout => &mut self.counts.errors,
        }) += 1;
        if line.audio_ms == 0 {
            return;
        }
        self.thinking.add(line.ms.final_to_first_text);
        self.voice.add(line.ms.first_text_to_first_audio);
        if line.stt != TurnLine::TYPED {
            self.hearing.add(line.ms.speech_end_to_final);
            self.whole.add(line.ms.speech_end_to_first_audio);
        }
    }

    pub const fn counts(&self) -> Counts {
        self.counts
    }

    pub fn latencies(&self) -> Latencies {
        Latencies {
            speech_end_to_final: self.hearing.quantiles(),
            final_to_first_text: self.thinking.quantiles(),
            first_text_to_first_audio: self.voice.quantiles(),
            speech_end_to_first_audio: self.whole.quantiles(),
        }
    }
}

#[derive(Debug, Default)]
struct Window(VecDeque<f64>);

impl Window {
    fn add(&mut self, ms: f64) {
        if self.0.len() == TURNS {
            self.0.pop_front();
        }
        self.0.push_back(ms);
    }

    fn quantiles(&self) -> Option<Quantiles> {
        let mut sorted: Vec<f64> = self.0.iter().copied().collect();
        sorted.sort_by(f64::total_cmp);
        let at = |percent: usize| sorted.get((sorted.len() * percent).div_ceil(100).max(1) - 1);
        Some(Quantiles { p50: *at(50)?, p95: *at(95)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::line::Timings;

    fn line(outcome: Outcome, ms: f64, stt: &str) -> TurnLine {
        let audio_ms = if outcome == Outcome::Spoken { 500 } else { 0 };
        let times =
            Timings { speech_end_to_final: ms, final_to_first_text: ms, ..Timings::default() };
        TurnLine {
            understood: "hello".to_owned(),
            audio_ms,
            ms: times,
            stt: stt.to_owned(),
            ..TurnLine::unanswered(outcome, None)
        }
    }

    #[test]
    fn figures_are_of_the_last_hundred_spoken_turns() {
        let mut tally = Statistics::default();
        assert_eq!(tally.latencies(), Latencies::default());
        (0..50).for_each(|_| tally.add(&line(Outcome::Spoken, 9_000.0, "ears")));
        (1..=100).for_each(|ms| tally.add(&line(Outcome::Spoken, f64::from(ms), "ears")));
        tally.add(&line(Outcome::NobodyAddressed, 7_000.0, "ears"));
        tally.add(&line(Outcome::ModelError, 7_000.0, "ears"));
        let hearing = tally.latencies().speech_end_to_final;
        assert_eq!(hearing, Some(Quantiles { p50: 50.0, p95: 95.0 }));
        let Counts { utterances, answered, silent, errors } = tally.counts();
        assert_eq!((utterances, answered, silent, errors), (152, 150, 1, 1));
    }

    #[test]
    fn typed_lines_have_no_hearing_latency() {
        let mut tally = Statistics::default();
        tally.add(&line(Outcome::Spoken, 3.0, "typed"));
        let puppet = TurnLine { understood: String::new(), ..line(Outcome::Spoken, 3.0, "typed") };
        tally.add(&TurnLine { npc: Some("Bartok".to_owned()), ..puppet });
        assert_eq!(tally.latencies().speech_end_to_final, None);
        assert_eq!(tally.latencies().final_to_first_text, Some(Quantiles { p50: 3.0, p95: 3.0 }));
        assert_eq!(tally.counts().utterances, 1);
    }
}
