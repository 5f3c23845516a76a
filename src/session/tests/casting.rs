//! A cast that changes while the table runs.

use std::sync::Arc;

use tokio::time::sleep;

use super::{
    super::{Command, Options, Outcome, Recast, Role},
    stage::{Setup, Stage, THORIN},
};
use crate::{
    domain::{Campaign, Message},
    engine::tests::props::{Step::*, ms},
    logic::tier::Keywords,
};

/// The table goes on with these alone, as they are.
async fn keeps(stage: &Stage, npcs: &[&str]) {
    let cast = npcs.iter().map(|npc| Role { npc: (*npc).to_owned(), seat: None });
    let recast = Recast {
        judge: None,
        options: Options::default(),
        campaign: Arc::new(Campaign::default()),
        keywords: Keywords::default(),
        rules: Arc::from([]),
        cast: cast.collect(),
    };
    stage.order(Command::Recast(Box::new(recast))).await;
}

#[tokio::test(start_paused = true)]
async fn leaving_npc_finishes_only_its_current_line() {
    let mut stage = Setup::of(&["Bartok", "Gundren"]).open().await;
    stage.models[1].then(&[Wait(500), Text("This is the whole of it, and no less.")]);
    stage.types(THORIN, "Gundren, tell us").await;
    sleep(ms(100)).await;
    stage.types(THORIN, "Gundren, and then?").await;
    keeps(&stage, &["Bartok"]).await;
    stage.settle().await;
    let lines = stage.lines();
    let line = |outcome: Outcome| lines.iter().find(|line| line.outcome == outcome);
    let told = line(Outcome::Spoken).expect("she has spoken");
    assert_eq!(told.reply, "This is the whole of it, and no less.");
    let waited = line(Outcome::Cancelled).expect("nobody answers");
    assert_eq!(waited.detail.as_deref(), Some("the npc left the table before it could answer"));
    let seated: Vec<String> =
        stage.table.seated.borrow().iter().map(|it| it.npc.name.clone()).collect();
    assert_eq!(seated, ["Bartok"]);
    stage.types(THORIN, "Gundren, are you there?").await;
    stage.settle().await;
    assert_eq!(stage.lines()[0].outcome, Outcome::NobodyAddressed);
    let kept = stage.close().await;
    let (npc, history) = &kept.histories[1];
    assert_eq!(npc, "Gundren", "what she remembers is kept");
    assert!(matches!(history.last(), Some(Message::Assistant { .. })), "{history:?}");
}
