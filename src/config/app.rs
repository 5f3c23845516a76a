//! Reads `glyphoxa.yaml` and all files it names.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::Value as Json;

use super::{
    assistant, campaign,
    cast::Cast,
    checked::{self, Config},
    cluster,
    discord::{self, DiscordOptions},
    engine::Engines,
    files::Source,
    images, keys,
    manifest::{self, Manifests},
    mcp::{self, McpOptions},
    memory::{self, MemoryOptions},
    models::{self, ModelOptions},
    music,
    npc::{self, NpcDefaults},
    prices,
    providers::{Providers, providers},
    reading::{Folder, Notes, Reading},
    rules::{self, Rules},
    schedules, search,
    selection::{self, Surroundings},
    speech_to_speech, stored, tables, tools, trust, turns, voice, web, whitelist, window, workflow,
};
use crate::{
    domain::{Campaign, Entity, Npc, Policy},
    import::campaign::{FILE, World},
    logic::{budget::BudgetOptions, music::Library, workflow::Workflows},
    provider::{
        self, EmbedderEntry, HereOptions, ImageEntry, SMART_TURN, SMART_TURN_FILE, SearchOptions,
        SpeechOptions,
    },
    tools::{
        SelectionOptions,
        builtin::{FileIo, RandomTable},
    },
    yaml::{Fields, Kind, Node, Position, quoted},
};

/// Default spending cap of a session.
const SESSION_MAX: f64 = 2.0;
/// A higher cap is probably a slip.
const UNUSUAL_SESSION_MAX: f64 = 50.0;

/// Reads the file at `path` and every file it names. `None`: invalid YAML. Only valid without
/// problems.
pub fn read(reading: &mut Reading, path: &Path) -> Option<Config> {
    let (mut node, mut notes) = reading.file_or_problem(path, &Kind::Shape(&keys::app::FILE))?;
    let disabled = mcp::translate(&mut node, &mut notes);
    let fields = Fields::new(&node, &keys::app::FILE);
    let folder = path.parent().unwrap_or(Path::new(""));
    let music = music::library(&fields, folder, reading, &mut notes);
    let (tools, music) = (fields.map("tools", &keys::app::TOOLS), Arc::new(music));
    let file = File { fields, tools, folder, disabled, music };
    let config = file.config(reading, &mut notes);
    window::check(&config, &file.fields, &mut notes);
    cluster::check(&config.memory.place, &file.fields, &mut notes);
    reading.take(notes);
    // The shipped files need no agreement; broken ones are not used.
    let (demands, code) = match reading.source {
        Source::Disk if reading.problems.is_empty() => {
            let code = trust::code(&config, folder);
            (trust::demands(&node, &config, folder, (reading, code.as_ref())), code)
        }
        Source::Disk | Source::Shipped => (Vec::new(), None),
    };
    Some(Config { demands, code, ..config })
}

struct File<'a> {
    fields: Fields<'a>,
    tools: Option<Fields<'a>>,
    folder: &'a Path,
    /// Names of disabled servers.
    disabled: Vec<String>,
    music: Arc<Library>,
}

impl File<'_> {
    #[expect(clippy::too_many_lines, reason = "a line for each part of the file")]
    fn config(&self, reading: &mut Reading, notes: &mut Notes) -> Config {
        let language = npc::language(&self.fields, &mut notes.problems).unwrap_or("en");
        let (mut budget, models) = (self.budget(notes), self.models(reading, notes));
        let providers = self.providers(&models, language, &mut budget, notes);
        let (image, talks, search) = self.beside(language, &mut budget, notes);
        let manifests = self.manifests(self.tools, reading, notes);
        let known = self.known(reading.tools, &manifests.identities);
        let (mcp, patterns) = self.mcp(reading, &manifests, notes);
        let known = [known, patterns.iter().map(String::as_str).collect()].concat();
        let workflows = workflow::Files::read(reading, &self.folder.join(workflow::FOLDER));
        let offered = workflows.offered();
        let known = [known, offered.iter().map(String::as_str).collect()].concat();
        let policy = policy(self.tools, &known, notes);
        let (folders, slowest) = (models.weights.folders(), providers.slowest_voice);
        let voices = providers.voices.with_models(&folders, slowest);
        let voices = voice::with_replacements(&self.fields, language, voices, &mut notes.problems);
        let defaults = NpcDefaults {
            language,
            voices: &voices,
            policy: &policy,
            tools: &known,
            models: &providers.models,
            names_models: providers.names_models,
            engines: engines(&self.fields, &talks),
        };
        let mut cast = self.cast(reading, &defaults, notes);
        let (selection, embedder) = selection(self.tools.as_ref(), reading, &budget, notes);
        let (campaign, world) = self.campaign(&cast, reading, notes);
        Config {
            workflows: self.workflows(workflows, &cast, &known, reading),
            schedules: schedules::options(&self.fields, notes),
            world,
            campaign_file: self.path("campaign"),
            shared: self.shared(&cast, reading, notes),
            file_io: self.file_io(notes),
            manifests: manifests.tools,
            campaign: self.veiled(campaign, &cast.npcs),
            assistant: assistant::assistant(&mut cast, language, &policy, search.is_some()),
            changed: cast.changed(),
            npcs: cast.npcs,
            session: turns::session(&self.fields, self.tools, providers.models.max_tokens(None)),
            services: provider::Options {
                recognisers: providers.recognisers,
                models: providers.models,
                voices,
                speech_to_speech: talks,
                embedder,
                image,
                search,
                turn_model: models.weights.file(SMART_TURN, SMART_TURN_FILE),
            },
            selection,
            tiers: turns::tiers(&self.fields),
            budget,
            approvals: tools::approvals(self.tools.as_ref(), notes),
            tables: self.tables(self.tools, reading, notes),
            mcp,
            global_data: self.global_data(),
            rules: self.rules(reading, notes),
            music: Arc::clone(&self.music),
            discord: self.discord(reading, notes),
            cluster: cluster::cluster(&self.fields),
            memory: self.memory(notes),
            web: web::options(&self.fields, notes),
            telemetry: super::traces::options(&self.fields, notes),
            models,
            data_dir: self.checked_data_dir(notes),
            environment: self.environment(),
            log_level: self.log_level(),
            npc_dir: self.npc_dir(),
            demands: Vec::new(),
            code: None,
            files: Vec::new(),
            folders: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// Adds the banned topics and the cast `npcs` to `campaign`.
    fn veiled(&self, campaign: Campaign, npcs: &[Npc]) -> Campaign {
        let lines_and_veils = self.fields.texts("lines_and_veils");
        Campaign { lines_and_veils, cast: npcs.iter().map(Entity::from).collect(), ..campaign }
    }

    fn log_level(&self) -> String {
        let log = self.fields.map("log", &keys::app::LOG);
        log.and_then(|log| log.text("level")).unwrap_or("info").to_owned()
    }

    fn data_dir(&self) -> PathBuf {
        self.path("data_dir").unwrap_or_else(|| self.folder.join("data"))
    }

    /// Like [`Self::data_dir`], with warnings about its state.
    fn checked_data_dir(&self, notes: &mut Notes) -> PathBuf {
        let path = self.data_dir();
        stored::check(&path, &self.fields, notes);
        path
    }

    fn memory(&self, notes: &mut Notes) -> MemoryOptions {
        let fields = self.fields.map("memory", &keys::app::MEMORY);
        memory::options(fields, self.folder, &self.data_dir(), notes)
    }

    /// Services that hear, think and speak; adds entries' own prices to `budget`.
    fn providers(
        &self,
        models: &ModelOptions,
        language: &str,
        budget: &mut BudgetOptions,
        notes: &mut Notes,
    ) -> Providers {
        let weights = models.weights.clone();
        let here = HereOptions { weights, language: language.to_owned() };
        let mut read = providers(&self.fields, &here, &budget.prices, notes);
        budget.prices.append(&mut read.prices);
        read
    }

    /// Reads `speech_to_speech`, `image` and `search`; adds their own prices to `budget`.
    fn beside(
        &self,
        language: &str,
        budget: &mut BudgetOptions,
        notes: &mut Notes,
    ) -> (Option<ImageEntry>, Vec<SpeechOptions>, Option<SearchOptions>) {
        let image = images::image(&self.fields, budget, notes);
        let talks = speech_to_speech::speech_to_speech(&self.fields, budget, notes);
        (image, talks, search::search(&self.fields, language, budget, notes))
    }

    fn models(&self, reading: &Reading, notes: &mut Notes) -> ModelOptions {
        let fields = self.fields.map("models", &keys::models::MODELS);
        let folders = models::Folders { file: self.folder, data: &self.data_dir() };
        models::options(fields, &folders, reading, notes)
    }

    /// The bot's settings; the token may be empty, and defaults to the usual variable.
    fn discord(&self, reading: &Reading, notes: &mut Notes) -> DiscordOptions {
        let fields = self.fields.map("discord", &keys::app::DISCORD);
        let mut options = discord::options(fields, &self.data_dir(), notes);
        if options.token.0.is_empty() {
            let token = reading.variable("DISCORD_TOKEN", "discord.token").unwrap_or_default();
            options.token.0 = token.trim().to_owned();
        }
        options
    }

    /// Environment that measured figures of tools belong to.
    fn environment(&self) -> String {
        let mcp = self.fields.map("mcp", &keys::mcp::MCP);
        mcp.and_then(|mcp| mcp.text("environment")).unwrap_or("default").to_owned()
    }

    /// Identities that NPCs may name: those of `built_in` that are configured, and `manifests`.
    fn known<'k>(&self, built_in: &[&'k str], manifests: &'k [String]) -> Vec<&'k str> {
        let files = self.fields.map("file_io", &keys::app::FILE_IO);
        let read_only = files.and_then(|files| files.flag("read_only")).unwrap_or_default();
        let is_there = |identity: &&str| match *identity {
            "file-io.write_file" => files.is_some() && !read_only,
            identity if identity.starts_with("file-io.") => files.is_some(),
            identity => whitelist::has_service(identity, &self.fields),
        };
        let built_in = built_in.iter().copied().filter(is_there);
        built_in.chain(manifests.iter().map(String::as_str)).collect()
    }

    /// MCP servers, and patterns for their tools.
    fn mcp(
        &self,
        reading: &Reading,
        manifests: &Manifests,
        notes: &mut Notes,
    ) -> (McpOptions, Vec<String>) {
        let data_dir = self.data_dir();
        let origin = mcp::Origin {
            folder: self.folder,
            data_dir: Some(&data_dir),
            source: reading.source,
            manifests: &manifests.identities,
            global_data: &self.global_data(),
        };
        let disabled = self.disabled.clone();
        let servers = mcp::mcp(&mcp::Written::all(&self.fields), &origin, notes);
        let options = McpOptions { disabled, ..servers };
        let patterns = mcp::patterns(&options);
        (options, patterns)
    }

    /// Values for `${data.*}`.
    fn global_data(&self) -> BTreeMap<String, Json> {
        let entries = self.fields.get("global_data").map(Node::entries).unwrap_or_default();
        entries.iter().map(|entry| (entry.key.clone(), entry.node.to_json())).collect()
    }

    fn manifests(
        &self,
        tools: Option<Fields>,
        reading: &mut Reading,
        notes: &mut Notes,
    ) -> Manifests {
        let mut manifests = Manifests::default();
        match tools.filter(|tools| tools.get("manifests").is_some() || tools.is_broken("manifests"))
        {
            Some(tools) => {
                for node in tools.items("manifests") {
                    let Some(dir) = node.text() else { continue };
                    let dir = self.folder.join(dir);
                    let folder = Folder { path: &dir, named_at: Some(node.at) };
                    manifest::folder(reading, folder, &mut manifests, notes);
                }
            }
            None => {
                let dir = self.folder.join(manifest::FOLDER);
                if reading.has_dir(&dir) {
                    let folder = Folder { path: &dir, named_at: None };
                    manifest::folder(reading, folder, &mut manifests, notes);
                }
            }
        }
        manifests
    }

    fn workflows(
        &self,
        files: workflow::Files,
        cast: &Cast,
        tools: &[&str],
        reading: &mut Reading,
    ) -> Arc<Workflows> {
        let (whole, assistant) = (cast.whole(), cast.assistant.as_ref());
        let (left, music) = (reading.left, &*self.music);
        let known = workflow::Nameable { cast: whole, assistant, left, tools, music };
        Arc::new(files.workflows(known, reading))
    }

    fn file_io(&self, notes: &mut Notes) -> Option<FileIo> {
        let fields = self.fields.map("file_io", &keys::app::FILE_IO)?;
        let base = self.folder.join(fields.text("base_dir")?);
        if base.exists() && !base.is_dir() {
            let message = format!("base_dir '{}' is not a folder", base.display());
            notes.problems.add(fields.place("base_dir"), message, "name a folder");
        }
        Some(FileIo { base, read_only: fields.flag("read_only").unwrap_or_default() })
    }

    fn path(&self, key: &str) -> Option<PathBuf> {
        self.fields.text(key).map(|path| self.folder.join(path))
    }

    fn npc_dir(&self) -> PathBuf {
        self.path("npc_dir").unwrap_or_else(|| self.folder.join(checked::NPCS))
    }

    fn budget(&self, notes: &mut Notes) -> BudgetOptions {
        let budget = self.fields.map("budget", &keys::app::BUDGET);
        let money = |key, default| match budget.and_then(|budget| budget.text(key)) {
            Some("none") => None,
            _ => budget.and_then(|it| it.number(key)).or(default),
        };
        let session_max = money("session_max", Some(SESSION_MAX));
        let month_max = money("max_cost_month", None);
        if let (Some(budget), Some(max)) = (budget, session_max)
            && max > UNUSUAL_SESSION_MAX
        {
            let message = format!("a session may spend {max:.2}");
            notes.warnings.add(budget.place("session_max"), message, "check the decimal point");
        }
        let prices = prices::prices(&self.fields);
        BudgetOptions { session_max, month_max, prices }
    }

    /// The NPCs written here and those of `npc_dir`.
    fn cast(&self, reading: &mut Reading, defaults: &NpcDefaults, notes: &mut Notes) -> Cast {
        let mut cast = Cast::default();
        cast.expect(self.fields.items("npcs"), notes);
        match self.path("npc_dir") {
            Some(dir) => {
                let at = self.fields.place("npc_dir");
                let folder = Folder { path: &dir, named_at: Some(at) };
                cast.folder(reading, folder, defaults, notes);
            }
            None => {
                let dir = self.npc_dir();
                if reading.has_dir(&dir) && !self.fields.is_broken("npc_dir") {
                    let folder = Folder { path: &dir, named_at: None };
                    cast.folder(reading, folder, defaults, notes);
                }
            }
        }
        cast.own(defaults, notes);
        let broken = self.fields.is_broken("npcs") || self.fields.is_broken("npc_dir");
        if cast.is_empty() && !broken {
            let way_out =
                "put one YAML file per npc into the folder 'npcs', or write npcs under npcs:";
            notes.problems.add(self.fields.place("npc_dir"), "no npcs found", way_out);
        }
        reading.problems.extend(cast.clashes());
        reading.warnings.extend(cast.warnings());
        cast.name_by_profession();
        cast
    }

    /// Empty without a campaign file.
    fn campaign(&self, cast: &Cast, reading: &mut Reading, notes: &mut Notes) -> (Campaign, World) {
        let Some(path) = self.path("campaign") else { return <(Campaign, World)>::default() };
        let at = self.fields.place("campaign");
        self.campaign_at(Folder { path: &path, named_at: Some(at) }, cast, reading, notes)
    }

    /// Further campaigns, which every server may play.
    fn shared(
        &self,
        cast: &Cast,
        reading: &mut Reading,
        notes: &mut Notes,
    ) -> Vec<(Campaign, World)> {
        let mut all = Vec::new();
        for node in self.fields.items("campaigns") {
            let fields = Fields::new(node, &keys::app::OTHER_CAMPAIGN);
            let Some(file) = fields.text("file") else { continue };
            let path = self.folder.join(file);
            let place = Folder { path: &path, named_at: Some(fields.place("file")) };
            let read = self.campaign_at(place, cast, reading, notes);
            match fields.flag("shared") {
                Some(true) => all.push(read),
                _ => {
                    let message = format!("campaign '{file}' is never used");
                    let way_out = "set shared: true for all servers, or name it under `campaign`";
                    notes.warnings.add(fields.at(), message, way_out);
                }
            }
        }
        all
    }

    fn campaign_at(
        &self,
        place: Folder<'_>,
        cast: &Cast,
        reading: &mut Reading,
        notes: &mut Notes,
    ) -> (Campaign, World) {
        match reading.file(place.path, &Kind::Shape(&FILE)) {
            Ok((node, mut notes)) => {
                let (cast, left, music) = (cast.whole(), reading.left, &*self.music);
                let known = campaign::Nameable { cast, left, music };
                let campaign = node.map(|node| campaign::campaign(&node, known, &mut notes));
                reading.take(notes);
                campaign.unwrap_or_default()
            }
            Err(error) => {
                let path = place.path.display().to_string();
                let message = format!("campaign {}: {}", quoted(&path), error.message);
                let at = place.named_at.unwrap_or(Position::START);
                notes.problems.add(at, message, error.way_out);
                <(Campaign, World)>::default()
            }
        }
    }

    fn rules(&self, reading: &mut Reading, notes: &mut Notes) -> Rules {
        let rules = self.fields.map("rules", &keys::app::RULES);
        rules.map(|rules| rules::rules(rules, self.folder, reading, notes)).unwrap_or_default()
    }

    /// Random tables, the user's own first.
    fn tables(
        &self,
        tools: Option<Fields>,
        reading: &mut Reading,
        notes: &mut Notes,
    ) -> Vec<RandomTable> {
        let mut all = Vec::new();
        if let Some(node) = tools.and_then(|tools| tools.get("tables")) {
            tables::inline(node, &mut all, &mut notes.problems);
        }
        if let Some((tools, dir)) = tools.and_then(|tools| Some((tools, tools.text("table_dir")?)))
        {
            let dir = self.folder.join(dir);
            let folder = Folder { path: &dir, named_at: Some(tools.place("table_dir")) };
            tables::folder(reading, folder, &mut all, notes);
        }
        tables::built_in(&mut all, notes);
        all
    }
}

/// Settings that engines depend on.
fn engines<'a>(file: &Fields, services: &'a [SpeechOptions]) -> Engines<'a> {
    let is_guarded = !file.items("lines_and_veils").is_empty();
    Engines { services, is_read: speech_to_speech::is_read(file), is_guarded }
}

/// Settings that narrow lists of tools.
fn selection(
    tools: Option<&Fields>,
    reading: &Reading,
    budget: &BudgetOptions,
    notes: &mut Notes,
) -> (SelectionOptions, Option<EmbedderEntry>) {
    let around = Surroundings { tools: reading.tools, prices: &budget.prices };
    selection::selection(tools, &around, notes)
}

/// Default policy of NPCs.
fn policy(tools: Option<Fields<'_>>, known: &[&str], notes: &mut Notes) -> Policy {
    let node = tools.and_then(|tools| tools.get("policy"));
    node.map_or_else(Policy::default, |node| tools::policy(node, &Policy::default(), known, notes))
}
