//! Settings of a speech service.

use crate::provider::remote::Options;

/// OpenAI's rate of sound without a header, in Hz.
pub const SAMPLE_RATE: u32 = 24_000;

#[derive(Clone, Debug, PartialEq)]
pub struct VoiceOptions {
    pub reach: Options,
    /// The requested format; the service may send another.
    pub format: SoundFormat,
    /// Rate of sound without a header, in Hz.
    pub sample_rate: u32,
}

#[cfg(test)]
impl VoiceOptions {
    pub fn at(base_url: &str) -> Self {
        let reach = crate::provider::remote::options(base_url);
        Self { reach, format: SoundFormat::default(), sample_rate: SAMPLE_RATE }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SoundFormat {
    /// Samples without a header, which begin soonest.
    #[default]
    Pcm,
    Wav,
}

impl SoundFormat {
    pub const ALL: [Self; 2] = [Self::Pcm, Self::Wav];
    pub const NAMES: &[&str] = &[Self::Pcm.name(), Self::Wav.name()];

    /// As requests and the configuration name it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pcm => "pcm",
            Self::Wav => "wav",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }
}
