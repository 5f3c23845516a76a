//! Recap of one session, with the lines that prove it. Entry function: [`recap`].

use std::fmt::Write as _;

use serde::Serialize;

use super::{
    extract::{self, story},
    model::{self, Claim, Writer},
};
use crate::{
    campaign::{NotWritten, Scoped, date},
    domain::fnv1a,
    memory::{
        self, EntityFilter, Error, Item, ItemFilter, ItemKind, LineFilter, Session, SessionFilter,
        Status, TranscriptLine, Viewer, Visibility,
    },
    provider,
};

#[derive(Debug, thiserror::Error)]
pub enum RecapError {
    /// The last lines are not in the store.
    #[error(transparent)]
    NotWritten(#[from] NotWritten),
    #[error(transparent)]
    Store(#[from] memory::Error),
    #[error(transparent)]
    Model(#[from] provider::Error),
    /// The chat model's reason for no recap.
    #[error("{0}")]
    NoAnswer(String),
    #[error("this server has no session '{0}'")]
    Unknown(String),
    #[error("this server has no sessions yet (start one: /session start)")]
    Nothing,
    /// The session was deleted while it was read.
    #[error("the session '{0}' was deleted just now")]
    Deleted(String),
}

/// By a model, or an extract.
#[derive(Clone, Debug, Serialize)]
pub struct Recap {
    pub session: String,
    /// In Unix time in ms.
    pub started: Option<i64>,
    /// In the order of the session.
    pub claims: Vec<Claim>,
    /// Mandatory exchanges that the model left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<Claim>,
    /// The model's unproven claims.
    pub to_confirm: Vec<String>,
    /// Number of its facts that wait for the game master.
    pub proposed: u64,
    /// The model's name; `None`: an extract.
    pub by: Option<String>,
    /// Why it is an extract although a model is configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Why the model gave no answer at all.
    #[serde(skip)]
    pub failure: Option<String>,
}

/// Reason for rejecting a model's answer.
const UNUSABLE: &str = "none of its claims are proven by the lines it named";
/// Reason for rejecting an answer that may quote deleted lines.
const DELETED: &str = "lines were deleted while it was written";

/// Recap for `viewer`, by `writer` if present. Stores the public part as the session's summary and
/// proposes the model's facts to the game master. `None`: no such session. Cancel safe.
pub async fn recap(
    at: Scoped<'_>,
    id: &str,
    viewer: Viewer,
    writer: Option<&Writer>,
) -> Result<Option<Recap>, Error> {
    let (store, scope) = (at.store, at.scope);
    let filter = SessionFilter { id: Some(id.to_owned()), ..SessionFilter::default() };
    let Some(entry) = store.sessions(scope, filter).await?.pop() else { return Ok(None) };
    let filter = LineFilter { session: Some(id.to_owned()), ..LineFilter::default() };
    let mut lines = story(store.lines(scope, filter.clone(), viewer.clone()).await?);
    let mut written = match writer.filter(|_| !lines.is_empty()) {
        None => None,
        Some(writer) => Some((writer, model::write(writer, &lines).await)),
    };
    let mut failure = None;
    if written.is_some() {
        let now = story(store.lines(scope, filter, viewer.clone()).await?);
        if !is_continued(&lines, &now) {
            (written, failure, lines) = (None, Some(DELETED.to_owned()), now);
        }
    }
    let mut recap = Recap {
        session: id.to_owned(),
        started: entry.session.started,
        claims: Vec::new(),
        left_out: Vec::new(),
        to_confirm: Vec::new(),
        proposed: 0,
        by: None,
        note: failure.clone(),
        failure,
    };
    match written {
        Some((writer, Ok(written))) => {
            recap.to_confirm = written.to_confirm;
            recap.proposed = propose(at, id, &lines, written.facts).await?;
            if written.claims.is_empty() {
                recap.note = Some(UNUSABLE.to_owned());
            } else {
                recap.by = Some(writer.model.models.called());
                recap.left_out = extract::left_out(&lines, &written.claims);
                recap.claims = written.claims;
            }
        }
        Some((_, Err(error))) => {
            recap.failure = Some(error.to_string());
            recap.note.clone_from(&recap.failure);
        }
        None => {}
    }
    if recap.by.is_none() {
        let everything = EntityFilter::default();
        let names = store.entities(scope, everything, viewer.clone()).await?;
        recap.claims = extract::extract(&lines, &names);
    }
    if viewer == Viewer::Everyone && !recap.claims.is_empty() {
        let summary = Some(recap.summary());
        let session = Session { id: id.to_owned(), summary, ..Session::default() };
        store.put_session(scope, session).await?;
    }
    Ok(Some(recap))
}

/// True if `now` begins with the words of `before`.
fn is_continued(before: &[TranscriptLine], now: &[TranscriptLine]) -> bool {
    let words = |line: &TranscriptLine| (line.seq, line.said.text.clone());
    now.len() >= before.len()
        && before.iter().map(words).eq(now.iter().take(before.len()).map(words))
}

impl Recap {
    /// One claim or omission per line.
    fn summary(&self) -> String {
        self.claims
            .iter()
            .chain(&self.left_out)
            .map(|claim| claim.text.as_str())
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// Text for people: claims with line numbers, and unproven ones.
    pub fn text(&self) -> String {
        let mut text =
            format!("{} {}\n", self.session, self.started.map_or_else(String::new, date));
        // Writing to a `String` cannot fail.
        if self.claims.is_empty() {
            _ = writeln!(text, "nothing was said");
        }
        let write = |text: &mut String, claims: &[Claim]| {
            for claim in claims {
                let lines: Vec<String> = claim.lines.iter().map(|it| format!("#{it}")).collect();
                _ = writeln!(text, "- {} [{}]", claim.text, lines.join(", "));
            }
        };
        write(&mut text, &self.claims);
        if !self.left_out.is_empty() {
            _ = writeln!(text, "Also said:");
        }
        write(&mut text, &self.left_out);
        if !self.to_confirm.is_empty() {
            _ = writeln!(text, "To confirm (no line says so):");
        }
        for doubt in &self.to_confirm {
            _ = writeln!(text, "- {doubt}");
        }
        if let Some(note) = &self.note {
            _ = writeln!(text, "This is an extract, because the model gave no recap ({note}).");
        }
        text
    }
}

/// Proposes new facts to the game master; returns their number.
async fn propose(
    at: Scoped<'_>,
    session: &str,
    lines: &[TranscriptLine],
    facts: Vec<Claim>,
) -> Result<u64, Error> {
    let mut items = Vec::new();
    for Claim { text, lines: proof } in facts {
        let (Some(first), Some(last)) = (proof.iter().min(), proof.iter().max()) else { continue };
        let proving = |line: &&TranscriptLine| (*first..=*last).contains(&line.seq);
        let open =
            lines.iter().filter(proving).all(|it| it.said.visibility == Visibility::Everyone);
        let made = lines.iter().filter(proving).map(|line| line.said.at).max();
        items.push(Item {
            id: fact_id(&text),
            kind: ItemKind::Fact,
            text,
            session: Some(session.to_owned()),
            lines: Some((*first, *last)),
            visibility: if open { Visibility::Everyone } else { Visibility::Dm },
            status: Status::Proposed,
            made: made.unwrap_or_default(),
        });
    }
    let ids = Some(items.iter().map(|item| item.id.clone()).collect());
    let filter = ItemFilter { ids, ..ItemFilter::default() };
    let known = at.store.items(at.scope, filter, Viewer::Dm).await?;
    items.retain(|item| known.iter().all(|known| known.id != item.id));
    if items.is_empty() {
        return Ok(0);
    }
    at.store.put_items(at.scope, items).await
}

/// Equal words give an equal id, so a fact is proposed once.
fn fact_id(text: &str) -> String {
    let words = text.chars().filter(|it| it.is_alphanumeric()).flat_map(char::to_lowercase);
    format!("fact-{:016x}", fnv1a(words.collect::<String>().into_bytes()))
}
