//! MCP servers. Entry function: [`mcp`]. **Never**: connects.

mod desktop;
mod naming;
mod program;
mod written;

use std::{collections::BTreeMap, path::Path, time::Duration};

use serde_json::Value as Json;

pub use self::{
    desktop::translate,
    written::{Origin, Written},
};
use self::{naming::Name, program::Places};
use super::{files::Source, keys::mcp as keys, reading::Notes, tools::declared};
use crate::{
    domain::{Secret, redact},
    provider::base_url,
    tools::{
        Declared,
        connection::{
            Auth, Authority, ClientCredentials, Credential, Reach, Reconnect, Sandbox,
            ServerOptions, Trust,
        },
    },
    yaml::{self, Fields, Kind, Node, quoted},
};

/// Headers of the protocol.
const OWN_HEADERS: &[&str] = &[
    "accept",
    "content-type",
    "content-length",
    "host",
    "mcp-session-id",
    "mcp-protocol-version",
    "mcp-method",
    "mcp-name",
    "last-event-id",
];
/// Default time limit for connecting.
const CONNECT_MS: u64 = 30_000;
/// Default first delay before reconnecting.
const RECONNECT: Duration = Duration::from_secs(1);

#[derive(Clone, Debug, PartialEq)]
pub struct McpOptions {
    /// With unique names and prefixes.
    pub servers: Vec<ServerOptions>,
    /// Names of disabled servers; NPCs may still name their tools.
    pub disabled: Vec<String>,
}

pub fn mcp(written: &[Written], from: &Origin, notes: &mut Notes) -> McpOptions {
    let (mut servers, mut fields) = (Vec::new(), Vec::new());
    for one in written {
        let mut server = Server { fields: one.fields, from, notes };
        let Some(reach) = server.reach() else { continue };
        let Some(name) = naming::name(one, &reach, &mut server.notes.problems) else { continue };
        let mut options = server.options(&name, reach);
        naming::check(&name, &one.fields, (&mut options, &servers), from, server.notes);
        servers.push(options);
        fields.push(one.fields);
    }
    written::check(&fields, &servers, from.global_data, &mut notes.problems);
    McpOptions { servers, disabled: Vec::new() }
}

/// Reads a server described outside the files, with the files' keys but no variables. `manifests`
/// are the identities in use. Warnings count as problems, returned one per line.
pub fn server(described: &Json, manifests: &[String]) -> Result<ServerOptions, String> {
    let mut notes = Notes::new(Path::new("server"));
    let text = serde_json::json!({ "servers": [described] }).to_string();
    let node = yaml::parse(&text, &mut notes.problems).map(|mut node| {
        yaml::check(&mut node, "", &Kind::Shape(&keys::MCP), &mut notes.problems);
        node
    });
    let (folder, source) = (Path::new("."), Source::Disk);
    let global_data = &BTreeMap::new();
    let from = Origin { folder, data_dir: None, source, manifests, global_data };
    let found = node.map(|node| {
        let listed = Fields::new(&node, &keys::MCP).items("servers");
        let written: Vec<_> = listed.iter().filter_map(Written::entry).collect();
        mcp(&written, &from, &mut notes)
    });
    let told = notes.problems.into_vec().into_iter().chain(notes.warnings.into_vec());
    let told: Vec<String> = told.map(|it| format!("{} ({})", it.message, it.way_out)).collect();
    match found.and_then(|mut found| found.servers.pop()) {
        Some(mut options) if told.is_empty() => {
            options.reach.set_may_be_inside(false);
            Ok(options)
        }
        _ => Err(told.join("\n")),
    }
}

struct Server<'a> {
    fields: Fields<'a>,
    from: &'a Origin<'a>,
    notes: &'a mut Notes,
}

impl Server<'_> {
    /// Settings apart from its name and transport.
    fn options(&mut self, name: &Name, reach: Reach) -> ServerOptions {
        let fields = self.fields;
        let millis = |key, default| Duration::from_millis(fields.whole(key).unwrap_or(default));
        let flag = |key, default| fields.flag(key).unwrap_or(default);
        let tools = fields.get("tools").map(Node::entries).unwrap_or_default();
        let tools = tools.iter().map(|entry| (entry.key.clone(), tool(&entry.node, self.notes)));
        let tools = tools.collect();
        ServerOptions {
            name: name.text.clone(),
            prefix: fields.text("prefix").map(|prefix| prefix.trim().to_owned()),
            reach,
            required: flag("required", false),
            connect_timeout: millis("connect_timeout_ms", CONNECT_MS),
            reconnect: flag("auto_reconnect", true).then(|| {
                let every = fields.whole("reconnect_interval_ms").map(Duration::from_millis);
                every.map_or(Reconnect::Growing(RECONNECT), Reconnect::Every)
            }),
            resources: flag("resources", false),
            resource_vars: names(fields.get("resource_vars")),
            tools,
            trust: match fields.text("trust") {
                Some("review") => Trust::Review,
                _ => Trust::Auto,
            },
            allow_sampling: flag("allow_sampling", false),
            debug: flag("debug", false),
        }
    }

    /// Transport and address.
    fn reach(&mut self) -> Option<Reach> {
        let has = |key| self.fields.get(key).is_some() || self.fields.is_broken(key);
        let (command, url) = (has("command"), has("url"));
        match (self.fields.text("transport"), command, url) {
            (None | Some("stdio"), true, false) => {
                self.refuse(&["headers", "auth"], "a child process");
                self.stdio()
            }
            (None | Some("streamable-http"), false, true) => {
                self.refuse(&["args", "env", "sandbox"], "an address");
                self.http()
            }
            (_, true, true) => {
                let message = "a server has both 'command' and 'url'";
                self.problem("url", message.to_owned(), "keep the one that reaches it");
                None
            }
            (Some("streamable-http"), ..) => {
                self.missing("url", "a server of transport 'streamable-http'", "url: https://…/mcp")
            }
            (Some(_), ..) => self.missing(
                "command",
                "a server of transport 'stdio'",
                "command: the program and its arguments",
            ),
            (None, ..) => self.missing(
                "command",
                "a server",
                "command: a program to start, or url: an address",
            ),
        }
    }

    fn missing<T>(&mut self, key: &str, of: &str, way_out: &str) -> Option<T> {
        self.notes.problems.add(self.fields.at(), format!("missing key '{key}' of {of}"), way_out);
        None
    }

    /// Reports keys of the other transport.
    fn refuse(&mut self, keys: &[&str], what: &str) {
        for key in keys {
            if self.fields.get(key).is_some() {
                let message = format!("'{key}' has no effect on {what}");
                self.problem(key, message, "remove it");
            }
        }
    }

    fn stdio(&mut self) -> Option<Reach> {
        let command = self.fields.text("command")?.trim();
        let command = if self.fields.get("args").is_some() {
            let mut words = vec![command.to_owned()];
            words.extend(self.fields.texts("args"));
            words
        } else {
            let words = shlex::split(command).filter(|words| !words.is_empty());
            if words.is_none() {
                let message = format!("'command' is {}", self.fields.shown("command"));
                self.problem("command", message, "close its quotes, or use args");
            }
            words?
        };
        if let Some((variable, _)) = command.first().and_then(|word| word.split_once('='))
            && is_variable(variable)
        {
            let message = format!("'command' begins with the variable {}", quoted(variable));
            let way_out = format!("write it as env: {{ {variable}: … }}");
            self.problem("command", message, &way_out);
            return None;
        }
        let env = names(self.fields.get("env"));
        for name in env.keys() {
            if name.is_empty() || name.contains(['=', '\0']) {
                let message = format!("invalid variable name {}", quoted(name));
                self.problem("env", message, "use letters, digits and _");
            }
        }
        let env = env.into_iter().map(|(name, value)| (name, Secret(value))).collect();
        let sandbox = match self.from.data_dir {
            Some(data_dir) => {
                let places = Places { folder: self.from.folder, data_dir };
                program::sandbox(self.fields, places, self.notes)
            }
            None => {
                if self.fields.get("sandbox").is_some() {
                    let message = "only the bot's owner may set 'sandbox'".to_owned();
                    self.problem("sandbox", message, "configure the server in glyphoxa.yaml");
                }
                Sandbox::Foreign
            }
        };
        // A server that the operator has not configured has no folder.
        let folder = self.from.data_dir.and(program::folder(self.from.folder, self.from.source));
        if let (Some(name), Some(folder)) = (command.first(), &folder) {
            program::warn_of_missing(self.fields, name, folder, self.notes);
        }
        Some(Reach::Stdio { command, folder, env, sandbox })
    }

    fn http(&mut self) -> Option<Reach> {
        let url = self.fields.text("url")?.trim();
        let (path, query) = url.split_once('?').unwrap_or((url, ""));
        let address = match base_url(path) {
            Ok(address) if !query.contains(['#', ' ']) => address,
            other => {
                let message = format!("'url' is {}", redact::text(&self.fields.shown("url")));
                let way_out = match url.contains('@') {
                    true => "remove the user name; write auth: { token: … }, or headers",
                    false => other.err().unwrap_or("remove blanks and #"),
                };
                self.problem("url", message, way_out);
                return None;
            }
        };
        let auth = self.auth()?;
        let headers = self.headers(&auth);
        if !address.private && !address.encrypted && (auth != Auth::None || !headers.is_empty()) {
            let message = "credentials are sent unencrypted to another network";
            self.notes.warnings.add(self.fields.place("url"), message, "use https://");
        }
        Some(Reach::Http { url: url.to_owned(), may_be_inside: true, headers, auth })
    }

    /// Additional headers, all valid.
    fn headers(&mut self, auth: &Auth) -> Vec<(String, Secret)> {
        let entries = self.fields.get("headers").map(Node::entries).unwrap_or_default();
        let mut headers = Vec::new();
        for entry in entries {
            let Some(value) = entry.node.text() else { continue };
            let name = entry.key.to_ascii_lowercase();
            let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
            if name.is_empty() || !name.chars().all(token) {
                let message = format!("invalid header name {}", quoted(&entry.key));
                self.notes.problems.add(entry.at, message, "use letters, digits and -");
            } else if OWN_HEADERS.contains(&name.as_str()) {
                let message = format!("header '{name}' is set by the protocol");
                self.notes.problems.add(entry.at, message, "remove it");
            } else if name == "authorization" && *auth != Auth::None {
                let message = "both 'auth' and a header authenticate to the server";
                self.notes.problems.add(entry.at, message, "keep one of them");
            }
            if value.chars().any(|c| c.is_control() || !c.is_ascii()) {
                let message = format!("header '{name}' has a value that cannot be sent");
                self.notes.problems.add(entry.node.at, message, "use plain ASCII on one line");
            }
            headers.push((name, Secret(value.to_owned())));
        }
        headers
    }

    /// Our credentials; `None` with problems.
    fn auth(&mut self) -> Option<Auth> {
        if self.fields.is_broken("auth") {
            return None;
        }
        if self.fields.text("auth") == Some("login") {
            return Some(Auth::Login { issuer: None });
        }
        let Some(auth) = self.fields.map("auth", &keys::AUTH) else { return Some(Auth::None) };
        if let Some(login) = auth.map("login", &keys::LOGIN) {
            return Some(Auth::Login { issuer: self.address(login, "issuer") });
        }
        if let Some(oauth) = auth.map("oauth", &keys::OAUTH) {
            return self.oauth(oauth);
        }
        let Some(token) = auth.text("token").map(str::trim) else {
            return if ["token", "oauth", "login"].iter().any(|key| auth.is_broken(key)) {
                None
            } else {
                let way_out = "auth: { token: … }, auth: { oauth: … } or auth: login";
                self.notes.problems.add(auth.at(), "'auth' has no credentials", way_out);
                None
            };
        };
        let bearer = token.get(..7).filter(|start| start.eq_ignore_ascii_case("bearer "));
        let token = bearer.map_or(token, |_| token.get(7..).unwrap_or_default()).trim();
        if token.is_empty() || !token.chars().all(|c| c.is_ascii_graphic()) {
            let message = "'token' has characters that cannot be sent";
            let way_out = "use plain ASCII without blanks; check for line breaks and quotes";
            self.notes.problems.add(auth.place("token"), message, way_out);
        }
        Some(Auth::Token(Secret(token.to_owned())))
    }

    fn oauth(&mut self, oauth: Fields) -> Option<Auth> {
        let credential = match (oauth.text("client_secret"), oauth.text("private_key")) {
            (Some(secret), None) => Credential::Secret(Secret(secret.to_owned())),
            (None, Some(key)) => Credential::PrivateKey(Secret(self.private_key(key, oauth)?)),
            (found, _) => {
                if !oauth.is_broken("client_secret") && !oauth.is_broken("private_key") {
                    let message = match found {
                        Some(_) => "'oauth' has both 'client_secret' and 'private_key'",
                        None => "'oauth' has neither 'client_secret' nor 'private_key'",
                    };
                    self.notes.problems.add(oauth.at(), message, "give it one of them");
                }
                return None;
            }
        };
        let authority = Authority {
            issuer: self.address(oauth, "issuer"),
            token_url: self.address(oauth, "token_url"),
        };
        let is_broken = ["issuer", "token_url"].iter().any(|key| oauth.is_broken(key));
        if authority == Authority::default() && !is_broken {
            let message = "'oauth' has neither 'issuer' nor 'token_url'; credentials are sent only \
                           to one of them";
            let way_out = "add issuer, the address of the authorization server that issued the \
                           client_id, or token_url, its token endpoint";
            self.notes.problems.add(oauth.at(), message, way_out);
        }
        Some(Auth::Client(ClientCredentials {
            client_id: oauth.text("client_id")?.to_owned(),
            credential,
            authority,
            scopes: oauth.texts("scopes"),
        }))
    }

    /// The address under `key`, as written.
    fn address(&mut self, fields: Fields, key: &str) -> Option<String> {
        let address = fields.text(key)?;
        if let Err(expected) = base_url(address) {
            let message = format!("'{key}' is {}", fields.shown(key));
            self.notes.problems.add(fields.place(key), message, expected);
        }
        Some(address.to_owned())
    }

    /// The key itself, or the content of its file.
    fn private_key(&mut self, key: &str, oauth: Fields) -> Option<String> {
        if key.trim_start().starts_with("-----BEGIN") {
            return Some(key.to_owned());
        }
        match self.from.source.read(&self.from.folder.join(key.trim())) {
            Ok(text) => Some(text),
            Err(error) => {
                let message = format!("'private_key' names a file: {}", error.message);
                self.notes.problems.add(oauth.place("private_key"), message, error.way_out);
                None
            }
        }
    }

    fn problem(&mut self, key: &str, message: String, way_out: &str) {
        self.notes.problems.add(self.fields.place(key), message, way_out);
    }
}

/// True if it is a valid name of a variable.
fn is_variable(text: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && text.chars().all(is_word)
}

fn names(node: Option<&Node>) -> BTreeMap<String, String> {
    let entries = node.map(Node::entries).unwrap_or_default();
    let text = |node: &Node| node.text().unwrap_or_default().to_owned();
    entries.iter().map(|entry| (entry.key.clone(), text(&entry.node))).collect()
}

fn tool(node: &Node, notes: &mut Notes) -> Declared {
    let fields = Fields::new(node, &keys::TOOL);
    let parameters = fields.get("parameters").map(Node::to_json);
    if parameters.as_ref().is_some_and(|schema| !schema.is_object()) {
        let message = "'parameters' is not a JSON Schema of an object";
        notes.problems.add(
            fields.place("parameters"),
            message,
            "write a mapping with `type: object`",
        );
    }
    Declared {
        description: fields.text("description").map(str::to_owned),
        parameters: parameters.filter(Json::is_object),
        ..declared(&fields, "tier", &mut notes.warnings)
    }
}

/// Patterns for all tools of each server, for whitelists.
pub fn patterns(options: &McpOptions) -> Vec<String> {
    let servers = options.servers.iter().map(ServerOptions::identity);
    let disabled = options.disabled.iter().map(String::as_str);
    servers.chain(disabled).map(|server| format!("{server}.*")).collect()
}

#[cfg(test)]
mod tests;
