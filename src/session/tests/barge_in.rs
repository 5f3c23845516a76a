//! Voices over an NPC.

use std::time::Duration;

use tokio::time::sleep;

use super::{
    super::{Outcome, SpeakerId},
    stage::{DM, ELARA, Setup, Stage, THORIN},
};
use crate::{
    engine::tests::props::{Step::*, ms},
    provider::SttAbilities,
};

/// Loudness of the stand-in's voice, and the minimum that counts as ducked.
const FULL: i16 = 8_000;
const DUCKED: i16 = 2_000;

/// Thorin has asked Bartok, and half a second of the answer has been played; eight seconds remain.
async fn speaking(abilities: SttAbilities) -> (Stage, Duration) {
    let stage = Setup { abilities, ..Setup::of(&["Bartok", "Gundren"]) }.open().await;
    let tale = "The first part is here. The second follows. A third one comes. That was all of it.";
    stage.models[0].then(&[Text(tale)]);
    stage.types(THORIN, "Bartok, tell me").await;
    stage.until_heard().await;
    sleep(ms(500)).await;
    let now = stage.opened.elapsed();
    (stage, now)
}

const PARTIALS: SttAbilities = SttAbilities { partials: true, endpointing: false };

/// Time from `from` to the first frame at ducked level.
fn ducked(stage: &Stage, from: Duration) -> Option<Duration> {
    let left = stage.left();
    left.iter().find(|frame| frame.at >= from && frame.peak < DUCKED).map(|frame| frame.at - from)
}

fn last(stage: &Stage) -> Duration {
    stage.heard("Bartok").expect("he is heard").last
}

#[tokio::test(start_paused = true)]
async fn voice_ducks_and_words_stop() {
    let (mut stage, began) = speaking(PARTIALS).await;
    // Words arrive one by one; the second partial confirms the first.
    stage.hears(&[(14, "no"), (20, "no I want")], "no I want something else");
    stage.voice(THORIN, ms(1_000)).await;
    let quiet = ducked(&stage, began).expect("it ducks");
    assert!(quiet <= ms(140), "{quiet:?}");
    let first = stage.left().iter().find(|f| f.at >= began && f.peak < FULL).unwrap().at - began;
    assert!(first <= ms(100), "{first:?}");
    let stopped = last(&stage) - began;
    assert!((ms(300)..=ms(400)).contains(&stopped), "{stopped:?}");
    stage.quiet(THORIN, ms(700)).await;
    let told = stage.told().await;
    assert_eq!(
        (told[0].outcome, told[1].npc.as_str()),
        (Outcome::Interrupted, "Bartok"),
        "{told:?}"
    );
    assert!(
        told[0].reply.starts_with("The first") && told[0].reply.ends_with('…'),
        "{}",
        told[0].reply
    );
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn stop_word_stops_at_once() {
    let (mut stage, began) = speaking(PARTIALS).await;
    stage.hears(&[(12, "stop")], "stop");
    stage.voice(THORIN, ms(400)).await;
    let stopped = last(&stage) - began;
    // The word is known after 240 ms of voice.
    assert!((ms(200)..=ms(260)).contains(&stopped), "{stopped:?}");
    stage.quiet(THORIN, ms(700)).await;
    let told = stage.told().await;
    assert_eq!((told[0].outcome, told[1].outcome), (Outcome::Interrupted, Outcome::Stopped));
    assert_eq!(told.len(), 2);
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn stop_word_known_only_at_the_end_still_stops() {
    let (mut stage, began) = speaking(SttAbilities::default()).await;
    stage.hears(&[], "stop");
    stage.voice(THORIN, ms(400)).await;
    stage.quiet(THORIN, ms(700)).await;
    let stopped = last(&stage) - began;
    assert!(stopped <= ms(1_040), "{stopped:?}");
    let told = stage.told().await;
    assert!(told.iter().any(|line| line.outcome == Outcome::Interrupted), "{told:?}");
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn listening_noises_only_duck() {
    let (mut stage, began) = speaking(PARTIALS).await;
    stage.hears(&[(20, "mm-hm")], "mm-hm");
    stage.voice(THORIN, ms(500)).await;
    stage.quiet(THORIN, ms(1_200)).await;
    assert!(ducked(&stage, began).is_some());
    let told = stage.told().await;
    let spoken = told.iter().find(|line| line.npc == "Bartok").unwrap();
    assert_eq!(spoken.outcome, Outcome::Spoken, "{told:?}");
    let left = stage.left();
    assert_eq!((left.len(), left.last().unwrap().peak), (200, FULL), "whole and loud again");
    let loud = left.iter().rfind(|frame| frame.peak < FULL).unwrap().at - began;
    assert!(loud <= ms(1_200), "{loud:?}");
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn noise_first_heard_as_word_only_ducks() {
    let (mut stage, began) = speaking(PARTIALS).await;
    stage.hears(&[(18, "and hand"), (22, "mm-hm")], "mm-hm");
    stage.voice(THORIN, ms(500)).await;
    stage.quiet(THORIN, ms(1_200)).await;
    assert!(ducked(&stage, began).is_some());
    let told = stage.told().await;
    let spoken = told.iter().find(|line| line.npc == "Bartok").unwrap();
    assert_eq!(spoken.outcome, Outcome::Spoken, "{told:?}");
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn long_voice_without_text_stops() {
    let (mut stage, began) = speaking(SttAbilities::default()).await;
    stage.hears(&[], "what about the beer");
    stage.voice(THORIN, ms(1_500)).await;
    let stopped = last(&stage) - began;
    assert!((ms(700)..=ms(800)).contains(&stopped), "{stopped:?}");
    stage.quiet(THORIN, ms(700)).await;
    assert_eq!(stage.told().await[1].npc, "Bartok", "the conversation goes on");
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn only_addressed_player_and_dm_interrupt() {
    for (who, interrupts) in [(ELARA, false), (DM, true)] {
        let who: SpeakerId = who;
        let (mut stage, began) = speaking(PARTIALS).await;
        stage.hears(&[(20, "look at that")], "look at that");
        stage.voice(who, ms(1_000)).await;
        stage.quiet(who, ms(700)).await;
        assert_eq!(ducked(&stage, began).is_some(), interrupts);
        let told = stage.told().await;
        let outcome = told.iter().find(|line| line.speaker == "Thorin").unwrap().outcome;
        assert_eq!(outcome, if interrupts { Outcome::Interrupted } else { Outcome::Spoken });
        stage.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn first_quarter_second_is_not_interruptible() {
    let stage = Setup::of(&["Bartok"]).open().await;
    stage.hears(&[(12, "thank you")], "thank you");
    stage.types(THORIN, "Bartok, hello").await;
    stage.voice(THORIN, ms(200)).await;
    assert!(ducked(&stage, ms(0)).is_none());
    assert!(last(&stage) >= ms(180), "{:?}", last(&stage));
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn interruption_ends_requests_and_the_queue() {
    let (mut stage, began) = speaking(PARTIALS).await;
    stage.types(ELARA, "Bartok, and me").await;
    stage.hears(&[(12, "wait")], "wait");
    stage.voice(THORIN, ms(400)).await;
    assert_eq!(stage.models[0].live.count(), 0);
    assert_eq!(stage.voice.live.count(), 0);
    let told = stage.told().await;
    let elara = told.iter().find(|line| line.speaker == "Elara").unwrap();
    assert_eq!(elara.outcome, Outcome::Cancelled);
    assert!(last(&stage) - began <= ms(260));
    stage.close().await;
}
