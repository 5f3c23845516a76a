//! Facts that models propose, as game masters read and decide them.
//!
//! Entry functions: [`consolidate`], [`waiting`], [`fact`], [`settle`].

pub use crate::memory::Status as FactStatus;
use crate::{
    campaign::{RecapError, Scoped, Writer, date, recap},
    domain::CampaignKey,
    logic::words::shortened,
    memory::{
        self, Error, Item, ItemFilter, ItemKind, LineFilter, Pick, Status, TranscriptLine, Viewer,
        Visibility,
    },
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactId {
    pub campaign: CampaignKey,
    pub fact: String,
}

#[derive(Clone, Debug)]
pub struct Fact {
    /// Survives a restart.
    pub id: FactId,
    pub text: String,
    /// The lines that prove it, quoted.
    pub proof: Vec<String>,
    pub when: String,
    /// Hidden from NPCs, accepted or not.
    pub dm_only: bool,
    pub status: FactStatus,
}

#[derive(Clone, Debug, Default)]
pub struct WaitingFacts {
    pub facts: Vec<Fact>,
    /// Number of facts before this page.
    pub before: usize,
    pub all: usize,
    pub note: Option<&'static str>,
}

#[derive(Clone, Copy, Debug)]
pub struct FactsPage {
    /// Number of facts before it.
    pub after: usize,
    /// Most facts on it.
    pub count: usize,
}

#[derive(Clone, Debug)]
pub enum Verdict {
    /// True as it is.
    Accept,
    /// True in these words.
    Edit(String),
    Reject,
}

/// Longest quotation, in characters.
const QUOTED: usize = 160;

#[derive(Debug, thiserror::Error)]
pub enum FactError {
    #[error("this fact is gone: its source lines were deleted or taken back")]
    Gone,
    #[error(transparent)]
    Store(#[from] memory::Error),
}

pub struct Decided {
    pub fact: Fact,
    /// False: an earlier verdict remains.
    pub had_waited: bool,
}

/// Summarises the session `id` and proposes facts. Returns all waiting facts, oldest first.
pub async fn consolidate(
    at: Scoped<'_>,
    id: &str,
    writer: &Writer,
) -> Result<Vec<Fact>, RecapError> {
    let told = recap(at, id, Viewer::Everyone, Some(writer)).await?;
    if let Some(why) = told.and_then(|told| told.failure) {
        return Err(RecapError::NoAnswer(why));
    }
    let (session, status) = (Some(id.to_owned()), Some(Status::Proposed));
    let kinds = vec![ItemKind::Fact];
    let filter = ItemFilter { kinds, status, session, ..ItemFilter::default() };
    let items = at.store.items(at.scope, filter, Viewer::Dm).await?;
    Ok(shown(at, items).await?)
}

/// One page of the waiting facts.
pub async fn waiting(at: Scoped<'_>, page: FactsPage) -> Result<WaitingFacts, memory::Error> {
    let items = facts(at, false).await?;
    let all = items.len();
    // Facts may have been decided since the page was turned.
    let before = if page.after < all { page.after } else { 0 };
    let items = items.into_iter().skip(before).take(page.count).collect();
    Ok(WaitingFacts { facts: shown(at, items).await?, before, all, note: None })
}

/// The fact `id`, decided or not.
pub async fn fact(at: Scoped<'_>, id: &str) -> Result<Fact, FactError> {
    let filter = ItemFilter {
        ids: Some(vec![id.to_owned()]),
        kinds: vec![ItemKind::Fact],
        ..ItemFilter::default()
    };
    let items = at.store.items(at.scope, filter, Viewer::Dm).await?;
    shown(at, items).await?.pop().ok_or(FactError::Gone)
}

/// Decides a waiting fact. The caller prevents two decisions at once.
pub async fn settle(at: Scoped<'_>, id: &str, verdict: Verdict) -> Result<Decided, FactError> {
    let before = fact(at, id).await?;
    if before.status != FactStatus::Proposed {
        return Ok(Decided { fact: before, had_waited: false });
    }
    match decide(at, id, verdict).await? {
        true => Ok(Decided { fact: fact(at, id).await?, had_waited: true }),
        false => Err(FactError::Gone),
    }
}

async fn shown(at: Scoped<'_>, items: Vec<Item>) -> Result<Vec<Fact>, memory::Error> {
    let mut all = Vec::with_capacity(items.len());
    for item in items {
        let lines = match (&item.session, item.lines) {
            (Some(session), Some((from, to))) => {
                let pick = Pick::Range { from, to };
                let filter =
                    LineFilter { session: Some(session.clone()), pick, ..LineFilter::default() };
                at.store.lines(at.scope, filter, Viewer::Dm).await?
            }
            _ => Vec::new(),
        };
        // Lines between the first and the last need not be about it.
        let (first, last) = (lines.first(), lines.last());
        let last = last.filter(|_| lines.len() > 1);
        all.push(Fact {
            id: FactId { campaign: at.campaign().clone(), fact: item.id },
            text: item.text,
            proof: first.into_iter().chain(last).map(quoted).collect(),
            when: date(first.map_or(item.made, |line| line.said.at)),
            dm_only: item.visibility == Visibility::Dm,
            status: item.status,
        });
    }
    Ok(all)
}

fn quoted(TranscriptLine { seq, said, .. }: &TranscriptLine) -> String {
    let quote = shortened(&said.text.replace('\n', " "), QUOTED);
    format!("#{seq} {}: “{quote}”", said.who())
}

/// Undecided facts, oldest first; with `all`, the decided ones too.
pub async fn facts(at: Scoped<'_>, all: bool) -> Result<Vec<Item>, Error> {
    let filter = ItemFilter {
        kinds: vec![ItemKind::Fact],
        status: (!all).then_some(Status::Proposed),
        ..ItemFilter::default()
    };
    at.store.items(at.scope, filter, Viewer::Dm).await
}

/// Decides a fact; false if no fact has this id.
pub async fn decide(at: Scoped<'_>, id: &str, verdict: Verdict) -> Result<bool, Error> {
    let ids = Some(vec![id.to_owned()]);
    let filter = ItemFilter { ids, kinds: vec![ItemKind::Fact], ..ItemFilter::default() };
    let Some(mut fact) = at.store.items(at.scope, filter, Viewer::Dm).await?.pop() else {
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
    Ok(at.store.put_items(at.scope, vec![fact]).await? > 0)
}
