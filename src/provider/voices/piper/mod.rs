//! Voices of Piper: networks in files, run by rten, with espeak-ng for the phonemes.
//!
//! Entry type: [`Piper`]. A voice is loaded on first use and shared by all tables. It is computed
//! on blocking threads, at most one per core. Dropping a stream stops after the current piece.
//! **Never**: downloads a voice; panics over a broken file.

mod files;
mod library;
mod listed;
mod network;
mod numbers;
mod operations;
mod settings;
mod speaking;
#[cfg(test)]
mod tests;

use std::{path::PathBuf, sync::Arc};

use futures::{FutureExt, StreamExt, TryFutureExt, future::BoxFuture, stream::BoxStream};

use self::{
    files::Name,
    library::{Library, called},
    speaking::Speaking,
};
use super::neural::{
    cores::Cores,
    files::shown,
    spoken::{spoken, timbre},
    warming::{Warmed, word},
};
use crate::{
    domain::Voice,
    provider::{
        DefaultId, Error, Kind, ListedVoice, OneShot, Pcm, SpeakRequest, VoiceIds, VoiceTraits,
    },
};

pub const TRAITS: VoiceTraits = VoiceTraits {
    name: "piper",
    ids: VoiceIds::Shaped {
        fits: may_be_voice,
        hint: "the name of a folder with a voice's files, such as joe, or of one of its speakers, \
               such as libritts#p3922 or libritts#3",
    },
    default_id: DefaultId::Fixed("joe"),
    english_only: false,
    shifts_formants: true,
};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Folders of models, searched in this order.
    pub models: Vec<PathBuf>,
}

/// True if `id` may name a voice and stays in its folder.
fn may_be_voice(id: &str) -> bool {
    Name::of(id).is_some()
}

pub struct Piper {
    library: Arc<Library>,
    warmed: Arc<Warmed>,
}

impl Piper {
    pub fn new(options: &Options, cores: Cores) -> Self {
        let library = Arc::new(Library::new(&options.models, cores));
        Self { library, warmed: Arc::default() }
    }

    /// Voices in the folders of `models`, described by their files; none if none is installed.
    pub fn list(models: &[PathBuf]) -> Vec<ListedVoice> {
        files::voices(models).into_iter().map(|id| listed::listed(id, models)).collect()
    }

    pub fn voices(models: &[PathBuf]) -> Result<Vec<String>, Error> {
        let voices = files::voices(models);
        if voices.is_empty() {
            let text =
                format!("no Piper voice in '{}' (glyphoxa models get piper-joe)", shown(models));
            return Err(Error::new(Kind::Missing, text));
        }
        Ok(voices)
    }
}

impl OneShot for Piper {
    fn name(&self) -> &'static str {
        TRAITS.name
    }

    fn priced_as(&self) -> Option<&str> {
        None
    }

    fn speak(&self, request: SpeakRequest) -> BoxStream<'static, Result<Pcm, Error>> {
        let library = Arc::clone(&self.library);
        let begun = async move {
            let voice = library.voice(&request.voice.voice_id).await?;
            let rate = voice.settings.rate;
            let timbre = timbre(rate, &request.voice)?;
            let speaking = Speaking::new(voice, &request).await?;
            let what = called(&request.voice.voice_id);
            Ok(spoken(speaking, rate, timbre, library.cores().clone(), &what))
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
