//! The task that owns a session's socket.
//!
//! Entry function: [`run`]. It keeps reading, so that pings are answered. **Never**: waits for the
//! reader of its events before the socket is closed.

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

#[derive(Debug)]
pub enum Over {
    /// Its owner dropped it, or it reached the age limit that it announced.
    Quietly,
    Failed(Error),
}

/// State of a session in one service's protocol.
pub trait Language: Send {
    /// Takes the messages to be sent now.
    fn take(&mut self) -> VecDeque<String>;

    /// Deadline of the current wait.
    fn due(&self) -> Option<Instant>;

    /// The deadline has passed.
    ///
    /// # Errors
    /// Ends the session.
    fn overdue(&mut self) -> Result<(), Over>;

    /// Handles an order.
    ///
    /// # Errors
    /// Ends the session.
    fn order(&mut self, order: SpeechOrder) -> Result<(), Over>;

    /// Handles a message of the service.
    ///
    /// # Errors
    /// Ends the session.
    fn message(&mut self, message: &[u8]) -> Result<(), Over>;

    fn into_events(self) -> Events;
}

/// Runs a session until its orders or its socket end.
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

#[derive(Debug, Default)]
pub struct Waiting(VecDeque<Waits>);

#[derive(Debug)]
pub enum Waits {
    Order(SpeechOrder),
    /// An answer cancelled while it waited.
    Stopped,
}

impl Waiting {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn push(&mut self, order: SpeechOrder) {
        self.0.push_back(Waits::Order(order));
    }

    /// Cancels the waiting answers.
    pub fn cancel(&mut self) {
        for held in &mut self.0 {
            if matches!(held, Waits::Order(SpeechOrder::Answer(_))) {
                *held = Waits::Stopped;
            }
        }
    }

    /// The next order, unless it is an answer while one `is_running`.
    pub fn next(&mut self, is_running: bool) -> Option<Waits> {
        let next = self.0.front()?;
        let is_an_answer = matches!(next, Waits::Stopped | Waits::Order(SpeechOrder::Answer(_)));
        if is_running && is_an_answer { None } else { self.0.pop_front() }
    }
}
