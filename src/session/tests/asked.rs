//! Words that are published before their answer, to be stored.

use tokio::time::sleep;

use super::{
    super::{Command, Outcome, TableEvent, TurnLine},
    stage::{ELARA, Setup, Stage, THORIN},
};
use crate::engine::tests::props::{Step::*, ms};

/// Words that were published, and lines, since the last call.
fn told(stage: &mut Stage) -> (Vec<TurnLine>, Vec<TurnLine>) {
    let (mut asked, mut lines) = (Vec::new(), Vec::new());
    for event in stage.events() {
        match event {
            TableEvent::Asked(line) => asked.push((*line).clone()),
            TableEvent::Line(line) => lines.push((*line).clone()),
            _ => {}
        }
    }
    (asked, lines)
}

/// Bartok thinks about what Thorin typed.
async fn thinking(text: &str) -> Stage {
    let stage = Setup::of(&["Bartok", "Gundren"]).open().await;
    stage.models[0].then(&[Wait(5_000), Text("Well met.")]);
    stage.types(THORIN, text).await;
    sleep(ms(100)).await;
    stage
}

#[tokio::test(start_paused = true)]
async fn typed_words_are_told_while_npc_thinks() {
    let mut stage = thinking("Bartok, hello").await;
    let (asked, lines) = told(&mut stage);
    assert!(lines.is_empty(), "{lines:#?}");
    let [words] = asked.as_slice() else { panic!("{asked:#?}") };
    assert_eq!(
        (words.understood.as_str(), words.npc.as_deref()),
        ("Bartok, hello", Some("Bartok"))
    );
    assert_eq!((words.from, words.speaker.as_str()), (Some(THORIN), "Thorin"));
    stage.settle().await;
    let (again, lines) = told(&mut stage);
    assert!(again.is_empty(), "{again:#?}");
    let [line] = lines.as_slice() else { panic!("{lines:#?}") };
    assert_eq!(
        (line.outcome, line.circumstances.asked),
        (Outcome::Spoken, words.circumstances.asked)
    );
    assert!(line.circumstances.asked.is_some());
    stage.types(ELARA, "what a horror that is").await;
    stage.settle().await;
    let (asked, lines) = told(&mut stage);
    assert!(asked.is_empty() && lines.len() == 1, "to no NPC: its line comes at once");
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn spoken_words_are_told_once_answer_is_heard() {
    let mut stage = Setup::of(&["Bartok"]).open().await;
    stage.answers("One is good. Two is better. Three. Four.");
    stage.hears(&[], "Bartok, hello");
    stage.says(THORIN).await;
    stage.until_heard().await;
    assert!(told(&mut stage).0.is_empty(), "more speech takes them back");
    sleep(ms(500)).await;
    let (asked, lines) = told(&mut stage);
    assert_eq!((asked.len(), lines.len()), (1, 0), "{lines:#?}");
    stage.settle().await;
    let (again, lines) = told(&mut stage);
    assert_eq!((again.len(), lines.len()), (0, 1), "{again:#?}");
    assert_eq!(lines[0].circumstances.asked, asked[0].circumstances.asked);
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn card_settles_asked_words_without_them() {
    let mut stage = thinking("Bartok, the horror").await;
    stage.types(ELARA, "Bartok, the flowers").await;
    sleep(ms(100)).await;
    stage.order(Command::Halt).await;
    stage.settle().await;
    let (asked, lines) = told(&mut stage);
    assert_eq!(asked.len(), 2, "{asked:#?}");
    for words in asked {
        let of = |line: &&TurnLine| line.circumstances.asked == words.circumstances.asked;
        let settled: Vec<&TurnLine> = lines.iter().filter(of).collect();
        let [line] = settled.as_slice() else { panic!("{settled:#?}") };
        assert!(line.understood.is_empty() && line.from.is_none(), "{line:#?}");
    }
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn asked_words_of_forgotten_have_no_line() {
    let mut stage = thinking("Bartok, the horror").await;
    stage.order(Command::Forget(THORIN)).await;
    stage.settle().await;
    let (asked, lines) = told(&mut stage);
    assert_eq!((asked.len(), lines.len()), (1, 0), "{lines:#?}");
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn requeued_words_are_told_once() {
    let mut stage = thinking("Bartok, hello").await;
    stage.order(Command::Pause(true)).await;
    sleep(ms(500)).await;
    stage.order(Command::Pause(false)).await;
    stage.settle().await;
    let (asked, lines) = told(&mut stage);
    assert_eq!((asked.len(), lines.len()), (1, 1), "{asked:#?}");
    assert_eq!(lines[0].circumstances.asked, asked[0].circumstances.asked);
    stage.close().await;
}
