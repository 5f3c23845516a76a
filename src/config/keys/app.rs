//! Keys of `glyphoxa.yaml`.

use super::{MONEY, TEXT_OR_TEXTS, TEXTS, WAIT, mcp, models, npc, price, providers};
use crate::{
    logic::turn::Detector,
    yaml::{Key, Kind, Shape},
};

/// `glyphoxa.yaml`.
pub static FILE: Shape = Shape {
    title: "The Glyphoxa configuration",
    keys: &[
        Key::new("campaign", Kind::Filled, "A campaign file, relative to this file."),
        Key::new(
            "campaigns",
            Kind::List(&Kind::Shape(&OTHER_CAMPAIGN)),
            "Further campaigns, which game masters choose with /campaign switch.",
        ),
        Key::new(
            "npc_dir",
            Kind::Filled,
            "Folder of NPC files, one NPC each; default: `npcs` beside this file, if there.",
        ),
        Key::new(
            "npcs",
            Kind::List(&Kind::Shape(&npc::NPC)),
            "NPCs written here, in addition to npc_dir.",
        ),
        Key::new(
            "language",
            Kind::Filled,
            "ISO 639-1 code of the language of NPCs without their own; default en.",
        ),
        Key::new(
            "lines_and_veils",
            TEXTS,
            "Topics that no NPC played by a model may ever bring up (harm to children).",
        ),
        Key::new("discord", Kind::Shape(&DISCORD), "The bot."),
        Key::new("providers", Kind::Shape(&providers::PROVIDERS), "Who hears, thinks and speaks."),
        Key::new("turn", Kind::Shape(&TURN), "When a turn begins and ends."),
        Key::new("tiers", Kind::Shape(&TIERS), "Words that allow a turn more tool time."),
        Key::new("budget", Kind::Shape(&BUDGET), "What may be spent."),
        Key::new("limits", Kind::Shape(&LIMITS), "What one player may ask for, on Discord."),
        Key::new(
            "prices",
            Kind::Names(&Kind::Shape(&price::PRICE)),
            "What models cost, by their name.",
        ),
        Key::new("tools", Kind::Shape(&TOOLS), "Tools of all NPCs."),
        Key::new("mcp", Kind::Shape(&mcp::MCP), "Servers of further tools."),
        Key::new(
            "mcp_servers",
            mcp::NAMED_SERVERS,
            "The same servers by their names: home: { url: … }; or a list.",
        ),
        Key::new(
            "mcpServers",
            Kind::Names(&Kind::Any),
            "The same servers as desktop clients and editors have them: their JSON, pasted.",
        ),
        Key::new("rules", Kind::Shape(&RULES), "Rules NPCs may look up."),
        Key::new(
            "file_io",
            Kind::Shape(&FILE_IO),
            "Files NPCs may read and write; without it they have no such tool.",
        ),
        Key::new(
            "data_dir",
            Kind::Filled,
            "Folder of kept sessions, relative to this file; default data.",
        ),
        Key::new(
            "models",
            Kind::Shape(&models::MODELS),
            "Files of models that hear, speak and listen for the end of a turn: glyphoxa models.",
        ),
        Key::new("memory", Kind::Shape(&MEMORY), "What was said and is remembered."),
        Key::new("log", Kind::Shape(&LOG), "What is logged."),
    ],
};

/// A campaign beside the configured one.
pub static OTHER_CAMPAIGN: Shape = Shape {
    title: "A further campaign",
    keys: &[
        Key::required("file", Kind::Filled, "A campaign file, relative to this file."),
        Key::new(
            "shared",
            Kind::Flag,
            "Every Discord server may play it; each keeps what it adds to itself.",
        ),
    ],
};

/// The bot: its token, its server and its manners.
pub static DISCORD: Shape = Shape {
    title: "Discord",
    keys: &[
        Key::new(
            "token",
            Kind::Text,
            "The bot's token; best from the environment: ${DISCORD_TOKEN}.",
        ),
        Key::new(
            "guild_id",
            Kind::Text,
            "Id of the one server commands are registered in, where they are there at once; \
             without it they are registered everywhere.",
        ),
        Key::new(
            "guilds",
            Kind::Either(&[Kind::Word(&["any"]), Kind::List(&Kind::Text)]),
            "Ids of the servers that are served, or any; without it guild_id, servers where \
             something was set before, and those whose /setup gives the code that `glyphoxa run` \
             prints. Others are told to ask you, and left after an hour.",
        ),
        Key::new(
            "dm_role",
            Kind::Text,
            "Id of the role game masters have; without one, those who may manage the server.",
        ),
        Key::new("everyone_is_dm", Kind::Flag, "Everybody may do what game masters may."),
        Key::new(
            "trust_dms",
            Kind::Flag,
            "Game masters may have programs started here, and addresses of this network reached, by \
             /tools server add; default false.",
        ),
        Key::new(
            "consent",
            Kind::Word(&["notice", "ask"]),
            "notice: players are told that they are heard, and may opt out; ask: nobody is heard \
             before pressing a button.",
        ),
        Key::new(
            "idle_minutes",
            Kind::Whole { min: 1, max: 1_440 },
            "Alone in a voice channel for so long, the bot leaves; default 5.",
        ),
        Key::new(
            "api_base",
            Kind::Filled,
            "Where Discord's API is reached instead of discord.com, as https://ADDRESS:PORT; its \
             certificate must be for discord.com and by an authority in SSL_CERT_FILE.",
        ),
    ],
};

/// When a turn begins and ends.
pub static TURN: Shape = Shape {
    title: "Turns",
    keys: &[
        Key::new(
            "patience",
            Kind::Word(&["snappy", "normal", "patient"]),
            "Silence that ends an utterance: 300, 500 (the default) or 900 ms.",
        ),
        Key::new(
            "detector",
            Kind::Word(Detector::NAMES),
            "What shortens that to 360 ms, or lengthens it up to 1,040: text, the words of the pause \
             (the default); model, how it sounds, by Smart Turn (0.1 CPU-seconds a pause; glyphoxa \
             models get smart-turn); both; off.",
        ),
        Key::new(
            "preemptive",
            Kind::Flag,
            "Ask the model while somebody still speaks; its cost counts; default true.",
        ),
        Key::new("timeout_ms", WAIT, "Longest wait for a reply's first sound; default 30000."),
        Key::new(
            "recall_ms",
            Kind::Whole { min: 1, max: 10_000 },
            "Longest look-up of what an NPC remembers, before the model is asked; default 50. Raise \
             it on a slow machine or with a distant PostgreSQL.",
        ),
    ],
};

/// Words that allow a turn more tool time.
pub static TIERS: Shape = Shape {
    title: "Tier keywords",
    keys: &[
        Key::new(
            "languages",
            Kind::List(&Kind::Word(&["en", "de"])),
            "Languages whose shipped words are used; default [en, de].",
        ),
        Key::new("deep", Kind::Shape(&WORDS), "Words of the deep tier."),
        Key::new("standard", Kind::Shape(&WORDS), "Words of the standard tier."),
    ],
};

/// How shipped words are changed.
pub static WORDS: Shape = Shape {
    title: "Changes to shipped words",
    keys: &[
        Key::new("add", TEXTS, "Words and phrases beside the shipped ones."),
        Key::new("replace", TEXTS, "Words and phrases instead of the shipped ones."),
    ],
};

/// What may be spent.
pub static BUDGET: Shape = Shape {
    title: "Spending",
    keys: &[
        Key::new(
            "session_max",
            Kind::Either(&[MONEY, Kind::Word(&["none"])]),
            "Most a session may spend, in the currency of the prices, or none; checked before each \
             paid call. Sessions of a server within twelve hours count as one, and what is asked \
             outside sessions has as much of its own; default 2.00.",
        ),
        Key::new(
            "max_cost_month",
            Kind::Either(&[MONEY, Kind::Word(&["none"])]),
            "Most that a server, or the command line, may spend in a calendar month (UTC), all its \
             sessions and campaigns together; default none.",
        ),
    ],
};

/// What one player may ask for.
pub static LIMITS: Shape = Shape {
    title: "Limits of a player",
    keys: &[
        Key::new(
            "paid_turns_per_minute",
            Kind::Whole { min: 1, max: 1_000 },
            "Answers that cost something, for each player in a minute; game masters have no limit; \
             default 12.",
        ),
        Key::new(
            "waiting",
            Kind::Whole { min: 1, max: 100 },
            "Utterances of one player that may wait for an answer at once; default 2.",
        ),
    ],
};

/// Tools of all NPCs.
pub static TOOLS: Shape = Shape {
    title: "Tools",
    keys: &[
        Key::new(
            "filler_after_ms",
            Kind::Whole { min: 0, max: 60_000 },
            "A tool round expected to last longer is covered by a filler line; default 700.",
        ),
        Key::new(
            "selection",
            Kind::Shape(&SELECTION),
            "Which tools a model is shown when its NPC may use many.",
        ),
        Key::new("policy", Kind::Shape(&npc::POLICY), "Limits of NPCs that set none of their own."),
        Key::new("tables", Kind::Names(&TABLE), "Your own random tables, by name."),
        Key::new(
            "table_dir",
            Kind::Filled,
            "Folder of random tables, one YAML file each: name, description, entries.",
        ),
        Key::new("approvals", Kind::Shape(&APPROVALS), "Calls that the game master decides about."),
        Key::new(
            "manifests",
            TEXTS,
            "Folders of tools, one file each; default: `tools` beside this file, if there.",
        ),
    ],
};

/// Calls that the game master decides about.
pub static APPROVALS: Shape = Shape {
    title: "Approvals",
    keys: &[
        Key::new(
            "expire_seconds",
            Kind::Whole { min: 5, max: 86_400 },
            "A call that nobody has decided about by then is not made; default 60.",
        ),
        Key::new(
            "notify",
            Kind::Shape(&NOTIFY),
            "Who is told that one waits; it is decided on Discord all the same.",
        ),
    ],
};

/// Who is told of approvals.
pub static NOTIFY: Shape = Shape {
    title: "A notification",
    keys: &[
        Key::required(
            "url",
            Kind::Filled,
            "Gets a POST with event, npc, tool and guild as JSON, and nothing of the arguments.",
        ),
        Key::required(
            "secret",
            Kind::Filled,
            "Signs it: X-Glyphoxa-Signature is sha256= and the HMAC-SHA256 of the time in \
             X-Glyphoxa-Timestamp, a dot, and the body. Best from the environment.",
        ),
    ],
};

/// Files NPCs may read and write.
pub static FILE_IO: Shape = Shape {
    title: "Files of NPCs",
    keys: &[
        Key::required(
            "base_dir",
            Kind::Filled,
            "Folder with one folder for each campaign, relative to this file; made when it is \
             written to.",
        ),
        Key::new("read_only", Kind::Flag, "Nothing is written; default false."),
    ],
};

/// Rules to look up.
pub static RULES: Shape = Shape {
    title: "Rules",
    keys: &[
        Key::new(
            "files",
            TEXT_OR_TEXTS,
            "Your own rules: YAML, or JSON of 5e-database or Open5e; relative to this file. A rule \
             with the id of a built-in one replaces it.",
        ),
        Key::new(
            "edition",
            Kind::Word(&["5e-2014", "5e-2024", "both"]),
            "Which fifth edition is played; rules of the other are left out; default both.",
        ),
    ],
};

/// Which tools are shown.
pub static SELECTION: Shape = Shape {
    title: "Selection of tools",
    keys: &[
        Key::new(
            "top_k",
            Kind::Whole { min: 1, max: 128 },
            "An NPC with more tools is shown those that fit what was said, so many; default 8.",
        ),
        Key::new("core", TEXTS, "Tools that are always shown, written as in an NPC's `tools`."),
        Key::new(
            "embedder",
            Kind::Either(&[Kind::Word(&["none"]), Kind::Shape(&providers::EMBEDDER)]),
            "What compares meanings; default none: words in common decide.",
        ),
        Key::new(
            "threshold",
            Kind::Number { min: 0.0, max: 1.0 },
            "Least likeness (cosine) of what was said and a tool, with an embedder; default 0.7. \
             Where no tool reaches it, words decide.",
        ),
    ],
};

/// A random table.
pub const TABLE: Kind = Kind::List(&Kind::Either(&[Kind::Filled, Kind::Shape(&TABLE_ENTRY)]));

/// A file of a random table.
pub static TABLE_FILE: Shape = Shape {
    title: "A random table",
    keys: &[
        Key::new("name", Kind::Filled, "Its name; default: the file's."),
        Key::new("description", Kind::Text, "What it is for, for its readers."),
        Key::required("entries", TABLE, "What may come of it."),
    ],
};

/// A weighted entry.
pub static TABLE_ENTRY: Shape = Shape {
    title: "An entry of a random table",
    keys: &[
        Key::new("weight", Kind::Whole { min: 1, max: 1_000_000 }, "Its chance; default 1."),
        Key::required("result", Kind::Filled, "What it says."),
    ],
};

/// What is remembered.
pub static MEMORY: Shape = Shape {
    title: "Memory",
    keys: &[
        Key::new(
            "path",
            Kind::Filled,
            "The file of transcripts, relative to this file; default memory.db in data_dir.",
        ),
        Key::new(
            "url",
            Kind::Text,
            "A PostgreSQL with pgvector in place of the file, best from the environment: ${DATABASE_URL}.",
        ),
        Key::new(
            "retention_days",
            Kind::Whole { min: 1, max: 36_500 },
            "Transcripts of sessions that ended so many days ago are deleted; default: never.",
        ),
        Key::new(
            "consolidate",
            Kind::Flag,
            "After a session on Discord the chat model summarises it, at its cost, and proposes \
             facts, which count once a game master has accepted them; default true.",
        ),
    ],
};

/// What is logged.
pub static LOG: Shape = Shape {
    title: "Logging",
    keys: &[Key::new(
        "level",
        Kind::Word(&["off", "error", "warn", "info", "debug", "trace"]),
        "Least important thing shown; default info. What people say appears at trace only.",
    )],
};
