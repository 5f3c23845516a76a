//! The contract of a recogniser: sound of one speaker in, partials and a final transcript out.
//!
//! Entry type: [`SpeechToText`]. **Never**: knows who is addressed.

use std::sync::Arc;

use futures::future::BoxFuture;
use tokio::sync::mpsc;

use super::Error;

/// Hears one speaker.
pub trait SpeechToText: Send + Sync {
    /// Short name for logs and reports ("local", "openai").
    fn name(&self) -> &str;

    /// The recogniser's name in the price list; `None`: it costs nothing.
    fn priced_as(&self) -> Option<&str>;

    /// What can be expected of it.
    fn abilities(&self) -> SttAbilities;

    /// Resolves when it can hear at once; models are loaded by then.
    ///
    /// # Errors
    /// What is missing and how to install or configure it.
    fn ready(&self) -> BoxFuture<'static, Result<(), Error>>;

    /// From now on `names` are likely to be said, the likeliest first; a recogniser that cannot be
    /// told does not ask for them.
    fn expect(&self, names: &dyn Fn() -> Vec<String>);

    /// Hears one utterance: 16 kHz mono i16 chunks come in on `audio`, whose closing ends the
    /// utterance; in a pause they may stay away, and come later or never. Partials and the final go
    /// out on `heard`. The future resolves after the final.
    /// Cancel safe: dropping it gives the recogniser back.
    fn listen(
        &self,
        audio: mpsc::Receiver<Arc<[i16]>>,
        heard: mpsc::Sender<Heard>,
    ) -> BoxFuture<'static, Result<(), Error>>;
}

/// What a recogniser does beside final transcripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SttAbilities {
    /// It gives partials while the person speaks.
    pub partials: bool,
    /// It decides itself when an utterance ends, on one open stream (`listen` goes on).
    pub endpointing: bool,
}

/// What a recogniser heard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// The utterance so far; replaces the partial before it.
    Partial(String),
    /// The utterance; empty when nothing was understood.
    Final(String),
}
