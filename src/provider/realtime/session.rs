//! The task that owns a session's socket.
//!
//! Entry function: [`run`]. It reads on whatever else happens, so that pings are answered.
//! **Never**: waits for the reader of its events before its socket is closed.

use tokio::{
    sync::mpsc::UnboundedReceiver,
    time::{Instant, sleep_until},
};

use super::{
    socket::{Incoming, Outgoing},
    talk::{Over, Talk},
};
use crate::provider::SpeechOrder;

/// Runs a session until its orders end, or its socket does.
pub async fn run(
    mut talk: Talk,
    (mut incoming, mut outgoing): (Incoming, Outgoing),
    mut orders: UnboundedReceiver<SpeechOrder>,
) {
    let over = loop {
        outgoing.add(talk.take());
        let unstopped = talk.unstopped();
        let until = unstopped.as_ref().map_or_else(Instant::now, |(until, _)| *until);
        let step = tokio::select! {
            said = incoming.next() => match said {
                Ok(said) => talk.said(said),
                Err(error) => Err(Over::Failed(error)),
            },
            order = orders.recv() => match order {
                Some(order) => talk.order(order),
                None => Err(Over::Quietly),
            },
            sent = outgoing.send(), if !outgoing.is_idle() => sent.map_err(Over::Failed),
            () = sleep_until(until), if unstopped.is_some() => match unstopped {
                Some((_, error)) => Err(Over::Failed(error)),
                None => Ok(()),
            },
        };
        if let Err(over) = step {
            break over;
        }
    };
    outgoing.close(incoming).await;
    talk.end(over).await;
}
