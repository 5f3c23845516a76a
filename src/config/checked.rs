//! The configuration, read and checked.
//!
//! Entry type: [`Config`]. **Never**: holds a value that was not checked.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use serde_json::Value as Json;

use super::{
    changes::ChangedNpc, code::Code, data_dir, demands::Demand, discord::DiscordOptions,
    mcp::McpOptions, memory::MemoryOptions, models::ModelOptions, rules::Rules,
};
use crate::{
    campaign::ApprovalOptions,
    domain::{Campaign, Npc, redact},
    import::campaign::World,
    logic::{budget::BudgetOptions, music::Library, tier::Keywords},
    provider, session,
    tools::{
        SelectionOptions,
        builtin::{FileIo, RandomTable},
        connection::{Auth, Credential, Reach},
        manifest::Manifest,
    },
    yaml::Problem,
};

/// The whole configuration; every value is checked.
#[derive(Clone, Debug)]
pub struct Config {
    /// The cast, at least one, names unique; policies have the table's defaults merged in.
    pub npcs: Vec<Npc>,
    /// NPCs with files that the configuration changes.
    pub changed: Vec<ChangedNpc>,
    /// The game master's assistant; described as NPCs are, never at the table.
    pub assistant: Npc,
    /// The world played in; empty without a campaign file.
    pub campaign: Campaign,
    /// The campaign's world as its file has it, with ids and relationships.
    pub world: World,
    /// Further campaigns, which every server may play.
    pub shared: Vec<(Campaign, World)>,
    /// Recogniser, chat models, voices, speech-to-speech services, embedder, pictures and web search.
    pub services: provider::Options,
    /// Settings of a table.
    pub session: session::Options,
    /// Narrowing of long lists of tools.
    pub selection: SelectionOptions,
    /// Words that raise a turn's tier.
    pub tiers: Keywords,
    /// Cap and prices.
    pub budget: BudgetOptions,
    /// Calls that the game master decides about.
    pub approvals: ApprovalOptions,
    /// Random tables: the user's own, then the built-in ones they do not replace.
    pub tables: Vec<RandomTable>,
    /// Servers of further tools.
    pub mcp: McpOptions,
    /// Values of the configuration that `${data.*}` stands for.
    pub global_data: BTreeMap<String, Json>,
    /// Rules to look up.
    pub rules: Rules,
    /// Music: the user's own in the order of their folders, then the built-in ambience.
    pub music: Arc<Library>,
    /// Tools written down in files, identities unique.
    pub manifests: Vec<Manifest>,
    /// Folder in which NPCs may read and, unless forbidden, write files; `None`: none.
    pub file_io: Option<FileIo>,
    /// The bot, whose token may be empty, and whether game masters are trusted.
    pub discord: DiscordOptions,
    /// Folder of stored sessions.
    pub data_dir: PathBuf,
    /// Files of models that hear and speak: which there are, where, and where they come from.
    pub models: ModelOptions,
    /// The memory: its place, its contents, and how long they are kept.
    pub memory: MemoryOptions,
    /// Name of the environment that measured figures of tools belong to.
    pub environment: String,
    /// Least important level logged ("info").
    pub log_level: String,
    /// Folder of NPCs, whether or not there is one.
    pub npc_dir: PathBuf,
    /// What needs the user's yes before it is done.
    pub demands: Vec<Demand>,
    /// Files that its programs may run; `None`: it has no programs, or needs no yes to them.
    pub code: Option<Code>,
    /// Files that were read, in order.
    pub files: Vec<PathBuf>,
    /// Folders whose files were read, there or not.
    pub folders: Vec<PathBuf>,
    /// Warnings: settings that are allowed, but probably not meant.
    pub warnings: Vec<Problem>,
}

/// Name of the configuration in the working directory.
pub const FILE_NAME: &str = "glyphoxa.yaml";
/// Folder of NPCs where the configuration names none.
pub const NPCS: &str = "npcs";

impl Config {
    /// The warning about NPCs on disk that are not read, if there are any.
    pub fn unread(&self) -> Option<&Problem> {
        self.warnings.iter().find(|warning| &*warning.file == NPCS)
    }

    /// The warning about a `data_dir` that other users can read or change, if they can.
    pub fn shared_data(&self) -> Option<&Problem> {
        self.warnings.iter().find(|warning| warning.message.starts_with(data_dir::SHARED))
    }

    /// Longest spoken answer of `npc`, in tokens.
    pub fn longest_answer(&self, npc: &Npc) -> u32 {
        let own = self.services.models.max_tokens(npc.thinks_with());
        own.unwrap_or(self.session.max_tokens)
    }

    /// Has nothing shown from now on that proves who we are.
    pub fn keep_secrets(&self) {
        redact::keep_secret(&self.discord.token.0);
        for server in &self.mcp.servers {
            match &server.reach {
                Reach::Stdio { env, .. } => {
                    let secret = env.iter().filter(|(name, _)| redact::is_secret(name));
                    secret.for_each(|(_, value)| redact::keep_secret(&value.0));
                }
                Reach::Http { headers, auth, .. } => {
                    // A value that is filled in with each request is no secret of the configuration.
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
