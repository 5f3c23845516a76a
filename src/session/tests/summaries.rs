//! Summaries beside the talk.

use std::{collections::BTreeMap, time::Duration};

use tokio::{
    sync::oneshot,
    time::{Instant, sleep, timeout},
};

use super::{
    super::{Command, TableEvent},
    stage::{DM, Setup, Stage, THORIN},
};
use crate::{
    domain::{Message, Person, PersonId},
    engine::tests::{
        long::{WINDOW, talk},
        props::{Step::*, ms},
    },
    logic::budget::{BudgetOptions, Price},
    provider::Kind,
};

/// A table with a long conversation of Bartok with Anna and Thorin.
fn long() -> Setup {
    Setup { history: talk(&["Anna", "Thorin"], 34), window: Some(WINDOW), ..Setup::of(&["Bartok"]) }
}

/// Waits until no summary is needed.
async fn summed_up(stage: &Stage) {
    let (done, summed_up) = oneshot::channel();
    stage.order(Command::SumUp(done)).await;
    timeout(ms(120_000), summed_up).await.expect("it ends").expect("the table is open");
}

/// Requests so far that belong to no turn.
fn summaries(stage: &Stage) -> usize {
    let requests = stage.models[0].requests.lock().unwrap();
    requests.iter().filter(|it| format!("{:?}", it.messages).contains("You sum up")).count()
}

/// Asks as Thorin; returns the time until the answer is audible.
async fn answer(stage: &Stage) -> Duration {
    let asked = Instant::now();
    stage.types(THORIN, "Bartok, hello").await;
    stage.until_heard().await;
    asked.elapsed()
}

fn is_summed_up(history: &[Message]) -> bool {
    matches!(&history[0], Message::Summary { text, .. } if text.contains("- They talked."))
}

#[tokio::test(start_paused = true)]
async fn summary_gives_way_to_speakers() {
    let stage = long().open().await;
    stage.models[0].then(&[Wait(20_000), Text("never")]).then(&[Wait(200), Text("Well met.")]);
    stage.models[0].then(&[Wait(20_000), Text("They talked.")]);
    sleep(ms(5_000)).await;
    assert_eq!((summaries(&stage), stage.models[0].live.count()), (1, 1), "from the start");
    assert!(answer(&stage).await < ms(250), "the turn is not delayed");
    assert_eq!(stage.models[0].live.count(), 0, "the model has nothing else to do");
    stage.settle().await;
    assert_eq!(summaries(&stage), 2, "begun again once the answer was heard");
    summed_up(&stage).await;
    assert_eq!((summaries(&stage), stage.models[0].asked()), (2, 3));
    let kept = stage.close().await;
    let (_, history) = &kept.histories[0];
    assert!(is_summed_up(history), "{:?}", history[0]);
    let [.., Message::User(said), Message::Assistant { text, .. }] = &history[..] else {
        panic!("{history:?}");
    };
    assert_eq!((said.text.as_str(), text.as_str()), ("Thorin: Bartok, hello", "Well met."));
}

#[tokio::test(start_paused = true)]
async fn paid_summary_runs_beside_the_talk() {
    let prices = [("dear".to_owned(), Price { input: 1.0, output: 1.0, ..Price::default() })];
    let budget =
        BudgetOptions { session_max: None, month_max: None, prices: BTreeMap::from(prices) };
    let stage = Setup { price: Some("dear"), budget, ..long() }.open().await;
    stage.models[0].then(&[Wait(20_000), Text("They talked.")]).then(&[Text("Well met.")]);
    sleep(ms(100)).await;
    assert!(answer(&stage).await < ms(50));
    stage.settle().await;
    assert_eq!(stage.models[0].live.count(), 1);
    summed_up(&stage).await;
    assert_eq!(summaries(&stage), 1);
    assert!(is_summed_up(&stage.close().await.histories[0].1));
}

#[tokio::test(start_paused = true)]
async fn summary_of_a_forgotten_person_is_repeated() {
    let stage = Setup { history: talk(&["Anna", "Thorin"], 70), ..long() }.open().await;
    stage.models[0].then(&[Wait(2_000), Text("Anna.")]).then(&[Text("They talked.")]);
    sleep(ms(100)).await;
    let anna = Person { id: PersonId("1".into()), names: vec!["Anna".to_owned()] };
    stage.order(Command::Erase(anna, oneshot::channel().0)).await;
    summed_up(&stage).await;
    let kept = stage.close().await;
    assert!(is_summed_up(&kept.histories[0].1));
    assert!(!format!("{kept:?}").contains("Anna"));
}

#[tokio::test(start_paused = true)]
async fn summary_failure_is_reported_once() {
    let mut stage = long().open().await;
    stage.models[0].then(&[Fail(Kind::Unavailable)]);
    summed_up(&stage).await;
    for _ in 0..4 {
        stage.types(DM, "Bartok, go on").await;
        stage.settle().await;
    }
    let notices = |event: TableEvent| match event {
        TableEvent::Notice(text) => Some(text),
        _ => None,
    };
    let notices: Vec<String> = stage.events().into_iter().filter_map(notices).collect();
    let once = |words: &str| notices.iter().filter(|it| it.contains(words)).count() == 1;
    assert!(once("has talked for long") && once("an extract") && notices.len() == 2, "{notices:?}");
    stage.models[0].then(&[Text("Well met.")]).then(&[Stall]);
    answer(&stage).await;
    stage.settle().await;
    stage.close().await;
}
