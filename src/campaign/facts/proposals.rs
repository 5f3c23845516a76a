//! Facts that models propose, as game masters of Discord servers read and decide them.
//!
//! Entry functions: [`consolidate`], [`waiting`], [`fact`], [`settle`]. **Never**: changes what was
//! decided before.

use std::collections::BTreeMap;

use super::{
    decisions::{decide, facts},
    fact::{Fact, FactId, FactStatus, Verdict, WaitingFacts, WantedFacts},
};
use crate::{
    campaign::{Writer, date, recap},
    logic::words::shortened,
    memory::{
        CampaignKey, Error, Item, ItemFilter, ItemKind, LineFilter, MemoryStore, Pick,
        SessionFilter, Status, TranscriptLine, Viewer, Visibility,
    },
};

/// Longest quotation, in characters.
const QUOTED: usize = 160;
/// What is said of a fact that is not there any more.
const GONE: &str = "this fact is gone: what it was drawn from was deleted or taken back";

/// A store and the campaign that is meant.
type At<'a> = (&'a dyn MemoryStore, &'a CampaignKey);

fn away(error: Error) -> String {
    error.to_string()
}

/// Has `writer` write the summary of a session and propose facts; those that wait now, the oldest
/// first. Cancel safe.
///
/// # Errors
/// The memory cannot be read or written, or the model did not answer.
pub async fn consolidate(at: At<'_>, id: &str, writer: &Writer) -> Result<Vec<Fact>, String> {
    let told = recap(at, id, Viewer::Everyone, Some(writer)).await.map_err(away)?;
    if let Some(why) = told.and_then(|told| told.note) {
        return Err(why);
    }
    let (session, status) = (Some(id.to_owned()), Some(Status::Proposed));
    let kinds = vec![ItemKind::Fact];
    let filter = ItemFilter { kinds, status, session, ..ItemFilter::default() };
    let items = at.0.items(at.1, filter, Viewer::Dm).await.map_err(away)?;
    shown(at, items).await.map_err(away)
}

/// A part of the facts that wait, of sessions of the wanted guild or of none.
///
/// # Errors
/// The memory cannot be read.
pub async fn waiting(at: At<'_>, wanted: &WantedFacts) -> Result<WaitingFacts, Error> {
    let sessions = at.0.sessions(at.1, SessionFilter::default()).await?;
    let guilds: BTreeMap<String, Option<u64>> =
        sessions.into_iter().map(|it| (it.session.id, it.session.guild)).collect();
    let is_theirs = |item: &Item| {
        let guild = item.session.as_ref().and_then(|id| guilds.get(id).copied().flatten());
        guild.is_none_or(|guild| guild == wanted.guild)
    };
    let mut items = facts(at.0, at.1, false).await?;
    items.retain(is_theirs);
    let all = items.len();
    // Others may have been decided since the page was turned.
    let before = if wanted.after < all { wanted.after } else { 0 };
    let items = items.into_iter().skip(before).take(wanted.count).collect();
    Ok(WaitingFacts { facts: shown(at, items).await?, before, all, note: None })
}

/// A fact, whatever became of it.
///
/// # Errors
/// It is gone, or the memory cannot be read.
pub async fn fact(store: &dyn MemoryStore, id: FactId) -> Result<Fact, String> {
    let campaign = CampaignKey(id.campaign);
    let filter = ItemFilter {
        ids: Some(vec![id.fact]),
        kinds: vec![ItemKind::Fact],
        ..ItemFilter::default()
    };
    let items = store.items(&campaign, filter, Viewer::Dm).await.map_err(away)?;
    let mut found = shown((store, &campaign), items).await.map_err(away)?;
    found.pop().ok_or_else(|| GONE.to_owned())
}

/// Decides about a fact that waits; the fact, and whether it had waited. Of two at once the caller
/// lets in one.
///
/// # Errors
/// It is gone, or the memory cannot be read or written.
pub async fn settle(
    store: &dyn MemoryStore,
    id: FactId,
    verdict: Verdict,
) -> Result<(Fact, bool), String> {
    let before = fact(store, id.clone()).await?;
    if before.status != FactStatus::Proposed {
        return Ok((before, false));
    }
    let campaign = CampaignKey(id.campaign.clone());
    match decide(store, &campaign, &id.fact, verdict).await.map_err(away)? {
        true => Ok((fact(store, id).await?, true)),
        false => Err(GONE.to_owned()),
    }
}

/// Items as game masters see them.
async fn shown((store, campaign): At<'_>, items: Vec<Item>) -> Result<Vec<Fact>, Error> {
    let mut all = Vec::with_capacity(items.len());
    for item in items {
        let lines = match (&item.session, item.lines) {
            (Some(session), Some((from, to))) => {
                let pick = Pick::Range { from, to };
                let filter =
                    LineFilter { session: Some(session.clone()), pick, ..LineFilter::default() };
                store.lines(campaign, filter, Viewer::Dm).await?
            }
            _ => Vec::new(),
        };
        // Lines between the first and the last need not be about it.
        let (first, last) = (lines.first(), lines.last());
        let last = last.filter(|_| lines.len() > 1);
        all.push(Fact {
            id: FactId { campaign: campaign.0.clone(), fact: item.id },
            text: item.text,
            proof: first.into_iter().chain(last).map(quoted).collect(),
            when: date(first.map_or(item.made, |line| line.said.at)),
            dm_only: item.visibility == Visibility::Dm,
            status: item.status,
        });
    }
    Ok(all)
}

/// Who said what, with its number.
fn quoted(TranscriptLine { seq, said, .. }: &TranscriptLine) -> String {
    let quote = shortened(&said.text.replace('\n', " "), QUOTED);
    format!("#{seq} {}: “{quote}”", said.who())
}
