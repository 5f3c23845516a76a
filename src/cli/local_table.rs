//! A table of this machine without Discord, which is always open. Entry type: [`LocalTable`].

use tokio::task::JoinHandle;

use super::Failure;
use crate::{
    campaign::{Handles, RunningTable, Sessions, TableRequest, close_table},
    domain::{Owner, SessionId},
    session::Outlets,
    tools::CastChanges,
};

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
            began: None,
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
        let Self { session, table, transcript } = self;
        let kept = close_table(table.handle, table.task, transcript).await;
        let is_whole = kept.is_some();
        if let Err(why) = sessions.keep(&session, kept).await {
            tracing::error!(%why, "cannot save the session");
        }
        is_whole
    }
}
