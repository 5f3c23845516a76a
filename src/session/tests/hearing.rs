//! From voice to utterances, and guesses.
//!
//! The detector recognises a voice at its third frame, and the stream includes earlier frames:
//! frame 30 of a stream is at 600 ms if nothing was sent before the voice.

use std::{collections::BTreeMap, sync::atomic::Ordering, time::Duration};

use tokio::time::sleep;

use super::{
    super::{LiveEvent, Options, Outcome, Pace, TurnStage, VoiceInput},
    stage::{ELARA, Setup, Stage, THORIN},
    voices::{Said, babble},
};
use crate::{
    engine::tests::props::{Step::*, count, ms},
    logic::budget::{BudgetOptions, Price},
    logic::turn::Patience,
    provider::{Kind, SttAbilities},
};

const ROLL: &str = r#"{"expression":"2d6"}"#;

/// Leaves room between the end of one segment and the one that continues it.
async fn snappy(npcs: &[&str]) -> Stage {
    let options = Options { patience: Patience::Snappy, ..Options::default() };
    Setup { options, ..Setup::of(npcs) }.open().await
}

#[tokio::test(start_paused = true)]
async fn spoken_line_is_answered_and_timed() {
    let mut stage = Setup::of(&["Bartok"]).open().await;
    stage.hears(&[], "Bartok hello");
    stage.says(THORIN).await;
    stage.settle().await;
    let line = &stage.lines()[0];
    assert_eq!((line.understood.as_str(), line.outcome), ("Bartok hello", Outcome::Spoken));
    let to_final = line.ms.speech_end_to_final;
    assert!((580.0..=640.0).contains(&to_final), "{to_final}");
    assert!((line.ms.speech_end_to_first_audio - to_final).abs() < 1.5);
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn utterance_ends_when_packets_stop() {
    let mut stage = Setup::of(&["Bartok"]).open().await;
    stage.hears(&[], "Bartok hello");
    stage.voice(THORIN, ms(1_000)).await;
    let heard = stage.until_heard().await;
    assert!((ms(1_560)..=ms(1_620)).contains(&heard), "{heard:?}");
    assert_eq!(stage.told().await[0].outcome, Outcome::Spoken);
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn released_button_ends_the_utterance() {
    let mut stage = Setup::of(&["Bartok"]).open().await;
    let mut live = stage.teller.upgrade().expect("the table is open").follow_live();
    stage.hears(&[(30, "Bartok")], "Bartok hello");
    stage.voice(THORIN, ms(1_000)).await;
    stage.table.voice.send(VoiceInput::Released(THORIN)).await.expect("the table is open");
    let heard = stage.until_heard().await;
    assert!(heard < ms(1_200), "the final takes 100 ms: {heard:?}");
    assert_eq!(stage.told().await[0].outcome, Outcome::Spoken);
    let partial = LiveEvent::Partial { speaker: "Thorin".to_owned(), text: "Bartok".to_owned() };
    assert_eq!(live.recv().await, Some(partial));
    for wanted in [TurnStage::Thinking, TurnStage::Speaking, TurnStage::Idle] {
        let event = live.recv().await;
        assert!(
            matches!(event, Some(LiveEvent::Turn { stage, .. }) if stage == wanted),
            "{event:?}"
        );
    }
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn queued_frames_are_not_split_by_false_silence() {
    let mut stage = Setup::of(&["Bartok"]).open().await;
    stage.hears(&[], "Bartok hello");
    sleep(ms(5_000)).await;
    // Spoken while the table was busy, and received all at once.
    stage.late(THORIN, babble(ms(1_200)), ms(2_000));
    let told = stage.told().await;
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0].outcome, Outcome::Spoken);
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn talk_goes_on_by_the_time_of_its_sound() {
    let mut stage = Setup::of(&["Bartok", "Gundren"]).open().await;
    stage.hears(&[], "Bartok hello");
    stage.hears(&[], "what is the news");
    stage.hears(&[], "and what else");
    stage.says(THORIN).await;
    assert_eq!(stage.told().await.len(), 1);
    // A busy machine takes a minute to process the next second of a recording.
    let recorded = stage.opened.elapsed();
    sleep(ms(60_000)).await;
    let behind = stage.opened.elapsed() - recorded;
    stage.late(THORIN, babble(ms(600)), behind);
    let told = stage.told().await;
    assert_eq!((told.len(), told[0].npc.as_str()), (1, "Bartok"), "{told:?}");
    // A minute has passed by clock and by sound.
    sleep(ms(60_000)).await;
    stage.says(THORIN).await;
    assert_eq!(stage.told().await[0].outcome, Outcome::NobodyAddressed);
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn clicks_and_unaddressed_speech_get_no_answer() {
    let mut stage = Setup::of(&["Bartok", "Gundren"]).open().await;
    // Voiced for 40 ms: no utterance, no line.
    stage.hears(&[], "Bartok what");
    stage.voice(THORIN, ms(80)).await;
    stage.quiet(THORIN, ms(1_500)).await;
    assert_eq!(stage.told().await, []);
    stage.hears(&[], "");
    stage.says(THORIN).await;
    stage.quiet(THORIN, ms(800)).await;
    stage.hears(&[], "nice weather");
    stage.says(THORIN).await;
    let told = stage.told().await;
    let told: Vec<_> = told.iter().map(|line| (line.npc.as_str(), line.outcome)).collect();
    assert_eq!(told, [("", Outcome::EmptyTranscript), ("", Outcome::NobodyAddressed)]);
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn failed_or_silent_recogniser_frees_the_seat() {
    let mut stage = Setup::of(&["Bartok"]).open().await;
    for text in [Some(Err(Kind::Unavailable)), None] {
        // No guess must be left over.
        let partials = vec![(10, "Bartok hello")];
        stage.hears_so(Said { partials, text, takes: ms(0) });
        stage.says(THORIN).await;
        let told = stage.told().await;
        assert_eq!(told.len(), 1, "{told:?}");
        assert_eq!(told[0].outcome, Outcome::HearingError);
    }
    stage.hears(&[], "Bartok hello");
    stage.says(THORIN).await;
    assert_eq!(stage.told().await[0].outcome, Outcome::Spoken, "the seat is free again");
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn stuck_recogniser_logs_a_hearing_error() {
    let mut stage = Setup::of(&["Bartok"]).open().await;
    stage.stt.is_stuck.store(true, Ordering::SeqCst);
    // A recording ahead of the clock: no silence ends the utterance.
    stage.recorded(THORIN, babble(ms(1_000))).await;
    let told = stage.told().await;
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0].outcome, Outcome::HearingError);
    assert!(stage.opened.elapsed() < ms(60_000), "{:?}", stage.opened.elapsed());
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn segments_within_600_ms_are_one_utterance() {
    // The second segment begins before the first one's final, after it, and while it is answered.
    for (takes, wait) in [(500, 0), (50, 0), (50, 600)] {
        let mut stage = snappy(&["Bartok"]).await;
        stage.models[0].then(&[Wait(wait), Text("Hm?")]).then(&[Wait(wait), Text("Whole.")]);
        let text = Some(Ok(if wait == 0 && takes == 50 { "I say Greg" } else { "Bartok roll" }));
        stage.hears_so(Said { partials: vec![], text, takes: ms(takes) });
        stage.hears(&[], "a die for me Bartok");
        stage.voice(THORIN, ms(600)).await;
        stage.quiet(THORIN, ms(440)).await;
        stage.voice(THORIN, ms(600)).await;
        stage.quiet(THORIN, ms(600)).await;
        stage.settle().await;
        let lines = stage.lines();
        assert_eq!(lines.len(), 1, "{takes} {wait} {lines:?}");
        assert!(lines[0].understood.ends_with("a die for me Bartok"), "{}", lines[0].understood);
        assert!(lines[0].understood.len() > 25, "{}", lines[0].understood);
        assert_eq!(
            stage.heard("Bartok").unwrap().last - stage.heard("Bartok").unwrap().first,
            ms(980)
        );
        stage.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn retracted_utterance_is_overheard_once() {
    // Withdrawn while it is answered, and while it waits behind another answer.
    for waits in [false, true] {
        let mut stage = snappy(&["Bartok", "Gundren"]).await;
        if waits {
            stage.models[0].then(&[Text("One is long. Two is too. Three. Four.")]);
            stage.types(ELARA, "Bartok, count").await;
        }
        stage.models[0].then(&[Wait(600), Text("Hm?")]).then(&[Wait(600), Text("Whole.")]);
        stage.hears_so(Said { partials: vec![], text: Some(Ok("Bartok roll")), takes: ms(50) });
        stage.hears(&[], "a die for me Bartok");
        stage.voice(THORIN, ms(600)).await;
        stage.quiet(THORIN, ms(440)).await;
        stage.voice(THORIN, ms(600)).await;
        stage.quiet(THORIN, ms(600)).await;
        let told = stage.told().await;
        assert_eq!(told.len(), if waits { 2 } else { 1 }, "{told:?}");
        stage.types(THORIN, "Gundren, hello").await;
        stage.settle().await;
        let read = stage.models[1].read(0);
        assert!(read.contains("Bartok roll a die for me Bartok"), "{read}");
        assert_eq!(read.matches("Bartok roll").count(), 1, "{read}");
        stage.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn click_after_an_utterance_loses_nothing() {
    for (takes, click) in [(50, 80), (700, 80), (50, 120), (700, 120)] {
        let mut stage = snappy(&["Bartok"]).await;
        stage.models[0].then(&[Wait(700), Text("One.")]).then(&[Text("One.")]);
        let text = Some(Ok("Bartok hello"));
        stage.hears_so(Said { partials: vec![], text, takes: ms(takes) });
        stage.voice(THORIN, ms(600)).await;
        stage.quiet(THORIN, ms(440)).await;
        stage.voice(THORIN, ms(click)).await;
        stage.quiet(THORIN, ms(600)).await;
        let told = stage.told().await;
        assert_eq!(told.len(), 1, "{takes} {click}: {told:?}");
        assert_eq!((told[0].outcome, told[0].reply.as_str()), (Outcome::Spoken, "One."));
        stage.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn queued_answers_are_not_withdrawn_by_more_talk() {
    let mut stage = snappy(&["Bartok", "Gundren"]).await;
    stage.models[0].then(&[Text("One is long. Two is too. Three. Four.")]);
    stage.types(ELARA, "Bartok, count").await;
    stage.hears(&[], "Bartok hello");
    stage.hears(&[], "I draw my sword");
    stage.hears(&[], "and sit down");
    stage.voice(THORIN, ms(600)).await;
    stage.quiet(THORIN, ms(1_200)).await;
    for _ in 0..2 {
        stage.voice(THORIN, ms(400)).await;
        stage.quiet(THORIN, ms(440)).await;
    }
    stage.settle().await;
    let lines: Vec<_> =
        stage.lines().into_iter().map(|line| (line.understood, line.outcome)).collect();
    assert!(lines.contains(&("Bartok hello".into(), Outcome::Spoken)), "{lines:?}");
    let rest = "I draw my sword and sit down".into();
    assert!(lines.contains(&(rest, Outcome::NobodyAddressed)), "{lines:?}");
    assert_eq!(lines.len(), 3, "{lines:?}");
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn early_answer_is_used_if_the_final_agrees() {
    let mut stage = Setup::of(&["Bartok", "Gundren"]).open().await;
    stage.models[0].then(&[Wait(400), Text("Hello.")]);
    stage.hears(&[(45, "bartok hello")], "Bartok, hello!");
    stage.says(THORIN).await;
    let told = stage.told().await;
    assert_eq!((told.len(), told[0].reply.as_str()), (1, "Hello."));
    assert_eq!(stage.models[0].asked(), 1);
    // The guess starts by 1,150 ms, so the model's 400 ms cost no time.
    let heard = stage.heard("Bartok").unwrap().first;
    assert!(heard <= ms(1_620), "{heard:?}");
    // The others have received the question too.
    stage.types(THORIN, "Gundren, hello").await;
    stage.settle().await;
    assert!(stage.models[1].read(0).contains("Bartok, hello!"));
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn early_answer_is_dropped_if_the_final_differs() {
    let mut stage = Setup::of(&["Bartok"]).open().await;
    stage.models[0].then(&[Text("Wrong."), Call("roll", ROLL)]).then(&[Text("Right.")]);
    stage.hears(&[(45, "Bartok hell")], "Bartok hello");
    stage.says(THORIN).await;
    let told = stage.told().await;
    assert_eq!((told.len(), told[0].reply.as_str()), (1, "Right."));
    assert_eq!((stage.models[0].asked(), count(&stage.tools.roll)), (2, 0));
    assert_eq!(stage.left().len(), 50, "nothing of the first was heard");
    assert!(!stage.models[0].read(1).contains("Wrong"));
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn settling_does_not_wait_for_early_answers() {
    let mut stage = Setup { pace: Pace::Free, ..Setup::of(&["Bartok"]) }.open().await;
    stage.models[0].then(&[Text("Hello.")]);
    stage.hears(&[(45, "Bartok hello")], "Bartok hello");
    stage.voice(THORIN, ms(1_000)).await;
    stage.quiet(THORIN, ms(300)).await;
    assert_eq!(stage.models[0].asked(), 1, "the answer is begun");
    // Silence ends the utterance only with the frames that follow the mark.
    let before = stage.opened.elapsed();
    stage.settle().await;
    assert!(stage.opened.elapsed() - before < ms(20));
    assert_eq!(stage.lines().len(), 0);
    stage.quiet(THORIN, ms(400)).await;
    assert_eq!(stage.told().await[0].reply, "Hello.");
    assert_eq!(stage.models[0].asked(), 1, "the answer is kept");
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn early_answers_roll_dice_only_after_the_final() {
    let mut stage = Setup::of(&["Bartok"]).open().await;
    stage.models[0].then(&[Call("roll", ROLL)]).then(&[Text("Eleven.")]);
    stage.hears(&[(45, "Bartok roll")], "Bartok roll");
    stage.voice(THORIN, ms(1_000)).await;
    stage.quiet(THORIN, ms(480)).await;
    assert_eq!((stage.models[0].asked(), count(&stage.tools.roll)), (1, 0));
    stage.quiet(THORIN, ms(400)).await;
    assert_eq!(count(&stage.tools.roll), 1);
    assert_eq!(stage.told().await[0].reply, "Eleven.");
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn every_partial_that_changes_gives_the_guess_up() {
    let mut stage = Setup::of(&["Bartok"]).open().await;
    stage.hears(&[(20, "Bartok"), (30, "Bartok tell"), (45, "Bartok tell me")], "Bartok tell me");
    stage.says(THORIN).await;
    stage.settle().await;
    assert_eq!((stage.models[0].asked(), stage.lines()[0].partials), (1, 3));
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn endpointing_recogniser_stays_open_in_pauses() {
    let abilities = SttAbilities { partials: true, endpointing: true };
    let stage = Setup { abilities, ..Setup::of(&["Bartok"]) }.open().await;
    stage.hears_so(Said { partials: vec![(5, "Bartok")], text: None, takes: Duration::ZERO });
    stage.quiet(THORIN, ms(3_000)).await;
    assert_eq!(stage.stt.live.count(), 0, "nobody has spoken");
    stage.voice(THORIN, ms(400)).await;
    stage.quiet(THORIN, ms(1_000)).await;
    stage.voice(THORIN, ms(400)).await;
    assert_eq!(stage.stt.live.count(), 1);
    assert!(stage.stt.script.lock().unwrap().is_empty());
    // An open microphone alone does not keep it open.
    stage.quiet(THORIN, ms(21_000)).await;
    assert_eq!(stage.stt.live.count(), 0);
    stage.close().await;
}

/// A table whose recogniser ends utterances itself.
async fn service_ends(npcs: &[&str]) -> Stage {
    let abilities = SttAbilities { partials: true, endpointing: true };
    Setup { abilities, ..Setup::of(npcs) }.open().await
}

#[tokio::test(start_paused = true)]
async fn probable_end_starts_an_early_answer_at_once() {
    let mut stage = service_ends(&["Bartok"]).await;
    // 55 frames: a second of voice and 100 ms of silence.
    stage.hears(&[(30, "Bartok hello"), (55, "eager: Bartok hello")], "Bartok hello");
    stage.voice(THORIN, ms(1_000)).await;
    stage.quiet(THORIN, ms(140)).await;
    assert_eq!(stage.models[0].asked(), 1, "no pause is waited for");
    stage.quiet(THORIN, ms(900)).await;
    assert_eq!(stage.told().await[0].outcome, Outcome::Spoken);
    assert_eq!(stage.models[0].asked(), 1, "it was the final's answer");
    stage.close().await;

    let mut stage = service_ends(&["Bartok"]).await;
    let goes_on = [(52, "eager: Bartok tell"), (60, "resumed"), (70, "Bartok tell me")];
    stage.hears(&goes_on, "Bartok tell me");
    stage.voice(THORIN, ms(1_000)).await;
    stage.quiet(THORIN, ms(200)).await;
    stage.voice(THORIN, ms(400)).await;
    stage.quiet(THORIN, ms(900)).await;
    let told = stage.told().await;
    assert_eq!((told.len(), told[0].outcome), (1, Outcome::Spoken), "{told:?}");
    assert_eq!(stage.models[0].asked(), 2, "the first answer was thrown away");
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn table_ends_utterances_the_service_leaves_open() {
    let mut stage = service_ends(&["Bartok"]).await;
    stage.hears_so(Said { partials: vec![(30, "Bartok hello")], text: None, takes: ms(0) });
    stage.voice(THORIN, ms(1_000)).await;
    let heard = stage.until_heard().await;
    assert!((ms(4_400)..=ms(4_600)).contains(&heard), "{heard:?}");
    stage.settle().await;
    let line = stage.lines().remove(0);
    assert_eq!((line.understood.as_str(), line.outcome), ("Bartok hello", Outcome::Spoken));
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn silence_is_withheld_until_speech_resumes() {
    let stage = Setup::of(&["Bartok"]).open().await;
    stage.hears(&[], "Bartok hello");
    stage.voice(THORIN, ms(1_000)).await;
    stage.quiet(THORIN, ms(400)).await;
    let before = count(&stage.stt.frames);
    assert!((52..=62).contains(&before), "{before}: 120 ms after the last voice");
    stage.voice(THORIN, ms(400)).await;
    assert_eq!(count(&stage.stt.frames), 50 + 20 + 20, "the pause is whole");
    stage.quiet(THORIN, ms(600)).await;
    let after = count(&stage.stt.frames);
    assert!((92..=102).contains(&after), "{after}: no more at the end");
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn endpointing_recogniser_hears_packets_stop() {
    let abilities = SttAbilities { partials: true, endpointing: true };
    let mut stage = Setup { abilities, ..Setup::of(&["Bartok"]) }.open().await;
    stage.hears(&[], "Bartok hello");
    stage.voice(THORIN, ms(1_000)).await;
    let heard = stage.until_heard().await;
    assert!((ms(1_460)..=ms(1_520)).contains(&heard), "{heard:?}");
    assert_eq!(stage.told().await[0].outcome, Outcome::Spoken);
    sleep(ms(5_000)).await;
    assert_eq!(count(&stage.stt.frames), 50 + 75, "1.5 s of silence and no more");
    // Late packets are no silence.
    stage.voice(THORIN, ms(200)).await;
    sleep(ms(70)).await;
    stage.voice(THORIN, ms(200)).await;
    assert_eq!(count(&stage.stt.frames), 50 + 75 + 20);
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn stream_that_goes_on_is_paid_as_it_goes() {
    let abilities = SttAbilities { partials: true, endpointing: true };
    let price = Price { minute: 6.0, ..Price::default() };
    let prices = BTreeMap::from([("ears".to_owned(), price)]);
    let budget = BudgetOptions { session_max: Some(2.5), month_max: None, prices };
    let mut stage = Setup { abilities, budget, ..Setup::of(&["Bartok"]) }.open().await;
    stage.voice(THORIN, ms(19_900)).await;
    assert_eq!((stage.lines().len(), stage.stt.live.count()), (0, 1));
    stage.voice(THORIN, ms(1_000)).await;
    let line = stage.lines().remove(0);
    assert_eq!(line.outcome, Outcome::OverBudget);
    assert!((line.spent - 2.0).abs() < 1e-6, "{}", line.spent);
    assert_eq!(stage.stt.live.count(), 0, "nobody pays for more");
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn lanes_are_given_back() {
    let abilities = SttAbilities { partials: true, endpointing: true };
    let stage = Setup { abilities, ..Setup::of(&["Bartok"]) }.open().await;
    stage.voice(THORIN, ms(200)).await;
    sleep(ms(61_000)).await;
    stage.voice(ELARA, ms(200)).await;
    assert_eq!(stage.stt.live.count(), 1, "only Elara's stream is open");
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn utterance_length_covers_all_of_its_sound() {
    let said_for = |stage: &mut Stage| -> Vec<Duration> {
        stage.lines().into_iter().map(|line| line.circumstances.said_for).collect()
    };
    // A pause within it: the sound of both parts.
    let mut stage = snappy(&["Bartok"]).await;
    stage.models[0].then(&[Wait(600), Text("Hm?")]).then(&[Text("Whole.")]);
    stage.hears(&[], "Bartok hello");
    stage.hears(&[], "and good day Bartok");
    stage.voice(THORIN, ms(600)).await;
    stage.quiet(THORIN, ms(440)).await;
    stage.voice(THORIN, ms(600)).await;
    stage.quiet(THORIN, ms(600)).await;
    stage.settle().await;
    let lengths = said_for(&mut stage);
    assert!(lengths.len() == 1 && lengths[0] >= ms(1_100), "{lengths:?}");
    stage.close().await;
    // The recogniser ends it: from the voice on, without the silence before.
    let abilities = SttAbilities { partials: true, endpointing: true };
    let mut stage = Setup { abilities, ..Setup::of(&["Bartok"]) }.open().await;
    stage.hears(&[], "Bartok hello");
    stage.quiet(THORIN, ms(5_000)).await;
    stage.says(THORIN).await;
    stage.settle().await;
    let lengths = said_for(&mut stage);
    let expected = ms(1_500)..=ms(1_800);
    assert!(lengths.len() == 1 && expected.contains(&lengths[0]), "{lengths:?}");
    stage.close().await;
}
