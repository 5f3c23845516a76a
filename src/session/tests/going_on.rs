//! A table that goes on where another one was interrupted.

use std::sync::Arc;

use tempfile::TempDir;
use tokio::{
    sync::oneshot,
    time::{Instant, sleep},
};

use super::{
    super::{
        Command, Continuation, Memory, Outcome, SceneChange, SeatId, State, Status, TableEvent,
    },
    stage::{DM, ELARA, Setup, Stage, THORIN},
};
use crate::{
    domain::{Person, PersonId, Tier},
    engine::tests::props::{Step::Text, ms},
    memory::{CampaignKey, Scope, Sqlite},
};

/// Unix time in ms, by the test's clock.
fn unix() -> i64 {
    thread_local! {
        static BEGAN: Instant = Instant::now();
    }
    let since = BEGAN.with(Instant::elapsed).as_millis();
    1_800_000_000_000 + i64::try_from(since).unwrap()
}

/// A table of Bartok and Gundren with a wall clock.
async fn table(folder: &TempDir, continuation: Option<Continuation>) -> Stage {
    let store = Arc::new(Sqlite::open(&folder.path().join("memory.db")).unwrap());
    let scope = Scope::local(CampaignKey("c".to_owned()));
    let memory = Some(Memory { store, scope, now: unix });
    Setup { memory, continuation, ..Setup::of(&["Bartok", "Gundren"]) }.open().await
}

async fn status(stage: &Stage) -> Status {
    let (ask, answer) = oneshot::channel();
    stage.order(Command::Status(ask)).await;
    answer.await.expect("the table is open")
}

/// Last state that the table has published since the last call.
async fn told(stage: &mut Stage) -> Option<Continuation> {
    status(stage).await;
    let stands = |event| match event {
        TableEvent::Stands(continuation) => Some(Arc::unwrap_or_clone(continuation)),
        _ => None,
    };
    stage.events().into_iter().filter_map(stands).last()
}

fn direct(seat: usize, note: &str, turns: Option<u32>) -> Command {
    Command::Direct { seat: SeatId(seat), note: note.to_owned(), turns }
}

#[tokio::test(start_paused = true)]
async fn every_order_is_told_and_goes_on() {
    let folder = TempDir::new().unwrap();
    let mut stage = table(&folder, None).await;
    let (bartok, gundren) = (Some(SeatId(0)), Some(SeatId(1)));
    let in_a_while = Some(Instant::now() + ms(600_000));
    let ditch = SceneChange::Set {
        location: Some("a ditch".to_owned()),
        time: Some("dusk".to_owned()),
        music: None,
    };
    let orders = [
        Command::Mute { seat: gundren, muted: true },
        Command::Scene(ditch),
        Command::Scene(SceneChange::Leave(SeatId(1))),
        direct(0, "Be rude to Thorin.", Some(3)),
        direct(1, "You are cold.", None),
        Command::Pin { seat: gundren, player: Some(ELARA) },
        Command::Pin { seat: bartok, player: None },
        Command::SetTier { seat: None, tier: Some(Tier::Deep), until: in_a_while },
        Command::SetTier { seat: gundren, tier: Some(Tier::Fast), until: None },
        Command::Typed { speaker: DM, text: "think carefully Bartok".to_owned() },
        Command::Pause(true),
    ];
    let mut last = Continuation::default();
    for order in orders {
        let what = format!("{order:?}");
        stage.order(order).await;
        let now = told(&mut stage).await.expect(&what);
        assert_ne!(now, last, "{what}");
        last = now;
    }
    assert_eq!(last.notes[0].about, [PersonId("Thorin".to_owned())]);
    assert!(!format!("{last:?}").contains("rude"), "{last:?}");
    let before = status(&stage).await;
    stage.let_go().await;

    let written = serde_json::to_string(&last).unwrap();
    let stage = table(&folder, Some(serde_json::from_str(&written).unwrap())).await;
    let after = status(&stage).await;
    assert_eq!(after.state, State::Paused);
    assert_eq!(format!("{:?}", after.scene), format!("{:?}", before.scene));
    for (now, then) in after.seats.iter().zip(&before.seats) {
        assert_eq!((now.muted, now.override_), (then.muted, then.override_));
        assert_eq!((&now.pinned_by, now.note_turns_left), (&then.pinned_by, then.note_turns_left));
    }
    assert_eq!(after.seats[0].override_, Some((Tier::Deep, None)), "for the next turn");
    stage.order(Command::SetTier { seat: Some(SeatId(0)), tier: None, until: None }).await;
    let (tier, left) = status(&stage).await.seats[0].override_.unwrap();
    assert_eq!(tier, Tier::Deep);
    assert!(left.is_some_and(|left| left <= ms(600_000) && left > ms(590_000)), "{left:?}");
    stage.let_go().await;
}

#[tokio::test(start_paused = true)]
async fn same_order_twice_is_told_once() {
    let folder = TempDir::new().unwrap();
    let mut stage = table(&folder, None).await;
    stage.order(Command::Pin { seat: None, player: None }).await;
    assert_eq!(told(&mut stage).await, None);
    for is_news in [true, false] {
        stage.order(direct(0, "Be brief.", None)).await;
        assert_eq!(told(&mut stage).await.is_some(), is_news);
    }
    stage.let_go().await;
}

#[tokio::test(start_paused = true)]
async fn time_of_a_tier_runs_while_no_table_is_open() {
    let folder = TempDir::new().unwrap();
    let mut stage = table(&folder, None).await;
    let until = Some(Instant::now() + ms(60_000));
    stage.order(Command::SetTier { seat: None, tier: Some(Tier::Deep), until }).await;
    let kept = told(&mut stage).await.expect("it is told");
    stage.let_go().await;
    for (away, is_set) in [(50_000, true), (10_000, false)] {
        sleep(ms(away)).await;
        let stage = table(&folder, Some(kept.clone())).await;
        assert_eq!(status(&stage).await.seats[0].override_.is_some(), is_set);
        stage.let_go().await;
    }
}

#[tokio::test(start_paused = true)]
async fn turns_of_note_and_careful_turn_are_counted() {
    let mut stage = Setup::of(&["Bartok"]).open().await;
    stage.order(direct(0, "Be brief.", Some(2))).await;
    stage.types(DM, "think carefully Bartok").await;
    let kept = told(&mut stage).await.expect("it is told");
    assert_eq!(kept.next_tiers["Bartok"], Tier::Deep);
    for left in [Some(1), None] {
        stage.types(THORIN, "Bartok, hello").await;
        stage.settle().await;
        let kept = told(&mut stage).await.expect("it is told");
        assert_eq!(kept.notes.first().map(|note| note.turns), left.map(Some));
        assert!(kept.next_tiers.is_empty());
    }
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn note_goes_on_to_the_model() {
    let mut stage = Setup::of(&["Bartok"]).open().await;
    stage.order(direct(0, "You lost your hat.", Some(2))).await;
    let continuation = told(&mut stage).await;
    stage.close().await;
    let stage = Setup { continuation, ..Setup::of(&["Bartok"]) }.open().await;
    stage.types(THORIN, "Bartok, hello").await;
    stage.settle().await;
    let read = stage.models[0].read(0);
    assert!(read.contains("You lost your hat."), "{read}");
    assert_eq!(stage.close().await.continuation.notes[0].turns, Some(1));
}

#[tokio::test(start_paused = true)]
async fn deletion_reaches_notes_and_pins() {
    let mut stage = Setup::of(&["Bartok", "Gundren"]).open().await;
    let name = Some("Baldric".to_owned());
    stage.order(Command::Character { speaker: THORIN, name }).await;
    stage.order(direct(0, "You hate Baldric's hat.", None)).await;
    stage.order(direct(1, "You like Elara.", None)).await;
    for player in [THORIN, ELARA] {
        stage.order(Command::Pin { seat: Some(SeatId(0)), player: Some(player) }).await;
    }
    let mut kept = told(&mut stage).await.expect("it is told");
    let thorin = PersonId("Thorin".to_owned());
    assert_eq!(kept.entries_of(&thorin), 2);
    let (done, erased) = oneshot::channel();
    stage.order(Command::Erase(Person { id: thorin.clone(), names: Vec::new() }, done)).await;
    assert_eq!(erased.await, Ok(()));
    let left = told(&mut stage).await.expect("it is told");
    assert_eq!((left.entries_of(&thorin), left.notes.len(), left.pins.len()), (0, 1, 1));
    kept.forget(&thorin);
    assert_eq!(kept, left);
    let closed = stage.close().await.continuation;
    assert_eq!((closed.notes, closed.pins), (left.notes, left.pins));
}

#[test]
fn state_of_an_earlier_version_is_read() {
    let text = r#"{"muted": ["Bartok"], "location": "Mine", "present": ["Bartok"]}"#;
    let read: Continuation = serde_json::from_str(text).unwrap();
    let muted = vec!["Bartok".to_owned()];
    let location = Some("Mine".to_owned());
    let wanted = Continuation { present: muted.clone(), muted, location, ..Default::default() };
    assert_eq!(read, wanted);
}

#[tokio::test(start_paused = true)]
async fn table_that_another_follows_pauses_itself_only() {
    for was_paused in [false, true] {
        let mut stage = Setup::of(&["Bartok"]).open().await;
        stage.models[0].then(&[Text("One. Two. Three.")]);
        stage.types(THORIN, "Bartok, count").await;
        stage.until_heard().await;
        stage.order(Command::Pause(was_paused)).await;
        stage.order(Command::HandOver).await;
        assert!(told(&mut stage).await.is_none_or(|it| it.paused == was_paused));
        let (done, mut silent) = oneshot::channel();
        stage.order(Command::AwaitSilence(done)).await;
        assert_eq!(status(&stage).await.state, State::Paused);
        assert!(silent.try_recv().is_err(), "he is not done");
        silent.await.unwrap();
        assert_eq!(stage.told().await[0].outcome, Outcome::Spoken);
        assert_eq!(stage.close().await.continuation.paused, was_paused);
    }
}
