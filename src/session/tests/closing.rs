//! Tables that end in the middle of something.

use tokio::time::sleep;

use super::stage::{ELARA, Setup, THORIN};
use crate::engine::tests::props::{Hum, Step::*, ms};

const ROLL: &str = r#"{"expression":"2d6"}"#;

#[tokio::test(start_paused = true)]
async fn nothing_outlives_a_table_whatever_it_was_doing() {
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
async fn a_table_ends_when_nobody_holds_it() {
    let stage = Setup::of(&["Bartok"]).open().await;
    stage.types(THORIN, "Bartok, hello").await;
    stage.until_heard().await;
    stage.let_go().await;
}
