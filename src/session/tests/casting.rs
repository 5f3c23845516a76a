//! Changes to the cast of a running table.

use std::{collections::BTreeSet, sync::Arc};

use tokio::time::sleep;

use super::{
    super::{Command, Options, Outcome, Recast, Role, Seat},
    stage::{Setup, Stage, THORIN},
    voices::babble,
};
use crate::{
    domain::{Campaign, Message},
    engine::{
        Budget, Conversation, NpcModel,
        tests::{
            outside::{Outside, OutsideEngine},
            props::{self, Model, Step::*, ms},
        },
    },
    logic::{
        budget::{BudgetOptions, Ledger},
        tier::Keywords,
    },
    provider::{Chain, Error},
};

/// Reduces the cast to these NPCs, unchanged.
async fn keeps(stage: &Stage, npcs: &[&str]) {
    let cast = npcs.iter().map(|npc| Role {
        npc: (*npc).to_owned(),
        seat: None,
        outside: BTreeSet::new(),
    });
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

/// Name of the outside service in notices.
const FAR: &str = "far at example.com";

fn named(services: &[&str]) -> BTreeSet<String> {
    services.iter().map(ToString::to_string).collect()
}

/// `npc` with an engine of the outside service.
fn role_of(npc: &str, outside: &Arc<Outside>) -> Role {
    let (described, given) = (Arc::new(props::npc(npc)), Arc::clone(outside));
    let make = move || {
        let model = NpcModel {
            npc: Arc::clone(&described),
            models: Chain::of("far", Arc::new(Model::default()) as _),
            budget: Budget::new(Ledger::new(BudgetOptions::default(), 0.0)),
            max_tokens: 100,
        };
        let conversation = Conversation::new(model, &Campaign::default(), Vec::new());
        Ok::<_, Error>(Seat::new(
            described,
            conversation,
            Box::new(OutsideEngine(given)),
            "far",
            "far",
        ))
    };
    Role { npc: npc.to_owned(), seat: Some(Box::new(make)), outside: named(&[FAR]) }
}

/// Gives `npc` the engine of the outside service.
fn by_outside(npc: &str, outside: &Arc<Outside>) -> Command {
    Command::Cast(role_of(npc, outside))
}

#[tokio::test(start_paused = true)]
async fn new_service_hears_only_what_follows_notice() {
    let mut stage = Setup::of(&["Bartok"]).open().await;
    let outside = Arc::new(Outside::default());
    stage.models[0].then(&[Wait(2_000), Text("One.")]);
    stage.types(THORIN, "Bartok, the first").await;
    stage.types(THORIN, "Bartok, the second").await;
    stage.order(by_outside("Bartok", &outside)).await;
    stage.hears(&[], "Bartok, a secret");
    stage.voice(THORIN, ms(600)).await;
    assert!(outside.is_unused(), "{outside:?}");
    stage.order(Command::Announced(named(&[FAR]))).await;
    // Still queued, and spoken before the announcement.
    stage.late(THORIN, babble(ms(600)), ms(700));
    let told = stage.told().await;
    let outcomes: Vec<_> = told.iter().map(|line| line.outcome).collect();
    assert_eq!(outcomes, [Outcome::Spoken, Outcome::Spoken], "{told:?}");
    assert_eq!(stage.models[0].asked(), 2, "the engine of before answers what waited");
    stage.hears(&[], "Bartok, at last");
    stage.says(THORIN).await;
    sleep(ms(500)).await;
    let turns = outside.turns.lock().unwrap().clone();
    let [turn] = turns.as_slice() else { panic!("one turn: {turns:?}") };
    // A second of voice, then silence.
    assert!(turn.text == "Bartok, at last" && turn.frames <= 85, "{turn:?}");
    assert!((1..=85).contains(&*outside.frames.lock().unwrap()), "{outside:?}");
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn npc_joins_once_its_service_is_announced() {
    let stage = Setup::of(&["Bartok"]).open().await;
    let (kept, dropped) = (Arc::new(Outside::default()), Arc::new(Outside::default()));
    stage.order(by_outside("Gundren", &dropped)).await;
    // The newest description counts.
    stage.order(by_outside("Gundren", &kept)).await;
    stage.order(Command::Announced(named(&["another"]))).await;
    sleep(ms(100)).await;
    assert_eq!(stage.table.seated.borrow().len(), 1);
    stage.order(Command::Announced(named(&["another", FAR]))).await;
    sleep(ms(100)).await;
    assert_eq!(stage.table.seated.borrow().len(), 2);
    assert!(dropped.is_unused() && !kept.is_unused());
    // An NPC removed from the cast in the meantime does not join.
    let odo = Role { outside: named(&["third"]), ..role_of("Odo", &dropped) };
    stage.order(Command::Cast(odo)).await;
    keeps(&stage, &["Bartok", "Gundren"]).await;
    stage.order(Command::Announced(named(&["another", FAR, "third"]))).await;
    sleep(ms(100)).await;
    assert_eq!(stage.table.seated.borrow().len(), 2);
    stage.close().await;
}
