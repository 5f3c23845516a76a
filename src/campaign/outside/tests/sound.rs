//! Speech that is returned as data, at a table and without one.

use super::{super::TableSound, Program, WantedLine, to_say};
use crate::{campaign::outside::OutsideError, domain::Owner, session::Pace};

#[tokio::test(start_paused = true)]
async fn sound_of_a_table_without_listeners_returns() {
    let sound = TableSound::default();
    let evening = Program::start().plays(Box::new(sound.clone()), Pace::Free).await;
    let outside = evening.program.handles.outside.clone();
    outside.returns(&evening.session, sound);
    for text in ["Good evening.", "The first. The second."] {
        let said = evening.says(text).await;
        let seconds = text.matches('.').count();
        let samples = said.sound.expect("sound").samples;
        assert!(samples.len().abs_diff(seconds * 48_000) < 4_800, "{}", samples.len());
        assert!(samples.iter().any(|it| it.unsigned_abs() > 1_000));
    }
    let answer = outside.ask(Owner::Local, None, "Gundren", "Well?").await.unwrap();
    assert!(answer.sound.is_some_and(|it| !it.samples.is_empty()));
    evening.close().await;
}

#[tokio::test(start_paused = true)]
async fn without_a_table_words_return_as_sound() {
    let program = Program::start();
    let outside = &program.handles.outside;
    let said = outside.speak(to_say("Good evening. Sit down.")).await.unwrap();
    assert_eq!((said.how, said.heard.as_str()), ("spoken", "Good evening. Sit down."));
    assert!(said.sound.unwrap().samples.len() > 90_000);
    let asked = outside.ask(Owner::Local, None, "Bartok", "Well?").await;
    assert!(matches!(asked, Err(OutsideError::NoTable(_))), "{asked:?}");
    for text in ["  ", &*"la ".repeat(5_000)] {
        let said = outside.speak(to_say(text)).await;
        assert!(matches!(said, Err(OutsideError::NoText | OutsideError::LongText(_))), "{said:?}");
    }
    let unknown = WantedLine { npc: Some("Nemo"), ..to_say("Well?") };
    let unknown = outside.speak(unknown).await;
    assert!(matches!(unknown, Err(OutsideError::Npc(_))), "{unknown:?}");
    program.handles.workflows.close().await;
}

#[tokio::test(start_paused = true)]
async fn sound_without_a_table_is_bounded() {
    let program = Program::start();
    // Each sentence is a second of sound.
    let text = "The first. ".repeat(350);
    let said = program.handles.outside.speak(to_say(&text)).await;
    assert!(matches!(said, Err(OutsideError::LongSound)), "{:?}", said.map(|it| it.heard));
    program.handles.workflows.close().await;
}
