//! Sound of a pause: judged by the sound model once, when it is sure to be a pause.
//!
//! Entry types: [`Listening`], what tells a table's pauses from ends, and [`Judging`], one utterance's
//! way to the sound model. **Never**: decides when an utterance ends.

use std::{
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use futures::FutureExt;
use tokio::sync::oneshot;

use super::clock::SoundTime;
use crate::{
    audio::{FRAME, Frame, SampleRate},
    logic::turn::{Detector, EndOfTurn, Judgement},
    provider::TurnJudge,
};

/// Silence after which a pause is judged, and that a model hears of it: what it was trained on.
const SILENCE: Duration = Duration::from_millis(200);
/// [`SILENCE`] in frames.
const SILENT_FRAMES: usize = 10;
/// With less voice than this there is nothing to hear.
const VOICE: Duration = Duration::from_millis(300);
/// Sound that a model hears: 8 s.
const JUDGED_FRAMES: usize = 400;

/// Settings and model that tell ends of turns from pauses.
#[derive(Clone)]
pub struct Listening {
    /// Conditions for the end of a turn.
    pub ends: EndOfTurn,
    /// Judges how pauses sound.
    pub judge: Option<Arc<dyn TurnJudge>>,
}

impl Listening {
    /// `ends` as far as there is what it needs: without the sound model that it wants, words count.
    pub fn new(mut ends: EndOfTurn, judge: Option<Arc<dyn TurnJudge>>) -> Self {
        if ends.detector.listens() && judge.is_none() {
            ends.detector = Detector::Text;
        }
        let judge = judge.filter(|_| ends.detector.listens());
        Self { ends, judge }
    }
}

/// The pauses of one utterance.
#[derive(Default)]
pub struct Judging {
    /// Voice so far.
    voiced: Duration,
    /// Frames since then.
    silent: usize,
    /// Last voice before the pause that was judged last.
    asked: Option<SoundTime>,
    answer: Option<oneshot::Receiver<f32>>,
}

impl Judging {
    /// One frame more. A voice makes an answer worthless.
    pub fn feed(&mut self, voiced: bool) {
        if voiced {
            self.voiced += FRAME;
            self.silent = 0;
            self.answer = None;
        } else {
            self.silent += 1;
        }
    }

    /// Time to judge the pause that follows the voice at `voiced_at`; `None`: it was judged, or there was too
    /// little voice.
    pub fn due(&self, voiced_at: SoundTime) -> Option<SoundTime> {
        let wanted = self.voiced >= VOICE && self.asked != Some(voiced_at);
        wanted.then(|| voiced_at + SILENCE)
    }

    /// Has `judge` hear the end of `sound`, whose last voice was at `voiced_at`. Where packets have
    /// stopped, silence stands for them.
    pub fn ask<'a>(
        &mut self,
        judge: &dyn TurnJudge,
        voiced_at: SoundTime,
        sound: impl DoubleEndedIterator<Item = &'a Frame>,
    ) {
        self.asked = Some(voiced_at);
        let missing = SILENT_FRAMES.saturating_sub(self.silent);
        let silence = std::iter::repeat_n(Frame::silence(SampleRate::HZ_16000), missing);
        let newest = sound.rev().skip(self.silent.saturating_sub(SILENT_FRAMES));
        let mut newest_frames: Vec<Frame> =
            silence.chain(newest.cloned()).take(JUDGED_FRAMES).collect();
        newest_frames.reverse();
        self.answer = judge.judge(newest_frames);
    }

    /// The answer; pending for ever where none comes.
    pub fn poll(&mut self, context: &mut Context<'_>) -> Poll<Judgement> {
        let Some(answer) = &mut self.answer else { return Poll::Pending };
        let Poll::Ready(judged) = answer.poll_unpin(context) else { return Poll::Pending };
        self.answer = None;
        judged.map_or(Poll::Pending, |probability| Poll::Ready(Judgement(probability)))
    }
}
