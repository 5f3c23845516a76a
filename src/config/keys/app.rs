//! Keys of `glyphoxa.yaml`.

use super::{
    MONEY, TEXT_OR_TEXTS, TEXTS, WAIT, cluster, mcp, models, music, npc, providers, telemetry, web,
};
use crate::{
    logic::turn::Detector,
    yaml::{Key, Kind, Shape},
};

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
            "Folder of NPC files, one NPC each; default: `npcs` beside this file, if it exists.",
        ),
        Key::new(
            "npcs",
            Kind::List(&Kind::Shape(&npc::NPC)),
            "NPCs written here, in addition to npc_dir. An entry with the name of an NPC in npc_dir changes \
             that NPC's keys: lists are replaced, mappings merged.",
        ),
        Key::new(
            "language",
            Kind::Filled,
            "ISO 639-1 code of the language of NPCs that set none; default en.",
        ),
        Key::new(
            "lines_and_veils",
            TEXTS,
            "Topics that no NPC played by a model may ever bring up, such as harm to children.",
        ),
        Key::new("discord", Kind::Shape(&DISCORD), "The bot."),
        Key::new(
            "cluster",
            Kind::Shape(&cluster::CLUSTER),
            "Several processes of one bot, which share memory.url; without it (and --node) one process serves alone.",
        ),
        Key::new(
            "providers",
            Kind::Shape(&providers::PROVIDERS),
            "Services that hear, think and speak.",
        ),
        Key::new("turn", Kind::Shape(&TURN), "When a turn begins and ends."),
        Key::new("tiers", Kind::Shape(&TIERS), "Words that give a turn more time for tools."),
        Key::new("budget", Kind::Shape(&BUDGET), "Spending limits."),
        Key::new("limits", Kind::Shape(&LIMITS), "Limits of one player on Discord."),
        Key::new(
            "prices",
            Kind::Names(&Kind::Shape(&providers::PRICE)),
            "Prices of models, by model name.",
        ),
        Key::new("tools", Kind::Shape(&TOOLS), "Tools of all NPCs."),
        Key::new("mcp", Kind::Shape(&mcp::MCP), "MCP servers, which provide more tools."),
        Key::new(
            "mcp_servers",
            mcp::NAMED_SERVERS,
            "MCP servers by name, home: { url: … }, or as a list.",
        ),
        Key::new(
            "mcpServers",
            Kind::Names(&Kind::Any),
            "MCP servers as desktop clients and editors write them: paste their JSON.",
        ),
        Key::new(
            "global_data",
            Kind::Names(&Kind::Any),
            "Values of your own, named as ${data.NAME} or ${global_data.NAME} in NPCs' texts and in headers \
             and resource_vars of servers.",
        ),
        Key::new("rules", Kind::Shape(&RULES), "Rules that NPCs can look up."),
        Key::new("search", Kind::Shape(&SEARCH), "Pages that web-search.fetch_page reads."),
        Key::new(
            "music",
            Kind::Shape(&music::MUSIC),
            "Your own music; six loops of ambience are built in.",
        ),
        Key::new(
            "file_io",
            Kind::Shape(&FILE_IO),
            "Files that NPCs can read and write; without it they have no file tools.",
        ),
        Key::new(
            "data_dir",
            Kind::Filled,
            "Folder of saved sessions, relative to this file; default data.",
        ),
        Key::new(
            "models",
            Kind::Shape(&models::MODELS),
            "Files of models that hear, speak and detect the end of a turn: glyphoxa models.",
        ),
        Key::new("memory", Kind::Shape(&MEMORY), "Transcripts and memory."),
        Key::new(
            "timezone",
            Kind::Filled,
            "IANA name of the table's time zone, such as Europe/Berlin, in which times of schedules are given \
             and shown; default: this machine's.",
        ),
        Key::new("schedules", Kind::Shape(&SCHEDULES), "Workflows and lines at set times."),
        Key::new(
            "web",
            Kind::Shape(&web::WEB),
            "A listener for programs outside, such as desktop clients of MCP; off without it.",
        ),
        Key::new(
            "telemetry",
            Kind::Shape(&telemetry::TELEMETRY),
            "Traces of turns for OpenTelemetry; off without it.",
        ),
        Key::new("log", Kind::Shape(&LOG), "Logging."),
    ],
};

pub static SCHEDULES: Shape = Shape {
    title: "Schedules",
    keys: &[Key::new(
        "catch_up",
        Kind::Flag,
        "A schedule whose time passed while the program did not run fires once, late; default false: it is \
         only reported to the game master.",
    )],
};

pub static OTHER_CAMPAIGN: Shape = Shape {
    title: "A further campaign",
    keys: &[
        Key::required("file", Kind::Filled, "A campaign file, relative to this file."),
        Key::new(
            "shared",
            Kind::Flag,
            "Every Discord server may play it; each server's additions stay its own.",
        ),
    ],
};

pub static DISCORD: Shape = Shape {
    title: "Discord",
    keys: &[
        Key::new(
            "token",
            Kind::Text,
            "The bot's token; best taken from the environment: ${DISCORD_TOKEN}.",
        ),
        Key::new(
            "guild_id",
            Kind::Text,
            "Id of the one server where commands are registered, which takes effect immediately; \
             without it they are registered globally.",
        ),
        Key::new(
            "guilds",
            Kind::Either(&[Kind::Word(&["any"]), Kind::List(&Kind::Text)]),
            "Ids of the servers to serve, or any. Without it: guild_id, servers that already have \
             settings, and servers whose /setup gives the code that `glyphoxa run` prints. The \
             bot asks any other server to contact you and leaves it after an hour.",
        ),
        Key::new(
            "dm_role",
            Kind::Text,
            "Id of the game masters' role; without one, members who may manage the server are \
             game masters.",
        ),
        Key::new("everyone_is_dm", Kind::Flag, "Everyone may do what game masters may."),
        Key::new(
            "trust_dms",
            Kind::Flag,
            "With /tools server add, game masters may start programs on this machine and connect \
             to addresses of its network; default false.",
        ),
        Key::new(
            "consent",
            Kind::Word(&["notice", "ask"]),
            "notice: a notice tells players that the bot hears them, and they can opt out; ask: \
             the bot hears no player before they press a button.",
        ),
        Key::new(
            "idle_minutes",
            Kind::Whole { min: 1, max: 1_440 },
            "Minutes alone in a voice channel before the bot leaves; default 5.",
        ),
        Key::new(
            "api_base",
            Kind::Filled,
            "Address of Discord's API instead of discord.com, as https://ADDRESS:PORT; its \
             certificate must be valid for discord.com and issued by an authority in \
             SSL_CERT_FILE.",
        ),
    ],
};

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
            "Shortens that to 360 ms or lengthens it to as much as 1,040 ms, judging by text, the \
             words before the pause (the default); model, the sound of the voice, with Smart Turn \
             (0.1 CPU-seconds a pause; glyphoxa models get smart-turn); both; off.",
        ),
        Key::new(
            "preemptive",
            Kind::Flag,
            "Ask the model while a player is still speaking; the cost counts; default true.",
        ),
        Key::new("timeout_ms", WAIT, "Longest wait for a reply's first sound; default 30000."),
        Key::new(
            "recall_ms",
            Kind::Whole { min: 1, max: 10_000 },
            "Longest search of an NPC's memory before the model is asked; default 50. Raise it on \
             a slow machine or with a distant PostgreSQL.",
        ),
    ],
};

pub static TIERS: Shape = Shape {
    title: "Tier keywords",
    keys: &[
        Key::new(
            "languages",
            Kind::List(&Kind::Word(&["en", "de"])),
            "Languages whose built-in words apply; default [en, de].",
        ),
        Key::new("deep", Kind::Shape(&WORDS), "Words of the deep tier."),
        Key::new("standard", Kind::Shape(&WORDS), "Words of the standard tier."),
    ],
};

pub static WORDS: Shape = Shape {
    title: "Changes to built-in words",
    keys: &[
        Key::new("add", TEXTS, "Words and phrases in addition to the built-in ones."),
        Key::new("replace", TEXTS, "Words and phrases instead of the built-in ones."),
    ],
};

pub static BUDGET: Shape = Shape {
    title: "Spending",
    keys: &[
        Key::new(
            "session_max",
            Kind::Either(&[MONEY, Kind::Word(&["none"])]),
            "Spending limit of a session, in the currency of the prices, or none; checked before \
             each paid call. Sessions of a server within twelve hours count as one; questions \
             outside sessions have a separate limit of the same size. Default 2.00.",
        ),
        Key::new(
            "max_cost_month",
            Kind::Either(&[MONEY, Kind::Word(&["none"])]),
            "Spending limit of a server, or of the command line, in a calendar month (UTC), for \
             all its sessions and campaigns together; default none.",
        ),
    ],
};

pub static LIMITS: Shape = Shape {
    title: "Limits of a player",
    keys: &[
        Key::new(
            "paid_turns_per_minute",
            Kind::Whole { min: 1, max: 1_000 },
            "Paid answers for each player in a minute; game masters have no limit; default 12.",
        ),
        Key::new(
            "waiting",
            Kind::Whole { min: 1, max: 100 },
            "Utterances of one player that may wait for an answer at once; default 2.",
        ),
    ],
};

pub static TOOLS: Shape = Shape {
    title: "Tools",
    keys: &[
        Key::new(
            "filler_after_ms",
            Kind::Whole { min: 0, max: 60_000 },
            "Expected duration of a tool round above which the NPC speaks a filler line; default \
             700.",
        ),
        Key::new(
            "selection",
            Kind::Shape(&SELECTION),
            "Tools shown to a model when its NPC has many.",
        ),
        Key::new("policy", Kind::Shape(&npc::POLICY), "Limits of NPCs that set none."),
        Key::new("tables", Kind::Names(&TABLE), "Your own random tables, by name."),
        Key::new(
            "table_dir",
            Kind::Filled,
            "Folder of random tables, one YAML file each: name, description, entries.",
        ),
        Key::new(
            "approvals",
            Kind::Shape(&APPROVALS),
            "Calls that need the game master's approval.",
        ),
        Key::new(
            "manifests",
            TEXTS,
            "Folders of tools, one file each; default: `tools` beside this file, if there.",
        ),
    ],
};

pub static APPROVALS: Shape = Shape {
    title: "Approvals",
    keys: &[
        Key::new(
            "expire_seconds",
            Kind::Whole { min: 5, max: 86_400 },
            "Seconds after which an undecided call is dropped; default 60.",
        ),
        Key::new(
            "notify",
            Kind::Shape(&NOTIFY),
            "Webhook that announces a waiting call. With web.listen it may also decide it; else the \
             decision is made on Discord alone.",
        ),
    ],
};

pub static NOTIFY: Shape = Shape {
    title: "A notification",
    keys: &[
        Key::required(
            "url",
            Kind::Filled,
            "Receives a POST with event, npc, tool and guild as JSON, without the arguments. With \
             web.listen, decide.url takes one decision until decide.expires.",
        ),
        Key::required(
            "secret",
            Kind::Filled,
            "Signs it: X-Glyphoxa-Signature is sha256= and the HMAC-SHA256 of the time in \
             X-Glyphoxa-Timestamp, a dot, and the body. Best taken from the environment.",
        ),
    ],
};

pub static FILE_IO: Shape = Shape {
    title: "Files of NPCs",
    keys: &[
        Key::required(
            "base_dir",
            Kind::Filled,
            "Folder with one folder for each campaign, relative to this file; created on the \
             first write.",
        ),
        Key::new("read_only", Kind::Flag, "NPCs cannot write files; default false."),
    ],
};

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
            "The fifth edition you play; rules of the other one are left out; default both.",
        ),
    ],
};

pub static SEARCH: Shape = Shape {
    title: "Web pages",
    keys: &[Key::new(
        "allow",
        TEXT_OR_TEXTS,
        "Hosts that fetch_page may read without a search result: srd.example.org, *.example.org; \
         on this machine or its network with the port, 127.0.0.1:8080.",
    )],
};

pub static SELECTION: Shape = Shape {
    title: "Selection of tools",
    keys: &[
        Key::new(
            "top_k",
            Kind::Whole { min: 1, max: 128 },
            "Number of tools shown to the model of an NPC with more, chosen by what the player \
             said; default 8 with an embedder, else 40. Without one, every tool that shares a word \
             with it is shown, up to 40.",
        ),
        Key::new("core", TEXTS, "Tools that are always shown, written as in an NPC's `tools`."),
        Key::new(
            "embedder",
            Kind::Either(&[Kind::Word(&["none"]), Kind::Shape(&providers::EMBEDDER)]),
            "Model that compares meanings; default none: words in common decide.",
        ),
        Key::new(
            "threshold",
            Kind::Number { min: 0.0, max: 1.0 },
            "Minimum similarity (cosine) of the player's words and a tool, with an embedder; \
             default 0.7. If no tool reaches it, words in common decide.",
        ),
    ],
};

pub const TABLE: Kind = Kind::List(&Kind::Either(&[Kind::Filled, Kind::Shape(&TABLE_ENTRY)]));

pub static TABLE_FILE: Shape = Shape {
    title: "A random table",
    keys: &[
        Key::new("name", Kind::Filled, "Its name; default: the file's."),
        Key::new("description", Kind::Text, "A note on its purpose."),
        Key::required("entries", TABLE, "Possible results."),
    ],
};

pub static TABLE_ENTRY: Shape = Shape {
    title: "An entry of a random table",
    keys: &[
        Key::new(
            "weight",
            Kind::Whole { min: 1, max: 1_000_000 },
            "Chance of the entry relative to the others; default 1.",
        ),
        Key::required("result", Kind::Filled, "Text of the result."),
    ],
};

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
            "A PostgreSQL with pgvector instead of the file, best taken from the environment: \
             ${DATABASE_URL}.",
        ),
        Key::new(
            "retention_days",
            Kind::Whole { min: 1, max: 36_500 },
            "Days after which the transcript of an ended session is deleted; default: never.",
        ),
        Key::new(
            "consolidate",
            Kind::Flag,
            "After a session on Discord the chat model summarises it, at its usual cost, and \
             proposes facts, which take effect when a game master accepts them; default true.",
        ),
    ],
};

pub static LOG: Shape = Shape {
    title: "Logging",
    keys: &[Key::new(
        "level",
        Kind::Word(&["off", "error", "warn", "info", "debug", "trace"]),
        "Lowest level shown; default info. Players' words appear only at trace.",
    )],
};
