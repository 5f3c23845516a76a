//! Lines of a person, by identity. Entry functions: [`own_lines`], [`names`], [`stored_of`],
//! [`forget`].
//! **Never**: takes a name for a person, or reads another owner's lines.

use std::{collections::BTreeSet, fmt::Write as _};

use super::{
    NamesOf, StoredOf,
    planned::{made_by, naming},
};
use crate::{
    campaign::{date, time},
    domain::{Owner, Scope},
    memory::{
        Error, Forget, ForgetFrom, LineFilter, MemoryStore, SessionFilter, TranscriptLine, Viewer,
    },
};

/// Everything the person `player` has said where `owner` plays, as text for them.
pub async fn own_lines(
    store: &dyn MemoryStore,
    owner: Owner,
    player: &str,
) -> Result<String, Error> {
    let mut text = String::from("Everything you said that is written down. Times are UTC.\n");
    let (mut lines, mut session) = (0_u64, None);
    for scope in scopes(store, owner).await? {
        for TranscriptLine { said, .. } in theirs(store, &scope, player).await? {
            if session.as_ref() != Some(&said.session) {
                let (day, campaign) = (date(said.at), &scope.campaign.0);
                // Writing to a `String` cannot fail.
                _ = writeln!(text, "\n# {}, {day} (campaign {campaign})\n", said.session);
                session = Some(said.session.clone());
            }
            let name = said.who();
            let to = said.npc.as_ref().map_or_else(String::new, |npc| format!(" to {npc}"));
            _ = writeln!(text, "{} {name}{to}: {}", time(said.at), said.text);
            if let Some(raw) = said.raw.as_ref().filter(|_| !said.is_from_outside()) {
                _ = writeln!(text, "         (heard as: {raw})");
            }
            lines += 1;
        }
        let planned = made_by(store, &scope, player).await?;
        if !planned.is_empty() {
            let campaign = &scope.campaign.0;
            _ = writeln!(text, "\n# Planned and started by you (campaign {campaign})\n");
        }
        for line in planned {
            _ = writeln!(text, "{line}");
            lines += 1;
        }
    }
    if lines == 0 {
        text.push_str("\nNothing.\n");
    }
    Ok(text)
}

async fn scopes(store: &dyn MemoryStore, owner: Owner) -> Result<Vec<Scope>, Error> {
    let all = store.scopes().await?.into_iter();
    Ok(all.filter(|scope| scope.owner == owner).collect())
}

async fn theirs(
    store: &dyn MemoryStore,
    scope: &Scope,
    player: &str,
) -> Result<Vec<TranscriptLine>, Error> {
    let filter = LineFilter { player: Some(player.to_owned()), ..LineFilter::default() };
    store.lines(scope, filter, Viewer::Dm).await
}

/// Names of a person: `also`, and those of their lines; separately those shared with others.
pub async fn names(
    store: &dyn MemoryStore,
    player: &str,
    also: &[String],
    from: &ForgetFrom,
) -> Result<NamesOf, Error> {
    let (mut own, mut others) = (BTreeSet::from_iter(also.iter().cloned()), BTreeSet::new());
    let see = |TranscriptLine { said, .. }: TranscriptLine| {
        let whose = match said.speaker_id {
            None => return,
            Some(id) if id == player => &mut own,
            Some(_) => &mut others,
        };
        whose.extend(said.character);
        whose.insert(said.speaker);
    };
    each_line(store, from, see).await?;
    let (shared, own) = own.into_iter().partition(|name| others.contains(name));
    Ok(NamesOf { own, shared })
}

/// The person's data in the store, and the identities of all people with lines.
pub async fn stored_of(
    store: &dyn MemoryStore,
    player: &str,
    from: &ForgetFrom,
) -> Result<StoredOf, Error> {
    let mut stored = StoredOf::default();
    let see = |line: TranscriptLine| {
        let said = &line.said;
        if said.present.iter().any(|it| it.player.as_deref() == Some(player)) {
            stored.present += 1;
        }
        if let Some(id) = &said.speaker_id {
            for name in
                [Some(id), Some(&said.speaker), said.character.as_ref()].into_iter().flatten()
            {
                stored.people.insert(name.clone(), id.clone());
            }
        }
        if said.is_of(player, i64::MAX) {
            stored.lines.push(line);
        }
    };
    each_line(store, from, see).await?;
    if from.session.is_none() {
        for scope in scopes(store, from.owner).await? {
            stored.planned += naming(store, &scope, player).await?;
        }
    }
    Ok(stored)
}

/// Calls `see` with every line of `from`.
async fn each_line(
    store: &dyn MemoryStore,
    from: &ForgetFrom,
    mut see: impl FnMut(TranscriptLine) + Send,
) -> Result<(), Error> {
    for scope in scopes(store, from.owner).await? {
        let id = from.session.as_ref().map(|session| session.0.clone());
        let filter = SessionFilter { id, ..SessionFilter::default() };
        // One session at a time, to hold no more than one in memory.
        for entry in store.sessions(&scope, filter).await? {
            let session = Some(entry.session.id);
            let filter = LineFilter { session, ..LineFilter::default() };
            store.lines(&scope, filter, Viewer::Dm).await?.into_iter().for_each(&mut see);
        }
    }
    Ok(())
}

/// Deletes lines that a person began before a moment (Unix time in ms), the answers to them, and
/// anything derived from either. Returns the number of their lines. Leaves other owners' data.
pub async fn forget(
    store: &dyn MemoryStore,
    player: &str,
    from: &ForgetFrom,
    before: i64,
) -> Result<u64, Error> {
    let mut gone = 0;
    for scope in scopes(store, from.owner).await? {
        gone += match &from.session {
            None => {
                let forget = Forget::Player { id: player.to_owned(), before };
                store.forget(&scope, forget).await?.lines
            }
            Some(session) => {
                let session = Some(session.0.clone());
                let filter = LineFilter { session, ..LineFilter::default() };
                let lines = store.lines(&scope, filter, Viewer::Dm).await?.into_iter();
                let meant = lines.filter(|line| line.said.is_of(player, before));
                let (said, answers): (Vec<_>, Vec<_>) =
                    meant.map(|line| line.said).partition(|said| said.speaker_id.is_some());
                let lines = u64::try_from(said.len()).unwrap_or(u64::MAX);
                let uids = said.into_iter().chain(answers).map(|said| said.uid);
                store.withdraw(&scope, uids.collect()).await?;
                lines
            }
        };
    }
    Ok(gone)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        domain::{CampaignKey, PersonId},
        memory::{Automation as _, KeptRun, KeptSchedule, Sqlite, Transcript as _},
    };

    const ANNA: &str = "123456789012345678";

    async fn fill(store: &Sqlite, scope: &Scope) {
        let record = format!(r#"{{"starter":{{"person":"{ANNA}"}}}}"#);
        let (id, workflow) = ("r".to_owned(), "bells".to_owned());
        let run = KeptRun { id, workflow, began: 2, ended: None, record };
        store.keep_run(scope, run).await.unwrap();
        for (id, by, text) in
            [("a", ANNA, "It is late.".to_owned()), ("b", "8", format!("<@{ANNA}>"))]
        {
            let schedule = KeptSchedule {
                id: id.to_owned(),
                when: "{}".to_owned(),
                action: format!(r#"{{"line":{{"text":"{text}"}}}}"#),
                by: Some(PersonId(by.to_owned())),
                made: 1,
                next: None,
                last: None,
            };
            store.add_schedule(scope, schedule).await.unwrap();
        }
    }

    #[tokio::test]
    async fn person_without_lines_is_known_by_schedules() {
        let folder = tempfile::tempdir().unwrap();
        let store = Sqlite::open(&folder.path().join("memory.db")).unwrap();
        let scope = Scope { owner: Owner::Guild(7), campaign: CampaignKey("c".to_owned()) };
        fill(&store, &scope).await;
        let from = ForgetFrom { owner: scope.owner, session: None };
        let stored = stored_of(&store, ANNA, &from).await.unwrap();
        assert!(!stored.is_empty() && stored.planned == 3, "{stored:?}");
        let own = own_lines(&store, scope.owner, ANNA).await.unwrap();
        assert!(own.contains("It is late.") && own.contains("workflow bells"), "{own}");
        assert!(!own.contains(ANNA) && !own.contains("Nothing."), "what others wrote: {own}");
        let forget = Forget::Player { id: ANNA.to_owned(), before: i64::MAX };
        store.forget(&scope, forget).await.unwrap();
        assert!(stored_of(&store, ANNA, &from).await.unwrap().is_empty());
        let elsewhere = own_lines(&store, Owner::Guild(8), ANNA).await.unwrap();
        assert!(elsewhere.ends_with("\nNothing.\n"), "{elsewhere}");
    }
}
