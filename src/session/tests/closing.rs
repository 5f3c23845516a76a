//! Tables that close during work.

use tokio::time::sleep;

use super::{
    super::TableEvent,
    stage::{ELARA, Setup, THORIN},
};
use crate::engine::tests::props::{Hum, Step::*, ms};

const ROLL: &str = r#"{"expression":"2d6"}"#;

#[tokio::test(start_paused = true)]
async fn closed_table_leaves_no_tasks_running() {
    for at in [0, 30, 350, 800, 1_100, 1_650, 1_800, 2_500] {
        let voice = Hum { first_byte: ms(100), ..Hum::default() };
        let stage = Setup { voice, ..Setup::of(&["Bartok", "Gundren"]) }.open().await;
        stage.models[0].then(&[Wait(50), Call("slow", ROLL), Call("roll", ROLL)]);
        stage.models[1].then(&[Text("One. "), Stall]);
        stage.hears(&[(30, "Bartok, hello")], "Bartok, hello");
        stage.types(ELARA, "Gundren, hello").await;
        let speaking = stage.says(THORIN);
        tokio::select! {
            () = speaking => {}
            () = sleep(ms(at)) => {}
        }
        stage.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn table_ends_when_last_handle_is_dropped() {
    let stage = Setup::of(&["Bartok"]).open().await;
    stage.types(THORIN, "Bartok, hello").await;
    stage.until_heard().await;
    stage.let_go().await;
}

/// Notices to the game master about faults.
fn faults(events: Vec<TableEvent>) -> Vec<String> {
    let notice = |event| match event {
        TableEvent::Notice(text) => Some(text),
        _ => None,
    };
    events.into_iter().filter_map(notice).filter(|it| it.contains("a fault of the")).collect()
}

#[tokio::test(start_paused = true)]
async fn table_goes_on_after_a_panic_and_says_so() {
    let mut stage = Setup { breaks: 1, ..Setup::of(&["Bartok"]) }.open().await;
    stage.types(THORIN, "Bartok, hello").await;
    stage.settle().await;
    let told = faults(stage.events());
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("the table carries on") && told[0].contains("src/"), "{told:?}");
    stage.types(THORIN, "Bartok, hello again").await;
    stage.until_heard().await;
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn repeated_panics_close_table_with_its_history() {
    let mut stage = Setup { breaks: 3, ..Setup::of(&["Bartok"]) }.open().await;
    for _ in 0..3 {
        stage.types(THORIN, "Bartok, hello").await;
        sleep(ms(5_000)).await;
    }
    let told = faults(stage.events());
    assert!(told.len() == 3 && told[2].contains("the table closes"), "{told:?}");
    let kept = stage.ended().await;
    assert_eq!(kept.histories[0].0, "Bartok");
}
