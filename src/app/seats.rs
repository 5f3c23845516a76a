//! Seats of tables, made at the start and anew when an NPC's file has changed.
//!
//! Entry types: [`SeatMaker`], [`OpenTables`]. **Never**: keeps a table open.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc;

use crate::{
    config::Config,
    domain::{Campaign, Message, Npc},
    engine::{Cascaded, CascadedParts, Purse, SessionCalls},
    provider::{Error, Registry},
    session::{Command, Seat, TableHandle},
    tools::ToolHost,
};

/// Makes the seats of one table.
#[derive(Clone)]
pub struct SeatMaker {
    services: Registry,
    host: ToolHost,
    purse: Purse,
    campaign: Arc<Campaign>,
    seed: u64,
}

impl SeatMaker {
    /// Makes seats whose NPCs play `campaign`, paid for from `purse`.
    pub fn new(
        services: Registry,
        host: &ToolHost,
        purse: &Purse,
        campaign: &Arc<Campaign>,
        seed: u64,
    ) -> Self {
        let (host, purse, campaign) = (host.clone(), purse.clone(), Arc::clone(campaign));
        Self { services, host, purse, campaign, seed }
    }

    /// A seat for `npc` that goes on from `history`.
    ///
    /// # Errors
    /// A service's address or key that makes no request.
    pub fn seat(
        &self,
        config: &Config,
        npc: Arc<Npc>,
        history: Vec<Message>,
    ) -> Result<Seat, Error> {
        let model = self.services.model(&config.services, &npc, self.seed)?;
        let voice = self.services.voice(&config.services, &npc.voice)?;
        let (brain, tts) = (model.name().to_owned(), voice.name().to_owned());
        let parts = CascadedParts {
            npc: Arc::clone(&npc),
            model,
            host: self.host.clone(),
            purse: self.purse.clone(),
            max_tokens: config.session.max_tokens,
            filler_after: config.session.filler_after,
            session_calls: SessionCalls::default(),
        };
        let engine = Cascaded::new(parts, voice, &self.campaign, history);
        Ok(Seat::new(npc, Box::new(engine), &brain, &tts))
    }
}

/// A table whose seats can be made anew.
#[derive(Clone)]
pub struct SeatedTable {
    /// Its orders; it is gone when they are.
    pub commands: mpsc::WeakSender<Command>,
    /// Makes its seats anew.
    pub seats: SeatMaker,
}

/// The tables that run, whose seats can be made anew. Cloning shares them.
#[derive(Clone, Default)]
pub struct OpenTables(Arc<Mutex<Vec<SeatedTable>>>);

impl OpenTables {
    /// A table has been opened.
    pub fn add(&self, table: &TableHandle, seats: SeatMaker) {
        self.open().push(SeatedTable { commands: table.commands.downgrade(), seats });
    }

    /// Those that are still open.
    pub fn running(&self) -> Vec<SeatedTable> {
        let mut open = self.open();
        open.retain(|table| table.commands.upgrade().is_some());
        open.clone()
    }

    /// Held for a look-up only, never across an await.
    fn open(&self) -> MutexGuard<'_, Vec<SeatedTable>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
