//! What models propose to hold for true, and what the game master says to it.
//!
//! Entry functions: [`facts`], [`decide`]. **Never**: takes a proposal for true unasked.

use super::fact::Verdict;
use crate::memory::{CampaignKey, Error, Item, ItemFilter, ItemKind, MemoryStore, Status, Viewer};

/// The facts that wait for the game master, the oldest first; with `all` those that were decided
/// too.
///
/// # Errors
/// The memory cannot be read.
pub async fn facts(
    store: &dyn MemoryStore,
    campaign: &CampaignKey,
    all: bool,
) -> Result<Vec<Item>, Error> {
    let filter = ItemFilter {
        kinds: vec![ItemKind::Fact],
        status: (!all).then_some(Status::Proposed),
        ..ItemFilter::default()
    };
    store.items(campaign, filter, Viewer::Dm).await
}

/// Decides on a fact; whether there is one of this id.
///
/// # Errors
/// The memory cannot be written.
pub async fn decide(
    store: &dyn MemoryStore,
    campaign: &CampaignKey,
    id: &str,
    verdict: Verdict,
) -> Result<bool, Error> {
    let ids = Some(vec![id.to_owned()]);
    let filter = ItemFilter { ids, kinds: vec![ItemKind::Fact], ..ItemFilter::default() };
    let Some(mut fact) = store.items(campaign, filter, Viewer::Dm).await?.pop() else {
        return Ok(false);
    };
    fact.status = match verdict {
        Verdict::Accept => Status::Accepted,
        Verdict::Reject => Status::Rejected,
        Verdict::Edit(text) => {
            fact.text = text;
            Status::Accepted
        }
    };
    Ok(store.put_items(campaign, vec![fact]).await? > 0)
}
