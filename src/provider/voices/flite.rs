//! Voices of flite, one child process per sentence.
//!
//! Entry type: [`Flite`]. **Never**: languages other than English, text in a shell.

use futures::stream::BoxStream;

use crate::provider::{
    DefaultId, Error, Kind, ListedVoice, OneShot, Pcm, SpeakRequest, VoiceIds, VoiceTraits,
    child::{Program, output, speech},
    respell::respell,
};

#[derive(Clone, Copy, Debug, Default)]
pub struct Flite;

const PROGRAM: &str = "flite";
/// Supported voices, without the talking clock, which cannot say sentences.
const VOICES: &[&str] = &["slt", "rms", "awb", "kal16", "kal"];
/// Voices that do not sound like robots.
pub const PLEASANT: [&str; 3] = ["slt", "rms", "awb"];
/// Listed by flite, but not supported.
const TALKING_CLOCK: &str = "awb_time";
/// Voice whose pitch flite's own setting does not change.
const FIXED_PITCH: &str = "rms";
/// Longest sentence, in bytes; an argument is limited to 128 KiB.
const MAX_TEXT: usize = 16 * 1024;

pub const TRAITS: VoiceTraits = VoiceTraits {
    name: PROGRAM,
    ids: VoiceIds::Listed(VOICES),
    default_id: DefaultId::Fixed("slt"),
    english_only: true,
    shifts_formants: false,
};

impl Flite {
    pub const fn new() -> Self {
        Self
    }

    pub async fn voices(&self) -> Result<Vec<String>, Error> {
        let listed = output(PROGRAM, &["-lv"]).await?;
        let names = listed.split_once(':').map_or("", |(_, names)| names).split_whitespace();
        Ok(names.filter(|name| *name != TALKING_CLOCK).map(str::to_owned).collect())
    }

    /// Installed voices that are supported, the pleasant ones first.
    pub async fn list(&self) -> Result<Vec<ListedVoice>, Error> {
        let installed = self.voices().await?;
        let supported = VOICES.iter().filter(|id| installed.iter().any(|known| known == *id));
        let listed = supported.map(|id| ListedVoice {
            id: (*id).to_owned(),
            name: (*id).to_owned(),
            languages: vec!["en".to_owned()],
            about: described(id).to_owned(),
        });
        Ok(listed.collect())
    }
}

/// Sex and accent of `id`.
fn described(id: &str) -> &'static str {
    match id {
        "slt" => "female, American",
        "rms" => "male, American",
        "awb" => "male, Scottish",
        "kal" | "kal16" => "male, American, like a robot",
        _ => "",
    }
}

impl OneShot for Flite {
    fn name(&self) -> &'static str {
        PROGRAM
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
    if !VOICES.contains(&voice.voice_id.as_str()) {
        let (id, known) = (&voice.voice_id, VOICES.join(", "));
        let text = format!("flite has no voice \"{id}\" (use one of {known})");
        return Err(Error::new(Kind::InvalidRequest, text));
    }
    let text = respell(&request.text, &request.pronunciation).replace('\0', " ");
    if text.len() > MAX_TEXT {
        let text =
            format!("cannot speak \"{}\" bytes at once (speak sentence by sentence)", text.len());
        return Err(Error::new(Kind::InvalidRequest, text));
    }
    let shift = (f64::from(voice.pitch_shift) / 12.0).exp2();
    // A voice of fixed pitch is spoken slower by the shift and played faster by it.
    let (own_shift, rerate) =
        if voice.voice_id == FIXED_PITCH { (1.0, shift) } else { (shift, 1.0) };
    let stretch = rerate / f64::from(voice.speed_factor).clamp(0.1, 10.0);
    let mut arguments = vec!["-voice".to_owned(), voice.voice_id.clone()];
    for (name, value) in [("duration_stretch", stretch), ("f0_shift", own_shift)] {
        if (value - 1.0).abs() > 1e-6 {
            arguments.extend(["--setf".to_owned(), format!("{name}={value:.4}")]);
        }
    }
    // After -t even a leading dash is text.
    arguments.extend(["-t".to_owned(), text, "/dev/stdout".to_owned()]);
    Ok(Program {
        name: PROGRAM,
        arguments,
        input: String::new(),
        voice: voice.voice_id.clone(),
        lists_voices: "flite -lv",
        rerate,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures::TryStreamExt;

    use super::*;
    use crate::{domain::Voice, provider::Attempts};

    fn request(text: &str, voice_id: &str, pitch_shift: f32, speed_factor: f32) -> SpeakRequest {
        SpeakRequest {
            text: text.to_owned(),
            voice: Voice {
                provider: "flite".to_owned(),
                voice_id: voice_id.to_owned(),
                pitch_shift,
                speed_factor,
                volume: 1.0,
                formant_shift: 0.0,
                fallback: None,
            },
            foreign: None,
            pronunciation: Arc::from([]),
            style: None,
            attempts: Attempts::default(),
        }
    }

    async fn seconds(request: SpeakRequest) -> Result<f64, Error> {
        let chunks: Vec<Pcm> = Flite::new().speak(request).try_collect().await?;
        Ok(chunks.iter().map(|c| c.rate.duration_of(c.samples.len()).as_secs_f64()).sum())
    }

    #[tokio::test]
    async fn it_begins_with_what_is_said() {
        for voice in ["slt", "rms", "awb", "kal16"] {
            let said = request("Aye, so it is.", voice, 0.0, 1.0);
            let chunks: Vec<Pcm> = Flite::new().speak(said).try_collect().await.unwrap();
            let rate = chunks[0].rate;
            let mut samples = chunks.iter().flat_map(|it| &it.samples);
            let first = samples.position(|it| it.unsigned_abs() > 328).unwrap();
            assert!(rate.duration_of(first).as_millis() <= 40, "{voice}: {first}");
        }
    }

    #[tokio::test]
    async fn speed_and_pitch_are_honoured() {
        const TEXT: &str = "The road to the city is long and dark.";
        for voice in ["slt", "rms", "kal16"] {
            let plain = seconds(request(TEXT, voice, 0.0, 1.0)).await.unwrap();
            let fast = seconds(request(TEXT, voice, 0.0, 2.0)).await.unwrap();
            let high = seconds(request(TEXT, voice, 4.0, 1.0)).await.unwrap();
            assert!((0.4..0.65).contains(&(fast / plain)), "{voice} {fast} {plain}");
            assert!((0.9..1.1).contains(&(high / plain)), "{voice} {high} {plain}");
        }
        let high = program(&request(TEXT, "slt", 12.0, 1.0)).unwrap();
        assert!(high.arguments.contains(&"f0_shift=2.0000".to_owned()));
    }

    #[tokio::test]
    async fn text_is_never_an_option_or_a_command() {
        for text in ["-lv", "--help", "$(exit 3); `false` | x"] {
            assert!(seconds(request(text, "slt", 0.0, 1.0)).await.unwrap() > 0.2, "{text}");
        }
    }

    #[tokio::test]
    async fn unknown_voice_is_refused_with_the_list() {
        let error = seconds(request("hello", "slt2", 0.0, 1.0)).await.unwrap_err();
        assert_eq!(error.kind(), Kind::InvalidRequest);
        assert_eq!(
            error.to_string(),
            "flite has no voice \"slt2\" (use one of slt, rms, awb, kal16, kal)"
        );
    }

    #[tokio::test]
    async fn installed_voices_are_listed() {
        let voices = Flite::new().voices().await.unwrap();
        assert!(voices.iter().any(|voice| voice == "slt"), "{voices:?}");
        assert!(!voices.iter().any(|voice| voice == TALKING_CLOCK));
        let listed = Flite::new().list().await.unwrap();
        assert_eq!((listed[0].id.as_str(), listed[0].about.as_str()), ("slt", "female, American"));
        assert!(listed.iter().all(|voice| VOICES.contains(&voice.id.as_str())), "{listed:?}");
    }
}
