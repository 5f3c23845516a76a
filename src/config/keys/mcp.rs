//! Keys of MCP servers.

use super::{
    TEXT_OR_TEXTS, TEXTS, WAIT,
    declared::{self, DURATION, TIER},
};
use crate::yaml::{Key, Kind, Shape};

/// Servers of tools.
pub static MCP: Shape = Shape {
    title: "MCP servers",
    keys: &[
        Key::new(
            "environment",
            Kind::Filled,
            "Name of this place; measured durations of tools are kept apart by it; default default.",
        ),
        Key::new("servers", Kind::List(&Kind::Shape(&SERVER)), "Servers whose tools NPCs may use."),
    ],
};

/// A server: how it is reached, and what is taken of it.
pub static SERVER: Shape = Shape { title: "An MCP server", keys: &WITH_NAME };

/// A server in a list of which none need have a name.
pub static LISTED_SERVER: Shape = Shape { title: "An MCP server", keys: &WITH_OPTIONAL_NAME };

/// A server whose name stands before it.
pub static NAMED_SERVER: Shape = Shape { title: "An MCP server, by its name", keys: &KEYS };

/// What a server is called where its name does not stand before it.
const NAME: Key = Key::required(
    "name",
    Kind::Filled,
    "Its part of the names of its tools (home in home.get_weather): letters, digits, - and _.",
);

/// The same where its address or program says enough.
const OPTIONAL_NAME: Key = Key::new(
    "name",
    Kind::Filled,
    "Its part of the names of its tools; default: its host with - for dots, or the last word of its \
     package or file.",
);

/// Servers by their names.
pub static NAMED_SERVERS: Kind = Kind::Either(&[
    Kind::Names(&Kind::Shape(&NAMED_SERVER)),
    Kind::List(&Kind::Shape(&LISTED_SERVER)),
]);

/// All keys of a server but its name.
static KEYS: [Key; 19] = [
    Key::new(
        "transport",
        Kind::Word(&["stdio", "streamable-http"]),
        "A child process or an address; default: by command and url.",
    ),
    Key::new(
        "command",
        Kind::Filled,
        "The program with its arguments, quoted as for a shell; with `args` the program alone.",
    ),
    Key::new("args", Kind::List(&Kind::Text), "Its arguments, one each."),
    Key::new(
        "env",
        Kind::Names(&Kind::Text),
        "Variables the program gets beside PATH, LANG and a HOME and TMPDIR of its own; it gets no \
         others.",
    ),
    Key::new(
        "sandbox",
        Kind::Either(&[Kind::Word(&["off"]), Kind::Shape(&SANDBOX)]),
        "What the program may reach beside the system's folders, what it was installed with, the \
         file's folder (without data_dir, this file and .env) and the folders its command line \
         names; it has a HOME and a TMPDIR of its own. off: everything that you may.",
    ),
    Key::new("url", Kind::Filled, "The server's address (https://example.com/mcp)."),
    Key::new(
        "headers",
        Kind::Names(&Kind::Filled),
        "Further HTTP headers; values may name ${session.id}, ${campaign.name}, \
         ${campaign.system} and ${data.KEY} of a resource.",
    ),
    Key::new(
        "auth",
        Kind::Either(&[Kind::Word(&["login"]), Kind::Shape(&AUTH)]),
        "login (glyphoxa mcp login NAME, once), a token, or OAuth client credentials.",
    ),
    Key::new("prefix", Kind::Filled, "Stands for its name in the names of its tools.")
        .also(&["toolPrefix"]),
    Key::new("required", Kind::Flag, "Nothing starts without it; default false."),
    Key::new(
        "connect_timeout_ms",
        WAIT,
        "Longest wait for the connection and the list of tools; default 30000.",
    )
    .also(&["connectTimeout"]),
    Key::new("auto_reconnect", Kind::Flag, "Connect again when it is lost; default true.")
        .also(&["autoReconnect"]),
    Key::new(
        "reconnect_interval_ms",
        WAIT,
        "Wait before the first new attempt; it grows and is spread; default 1000.",
    )
    .also(&["reconnectInterval"]),
    Key::new(
        "resources",
        Kind::Flag,
        "Read its resources; each is ${data.KEY} in headers; default false.",
    ),
    Key::new(
        "resource_vars",
        Kind::Names(&Kind::Text),
        "What the templates of its resources are filled with; values may name what headers may.",
    )
    .also(&["resourceVars"]),
    Key::new(
        "tools",
        Kind::Names(&Kind::Shape(&TOOL)),
        "What is said here about its tools, over what it says itself.",
    ),
    Key::new(
        "trust",
        Kind::Word(&["auto", "review"]),
        "review: new and changed tools wait for `glyphoxa mcp trust NAME`, and its hints on \
         side effects do not count; default auto.",
    ),
    Key::new(
        "allow_sampling",
        Kind::Flag,
        "While it works on a call it may ask the chat model of the NPC that calls (MCP \
         sampling); that is the table's money, within its caps. Default false.",
    ),
    Key::new(
        "debug",
        Kind::Flag,
        "Show what it logs, and every message, at level info, secrets hidden; default false.",
    ),
];

/// The same with its name.
static WITH_NAME: [Key; 20] = after(NAME, &KEYS);

/// The same with a name that may be left out.
static WITH_OPTIONAL_NAME: [Key; 20] = after(OPTIONAL_NAME, &KEYS);

/// All keys of a server, `name` first.
const fn after(name: Key, keys: &[Key; 19]) -> [Key; 20] {
    let mut all = [name; 20];
    let mut at = 0;
    while at < keys.len() {
        all[at + 1] = keys[at];
        at += 1;
    }
    all
}

/// What a program may reach.
pub static SANDBOX: Shape = Shape {
    title: "What a server's program may reach",
    keys: &[
        Key::new("read", TEXTS, "Files and folders it may read; ~ is your home."),
        Key::new("write", TEXTS, "Files and folders it may read and write."),
    ],
};

/// Who we are to a server.
pub static AUTH: Shape = Shape {
    title: "Authorization",
    keys: &[
        Key::new(
            "token",
            Kind::Filled,
            "A bearer token; best from the environment: ${HOME_TOKEN}.",
        ),
        Key::new("oauth", Kind::Shape(&OAUTH), "OAuth client credentials; goes before token."),
        Key::new("login", Kind::Shape(&LOGIN), "A person logs in, as with `auth: login`."),
    ],
};

/// A person's login.
pub static LOGIN: Shape = Shape {
    title: "A login",
    keys: &[Key::required(
        "issuer",
        Kind::Filled,
        "Address of the authorization server, which may be on a private network; without it, the \
         one that the server names.",
    )],
};

/// OAuth client credentials.
pub static OAUTH: Shape = Shape {
    title: "OAuth client credentials",
    keys: &[
        Key::required("client_id", Kind::Filled, "The client's name."),
        Key::new("client_secret", Kind::Filled, "Its secret; best from the environment."),
        Key::new(
            "private_key",
            Kind::Filled,
            "Its private key instead of a secret: PEM, or a file of it.",
        ),
        Key::new(
            "issuer",
            Kind::Filled,
            "Address of the authorization server (https://login.example.com), which says where \
             tokens are given out.",
        ),
        Key::new(
            "token_url",
            Kind::Filled,
            "Where tokens are given out. What proves who we are goes to the issuer's address or to \
             this one, of which at least one is needed.",
        ),
        Key::new("scopes", TEXTS, "What is asked for; default: what the server wants."),
    ],
};

/// What is said about a tool.
pub static TOOL: Shape = Shape {
    title: "A tool of an MCP server",
    keys: &[
        Key::new("description", Kind::Filled, "What it does, for the model."),
        Key::new("parameters", Kind::Any, "JSON Schema of its arguments."),
        Key::new(
            "category",
            TEXT_OR_TEXTS,
            "What it is about, also several; default: the server's name.",
        ),
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
        Key::new("tier", TIER, "Lowest tier it is offered in."),
        declared::LATE,
        declared::APPROVAL,
        declared::FILLERS,
        declared::PROBE,
    ],
};
