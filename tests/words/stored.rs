//! Sessions, memory, model files, tools and servers by the command line.

use super::{Case, PIP, command, compare};

/// Settings with a server that is not there.
fn with_a_server(case: Case) -> Case {
    let server = "mcp: { servers: [{ name: home, url: 'http://127.0.0.1:1/mcp' }] }\n";
    // Log lines contain the time.
    case.with("glyphoxa.yaml", [PIP, server, "log: { level: off }\n"].concat())
}

/// With an NPC whose tool needs the game master's word.
fn with_approval(case: Case) -> Case {
    let tool = "apiVersion: promptkit.altairalabs.ai/v1\nkind: Tool\n\
        metadata: { name: now, namespace: sky }\nspec: { description: The weather., \
        input_schema: { type: object }, mock_result: fog, approval: dm }\n";
    let npc = "npcs: [{ name: Pip, tools: [sky.now], lines: [{ say: Hm. }] }]\n";
    case.with("glyphoxa.yaml", npc).with("tools/now.yaml", tool)
}

fn sessions() -> Vec<Case> {
    let c = command;
    vec![
        c("no sessions", &["session", "list"]),
        c("no such session", &["session", "show", "friday"]),
        c("session without an id", &["session", "show"]),
        c("lines backwards", &["session", "show", "friday", "--lines", "9-3"]),
        c("server of letters", &["session", "list", "--guild", "x"]),
        c("delete what is missing", &["session", "delete", "friday"]),
        c("recap what is missing", &["session", "recap", "friday"]),
        c("export what is missing", &["session", "export", "friday"]),
        c("search without words", &["memory", "search", ""]),
        c("search in vain", &["memory", "search", "key"]),
        c("search of an unknown npc", &["memory", "search", "key", "--npc", "Mira"]),
        c("unknown entity", &["memory", "entity", "Mira"]),
        c("no facts", &["memory", "facts"]),
        c("unknown fact", &["memory", "facts", "--accept", "fact-x"]),
        c("other words for no fact", &["memory", "facts", "--text", "x"]),
        c("forget without consent", &["memory", "forget", "Anna"]),
        c("empty memory", &["memory", "stats"]),
        c("nodes of a file", &["nodes"]),
        c("no access tokens", &["token", "list"]),
        c("unknown access token", &["token", "revoke", "00000000"]),
        c("access token for no tool", &["token", "create", "--role", "dm", "--tools", "a b"]),
        c(
            "access token for no tool of players",
            &["token", "create", "--role", "player", "--tools", "voice.speak"],
        ),
        c("entry without an address", &["mcp", "entry", "--url", "x"]),
        c("no model files named", &["models", "get"]),
        c("unknown model files", &["models", "get", "banana"]),
        c("remove unknown files", &["models", "remove", "banana"]),
        c("remove what is missing", &["models", "remove", "piper-joe"]),
    ]
}

fn tools() -> Vec<Case> {
    let c = command;
    let roll = |name, arguments| c(name, &["tools", "call", "dice-roller.roll", arguments]);
    vec![
        c("unknown tool", &["tools", "call", "banana"]),
        roll("arguments cut off", "{"),
        roll("arguments in a list", "[]"),
        roll("argument of another type", "{\"expression\": 7}"),
        roll("dice that cannot be rolled", "{\"expression\": \"2x6\"}"),
        c(
            "tool that is not the npc's",
            &["tools", "call", "dice-roller.roll", "{}", "--npc", "Pip"],
        ),
        c("tools of an unknown npc", &["tools", "visible", "--npc", "Mira"]),
        c("tools of an npc without any", &["tools", "visible", "--npc", "Pip"]),
        with_approval(c("call without approval", &["tools", "call", "sky.now", "--npc", "Pip"])),
        with_approval(c("measure what needs approval", &["tools", "calibrate", "sky.now"])),
        c("measure an unknown tool", &["tools", "calibrate", "banana"]),
        c("missing report", &["tools", "leaderboard", "missing.json"]),
        c("report of text", &["tools", "leaderboard", "r.json"]).with("r.json", "hello"),
        c("empty category", &["tools", "leaderboard", "--category", "x"]),
        c("no servers", &["mcp", "servers"]),
        with_a_server(c("server that is not there", &["mcp", "servers", "--wait", "1"])),
        c("login at an unknown server", &["mcp", "login", "home"]),
        with_a_server(c("login without need", &["mcp", "login", "home", "--no-open"])),
        c("trust an unknown server", &["mcp", "trust", "home"]),
        with_a_server(c("trust what is not there", &["mcp", "trust", "home"])),
        c("probe nothing", &["mcp", "probe"]),
        c("probe a word", &["mcp", "probe", "banana"]),
        c("probe where nobody listens", &["mcp", "probe", "http://127.0.0.1:1/mcp"]),
        c("probe a missing program", &["mcp", "probe", "--", "/nowhere/x"]),
        c("probe a program that ends", &["mcp", "probe", "--", "true"]),
        c("probe without time", &["mcp", "probe", "--timeout", "0", "--", "true"]),
    ]
}

#[test]
fn sessions_memory_tools_and_servers() {
    compare("stored", sessions().into_iter().chain(tools()));
}
