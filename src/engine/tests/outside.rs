//! An engine that records its input and answers nothing.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use futures::{FutureExt, future::BoxFuture};

use super::super::{PlayedPart, ReplyPort, Turn, TurnReport, VoiceEngine, conversation::Excerpt};
use crate::audio::Frame;

/// Utterance of a turn, with the frames of its sound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenTurn {
    pub text: String,
    pub frames: usize,
}

/// Input of an outside service.
#[derive(Debug, Default)]
pub struct Outside {
    pub turns: Mutex<Vec<GivenTurn>>,
    /// Most frames of one unfinished utterance.
    pub frames: Mutex<usize>,
    /// Sessions with a conversation.
    pub warmed: Mutex<usize>,
}

impl Outside {
    /// True without any input.
    pub fn is_unused(&self) -> bool {
        let [frames, warmed] = [&self.frames, &self.warmed].map(|it| *it.lock().unwrap());
        (frames, warmed) == (0, 0) && self.turns.lock().unwrap().is_empty()
    }
}

/// The engine of the service.
pub struct OutsideEngine(pub Arc<Outside>);

impl VoiceEngine for OutsideEngine {
    fn start(&mut self, turn: Arc<Turn>, _: ReplyPort) -> BoxFuture<'static, TurnReport> {
        let given = GivenTurn { text: turn.facts.utterance.clone(), frames: turn.audio.len() };
        self.0.turns.lock().unwrap().push(given);
        std::future::pending().boxed()
    }

    fn receive(&mut self, sound: &VecDeque<Frame>) {
        let mut most = self.0.frames.lock().unwrap();
        *most = sound.len().max(*most);
    }

    fn receives_ahead(&self) -> bool {
        true
    }

    fn played(&mut self, _: &PlayedPart) {}

    fn costs(&self) -> bool {
        false
    }

    fn warm(&self, _: Excerpt) -> BoxFuture<'static, ()> {
        *self.0.warmed.lock().unwrap() += 1;
        std::future::ready(()).boxed()
    }
}
