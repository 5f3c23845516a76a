//! The table of `glyphoxa serve`, whose sound is returned as data. Entry type: [`ServedTable`].

use std::sync::Arc;

use tokio::task::JoinHandle;

use super::{
    super::{Failure, complain, within},
    effects::ServedEffects,
};
use crate::{
    campaign::{Handles, RunningTable, Sessions, TableRequest, TableSound, close_table},
    domain::{Owner, SessionId},
    session::{EventReader, MusicPlayer, Outlets, Pace, TableEvent, TableEvents},
    tools::CastChanges,
};

/// Events waiting for the transcript and the terminal: some twenty turns.
const EVENT_CAPACITY: usize = 64;

pub struct ServedTable {
    session: SessionId,
    table: RunningTable,
    /// Writes the table's events until it is closed.
    transcript: JoinHandle<()>,
}

impl ServedTable {
    /// Opens a table of this machine; also returns a task that ends once the table is gone.
    pub async fn open(handles: &Handles) -> Result<(Self, JoinHandle<()>), Failure> {
        let (session, sound) = (Sessions::name_here(), TableSound::default());
        let events = TableEvents::new(EVENT_CAPACITY);
        let (told, written) = (events.subscribe(), events.subscribe());
        let wanted = TableRequest {
            session: session.clone(),
            scope: handles.scope(Owner::Local, None),
            played: None,
            after: None,
            is_heard: false,
            outlets: Outlets {
                out: Box::new(sound.clone()),
                pace: Pace::Free,
                music: MusicPlayer::new(events.downgrade()),
                effects: Arc::new(ServedEffects),
                halts: Arc::default(),
                events,
            },
        };
        let table = handles.sessions.open(wanted, CastChanges::default()).await?;
        handles.outside.returns(&session, sound);
        let writing = handles.sessions.clone().write_down(session.clone(), written);
        let transcript = tokio::spawn(writing);
        Ok((Self { session, table, transcript }, tokio::spawn(print(told))))
    }

    /// Silences the NPCs and saves the session; false if the table had failed.
    pub async fn close(self, sessions: &Sessions) -> bool {
        let Self { session, table, transcript } = self;
        let kept = close_table(table.handle, table.task, transcript).await;
        let is_whole = kept.is_some();
        if let Err(why) = sessions.keep(&session, kept.unwrap_or_default()).await {
            tracing::error!(%why, "cannot save the session");
        }
        is_whole
    }
}

/// Prints notices until the table is gone.
async fn print(mut told: EventReader) {
    while let Some(event) = told.recv().await {
        if let TableEvent::Notice(text) | TableEvent::Private(text) = event {
            complain(&within(&text));
        }
    }
}
