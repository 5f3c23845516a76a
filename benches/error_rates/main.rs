//! Word errors of this machine's recogniser, Whisper, always with the same sentences,
//! voices and rooms; names and dice as the table understands them.
//!
//! Prints one JSON line for each voice, and what was misheard on stderr. `GLYPHOXA_MODELS` names the
//! folder of model files, without which it is skipped, `GLYPHOXA_PEOPLE` folders of WAV files with what
//! is said in them beside, as `.txt`. The arguments choose what is measured, see [`Wanted`].

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::print_stderr, reason = "what is misheard is for people to read")]
#![expect(clippy::expect_used, reason = "a bench without its programs is none")]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "samples, and shares of a few thousand words"
)]

use std::{env, path::PathBuf, sync::Arc};

use futures::{StreamExt, stream};
use glyphoxa::measure::{
    Chain, Cores, Glossary, Kokoro, KokoroOptions, OneShot, Piper, PiperOptions, RecogniserEntry,
    Registry, SpeechToText, TOOL_IDENTITIES, expected_at_first, load_config,
};

use self::{
    hearing::hear,
    people::{Recording, folders, recordings},
    process::cpu,
    score::Score,
    sets::{ENGLISH, GERMAN, Sentence, Set, WORSE},
    skipped::skipped,
    sounds::{Condition, Voice},
    wanted::Wanted,
};

#[path = "../support/figures.rs"]
#[expect(dead_code, reason = "other benches look at more of them")]
mod figures;
#[path = "../../tests/support/hearing.rs"]
mod hearing;
#[path = "../../tests/support/mistakes.rs"]
mod mistakes;
mod people;
#[path = "../support/process.rs"]
#[expect(dead_code, reason = "other benches look at memory, too")]
mod process;
#[path = "../../tests/support/said.rs"]
mod said;
mod score;
mod sets;
#[path = "../support/skipped.rs"]
mod skipped;
mod sounds;
mod wanted;
#[path = "../../crates/whisper-thin/examples/error_rate/words.rs"]
#[expect(dead_code, reason = "the example looks for more in what is heard")]
mod words;

/// Conditions that degrade speech.
const BAD: [Condition; 3] = [Condition::Noise(20.0), Condition::Noise(10.0), Condition::Far];

/// A recogniser, with its name.
struct Recogniser {
    /// Name in the figures.
    name: String,
    /// Itself.
    hears: Arc<dyn SpeechToText>,
}

/// Parts that all runs need.
struct Bench {
    /// Names of the shipped campaign.
    names: Glossary,
    /// The wanted measurements.
    wanted: Wanted,
    /// Voices that speak English.
    voices: Vec<Voice>,
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.expect("a runtime").block_on(run());
}

/// Measures one recogniser after the other.
async fn run() {
    let models = env::var_os("GLYPHOXA_MODELS").map(PathBuf::from);
    let environment = |name: &str| {
        let models = models.as_ref().filter(|_| name == "GLYPHOXA_MODELS");
        models.map(|it| it.display().to_string())
    };
    let mut config = load_config(None, &environment, TOOL_IDENTITIES).expect("the shipped files");
    let known = expected_at_first(&config.npcs, &config.campaign);
    let names = Glossary::new(known.iter().map(String::as_str), "en");
    let voices = voices(models.as_ref());
    let bench = Bench { names, wanted: Wanted::of_arguments(), voices };

    let services = Registry::default();
    let entry = config.services.recognisers.entries[0].entry.clone();
    let name = entry.info().to_string();
    if bench.wanted.recogniser(&name) && hears("in English", &entry) {
        let hears = first(&services.recognisers(&config.services).expect("no address"));
        // As a table does that has just been opened.
        hears.expect(&|| known.clone());
        bench.english(&Recogniser { name, hears }).await;
    }
    if let RecogniserEntry::Local(options) = &mut config.services.recognisers.entries[0].entry {
        options.language = "de".to_owned();
    }
    let entry = config.services.recognisers.entries[0].entry.clone();
    let name = entry.info().to_string();
    if bench.wanted.recogniser(&name) && hears("in German", &entry) {
        let hears = first(&services.recognisers(&config.services).expect("no address"));
        let recogniser = Recogniser { name, hears };
        bench.set(&recogniser, &GERMAN, &[Voice::Espeak("de")], Condition::Clean).await;
    }
}

fn first(recognisers: &Chain<dyn SpeechToText>) -> Arc<dyn SpeechToText> {
    Arc::clone(recognisers.iter().next().expect("one is configured").service())
}

/// True if the recogniser has its model files; reports what is skipped without them.
fn hears(what: &str, recogniser: &RecogniserEntry) -> bool {
    let RecogniserEntry::Local(options) = recogniser else { return true };
    let found = options.found();
    if let Err(why) = &found {
        skipped(&format!("error_rates {what}"), &why.to_string());
    }
    found.is_ok()
}

/// Voices that speak English on this machine.
fn voices(models: Option<&PathBuf>) -> Vec<Voice> {
    let mut voices = ["slt", "rms", "awb", "kal16"].map(Voice::Flite).to_vec();
    let has = |name: &str| models.filter(|it| it.join(name).is_dir()).cloned();
    if let Some(models) = has("piper-joe") {
        let piper = Piper::new(&PiperOptions { models: vec![models] }, Cores::default());
        let piper: Arc<dyn OneShot> = Arc::new(piper);
        voices.push(Voice::Neural(piper, ["piper", "joe"]));
    }
    if let Some(models) = has("kokoro") {
        let options = KokoroOptions { models: vec![models], slowest: f32::MAX };
        let kokoro: Arc<dyn OneShot> = Arc::new(Kokoro::new(&options, Cores::default()));
        voices.push(Voice::Neural(Arc::clone(&kokoro), ["kokoro", "af_heart"]));
        voices.push(Voice::Neural(kokoro, ["kokoro", "bm_george"]));
    }
    voices
}

impl Bench {
    /// Everything English.
    async fn english(&self, by: &Recogniser) {
        by.hears.ready().await.expect("the model files can be read");
        for set in &ENGLISH {
            self.set(by, set, &self.voices, Condition::Clean).await;
        }
        for condition in BAD {
            self.set(by, &WORSE, &self.voices, condition).await;
        }
        for folder in folders() {
            let name = folder.file_name().map_or_else(String::new, |it| it.display().to_string());
            let recordings = recordings(&folder);
            for condition in [Condition::Clean].into_iter().chain(BAD) {
                self.people(by, &name, &recordings, condition).await;
            }
        }
    }

    /// Lets every voice say its half of `set`.
    async fn set(&self, by: &Recogniser, set: &Set, voices: &[Voice], condition: Condition) {
        if !self.wanted.set(set.name) || !self.wanted.sound(&condition.name()) {
            return;
        }
        let mut all = Score::default();
        for (turn, voice) in voices.iter().enumerate() {
            if !self.wanted.voice(&voice.name()) {
                continue;
            }
            let own = |(number, _): &(usize, Sentence)| {
                voices.len() == 1 || (number + turn).is_multiple_of(2)
            };
            let sentences = set.sentences().enumerate().filter(own).map(|(_, said)| said);
            let mut spoken = Vec::new();
            for sentence in sentences.step_by(self.wanted.every).take(self.wanted.most) {
                let sound = voice.say(sentence.said, self.wanted.kept.as_deref()).await;
                spoken.push((sentence, vec![condition.of(&sound)]));
            }
            let what = format!("\"set\":\"{}\",\"voice\":\"{}\"", set.name, voice.name());
            all = all.and(&self.score(by, &what, condition, spoken).await);
        }
        let what = format!("\"set\":\"{}\",\"voice\":\"all\"", set.name);
        print(by, &what, condition, &all);
    }

    /// Hears recordings of people.
    async fn people(&self, by: &Recogniser, name: &str, all: &[Recording], condition: Condition) {
        if !self.wanted.set("people") || !self.wanted.sound(&condition.name()) {
            return;
        }
        let spoken = all.iter().step_by(self.wanted.every).map(|it| {
            let said: &'static str = it.said.clone().leak();
            (Sentence { said, dice: None }, it.pieces(condition))
        });
        let what = format!("\"set\":\"people\",\"voice\":\"{name}\"");
        self.score(by, &what, condition, spoken.collect()).await;
    }

    /// Hears what was `spoken`, each in pieces, and prints what came of it.
    async fn score(
        &self,
        by: &Recogniser,
        what: &str,
        condition: Condition,
        spoken: Vec<(Sentence, Vec<Vec<i16>>)>,
    ) -> Score {
        eprintln!("{} {what} {}", by.name, condition.name());
        let (began, count) = (cpu(), spoken.len());
        let heard = stream::iter(spoken).map(|(sentence, pieces)| async move {
            let mut texts = Vec::new();
            for piece in pieces {
                texts.push(hear(&*by.hears, &piece).await);
            }
            (sentence, texts.join(" "))
        });
        let heard: Vec<_> = heard.buffered(2).collect().await;
        let mut score = Score::default();
        score.took(cpu().saturating_sub(began), count);
        heard.iter().for_each(|(sentence, heard)| score.add(*sentence, heard, &self.names));
        print(by, what, condition, &score);
        score
    }
}

/// One line of figures.
fn print(by: &Recogniser, what: &str, condition: Condition, score: &Score) {
    println!(
        "{{\"bench\":\"error_rates\",\"recogniser\":\"{}\",{what},\"sound\":\"{}\",{}}}",
        by.name,
        condition.name(),
        score.figures()
    );
}
