//! The model: loaded once, off the runtime, and transcription with it.
//!
//! Entry type: [`Engine`].

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::Instant,
};

use tokio::{sync::OnceCell, task::spawn_blocking};
use whisper_thin::{Model, Options, Scratch, Search, TranscribeError};

use super::{
    crew::{Crew, RecognisedText, Sound},
    prompt::is_echo,
};
use crate::provider::{Error, Kind};

/// Window in which a long sound may be cut at its quietest: 100 ms.
const SILENCE: usize = 1_600;

/// Search for unclear speech. Measured with the sets in benches/README.md: the likeliest of five
/// texts has fewer wrong words if the first is less certain than this, and more if it is more
/// certain; a quarter of robots' sentences are this unclear.
const SEARCH: Search = Search { beams: 5, below: -0.3 };

/// Recogniser with the weights of one folder in one language, for all tables.
pub struct Engine {
    name: String,
    folder: PathBuf,
    language: String,
    crew: OnceCell<Arc<Crew>>,
}

impl Engine {
    /// Loads nothing before [`Self::crew`].
    pub fn new(name: &str, folder: &Path, language: &str) -> Self {
        Self {
            name: name.to_owned(),
            folder: folder.to_owned(),
            language: language.to_owned(),
            crew: OnceCell::new(),
        }
    }

    pub fn language(&self) -> &str {
        &self.language
    }

    /// The threads that transcribe. Loads the model on the first call; after an error the next call
    /// retries. Its errors have a reason and tell how to download the files.
    pub async fn crew(&self) -> Result<Arc<Crew>, Error> {
        self.crew.get_or_try_init(|| self.load()).await.cloned()
    }

    async fn load(&self) -> Result<Arc<Crew>, Error> {
        let folder = self.folder.clone();
        let began = Instant::now();
        let loaded = spawn_blocking(move || Model::load(folder)).await;
        let failed = |why: &dyn std::fmt::Display| {
            let (name, folder) = (&self.name, self.folder.display());
            let text = format!(
                "cannot hear with the model files in \"{folder}\": {why} (glyphoxa models remove \
                 {name}, then glyphoxa models get {name})"
            );
            Error::new(Kind::Missing, text)
        };
        let model = loaded.map_err(|panic| failed(&panic))?.map_err(|error| failed(&error))?;
        let language = model.languages().find(|known| *known == self.language).map(str::to_owned);
        if language.is_none() {
            return Err(failed(&format!("it does not know the language \"{}\"", self.language)));
        }
        let milliseconds = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        tracing::debug!(milliseconds, name = self.name, "model for hearing loaded");
        let size = thread::available_parallelism().map_or(1, usize::from);
        let recognise =
            move |scratch: &mut Scratch, sound: &Sound, threads: usize, stops: &Stops<'_>| {
                let options = Options {
                    prompt: &sound.prompt,
                    language: language.as_deref(),
                    threads,
                    search: sound.is_sought.then_some(SEARCH),
                    ..Options::default()
                };
                recognise(&model, scratch, &samples_of(sound), &options, stops)
            };
        Ok(Arc::new(Crew::new(size, Box::new(recognise))))
    }
}

/// Returns true to stop.
type Stops<'a> = dyn Fn() -> bool + Sync + 'a;

/// The words in `samples`, piece by piece; `None`: it was stopped. Drops words that the model
/// invents from silence or noise.
fn recognise(
    model: &Model,
    scratch: &mut Scratch,
    samples: &[f32],
    options: &Options,
    stops: &Stops<'_>,
) -> Result<Option<RecognisedText>, Error> {
    let (mut texts, mut is_unclear) = (Vec::new(), false);
    for piece in pieces(samples, model.max_samples()) {
        let mut transcript = model.transcribe(scratch, piece, options, &|| stops());
        let seconds = piece.len() as f32 / 16_000.0;
        if transcript
            .as_ref()
            .is_ok_and(|transcript| is_echo(&transcript.text, options.prompt, seconds))
        {
            let without = Options { prompt: "", ..options.clone() };
            transcript = model.transcribe(scratch, piece, &without, &|| stops());
        }
        match transcript {
            Ok(transcript) if transcript.is_doubtful() || !has_words(&transcript.text) => {}
            Ok(transcript) => {
                is_unclear |=
                    SEARCH.is_wanted(transcript.mean_log_probability, transcript.cut_by_guard);
                texts.push(transcript.text);
            }
            Err(TranscribeError::Cancelled) => return Ok(None),
            Err(error) => return Err(Error::new(Kind::InvalidRequest, error.to_string())),
        }
    }
    texts.retain(|text| !text.is_empty());
    Ok(Some(RecognisedText { text: texts.join(" "), is_unclear }))
}

/// Captions that the model writes for pictures without speech, often without brackets, and invents
/// from tones.
const CAPTIONS: [&str; 9] = [
    "music",
    "music playing",
    "upbeat music",
    "dramatic music",
    "applause",
    "laughter",
    "silence",
    "blank audio",
    "you",
];

/// True unless `text` is only what the model writes for music and voices without words: "Wooooo!",
/// "(laughs)", "♪", "Music". A spoken word of that kind has a mark after it.
fn has_words(text: &str) -> bool {
    if CAPTIONS.contains(&text.trim().to_lowercase().as_str()) {
        return false;
    }
    let mut depth = 0_usize;
    let mut spoken = String::new();
    for c in text.chars() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            '*' => depth ^= 1,
            _ if depth == 0 => spoken.push(c),
            _ => {}
        }
    }
    let is_word = |word: &str| {
        let letters: Vec<char> = word.to_lowercase().chars().collect();
        letters.iter().any(|c| c.is_alphanumeric())
            && !letters.chunk_by(|a, b| a == b).any(|run| run.len() > 3 && run[0].is_alphabetic())
    };
    spoken.split_whitespace().any(is_word)
}

fn samples_of(sound: &Sound) -> Vec<f32> {
    let all = sound.frames.iter().flat_map(|frame| frame.samples());
    all.map(|sample| f32::from(*sample) / 32_768.0).collect()
}

/// Pieces of at most `most` samples, each cut at the quietest point of its last third.
fn pieces(mut samples: &[f32], most: usize) -> Vec<&[f32]> {
    let mut pieces = Vec::new();
    while samples.len() > most {
        let from = most - most / 3;
        let windows = (from..most.saturating_sub(SILENCE)).step_by(SILENCE / 2);
        let loudness = |at: &usize| -> f32 {
            let window = samples.get(*at..at + SILENCE).unwrap_or_default();
            window.iter().map(|sample| sample * sample).sum()
        };
        let quietest = windows.min_by(|a, b| loudness(a).total_cmp(&loudness(b)));
        let (piece, rest) = samples.split_at(quietest.map_or(most, |at| at + SILENCE / 2));
        pieces.push(piece);
        samples = rest;
    }
    pieces.push(samples);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn music_and_noise_notation_is_no_word() {
        for text in ["", "Wooooo!", "(laughs)", "[Music]", "♪ ♪", "*coughs*", "...", "Music", "You"]
        {
            assert!(!has_words(text), "{text}");
        }
        for text in ["No.", "Woo!", "Music.", "You?", "(laughs) Bartok!", "2d6", "Soooo, Bartok"] {
            assert!(has_words(text), "{text}");
        }
    }

    #[test]
    fn long_sound_is_cut_where_it_is_quiet() {
        let mut samples = vec![0.5; 500_000];
        samples[400_000..403_200].fill(0.0);
        let pieces = pieces(&samples, 480_000);
        let lengths: Vec<usize> = pieces.iter().map(|piece| piece.len()).collect();
        assert_eq!(lengths.iter().sum::<usize>(), 500_000);
        assert_eq!(lengths.len(), 2);
        assert!((400_000..403_200).contains(&lengths[0]), "{lengths:?}");
        assert_eq!(super::pieces(&samples[..480_000], 480_000).len(), 1);
    }

    /// The smallest window a file can have is 320 samples.
    #[test]
    fn model_of_a_tiny_window_gets_tiny_pieces() {
        for most in [320, 640, 1_600, 1_601, 2_399, 2_400, 3_200] {
            let pieces = pieces(&[0.5; 8_000], most);
            assert!(pieces.iter().all(|piece| (1..=most).contains(&piece.len())), "{most}");
            assert_eq!(pieces.iter().map(|piece| piece.len()).sum::<usize>(), 8_000);
        }
    }
}
