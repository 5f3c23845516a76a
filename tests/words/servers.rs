//! Tool servers and tools in files, wrongly configured.

use super::{Case, PIP, check, compare};

const SERVERS: &[(&str, &str)] = &[
    ("neither command nor url", "{ name: a }"),
    ("missing program", "{ name: a, command: no-such-program }"),
    ("both command and url", "{ name: a, command: env, url: 'http://h/m' }"),
    ("transport without url", "{ name: a, transport: streamable-http }"),
    ("name with a dot", "{ name: a.b, command: env }"),
    ("name of a built-in", "{ name: a, prefix: memory, command: env }"),
    ("open quote", "{ name: a, command: \"x 'y\" }"),
    ("variable before the command", "{ name: a, command: 'KEY=1 x' }"),
    ("headers of a program", "{ name: a, command: env, headers: { a: b } }"),
    ("environment of an address", "{ name: a, url: 'http://h/m', env: { A: b } }"),
    ("sandbox of an address", "{ name: a, url: 'https://h.test/mcp', sandbox: off }"),
    ("sandbox with the memory", "{ name: a, command: env, sandbox: { read: [data/sessions] } }"),
    ("other scheme", "{ name: a, url: 'ftp://h' }"),
    ("odd host", "{ name: a, url: 'http://2130706433/m' }"),
    ("user in the url", "{ name: a, url: 'http://me:pw@h/m' }"),
    ("header of the protocol", "{ name: a, url: 'http://h/m', headers: { Accept: b } }"),
    ("header with a blank", "{ name: a, url: 'http://h/m', headers: { 'a b': c } }"),
    ("misspelt variable", "{ name: a, url: 'http://h/m', headers: { A: '${session.ix}' } }"),
    ("token with a blank", "{ name: a, url: 'http://h/m', auth: { token: 'a b' } }"),
    ("token in the clear", "{ name: a, url: 'http://x.example.com/m', auth: { token: t } }"),
    ("empty auth", "{ name: a, url: 'http://h/m', auth: {} }"),
    (
        "client without a secret",
        "{ name: a, url: 'http://h/m', auth: { oauth: { client_id: c } } }",
    ),
    (
        "client of nobody",
        "{ name: a, url: 'http://h/m', auth: { oauth: { client_id: c, client_secret: s } } }",
    ),
    (
        "missing key file",
        "{ name: a, url: 'http://h/m', auth: { oauth: { client_id: c, private_key: no.pem } } }",
    ),
    ("two of one name", "{ name: a, command: env }, { name: a, command: env }"),
    ("two of one prefix", "{ name: a, command: env }, { name: b, prefix: a, command: env }"),
];

/// Members of a tool's `spec` beside a description and a schema.
const TOOLS: &[(&str, &str)] = &[
    ("tool without an answer", "max_duration_ms: 9"),
    ("tool with two answers", "mock_result: 1, mock_template: x"),
    ("tool with a misspelt key", "mock_rezult: 1"),
    ("tool of another name", "name: other, mock_result: 1"),
    ("tool at a bad address", "http: { url: 'ftp://x' }"),
    ("tool with a broken template", "mock_template: '{{'"),
    ("tool of an unknown tier", "mock_result: 1, floor: slow"),
];

fn tool(name: &'static str, spec: &str) -> Case {
    let text = format!(
        "apiVersion: promptkit.altairalabs.ai/v1\nkind: Tool\n\
         metadata: {{ name: now, namespace: sky }}\n\
         spec: {{ description: x, input_schema: {{ type: object }}, {spec} }}\n"
    );
    check(name, PIP).with("tools/now.yaml", text)
}

#[test]
fn wrong_servers_and_tools() {
    let server = |(name, text): &(&'static str, &str)| {
        check(name, &format!("{PIP}mcp:\n  servers: [{text}]\n"))
    };
    let tools = TOOLS.iter().map(|(name, spec)| tool(name, spec));
    let kind = tool("tool of another kind", "mock_result: 1");
    let kind = check(kind.name, PIP).with("tools/now.yaml", "apiVersion: v1\nkind: Pod\n");
    compare("servers", SERVERS.iter().map(server).chain(tools).chain([kind]));
}
