//! The voices of Kokoro: one network and a small file per voice, run by rten, with espeak-ng for
//! the phonemes.
//!
//! Entry type: [`Kokoro`]. It sounds better than Piper but takes several times as long, so its
//! speed is measured on first use: a machine that is too slow refuses it. **Never**: downloads
//! anything; panics over a broken file.

mod alphabet;
mod graph;
mod library;
mod network;
mod pieces;
mod speaking;
mod speed;
mod style;
#[cfg(test)]
mod tests;

use std::{path::PathBuf, sync::Arc};

use futures::{FutureExt, StreamExt, TryFutureExt, future::BoxFuture, stream::BoxStream};

pub use self::speed::SLOWEST;
use self::{
    library::{Library, called},
    network::RATE,
    speaking::Speaking,
};
use super::neural::{
    cores::Cores,
    spoken::{spoken, timbre},
    warming::{Warmed, word},
};
use crate::{
    domain::Voice,
    provider::{DefaultId, Error, ListedVoice, OneShot, Pcm, SpeakRequest, VoiceIds, VoiceTraits},
    weights::KOKORO_VOICES,
};

pub const TRAITS: VoiceTraits = VoiceTraits {
    name: "kokoro",
    ids: VoiceIds::Listed(&KOKORO_VOICES),
    default_id: DefaultId::Fixed("bm_george"),
    english_only: true,
    shifts_formants: true,
};

#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Folders of models, searched in this order.
    pub models: Vec<PathBuf>,
    /// Most seconds of computing per second of speech.
    pub slowest: f32,
}

pub struct Kokoro {
    library: Arc<Library>,
    warmed: Arc<Warmed>,
}

impl Kokoro {
    pub fn new(options: &Options, cores: Cores) -> Self {
        let library = Arc::new(Library::new(&options.models, options.slowest, cores));
        Self { library, warmed: Arc::default() }
    }

    /// Voices whose files are installed, even if this machine is too slow for them.
    pub fn installed(options: &Options) -> Vec<String> {
        let mut voices = library::voices(&options.models);
        voices.retain(|id| KOKORO_VOICES.contains(&id.as_str()));
        voices
    }

    /// Installed voices, described by their names: "bf_emma" is British and female.
    pub fn list(options: &Options) -> Vec<ListedVoice> {
        let listed = |id: String| {
            let (kind, name) = id.split_once('_').unwrap_or(("", id.as_str()));
            let sex = if kind.ends_with('f') { "female" } else { "male" };
            let accent = if kind.starts_with('b') { "British" } else { "American" };
            let about = format!("{sex}, {accent}");
            let languages = vec!["en".to_owned()];
            ListedVoice { name: name.to_owned(), languages, about, id }
        };
        Self::installed(options).into_iter().map(listed).collect()
    }

    /// The installed voices and their speed. Fails if none is installed, files are damaged, or this
    /// machine is too slow.
    pub async fn probe(options: &Options) -> Result<(Vec<String>, String), Error> {
        let voices = library::voices(&options.models);
        let library = Self::new(options, Cores::default()).library;
        let id = voices.first().map_or("bm_george", String::as_str);
        let ready = library.voice(id).await?;
        Ok((voices, ready.speed().to_string()))
    }
}

impl OneShot for Kokoro {
    fn name(&self) -> &'static str {
        TRAITS.name
    }

    fn priced_as(&self) -> Option<&str> {
        None
    }

    fn speak(&self, request: SpeakRequest) -> BoxStream<'static, Result<Pcm, Error>> {
        let library = Arc::clone(&self.library);
        let begun = async move {
            let timbre = timbre(RATE, &request.voice)?;
            let ready = library.voice(&request.voice.voice_id).await?;
            let speaking = Speaking::new(ready, &request).await?;
            let what = called(&request.voice.voice_id);
            Ok(spoken(speaking, RATE, timbre, library.cores().clone(), &what))
        };
        begun.try_flatten_stream().boxed()
    }

    fn lacks(&self, voice: &Voice) -> Option<Error> {
        self.library.lacks(&voice.voice_id)
    }

    fn warm(&self, voice: &Voice) -> BoxFuture<'static, Result<(), Error>> {
        let (warmed, id) = (Arc::clone(&self.warmed), voice.voice_id.clone());
        let sound = self.speak(word(voice));
        async move { warmed.once(id, sound).await }.boxed()
    }
}
