//! What is kept of one person: shown to them, and forgotten.
//!
//! Entry functions: [`own_lines`], [`forget`]. **Never**: leaves a person's words where NPCs go on
//! from them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs, io,
    path::Path,
};

use anyhow::Context;

use super::{
    call_log::forget_calls,
    dates::{date, time},
    kept::KeptSession,
};
use crate::{
    domain::SessionId,
    memory::{
        CampaignKey, Error, Forget, LineFilter, MemoryStore, SessionFilter, TranscriptLine, Viewer,
    },
};

/// What names of Discord's sessions begin with.
const SESSIONS: &str = "discord-";

/// Whose lines are forgotten, and which of them.
#[derive(Clone, Debug)]
pub struct ForgetRequest {
    /// The person, by their id on Discord.
    pub user: u64,
    /// What they are called now, beside what is known of them.
    pub names: Vec<String>,
    /// Where the lines were said.
    pub from: ForgetFrom,
}

/// Where lines were said that are forgotten.
#[derive(Clone, Debug)]
pub enum ForgetFrom {
    /// Anywhere.
    Everywhere,
    /// In sessions of this guild.
    Guild(u64),
    /// In this session alone.
    Session(SessionId),
}

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
            ForgetFrom::Guild(guild) => guilds.get(&line.said.session) == Some(guild),
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

/// Forgets in the files of kept sessions what people of these names have led to: exchanges with
/// NPCs, and calls. Blocks. `is_open` says whose calls are logged at this moment.
///
/// # Errors
/// A file cannot be read or written.
pub fn forget_kept(
    data_dir: &Path,
    names: &[String],
    from: &ForgetFrom,
    is_open: impl Fn(&str) -> bool,
) -> anyhow::Result<()> {
    let folder = data_dir.join("sessions");
    let files = match fs::read_dir(&folder) {
        Ok(files) => files,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => {
            let shown = folder.display();
            return Err(anyhow::Error::new(error).context(format!("cannot read '{shown}'")));
        }
    };
    let is_meant = |id: &str| match from {
        ForgetFrom::Everywhere => id.starts_with(SESSIONS),
        ForgetFrom::Guild(guild) => id.starts_with(&format!("{SESSIONS}{guild}-")),
        ForgetFrom::Session(session) => id == session.0,
    };
    let mut ids = BTreeSet::new();
    for file in files {
        let name = file.with_context(|| format!("cannot read '{}'", folder.display()))?.file_name();
        let id = name.to_str().and_then(|name| {
            name.strip_suffix(".calls.jsonl").or_else(|| name.strip_suffix(".json"))
        });
        ids.extend(id.filter(|id| is_meant(id)).map(str::to_owned));
    }
    for id in ids {
        let kept = KeptSession::open(data_dir, &id)?;
        if let Some(calls) = kept.call_log().filter(|_| !is_open(&id)) {
            forget_calls(&calls, names)?;
        }
        kept.forget(names)?;
    }
    Ok(())
}
