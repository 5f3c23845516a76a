//! Guesses of a model that answers the sound: equal sound keeps them, whatever its words.

use std::{sync::Arc, time::Duration};

use super::{
    super::Outcome,
    stage::{Setup, Stage, THORIN},
    voices::Said,
};
use crate::{
    engine::tests::props::{Step::*, count, ms},
    provider::SttAbilities,
};

/// A table whose models take sound.
async fn hearing(npcs: &[&str]) -> Stage {
    Setup { hears_sound: Some(Arc::default()), ..Setup::of(npcs) }.open().await
}

/// Requests to the first NPC's model after a second of speech, first understood as "Bartok, tell me
/// more" and then as `text`.
async fn asked(stage: &Stage, text: &'static str) -> usize {
    stage.hears(&[(45, "Bartok, tell me more")], text);
    stage.says(THORIN).await;
    stage.settle().await;
    stage.models[0].asked()
}

#[tokio::test(start_paused = true)]
async fn guess_stands_where_only_the_words_change() {
    for (hears_sound, requests) in [(Some(Arc::default()), 1), (None, 2)] {
        let mut stage = Setup { hears_sound, ..Setup::of(&["Bartok"]) }.open().await;
        assert_eq!(asked(&stage, "Bartok, sell me more").await, requests);
        let line = &stage.lines()[0];
        assert_eq!(
            (line.understood.as_str(), line.outcome),
            ("Bartok, sell me more", Outcome::Spoken)
        );
        stage.types(THORIN, "Bartok, go on").await;
        stage.settle().await;
        let read = stage.models[0].read(requests);
        assert!(read.contains("sell me more") && !read.contains("tell me more"), "{read}");
        stage.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn four_utterances_make_four_answers() {
    let stage = hearing(&["Bartok"]).await;
    for (nth, text) in ["Bartok, sell me more", "Bartok, tell me more", "Bartok, tell me, Moor"]
        .into_iter()
        .chain(["Bartok, tell me of war"])
        .enumerate()
    {
        assert_eq!(asked(&stage, text).await, nth + 1, "{text}");
    }
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn guess_for_another_npc_is_given_up() {
    let mut stage = hearing(&["Bartok", "Gundren"]).await;
    assert_eq!(asked(&stage, "Gundren, tell me more").await, 1);
    assert_eq!(stage.models[1].asked(), 1);
    let lines = stage.lines();
    assert_eq!((lines.len(), lines[0].npc.as_deref()), (1, Some("Gundren")));
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn order_in_the_final_gives_the_guess_up() {
    for text in ["X-card", "Stop", ""] {
        let mut stage = hearing(&["Bartok"]).await;
        assert_eq!(asked(&stage, text).await, 1, "{text}");
        assert!(stage.lines().iter().all(|it| it.outcome != Outcome::Spoken), "{text}");
        assert!(stage.heard("Bartok").is_none(), "{text}");
        stage.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn other_rolls_give_the_guess_up() {
    let stage = hearing(&["Bartok"]).await;
    assert_eq!(asked(&stage, "Bartok, roll two d6 for me").await, 2);
    stage.close().await;
}

/// Dice depend on the bonus and on the previous roll; neither words nor dice alone decide.
#[tokio::test(start_paused = true)]
async fn roll_before_decides_what_the_final_wants() {
    for (guessed, said, stands) in [
        ("Bartok, my bonus is plus seven", "Bartok, my bonus is plus eight", false),
        ("Bartok, again", "Bartok, a grain", false),
        ("Bartok, again", "Bartok, roll again", true),
        ("Bartok, my bonus is plus seven", "Bartok, my bonus is plus 7", true),
    ] {
        let stage = hearing(&["Bartok"]).await;
        stage.models[0].then(&[Call("roll", r#"{"expression":"2d6"}"#)]).then(&[Text("Eleven.")]);
        stage.types(THORIN, "Bartok, roll two d six").await;
        stage.settle().await;
        stage.hears(&[(45, guessed)], said);
        stage.voice(THORIN, ms(1_000)).await;
        stage.quiet(THORIN, ms(480)).await;
        assert_eq!(stage.models[0].asked(), 3, "{guessed}");
        stage.quiet(THORIN, ms(1_200)).await;
        stage.settle().await;
        let guesses = if stands { 1 } else { 2 };
        assert_eq!(stage.models[0].asked(), 2 + guesses, "{said}");
        stage.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn effects_wait_for_the_final_of_the_same_sound() {
    let stage = hearing(&["Bartok"]).await;
    stage.models[0].then(&[Call("roll", r#"{"expression":"2d6"}"#)]).then(&[Text("Eleven.")]);
    stage.hears(&[(45, "Bartok, tell me more")], "Bartok, sell me more");
    stage.voice(THORIN, ms(1_000)).await;
    stage.quiet(THORIN, ms(480)).await;
    assert_eq!((stage.models[0].asked(), count(&stage.tools.roll)), (1, 0));
    stage.quiet(THORIN, ms(400)).await;
    stage.settle().await;
    assert_eq!((stage.models[0].asked(), count(&stage.tools.roll)), (2, 1));
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn guess_is_given_up_when_its_speaker_goes_on() {
    let mut stage = hearing(&["Bartok"]).await;
    stage.hears(&[(25, "Bartok, tell me")], "Bartok, tell me more of it");
    stage.voice(THORIN, ms(600)).await;
    stage.quiet(THORIN, ms(300)).await;
    assert_eq!(stage.models[0].asked(), 1);
    stage.says(THORIN).await;
    stage.settle().await;
    assert_eq!(stage.models[0].asked(), 2);
    assert_eq!(stage.lines()[0].understood, "Bartok, tell me more of it");
    stage.close().await;
}

/// The recogniser changes its text in the silence, after the guess began.
#[tokio::test(start_paused = true)]
async fn partial_in_silence_leaves_the_guess_alone() {
    for (late, npc) in [("Bartok, sell me more", "Bartok"), ("Gundren, tell me more", "Gundren")] {
        let abilities = SttAbilities { partials: true, endpointing: true };
        let hears_sound = Some(Arc::default());
        let setup = Setup { abilities, hears_sound, ..Setup::of(&["Bartok", "Gundren"]) };
        let mut stage = setup.open().await;
        let partials = vec![(45, "Bartok, tell me more"), (70, late)];
        stage.hears_so(Said { partials, text: Some(Ok(late)), takes: Duration::ZERO });
        stage.says(THORIN).await;
        stage.settle().await;
        assert_eq!(stage.models[0].asked(), 1, "{late}");
        assert_eq!(stage.models[1].asked(), usize::from(npc == "Gundren"), "{late}");
        let lines = stage.lines();
        assert_eq!((lines.len(), lines[0].npc.as_deref()), (1, Some(npc)), "{late}");
        stage.close().await;
    }
}
