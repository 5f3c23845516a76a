//! Sound that waits for a slow store to reserve its money.
//!
//! Recognition costs 0.1 per second and is paid for 10 s (500 frames) at a time.

use std::collections::BTreeMap;

use tokio::time::sleep;

use super::{
    super::Outcome,
    stage::{Setup, Stage, THORIN},
};
use crate::{
    domain::{Claim, Granted},
    engine::tests::props::{count, ms},
    logic::budget::{BudgetOptions, Price},
    provider::SttAbilities,
};

/// A table whose store grants nothing by itself. `endpointing`: the recogniser ends utterances.
async fn with_late_store(endpointing: bool) -> Stage {
    let price = Price { minute: 6.0, ..Price::default() };
    let prices = BTreeMap::from([("ears".to_owned(), price)]);
    let budget = BudgetOptions { prices, ..BudgetOptions::default() };
    let abilities = SttAbilities { partials: true, endpointing };
    Setup { abilities, budget, is_kept: true, ..Setup::of(&["Bartok"]) }.open().await
}

/// The store grants the current need, and nothing ahead.
async fn grant(stage: &Stage) {
    let writer = stage.budget.writer();
    while let Some(postings) = writer.now() {
        let grant = |claim: &Claim| {
            let granted = claim.need.plus(claim.owed);
            Granted { payer: claim.payer.clone(), granted, total: granted, refused: None }
        };
        let granted: Vec<Granted> = postings.claims.iter().map(grant).collect();
        writer.posted(&postings, &granted);
    }
    sleep(ms(5)).await;
}

#[tokio::test(start_paused = true)]
async fn unpaid_sound_waits_for_a_late_store() {
    let mut stage = with_late_store(true).await;
    stage.voice(THORIN, ms(1_000)).await;
    assert_eq!((count(&stage.stt.frames), stage.stt.live.count()), (0, 0), "nobody has paid");
    grant(&stage).await;
    assert_eq!(count(&stage.stt.frames), 50, "nothing is lost");
    stage.voice(THORIN, ms(10_000)).await;
    assert_eq!(count(&stage.stt.frames), 500, "the rest waits for its payment");
    grant(&stage).await;
    assert_eq!(count(&stage.stt.frames), 550, "nothing is lost");
    assert_eq!(stage.lines().len(), 0);
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn late_store_ends_an_endless_recognition() {
    let mut stage = with_late_store(true).await;
    stage.voice(THORIN, ms(1_000)).await;
    grant(&stage).await;
    stage.voice(THORIN, ms(11_500)).await;
    assert_eq!(stage.lines().len(), 0, "the store has half a second more");
    stage.voice(THORIN, ms(1_000)).await;
    assert_eq!((count(&stage.stt.frames), stage.stt.live.count()), (500, 0));
    let lines = stage.lines();
    let refused: Vec<_> = lines.iter().filter(|it| it.outcome == Outcome::OverBudget).collect();
    assert_eq!(refused.len(), 1, "{lines:?}");
    let why = refused[0].detail.as_deref().unwrap_or_default();
    assert!(why.contains("has not answered within 3 s"), "{why}");
    assert!((stage.budget.spent() - 1.0).abs() < 1e-6, "{}", stage.budget.spent());
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn short_utterance_is_paid_before_it_is_heard() {
    let mut stage = with_late_store(false).await;
    stage.hears(&[], "Bartok hello");
    stage.says(THORIN).await;
    assert_eq!((count(&stage.stt.frames), stage.stt.live.count()), (0, 0), "nobody has paid");
    grant(&stage).await;
    assert_eq!(stage.told().await[0].outcome, Outcome::Spoken);
    assert!(count(&stage.stt.frames) >= 50, "{}", count(&stage.stt.frames));
    assert!(stage.budget.spent() > 0.1, "{}", stage.budget.spent());
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn utterance_the_store_never_pays_is_not_sent() {
    let mut stage = with_late_store(false).await;
    stage.hears(&[], "Bartok hello");
    stage.says(THORIN).await;
    let told = stage.told().await;
    assert!(told.iter().any(|line| line.outcome == Outcome::OverBudget), "{told:?}");
    assert_eq!((count(&stage.stt.frames), stage.stt.live.count()), (0, 0));
    assert!(stage.budget.spent() < 1e-9, "{}", stage.budget.spent());
    stage.close().await;
}
