//! The task that owns a session's socket.
//!
//! Entry function: [`run`]. It reads on whatever else happens, so that pings are answered.
//! **Never**: waits for the reader of its events before its socket is closed.

use std::collections::VecDeque;

use tokio::{
    sync::mpsc::UnboundedReceiver,
    time::{Instant, sleep_until},
};

use super::{
    events::Events,
    socket::{Incoming, Outgoing},
};
use crate::provider::{Error, SpeechOrder};

/// Reason a session ends.
#[derive(Debug)]
pub enum Over {
    /// It is dropped by its owner, or has reached its age limit as it has said.
    Quietly,
    /// For this reason.
    Failed(Error),
}

/// The state of a session, in one service's language.
pub trait Language: Send {
    /// The messages to be sent now.
    fn take(&mut self) -> VecDeque<String>;

    /// Deadline of its current wait.
    fn due(&self) -> Option<Instant>;

    /// It has waited long enough.
    ///
    /// # Errors
    /// The session ends.
    fn overdue(&mut self) -> Result<(), Over>;

    /// Takes an order.
    ///
    /// # Errors
    /// The session ends.
    fn order(&mut self, order: SpeechOrder) -> Result<(), Over>;

    /// Takes a message of the service.
    ///
    /// # Errors
    /// The session ends.
    fn message(&mut self, message: &[u8]) -> Result<(), Over>;

    /// Sender of its events.
    fn into_events(self) -> Events;
}

/// Runs a session until its orders end, or its socket does.
pub async fn run(
    mut talk: impl Language,
    (mut incoming, mut outgoing): (Incoming, Outgoing),
    mut orders: UnboundedReceiver<SpeechOrder>,
) {
    let over = loop {
        outgoing.add(talk.take());
        let due = talk.due();
        let step = tokio::select! {
            message = incoming.next() => match message {
                Ok(message) => talk.message(&message),
                Err(error) => Err(Over::Failed(error)),
            },
            order = orders.recv() => match order {
                Some(order) => talk.order(order),
                None => Err(Over::Quietly),
            },
            sent = outgoing.send(), if !outgoing.is_idle() => sent.map_err(Over::Failed),
            () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => talk.overdue(),
        };
        if let Err(over) = step {
            break over;
        }
    };
    outgoing.close(incoming).await;
    if let Over::Failed(error) = over {
        talk.into_events().end(error).await;
    }
}
