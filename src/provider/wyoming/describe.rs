//! Asks a service for its description.
//!
//! Entry function: [`describe`].

use std::time::Duration;

use tokio::time::Instant;

use super::{
    connection::connect,
    event::Event,
    failure::Peer,
    info::{Info, Program},
};
use crate::provider::{
    Error,
    bounds::{Count, EVENTS},
};

const PATIENCE: Duration = Duration::from_secs(5);

/// The service's program for the purpose of `peer`; an error if it has none or cannot be reached.
pub async fn describe(peer: &Peer) -> Result<Program, Error> {
    let until = Instant::now() + PATIENCE;
    let (mut to, mut from) = connect(peer, PATIENCE).await?;
    to.send(&Event::new("describe")).await?;
    let mut events = Count::within(EVENTS);
    while let Some(event) = from.event_by(until).await? {
        events.add(1).map_err(|bound| peer.flooding(bound))?;
        if event.kind == "info" {
            return Info::read(&event.data).program(peer);
        }
    }
    Err(peer.interrupted("it said what it is"))
}
