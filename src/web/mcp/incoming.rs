//! One call of a tool, and its answer. Entry type: [`Incoming`].

use std::{
    fmt::Display,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use rmcp::{
    Peer, RoleServer,
    model::{ProgressNotificationParam, ProgressToken},
    service::RequestContext,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{
    campaign::{Handles, Holder, Scoped, TableHere, Utterance48, seed, way_to_table},
    domain::{AccessRole, Owner, Scope},
    memory::{MemoryStore, SessionEntry, Viewer},
    web::WebParts,
};

/// Why a call failed, with the fix; the caller reads it.
#[derive(Debug)]
pub struct ToolError(pub String);

impl<E: Display> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

/// Result of a call.
pub struct ToolAnswer {
    /// An object that fits the tool's output schema.
    pub value: Value,
    pub sound: Option<Utterance48>,
}

impl From<Value> for ToolAnswer {
    fn from(value: Value) -> Self {
        Self { value, sound: None }
    }
}

/// Sends progress to the caller, if it gave a token for it.
#[derive(Default)]
pub struct CallProgress {
    to: Option<(Peer<RoleServer>, ProgressToken)>,
    steps: AtomicU32,
}

impl CallProgress {
    pub fn new(context: &RequestContext<RoleServer>) -> Self {
        let token = context.meta.get_progress_token();
        Self { to: token.map(|token| (context.peer.clone(), token)), steps: AtomicU32::new(0) }
    }

    /// Reports one more step. Cancel safe.
    pub async fn report(&self, message: String) {
        let Some((peer, token)) = &self.to else { return };
        let step = self.steps.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        let progress = ProgressNotificationParam::new(token.clone(), f64::from(step));
        // The caller may have left; its call is then cancelled.
        _ = peer.notify_progress(progress.with_message(message)).await;
    }
}

/// A call with checked rights and arguments.
pub struct Incoming {
    pub parts: Arc<WebParts>,
    pub holder: Arc<Holder>,
    /// Fit the tool's schema.
    pub arguments: Value,
    pub progress: CallProgress,
}

impl Incoming {
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, ToolError> {
        Ok(serde_json::from_value(self.arguments.clone())?)
    }

    pub fn handles(&self) -> &Handles {
        &self.parts.handles
    }

    pub fn owner(&self) -> Owner {
        self.holder.owner
    }

    pub fn is_dm(&self) -> bool {
        self.holder.role == AccessRole::Dm
    }

    /// For whom memory is read.
    pub fn viewer(&self) -> Viewer {
        if self.is_dm() { Viewer::Dm } else { Viewer::Everyone }
    }

    pub fn store(&self) -> Arc<dyn MemoryStore> {
        self.handles().sessions.transcripts().store()
    }

    /// The table of this id; without one, the newest.
    pub fn table(&self, id: Option<&str>) -> Result<Option<TableHere>, ToolError> {
        let tables = self.handles().sessions.tables(self.owner());
        let Some(id) = id else { return Ok(tables.into_iter().next_back()) };
        let found = tables.into_iter().find(|it| it.link.session.0 == id);
        match found {
            Some(table) => Ok(Some(table)),
            None => Err(format!("unknown table '{id}' (session.status lists them)").into()),
        }
    }

    /// The campaign that the table plays; without a table, the one its owner has chosen.
    pub async fn scope(&self, table: Option<&TableHere>) -> Result<Scope, ToolError> {
        if let Some(table) = table {
            return Ok(table.scope.clone());
        }
        let (owner, handles) = (self.owner(), self.handles());
        let Some(guild) = owner.guild() else { return Ok(handles.scope(owner, None)) };
        let settings = handles.guilds.clone().read(guild).await?;
        let name = settings.campaign.as_ref();
        let played = name.and_then(|name| settings.campaigns.iter().find(|it| it.name == *name));
        Ok(handles.scope(owner, played))
    }

    /// Brings the entities of the campaign's file into the store.
    pub async fn seed(&self, scope: &Scope) -> Result<(), ToolError> {
        let settings = self.handles().settings.load_full();
        if let Some(world) = settings.worlds.get(&scope.campaign) {
            seed(Scoped::new(&*self.store(), scope), world).await?;
        }
        Ok(())
    }

    /// The session of this id, in any campaign of the owner; without one, the last in which something
    /// was said. All lines so far are stored.
    pub async fn session(&self, id: Option<&str>) -> Result<(Scope, SessionEntry), ToolError> {
        self.handles().sessions.caught_up().await?;
        let found = self.handles().recaps.session(self.owner(), id).await?;
        found.ok_or_else(|| match id {
            Some(id) => {
                format!("unknown session '{id}' (resources/list has those there are)").into()
            }
            None => format!("no session was played yet ({})", way_to_table(self.owner())).into(),
        })
    }
}
