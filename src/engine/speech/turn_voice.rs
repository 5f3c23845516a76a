//! The voice of one turn: the model's sentences, spoken in order.
//!
//! Entry type: [`TurnVoice`].

use std::sync::Arc;

use tokio::sync::mpsc;

use super::{Filler, Fillers, Synthesizer, saying::Saying};
use crate::{
    engine::{Reply, ReplyPort, Turn, occasion::Occasion, tool_loop::Say},
    provider::{Error, Kind},
};

pub struct TurnVoice {
    pub voice: Synthesizer,
    pub fillers: Fillers,
    /// Its gate reports playback, and its token ends the voice.
    pub turn: Arc<Turn>,
    pub replies: ReplyPort,
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
        let mut saying = Saying::new(&self);
        let spoken = self.speak(&mut sentences, &mut saying).await;
        let mut unspoken = String::new();
        if spoken.is_err() {
            unspoken = saying.unspoken();
            let mut written = self.voice.written_filter();
            while let Ok(say) = sentences.try_recv() {
                if let Say::Sentence(text) = say {
                    unspoken.push(' ');
                    unspoken.push_str(&written.next(&text));
                }
            }
        }
        Voiced { sentences: spoken, unspoken: unspoken.trim().to_owned() }
    }

    async fn speak(
        &self,
        sentences: &mut mpsc::Receiver<Say>,
        saying: &mut Saying<'_>,
    ) -> Result<usize, Error> {
        let all = async {
            let said = saying.all(sentences).await;
            if let Err(error) = &said
                && error.kind() == Kind::OverBudget
                && saying.spoken() == 0
            {
                self.instead(saying.index(), Occasion::Spent).await?;
            }
            said
        };
        self.turn.cancel.run_until_cancelled(all).await.transpose()?;
        Ok(saying.spoken())
    }

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
