//! Recall of an NPC for a line said to it: the look-up as a turn makes it.

use std::{cell::Cell, sync::Arc};

use glyphoxa::measure::{Options, RecallMemory, RecallQuestion, Recaller, SessionId};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use serde_json::{Value, json};

use super::{
    cases::{Bench, Times},
    corpus,
    support::{figures::rounded, table::npc},
};

/// Later than everything that was said.
const NOW: i64 = 2_200_000_000_000;

/// The look-up of a table that knows the world's names, and of one that has not read them yet; the
/// goal.
pub async fn measure(bench: &Bench<'_>) -> Value {
    let memory = RecallMemory {
        store: Arc::clone(&bench.filled.store),
        scope: bench.filled.scope.clone(),
        now: || NOW,
    };
    let open = || Arc::new(Recaller::new(memory.clone(), SessionId("none".to_owned())));
    let unread = recalls(bench, open).await;
    bench.print("recall_names_unread", &unread.0, unread.1);
    let recaller = open();
    let read = recalls(bench, || Arc::clone(&recaller)).await;
    bench.print("recall", &read.0, read.1);
    bench.p99("hot context in ms, p99", &[read.0], 10.0)
}

async fn recalls(bench: &Bench<'_>, recaller: impl Fn() -> Arc<Recaller>) -> (Times, Value) {
    let mut dice = StdRng::seed_from_u64(19);
    let (found, late) = (Cell::new(0), Cell::new(0));
    let bartok = npc();
    let times = bench
        .time(|nth| {
            let mut said: Vec<&str> = Vec::new();
            for ranks in [0..10, 10..100, 30..3_000, 30..3_000, 3_000..30_000] {
                said.push(bench.words.at(dice.random_range(ranks)));
            }
            let named =
                corpus::name_of(bench.words, dice.random_range(0..bench.filled.world.entities));
            let last = if nth.is_multiple_of(10) { " last time" } else { "" };
            let said = format!("Bartok, {} {named}{last}?", said.join(" "));
            let question = RecallQuestion::new(&bartok, &said, &[]);
            let (recall, told) = recaller().recall(question, Options::default().recall_timeout);
            let (found, late) = (&found, &late);
            async move {
                let recalled = recall.await;
                found.set(found.get() + recalled.len());
                let was_late = told.get().is_none_or(|line| !line.late.is_empty());
                late.set(late.get() + usize::from(was_late));
            }
        })
        .await;
    let n = (bench.n + bench.n / 10 + 1) as f64;
    (times, json!({ "found": rounded(found.get() as f64 / n), "late": late.get() }))
}
