//! Voices of espeak-ng, one child process per sentence.
//!
//! Entry type: [`Espeak`]. **Never**: linking the library (its licence is GPL-3), text in a shell.

use futures::stream::BoxStream;

use crate::provider::{
    DefaultId, Error, Kind, ListedVoice, OneShot, Pcm, SpeakRequest, VoiceIds, VoiceTraits,
    child::{Program, output, speech},
    language_code,
    respell::respell,
};

#[derive(Clone, Copy, Debug, Default)]
pub struct Espeak;

const PROGRAM: &str = "espeak-ng";
const LISTS_VOICES: &str = "espeak-ng --voices";
/// Its default speed, in words a minute.
const WORDS_A_MINUTE: f32 = 175.0;
/// Its default pitch; every 50 double the frequency.
const PITCH: f32 = 50.0;
/// Limits of `-p`.
const PITCH_LIMITS: (f32, f32) = (0.0, 99.0);
/// Limits of `-s`.
const SPEED_LIMITS: (f32, f32) = (80.0, 450.0);

pub const TRAITS: VoiceTraits = VoiceTraits {
    name: "espeak",
    ids: VoiceIds::Shaped {
        fits: may_be_voice,
        hint: "letters, digits, -, _ and +, such as en-gb or de+m3",
    },
    default_id: DefaultId::Language,
    english_only: false,
    shifts_formants: false,
};

fn may_be_voice(id: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_+".contains(c);
    !id.is_empty() && !id.starts_with('-') && id.chars().all(fits)
}

/// The voice `id` in the language of this ISO 639-1 code: "en-gb+f3" speaks German as "de+f3".
fn speaking(id: &str, code: &str) -> String {
    let (language, variant) = id.find('+').map_or((id, ""), |at| id.split_at(at));
    let same = language.split('-').next() == Some(code);
    if same { id.to_owned() } else { format!("{code}{variant}") }
}

impl Espeak {
    pub const fn new() -> Self {
        Self
    }

    /// Installed voices (by language code) and variants ("+f3"). Fails if espeak-ng is missing.
    pub async fn voices(&self) -> Result<Vec<String>, Error> {
        let voices = output(PROGRAM, &["--voices"]).await?;
        let variants = output(PROGRAM, &["--voices=variant"]).await?;
        let languages = voices.lines().skip(1).filter_map(|line| line.split_whitespace().nth(1));
        let files = variants.split_whitespace().filter_map(|word| word.strip_prefix("!v/"));
        let mut all: Vec<String> = languages.map(str::to_owned).collect();
        all.extend(files.map(|file| format!("+{file}")));
        all.dedup();
        Ok(all)
    }

    /// Installed voices, then the variants that can follow each.
    pub async fn list(&self) -> Result<Vec<ListedVoice>, Error> {
        let voices = output(PROGRAM, &["--voices"]).await?;
        let variants = output(PROGRAM, &["--voices=variant"]).await?;
        let voices = voices.lines().skip(1).filter_map(listed);
        Ok(voices.chain(variants.lines().skip(1).filter_map(variant)).collect())
    }
}

/// A voice in a line of `espeak-ng --voices`.
fn listed(line: &str) -> Option<ListedVoice> {
    let mut words = line.split_whitespace().skip(1);
    let (id, sex, name) = (words.next()?, words.next()?, words.next()?);
    // Languages without such a code have one of three letters.
    let own = || id.split('-').next().unwrap_or(id).to_owned();
    let languages = vec![language_code(id).unwrap_or_else(own)];
    let about = described(sex).to_owned();
    Some(ListedVoice { id: id.to_owned(), name: name.replace('_', " "), languages, about })
}

/// A variant in a line of `espeak-ng --voices=variant`, whose id follows that of a voice.
fn variant(line: &str) -> Option<ListedVoice> {
    let mut words = line.split_whitespace().skip(2);
    let sex = words.next()?;
    let (name, file) = line.split_once("!v/")?;
    let name = name.split_whitespace().skip(3).collect::<Vec<_>>().join(" ");
    let id = format!("+{}", file.split_whitespace().next()?);
    let about = format!("{}, behind a voice: en-gb{id}", described(sex));
    Some(ListedVoice { id, name, languages: Vec::new(), about })
}

/// "--/F" in words.
fn described(sex: &str) -> &'static str {
    match sex.rsplit('/').next() {
        Some("F") => "female",
        _ => "male",
    }
}

/// True if espeak-ng may speak `id`: a voice of `listed`, or one by its language, and a variant.
pub fn is_listed(listed: &[ListedVoice], id: &str) -> bool {
    let (voice, variant) = id.find('+').map_or((id, ""), |at| id.split_at(at));
    let language = |id: &str| id.split('-').next().unwrap_or(id).to_lowercase();
    let is_it = |known: &ListedVoice| {
        known.name.eq_ignore_ascii_case(voice)
            || language(&known.id) == language(voice)
            || known.languages.contains(&language(voice))
    };
    let has_variant = variant.is_empty() || listed.iter().any(|known| known.id == variant);
    has_variant && (voice.is_empty() || listed.iter().any(is_it))
}

impl OneShot for Espeak {
    fn name(&self) -> &'static str {
        TRAITS.name
    }

    fn priced_as(&self) -> Option<&str> {
        None
    }

    fn speak(&self, request: SpeakRequest) -> BoxStream<'static, Result<Pcm, Error>> {
        speech(program(&request))
    }
}

fn program(request: &SpeakRequest) -> Result<Program, Error> {
    let voice = &request.voice;
    if !may_be_voice(&voice.voice_id) {
        let id = &voice.voice_id;
        let text = format!("espeak has no voice \"{id}\" (use a voice that {LISTS_VOICES} lists)");
        return Err(Error::new(Kind::InvalidRequest, text));
    }
    let id =
        request.foreign.map_or_else(|| voice.voice_id.clone(), |it| speaking(&voice.voice_id, it));
    let pitch = (PITCH + PITCH * voice.pitch_shift / 12.0).clamp(PITCH_LIMITS.0, PITCH_LIMITS.1);
    let speed = (WORDS_A_MINUTE * voice.speed_factor).clamp(SPEED_LIMITS.0, SPEED_LIMITS.1);
    let arguments = [
        "--stdin",
        "--stdout",
        "-b",
        "1",
        "-v",
        &id,
        "-p",
        &format!("{pitch:.0}"),
        "-s",
        &format!("{speed:.0}"),
    ];
    // Double brackets would be read as phonemes.
    let input = respell(&request.text, &request.pronunciation).replace("[[", "[ [");
    Ok(Program {
        name: PROGRAM,
        arguments: arguments.map(str::to_owned).to_vec(),
        input,
        voice: id,
        lists_voices: LISTS_VOICES,
        rerate: 1.0,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures::TryStreamExt;

    use super::*;
    use crate::{domain::Voice, provider::Attempts};

    async fn speak(text: &str, id: &str, pitch: f32, speed: f32) -> Result<Vec<Pcm>, Error> {
        let request = SpeakRequest {
            text: text.to_owned(),
            voice: Voice {
                provider: "espeak".to_owned(),
                voice_id: id.to_owned(),
                pitch_shift: pitch,
                speed_factor: speed,
                volume: 1.0,
                formant_shift: 0.0,
                fallback: None,
            },
            foreign: None,
            pronunciation: Arc::from([]),
            style: None,
            attempts: Attempts::default(),
        };
        Espeak::new().speak(request).try_collect().await
    }

    fn seconds(chunks: &[Pcm]) -> f64 {
        chunks.iter().map(|c| c.rate.duration_of(c.samples.len()).as_secs_f64()).sum()
    }

    #[tokio::test]
    async fn voices_variants_and_speed_are_honoured() {
        const TEXT: &str = "The road to the city is long and dark.";
        let plain = speak(TEXT, "en-us", 0.0, 1.0).await.unwrap();
        let fast = speak(TEXT, "en-us", 0.0, 2.0).await.unwrap();
        let high = speak(TEXT, "en-us", 6.0, 1.0).await.unwrap();
        let woman = speak(TEXT, "en-us+f3", 0.0, 1.0).await.unwrap();
        assert!(plain.iter().all(|chunk| chunk.rate.hz() == 22_050));
        assert!((0.35..0.7).contains(&(seconds(&fast) / seconds(&plain))));
        assert!((0.9..1.1).contains(&(seconds(&high) / seconds(&plain))));
        assert_ne!(high, plain);
        assert_ne!(woman, plain);
    }

    #[test]
    fn other_languages_keep_the_voice_variant() {
        for (id, code, is) in [
            ("en-gb+f3", "de", "de+f3"),
            ("en-gb", "de", "de"),
            ("de", "en", "en"),
            ("en-gb+f3", "en", "en-gb+f3"),
        ] {
            assert_eq!(speaking(id, code), is);
        }
    }

    #[tokio::test]
    async fn unknown_voices_are_refused() {
        for id in ["xyzzy", "", "-x", "a;b"] {
            let error = speak("hello", id, 0.0, 1.0).await.map(drop).unwrap_err();
            assert_eq!(error.kind(), Kind::InvalidRequest, "{error}");
            let text = error.to_string();
            assert!(text.contains(&format!("voice \"{id}\"")), "{text}");
            assert!(text.ends_with("(use a voice that espeak-ng --voices lists)"), "{text}");
        }
    }

    #[tokio::test]
    async fn text_is_never_an_option() {
        let chunks = speak("--help", "en", 0.0, 1.0).await.unwrap();
        assert!(seconds(&chunks) > 0.2);
    }

    #[tokio::test]
    async fn installed_voices_are_listed() {
        let voices = Espeak::new().voices().await.unwrap();
        for voice in ["en-us", "de", "+f3"] {
            assert!(voices.iter().any(|known| known == voice), "{voice}");
        }
        let voices = Espeak::new().list().await.unwrap();
        let german = voices.iter().find(|voice| voice.id == "de").unwrap();
        assert_eq!((german.name.as_str(), german.speaks("en")), ("German", false));
        for id in ["de", "en", "en-us", "de+f3", "+f3", "German"] {
            assert!(is_listed(&voices, id), "{id}");
        }
        for id in ["xyzzy", "de+f99", "deutsch"] {
            assert!(!is_listed(&voices, id), "{id}");
        }
    }
}
