//! The contract of a recogniser: sound of one speaker in, partials and a final transcript out.
//!
//! Entry type: [`SpeechToText`]. **Never**: knows who is addressed.

use futures::{future::BoxFuture, stream::BoxStream};
use tokio::sync::mpsc;

use super::{Attempts, Error};
use crate::audio::Frame;

/// Hears one speaker.
pub trait SpeechToText: Send + Sync {
    /// Short name for logs and reports ("local", "openai").
    fn name(&self) -> &str;

    /// The recogniser's name in the price list; `None`: it costs nothing.
    fn priced_as(&self) -> Option<&str>;

    /// Its optional features.
    fn abilities(&self) -> SttAbilities;

    /// Resolves when it can hear at once; models are loaded by then.
    ///
    /// # Errors
    /// A model or setting is missing; the error says how to install or configure it.
    fn ready(&self) -> BoxFuture<'static, Result<(), Error>>;

    /// From now on `names` are likely to be said, the likeliest first; a recogniser that cannot be
    /// told does not ask for them.
    fn expect(&self, names: &dyn Fn() -> Vec<String>);

    /// Hears one utterance: 16 kHz mono frames come in on `audio`, whose closing ends the
    /// utterance; in a pause they may stay away, and come later or never. The stream ends after the
    /// final or after an error. Dropping it gives the recogniser back.
    ///
    /// The table polls the stream in its own task: whatever takes time (decoding, encoding, a
    /// connection) runs in a task or thread of the recogniser, which the stream ends when dropped.
    /// `attempts` is asked before the utterance is sent again.
    fn listen(
        &self,
        audio: mpsc::Receiver<Frame>,
        attempts: Attempts,
    ) -> BoxStream<'static, Result<SpeechEvent, Error>>;

    /// Like [`Self::listen`] for `speaker`, a number that is theirs alone at this table: a
    /// connection may be kept for their next utterance.
    fn listen_to(
        &self,
        speaker: u64,
        audio: mpsc::Receiver<Frame>,
        attempts: Attempts,
    ) -> BoxStream<'static, Result<SpeechEvent, Error>> {
        let _ = speaker;
        self.listen(audio, attempts)
    }
}

/// Features of a recogniser besides final transcripts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SttAbilities {
    /// It gives partials while the person speaks.
    pub partials: bool,
    /// It decides itself when an utterance ends: the stream of `listen` goes on after a final, and
    /// hears silence too.
    pub endpointing: bool,
}

/// An event while one utterance is recognised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpeechEvent {
    /// The utterance so far.
    Partial {
        /// Replaces the text of the partial before it.
        text: String,
    },
    /// The utterance so far, in a pause: all sound there is was heard as for a final, which would be
    /// the same. More sound may follow, and partials with it.
    Pause {
        /// Replaces the text of the partial before it.
        text: String,
    },
    /// The person has probably finished: the final will come soon and most likely read so.
    EagerEnd {
        /// Replaces the text of the partial before it.
        text: String,
    },
    /// They have not: they go on after [`Self::EagerEnd`].
    Resumed,
    /// The utterance is over.
    Final {
        /// All of it; empty when nothing was understood.
        text: String,
    },
}
