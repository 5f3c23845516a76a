//! The voice of one turn: the model's sentences, spoken in order.
//!
//! Entry type: [`TurnVoice`].

use std::sync::Arc;

use tokio::sync::mpsc;

use super::{Filler, Fillers, Synthesizer};
use crate::{
    engine::{Reply, ReplyPort, Turn, occasion::Occasion, tool_loop::Say},
    provider::{Error, Kind},
    traces::{Operation, names},
};

pub struct TurnVoice {
    pub voice: Synthesizer,
    pub fillers: Fillers,
    /// Its gate reports playback, and its token ends the voice.
    pub turn: Arc<Turn>,
    pub replies: ReplyPort,
}

struct VoiceProgress<'a> {
    spoken: &'a mut usize,
    /// Index of the sentence, fillers included.
    index: &'a mut usize,
    saying: &'a mut String,
}

pub struct Voiced {
    /// Sentences sent, without fillers; or the voice's error.
    pub sentences: Result<usize, Error>,
    /// Text that it failed to speak, as written.
    pub unspoken: String,
}

impl TurnVoice {
    /// Speaks until the sender ends or the turn does.
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

    /// Speaks a line in place of an answer; the one about money only once per session.
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

    async fn play(&self, index: usize, line: Filler, begins: Reply) -> Result<(), Error> {
        self.replies.send(begins).await?;
        for frame in line.frames.iter() {
            let frame = frame.clone();
            self.replies.send(Reply::Audio { sentence: index, frame }).await?;
        }
        self.replies.send(Reply::SentenceDone { index }).await
    }

    /// Speaks a sentence, as a span of the turn's trace.
    async fn voiced(&self, index: usize, words: &str) -> Result<(), Error> {
        let span = self.turn.trace.begin(Operation::TextToSpeech, || self.voice.service());
        let spoken = self.voice.speak(index, words, &self.replies).await;
        if span.is_on() {
            // The fallback may have spoken.
            span.of(&self.voice.service());
            let count = words.chars().count();
            span.set(names::CHARACTERS, u64::try_from(count).unwrap_or(u64::MAX));
            span.content(names::SPOKEN, || words.to_owned());
            if spoken.is_err() {
                span.failed("voice_error");
            }
        }
        spoken
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
                    // Not before the one before it plays. If the gate is closed, the table is gone
                    // and sending fails.
                    let at = **index;
                    let _ = gate.wait_for(|gate| at <= gate.playing).await;
                    self.voiced(at, &words).await?;
                    **spoken += 1;
                    self.replies.send(Reply::SentenceDone { index: **index }).await?;
                }
            }
            **index += 1;
        }
        Ok(())
    }
}
