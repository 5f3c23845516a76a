//! Random speech at a recogniser paid by the minute: recognition stays within the cap.
//!
//! It costs 0.1 per second and is paid for 10 s at a time. `GLYPHOXA_TEST_SEED=7` repeats one seed.

use std::{collections::BTreeMap, sync::Arc};

use futures::future::join_all;
use rand::{RngExt, SeedableRng, rngs::StdRng};
use tokio::time::sleep;

use super::stage::{ELARA, Setup, THORIN};
use crate::{
    engine::tests::props::{count, ms, seeds},
    logic::budget::{BudgetOptions, Price},
    provider::SttAbilities,
    session::Command,
};

/// Cost of a frame, and of one payment.
const FRAME_COST: f64 = 0.002;
const PAYMENT: f64 = 1.0;

/// Two people talk at once, with interruptions; returns the number of frames recognised.
async fn table(seed: u64) -> usize {
    let mut rng = StdRng::seed_from_u64(seed);
    let price = Price { minute: 6.0, ..Price::default() };
    let prices = BTreeMap::from([("ears".to_owned(), price)]);
    let cap = f64::from(rng.random_range(9..35_u8)) / 10.0;
    let budget = BudgetOptions { session_max: Some(cap), month_max: None, prices };
    // The recogniser ends utterances, or the table does.
    let abilities = SttAbilities { partials: true, endpointing: rng.random_bool(0.5) };
    let stage = Setup { abilities, budget, ..Setup::of(&["Bartok"]) }.open().await;
    let people = [THORIN, ELARA].map(|speaker| (speaker, StdRng::seed_from_u64(rng.random())));
    let talking = people.map(|(speaker, mut rng)| {
        let stage = &stage;
        async move {
            for _ in 0..2 {
                let most = if rng.random_bool(0.3) { 14_000 } else { 3_000 };
                stage.voice(speaker, ms(rng.random_range(200..most))).await;
                stage.quiet(speaker, ms(rng.random_range(0..1_500))).await;
            }
        }
    });
    let halt = ms(rng.random_range(0..20_000));
    let stopping = async {
        sleep(halt).await;
        stage.order(Command::Halt).await;
        stage.order(Command::Mute { seat: None, muted: false }).await;
    };
    tokio::join!(join_all(talking), stopping);
    let (frames, budget) = (Arc::clone(&stage.stt.frames), stage.budget.clone());
    stage.close().await;
    let frames = count(&frames);
    let billed = frames as f64 * FRAME_COST;
    assert!(billed <= cap + PAYMENT, "seed {seed}: {billed} billed under a cap of {cap}");
    let booked = budget.spent();
    assert!(billed <= booked + 1e-6, "seed {seed}: {billed} billed, {booked} booked");
    frames
}

#[test]
fn random_speech_stays_within_the_cap() {
    let heard = seeds(20, 1_000, table);
    let some = heard.iter().filter(|frames| **frames > 500).count();
    assert!(heard.len() == 1 || some > 2, "too little was heard: {heard:?}");
}
