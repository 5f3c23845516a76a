//! Speech of one turn, from its first sentence to its end.
//!
//! Entry method: [`TurnVoice::utter`]; its result is [`Voiced`].

use std::{sync::Arc, time::Duration};

use tokio::{sync::mpsc, time::timeout};

use super::{TurnVoice, saying::Saying};
use crate::{
    engine::{occasion::Occasion, tool_loop::Say},
    provider::{Error, Kind},
};

/// Longest wait for the model's next words once no voice is left to speak them.
const WORDS_WAIT: Duration = Duration::from_secs(2);

pub struct Voiced {
    /// Sentences sent, without fillers; or the voice's error.
    pub sentences: Result<usize, Error>,
    /// Text that no voice spoke to its end, as written.
    pub unspoken: String,
    /// Names of the voices that spoke, in order, without repetition.
    pub spoke: Vec<Arc<str>>,
    /// The voice that spoke last, if it is not the NPC's own.
    pub other_voice: Option<String>,
}

impl TurnVoice {
    /// Speaks until the sender ends or the turn does.
    pub async fn utter(self, mut sentences: mpsc::Receiver<Say>) -> Voiced {
        let mut saying = Saying::new(&self);
        let spoken = self.speak(&mut sentences, &mut saying).await;
        let mut unspoken = String::new();
        if let Err(error) = &spoken {
            unspoken = saying.unspoken();
            let mut written = self.voice.written_filter();
            // Without money for the voice the model is stopped at once.
            let spent = error.kind() == Kind::OverBudget;
            let wait = if spent { Duration::ZERO } else { WORDS_WAIT };
            let cancel = &self.turn.cancel;
            while let Some(Ok(Some(say))) =
                cancel.run_until_cancelled(timeout(wait, sentences.recv())).await
            {
                if let Say::Sentence(text) = say {
                    unspoken.push(' ');
                    unspoken.push_str(&written.next(&text));
                }
            }
        }
        let unspoken = unspoken.trim().to_owned();
        let (spoke, other_voice) = saying.spoke();
        Voiced { sentences: spoken, unspoken, spoke, other_voice }
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
}
