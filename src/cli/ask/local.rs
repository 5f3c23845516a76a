//! The memory beside a table of a terminal, for commands.
//!
//! Entry type: [`LocalMemory`]. The store of a saved session is open; that of another one is opened when a command
//! needs it. **Never**: reads or deletes what was said on Discord.

use std::sync::Arc;

use super::planned::LocalSchedules;
use crate::{
    app,
    campaign::{
        self, Analytics, Deletion, DirectDeletion, FileError, ForgetFrom, NamesOf, PreviewedFiles,
        SeededWorlds, SharedSettings, TranscriptWriter, WorldAnswer, WorldEdits, WorldRequest,
        key_of,
    },
    commands::{OrderSoon, Refusal},
    config::Config,
    domain::{Owner, Person, PersonId},
    memory::MemoryStore,
};

/// The session that is saved, and its writer.
#[derive(Clone)]
pub struct Saved {
    /// Writes the transcript.
    pub transcripts: TranscriptWriter,
    /// Name of the session.
    pub session: String,
}

/// The memory of this machine. Cloning shares it.
#[derive(Clone)]
pub struct LocalMemory {
    /// The configuration.
    pub config: Arc<Config>,
    /// Its campaigns and cast, as they are now.
    pub settings: SharedSettings,
    /// The store, if it is open.
    pub store: Option<Arc<dyn MemoryStore>>,
    /// `None`: the session is not saved.
    pub saved: Option<Saved>,
    /// Schedules of a saved session.
    pub schedules: LocalSchedules,
    /// Worlds that are in the store.
    pub seeded: SeededWorlds,
}

impl LocalMemory {
    /// Name of the campaign that is played.
    pub fn campaign(&self) -> &str {
        campaign::shown_name(&self.config.campaign.name)
    }

    /// Reports of calls and costs; `None`: the session is not saved.
    pub fn analytics(&self) -> Option<Analytics> {
        let store = Arc::clone(self.store.as_ref()?);
        let data_dir = self.config.data_dir.clone();
        Some(Analytics::new(store, data_dir, app::local_scope(&self.config)))
    }

    /// True if the campaign of this name is played.
    pub fn plays(&self, campaign: &str) -> bool {
        key_of(campaign) == app::campaign_key(&self.config)
    }

    /// Carries `order` out in the world of the campaign that is played.
    ///
    /// # Errors
    /// The order's own, a fault of it, or of the store.
    pub async fn world(self, order: OrderSoon) -> Result<WorldAnswer, Refusal> {
        let order = order.await?;
        let store = self.open().await?;
        let scope = app::local_scope(&self.config);
        // The same command with `confirm` imports a file; nothing waits for it.
        let previewed = PreviewedFiles::default();
        let world = WorldEdits { settings: self.settings, store, previewed, seeded: self.seeded };
        Ok(world.carry_out(WorldRequest { scope, played: None, order }).await?)
    }

    /// Everything that `player` has said on this machine, as text for them.
    ///
    /// # Errors
    /// The store cannot be read, or lacks the last lines.
    pub async fn own_words(self, PersonId(player): PersonId) -> Result<String, Refusal> {
        self.caught_up().await?;
        let store = self.open().await?;
        Ok(campaign::own_lines(&*store, Owner::Local, &player).await?)
    }

    /// Names under which more of `person` would be deleted than their lines.
    ///
    /// # Errors
    /// The store cannot be read, or lacks the last lines.
    pub async fn names_of(self, person: Person) -> Result<NamesOf, Refusal> {
        self.caught_up().await?;
        let store = self.open().await?;
        Ok(campaign::names(&*store, &person.id.0, &person.names, &here()).await?)
    }

    /// A session of this machine that another program plays.
    ///
    /// # Errors
    /// The folder of sessions cannot be read.
    pub fn played_elsewhere(&self) -> Result<Option<String>, FileError> {
        let playing = self.saved.as_ref().map(|it| it.session.as_str());
        campaign::played_elsewhere(&self.config.data_dir, &here(), playing)
    }

    /// Deletes from the store and from files what `person` has said on this machine; the number of lines.
    ///
    /// # Errors
    /// Something cannot be read or written.
    pub async fn forget(self, person: Person) -> Result<u64, Refusal> {
        let player = person.id.0.clone();
        // The answer of the command tells the person.
        let asker = String::new();
        let deletion = Deletion { asker, ..Deletion::of(player, here(), campaign::now()) };
        if let Some(saved) = &self.saved {
            saved.transcripts.leave_out(&deletion);
        }
        let names = self.clone().names_of(person.clone()).await?.own;
        let store = self.open().await?;
        let (data_dir, playing) = (self.config.data_dir.clone(), self.saved.map(|it| it.session));
        let person = Person { names, ..person };
        let mut deletion = DirectDeletion { store: &*store, data_dir, playing, person, deletion };
        let (lines, kept) = deletion.erase().await?;
        kept?;
        let lines_wait = campaign::lines_wait(&self.config.memory.transcripts.spill);
        deletion.end(lines_wait).await?;
        Ok(lines)
    }

    /// Waits until the store has the lines so far.
    async fn caught_up(&self) -> Result<(), Refusal> {
        match &self.saved {
            Some(saved) => Ok(saved.transcripts.caught_up().await?),
            None => Ok(()),
        }
    }

    async fn open(&self) -> Result<Arc<dyn MemoryStore>, Refusal> {
        match &self.store {
            Some(store) => Ok(Arc::clone(store)),
            None => Ok(app::open_memory(&self.config).await?),
        }
    }
}

/// All sessions of this machine.
const fn here() -> ForgetFrom {
    ForgetFrom { owner: Owner::Local, session: None }
}
