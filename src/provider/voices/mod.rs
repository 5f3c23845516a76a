//! The voice services and their entries in the configuration.
//!
//! Entry types: [`VoiceService`], [`VoiceEntry`], [`VoiceList`]; [`Voices`] opens entries,
//! [`VoiceChains`] puts them in order. Each service's file has its traits ([`VoiceTraits`]).

pub mod cartesia;
mod chains;
mod deepgram;
pub mod elevenlabs;
mod espeak;
mod flite;
mod kokoro;
mod list;
mod listed;
mod neural;
mod open_voice;
mod piper;
mod socket;
mod steady;
mod watch;

use std::sync::Arc;

pub use self::chains::VoiceChains;
pub use self::deepgram::Options as DeepgramVoiceOptions;
pub use self::kokoro::{Kokoro, Options as KokoroOptions, SLOWEST};
pub use self::list::{Replacement, VoiceList};
pub use self::listed::{ListedVoice, language_code};
pub use self::neural::cores::Cores;
pub use self::open_voice::OpenVoice;
pub use self::piper::{Options as PiperOptions, Piper};
pub use self::socket::Options as StreamedVoiceOptions;
use self::{
    cartesia::Cartesia, deepgram::Deepgram, elevenlabs::ElevenLabs, espeak::Espeak, flite::Flite,
    socket::SocketVoice, steady::Steady,
};
use super::{
    Error, OneByOne, OneShot, TextToSpeech, VoiceIds, VoiceTraits, entries::Pool, openai,
    service::ServiceInfo, wyoming,
};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VoiceService {
    #[default]
    Flite,
    Espeak,
    Piper,
    /// One network in files on this machine, with many voices.
    Kokoro,
    OpenAi,
    /// A local service that speaks Wyoming.
    Wyoming,
    ElevenLabs,
    Deepgram,
    Cartesia,
}

impl VoiceService {
    pub const MULTILINGUAL: Self = Self::Espeak;

    pub const ALL: [Self; 9] = [
        Self::Flite,
        Self::Espeak,
        Self::Piper,
        Self::Kokoro,
        Self::OpenAi,
        Self::Wyoming,
        Self::ElevenLabs,
        Self::Deepgram,
        Self::Cartesia,
    ];
    pub const NAMES: &[&str] = &[
        Self::Flite.name(),
        Self::Espeak.name(),
        Self::Piper.name(),
        Self::Kokoro.name(),
        Self::OpenAi.name(),
        Self::Wyoming.name(),
        Self::ElevenLabs.name(),
        Self::Deepgram.name(),
        Self::Cartesia.name(),
    ];
    /// Names of services that run on this machine and are free.
    pub const HERE: &[&str] =
        &[Self::Flite.name(), Self::Espeak.name(), Self::Piper.name(), Self::Kokoro.name()];

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|service| service.name() == name)
    }

    pub const fn name(self) -> &'static str {
        self.traits().name
    }

    pub const fn traits(self) -> &'static VoiceTraits {
        match self {
            Self::Flite => &flite::TRAITS,
            Self::Espeak => &espeak::TRAITS,
            Self::Piper => &piper::TRAITS,
            Self::Kokoro => &kokoro::TRAITS,
            Self::OpenAi => &openai::VOICE_TRAITS,
            Self::Wyoming => &wyoming::VOICE_TRAITS,
            Self::ElevenLabs => &elevenlabs::TRAITS,
            Self::Deepgram => &deepgram::TRAITS,
            Self::Cartesia => &cartesia::TRAITS,
        }
    }

    pub const fn without_settings(self) -> Option<VoiceEntry> {
        match self {
            Self::Flite => Some(VoiceEntry::Flite),
            Self::Espeak => Some(VoiceEntry::Espeak),
            Self::Piper
            | Self::Kokoro
            | Self::OpenAi
            | Self::Wyoming
            | Self::ElevenLabs
            | Self::Deepgram
            | Self::Cartesia => None,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub enum VoiceEntry {
    #[default]
    Flite,
    Espeak,
    Piper(PiperOptions),
    Kokoro(KokoroOptions),
    OpenAi(openai::VoiceOptions),
    Wyoming(wyoming::Options),
    ElevenLabs(StreamedVoiceOptions),
    Deepgram(DeepgramVoiceOptions),
    Cartesia(StreamedVoiceOptions),
}

impl VoiceEntry {
    pub const fn service(&self) -> VoiceService {
        match self {
            Self::Flite => VoiceService::Flite,
            Self::Espeak => VoiceService::Espeak,
            Self::Piper(_) => VoiceService::Piper,
            Self::Kokoro(_) => VoiceService::Kokoro,
            Self::OpenAi(_) => VoiceService::OpenAi,
            Self::Wyoming(_) => VoiceService::Wyoming,
            Self::ElevenLabs(_) => VoiceService::ElevenLabs,
            Self::Deepgram(_) => VoiceService::Deepgram,
            Self::Cartesia(_) => VoiceService::Cartesia,
        }
    }

    pub const fn name(&self) -> &'static str {
        self.service().name()
    }

    /// Name of the service, and the address that text goes to.
    pub fn info(&self) -> ServiceInfo {
        match self {
            Self::Flite => ServiceInfo::here("flite"),
            Self::Espeak => ServiceInfo::here("espeak-ng"),
            Self::Piper(_) => ServiceInfo::here("Piper"),
            Self::Kokoro(_) => ServiceInfo::here("Kokoro"),
            Self::OpenAi(options) => options.reach.info(),
            Self::Wyoming(options) => options.info(),
            Self::ElevenLabs(options) => options.info(),
            Self::Deepgram(options) => options.info(),
            Self::Cartesia(options) => options.info(),
        }
    }

    /// Names of the installed voices for a speaker of `language` (ISO 639-1); empty where only the
    /// service knows. Reads the folders of model files.
    pub fn installed(&self, language: &str) -> Vec<String> {
        match self {
            Self::Flite => flite::PLEASANT.map(str::to_owned).to_vec(),
            Self::Espeak => ["m3", "f3"].map(|variant| format!("{language}+{variant}")).to_vec(),
            Self::Piper(options) => Piper::voices(&options.models).unwrap_or_default(),
            Self::Kokoro(options) => Kokoro::installed(options),
            Self::OpenAi(_)
            | Self::Wyoming(_)
            | Self::ElevenLabs(_)
            | Self::Deepgram(_)
            | Self::Cartesia(_) => Vec::new(),
        }
    }

    /// The service's own list of its voices; `None`: it has no list.
    ///
    /// # Errors
    /// The service's own; no time limit. Cancel safe.
    pub async fn list(&self) -> Result<Option<Vec<ListedVoice>>, Error> {
        Ok(match self {
            Self::Flite => Some(Flite::new().list().await?),
            Self::Espeak => Some(Espeak::new().list().await?),
            Self::Piper(options) => Some(Piper::list(&options.models)),
            Self::Kokoro(options) => Some(Kokoro::list(options)),
            Self::OpenAi(options) => openai::Speech::list(options).await?,
            Self::Wyoming(options) => wyoming::list_voices(options).await?,
            Self::ElevenLabs(options) => Some(elevenlabs::list(options.clone()).await?),
            Self::Deepgram(options) => Some(Deepgram::list(options).await?),
            Self::Cartesia(options) => Some(cartesia::list(options.clone()).await?),
        })
    }

    /// True if the service speaks no other voices than those it lists.
    pub const fn lists_all(&self) -> bool {
        match self {
            Self::Flite | Self::Espeak | Self::Piper(_) | Self::Kokoro(_) | Self::Wyoming(_) => {
                true
            }
            Self::OpenAi(_) | Self::ElevenLabs(_) | Self::Deepgram(_) | Self::Cartesia(_) => false,
        }
    }

    /// True if the voice `id` is in `listed`, or made of what is in it.
    pub fn has(&self, listed: &[ListedVoice], id: &str) -> bool {
        if let VoiceIds::Shaped { fits, .. } = self.service().traits().ids
            && !fits(id)
        {
            return false;
        }
        let is_listed = |id: &str| listed.iter().any(|voice| voice.id == id);
        match self {
            Self::Espeak => espeak::is_listed(listed, id),
            // Speakers are in the voice's files.
            Self::Piper(_) => is_listed(id.split('#').next().unwrap_or(id)),
            Self::Wyoming(_) => id.is_empty() || is_listed(id),
            // Some servers mix voices.
            Self::OpenAi(_) => id.split('+').all(is_listed),
            Self::Flite
            | Self::Kokoro(_)
            | Self::ElevenLabs(_)
            | Self::Deepgram(_)
            | Self::Cartesia(_) => is_listed(id),
        }
    }

    /// Checks the service; returns one line for a report.
    pub async fn probe(&self) -> Result<String, Error> {
        match self {
            Self::Flite => Flite::new().voices().await.map(|voices| listed(&voices)),
            Self::Espeak => Espeak::new().voices().await.map(|voices| listed(&voices)),
            Self::Piper(options) => Piper::voices(&options.models).map(|voices| listed(&voices)),
            Self::Kokoro(options) => Kokoro::probe(options)
                .await
                .map(|(voices, speed)| format!("kokoro takes {speed}; {}", listed(&voices))),
            Self::OpenAi(options) => openai::probe(options.reach.clone()).await,
            Self::Wyoming(options) => wyoming::probe_voice(options.clone())
                .await
                .map(|(line, voices)| format!("{line}; {}", listed(&voices))),
            Self::ElevenLabs(options) => {
                elevenlabs::list(options.clone()).await.map(|voices| listed(&names(voices)))
            }
            Self::Deepgram(options) => deepgram::probe(options.clone()).await,
            Self::Cartesia(options) => {
                cartesia::list(options.clone()).await.map(|voices| listed(&names(voices)))
            }
        }
    }
}

fn names(voices: Vec<ListedVoice>) -> Vec<String> {
    voices.into_iter().map(|voice| voice.name).collect()
}

const FEW: usize = 8;

fn listed(voices: &[String]) -> String {
    let shown = voices.iter().take(FEW).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = if voices.len() > FEW { ", …" } else { "" };
    format!("{} voices: {shown}{more}", voices.len())
}

#[derive(Default)]
pub struct Voices {
    open: Pool<VoiceEntry, Arc<dyn TextToSpeech>>,
    cores: Cores,
}

impl Voices {
    pub fn open(&self, entry: &VoiceEntry) -> Result<Arc<dyn TextToSpeech>, Error> {
        self.open.get(entry, || {
            let cores = || self.cores.clone();
            // Their speed depends on this machine, and gaps are better than another voice.
            let here = |service: Arc<dyn OneShot>| -> Arc<dyn TextToSpeech> {
                Arc::new(OneByOne::new(Arc::new(Steady::at_any_pace(service))))
            };
            let away = |service: Arc<dyn OneShot>| -> Arc<dyn TextToSpeech> {
                Arc::new(OneByOne::new(Arc::new(Steady::new(service))))
            };
            Ok(match entry {
                VoiceEntry::Flite => here(Arc::new(Flite::new())),
                VoiceEntry::Espeak => here(Arc::new(Espeak::new())),
                VoiceEntry::Piper(options) => here(Arc::new(Piper::new(options, cores()))),
                VoiceEntry::Kokoro(options) => here(Arc::new(Kokoro::new(options, cores()))),
                VoiceEntry::OpenAi(options) => {
                    away(Arc::new(openai::Speech::new(options.clone())?))
                }
                VoiceEntry::Wyoming(options) => {
                    away(Arc::new(wyoming::Speech::new(options.clone())))
                }
                VoiceEntry::ElevenLabs(options) => {
                    Arc::new(SocketVoice::new(ElevenLabs::new(options.clone())?))
                }
                VoiceEntry::Deepgram(options) => {
                    Arc::new(SocketVoice::new(Deepgram::new(options.clone())?))
                }
                VoiceEntry::Cartesia(options) => {
                    Arc::new(SocketVoice::new(Cartesia::new(options.clone())?))
                }
            })
        })
    }

    pub fn retain(&self, is_wanted: impl Fn(&VoiceEntry) -> bool) {
        self.open.retain(is_wanted);
    }
}
