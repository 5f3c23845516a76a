//! The configuration, read and checked. Entry type: [`Config`].

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use serde_json::Value as Json;

use super::{
    changes::ChangedNpc, cluster::Cluster, code::Code, demands::Demand, discord::DiscordOptions,
    mcp::McpOptions, memory::MemoryOptions, models::ModelOptions, rules::Rules, stored,
    traces::TelemetryOptions,
};
use crate::{
    campaign::{ApprovalOptions, ScheduleOptions},
    domain::{Campaign, Npc, redact},
    import::campaign::World,
    logic::{budget::BudgetOptions, music::Library, tier::Keywords, workflow::Workflows},
    provider::{self, OutsidePrograms, ServiceInfo, Services},
    session,
    tools::{
        SelectionOptions,
        builtin::{FileIo, RandomTable},
        connection::{Auth, Credential, Reach},
        manifest::Manifest,
    },
    web::WebOptions,
    yaml::Problem,
};

#[derive(Clone, Debug)]
pub struct Config {
    /// At least one NPC, with unique names; policies include the table's defaults.
    pub npcs: Vec<Npc>,
    /// NPCs with files that the configuration changes.
    pub changed: Vec<ChangedNpc>,
    /// Described like an NPC, but never at the table.
    pub assistant: Npc,
    pub campaign: Campaign,
    /// Its file; `None`: no campaign file is named.
    pub campaign_file: Option<PathBuf>,
    /// With ids and relationships, as in the file.
    pub world: World,
    /// Further campaigns, which every server may play.
    pub shared: Vec<(Campaign, World)>,
    /// Services that hear, think, speak, embed, draw and search.
    pub services: provider::Options,
    pub session: session::Options,
    /// Narrows long lists of tools.
    pub selection: SelectionOptions,
    /// Words that raise a turn's tier.
    pub tiers: Keywords,
    /// Cap and prices.
    pub budget: BudgetOptions,
    pub approvals: ApprovalOptions,
    /// The user's own, then the built-in ones they do not replace.
    pub tables: Vec<RandomTable>,
    /// MCP servers.
    pub mcp: McpOptions,
    /// Values for `${data.*}`.
    pub global_data: BTreeMap<String, Json>,
    pub rules: Rules,
    /// The user's own in the order of their folders, then the built-in ambience.
    pub music: Arc<Library>,
    /// Tools of files, with unique identities.
    pub manifests: Vec<Manifest>,
    /// Those of the folder `workflows`.
    pub workflows: Arc<Workflows>,
    pub schedules: ScheduleOptions,
    /// Folder in which NPCs may read and, unless forbidden, write files.
    pub file_io: Option<FileIo>,
    /// The bot; its token may be empty.
    pub discord: DiscordOptions,
    /// Several processes of the bot; `None`: one serves it alone.
    pub cluster: Option<Cluster>,
    pub data_dir: PathBuf,
    /// Sets, folders and sources of model files.
    pub models: ModelOptions,
    /// Place, contents and retention of the memory.
    pub memory: MemoryOptions,
    /// The web listener; `None`: nothing listens.
    pub web: Option<WebOptions>,
    /// Where traces are sent; `None`: nothing is traced.
    pub telemetry: Option<TelemetryOptions>,
    /// Environment that measured figures of tools belong to.
    pub environment: String,
    pub log_level: String,
    /// Folder of NPCs; it need not exist.
    pub npc_dir: PathBuf,
    /// Actions that need the user's agreement.
    pub demands: Vec<Demand>,
    /// Files that its programs may run; `None`: no programs, or none that need agreement.
    pub code: Option<Code>,
    /// In reading order.
    pub files: Vec<PathBuf>,
    /// Folders searched; they need not exist.
    pub folders: Vec<PathBuf>,
    /// Settings that are allowed, but probably unintended.
    pub warnings: Vec<Problem>,
}

pub const FILE_NAME: &str = "glyphoxa.yaml";
/// Default folder of NPCs.
pub const NPCS: &str = "npcs";

impl Config {
    /// The warning about NPCs on disk that are not read.
    pub fn unread(&self) -> Option<&Problem> {
        self.warnings.iter().find(|warning| &*warning.file == NPCS)
    }

    /// The warning about a `data_dir` that other users can read or change.
    pub fn shared_data(&self) -> Option<&Problem> {
        self.warnings.iter().find(|warning| warning.message.starts_with(stored::SHARED))
    }

    /// Services used by `cast`, programs that the listener lets in, and what receives words in
    /// traces.
    pub fn describe(&self, cast: &[Npc]) -> Services {
        let programs = self
            .web
            .as_ref()
            .map(|web| OutsidePrograms { at: web.listen, may_listen: web.mcp.listen });
        let telemetry = self.telemetry.as_ref().filter(|telemetry| telemetry.content);
        let collector = telemetry.map(|it| ServiceInfo::at("a collector of traces", &it.otlp.0));
        Services { programs, collector, ..self.services.describe(cast) }
    }

    /// Longest spoken answer of `npc`, in tokens.
    pub fn longest_answer(&self, npc: &Npc) -> u32 {
        let own = self.services.models.max_tokens(npc.thinks_with());
        own.unwrap_or(self.session.max_tokens)
    }

    /// Redacts our credentials in all output from now on.
    pub fn keep_secrets(&self) {
        redact::keep_secret(&self.discord.token.0);
        for server in &self.mcp.servers {
            match &server.reach {
                Reach::Stdio { env, .. } => {
                    let secret = env.iter().filter(|(name, _)| redact::is_secret(name));
                    secret.for_each(|(_, value)| redact::keep_secret(&value.0));
                }
                Reach::Http { headers, auth, .. } => {
                    // Values that are filled in with each request are no secrets.
                    let fixed = headers.iter().filter(|(_, value)| !value.0.contains("${"));
                    fixed.for_each(|(_, value)| redact::keep_secret(&value.0));
                    match auth {
                        Auth::None | Auth::Login { .. } => {}
                        Auth::Token(token) => redact::keep_secret(&token.0),
                        Auth::Client(client) => match &client.credential {
                            Credential::Secret(secret) | Credential::PrivateKey(secret) => {
                                redact::keep_secret(&secret.0);
                            }
                        },
                    }
                }
            }
        }
    }
}
