//! Makes tables and resolves servers from the configuration.
//!
//! Entry trait: [`Factory`], implemented by `app`.

use std::{sync::Arc, time::Duration};

use futures::future::BoxFuture;
use tokio::{task::JoinHandle, time::timeout};

use super::{
    engines::Engines, file_error::FileError, guilds::AddedServer, kept::KeptError,
    played::PlayedCampaign, settings::SharedAssistant,
};
use crate::{
    domain::{Npc, Scope, SessionId},
    engine::{Budget, Synthesizer},
    memory,
    provider::Error,
    session::{Command, Conversations, Outlets, TableHandle},
    tools::connection::ServerOptions,
};

/// Longest wait for a closing table, and then for its transcript.
const CLOSE_PATIENCE: Duration = Duration::from_secs(5);

/// Description of a table to be made.
pub struct TableRequest {
    /// The play session.
    pub session: SessionId,
    /// Owner and campaign.
    pub scope: Scope,
    /// The campaign; `None`: the configured one.
    pub played: Option<PlayedCampaign>,
    /// The session it continues.
    pub after: Option<SessionId>,
    /// It was interrupted and goes on as it stood: when it began, as Unix time in ms.
    pub began: Option<i64>,
    /// Players speak to it; otherwise words are only typed, and nothing is loaded to hear them.
    pub is_heard: bool,
    /// Receivers of its speech and events.
    pub outlets: Outlets,
}

/// A running table.
pub struct RunningTable {
    /// Handle of the table.
    pub handle: TableHandle,
    /// Its task; ends after the handle is dropped or closed.
    pub task: JoinHandle<Conversations>,
    /// Reason why it cannot hear, with the fix.
    pub cannot_hear: Option<String>,
    /// The engines of its NPCs.
    pub engines: Arc<dyn Engines>,
}

/// Closes the table of `handle` and `task`, and waits for `transcript`, which writes its events.
/// Returns its conversations; `None`: it has failed, or did not close in time.
pub async fn close_table(
    handle: TableHandle,
    mut task: JoinHandle<Conversations>,
    mut transcript: JoinHandle<()>,
) -> Option<Conversations> {
    let closed = async {
        // A table that is gone is closed; the queue of one that is blocked may be full.
        _ = handle.commands.send(Command::Close).await;
        drop(handle);
        (&mut task).await
    };
    let ended = timeout(CLOSE_PATIENCE, closed).await;
    let kept = match ended {
        Ok(Ok(kept)) => Some(kept),
        Ok(Err(error)) => {
            tracing::error!(%error, "a table has failed");
            None
        }
        Err(_) => {
            tracing::error!("a table does not close");
            task.abort();
            None
        }
    };
    if timeout(CLOSE_PATIENCE, &mut transcript).await.is_err() {
        transcript.abort();
        tracing::error!("cannot write down the last events of a table");
    }
    kept
}

/// A new table.
pub struct MadeTable {
    /// The table.
    pub table: RunningTable,
    /// Pays for the table.
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
    /// An NPC's voice is unknown to its service.
    #[error("cannot speak for {0}")]
    Voice(String),
    /// Invalid address or key of a service.
    #[error(transparent)]
    Service(#[from] Error),
    /// The session cannot be continued or stored.
    #[error(transparent)]
    Kept(#[from] KeptError),
    /// The ledger cannot record spending.
    #[error("cannot record what is spent: {0}")]
    Ledger(#[from] memory::Error),
    /// Tool calls cannot be logged.
    #[error(transparent)]
    Calls(#[from] FileError),
}

/// Reason an added server is not connected, with the fix.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// Problems of its description, one per line; or its name is taken.
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

/// Makes tables, voices and servers from the configuration.
pub trait Factory: Send + Sync {
    /// Makes and starts a table.
    fn table(&self, wanted: TableRequest) -> BoxFuture<'static, Result<MadeTable, OpenError>>;

    /// Notifies the factory that the table of `session` has closed.
    fn closed(&self, session: &SessionId);

    /// Services by kind and name; true: left alone after failures.
    fn breakers(&self) -> Vec<(&'static str, Vec<(String, bool)>)> {
        Vec::new()
    }

    /// The voice of `npc` outside tables, which `budget` pays for.
    ///
    /// # Errors
    /// Invalid address or key of its service.
    fn voice(&self, npc: &Arc<Npc>, budget: Budget) -> Result<Synthesizer, Error>;

    /// Resolves the connection options of an added server.
    ///
    /// # Errors
    /// Its description has problems, its name is taken, or it would run here or on this network,
    /// which `discord.trust_dms` does not allow.
    fn server(&self, name: &str, added: &AddedServer) -> Result<ServerOptions, ServerError>;
}
