//! X-cards: the exchange they take back, and speech that continues over them.

use std::sync::{Arc, Mutex};

use tokio::time::sleep;

use super::{
    super::{Command, Outcome, SeatId, TableEvent, TurnLine},
    stage::{DM, ELARA, MIRA, Setup, Stage, THORIN},
    voices::{Said, babble},
};
use crate::{
    engine::tests::props::{Step::*, ms},
    provider::SttAbilities,
};

/// Numbers of the lines that a card took back.
fn taken_back(events: &[TableEvent]) -> Option<Vec<u64>> {
    events.iter().find_map(|event| match event {
        TableEvent::Halted { taken_back } => Some(taken_back.clone()),
        _ => None,
    })
}

fn lines(events: &[TableEvent]) -> Vec<&TurnLine> {
    let lines = events.iter().filter_map(|event| match event {
        TableEvent::Line(line) => Some(&**line),
        _ => None,
    });
    lines.collect()
}

/// Closes the table and returns what its NPCs remember.
async fn kept(stage: Stage) -> String {
    format!("{:?}", stage.close().await.histories)
}

/// Bartok answers Thorin for a second; the last 300 ms have not been played.
async fn horror_told() -> Stage {
    let stage = Setup::of(&["Bartok", "Gundren"]).open().await;
    stage.types(THORIN, "Bartok, the horror").await;
    stage.until_heard().await;
    sleep(ms(700)).await;
    stage
}

/// Mira says the card, which is recognised 1.3 s after its first word; half a second in, Gundren
/// answers Elara.
async fn card_over_next_answer(stage: &Stage) {
    stage.hears(&[], "X-card");
    stage.voice(MIRA, ms(600)).await;
    stage.types(ELARA, "Gundren, the flowers").await;
    stage.quiet(MIRA, ms(1_000)).await;
    stage.settle().await;
}

#[tokio::test(start_paused = true)]
async fn spoken_card_retracts_exchange_it_began_over() {
    // Time from the end of Bartok's answer to the first word; `None` while he still speaks.
    let cases = [
        (None, true),
        (Some(300), true),
        (Some(1_000), true),
        (Some(2_900), true),
        (Some(3_100), false),
    ];
    for (after, is_taken) in cases {
        let mut stage = horror_told().await;
        if let Some(after) = after {
            stage.settle().await;
            sleep(ms(after)).await;
        }
        card_over_next_answer(&stage).await;
        let events = stage.shown();
        let expected = if is_taken { vec![1] } else { Vec::new() };
        assert_eq!(taken_back(&events), Some(expected), "{after:?}: {events:#?}");
        assert!(stage.heard("Gundren").is_some(), "{after:?}: he had begun");
        assert!(!format!("{events:?}").contains("the flowers"), "{after:?}: {events:#?}");
        let kept = kept(stage).await;
        assert_eq!(kept.contains("the horror"), !is_taken, "{after:?}: {kept}");
        assert!(!kept.contains("the flowers"), "{after:?}: {kept}");
    }
}

#[tokio::test(start_paused = true)]
async fn spoken_card_retracts_answer_still_heard() {
    let mut stage = Setup::of(&["Bartok", "Gundren"]).open().await;
    stage.types(THORIN, "Gundren, the flowers").await;
    stage.settle().await;
    stage.models[0].then(&[Text("One is bad. Two is worse. Three. Four.")]);
    stage.types(THORIN, "Bartok, the horror").await;
    stage.until_heard().await;
    sleep(ms(500)).await;
    stage.hears(&[], "X-card");
    stage.voice(MIRA, ms(300)).await;
    stage.types(ELARA, "what a horror that is").await;
    stage.voice(MIRA, ms(300)).await;
    stage.quiet(MIRA, ms(1_000)).await;
    stage.settle().await;
    assert_eq!(taken_back(&stage.events()), Some(vec![2]), "what Elara said over the card");
    let kept = kept(stage).await;
    assert!(kept.contains("the flowers") && !kept.contains("horror"), "{kept}");
}

#[tokio::test(start_paused = true)]
async fn interrupting_card_retracts_stopped_answer() {
    let mut stage = Setup::of(&["Bartok", "Gundren"]).open().await;
    stage.models[0].then(&[Text("One is bad. Two is worse. Three. Four.")]);
    stage.types(THORIN, "Bartok, the horror").await;
    stage.types(ELARA, "Gundren, the flowers").await;
    stage.until_heard().await;
    sleep(ms(500)).await;
    // Its first words stop Bartok, and Gundren begins before they are recognised.
    stage.hears(&[(14, "ex card"), (20, "ex card no")], "X-card");
    stage.voice(THORIN, ms(800)).await;
    stage.quiet(THORIN, ms(2_000)).await;
    stage.settle().await;
    let events = stage.events();
    assert!(stage.heard("Gundren").is_some(), "{events:#?}");
    let taken = taken_back(&events).unwrap();
    assert_eq!(taken.first(), Some(&1), "{events:#?}");
    let kept = kept(stage).await;
    assert!(!kept.contains("horror") && !kept.contains("flowers"), "{kept}");
}

#[tokio::test(start_paused = true)]
async fn pressed_card_retracts_audible_exchange() {
    for is_next_heard in [false, true] {
        let mut stage = horror_told().await;
        stage.settle().await;
        sleep(ms(1_000)).await;
        if is_next_heard {
            stage.types(ELARA, "Gundren, the flowers").await;
            stage.until_heard().await;
            sleep(ms(100)).await;
        }
        stage.order(Command::Halt).await;
        stage.settle().await;
        let expected = if is_next_heard { Vec::new() } else { vec![1] };
        assert_eq!(taken_back(&stage.events()), Some(expected), "{is_next_heard}");
        let kept = kept(stage).await;
        assert_eq!(kept.contains("the horror"), is_next_heard, "{kept}");
        assert!(!kept.contains("the flowers"), "{kept}");
    }
}

#[tokio::test(start_paused = true)]
async fn words_typed_over_spoken_card_are_retracted() {
    let mut stage = horror_told().await;
    stage.settle().await;
    stage.hears(&[], "X-card");
    stage.voice(MIRA, ms(300)).await;
    stage.types(ELARA, "what a horror that is").await;
    stage.voice(MIRA, ms(300)).await;
    stage.quiet(MIRA, ms(1_000)).await;
    stage.settle().await;
    assert_eq!(taken_back(&stage.events()), Some(vec![1, 2]));
    let kept = kept(stage).await;
    assert!(!kept.contains("horror"), "{kept}");
}

#[tokio::test(start_paused = true)]
async fn card_in_sentence_drops_its_other_words() {
    let mut stage = Setup::of(&["Bartok", "Gundren"]).open().await;
    // The answer to its beginning is in progress before the card is recognised.
    stage.hears(&[(45, "Bartok, the horror")], "Bartok, the horror, no, X-card, no horror please");
    stage.says(MIRA).await;
    sleep(ms(1_000)).await;
    stage.settle().await;
    let events = stage.events();
    assert_eq!(taken_back(&events), Some(Vec::new()), "{events:#?}");
    assert!(!format!("{events:?}").contains("horror"), "{events:#?}");
    let card = lines(&events).into_iter().find(|line| line.outcome == Outcome::Stopped).unwrap();
    assert_eq!((card.speaker.as_str(), card.understood.as_str()), ("somebody", "X-card"));
    assert_eq!(stage.models[0].asked(), 1);
    assert!(stage.heard("Bartok").is_none());
    let kept = kept(stage).await;
    assert!(!kept.contains("horror"), "{kept}");
}

/// Elara's sentence continues over a card, said by Mira or pressed; afterwards Elara is answered as
/// usual.
async fn talk_over_card(abilities: SttAbilities, is_spoken: bool) {
    let mut stage = Setup { abilities, ..Setup::of(&["Bartok", "Gundren"]) }.open().await;
    let text = Some(Ok("Bartok, the horror goes on"));
    let sentence = Said { partials: vec![(20, "Bartok, the horror")], text, takes: ms(100) };
    if is_spoken {
        stage.hears(&[], "X-card");
        stage.voice(MIRA, ms(600)).await;
        (0..3).for_each(|_| stage.hears_so(sentence.clone()));
        // Her card is recognised within this time, in which Elara speaks.
        for part in babble(ms(1_200)).chunks(20) {
            stage.quiet(MIRA, ms(400)).await;
            stage.late(ELARA, part.to_vec(), ms(400));
        }
    } else {
        (0..3).for_each(|_| stage.hears_so(sentence.clone()));
        stage.voice(ELARA, ms(600)).await;
        stage.order(Command::Halt).await;
    }
    stage.order(Command::Mute { seat: None, muted: false }).await;
    stage.voice(ELARA, ms(400)).await;
    stage.quiet(ELARA, ms(300)).await;
    stage.voice(ELARA, ms(400)).await;
    stage.quiet(ELARA, ms(1_000)).await;
    stage.settle().await;
    let events = stage.events();
    assert!(taken_back(&events).is_some(), "{events:#?}");
    assert!(!format!("{events:?}").contains("horror"), "{events:#?}");
    assert_eq!(stage.left().len(), 0, "nobody answers it");
    stage.stt.script.lock().unwrap().clear();
    stage.hears(&[], "Bartok, hello");
    stage.says(ELARA).await;
    stage.quiet(ELARA, ms(600)).await;
    assert_eq!(stage.told().await[0].outcome, Outcome::Spoken);
    let kept = kept(stage).await;
    assert!(!kept.contains("horror"), "{kept}");
}

#[tokio::test(start_paused = true)]
async fn sentence_over_pressed_card_is_dropped() {
    for endpointing in [false, true] {
        talk_over_card(SttAbilities { partials: true, endpointing }, false).await;
    }
}

#[tokio::test(start_paused = true)]
async fn sentence_over_spoken_card_is_dropped() {
    talk_over_card(SttAbilities { partials: true, endpointing: false }, true).await;
}

#[tokio::test(start_paused = true)]
async fn queued_sound_before_card_is_dropped() {
    let mut stage = Setup::of(&["Bartok", "Gundren"]).open().await;
    stage.hears(&[], "Bartok, the horror");
    sleep(ms(5_000)).await;
    stage.order(Command::Halt).await;
    sleep(ms(1)).await;
    stage.order(Command::Mute { seat: None, muted: false }).await;
    stage.late(ELARA, babble(ms(600)), ms(800));
    sleep(ms(2_000)).await;
    assert_eq!(stage.told().await, []);
    stage.says(ELARA).await;
    assert_eq!(stage.told().await[0].outcome, Outcome::Spoken, "what is said later counts");
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn speech_begun_after_card_counts() {
    for endpointing in [false, true] {
        let abilities = SttAbilities { partials: true, endpointing };
        let mut stage = Setup { abilities, ..Setup::of(&["Bartok", "Gundren"]) }.open().await;
        stage.hears(&[], "Bartok, hello");
        stage.quiet(ELARA, ms(700)).await;
        stage.order(Command::Halt).await;
        stage.order(Command::Mute { seat: None, muted: false }).await;
        stage.says(ELARA).await;
        let told = stage.told().await;
        assert_eq!((told.len(), told[0].outcome), (1, Outcome::Spoken), "{endpointing}: {told:?}");
        stage.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn unbroken_voice_counts_again_after_30_s() {
    let mut stage = Setup::of(&["Bartok"]).open().await;
    stage.voice(ELARA, ms(200)).await;
    stage.order(Command::Halt).await;
    stage.order(Command::Mute { seat: None, muted: false }).await;
    stage.voice(ELARA, ms(29_000)).await;
    stage.hears(&[], "Bartok, hello");
    stage.voice(ELARA, ms(2_000)).await;
    stage.quiet(ELARA, ms(700)).await;
    let told = stage.told().await;
    assert_eq!((told.len(), told[0].outcome), (1, Outcome::Spoken), "{told:?}");
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn voice_model_hears_no_speech_over_card() {
    let passed = Arc::new(Mutex::new(Vec::new()));
    let setup = Setup { hears_sound: Some(Arc::clone(&passed)), ..Setup::of(&["Bartok"]) };
    let stage = setup.open().await;
    stage.order(Command::Pin { seat: Some(SeatId(0)), player: None }).await;
    stage.hears(&[], "the horror");
    stage.voice(ELARA, ms(600)).await;
    assert!(passed.lock().unwrap().last().is_some_and(|frames| *frames > 20));
    stage.order(Command::Halt).await;
    sleep(ms(1)).await;
    assert_eq!(passed.lock().unwrap().last(), Some(&0), "it is told to forget the beginning");
    stage.order(Command::Mute { seat: None, muted: false }).await;
    passed.lock().unwrap().clear();
    stage.voice(ELARA, ms(600)).await;
    stage.quiet(ELARA, ms(700)).await;
    assert!(passed.lock().unwrap().iter().all(|frames| *frames == 0));
    stage.close().await;
}

/// Outcome of the last line after an X-card that Thorin tried to end, at a local table or not, with
/// company or alone.
async fn ends_card(is_here: bool, is_alone: bool, said: &str) -> (Outcome, String) {
    let mut stage = Setup { is_here, ..Setup::of(&["Bartok", "Gundren"]) }.open().await;
    stage.order(Command::Mute { seat: Some(SeatId(1)), muted: true }).await;
    for other in [ELARA, MIRA, DM].into_iter().filter(|_| is_alone) {
        stage.order(Command::Leave(other)).await;
    }
    stage.order(Command::Halt).await;
    stage.types(THORIN, said).await;
    stage.settle().await;
    let line = stage.lines().pop().unwrap();
    stage.types(THORIN, "Gundren, hello").await;
    stage.settle().await;
    assert!(stage.heard("Gundren").is_none(), "the game master muted him");
    stage.types(THORIN, "Bartok, hello").await;
    stage.settle().await;
    let is_heard = stage.heard("Bartok").is_some();
    assert_eq!(is_heard, line.outcome == Outcome::Command, "{line:#?}");
    stage.close().await;
    (line.outcome, line.detail.unwrap_or_default())
}

#[tokio::test(start_paused = true)]
async fn card_is_ended_by_somebody_alone_here() {
    let (outcome, _) = ends_card(true, true, "okay, let us go on").await;
    assert_eq!(outcome, Outcome::Command);
    let (outcome, detail) = ends_card(true, true, "Bartok, are you there").await;
    assert_eq!(outcome, Outcome::NobodyAddressed);
    assert!(detail.contains("/resume"), "{detail}");
    for (is_here, is_alone) in [(true, false), (false, true), (false, false)] {
        let (outcome, detail) = ends_card(is_here, is_alone, "everyone continue").await;
        assert_eq!(outcome, Outcome::NobodyAddressed, "{is_here} {is_alone}");
        assert!(detail.contains("the game master"), "{detail}");
    }
}
