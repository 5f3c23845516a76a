//! Resources that the holder of a token may read. Entry type: [`ResourceReader`].
//! **Never**: reads data of another owner, or shows that a resource exists that may not be read.

use std::{sync::Arc, time::Duration};

use tokio::time::timeout;

use super::{texts, uri::ResourceUri};
use crate::{
    campaign::{
        GuildError, Handles, Holder, ImportError, NotWritten, RecapError, RecapRequest, TableHere,
    },
    domain::{AccessRole, Npc, Scope, one_line, visible},
    memory::{self, Entity, EntityFilter, LineFilter, MemoryStore, SessionEntry, SessionFilter},
    web::mcp::stage,
};

/// Latest sessions of each campaign that are listed.
const SESSIONS_MAX: usize = 100;
/// Lines of a transcript that are read, its last ones.
const LINES_MAX: usize = 5_000;
/// Longest wait for a table's state.
const TABLE_TIMEOUT: Duration = Duration::from_secs(1);
/// Longest part of a refused address that is shown, in characters.
const SHOWN_MAX: usize = 200;

#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Also what exists and may not be read.
    #[error("unknown resource '{}' (resources/list shows all)", one_line(.0, SHOWN_MAX))]
    Unknown(String),
    #[error(transparent)]
    Store(#[from] memory::Error),
    #[error(transparent)]
    NotWritten(#[from] NotWritten),
    #[error(transparent)]
    Guild(#[from] GuildError),
    #[error(transparent)]
    World(#[from] ImportError),
    #[error(transparent)]
    Recap(#[from] RecapError),
}

impl ReadError {
    /// True if a later attempt may succeed.
    pub const fn is_passing(&self) -> bool {
        match self {
            Self::NotWritten(_) => true,
            Self::Store(error) | Self::Guild(GuildError::Store(error)) => error.is_passing(),
            _ => false,
        }
    }
}

/// Reads for the holder of a token.
#[derive(Clone, Copy)]
pub struct ResourceReader<'a> {
    pub handles: &'a Handles,
    pub holder: &'a Holder,
}

impl ResourceReader<'_> {
    fn store(&self) -> Arc<dyn MemoryStore> {
        self.handles.sessions.transcripts().store()
    }

    /// The campaign that is played now.
    async fn scope(&self) -> Result<Scope, ReadError> {
        Ok(self.handles.outside.played(self.holder.owner).await?)
    }

    async fn scopes(&self) -> Result<Vec<Scope>, memory::Error> {
        let mut scopes = self.store().scopes().await?;
        scopes.retain(|scope| scope.owner == self.holder.owner);
        Ok(scopes)
    }

    /// The latest sessions of all campaigns, the latest first.
    pub async fn sessions(&self) -> Result<Vec<(Scope, SessionEntry)>, memory::Error> {
        let (store, mut all) = (self.store(), Vec::new());
        for scope in self.scopes().await? {
            let filter = SessionFilter { id: None, limit: SESSIONS_MAX };
            let found = store.sessions(&scope, filter).await?;
            all.extend(found.into_iter().map(|entry| (scope.clone(), entry)));
        }
        all.sort_by_key(|(_, entry)| std::cmp::Reverse(entry.last_at.max(entry.session.started)));
        Ok(all)
    }

    /// Entities of the played campaign, by name.
    pub async fn entities(&self) -> Result<Vec<Entity>, ReadError> {
        let scope = self.scope().await?;
        let all = EntityFilter::default();
        let mut found = self.store().entities(&scope, all, self.holder.viewer()).await?;
        found.sort_by(|a, b| (&a.name, &a.id).cmp(&(&b.name, &b.id)));
        Ok(found)
    }

    /// Brings the entities of the campaign's file into the store.
    pub async fn seed(&self) -> Result<(), ReadError> {
        Ok(self.handles.world.seed(&self.scope().await?).await?)
    }

    /// NPCs that the holder learns of, as [`stage`] says; those of the files for a game master.
    pub async fn npcs(&self) -> Vec<Arc<Npc>> {
        if self.holder.is_dm() {
            return self.handles.settings.load().cast.clone();
        }
        let table = self.handles.outside.newest(self.holder.owner);
        let Some(TableHere { link, .. }) = table else { return Vec::new() };
        let status = timeout(TABLE_TIMEOUT, link.status(link.halts.count())).await;
        // A table that closes now has none.
        let Ok(Ok(status)) = status else { return Vec::new() };
        let seats = stage::seats(&status, self.holder);
        let mut npcs: Vec<Arc<Npc>> =
            seats.filter_map(|seat| Some(link.seat(&seat.name).ok()?.npc)).collect();
        npcs.sort_by(|a, b| a.name.cmp(&b.name));
        npcs
    }

    /// The NPC of this name or alias.
    pub async fn npc(&self, name: &str) -> Option<Arc<Npc>> {
        let npcs = self.npcs().await;
        let exact = npcs.iter().find(|npc| npc.name == name);
        exact.or_else(|| npcs.iter().find(|npc| npc.is_called(name))).cloned()
    }

    /// Text of the resource `uri`.
    pub async fn read(&self, uri: &str) -> Result<String, ReadError> {
        let unknown = || ReadError::Unknown(uri.to_owned());
        let wanted =
            ResourceUri::read(uri).filter(|wanted| self.holder.has_tool(wanted.kind().tool));
        let text = match wanted.ok_or_else(unknown)? {
            ResourceUri::Transcript(session) => self.transcript(&session).await?,
            ResourceUri::Recap(session) => self.recap(Some(session), self.holder.role).await?,
            ResourceUri::Entity(id) => self.entity(&id).await?,
            ResourceUri::Npc(name) => {
                self.npc(&name).await.map(|npc| texts::npc(&npc, self.holder.role))
            }
        };
        text.ok_or_else(unknown)
    }

    async fn transcript(&self, session: &str) -> Result<Option<String>, ReadError> {
        self.handles.sessions.caught_up().await?;
        let store = self.store();
        for scope in self.scopes().await? {
            let filter = SessionFilter { id: Some(session.to_owned()), limit: 1 };
            if !store.sessions(&scope, filter).await?.is_empty() {
                return Ok(Some(self.last_lines(&scope, session, LINES_MAX).await?));
            }
        }
        Ok(None)
    }

    /// The last `limit` lines of a session.
    pub async fn last_lines(
        &self,
        scope: &Scope,
        session: &str,
        limit: usize,
    ) -> Result<String, memory::Error> {
        let session = Some(session.to_owned());
        let filter = LineFilter { session, limit, ..LineFilter::default() };
        let lines = self.store().lines(scope, filter, self.holder.viewer()).await?;
        Ok(texts::transcript(&lines, lines.len() == limit))
    }

    /// Recap of a session (`None`: the last one) for `role`, without asking a model. `None`: no
    /// such session.
    pub async fn recap(
        &self,
        session: Option<String>,
        role: AccessRole,
    ) -> Result<Option<String>, ReadError> {
        let for_dm = role == AccessRole::Dm && self.holder.is_dm();
        let request = RecapRequest { owner: self.holder.owner, session, for_dm, paid: false };
        match self.handles.recaps.recap(request).await {
            Ok(text) => Ok(Some(visible(&text))),
            Err(RecapError::Unknown(_) | RecapError::Nothing | RecapError::Deleted(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    async fn entity(&self, id: &str) -> Result<Option<String>, ReadError> {
        let (scope, store) = (self.scope().await?, self.store());
        let mut found = store.snapshot(&scope, id, self.holder.viewer()).await?;
        if found.is_none() {
            self.seed().await?;
            found = store.snapshot(&scope, id, self.holder.viewer()).await?;
        }
        Ok(found.map(|found| texts::snapshot(&found, self.holder.role)))
    }
}
