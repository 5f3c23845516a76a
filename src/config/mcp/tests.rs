use std::fs;

use super::*;
use crate::config::{Config, load};

const BART: &str = "npcs: [{ name: Bart, tools: [TOOLS], lines: [{ say: hi }] }]\n";

fn load_servers(tools: &str, servers: &str) -> Result<Config, Vec<String>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("glyphoxa.yaml");
    let npcs = BART.replace("TOOLS", tools);
    fs::write(&path, format!("{npcs}mcp:\n  servers:\n{servers}")).unwrap();
    let environment = |name: &str| (name == "TOKEN").then(|| "s3cret".to_owned());
    let known = &["dice-roller.roll", "memory.roll_call"];
    let root = format!("{}:", path.display());
    load(Some(&path), &environment, known)
        .map_err(|report| report.to_string().lines().map(|it| it.replace(&root, "")).collect())
}

fn one(server: &str) -> ServerOptions {
    let loaded = load_servers("", &format!("    - {server}\n"));
    loaded.unwrap().mcp.servers.pop().unwrap()
}

fn wrong(server: &str) -> String {
    load_servers("", &format!("    - {server}\n")).unwrap_err().join("\n")
}

#[test]
fn child_process_is_read() {
    let words = |server: &str| match one(server).reach {
        Reach::Stdio { command, .. } => command,
        Reach::Http { .. } => panic!("an address"),
    };
    assert_eq!(
        words("{ name: a, command: \"npx -y 'my server' x\\\\ y\" }"),
        ["npx", "-y", "my server", "x y"]
    );
    assert_eq!(
        words("{ name: a, command: /opt/my server, args: [a b, 3] }"),
        ["/opt/my server", "a b", "3"]
    );
    let options = one("{ name: a, command: x, auto_reconnect: false, prefix: b, env: { K: v } }");
    assert_eq!((options.reconnect, options.identity()), (None, "b"));
    assert_eq!(options.connect_timeout, Duration::from_secs(30));
    let growing = Some(Reconnect::Growing(Duration::from_secs(1)));
    assert_eq!(one("{ name: a, command: x }").reconnect, growing);
    let every = one("{ name: a, command: x, reconnect_interval_ms: 1500 }").reconnect;
    assert_eq!(every, Some(Reconnect::Every(Duration::from_millis(1_500))));
    assert!(!format!("{options:?}").contains("\"v\""));
}

#[test]
fn child_process_sandbox_is_parsed() {
    let sandbox = |more: &str| match one(&format!("{{ name: a, command: x{more} }}")).reach {
        Reach::Stdio { sandbox, .. } => sandbox,
        Reach::Http { .. } => panic!("an address"),
    };
    let named = |read: &[&str], write: &[&str]| {
        let paths = |all: &[&str]| all.iter().map(std::path::PathBuf::from).collect();
        Sandbox::Confined { read: paths(read), write: paths(write) }
    };
    assert_eq!(sandbox(""), named(&[], &[]));
    assert_eq!(sandbox(", sandbox: off"), Sandbox::Off);
    assert_eq!(
        sandbox(", sandbox: { read: [/usr], write: [/tmp, /var] }"),
        named(&["/usr"], &["/tmp", "/var"])
    );
    let told = wrong("{ name: a, command: x, sandbox: { read: [data/sessions] } }");
    assert!(told.contains("'data/sessions', which is in data_dir"), "{told}");
    let told = wrong("{ name: a, url: \"https://h.test/mcp\", sandbox: off }");
    assert!(told.contains("'sandbox' has no effect on an address"), "{told}");
    // A server added from elsewhere opens nothing.
    let described = |json: Json| server(&json, &[]).map(|options| options.reach);
    let reach = described(serde_json::json!({ "name": "a", "command": "x /home" })).unwrap();
    assert!(matches!(reach, Reach::Stdio { sandbox: Sandbox::Foreign, .. }), "{reach:?}");
    let told = described(serde_json::json!({ "name": "a", "command": "x", "sandbox": "off" }));
    assert!(told.unwrap_err().contains("'sandbox'"));
}

#[test]
fn address_auth_and_headers_are_parsed() {
    let reach =
        |more: &str| one(&format!("{{ name: a, url: \"https://h.test/mcp?k=1\"{more} }}")).reach;
    let auth = |more: &str| match reach(more) {
        Reach::Http { auth, .. } => auth,
        Reach::Stdio { .. } => panic!("a command"),
    };
    let token = Auth::Token(Secret("s3cret".to_owned()));
    assert_eq!(auth(", auth: { token: \"${TOKEN}\" }"), token);
    assert_eq!(auth(", auth: { token: \"bearer ${TOKEN}\" }"), token);
    assert_eq!(auth(", auth: login"), Auth::Login { issuer: None });
    let issuer = Some("https://sso.lan".to_owned());
    assert_eq!(auth(", auth: { login: { issuer: \"https://sso.lan\" } }"), Auth::Login { issuer });
    let oauth = ", auth: { token: t, oauth: { client_id: c, client_secret: s, scopes: [a, b], \
                 issuer: \"https://login.test\" } }";
    let Auth::Client(client) = auth(oauth) else { panic!("no client") };
    assert_eq!((client.client_id.as_str(), client.scopes.len()), ("c", 2));
    assert_eq!(client.authority.issuer.as_deref(), Some("https://login.test"));
    assert_eq!(reach("").endpoint(), "https://h.test/mcp");
    let header = ", headers: { X-Who: \"${session.id} ${campaign.name} ${TOKEN}\" }";
    let Reach::Http { headers, .. } = reach(header) else { panic!("a command") };
    let expected = "${session.id} ${campaign.name} s3cret";
    assert_eq!(headers, [("x-who".to_owned(), Secret(expected.to_owned()))]);
}

#[test]
fn declared_tool_properties_are_parsed() {
    let server = "{ name: a, command: x, tools: { get: { estimated_duration_ms: 40, tier: deep, \
                  late: follow_up, approval: dm, read_only: true, probe: { n: 1 }, \
                  cacheable_seconds: 2.5, fillers: [Hm.], parameters: { type: object } } } }";
    let options = one(server);
    let declared = &options.tools["get"];
    assert_eq!(declared.estimated, Some(Duration::from_millis(40)));
    assert_eq!(declared.cacheable, Some(Duration::from_millis(2_500)));
    assert_eq!((declared.follow_up, declared.approval), (Some(true), Some(true)));
    assert_eq!(declared.probe.as_ref().unwrap()["n"], 1);
}

#[test]
fn every_problem_has_its_place_and_way_out() {
    let cases = [
        (
            "{ name: a }",
            "4:7: missing key 'command' of a server (command: a program to start, or url: an address)",
        ),
        (
            "{ name: a, transport: streamable-http }",
            "missing key 'url' of a server of transport 'streamable-http'",
        ),
        (
            "{ name: a, command: x, url: \"http://h/m\" }",
            "4:35: a server has both 'command' and 'url'",
        ),
        ("{ name: a.b, command: x }", "4:15: invalid 'name' of a server: 'a.b' ("),
        ("{ name: a, prefix: memory, command: x }", "'memory' is the name of a built-in server"),
        ("{ name: a, command: \"x 'y\" }", "(close its quotes, or use args)"),
        (
            "{ name: a, command: x, headers: { a: b } }",
            "'headers' has no effect on a child process (remove it)",
        ),
        ("{ name: a, url: ftp://h }", "'url' is 'ftp://h' (it begins with http:// or https://)"),
        ("{ name: a, url: \"http://h/m\", env: { A: b } }", "'env' has no effect on an address"),
        (
            "{ name: a, url: \"http://h/m\", headers: { Accept: b } }",
            "header 'accept' is set by the protocol",
        ),
        (
            "{ name: a, url: \"http://h/m\", headers: { A: \"${session.ix}\" } }",
            "names 'session.ix' (did you mean 'session.id'?)",
        ),
        (
            "{ name: a, url: \"http://h/m\", headers: { A: \"${NOPE}\" } }",
            "needs the variable 'NOPE'",
        ),
        (
            "{ name: a, url: \"http://h/m\", auth: { token: \"a b\" } }",
            "'token' has characters that cannot be sent",
        ),
        ("{ name: a, url: \"http://h/m\", auth: {} }", "'auth' has no credentials"),
        (
            "{ name: a, url: \"http://h/m\", auth: { oauth: { client_id: c } } }",
            "neither 'client_secret' nor 'private_key'",
        ),
        (
            "{ name: a, url: \"http://h/m\", auth: { oauth: { client_id: c, private_key: no.pem } } }",
            "'private_key' names a file: no such file",
        ),
        (
            "{ name: a, transport: SSE, url: \"http://h/sse\" }",
            "4:29: 'mcp.servers.transport' is 'SSE' (MCP deprecated sse in 2025: write streamable-http",
        ),
        ("{ name: a, type: sse, url: \"http://h/sse\" }", "which usually ends with /mcp)"),
        ("{ name: a, type: http, url: \"http://h/m\" }", "(write streamable-http)"),
        ("{ name: a, command: x, tols: {} }", "did you mean 'tools'?"),
    ];
    for (server, expected) in cases {
        let found = wrong(server);
        assert!(found.contains(expected), "{server}:\n{found}");
    }
}

#[test]
fn invalid_addresses_and_issuers_are_refused() {
    let cases = [
        (
            "{ name: a, url: \"http://h/m\", auth: { oauth: { client_id: c, client_secret: s } } }",
            "'oauth' has neither 'issuer' nor 'token_url'; credentials",
        ),
        (
            "{ name: a, url: \"http://①②⑦.⓪.⓪.①/m\" }",
            "'url' is 'http://①②⑦.⓪.⓪.①/m' (a host of ASCII letters",
        ),
        (
            "{ name: a, url: \"http://h/m\", auth: { login: { issuer: ftp://h } } }",
            "'issuer' is 'ftp://h' (it begins with http:// or https://)",
        ),
    ];
    for (server, expected) in cases {
        let found = wrong(server);
        assert!(found.contains(expected), "{server}:\n{found}");
    }
}

#[test]
fn servers_keyed_by_name_are_parsed() {
    let loaded = |servers: &str| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("glyphoxa.yaml");
        fs::write(&path, format!("{}{servers}", BART.replace("TOOLS", ""))).unwrap();
        load(Some(&path), &|_| Some("s3cret".to_owned()), &["dice-roller.roll"])
            .map(|config| config.mcp.servers)
            .map_err(|report| report.to_string())
    };
    let home = "mcp_servers:\n  home: { command: x, prefix: house }\n  far:\n    url: \"https://h.test\"\n    \
                headers: { A: \"${session.id} ${TOKEN}\" }\n";
    let servers = loaded(home).unwrap();
    assert_eq!((servers[0].name.as_str(), servers[0].identity()), ("home", "house"));
    let Reach::Http { headers, .. } = &servers[1].reach else { panic!("a command") };
    assert_eq!(headers[0].1, Secret("${session.id} s3cret".to_owned()));
    let both = format!("{home}mcp: {{ servers: [{{ name: home, command: y }}] }}\n");
    assert!(loaded(&both).unwrap_err().contains("two servers are called 'home'"));
    for (wrong, expected) in [
        ("mcp_servers: { ☃: { command: x } }\n", "2:16: invalid 'name' of a server: '☃'"),
        ("mcp_servers: { a: { name: b, command: x } }\n", "unknown key 'name'"),
        ("mcp_servers: { a: { type: sse, url: \"http://h\" } }\n", "MCP deprecated sse in 2025"),
        ("mcp_servers: { a: {} }\n", "missing key 'command' of a server"),
    ] {
        let found = loaded(wrong).unwrap_err();
        assert!(found.contains(expected), "{wrong}: {found}");
    }
}

#[test]
fn tier_below_declared_duration_warns() {
    let warned = |tool: &str| {
        let server =
            format!("    - {{ name: home, command: x, tools: {{ dig: {{ {tool} }} }} }}\n");
        let warnings = load_servers("", &server).unwrap().warnings;
        let found = warnings.iter().find(|it| it.message.starts_with("'tier' is"));
        found.map(|it| format!("{} ({})", it.message, it.way_out))
    };
    assert_eq!(
        warned("tier: fast, estimated_duration_ms: 2000").as_deref(),
        Some(
            "'tier' is 'fast', but a call of 2000 ms needs deep (write tier: deep, or correct the \
             duration)"
        )
    );
    assert_eq!(warned("tier: deep, estimated_duration_ms: 2000"), None);
    assert_eq!(warned("tier: fast"), None);
}

#[test]
fn names_of_servers_clash() {
    let twice = "    - { name: a, command: x }\n    - { name: a, command: y }\n    \
                 - { name: b, prefix: a, command: z }\n";
    let found = load_servers("", twice).unwrap_err().join("\n");
    assert!(found.contains("two servers are called 'a'"), "{found}");
    assert!(found.contains("two servers have tools called 'a.…'"), "{found}");
}

#[test]
fn whitelists_accept_only_tools_of_known_servers() {
    let server = "    - { name: home, command: x }\n";
    for entry in ["home.get", "\"home.*\"", "\"home.set_*\"", "roll", "get"] {
        assert!(load_servers(entry, server).is_ok(), "{entry}");
    }
    for entry in ["hme.get", "rol", "\"*\"", "home."] {
        let problems = load_servers(entry, server).unwrap_err();
        assert!(problems[0].contains("unknown tool"), "{entry}: {problems:?}");
    }
}

#[test]
fn server_given_as_json_is_checked_like_in_files() {
    let described = |json: Json| server(&json, &[]);
    let url = "https://tools.example.com/mcp";
    let token = "${TOKEN}";
    let found = described(serde_json::json!({
        "name": "home", "url": url, "auth": { "token": token },
    }))
    .unwrap();
    let expected = Auth::Token(Secret(token.to_owned()));
    assert!(
        matches!(&found.reach, Reach::Http { url: it, auth, .. } if it == url && *auth == expected),
        "a variable stands for nothing: {found:?}"
    );
    assert!(!found.reach.is_inside());
    assert!(matches!(found.reach, Reach::Http { may_be_inside: false, .. }));
    for (json, expected) in [
        (serde_json::json!({ "name": "a b", "url": url }), "letters, digits"),
        (serde_json::json!({ "name": "dice-roller", "url": url }), "built-in"),
        (serde_json::json!({ "name": "a" }), "command"),
        (serde_json::json!({ "name": "a", "url": "ftp://x" }), "http://"),
        (
            serde_json::json!({ "name": "a", "url": "http://x.example.com", "auth": { "token": "t" } }),
            "unencrypted",
        ),
    ] {
        let why = described(json).unwrap_err();
        assert!(why.contains(expected), "{why}");
    }
}

#[test]
fn servers_on_local_network_are_recognised() {
    let near = |json: Json| server(&json, &[]).unwrap().reach.is_inside();
    assert!(near(serde_json::json!({ "name": "a", "command": "npx x" })));
    for host in ["127.0.0.1", "100.64.0.1", "localhost:8080", "[::1]", "[64:ff9b::1]", "nas.local"]
    {
        let url = format!("http://{host}/mcp");
        assert!(near(serde_json::json!({ "name": "a", "url": url })), "{host}");
    }
    for host in ["127.1", "2130706433", "127.0.0.1.", "①②⑦.⓪.⓪.①", "%31%32%37.0.0.1"] {
        let json = serde_json::json!({ "name": "a", "url": format!("http://{host}/mcp") });
        assert!(server(&json, &[]).is_err(), "{host}");
    }
    let far = serde_json::json!({ "name": "a", "url": "https://tools.example.com/mcp" });
    assert!(!near(far));
}
