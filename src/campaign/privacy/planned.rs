//! Schedules and runs of workflows with a person's id.
//!
//! Entry functions: [`made_by`], [`naming`].

use crate::{
    campaign::date,
    domain::{Scope, Timestamp},
    memory::{Error, MemoryStore},
};

/// Schedules that `player` made and runs that they started, as lines of text for them.
pub async fn made_by(
    store: &dyn MemoryStore,
    scope: &Scope,
    player: &str,
) -> Result<Vec<String>, Error> {
    let schedules = store.schedules(scope).await?.into_iter();
    let schedules = schedules.filter(|it| it.by.as_ref().is_some_and(|by| by.0 == player));
    let schedules =
        schedules.map(|it| format!("{} schedule {}: {}", date(it.made), it.when, it.action));
    let runs = store.runs(scope, 0).await?.into_iter();
    let runs = runs.filter(|it| it.starter().is_some_and(|starter| starter == player));
    let runs = runs.map(|it| format!("{} workflow {}", date(it.began), it.workflow));
    Ok(schedules.chain(runs).collect())
}

/// Number of schedules and runs that a deletion of `player` would change.
pub async fn naming(store: &dyn MemoryStore, scope: &Scope, player: &str) -> Result<u64, Error> {
    let mut schedules = store.schedules(scope).await?;
    let mut runs = store.runs(scope, 0).await?;
    let schedules = schedules.iter_mut().map(|it| it.forget(player, Timestamp::MAX));
    let runs = runs.iter_mut().map(|it| it.forget(player, Timestamp::MAX));
    Ok(schedules.chain(runs).map(u64::from).sum())
}
