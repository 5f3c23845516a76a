//! Sends the sound of a pause to the sound model, once per pause.
//!
//! Entry types: [`Listening`] has the settings and the model, [`Judging`] follows one utterance.

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

/// Silence that starts a judgement and is part of its sound: the models were trained with it.
const SILENCE: Duration = Duration::from_millis(200);
const SILENT_FRAMES: usize = 10;
/// Least voice worth judging.
const VOICE: Duration = Duration::from_millis(300);
/// Sound that a model receives: 8 s.
const JUDGED_FRAMES: usize = 400;

#[derive(Clone)]
pub struct Listening {
    pub ends: EndOfTurn,
    /// `None`: words decide.
    pub judge: Option<Arc<dyn TurnJudge>>,
}

impl Listening {
    /// Falls back to words if the configured sound model is missing.
    pub fn new(mut ends: EndOfTurn, judge: Option<Arc<dyn TurnJudge>>) -> Self {
        if ends.detector.listens() && judge.is_none() {
            ends.detector = Detector::Text;
        }
        let judge = judge.filter(|_| ends.detector.listens());
        Self { ends, judge }
    }
}

#[derive(Default)]
pub struct Judging {
    voiced: Duration,
    silent: usize,
    /// Last voice before the pause judged last.
    asked: Option<SoundTime>,
    answer: Option<oneshot::Receiver<f32>>,
}

impl Judging {
    /// Counts one frame. A voice discards a pending judgement.
    pub fn feed(&mut self, voiced: bool) {
        if voiced {
            self.voiced += FRAME;
            self.silent = 0;
            self.answer = None;
        } else {
            self.silent += 1;
        }
    }

    /// Time to judge the pause after the voice at `voiced_at`; `None` if it was judged or there was
    /// too little voice.
    pub fn due(&self, voiced_at: SoundTime) -> Option<SoundTime> {
        let wanted = self.voiced >= VOICE && self.asked != Some(voiced_at);
        wanted.then(|| voiced_at + SILENCE)
    }

    /// Sends the end of `sound` to `judge`, filled up with silence if packets have stopped.
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

    /// The judgement; pending for ever if none was requested.
    pub fn poll(&mut self, context: &mut Context<'_>) -> Poll<Judgement> {
        let Some(answer) = &mut self.answer else { return Poll::Pending };
        let Poll::Ready(judged) = answer.poll_unpin(context) else { return Poll::Pending };
        self.answer = None;
        judged.map_or(Poll::Pending, |probability| Poll::Ready(Judgement(probability)))
    }
}
