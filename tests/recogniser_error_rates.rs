//! The recognisers of this machine, told of the shipped campaign, against speech they have not been
//! tuned to.

#![expect(clippy::expect_used, reason = "a failed expectation is a failed test")]
#![expect(clippy::print_stdout, reason = "the error rates are what a person wants to see")]

use std::{
    collections::HashMap,
    process::{Command, Stdio},
    sync::Arc,
    time::Duration,
};

use futures::StreamExt;
use glyphoxa::measure::{
    Attempts, Local, LocalOptions, Registry, SpeechEvent, SpeechToText, TOOL_IDENTITIES,
    Vocabulary, expected_at_first, load_config, vocabulary,
};
use tokio::{sync::mpsc, task::JoinSet, time::timeout};

use self::{
    hearing::{frames, hear},
    mistakes::mistakes,
    said::said,
    weights::weights,
};

#[path = "support/hearing.rs"]
mod hearing;
#[path = "support/mistakes.rs"]
mod mistakes;
#[path = "support/said.rs"]
mod said;
#[path = "support/skipped.rs"]
mod skipped;
#[path = "support/weights.rs"]
mod weights;
#[path = "../crates/whisper-thin/examples/error_rate/words.rs"]
#[expect(dead_code, reason = "the example looks for more in what is heard")]
mod words;

const VOICES: [&str; 3] = ["slt", "rms", "awb"];
/// Sentences that nothing was tuned to: three lots, written one after the other.
macro_rules! fresh {
    ($kind:literal) => {
        concat!(
            include_str!(concat!("data/hearing_fresh_", $kind, ".txt")),
            include_str!(concat!("data/hearing_new_", $kind, ".txt")),
            include_str!(concat!("data/hearing_last_", $kind, ".txt")),
        )
    };
}
/// Sets of sentences, by name.
const SETS: [(&str, &str); 4] = [
    ("table talk", include_str!("data/hearing_table_talk.txt")),
    ("off topic", include_str!("data/hearing_off_topic.txt")),
    ("fresh table talk", fresh!("table_talk")),
    ("fresh off topic", fresh!("off_topic")),
];
/// What a recogniser may do wrong.
struct Bounds {
    /// Mistakes in a hundred words of each of [`SETS`], as a mean of the voices; the sets behind these
    /// are left out.
    mistakes: &'static [f64],
    /// The same of every fifth sentence alone: few enough that a hard one weighs.
    mistakes_in_a_fifth: &'static [f64],
    /// Of a hundred names, those that are heard.
    names: usize,
}
/// Tuned to table talk and the campaign.
const SPHINX: Bounds = Bounds {
    mistakes: &[10.0, 12.0, 10.0, 12.0],
    mistakes_in_a_fifth: &[10.0, 12.0, 10.0, 12.0],
    names: 95,
};
/// Tuned to nothing here, and to people more than to flite. All sets together take it minutes.
const WHISPER: Bounds =
    Bounds { mistakes: &[7.5, 5.5], mistakes_in_a_fifth: &[7.5, 10.5], names: 90 };
const NAMES: [&str; 5] = ["bartok", "greymantle", "mira", "quickfingers", "hale"];
/// What a caller gives before and after the voiced part.
const PRE_ROLL: usize = 200 * 16;
const PATIENCE: usize = 300 * 16;
/// No wait in these tests is longer than this.
const BOUND: Duration = Duration::from_secs(120);

/// Mistakes of one voice in one set.
#[derive(Default)]
struct Score {
    words: usize,
    mistakes: usize,
    names: usize,
    names_heard: usize,
    worst: Vec<String>,
}

/// What the program expects to hear with the configuration it comes with.
fn shipped() -> Vocabulary {
    let config =
        load_config(None, &|_| None, TOOL_IDENTITIES).expect("the shipped files are right");
    vocabulary(&config)
}

fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.starts_with('#') && !line.is_empty())
}

fn speech(voice: &str, text: &str) -> Vec<i16> {
    let output = Command::new("flite")
        .args(["-voice", voice, "-t", text, "/dev/stdout"])
        .stdin(Stdio::null())
        .output()
        .expect("flite is installed by ./dev setup");
    let samples = output.stdout.get(44..).expect("a WAV header").chunks_exact(2);
    let spoken = samples.map(|pair| i16::from_le_bytes([pair[0], pair[1]]));
    let silence = |length| std::iter::repeat_n(0, length);
    silence(PRE_ROLL).chain(spoken).chain(silence(PATIENCE)).collect()
}

impl Score {
    fn add(&mut self, sentence: &str, heard: &str) {
        let (words, got) = (said(sentence), said(heard));
        let mistakes = mistakes(&words, &got);
        let has = |words: &[String], name: &str| words.iter().any(|it| it == name);
        self.words += words.len();
        self.mistakes += mistakes;
        for name in NAMES.into_iter().map(|name| said(name).concat()) {
            if has(&words, &name) {
                self.names += 1;
                self.names_heard += usize::from(has(&got, &name));
            }
        }
        if mistakes > 0 {
            self.worst.push(format!("{mistakes} {sentence} | {heard}"));
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a few thousand words")]
    fn error_rate(&self) -> f64 {
        self.mistakes as f64 * 100.0 / self.words.max(1) as f64
    }
}

/// Every so many sentences one is heard, so that the test ends in time; with `GLYPHOXA_TEST_WHOLE` all.
fn every() -> usize {
    if std::env::var_os("GLYPHOXA_TEST_WHOLE").is_some() { 1 } else { 5 }
}

/// Each voice says two thirds of the sentences that are heard.
async fn scores(stt: &Arc<dyn SpeechToText>, text: &'static str) -> HashMap<&'static str, Score> {
    let mut scores: HashMap<&str, Score> = HashMap::new();
    let mut tasks = JoinSet::new();
    for (number, sentence) in sentences(text).step_by(every()).enumerate() {
        for (turn, voice) in VOICES.into_iter().enumerate() {
            if (number + turn) % 3 == 0 {
                continue;
            }
            let stt = Arc::clone(stt);
            tasks.spawn(async move {
                let samples = tokio::task::spawn_blocking(move || speech(voice, sentence));
                let samples = samples.await.expect("flite speaks");
                (voice, sentence, hear(&*stt, &samples).await)
            });
            // Two decoders have two utterances at once.
            if tasks.len() > 1 {
                let (voice, said, heard) = tasks.join_next().await.expect("one").expect("whole");
                scores.entry(voice).or_default().add(said, &heard);
            }
        }
    }
    while let Some(done) = tasks.join_next().await {
        let (voice, said, heard) = done.expect("whole");
        scores.entry(voice).or_default().add(said, &heard);
    }
    scores
}

fn report(set: &str, scores: &HashMap<&str, Score>) -> f64 {
    let mut sum = 0.0;
    for voice in VOICES {
        let score = &scores[voice];
        println!("{set} {voice}: {:.1} %\n  {}", score.error_rate(), score.worst.join("\n  "));
        sum += score.error_rate();
    }
    let average = sum / 3.0;
    println!("{set}: {average:.2} %");
    average
}

/// At most so many mistakes in each of [`SETS`], and nearly no name wrong.
async fn assert_understood(stt: Arc<dyn SpeechToText>, bounds: Bounds) {
    let (mut names, mut names_heard) = (0, 0);
    let mut too_many = Vec::new();
    let most = if every() == 1 { bounds.mistakes } else { bounds.mistakes_in_a_fifth };
    for ((set, text), most) in SETS.into_iter().zip(most) {
        let scores = scores(&stt, text).await;
        let rate = report(set, &scores);
        names += scores.values().map(|score| score.names).sum::<usize>();
        names_heard += scores.values().map(|score| score.names_heard).sum::<usize>();
        if rate > *most {
            too_many.push(format!("{set} {rate:.1} %"));
        }
    }
    println!("names {names_heard} of {names}");
    assert!(too_many.is_empty(), "{too_many:?}");
    assert!(names_heard * 100 >= names * bounds.names, "names {names_heard} of {names}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn players_are_understood_by_pocketsphinx() {
    let local = Local::new(LocalOptions::default(), shipped());
    local.ready().await.expect("the recogniser's packages are installed by ./dev setup");
    assert_understood(Arc::new(local), SPHINX).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn players_are_understood_by_whisper() {
    let Some(weights) = weights() else { return };
    let weights = weights.display().to_string();
    let environment = |name: &str| (name == "GLYPHOXA_MODELS").then(|| weights.clone());
    let config =
        load_config(None, &environment, TOOL_IDENTITIES).expect("the shipped files are right");
    let whisper = Registry::default()
        .recogniser(&config.services, || vocabulary(&config))
        .expect("it needs no address");
    // As a table does that has just been opened.
    whisper.expect(&|| expected_at_first(&config.npcs, &config.campaign));
    whisper.ready().await.expect("the model files are whole");
    assert_understood(whisper, WHISPER).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dice_are_heard_word_for_word() {
    let local = Local::new(LocalOptions::default(), shipped());
    local.ready().await.expect("the recogniser's packages are installed by ./dev setup");
    for said in [
        "roll two d six plus three",
        "a d twenty with advantage",
        "eight d six",
        "roll four d four minus two",
    ] {
        for voice in ["rms", "awb"] {
            assert_eq!(hear(&local, &speech(voice, said)).await, said, "{voice}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn partials_come_while_a_person_speaks_and_a_dropped_stream_frees_the_decoder() {
    let options = LocalOptions { decoders: 1, ..LocalOptions::default() };
    let local = Local::new(options, shipped());
    local.ready().await.expect("the recogniser's packages are installed by ./dev setup");
    let samples = speech("rms", "bartok roll two d six plus three");
    let (first, _) = samples.split_at(samples.len() / 2);
    let (audio, queue) = mpsc::channel(256);
    let mut events = local.listen(queue, Attempts::default());
    for frame in frames(first) {
        audio.send(frame).await.expect("somebody listens");
    }
    let partial = timeout(BOUND, events.next()).await.expect("a partial in time");
    assert!(matches!(partial, Some(Ok(SpeechEvent::Partial { .. }))), "{partial:?}");
    drop(events);
    // The only decoder is free again although nobody closed the audio.
    let text = timeout(BOUND, hear(&local, &samples)).await.expect("heard in time");
    assert_eq!(text, "bartok roll two d six plus three");
    drop(audio);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pause_brings_what_would_be_final_and_changes_nothing_of_what_follows() {
    let options = LocalOptions { decoders: 1, ..LocalOptions::default() };
    let local = Local::new(options, shipped());
    local.ready().await.expect("the recogniser's packages are installed by ./dev setup");
    // The first pass hears "bell".
    let beginning = speech("slt", "roll two d six plus three");
    let rest = speech("slt", "how much gold do you want for that horse");
    let first = hear(&local, &beginning).await;
    let whole = hear(&local, &[beginning.as_slice(), &rest].concat()).await;
    let (audio, queue) = mpsc::channel(512);
    let mut events = local.listen(queue, Attempts::default());
    for frame in frames(&beginning) {
        audio.send(frame).await.expect("somebody listens");
    }
    let paused = async {
        while let Some(event) = events.next().await {
            if event.expect("it hears") == (SpeechEvent::Pause { text: first.clone() }) {
                return;
            }
        }
    };
    timeout(BOUND, paused).await.expect("the second pass within the pause");
    for frame in frames(&rest) {
        audio.send(frame).await.expect("somebody listens");
    }
    drop(audio);
    let events: Vec<_> = timeout(BOUND, events.collect()).await.expect("heard in time");
    let last = events.into_iter().next_back().expect("a final").expect("it hears");
    assert_eq!(
        (first.as_str(), last),
        ("roll two d six plus three", SpeechEvent::Final { text: whole })
    );
}

#[tokio::test]
async fn a_missing_model_is_an_error_with_its_way_out() {
    let options = LocalOptions { models: "/nowhere".into(), ..LocalOptions::default() };
    let error = Local::new(options, shipped()).ready().await.expect_err("nothing is there");
    let text = error.to_string();
    assert!(text.contains("/nowhere") && text.contains("pocketsphinx-en-us"), "{text}");
}
