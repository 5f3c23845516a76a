//! Services of a command that runs until a signal ends it. Entry type: [`Program`].

use std::{path::Path, sync::Arc};

use tokio_util::task::AbortOnDropHandle;

use super::{Configured, Failure, complain, listener::Listener};
use crate::{
    app::{self, FactoryParts, LiveConfig, OpenTables, Running, TableFactory, Tools},
    campaign::{Accounts, Handles, Indexer, Mistakes, Tables, TranscriptWriter},
    config::{Agreements, Config},
};

/// Everything that one run of the program opens, before a face uses it.
pub struct Program {
    pub config: Arc<LiveConfig>,
    pub handles: Handles,
    transcripts: TranscriptWriter,
    /// Mistakes in changed files.
    pub mistakes: Mistakes,
    tools: Arc<Tools>,
    indexer: Indexer,
    accounts: Accounts,
    /// Running tables, whose game masters are notified.
    tables: Tables,
    /// Ends tables that are blocked, until this is dropped.
    _watching: AbortOnDropHandle<()>,
    /// Running tables, whose NPCs change.
    open: OpenTables,
}

impl Program {
    /// Fails on faults that only the owner can fix, those of `listener` too. `is_heard`: players
    /// speak to its tables.
    pub async fn open(
        config: Config,
        listener: Option<&Listener>,
        is_heard: bool,
    ) -> Result<Self, Failure> {
        let store = app::open_memory(&config).await?;
        if let Some(listener) = listener {
            listener.check_tokens(&store).await?;
        }
        let (playing, seed) = (app::Playing::Sessions, rand::random());
        let tools = app::open_tools(&config, playing, seed, Some(Arc::clone(&store)))?;
        tools.level_music(&config).await;
        let tools = Arc::new(tools);
        // Errors in the recognisers' options stop it here; missing model files do not.
        tools.services.recognisers(&config.services)?;
        if is_heard {
            prepare_hearing(&tools, &config).await;
        }
        tools.servers.required().await?;
        let (tables, open) = (Tables::default(), OpenTables::default());
        let accounts = app::accounts(&config, Some(Arc::clone(&store))).await?;
        let config = LiveConfig::new(config, tools.services.clone());
        let options = config.load().memory.transcripts.clone();
        let transcripts =
            TranscriptWriter::measured(store, tables.clone(), &options, accounts.figures().clone());
        let indexer = tools.index(None, &transcripts);
        let handles = TableFactory::handles(
            FactoryParts {
                config: Arc::clone(&config),
                tools: Arc::clone(&tools),
                open: open.clone(),
                transcripts: transcripts.clone(),
                accounts: accounts.clone(),
            },
            tables.clone(),
        )?;
        let mistakes = Mistakes::default();
        let watching = AbortOnDropHandle::new(tokio::spawn(tables.clone().end_blocked()));
        Ok(Self {
            config,
            handles,
            transcripts,
            mistakes,
            tools,
            indexer,
            accounts,
            tables,
            _watching: watching,
            open,
        })
    }

    /// Parts that changed files affect; `agreed` are the agreements to the configuration.
    pub fn running<'a>(
        &'a self,
        from: Configured<'_>,
        agreed: Agreements,
        log_level: &'a (dyn Fn(&str) + Send + Sync),
    ) -> Running<'a> {
        Running {
            path: from.path.map(Path::to_owned),
            agreed,
            tables: self.tables.clone(),
            open: self.open.clone(),
            tools: &self.tools,
            memory: Some(self.transcripts.store()),
            mistakes: self.mistakes.clone(),
            is_local: false,
            log_level,
        }
    }

    /// Stores what is left, and ends everything; faces have ended before.
    pub async fn close(self) {
        let Self { config, handles, transcripts, tools, indexer, accounts, .. } = self;
        handles.workflows.close().await;
        // They hold the tools.
        drop((handles, config));
        if let Some(missing) = transcripts.close().await {
            complain(&missing);
        }
        indexer.close().await;
        accounts.close().await;
        if let Some(tools) = Arc::into_inner(tools) {
            tools.close().await;
        }
    }
}

/// Reports now what the first session would lack to hear players, and loads what judges pauses.
async fn prepare_hearing(tools: &Tools, config: &Config) {
    if let Some(here) = config.services.recognisers.only_here()
        && let Err(why) = here.found()
    {
        tracing::error!(%why, "no player will be heard");
    }
    app::turn_judge(&tools.services, config).await;
}
