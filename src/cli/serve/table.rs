//! The table of `glyphoxa serve`, whose sound is returned as data. Entry function: [`open`].

use std::sync::Arc;

use tokio::task::JoinHandle;

use super::{
    super::{Failure, complain, local_table::LocalTable, within},
    effects::ServedEffects,
};
use crate::{
    campaign::{Handles, TableSound},
    session::{EventReader, MusicPlayer, Outlets, Pace, TableEvent, TableEvents},
};

/// Events waiting for the transcript and the terminal: some twenty turns.
const EVENT_CAPACITY: usize = 64;

/// Opens a table of this machine; also returns a task that ends once the table is gone.
pub async fn open(handles: &Handles) -> Result<(LocalTable, JoinHandle<()>), Failure> {
    let (sound, events) = (TableSound::default(), TableEvents::new(EVENT_CAPACITY));
    let told = events.subscribe();
    let outlets = Outlets {
        out: Box::new(sound.clone()),
        pace: Pace::Free,
        music: MusicPlayer::new(events.downgrade()),
        effects: Arc::new(ServedEffects),
        halts: Arc::default(),
        events,
    };
    let table = LocalTable::open(handles, outlets, false).await?;
    handles.outside.returns(&table.session, sound);
    Ok((table, tokio::spawn(print(told))))
}

/// Prints notices until the table is gone.
async fn print(mut told: EventReader) {
    while let Some(event) = told.recv().await {
        if let TableEvent::Notice(text) | TableEvent::Private(text) = event {
            complain(&within(&text));
        }
    }
}
