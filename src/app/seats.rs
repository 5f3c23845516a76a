//! Seats of tables, made at the start and anew when an NPC's file has changed.
//!
//! Entry types: [`SeatMaker`], [`OpenTables`]. **Never**: keeps a table open.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc;

use crate::{
    config::Config,
    domain::{Campaign, Message, Npc},
    engine::{Budget, Cascaded, Conversation, NpcCalls, NpcModel, Synthesizer},
    provider::{Error, Registry},
    session::{Command, Seat, TableHandle},
    tools::ToolHost,
};

/// Makes the seats of one table.
#[derive(Clone)]
pub struct SeatMaker {
    services: Registry,
    host: ToolHost,
    /// Pays for them.
    pub budget: Budget,
    campaign: Arc<Campaign>,
    seed: u64,
}

impl SeatMaker {
    /// Makes seats whose NPCs play `campaign`, paid for from `budget`.
    pub fn new(
        services: Registry,
        host: &ToolHost,
        budget: &Budget,
        campaign: &Arc<Campaign>,
        seed: u64,
    ) -> Self {
        let (host, budget, campaign) = (host.clone(), budget.clone(), Arc::clone(campaign));
        Self { services, host, budget, campaign, seed }
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
        let budget = self.budget.clone();
        budget.expect(&npc.name, npc.policy.max_cost);
        let world = &self.campaign.entities;
        let voice = Synthesizer::new(Arc::clone(&npc), voice, budget.clone(), world);
        let max_tokens = config.session.max_tokens;
        let model = NpcModel { npc: Arc::clone(&npc), model, budget, max_tokens };
        let calls = NpcCalls {
            host: self.host.clone(),
            made: self.host.calls_of(&npc.name),
            filler_after: config.session.filler_after,
        };
        let conversation = Conversation::new(model.clone(), &self.campaign, history);
        let engine = Cascaded::new(model, calls, voice);
        Ok(Seat::new(npc, conversation, Box::new(engine), &brain, &tts))
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
