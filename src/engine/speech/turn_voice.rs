//! The voice of one turn: what the model says, spoken in order.
//!
//! Entry type: [`TurnVoice`]. **Never**: goes on once its turn has ended.

use std::sync::Arc;

use tokio::sync::mpsc;

use super::{Fillers, Synthesizer};
use crate::{
    engine::{Reply, ReplyPort, Turn, tool_loop::Say},
    provider::Error,
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
        let (mut filter, mut written) = (self.voice.spoken_filter(), self.voice.written_filter());
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
                    let (words, text) = (filter.next(&text), written.next(&text));
                    if words.is_empty() {
                        continue;
                    }
                    self.begin(text, false).await?;
                    self.voice.speak(index, &words, &mut gate, &self.replies).await?;
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
