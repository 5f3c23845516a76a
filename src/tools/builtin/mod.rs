//! Tools that run in this process. Entry function: [`offer`].

mod describe;
mod dice;
mod discover;
mod files;
mod images;
mod memory;
mod music;
mod random_table;
mod rules;
mod search;

use std::sync::Arc;

pub use dice::Dice;
pub use files::FileIo;
pub use images::Images;
pub use memory::{Archive, ArchiveParts, Meaning, viewer};
pub use music::Music;
pub use random_table::RandomTable;
pub use rules::RuleBook;
pub use search::{SeenAddresses, WebAccess};

use super::{DISCOVER, ServerKey, SourceKind, ToolHost};

/// Identities of the built-in tools, for checking whitelists.
pub const IDENTITIES: &[&str] = &[
    "dice-roller.roll",
    "dice-roller.roll_table",
    "dice-roller.odds",
    "dice-roller.last",
    "rules-lookup.get_rule",
    "rules-lookup.search_rules",
    "file-io.read_file",
    "file-io.write_file",
    "memory.query_entities",
    "memory.get_summary",
    "memory.search_sessions",
    "memory.search_facts",
    "session-manager.get_session_summary",
    "session-manager.search_history",
    "music-ambiance.play_track",
    "music-ambiance.stop_music",
    "image-gen.generate_image",
    "web-search.search",
    "web-search.fetch_page",
    DISCOVER,
];

/// Server names reserved for built-in tools.
pub const SERVERS: &[&str] = &[
    "dice-roller",
    "memory",
    "rules-lookup",
    "file-io",
    "session-manager",
    "music-ambiance",
    "image-gen",
    "web-search",
    "tools",
    WORKFLOWS,
];

/// Server name of workflows that NPCs may call.
pub const WORKFLOWS: &str = "workflow";

/// Data and services the built-in tools use.
pub struct Materials {
    /// Throws the dice.
    pub dice: Dice,
    /// Tables to roll on.
    pub tables: Vec<RandomTable>,
    /// Rules to look up.
    pub rules: Arc<RuleBook>,
    /// Files of the campaign; `None`: no file tools.
    pub files: Option<FileIo>,
    /// Memory; `None`: not configured.
    pub memory: Option<Arc<Archive>>,
    /// Tracks to play; `None`: the tools are withdrawn.
    pub music: Option<Music>,
    /// Makes pictures; `None`: the tool is withdrawn.
    pub images: Option<Images>,
    /// Web search and pages; `None`: the tools are withdrawn.
    pub search: Option<WebAccess>,
}

impl Materials {
    /// Dice alone, for tests and benches.
    pub fn dice(dice: rand::rngs::StdRng) -> Self {
        let rules = Arc::new(RuleBook::new(Vec::new(), None, Vec::new));
        Self {
            dice: Dice::new(dice),
            tables: Vec::new(),
            rules,
            files: None,
            memory: None,
            music: None,
            images: None,
            search: None,
        }
    }
}

/// Offers the built-in tools, replacing earlier ones.
pub fn offer(host: &ToolHost, materials: Materials) {
    let mut servers = vec![
        ("dice-roller", dice::tools(materials.dice, materials.tables)),
        ("rules-lookup", rules::tools(materials.rules)),
        ("tools", discover::tools(host)),
    ];
    let optional = [
        ("file-io", materials.files.map(files::tools)),
        ("music-ambiance", materials.music.map(music::tools)),
        ("image-gen", materials.images.map(images::tools)),
        ("web-search", materials.search.map(search::tools)),
    ];
    for (server, tools) in optional {
        match tools {
            Some(tools) => servers.push((server, tools)),
            None => host.catalog().withdraw(&ServerKey::installed(server), SourceKind::BuiltIn),
        }
    }
    if let Some(archive) = &materials.memory {
        servers.push(("memory", memory::memory_tools(archive)));
        servers.push(("session-manager", memory::session_tools(archive)));
    }
    for (server, tools) in servers {
        for refused in host.offer(server, SourceKind::BuiltIn, tools) {
            tracing::error!(tool = refused.tool, reason = refused.reason, "built-in tool left out");
        }
    }
}

/// The tool authors' page example, built and called as the page says.
#[cfg(test)]
#[path = "../../../docs/examples/coin.rs"]
mod coin;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rand::{SeedableRng, rngs::StdRng};
    use serde_json::{Map, json};
    use tokio::time::Instant;
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::{
        domain::{CallId, SessionId, Tier, ToolCall, TurnId},
        tools::{Attachment, Authority, CallContext, Effects, Progress, Taint},
    };

    struct Table;

    impl Effects for Table {
        fn show(&self, _: &str) {}
        fn attach(&self, _: &str, _: &Attachment) -> bool {
            true
        }
    }

    #[tokio::test]
    async fn tool_author_guide_example_works() {
        let host = ToolHost::new(StdRng::seed_from_u64(1));
        assert_eq!(host.offer("coin", SourceKind::BuiltIn, coin::tools()), []);
        let context = CallContext {
            scope: crate::domain::Scope::local(crate::domain::CampaignKey("c".to_owned())),
            session: SessionId("s".to_owned()),
            turn: TurnId(1),
            authority: Authority::Operator,
            speaker: Arc::from("Anna"),
            by: None,
            deadline: Instant::now() + Tier::Fast.ceiling(),
            fresh: false,
            taint: Taint::default(),
            progress: Progress::default(),
            span: Default::default(),
            cancel: CancellationToken::new(),
            effects: Arc::new(Table),
        };
        let call = |calls: &str| ToolCall {
            id: CallId("c".to_owned()),
            name: "coin.flip".to_owned(),
            arguments: json!({"calls": calls}).to_string(),
            extra: Map::new(),
        };
        let flipped = host.execute(&context, &call("heads")).await;
        let value = flipped.result.expect("it is flipped").value();
        assert_eq!(value["won"], json!(value["side"] == "heads"));
        assert!(host.execute(&context, &call("edge")).await.result.is_err());
    }
}
