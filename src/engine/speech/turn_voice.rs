//! The voice of one turn, and its lines that are made in advance.
//!
//! Entry type: [`TurnVoice`].

use std::sync::Arc;

use super::{Filler, Fillers, Synthesizer};
use crate::{
    engine::{Reply, ReplyPort, Turn, occasion::Occasion},
    provider::Error,
};

pub struct TurnVoice {
    pub voice: Synthesizer,
    pub fillers: Fillers,
    /// Its gate reports playback, and its token ends the voice.
    pub turn: Arc<Turn>,
    pub replies: ReplyPort,
}

impl TurnVoice {
    /// Speaks a line in place of an answer; the one about money only once per session.
    pub(super) async fn instead(&self, index: usize, occasion: Occasion) -> Result<(), Error> {
        if occasion == Occasion::Spent && !self.voice.budget().tells_of_stop() {
            return Ok(());
        }
        match self.fillers.instead(occasion).await {
            Some(line) => {
                let begins = Reply::Instead { text: line.text.clone() };
                self.play(index, line, begins).await
            }
            None => Ok(()),
        }
    }

    pub(super) async fn play(
        &self,
        index: usize,
        line: Filler,
        begins: Reply,
    ) -> Result<(), Error> {
        self.replies.send(begins).await?;
        for frame in line.frames.iter() {
            let frame = frame.clone();
            self.replies.send(Reply::Audio { sentence: index, frame }).await?;
        }
        self.replies.send(Reply::SentenceDone { index }).await
    }
}
