//! The voice of one turn: what the model says, spoken in order.
//!
//! Entry type: [`TurnVoice`]. **Never**: goes on once its turn has ended.

use std::sync::Arc;

use tokio::sync::mpsc;

use super::{Filler, Fillers, Synthesizer};
use crate::{
    engine::{Reply, ReplyPort, Turn, occasion::Occasion, tool_loop::Say},
    provider::{Error, Kind},
};

/// The voice of one turn.
pub struct TurnVoice {
    /// Speaks its sentences.
    pub voice: Synthesizer,
    /// Lines that cover a wait.
    pub fillers: Fillers,
    /// Its gate says how far playback is, and its token ends the voice.
    pub turn: Arc<Turn>,
    /// Port for its frames.
    pub replies: ReplyPort,
}

/// Position of a voice.
struct VoiceProgress<'a> {
    spoken: &'a mut usize,
    /// The sentence, fillers counted.
    index: &'a mut usize,
    /// Its words.
    saying: &'a mut String,
}

/// Outcome of speaking a turn.
pub struct Voiced {
    /// Number of sentences that went out, fillers not counted; or the voice's own error.
    pub sentences: Result<usize, Error>,
    /// Text that it failed to say, as it is written.
    pub unspoken: String,
}

impl TurnVoice {
    /// Speaks what the model says until it has said everything or the turn ends.
    pub async fn utter(self, mut sentences: mpsc::Receiver<Say>) -> Voiced {
        let mut saying = String::new();
        let spoken = self.speak(&mut sentences, &mut saying).await;
        if spoken.is_err() {
            let mut written = self.voice.written_filter();
            while let Ok(say) = sentences.try_recv() {
                if let Say::Sentence(text) = say {
                    saying.push(' ');
                    saying.push_str(&written.next(&text));
                }
            }
        } else {
            saying.clear();
        }
        Voiced { sentences: spoken, unspoken: saying.trim().to_owned() }
    }

    async fn speak(
        &self,
        sentences: &mut mpsc::Receiver<Say>,
        saying: &mut String,
    ) -> Result<usize, Error> {
        let (mut spoken, mut index) = (0, 0);
        let all = async {
            let said = self
                .all(
                    sentences,
                    &mut VoiceProgress { spoken: &mut spoken, index: &mut index, saying },
                )
                .await;
            match &said {
                Err(error) if error.kind() == Kind::OverBudget && spoken == 0 => {
                    self.instead(index, Occasion::Spent).await?;
                }
                _ => {}
            }
            said
        };
        self.turn.cancel.run_until_cancelled(all).await.transpose()?;
        Ok(spoken)
    }

    /// Says something in place of an answer; that there is no money for more once in a session.
    async fn instead(&self, index: usize, occasion: Occasion) -> Result<(), Error> {
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

    /// Plays what was prepared as sentence `index`, which `begins`.
    async fn play(&self, index: usize, line: Filler, begins: Reply) -> Result<(), Error> {
        self.replies.send(begins).await?;
        for frame in line.frames.iter() {
            let frame = frame.clone();
            self.replies.send(Reply::Audio { sentence: index, frame }).await?;
        }
        self.replies.send(Reply::SentenceDone { index }).await
    }

    async fn all(
        &self,
        sentences: &mut mpsc::Receiver<Say>,
        progress: &mut VoiceProgress<'_>,
    ) -> Result<(), Error> {
        let VoiceProgress { spoken, index, saying } = progress;
        let mut gate = self.turn.gate.clone();
        let (mut filter, mut written) = (self.voice.spoken_filter(), self.voice.written_filter());
        while let Some(say) = sentences.recv().await {
            match say {
                Say::Filler(tool) => {
                    let Some(filler) = self.fillers.ready(&tool).await else { continue };
                    let begins = Reply::Sentence { text: filler.text.clone(), filler: true };
                    self.play(**index, filler, begins).await?;
                }
                Say::Instead(occasion) => {
                    self.instead(**index, occasion).await?;
                    continue;
                }
                Say::Sentence(text) => {
                    let (words, text) = (filter.next(&text), written.next(&text));
                    if words.is_empty() {
                        continue;
                    }
                    saying.clone_from(&text);
                    self.replies.send(Reply::Sentence { text, filler: false }).await?;
                    self.voice.speak(**index, &words, &mut gate, &self.replies).await?;
                    **spoken += 1;
                    self.replies.send(Reply::SentenceDone { index: **index }).await?;
                }
            }
            **index += 1;
        }
        Ok(())
    }
}
