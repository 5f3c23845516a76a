//! Intelligibility of voices: fifty sentences by each, and the words that Whisper gets wrong.
//!
//! The Piper voice joe as it is and as Bartok, Greymantle and Hale have it, and two voices of Kokoro.
//! `GLYPHOXA_MODELS` names the folder of models; voices that are not in it are skipped, and said so.
//! One JSON line for each voice, what was misheard on stderr. `--quick` has each say one.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::print_stderr, reason = "what is misheard is for people to read")]
#![expect(clippy::expect_used, reason = "a bench without its files is none")]
#![expect(clippy::cast_precision_loss, reason = "shares of a few hundred words")]

use std::{env, path::PathBuf, sync::Arc};

use futures::StreamExt;
use glyphoxa::measure::{
    Attempts, Cores, Kokoro, KokoroOptions, OneShot, Piper, PiperOptions, Registry, Resampler,
    SampleRate, SpeakRequest, TOOL_IDENTITIES, Voice, load_config,
};

use self::{cast::shipped, hearing::hear, mistakes::mistakes, skipped::skipped, words::words};

#[path = "../tests/support/cast.rs"]
#[expect(dead_code, reason = "others have the cast speak through the program")]
mod cast;
#[path = "../tests/support/hearing.rs"]
mod hearing;
#[path = "../tests/support/mistakes.rs"]
mod mistakes;
#[path = "support/skipped.rs"]
mod skipped;
#[path = "../crates/whisper-thin/examples/error_rate/words.rs"]
#[expect(dead_code, reason = "the example looks for more in what is heard")]
mod words;

/// Without names, which are no question of the voice. The first fifty are said.
const SENTENCES: &str = include_str!("../tests/data/hearing_new_off_topic.txt");
/// Samples of silence around a sentence: a third of a second.
const AROUND: usize = 5_333;
/// Of Kokoro.
const KOKORO: [&str; 2] = ["bm_george", "af_heart"];

/// A person or an NPC who speaks.
struct Speaker {
    /// Name in its line.
    name: String,
    /// The synthesiser.
    service: Arc<dyn OneShot>,
    /// And how.
    voice: Voice,
}

#[tokio::main]
async fn main() {
    let Some(models) = env::var_os("GLYPHOXA_MODELS").map(PathBuf::from) else {
        return skipped("understood", "GLYPHOXA_MODELS names no folder of models");
    };
    let count = if env::args().any(|argument| argument == "--quick") { 1 } else { 50 };
    let shown = models.display().to_string();
    let environment = |name: &str| (name == "GLYPHOXA_MODELS").then(|| shown.clone());
    let config = load_config(None, &environment, TOOL_IDENTITIES).expect("the shipped files");
    if let Some(options) = config.services.recognisers.only_here()
        && let Err(why) = options.found()
    {
        return skipped("understood", &why.to_string());
    }
    let services = Registry::default();
    let recognisers = services.recognisers(&config.services).expect("no address");
    recognisers.ready().await.expect("the model files can be read");
    let whisper = recognisers.iter().next().expect("one is configured").service();
    let info = config.services.recognisers.entries[0].entry.info();
    let mut speakers = Vec::new();
    if models.join("piper-joe").is_dir() {
        let piper = Piper::new(&PiperOptions { models: vec![models.clone()] }, Cores::default());
        speakers.extend(of_piper(&(Arc::new(piper) as Arc<dyn OneShot>)));
    } else {
        skipped("the voice of Piper", "GLYPHOXA_MODELS has no piper-joe");
    }
    if models.join("kokoro").is_dir() {
        let options = KokoroOptions { models: vec![models], slowest: 1_000.0 };
        let kokoro: Arc<dyn OneShot> = Arc::new(Kokoro::new(&options, Cores::default()));
        speakers.extend(KOKORO.map(|id| {
            let (service, voice) = (Arc::clone(&kokoro), Voice::as_is("kokoro", id));
            Speaker { name: format!("kokoro {id}"), service, voice }
        }));
    } else {
        skipped("voices of Kokoro", "GLYPHOXA_MODELS has no kokoro");
    }
    let lines = SENTENCES.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let sentences: Vec<&str> = lines.take(count).collect();
    for speaker in &speakers {
        let (mut all, mut wrong, mut whole) = (0, 0, 0);
        for said in &sentences {
            let heard = hear(&**whisper, &speaker.says(said).await).await;
            let (said_words, heard_words) = (words(said), words(&heard));
            let missed = mistakes(&said_words, &heard_words);
            (all, wrong) = (all + said_words.len(), wrong + missed);
            whole += usize::from(missed == 0);
            if missed > 0 {
                eprintln!("{}: {missed} {said} | {heard}", speaker.name);
            }
        }
        println!(
            "{{\"bench\": \"understood\", \"recogniser\": \"{info}\", \"voice\": \"{}\", \"sentences\": {}, \"words\": {all}, \"wrong_percent\": {:.1}, \"without_a_mistake\": {whole}}}",
            speaker.name,
            sentences.len(),
            100.0 * wrong as f32 / all.max(1) as f32,
        );
    }
}

/// Joe, and who speaks with his voice.
fn of_piper(piper: &Arc<dyn OneShot>) -> Vec<Speaker> {
    let speaker =
        |name: &str, voice| Speaker { name: name.to_owned(), service: Arc::clone(piper), voice };
    let mut all = vec![speaker("piper joe", Voice::as_is("piper", "joe"))];
    for npc in shipped().iter().filter(|npc| npc.value("provider") == Some("piper")) {
        let number = |key: &str| npc.value(key).and_then(|it| it.parse::<f32>().ok());
        let as_is = Voice::as_is("piper", npc.value("voice_id").expect("a voice"));
        let voice = Voice {
            pitch_shift: number("pitch_shift").unwrap_or(as_is.pitch_shift),
            formant_shift: number("formant_shift").unwrap_or(as_is.formant_shift),
            speed_factor: number("speed_factor").unwrap_or(as_is.speed_factor),
            ..as_is
        };
        all.push(speaker(npc.name, voice));
    }
    all
}

impl Speaker {
    /// 16 kHz, with a little silence around it.
    async fn says(&self, text: &str) -> Vec<i16> {
        let mut chunks = self.service.speak(SpeakRequest {
            text: text.to_owned(),
            voice: self.voice.clone(),
            foreign: None,
            pronunciation: Arc::from([]),
            style: None,
            attempts: Attempts::default(),
        });
        let (mut samples, mut rate) = (Vec::new(), SampleRate::HZ_16000);
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.expect("it speaks");
            rate = chunk.rate;
            samples.extend(chunk.samples);
        }
        let mut sound = Vec::new();
        let mut resampler = Resampler::new(rate, SampleRate::HZ_16000).expect("a rate of voices");
        resampler.push(&samples, &mut sound);
        resampler.finish(&mut sound);
        let silence = vec![0; AROUND];
        [&silence[..], &sound, &silence].concat()
    }
}
