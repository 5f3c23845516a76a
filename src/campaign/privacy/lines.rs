//! What the store has of one person.
//!
//! Entry functions: [`own_lines`], [`forget`]. **Never**: forgets what somebody else has said.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use super::request::ForgetFrom;
use crate::{
    campaign::{date, time},
    memory::{
        CampaignKey, Error, Forget, LineFilter, MemoryStore, SessionFilter, TranscriptLine, Viewer,
    },
};

/// Everything a person has said, as text for them; `player` is their identity.
///
/// # Errors
/// The memory cannot be read.
pub async fn own_lines(store: &dyn MemoryStore, player: &str) -> Result<String, Error> {
    let mut text = String::from("What is written down of what you said. Times are UTC.\n");
    let (mut lines, mut session) = (0_u64, None);
    for campaign in store.campaigns().await? {
        for TranscriptLine { said, .. } in theirs(store, &campaign, player).await? {
            if session.as_ref() != Some(&said.session) {
                // Writing to a text cannot fail.
                _ = writeln!(
                    text,
                    "\n# {}, {} (campaign {})\n",
                    said.session,
                    date(said.at),
                    campaign.0
                );
                session = Some(said.session.clone());
            }
            let name = said.who();
            let to = said.npc.as_ref().map_or_else(String::new, |npc| format!(" to {npc}"));
            _ = writeln!(text, "{} {name}{to}: {}", time(said.at), said.text);
            if let Some(raw) = &said.raw {
                _ = writeln!(text, "         (as it was heard: {raw})");
            }
            lines += 1;
        }
    }
    if lines == 0 {
        text.push_str("\nNothing.\n");
    }
    Ok(text)
}

async fn theirs(
    store: &dyn MemoryStore,
    campaign: &CampaignKey,
    player: &str,
) -> Result<Vec<TranscriptLine>, Error> {
    let filter = LineFilter { player: Some(player.to_owned()), ..LineFilter::default() };
    store.lines(campaign, filter, Viewer::Dm).await
}

/// Names a person goes by in what is kept of them.
///
/// # Errors
/// The memory cannot be read.
pub async fn names(store: &dyn MemoryStore, player: &str) -> Result<BTreeSet<String>, Error> {
    let mut names = BTreeSet::new();
    for campaign in store.campaigns().await? {
        for TranscriptLine { said, .. } in theirs(store, &campaign, player).await? {
            names.extend(said.character);
            names.insert(said.speaker);
        }
    }
    Ok(names)
}

/// Forgets a person's lines and what was derived from them; how many lines there were. Where they
/// have played elsewhere too, what was said there stays.
///
/// # Errors
/// The memory cannot be written.
pub async fn forget(
    store: &dyn MemoryStore,
    player: &str,
    from: &ForgetFrom,
) -> Result<u64, Error> {
    let mut gone = 0;
    for campaign in store.campaigns().await? {
        let lines = theirs(store, &campaign, player).await?;
        let guilds = guilds(store, &campaign).await?;
        let is_meant = |line: &&TranscriptLine| match from {
            ForgetFrom::Everywhere => true,
            ForgetFrom::Owner(owner) => guilds.get(&line.said.session).copied() == owner.guild(),
            ForgetFrom::Session(session) => line.said.session == session.0,
        };
        let meant: Vec<_> = lines.iter().filter(is_meant).map(|it| it.said.uid.clone()).collect();
        let is_all = meant.len() == lines.len() && !matches!(from, ForgetFrom::Session(_));
        let done = if is_all {
            store.forget(&campaign, Forget::Player(player.to_owned())).await?
        } else {
            store.withdraw(&campaign, meant).await?
        };
        gone += done.lines;
    }
    Ok(gone)
}

/// The guild of each session that has one.
async fn guilds(
    store: &dyn MemoryStore,
    campaign: &CampaignKey,
) -> Result<BTreeMap<String, u64>, Error> {
    let all = store.sessions(campaign, SessionFilter::default()).await?;
    let guild = |session: crate::memory::Session| Some((session.id, session.guild?));
    Ok(all.into_iter().filter_map(|entry| guild(entry.session)).collect())
}
