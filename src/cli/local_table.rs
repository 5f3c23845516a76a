//! A table of this machine without Discord, which is always open. Entry type: [`LocalTable`].

use std::time::Duration;

use tokio::{task::JoinHandle, time::timeout};

use super::Failure;
use crate::{
    campaign::{Handles, RunningTable, Sessions, TableRequest},
    domain::{Owner, SessionId},
    session::{Command, Outlets},
    tools::CastChanges,
};

const CLOSE_PATIENCE: Duration = Duration::from_secs(5);

pub struct LocalTable {
    pub session: SessionId,
    pub table: RunningTable,
    /// Writes the table's events until it is closed.
    transcript: JoinHandle<()>,
}

impl LocalTable {
    /// Opens a table that speaks and tells through `outlets`; `is_heard`: players speak to it.
    pub async fn open(
        handles: &Handles,
        outlets: Outlets,
        is_heard: bool,
    ) -> Result<Self, Failure> {
        let session = Sessions::name_here();
        let written = outlets.events.subscribe();
        let wanted = TableRequest {
            session: session.clone(),
            scope: handles.scope(Owner::Local, None),
            played: None,
            after: None,
            is_heard,
            outlets,
        };
        let table = handles.sessions.open(wanted, CastChanges::default()).await?;
        let writing = handles.sessions.clone().write_down(session.clone(), written);
        let transcript = tokio::spawn(writing);
        Ok(Self { session, table, transcript })
    }

    /// Silences the NPCs and saves the session; false if the table had failed.
    pub async fn close(self, sessions: &Sessions) -> bool {
        let Self { session, table, mut transcript } = self;
        let RunningTable { handle, mut task, .. } = table;
        // A table that is gone is closed.
        _ = handle.commands.send(Command::Close).await;
        drop(handle);
        let kept = match timeout(CLOSE_PATIENCE, &mut task).await {
            Ok(Ok(kept)) => Some(kept),
            Ok(Err(error)) => {
                tracing::error!(%error, "the table has failed");
                None
            }
            Err(_) => {
                task.abort();
                None
            }
        };
        if timeout(CLOSE_PATIENCE, &mut transcript).await.is_err() {
            transcript.abort();
            tracing::error!("cannot write down the last events of the table");
        }
        let is_whole = kept.is_some();
        if let Err(why) = sessions.keep(&session, kept.unwrap_or_default()).await {
            tracing::error!(%why, "cannot save the session");
        }
        is_whole
    }
}
