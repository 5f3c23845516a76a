//! A running table, as workflows and programs outside reach it. Entry type: [`TableLink`].

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot, watch};

use crate::{
    domain::SessionId,
    engine::Budget,
    logic::cast::NpcError,
    session::{
        Command, EventReader, Halts, Seated, Status, TableEvent, TableHandle, WeakTableEvents,
    },
    tools::Effects,
};

/// The table is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the play session has ended")]
pub struct TableGone;

/// A running table. Does not keep it open. Cloning shares it.
#[derive(Clone)]
pub struct TableLink {
    pub session: SessionId,
    pub(super) commands: mpsc::WeakSender<Command>,
    seated: watch::Receiver<Arc<[Seated]>>,
    pub events: WeakTableEvents,
    /// Shows the output of tools.
    pub effects: Arc<dyn Effects>,
    /// X-cards used so far.
    pub halts: Arc<Halts>,
    /// Pays for what NPCs do here.
    pub budget: Budget,
}

/// Parts of a [`TableLink`] besides the table's handle.
pub struct LinkParts {
    pub session: SessionId,
    pub events: WeakTableEvents,
    pub effects: Arc<dyn Effects>,
    pub halts: Arc<Halts>,
    pub budget: Budget,
}

impl TableLink {
    pub fn new(handle: &TableHandle, parts: LinkParts) -> Self {
        let LinkParts { session, events, effects, halts, budget } = parts;
        let (commands, seated) = (handle.commands.downgrade(), handle.seated.clone());
        Self { session, commands, seated, events, effects, halts, budget }
    }

    /// The NPC of this name, and its seat.
    pub fn seat(&self, name: &str) -> Result<Seated, NpcError> {
        Seated::find(&self.seated.borrow(), name).cloned()
    }

    /// The NPCs, with their seats.
    pub fn cast(&self) -> Arc<[Seated]> {
        Arc::clone(&self.seated.borrow())
    }

    /// The table's events from now on.
    pub fn events(&self) -> Result<EventReader, TableGone> {
        Ok(self.events.upgrade().ok_or(TableGone)?.subscribe())
    }

    /// Notifies the game master.
    pub fn tell_dm(&self, text: String) {
        self.publish(TableEvent::Private(text));
    }

    /// Adds a notice to the panel, which everyone reads.
    pub fn tell(&self, text: String) {
        self.publish(TableEvent::Notice(text));
    }

    fn publish(&self, event: TableEvent) {
        if let Some(events) = self.events.upgrade() {
            events.tell(event);
        }
    }

    /// Sends an order, which the table drops if an X-card was used since `halts`. Cancel safe.
    pub async fn send(&self, halts: u64, order: Command) -> Result<(), TableGone> {
        let table = self.commands.upgrade().ok_or(TableGone)?;
        let order = Command::Unhalted { halts, order: Box::new(order) };
        table.send(order).await.map_err(|_| TableGone)
    }

    /// Like [`Self::send`] without waiting; false if the table is gone or overloaded.
    pub fn try_send(&self, halts: u64, order: Command) -> bool {
        let order = Command::Unhalted { halts, order: Box::new(order) };
        self.commands.upgrade().is_some_and(|table| table.try_send(order).is_ok())
    }

    /// Status of the table once it has taken all orders so far. Cancel safe.
    pub async fn status(&self, halts: u64) -> Result<Status, TableGone> {
        let (ask, answer) = oneshot::channel();
        self.send(halts, Command::Status(ask)).await?;
        answer.await.map_err(|_| TableGone)
    }
}
