//! The contract of a recogniser: one speaker's sound in, partials and a final transcript out.
//!
//! Entry type: [`SpeechToText`]. **Never**: knows the addressee.

use futures::{future::BoxFuture, stream::BoxStream};
use tokio::sync::mpsc;

use super::{Attempts, Error};
use crate::audio::Frame;

pub trait SpeechToText: Send + Sync {
    /// Short name for logs and reports ("local", "openai").
    fn name(&self) -> &str;

    /// Name in the price list; `None`: free.
    fn priced_as(&self) -> Option<&str>;

    fn abilities(&self) -> SttAbilities;

    /// Resolves once it can hear, with models loaded. The error names the missing model or setting
    /// and the fix.
    fn ready(&self) -> BoxFuture<'static, Result<(), Error>>;

    /// Sets the names likely to be said from now on, the likeliest first. A recogniser without this
    /// feature does not call `names`.
    fn expect(&self, names: &dyn Fn() -> Vec<String>);

    /// Hears one utterance: 16 kHz mono frames arrive on `audio`, whose closing ends the utterance;
    /// frames may be missing in a pause. The stream ends after the final or after an error.
    /// Dropping it releases the recogniser.
    ///
    /// The table polls the stream in its own task, so slow work (decoding, encoding, connecting)
    /// runs in a task or thread that the stream ends when dropped. `attempts` is asked before the
    /// utterance is sent again.
    fn listen(
        &self,
        audio: mpsc::Receiver<Frame>,
        attempts: Attempts,
    ) -> BoxStream<'static, Result<SpeechEvent, Error>>;

    /// Like [`Self::listen`] for `speaker`, a number unique at this table: a connection may be kept
    /// for their next utterance.
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

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SttAbilities {
    pub partials: bool,
    /// It detects the end of utterances itself: the stream of `listen` continues after a final and
    /// needs silence too.
    pub endpointing: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpeechEvent {
    Partial {
        /// Replaces the previous partial.
        text: String,
    },
    /// As accurate as a final, but sound and partials may follow.
    Pause {
        /// Replaces the previous partial.
        text: String,
    },
    /// The person has probably finished: the final comes soon, most likely with this text.
    EagerEnd {
        /// Replaces the previous partial.
        text: String,
    },
    /// They continue after [`Self::EagerEnd`].
    Resumed,
    Final {
        /// The whole text; empty if nothing was understood.
        text: String,
    },
}
