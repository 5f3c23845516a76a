//! Differences after files were reread: applied now, or at the next start.
//!
//! Entry functions: [`held`], [`now`], [`later`]. **Never**: includes a value; some are secrets.

use std::path::PathBuf;

use super::campaign_key;
use crate::{
    campaign::TranscriptOptions,
    config::{Config, DiscordOptions, MemoryPlace},
    domain::Campaign,
    import::campaign::World,
    provider::{self, AllowedHost, SearchOptions},
    session::{Limits, Options},
};

/// `fresh`, except for settings that only a restart applies, which stay as in `running`.
pub fn held(fresh: Config, running: &Config) -> Config {
    let mut held = fresh;
    if held.services.embedder != running.services.embedder {
        // The selection is compared separately.
        held.selection = running.selection.clone();
    }
    let provider::Options { models, image, search, .. } = held.services;
    held.services = provider::Options { models, image, search, ..running.services.clone() };
    held.models = running.models.clone();
    held.data_dir.clone_from(&running.data_dir);
    held.environment.clone_from(&running.environment);
    held.memory.place = running.memory.place.clone();
    held.memory.transcripts = running.memory.transcripts.clone();
    held.web.clone_from(&running.web);
    held.telemetry.clone_from(&running.telemetry);
    held.cluster = running.cluster;
    held.discord = DiscordOptions { trust_dms: held.discord.trust_dms, ..running.discord.clone() };
    held
}

/// Changed keys that apply now.
pub fn now(before: &Config, fresh: &Config) -> Vec<&'static str> {
    let all = [
        ("campaign", world(before) != world(fresh)),
        ("campaigns", before.shared != fresh.shared),
        ("turn", turn(before) != turn(fresh)),
        ("limits", before.session.limits != fresh.session.limits),
        ("tiers", before.tiers != fresh.tiers),
        ("providers.llm", before.services.models != fresh.services.models),
        ("providers.image", before.services.image != fresh.services.image),
        ("providers.search", searches(before) != searches(fresh)),
        ("search.allow", allowed(before) != allowed(fresh)),
        ("budget", before.budget != fresh.budget),
        ("tools.tables", before.tables != fresh.tables),
        ("tools.selection", before.selection != fresh.selection),
        ("tools.approvals", before.approvals != fresh.approvals),
        ("rules", before.rules != fresh.rules),
        ("music", before.music != fresh.music),
        ("file_io", before.file_io != fresh.file_io),
        ("global_data", before.global_data != fresh.global_data),
        ("mcp.servers", before.mcp.servers != fresh.mcp.servers),
        ("memory.consolidate", before.memory.consolidate != fresh.memory.consolidate),
        ("discord.trust_dms", before.discord.trust_dms != fresh.discord.trust_dms),
        ("assistant", before.assistant != fresh.assistant),
        ("log.level", before.log_level != fresh.log_level),
    ];
    changed(&all)
}

/// Changed keys that apply at the next start.
pub fn later(before: &Config, fresh: &Config) -> Vec<&'static str> {
    // The folder of model files has its own key.
    let new = &fresh.services.clone().with_weights(&before.models.weights);
    let old = &before.services;
    let (was, is) = (&before.discord, &fresh.discord);
    let moved = before.data_dir != fresh.data_dir;
    let all = [
        ("providers.stt", old.recognisers != new.recognisers),
        ("providers.tts", old.voices != new.voices),
        ("providers.speech_to_speech", old.speech_to_speech != new.speech_to_speech),
        ("tools.selection.embedder", old.embedder != new.embedder),
        ("models", !moved && before.models.weights != fresh.models.weights),
        ("data_dir", moved),
        ("memory", remembers(before, moved) != remembers(fresh, moved)),
        ("mcp.environment", before.environment != fresh.environment),
        ("web", before.web != fresh.web),
        ("telemetry", before.telemetry != fresh.telemetry),
        ("cluster", before.cluster != fresh.cluster),
        ("discord.token", was.token != is.token),
        ("discord.api_base", was.api != is.api),
        ("discord.guild_id", was.guild != is.guild),
        ("discord.guilds", was.served != is.served),
        ("discord.dm_role", was.dm_role != is.dm_role),
        ("discord.everyone_is_dm", was.everyone_is_dm != is.everyone_is_dm),
        ("discord.consent", was.consent != is.consent),
        ("discord.idle_minutes", was.idle != is.idle),
    ];
    changed(&all)
}

/// True if the configured campaign differs; a running session stays in its own.
pub fn is_another_campaign(before: &Config, fresh: &Config) -> bool {
    campaign_key(before) != campaign_key(fresh)
}

/// The campaign without additions of the store and the cast.
fn world(config: &Config) -> (Campaign, &World) {
    (Campaign { entities: Vec::new(), cast: Vec::new(), ..config.campaign.clone() }, &config.world)
}

/// Content, place and retention of the memory. `data_dir` reports changes of the default place.
fn remembers(config: &Config, is_moved: bool) -> (Option<&MemoryPlace>, TranscriptOptions) {
    let transcripts = config.memory.transcripts.clone();
    let transcripts = TranscriptOptions { spill: PathBuf::new(), ..transcripts };
    ((!is_moved).then_some(&config.memory.place), transcripts)
}

fn searches(config: &Config) -> Option<SearchOptions> {
    let search = config.services.search.clone();
    search.map(|search| SearchOptions { allow: Vec::new(), ..search })
}

/// Hosts whose pages may be read without a search.
fn allowed(config: &Config) -> &[AllowedHost] {
    config.services.search.as_ref().map(|search| search.allow.as_slice()).unwrap_or_default()
}

fn turn(config: &Config) -> Options {
    Options { limits: Limits::NONE, explains: false, ..config.session.clone() }
}

fn changed(all: &[(&'static str, bool)]) -> Vec<&'static str> {
    all.iter().filter(|(_, changed)| *changed).map(|(key, _)| *key).collect()
}
