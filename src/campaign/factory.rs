//! Objects that only the configuration can make: tables, and addresses of servers.
//!
//! Entry trait: [`Factory`], which `app` fills. **Never**: keeps what it has made.

use std::sync::Arc;

use futures::future::BoxFuture;
use tokio::task::JoinHandle;

use super::{
    engines::Engines, file_error::FileError, guilds::AddedServer, kept::KeptError,
    played::PlayedCampaign, settings::SharedAssistant,
};
use crate::{
    domain::{Scope, SessionId},
    engine::Budget,
    memory,
    provider::Error,
    session::{Conversations, Outlets, TableHandle},
    tools::connection::ServerOptions,
};

/// Description of a table to be made.
pub struct TableRequest {
    /// The play session.
    pub session: SessionId,
    /// Owner and campaign.
    pub scope: Scope,
    /// The campaign; `None`: the one that is configured.
    pub played: Option<PlayedCampaign>,
    /// The session whose conversations it goes on from.
    pub after: Option<SessionId>,
    /// Outputs for its speech and its events.
    pub outlets: Outlets,
}

/// A table that runs.
pub struct RunningTable {
    /// Handle of the table.
    pub handle: TableHandle,
    /// Its task; ends after the handle is dropped or told to close.
    pub task: JoinHandle<Conversations>,
    /// Reason for hearing nobody, with the fix.
    pub cannot_hear: Option<String>,
    /// The engines of its NPCs.
    pub engines: Arc<dyn Engines>,
}

/// A table that was made.
pub struct MadeTable {
    /// The table, for the code that opened it.
    pub table: RunningTable,
    /// The budget that pays for it.
    pub budget: Budget,
    /// Settings of the assistant during the session.
    pub assistant: SharedAssistant,
}

/// Reason a table was not opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The recogniser cannot be used.
    #[error("I cannot hear: {0}")]
    Hearing(Error),
    /// A service's address or key makes no request.
    #[error(transparent)]
    Service(#[from] Error),
    /// The session cannot be gone on with, or kept.
    #[error(transparent)]
    Kept(#[from] KeptError),
    /// Spending cannot be written down.
    #[error("cannot record what is spent: {0}")]
    Ledger(#[from] memory::Error),
    /// Calls of tools cannot be logged.
    #[error(transparent)]
    Calls(#[from] FileError),
}

/// Reason an added server is not connected, with the fix.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// Problems of its description, one a line; or its name is taken.
    #[error("{0}")]
    Wrong(String),
    /// It would run here, or on this network.
    #[error(
        "Discord users can't start programs on my machine or reach addresses of its network, \
         including names that only a proxy looks up (the bot's owner can allow it: \
         discord.trust_dms in glyphoxa.yaml; or give a public https:// address)"
    )]
    TooNear,
}

/// Makes what only the configuration can say how to make.
pub trait Factory: Send + Sync {
    /// Makes a table and starts it.
    fn table(&self, wanted: TableRequest) -> BoxFuture<'static, Result<MadeTable, OpenError>>;

    /// The table of `session` is closed.
    fn closed(&self, session: &SessionId);

    /// Resolves the connection options of an added server.
    ///
    /// # Errors
    /// [`ServerError::Wrong`]: its description has problems, or its name is taken. [`ServerError::TooNear`]:
    /// it would run here or on this network, which `discord.trust_dms` does not allow.
    fn server(&self, name: &str, added: &AddedServer) -> Result<ServerOptions, ServerError>;
}
