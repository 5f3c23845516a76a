//! Waits for the end of an utterance, and speakers who continue.
//!
//! The last voice of a speaker with a second of voice is at 980 to 1,040 ms.

use std::{
    ops::RangeInclusive,
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::sync::oneshot;

use super::{
    super::{Command, Options, Outcome, Recast, Role},
    stage::{Setup, Stage, THORIN},
    voices::Said,
};
use crate::{
    audio::{FRAME, Frame},
    domain::Campaign,
    engine::tests::props::{Step::*, ms},
    logic::{
        tier::Keywords,
        turn::{Detector, Patience},
    },
    provider::TurnJudge,
};

const QUESTION: &str = "Bartok what do you sell";
const BEGUN: &str = "Bartok I would like to";

fn span(from: u64, to: u64) -> RangeInclusive<Duration> {
    ms(from)..=ms(to)
}

/// Time to the answer to `said`, whose final takes 100 ms; packets stop after a second.
async fn answered(setup: Setup, said: &'static str) -> Duration {
    let mut stage = setup.open().await;
    stage.hears(&[(45, said)], said);
    stage.voice(THORIN, ms(1_000)).await;
    let heard = stage.until_heard().await;
    assert_eq!(stage.told().await[0].outcome, Outcome::Spoken);
    stage.close().await;
    heard
}

fn with(detector: Detector) -> Setup {
    let options = Options { detector, ..Options::default() };
    Setup { options, ..Setup::of(&["Bartok"]) }
}

#[tokio::test(start_paused = true)]
async fn questions_end_turns_sooner_fragments_later() {
    for (detector, said, heard) in [
        (Detector::Text, QUESTION, span(1_420, 1_520)),
        (Detector::Text, "Bartok the weather", span(1_560, 1_660)),
        (Detector::Text, BEGUN, span(2_100, 2_200)),
        (Detector::Off, QUESTION, span(1_560, 1_660)),
        (Detector::Off, BEGUN, span(1_560, 1_660)),
    ] {
        let at = answered(with(detector), said).await;
        assert!(heard.contains(&at), "{detector:?} {said}: {at:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn finished_partial_is_answered_without_wait() {
    // The partial comes at 1,040 ms, in the pause.
    for (detector, said, at_once) in [
        (Detector::Text, QUESTION, true),
        (Detector::Text, "Bartok the weather", false),
        (Detector::Off, QUESTION, false),
    ] {
        let mut stage = with(detector).open().await;
        stage.hears(&[(53, said)], said);
        stage.voice(THORIN, ms(1_000)).await;
        stage.quiet(THORIN, ms(60)).await;
        assert_eq!(stage.models[0].asked(), 0, "100 ms of silence are a pause");
        stage.quiet(THORIN, ms(100)).await;
        assert_eq!(stage.models[0].asked(), usize::from(at_once), "{detector:?} {said}");
        stage.quiet(THORIN, ms(60)).await;
        assert_eq!(stage.models[0].asked(), 1, "150 ms after it: {detector:?} {said}");
        stage.quiet(THORIN, ms(400)).await;
        assert_eq!(stage.told().await[0].outcome, Outcome::Spoken);
        assert_eq!(stage.models[0].asked(), 1, "the final agrees");
        stage.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn guess_follows_one_for_fewer_words() {
    // The first partial reads finished too; the second comes at 1,120 ms.
    let mut stage = with(Detector::Text).open().await;
    stage.models[0].then(&[Text("Swords.")]).then(&[Text("A bun.")]);
    stage.hears(&[(45, "Bartok what do you have"), (57, QUESTION)], QUESTION);
    stage.voice(THORIN, ms(1_000)).await;
    stage.quiet(THORIN, ms(120)).await;
    assert_eq!(stage.models[0].asked(), 1);
    stage.quiet(THORIN, ms(60)).await;
    assert_eq!(stage.models[0].asked(), 2, "at once, though the first guess kept the seat busy");
    stage.quiet(THORIN, ms(400)).await;
    let told = stage.told().await;
    assert_eq!((told.len(), told[0].reply.as_str()), (1, "A bun."));
    assert_eq!(stage.models[0].asked(), 2, "the final agrees");
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn partial_stable_in_the_voice_needs_less_pause() {
    // The partials come at 600 and at 1,000 ms.
    for (at, asked) in [(31, 1), (51, 0)] {
        let stage = with(Detector::Text).open().await;
        stage.hears(&[(at, QUESTION)], QUESTION);
        stage.voice(THORIN, ms(1_000)).await;
        stage.quiet(THORIN, ms(80)).await;
        assert_eq!(stage.models[0].asked(), asked, "partial with frame {at}");
        stage.quiet(THORIN, ms(600)).await;
        assert_eq!(stage.models[0].asked(), 1, "partial with frame {at}");
        stage.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn speaker_goes_on_after_a_finished_partial() {
    let mut stage = with(Detector::Text).open().await;
    stage.models[0].then(&[Text("Swords.")]).then(&[Text("A bun.")]);
    stage.hears(&[(53, QUESTION)], WHOLE);
    stage.voice(THORIN, ms(1_000)).await;
    stage.quiet(THORIN, ms(200)).await;
    assert_eq!(stage.models[0].asked(), 1);
    stage.voice(THORIN, ms(800)).await;
    stage.quiet(THORIN, ms(700)).await;
    let told = stage.told().await;
    assert_eq!((told.len(), told[0].reply.as_str()), (1, "A bun."), "the guess is thrown away");
    assert_eq!(stage.models[0].asked(), 2);
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn speech_resumed_after_trailing_off_is_one_turn() {
    let mut stage = with(Detector::Text).open().await;
    let text = Some(Ok("Bartok I would like to buy a sword"));
    let partials = vec![(45, BEGUN), (130, "Bartok I would like to buy a sword")];
    stage.hears_so(Said { partials, text, takes: ms(50) });
    stage.voice(THORIN, ms(1_000)).await;
    stage.quiet(THORIN, ms(1_000)).await;
    stage.voice(THORIN, ms(800)).await;
    stage.quiet(THORIN, ms(700)).await;
    stage.settle().await;
    let lines = stage.lines();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert_eq!(lines[0].understood, "Bartok I would like to buy a sword");
    stage.close().await;
}

/// Requests to Bartok's model, after Thorin was quiet for `pause` and continued.
async fn goes_on(stage: &mut Stage, pause: u64) -> Vec<String> {
    stage.hears_so(Said { partials: vec![(45, QUESTION)], text: Some(Ok(QUESTION)), takes: ms(0) });
    stage.hears(&[], "for a single silver coin");
    stage.voice(THORIN, ms(1_000)).await;
    stage.quiet(THORIN, ms(pause)).await;
    stage.voice(THORIN, ms(1_000)).await;
    stage.quiet(THORIN, ms(900)).await;
    stage.settle().await;
    stage.lines().into_iter().map(|line| line.understood).collect()
}

const WHOLE: &str = "Bartok what do you sell for a single silver coin";

#[tokio::test(start_paused = true)]
async fn answer_that_has_only_begun_is_taken_back() {
    let mut stage = with(Detector::Text).open().await;
    stage.models[0].then(&[Text("Swords.")]).then(&[Text("A bun.")]);
    let asked = goes_on(&mut stage, 440).await;
    assert_eq!(asked, [WHOLE]);
    let left = stage.left();
    let first = left.iter().filter(|frame| frame.at < ms(1_800)).count();
    assert!((1..13).contains(&first), "{first} frames of the first answer left");
    assert!(!stage.models[0].read(1).contains("Swords"), "nobody understood it");
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn answer_that_was_heard_is_not_taken_back() {
    let mut stage = with(Detector::Text).open().await;
    stage.models[0].then(&[Text("Swords.")]).then(&[Text("A bun.")]);
    let asked = goes_on(&mut stage, 700).await;
    assert_eq!(asked.len(), 2, "{asked:?}");
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn slow_answers_are_withdrawn_if_speech_resumes() {
    let mut stage = with(Detector::Text).open().await;
    stage.models[0].then(&[Wait(4_000), Text("Swords.")]).then(&[Text("A bun.")]);
    assert_eq!(goes_on(&mut stage, 1_500).await, [WHOLE]);
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn late_stop_word_is_not_joined_to_the_question() {
    let mut stage = with(Detector::Text).open().await;
    stage.models[0].then(&[Wait(4_000), Text("Swords.")]);
    stage.hears_so(Said { partials: vec![(45, QUESTION)], text: Some(Ok(QUESTION)), takes: ms(0) });
    stage.hears(&[], "stop");
    stage.voice(THORIN, ms(1_000)).await;
    stage.quiet(THORIN, ms(1_500)).await;
    stage.voice(THORIN, ms(400)).await;
    stage.quiet(THORIN, ms(900)).await;
    let told = stage.told().await;
    let outcomes: Vec<_> = told.iter().map(|line| line.outcome).collect();
    assert_eq!(outcomes, [Outcome::Stopped], "{told:?}");
    assert_eq!(stage.models[0].asked(), 1);
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn new_detector_applies_from_the_next_utterance() {
    let stage = with(Detector::Off).open().await;
    let judge = Judge::saying(Some(0.9));
    let recast = Recast {
        options: Options { detector: Detector::Model, ..Options::default() },
        judge: Some(Arc::clone(&judge) as _),
        campaign: Arc::new(Campaign::default()),
        keywords: Keywords::default(),
        rules: Arc::from([]),
        cast: vec![Role { npc: "Bartok".to_owned(), seat: None, outside: Default::default() }],
    };
    stage.order(Command::Recast(Box::new(recast))).await;
    stage.hears(&[], BEGUN);
    stage.voice(THORIN, ms(1_000)).await;
    let heard = stage.until_heard().await;
    assert!(span(1_420, 1_520).contains(&heard), "{heard:?}");
    stage.settle().await;
    assert_eq!(judge.heard.lock().unwrap().len(), 1);
    stage.close().await;
}

/// A sound model with a fixed judgement.
struct Judge {
    says: Option<f32>,
    /// Frames of each request.
    heard: Mutex<Vec<usize>>,
    /// Stored, so that a pending judgement stays pending.
    waiting: Mutex<Vec<oneshot::Sender<f32>>>,
}

impl Judge {
    fn saying(says: Option<f32>) -> Arc<Self> {
        Arc::new(Self { says, heard: Mutex::default(), waiting: Mutex::default() })
    }
}

impl TurnJudge for Judge {
    fn name(&self) -> &str {
        "stand-in"
    }

    fn judge(&self, sound: Vec<Frame>) -> Option<oneshot::Receiver<f32>> {
        self.heard.lock().unwrap().push(sound.len());
        let silent = sound.iter().rev().take_while(|it| it.samples().iter().all(|it| *it == 0));
        assert!((10..=13).contains(&silent.count()), "200 ms of silence belong to it");
        let (answer, judged) = oneshot::channel();
        match self.says {
            Some(says) => drop(answer.send(says)),
            None => self.waiting.lock().unwrap().push(answer),
        }
        Some(judged)
    }
}

#[tokio::test(start_paused = true)]
async fn sound_model_and_words_set_the_wait_together() {
    use Detector::{Both, Model, Text};
    let (sooner, usual, later) = (span(1_420, 1_520), span(1_560, 1_660), span(2_100, 2_200));
    for (detector, says, said, heard) in [
        (Model, Some(0.9), BEGUN, &sooner),
        (Model, Some(0.3), BEGUN, &usual),
        (Model, Some(0.05), QUESTION, &later),
        (Model, None, QUESTION, &usual),
        (Both, Some(0.9), "Bartok the weather", &sooner),
        (Both, Some(0.9), BEGUN, &usual),
        (Both, Some(0.05), QUESTION, &usual),
        (Both, Some(0.3), BEGUN, &later),
        (Both, Some(0.3), QUESTION, &sooner),
        (Text, Some(0.05), QUESTION, &sooner),
    ] {
        let judge = Judge::saying(says);
        let setup = Setup { judge: Some(Arc::clone(&judge) as _), ..with(detector) };
        let at = answered(setup, said).await;
        assert!(heard.contains(&at), "{detector:?} {says:?} {said}: {at:?}");
        let heard = judge.heard.lock().unwrap().clone();
        assert_eq!(heard.len(), usize::from(detector != Text), "once a pause");
        assert!(heard.iter().all(|frames| (50..=75).contains(frames)), "{heard:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn resumed_speech_voids_the_pause_judgement() {
    let judge = Judge::saying(Some(0.9));
    let options =
        Options { detector: Detector::Model, patience: Patience::Patient, ..Options::default() };
    let setup = Setup { judge: Some(Arc::clone(&judge) as _), options, ..Setup::of(&["Bartok"]) };
    let mut stage = setup.open().await;
    stage.hears(&[], "Bartok hello");
    stage.voice(THORIN, ms(1_000)).await;
    stage.quiet(THORIN, ms(260)).await;
    stage.voice(THORIN, ms(400)).await;
    stage.quiet(THORIN, ms(900)).await;
    stage.settle().await;
    assert_eq!(stage.lines().len(), 1);
    let heard = judge.heard.lock().unwrap().clone();
    assert_eq!(heard.len(), 2, "{heard:?}");
    assert!(heard[1] > heard[0] + 20, "the second is judged with what came before: {heard:?}");
    assert!(FRAME * 400 == Duration::from_secs(8));
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn missing_sound_model_falls_back_with_a_notice() {
    let mut stage = with(Detector::Both).open().await;
    stage.hears(&[(45, QUESTION)], QUESTION);
    stage.voice(THORIN, ms(1_000)).await;
    let heard = stage.until_heard().await;
    assert!(span(1_420, 1_520).contains(&heard), "{heard:?}");
    stage.settle().await;
    let told = format!("{:?}", stage.events());
    assert!(told.contains("glyphoxa models get smart-turn"), "{told}");
    stage.close().await;
}
