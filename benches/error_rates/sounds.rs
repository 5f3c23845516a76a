//! Voices, and what a room and a bad microphone make of them: 16 kHz mono.

use std::{f32::consts::TAU, fs, path::Path, process::Command, sync::Arc};

use futures::StreamExt;
use glyphoxa::measure::{
    Attempts, OneShot, Resampler, SampleRate, SpeakRequest, Voice as ServiceVoice,
};

/// Before and behind what is said: what the table hands on, and the pause that ends it.
const BEFORE: usize = 3_200;
const BEHIND: usize = 4_800;

/// A voice that speaks the sentences.
#[derive(Clone)]
pub enum Voice {
    /// A voice of flite.
    Flite(&'static str),
    /// One of espeak-ng.
    Espeak(&'static str),
    /// One of a service on this machine, by the service's name and its own.
    Neural(Arc<dyn OneShot>, [&'static str; 2]),
}

/// Acoustic condition of a recording.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Condition {
    /// Unchanged.
    Clean,
    /// With white noise so many decibels below.
    Noise(f32),
    /// From across a room: an echo that fades by 60 dB in half a second, no highs, a tenth as loud.
    Far,
}

impl Voice {
    /// Its name in the figures.
    pub fn name(&self) -> String {
        match self {
            Self::Flite(name) => format!("flite {name}"),
            Self::Espeak(name) => format!("espeak-ng {name}"),
            Self::Neural(_, names) => names.join(" "),
        }
    }

    /// Sound of `text` in this voice; stored in `folder`, and read from there the next time.
    pub async fn say(&self, text: &str, folder: Option<&Path>) -> Vec<f32> {
        let name = format!("{} {text}.wav", self.name());
        let kept = folder.map(|folder| folder.join(name.replace('/', " ")));
        if let Some(bytes) = kept.as_ref().and_then(|path| fs::read(path).ok()) {
            return wav(&bytes);
        }
        let spoken = match self {
            Self::Flite(name) => program("flite", &["-voice", name, "-t", text, "/dev/stdout"]),
            Self::Espeak(name) => program("espeak-ng", &["-v", name, "--stdout", text]),
            Self::Neural(service, names) => by_service(&**service, *names, text).await,
        };
        if let Some(path) = kept {
            keep(&path, &spoken);
        }
        spoken
    }
}

impl Condition {
    /// Its name in the figures.
    pub fn name(self) -> String {
        match self {
            Self::Clean => "clean".to_owned(),
            Self::Noise(decibels) => format!("noise {decibels} dB below"),
            Self::Far => "across a room".to_owned(),
        }
    }

    /// Sound that a table would hand on of `spoken`, with a pause around it.
    pub fn of(self, spoken: &[f32]) -> Vec<i16> {
        let silence = |length| std::iter::repeat_n(&0.0, length);
        let sound: Vec<f32> =
            silence(BEFORE).chain(spoken).chain(silence(BEHIND)).copied().collect();
        let sound = match self {
            Self::Clean => sound,
            Self::Noise(decibels) => noisy(&sound, decibels),
            Self::Far => far(&sound),
        };
        sound.iter().map(|sample| (sample * 32_767.0) as i16).collect()
    }
}

/// The sound of a program that writes a WAV file.
fn program(name: &str, arguments: &[&str]) -> Vec<f32> {
    let output = Command::new(name).args(arguments).output();
    wav(&output.expect("./dev setup installs the voices").stdout)
}

/// The sound in a file of 16 bit and one channel.
pub fn wav(bytes: &[u8]) -> Vec<f32> {
    let rate = bytes.get(24..28).and_then(|it| it.try_into().ok()).map(u32::from_le_bytes);
    let (samples, _) = bytes.get(44..).unwrap_or_default().as_chunks::<2>();
    let samples: Vec<i16> = samples.iter().map(|pair| i16::from_le_bytes(*pair)).collect();
    at_16_khz(&samples, SampleRate::new(rate.expect("a WAV file")).expect("a rate"))
}

/// Writes `sound` as a file that [`wav`] reads.
fn keep(path: &Path, sound: &[f32]) {
    let rate = SampleRate::HZ_16000.hz();
    let mut bytes = b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0".to_vec();
    bytes.extend([rate.to_le_bytes(), (2 * rate).to_le_bytes()].concat());
    bytes.extend(b"\x02\0\x10\0data\0\0\0\0");
    let length = |size: usize| u32::try_from(size).expect("a short sound").to_le_bytes();
    bytes.extend(sound.iter().flat_map(|sample| ((sample * 32_767.0) as i16).to_le_bytes()));
    let (whole, samples) = (length(bytes.len() - 8), length(bytes.len() - 44));
    bytes[4..8].copy_from_slice(&whole);
    bytes[40..44].copy_from_slice(&samples);
    fs::write(path, bytes).expect("the folder of --keep can be written");
}

async fn by_service(service: &dyn OneShot, names: [&str; 2], text: &str) -> Vec<f32> {
    let mut chunks = service.speak(SpeakRequest {
        text: text.to_owned(),
        voice: ServiceVoice::as_is(names[0], names[1]),
        foreign: None,
        pronunciation: Arc::from([]),
        style: None,
        attempts: Attempts::default(),
    });
    let (mut samples, mut rate) = (Vec::new(), SampleRate::HZ_16000);
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.expect("GLYPHOXA_MODELS has that voice");
        rate = chunk.rate;
        samples.extend(chunk.samples);
    }
    at_16_khz(&samples, rate)
}

/// Samples between -1 and 1.
fn at_16_khz(samples: &[i16], rate: SampleRate) -> Vec<f32> {
    let mut out = Vec::new();
    let mut resampler = Resampler::new(rate, SampleRate::HZ_16000).expect("a rate of voices");
    resampler.push(samples, &mut out);
    resampler.finish(&mut out);
    out.iter().map(|sample| f32::from(*sample) / 32_768.0).collect()
}

/// Numbers between -1 and 1, the same each time.
fn random() -> impl FnMut() -> f32 {
    let mut seed = 7_u32;
    move || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) as f32 / (1 << 23) as f32 - 1.0
    }
}

/// Power of what is spoken, silence left out.
fn power(sound: &[f32]) -> f32 {
    let loud: Vec<f32> = sound.iter().map(|it| it * it).filter(|it| *it > 1e-6).collect();
    loud.iter().sum::<f32>() / loud.len().max(1) as f32
}

fn noisy(sound: &[f32], decibels: f32) -> Vec<f32> {
    let mut random = random();
    let size = (3.0 * power(sound) / 10_f32.powf(decibels / 10.0)).sqrt();
    sound.iter().map(|it| (it + size * random()).clamp(-1.0, 1.0)).collect()
}

fn far(sound: &[f32]) -> Vec<f32> {
    let mut random = random();
    // 60 dB are a factor of 1,000; one reflection in about a millisecond is enough to be a room.
    let fade = |n: usize| (-6.9 * n as f32 / 8_000.0).exp();
    let mut echo = |n: usize| {
        #[expect(clippy::cast_sign_loss, reason = "random numbers are between -1 and 1")]
        let at = n * 16 + (8.0 * (1.0 + random())) as usize;
        (at, 0.25 * random() * fade(at))
    };
    let echoes: Vec<(usize, f32)> = (1..500).map(&mut echo).collect();
    let mut low = 0.0;
    let keep = (-TAU * 2_500.0 / 16_000.0).exp();
    (0..sound.len())
        .map(|at| {
            let before = |by: usize| at.checked_sub(by).and_then(|at| sound.get(at)).copied();
            let room: f32 =
                echoes.iter().filter_map(|(by, share)| Some(before(*by)? * share)).sum();
            low = keep * low + (1.0 - keep) * (before(0).unwrap_or_default() + room);
            0.1 * low
        })
        .collect()
}
