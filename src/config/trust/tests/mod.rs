mod paths;

use std::fs;

use super::*;
use crate::{config, tools::builtin::IDENTITIES};

/// An NPC, so that a folder is whole.
const NPC: (&str, &str) = ("npcs/bart.yaml", "name: Bart\nlines: [{ say: hi }]\n");

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in [NPC].iter().chain(files) {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    dir
}

/// Demands of a folder, with a value for every secret.
fn asked(dir: &Path) -> Vec<Demand> {
    // Other variables are sources of model files.
    let is_secret = |name: &str| ["KEY", "TOKEN", "PASSWORD"].iter().any(|it| name.ends_with(it));
    let environment = |name: &str| is_secret(name).then(|| format!("value-of-{name}"));
    config::load(Some(&dir.join("glyphoxa.yaml")), &environment, IDENTITIES).unwrap().demands
}

/// The lines of a folder with this configuration, the folder's name left out.
fn lines(text: &str) -> Vec<String> {
    lines_of(folder(&[("glyphoxa.yaml", text)]).path())
}

fn lines_of(dir: &Path) -> Vec<String> {
    let root = format!("{}/", dir.display());
    asked(dir).iter().map(|it| it.to_string().replace(&root, "")).collect()
}

#[test]
fn program_is_shown_with_variables_and_access() {
    let found = lines(
        "mcp:\n  servers:\n    - { name: home, command: 'sh ./a.sh \"x y\"', env: { KEY: '${HOME_KEY}', \
         A: b }, sandbox: off }\n    - { name: away, command: npx, args: [-y, 'a b'], sandbox: { read: \
         [npcs, maps, /etc] } }\n",
    );
    let wanted = [
        "start the program `sh ./a.sh \"x y\"` with KEY=${HOME_KEY} A=b (server 'home')",
        "let the program read and write everything that you can (sandbox: off of server 'home')",
        "start the program `npx -y 'a b'` (server 'away')",
        "let the program read '/etc' (server 'away')",
        "let the program read 'npcs' (server 'away')",
    ];
    assert_eq!(found, wanted);
}

#[test]
fn global_data_variable_is_shown_with_receivers() {
    let found = lines(
        "global_data: { crm: '${CRM_KEY}' }\nmcp_servers:\n  away: { url: 'https://a.example/mcp', headers: \
         { X-Key: '${global_data.crm}' } }\n  other: { url: 'https://b.example/mcp' }\n",
    );
    let wanted = [
        "send your variable CRM_KEY to the NPCs, who may say it (global_data)",
        "send what NPCs ask of it to https://a.example/mcp (server 'away')",
        "send your variable CRM_KEY to a.example (server 'away')",
        "send what NPCs ask of it to https://b.example/mcp (server 'other')",
    ];
    assert_eq!(found, wanted);
}

#[test]
fn address_elsewhere_is_shown_with_its_variables() {
    let found = lines(
        "providers:\n  llm: { service: openai, base_url: 'http://words.example/v1', model: m, free: true, \
         api_key: '${AWS_SECRET_ACCESS_KEY}' }\n  stt: { service: wyoming, base_url: \
         'tcp://192.168.0.9:10300' }\n",
    );
    let wanted = [
        "send what is said at the table to http://words.example/v1 (providers.llm)",
        "send your variable AWS_SECRET_ACCESS_KEY to words.example (providers.llm)",
        "send what is said at the table to tcp://192.168.0.9:10300 (providers.stt)",
    ];
    let (mut found, mut wanted) = (found, wanted.map(str::to_owned).to_vec());
    found.sort();
    wanted.sort();
    assert_eq!(found, wanted);
}

#[test]
fn server_elsewhere_is_shown_with_its_variables() {
    let found = lines(
        "mcp: { servers: [{ name: home, url: 'https://home.example/mcp', headers: { X: '${A_KEY}' } }] }\n",
    );
    let wanted = [
        "send what NPCs ask of it to https://home.example/mcp (server 'home')",
        "send your variable A_KEY to home.example (server 'home')",
    ];
    assert_eq!(found, wanted);
}

#[test]
fn discord_elsewhere_is_shown_with_its_token() {
    let found =
        lines("discord: { api_base: 'https://10.0.0.9:8443', token: '${DISCORD_TOKEN}' }\n");
    let wanted = [
        "send the bot's token and what is said on Discord to https://10.0.0.9:8443 (discord.api_base)",
        "send your variable DISCORD_TOKEN to 10.0.0.9 (discord.api_base)",
    ];
    assert_eq!(found, wanted);
    let found = lines("discord: { token: '${AWS_SECRET_ACCESS_KEY}' }\n");
    assert_eq!(found, ["send your variable AWS_SECRET_ACCESS_KEY to discord.com (discord.token)"]);
}

#[test]
fn database_elsewhere_is_asked_about() {
    let found = lines("memory: { url: 'postgres://bot:${DB_PASSWORD}@db.example/table' }\n");
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with("keep what is said and remembered in postgres://db.example"));
    assert!(found[1].starts_with("send your variable DB_PASSWORD to postgres://db.example"));
    let redirected = "memory: { url: 'postgres://bot@localhost/table?hostaddr=203.0.113.7' }\n";
    assert!(lines(redirected)[0].contains(" at 203.0.113.7 "));
    assert_eq!(lines("memory: { url: 'postgres://bot@localhost/table' }\n"), [""; 0]);
}

#[test]
fn known_services_and_this_machine_ask_nothing() {
    let found = lines(
        "providers:\n  llm:\n    - { service: openai, as: a, model: m, free: true, api_key: \
         '${OPENAI_API_KEY}' }\n    - { service: anthropic, as: b, model: m, free: true, api_key: \
         '${ANTHROPIC_API_KEY}' }\n    - { service: openai, as: c, base_url: \
         'https://api.groq.com/openai/v1', model: m, free: true, api_key: '${GROQ_API_KEY}' }\n    - { \
         service: openai, as: d, base_url: 'http://127.0.0.1:11434/v1', model: m, api_key: '${KEY}' }\n  \
         search: { service: brave, api_key: '${BRAVE_API_KEY}', free: true }\ndiscord: { token: \
         '${DISCORD_TOKEN:-}' }\n",
    );
    assert_eq!(found, [""; 0]);
}

#[test]
fn shipped_folder_asks_nothing() {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("glyphoxa.yaml");
    // The repository may have been played in.
    let new = |name: &str| (name == "GLYPHOXA_DATA").then(|| "/nowhere/data".to_owned());
    let config = config::load(Some(&shipped), &new, IDENTITIES).unwrap();
    assert!(config.demands.is_empty(), "{:?}", config.demands);
}

#[test]
fn variable_in_a_text_is_asked_about() {
    let npc = "name: Ann\npersonality: '${AWS_SECRET_ACCESS_KEY} $${NOT}'\n";
    let dir = folder(&[("glyphoxa.yaml", ""), ("npcs/ann.yaml", npc)]);
    let wanted =
        "send your variable AWS_SECRET_ACCESS_KEY to the NPCs, who may say it (npcs/ann.yaml)";
    assert_eq!(lines_of(dir.path()), [wanted]);
}

#[test]
fn tool_of_a_file_is_asked_about_by_its_address() {
    let tool = |url: &str| {
        format!(
            "apiVersion: promptkit.altairalabs.ai/v1\nkind: Tool\nmetadata: {{ name: look }}\nspec:\n  \
             description: Looks.\n  input_schema: {{ type: object }}\n  http:\n    url: {url}\n    \
             headers_from_env: [X-Key=A_KEY]\n"
        )
    };
    let dir = folder(&[("glyphoxa.yaml", ""), ("tools/a.yaml", &tool("https://look.example/a"))]);
    let wanted = [
        "send what NPCs ask of it to https://look.example/a (tool 'manifest.look')",
        "send your variable A_KEY to look.example (tool 'manifest.look')",
    ];
    assert_eq!(lines_of(dir.path()), wanted);
    fs::write(dir.path().join("tools/a.yaml"), tool("http://127.0.0.1:1/a")).unwrap();
    assert_eq!(lines_of(dir.path()), [""; 0]);
}

#[test]
fn account_of_another_is_shown_at_a_known_host() {
    let account = "to an account of the folder's own at";
    let found = lines(
        "providers: { llm: { service: openai, model: m, free: true, api_key: sk-1234, extra_body: { \
         store: true, metadata: { k: '${OPENAI_API_KEY}' } } } }\ndiscord: { token: \
         '${DISCORD_TOKEN:-abc}' }\n",
    );
    let wanted = [
        format!("send what is said at the table {account} api.openai.com (providers.llm)"),
        "send your variable OPENAI_API_KEY to api.openai.com (providers.llm)".to_owned(),
        format!("send what is said at the table {account} discord.com (discord.token)"),
    ];
    assert_eq!(found, wanted);
}

#[test]
fn known_host_is_shown_where_it_is_no_service() {
    let found = lines(
        "mcp: { servers: [{ name: home, url: 'https://discord.com/api/webhooks/1', headers: { X: \
         '${DISCORD_TOKEN}' } }] }\ntools: { approvals: { notify: { url: 'https://discord.com/api', secret: abcd } } \
         }\nsearch: { allow: [evil.example, '127.0.0.1:80'] }\nproviders:\n  search: { service: \
         searxng, base_url: 'http://127.0.0.1:8888' }\n",
    );
    let wanted = [
        "send word of calls that wait to https://discord.com/api (tools.approvals.notify)",
        "send what NPCs look up to evil.example (search.allow)",
        "send what NPCs ask of it to https://discord.com/api/webhooks/1 (server 'home')",
        "send your variable DISCORD_TOKEN to discord.com (server 'home')",
    ];
    assert_eq!(found, wanted);
    let port = "providers: { llm: { service: openai, base_url: 'https://api.openai.com:8080/v1', model: \
                m, free: true, api_key: '${OPENAI_API_KEY}' } }\n";
    assert_eq!(lines(port).len(), 2);
}

#[test]
fn right_to_decide_calls_is_asked_about() {
    let notify = "tools: { approvals: { notify: { url: 'https://a.example', secret: abcd } } }\n";
    let with = |more: &str| lines(&format!("{notify}{more}"));
    let place = "to https://a.example (tools.approvals.notify)";
    assert_eq!(with(""), [format!("send word of calls that wait {place}")]);
    let both = format!("send word of calls that wait, and the right to decide them, {place}");
    assert_eq!(with("web: { listen: '127.0.0.1:4100' }\n"), [both]);
}

#[test]
fn listener_for_others_is_asked_about() {
    let found = lines(
        "web: { listen: '0.0.0.0:4100', behind_tls: true, hosts: [evil.example], mcp: { listen: true \
         } }\n",
    );
    let wanted = [
        "let programs with a token reach the table at 0.0.0.0:4100, from other machines too (web.listen)",
        "let pages and programs with a token reach the table as evil.example (web.hosts)",
        "let programs with a token read what players say (web.mcp.listen)",
    ];
    assert_eq!(found, wanted);
    assert_eq!(lines("web: { listen: '127.0.0.1:4100' }\n"), [""; 0]);
}

#[test]
fn collector_elsewhere_is_asked_about() {
    let with = |more: &str| lines(&format!("telemetry: {{ otlp: 'https://a.example'{more} }}\n"));
    let place = "to https://a.example (telemetry.otlp)";
    let plain = format!("send when NPCs answer, by which models and tools, {place}");
    assert_eq!(with(""), [plain]);
    let words = "what is said at the table, prompts, and what tools are given,";
    assert_eq!(with(", content: true"), [format!("send {words} {place}")]);
    assert_eq!(lines("telemetry: { otlp: 'http://127.0.0.1:4318' }\n"), [""; 0]);
}

#[test]
fn variable_in_a_description_is_asked_about() {
    let tool = "apiVersion: promptkit.altairalabs.ai/v1\nkind: Tool\nmetadata: { name: look }\nspec:\n  \
                description: '${A_KEY}'\n  input_schema: { type: object }\n  http: { url: \
                'http://127.0.0.1:1/', headers: { X: '${A_KEY}' } }\n";
    let dir = folder(&[("glyphoxa.yaml", ""), ("tools/a.yaml", tool)]);
    let wanted = "send your variable A_KEY to the NPCs, who may say it (tools/a.yaml)";
    assert_eq!(lines_of(dir.path()), [wanted]);
}

#[test]
fn game_masters_who_start_programs_are_shown() {
    let found = lines("discord: { trust_dms: true, everyone_is_dm: true, guilds: any }\n");
    let wanted = "let everybody on any Discord server that has the bot start programs on this machine \
                  (discord: trust_dms, everyone_is_dm, guilds)";
    assert_eq!(found, [wanted]);
    assert_eq!(lines("discord: { everyone_is_dm: true }\n"), [""; 0]);
}

#[test]
fn command_called_a_password_is_shown() {
    let found =
        lines("mcp: { servers: [{ name: home, command: a, env: { password: 'curl x' } }] }\n");
    assert_eq!(found, ["start the program `a` with password='curl x' (server 'home')"]);
}
