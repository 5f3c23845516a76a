//! The voice of one turn: what the model says, spoken in order.
//!
//! Entry type: [`TurnVoice`]. **Never**: goes on once its turn has ended.

use std::sync::Arc;

use tokio::sync::mpsc;

use super::{Filler, Fillers, Synthesizer};
use crate::{
    engine::{Reply, ReplyPort, Turn, tool_loop::Say},
    provider::{Error, Kind},
};

/// The voice of one turn.
pub struct TurnVoice {
    /// Speaks its sentences.
    pub voice: Synthesizer,
    /// What covers a wait.
    pub fillers: Fillers,
    /// Whose gate says how far playback is, and whose token ends it.
    pub turn: Arc<Turn>,
    /// Where frames go.
    pub replies: ReplyPort,
}

impl TurnVoice {
    /// Speaks what the model says until it has said everything or the turn ends; how many
    /// sentences went out, fillers not counted.
    ///
    /// # Errors
    /// The voice's own.
    pub async fn utter(self, sentences: mpsc::Receiver<Say>) -> Result<usize, Error> {
        let (mut spoken, mut index) = (0, 0);
        let all = async {
            let said = self.all(sentences, &mut spoken, &mut index).await;
            match &said {
                Err(error) if error.kind() == Kind::OverBudget && spoken == 0 => {
                    self.stopped(index).await?;
                }
                _ => {}
            }
            said
        };
        self.turn.cancel.run_until_cancelled(all).await.transpose()?;
        Ok(spoken)
    }

    /// Says that there is no money for more, once in a session.
    async fn stopped(&self, index: usize) -> Result<(), Error> {
        if !self.voice.budget().tells_of_stop() {
            return Ok(());
        }
        match self.fillers.stop().await {
            Some(line) => self.play(index, line).await,
            None => Ok(()),
        }
    }

    /// Plays what was prepared as sentence `index`.
    async fn play(&self, index: usize, line: Filler) -> Result<(), Error> {
        self.begin(line.text, true).await?;
        for frame in line.frames.iter() {
            let frame = frame.clone();
            self.replies.send(Reply::Audio { sentence: index, frame }).await?;
        }
        self.replies.send(Reply::SentenceDone { index }).await
    }

    async fn all(
        &self,
        mut sentences: mpsc::Receiver<Say>,
        spoken: &mut usize,
        index: &mut usize,
    ) -> Result<(), Error> {
        let mut gate = self.turn.gate.clone();
        let (mut filter, mut written) = (self.voice.spoken_filter(), self.voice.written_filter());
        while let Some(say) = sentences.recv().await {
            match say {
                Say::Filler(tool) => {
                    let Some(filler) = self.fillers.ready(&tool).await else { continue };
                    self.play(*index, filler).await?;
                }
                Say::Stopped => {
                    self.stopped(*index).await?;
                    continue;
                }
                Say::Sentence(text) => {
                    let (words, text) = (filter.next(&text), written.next(&text));
                    if words.is_empty() {
                        continue;
                    }
                    self.begin(text, false).await?;
                    self.voice.speak(*index, &words, &mut gate, &self.replies).await?;
                    *spoken += 1;
                    self.replies.send(Reply::SentenceDone { index: *index }).await?;
                }
            }
            *index += 1;
        }
        Ok(())
    }

    async fn begin(&self, text: String, filler: bool) -> Result<(), Error> {
        self.replies.send(Reply::Sentence { text, filler }).await
    }
}
