//! Keys of MCP servers.

use super::{
    TEXT_OR_TEXTS, TEXTS, WAIT,
    declared::{self, DURATION, TIER},
};
use crate::yaml::{Key, Kind, Shape};

pub static MCP: Shape = Shape {
    title: "MCP servers",
    keys: &[
        Key::new(
            "environment",
            Kind::Filled,
            "Name of this installation; measured durations of tools are stored under it; default: \
             default.",
        ),
        Key::new("servers", Kind::List(&Kind::Shape(&SERVER)), "Servers whose tools NPCs can use."),
    ],
};

pub static SERVER: Shape = Shape { title: "An MCP server", keys: &WITH_NAME };

/// A server in a list, whose name is optional.
pub static LISTED_SERVER: Shape = Shape { title: "An MCP server", keys: &WITH_OPTIONAL_NAME };

/// A server whose name is its key.
pub static NAMED_SERVER: Shape = Shape { title: "An MCP server, by its name", keys: &KEYS };

/// `name` if the server's key is not its name.
const NAME: Key = Key::required(
    "name",
    Kind::Filled,
    "First part of its tools' names (home in home.get_weather): letters, digits, - and _.",
);

/// `name` if the server's address or program identifies it.
const OPTIONAL_NAME: Key = Key::new(
    "name",
    Kind::Filled,
    "First part of its tools' names; default: its host with - for dots, or the last word of its \
     package or file.",
);

pub static NAMED_SERVERS: Kind = Kind::Either(&[
    Kind::Names(&Kind::Shape(&NAMED_SERVER)),
    Kind::List(&Kind::Shape(&LISTED_SERVER)),
]);

/// Fix for the transport `sse`, which MCP has deprecated.
pub const NO_SSE: &str = "MCP deprecated sse in 2025: write streamable-http (or leave transport out) and the \
     server's streamable HTTP address, which usually ends with /mcp";

static KEYS: [Key; 19] = [
    Key::new(
        "transport",
        Kind::Word(&["stdio", "streamable-http"]),
        "stdio for a program, streamable-http for an address; default: follows from command or \
         url.",
    )
    .also(&["type"])
    .refused(&[("sse", NO_SSE), ("http", "write streamable-http")]),
    Key::new(
        "command",
        Kind::Filled,
        "The program with its arguments, quoted as for a shell; with `args` the program alone.",
    ),
    Key::new("args", Kind::List(&Kind::Text), "Its arguments, one per item."),
    Key::new(
        "env",
        Kind::Names(&Kind::Text),
        "Variables for the program; it gets only these, PATH, LANG, and its own HOME and TMPDIR.",
    ),
    Key::new(
        "sandbox",
        Kind::Either(&[Kind::Word(&["off"]), Kind::Shape(&SANDBOX)]),
        "Files the program may use in addition to the system's folders, its own installation, \
         this file's folder (without data_dir, this file and .env) and the files and folders on \
         its command line; it has its own HOME and TMPDIR. off: everything you may use.",
    ),
    Key::new("url", Kind::Filled, "The server's address (https://example.com/mcp)."),
    Key::new(
        "headers",
        Kind::Names(&Kind::Filled),
        "HTTP headers to add; values may contain ${session.id}, ${campaign.name}, \
         ${campaign.system} and ${data.KEY} of a resource.",
    ),
    Key::new(
        "auth",
        Kind::Either(&[Kind::Word(&["login"]), Kind::Shape(&AUTH)]),
        "login (run glyphoxa mcp login NAME once), a token, or OAuth client credentials.",
    ),
    Key::new("prefix", Kind::Filled, "First part of its tools' names instead of its own name.")
        .also(&["toolPrefix"]),
    Key::new("required", Kind::Flag, "Do not start without this server; default false."),
    Key::new(
        "connect_timeout_ms",
        WAIT,
        "Longest wait for the connection and the list of tools; default 30000.",
    )
    .also(&["connectTimeout"]),
    Key::new("auto_reconnect", Kind::Flag, "Reconnect when the connection is lost; default true.")
        .also(&["autoReconnect"]),
    Key::new(
        "reconnect_interval_ms",
        WAIT,
        "Wait before each attempt to reconnect, longer after eight failures in a row; default: 1000 \
         at first, then longer and randomized.",
    )
    .also(&["reconnectInterval"]),
    Key::new(
        "resources",
        Kind::Flag,
        "Read its resources; each one is available as ${data.KEY} in headers; default false.",
    ),
    Key::new(
        "resource_vars",
        Kind::Names(&Kind::Text),
        "Values for its resource templates; they may contain the same variables as headers.",
    )
    .also(&["resourceVars"]),
    Key::new(
        "tools",
        Kind::Names(&Kind::Shape(&TOOL)),
        "Settings of its tools, overriding the server's own.",
    ),
    Key::new(
        "trust",
        Kind::Word(&["auto", "review"]),
        "review: new and changed tools wait for `glyphoxa mcp trust NAME`, and its hints on side \
         effects are ignored; default auto.",
    ),
    Key::new(
        "allow_sampling",
        Kind::Flag,
        "During a call it may ask the calling NPC's chat model (MCP sampling); the table pays, \
         within its limits. Default false.",
    ),
    Key::new(
        "debug",
        Kind::Flag,
        "Log its own log lines and every message at level info, with secrets hidden; default \
         false.",
    ),
];

static WITH_NAME: [Key; 20] = after(NAME, &KEYS);

static WITH_OPTIONAL_NAME: [Key; 20] = after(OPTIONAL_NAME, &KEYS);

/// `keys` with `name` first.
const fn after(name: Key, keys: &[Key; 19]) -> [Key; 20] {
    let mut all = [name; 20];
    let mut at = 0;
    while at < keys.len() {
        all[at + 1] = keys[at];
        at += 1;
    }
    all
}

pub static SANDBOX: Shape = Shape {
    title: "Files a server's program may use",
    keys: &[
        Key::new("read", TEXTS, "Files and folders it may read; ~ is your home folder."),
        Key::new("write", TEXTS, "Files and folders it may read and write."),
    ],
};

pub static AUTH: Shape = Shape {
    title: "Authorization",
    keys: &[
        Key::new(
            "token",
            Kind::Filled,
            "A bearer token; best taken from the environment: ${HOME_TOKEN}.",
        ),
        Key::new(
            "oauth",
            Kind::Shape(&OAUTH),
            "OAuth client credentials; take precedence over token.",
        ),
        Key::new("login", Kind::Shape(&LOGIN), "A person logs in, as with `auth: login`."),
    ],
};

pub static LOGIN: Shape = Shape {
    title: "A login",
    keys: &[Key::required(
        "issuer",
        Kind::Filled,
        "Address of the authorization server, which may be on a private network; default: the one \
         named by the MCP server.",
    )],
};

pub static OAUTH: Shape = Shape {
    title: "OAuth client credentials",
    keys: &[
        Key::required("client_id", Kind::Filled, "The client's id."),
        Key::new("client_secret", Kind::Filled, "Its secret; best taken from the environment."),
        Key::new(
            "private_key",
            Kind::Filled,
            "Its private key instead of a secret: PEM, or a file with it.",
        ),
        Key::new(
            "issuer",
            Kind::Filled,
            "Address of the authorization server (https://login.example.com), which names the \
             token endpoint.",
        ),
        Key::new(
            "token_url",
            Kind::Filled,
            "Token endpoint. Credentials are sent only to the issuer's address or to this one; at \
             least one of them is required.",
        ),
        Key::new("scopes", TEXTS, "Scopes to request; default: those the server asks for."),
    ],
};

pub static TOOL: Shape = Shape {
    title: "A tool of an MCP server",
    keys: &[
        Key::new("description", Kind::Filled, "Description for the model."),
        Key::new("parameters", Kind::Any, "JSON Schema of its arguments."),
        Key::new("category", TEXT_OR_TEXTS, "Its topic, or several; default: the server's name."),
        declared::ESTIMATED,
        Key::new("max_duration_ms", DURATION, "Longest duration; the hard limit of a call."),
        declared::MEASURED,
        declared::MEASURED_P99,
        declared::IDEMPOTENT,
        declared::READ_ONLY,
        declared::DESTRUCTIVE,
        declared::OPEN_WORLD,
        declared::EFFECTS,
        declared::CACHEABLE,
        Key::new("tier", TIER, "Lowest tier that offers it."),
        declared::LATE,
        declared::URGENT,
        declared::RECORDS,
        declared::APPROVAL,
        declared::FILLERS,
        declared::PROBE,
    ],
};
