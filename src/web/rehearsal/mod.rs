//! Pages in browsers that talk to a table of this machine.
//!
//! Entry type: [`Rehearsal`]. A browser opens a one-time link and gets its pass (`pages/`), opens
//! its socket (`socket.rs`), says hello, and is handed to the table as [`Joined`]. `wire.rs` has
//! what both sides say. The table's side ([`RehearsalTable`]): a page is a player ([`seat_pages`]),
//! hears the table (`out.rs`) and its music ([`play_music`]), is shown what happens
//! ([`show_table`]), and gives commands (`orders.rs`).

mod audience;
mod cards;
mod effects;
mod exchange;
mod face;
mod music;
mod orders;
mod out;
mod pace;
mod pages;
mod player;
mod sample;
mod shown;
mod socket;
#[cfg(test)]
mod stand_in;
mod table;
pub mod wire;

use std::{io, path::Path};

use axum::Router;
use tokio::{sync::mpsc, time::Instant};
use tokio_util::sync::CancellationToken;

#[cfg(test)]
pub use self::pages::PageSent;
use self::socket::TableSocket;
pub use self::{
    music::play_music,
    pages::{Joined, Pages},
    player::seat_pages,
    shown::show as show_table,
    table::{PageOutlets, RehearsalTable},
};
use super::pages::{Doors, Links, Seal};
use crate::campaign;

/// Pages at a table: more than any group has, and few enough for a small machine. At worst, when no
/// page reads and the table takes nothing, some 3.5 MiB wait for each in its queues and buffers
/// (`pages.rs`, `socket.rs`), which is 224 MiB in all. Pages in use hold a few frames, which they
/// share. Together they may send 6,400 messages a second (`pace.rs`).
const PAGES_MAX: usize = 64;

/// Admission of browsers. Cloning shares it.
#[derive(Clone)]
pub struct Rehearsal {
    links: Links,
    seal: Seal,
    pages: Pages,
}

impl Rehearsal {
    /// With the key stored in `data_dir`; also returns the pages that will join.
    ///
    /// # Errors
    /// The key cannot be read or stored.
    pub fn open(data_dir: &Path) -> io::Result<(Self, mpsc::Receiver<Joined>)> {
        let seal = Seal::open(data_dir)?;
        let (pages, joined) = Pages::new(PAGES_MAX, campaign::now());
        Ok((Self { links: Links::default(), seal, pages }, joined))
    }

    /// A link to the listener at `base` ("http://host:port") that lets one browser in, once, within
    /// ten minutes.
    pub fn link(&self, base: &str) -> String {
        self.links.open(base, Instant::now())
    }

    /// The page and its socket, until `stop`; `behind_tls`: browsers reach them over TLS.
    pub(super) fn routes(&self, behind_tls: bool, stop: CancellationToken) -> Router {
        let Self { links, seal, pages } = self.clone();
        let socket = TableSocket { seal: seal.clone(), pages, stop };
        super::pages::routes(Doors { links, seal, behind_tls }).merge(socket::routes(socket))
    }
}
