//! Settings of a server, and declarations about its tools. **Never**: prints a secret.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use reqwest::Url;

use super::{backoff::Reconnect, facts::Facts};
pub use crate::domain::Secret;
use crate::{
    domain::{Owner, fnv1a, redact},
    provider::Outbound,
    tools::Declared,
};

/// One configured server; equal options need no reconnection.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerOptions {
    /// Its name in the configuration.
    pub name: String,
    /// Replaces the name in identities of its tools.
    pub prefix: Option<String>,
    /// Address or command.
    pub reach: Reach,
    /// Glyphoxa does not start without it.
    pub required: bool,
    /// Longest wait for the connection and the list of tools.
    pub connect_timeout: Duration,
    /// Waits between attempts; `None`: no reconnection.
    pub reconnect: Option<Reconnect>,
    /// Its resources provide data for headers and prompts.
    pub resources: bool,
    /// Values of its resource templates; may use `${session.*}`, `${campaign.*}` and `${data.*}`.
    pub resource_vars: BTreeMap<String, String>,
    /// Configured declarations, by tool name.
    pub tools: BTreeMap<String, Declared>,
    /// Trust in new and changed tools.
    pub trust: Trust,
    /// It may use the calling NPC's chat model, at the table's expense.
    pub allow_sampling: bool,
    /// Logs its stderr and log messages at level info.
    pub debug: bool,
}

impl ServerOptions {
    /// The server's part of the identities of its tools.
    pub fn identity(&self) -> &str {
        self.prefix.as_deref().unwrap_or(&self.name)
    }

    /// Values that may contain placeholders.
    pub fn templates(&self) -> impl Iterator<Item = &str> {
        let headers: &[(String, Secret)] = match &self.reach {
            Reach::Http { headers, .. } => headers,
            Reach::Stdio { .. } => &[],
        };
        let headers = headers.iter().map(|(_, template)| template.0.as_str());
        headers.chain(self.resource_vars.values().map(String::as_str))
    }

    pub(super) fn lacks(&self, facts: &Facts) -> Option<&'static str> {
        self.templates().find_map(|template| facts.lacks(template))
    }

    /// True if the two cannot coexist: equal names or identities.
    pub fn clashes(&self, other: &Self) -> bool {
        self.name == other.name || self.identity() == other.identity()
    }
}

/// Identity of a server in stored records: another endpoint, name or owner is another server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerAddress {
    /// Its owner; `None`: configured.
    pub owner: Option<Owner>,
    pub server: String,
    /// Storable form of the endpoint.
    pub endpoint: String,
}

impl ServerAddress {
    /// Key of records of this server at this endpoint.
    pub fn key(&self) -> String {
        format!("{} {}", self.name(), self.endpoint)
    }

    /// Key of records of this server at any endpoint. Distinct from server names, which contain no
    /// `/`.
    pub fn name(&self) -> String {
        self.of_owner(&self.server)
    }

    /// Key of records of this endpoint under any name.
    pub fn place(&self) -> String {
        self.of_owner(&self.endpoint)
    }

    fn of_owner(&self, text: &str) -> String {
        match self.owner {
            Some(owner) => format!("{}/{text}", owner.word()),
            None => text.to_owned(),
        }
    }
}

/// Way to reach a server.
#[derive(Clone, Debug, PartialEq)]
pub enum Reach {
    /// A child process speaking over standard streams.
    Stdio {
        /// Program and arguments; at least the program.
        command: Vec<String>,
        /// Working directory; `None`: ours.
        folder: Option<PathBuf>,
        /// Variables added to PATH, HOME, LANG and TMPDIR.
        env: BTreeMap<String, Secret>,
        /// Accessible files and folders.
        sandbox: Sandbox,
    },
    /// A server behind streamable HTTP.
    Http {
        /// `http://…` or `https://…`.
        url: String,
        /// Allows this machine and private networks, because the operator configured the address.
        may_be_inside: bool,
        /// Additional headers; values may use `${session.*}`, `${campaign.*}` and `${data.*}`.
        headers: Vec<(String, Secret)>,
        /// Our credentials for it.
        auth: Auth,
    },
}

impl Reach {
    /// True if it is local: a child process, or an address that is not public.
    pub fn is_inside(&self) -> bool {
        match self {
            Self::Stdio { .. } => true,
            Self::Http { url, .. } => {
                !Url::parse(url).is_ok_and(|url| Outbound::public().check(&url).is_ok())
            }
        }
    }

    /// Allows or forbids a local address.
    pub fn set_may_be_inside(&mut self, may: bool) {
        if let Self::Http { may_be_inside, .. } = self {
            *may_be_inside = may;
        }
    }

    /// The endpoint for reports, without parts that may be secrets.
    pub fn endpoint(&self) -> String {
        match self {
            Self::Stdio { command, .. } => {
                let program = command.first().map_or("", String::as_str);
                format!("stdio {program}{}", if command.len() > 1 { " …" } else { "" })
            }
            Self::Http { url, .. } => redact::address(url),
        }
    }

    /// Storable form of the endpoint.
    pub fn key(&self) -> String {
        match self {
            Self::Stdio { command, .. } => {
                format!("{} {:016x}", self.endpoint(), fnv1a(command.join("\0").bytes()))
            }
            Self::Http { url, .. } => {
                let plain = url.split(['?', '#']).next().unwrap_or_default();
                match self.endpoint() {
                    shown if shown == plain => shown,
                    shown => format!("{shown} {:016x}", fnv1a(plain.bytes())),
                }
            }
        }
    }
}

/// Files and folders a child process may access.
#[derive(Clone, Debug, PartialEq)]
pub enum Sandbox {
    /// No confinement.
    Off,
    /// System folders, its installation, its working directory, paths on its command line, a home
    /// of its own, and these:
    Confined {
        /// Readable paths.
        read: Vec<PathBuf>,
        /// Writable paths.
        write: Vec<PathBuf>,
    },
    /// Like `Confined`, but without paths of the command line or extra ones, and with a temporary
    /// home: the server was added by an owner, not the operator.
    Foreign,
}

/// Our credentials for a server.
#[derive(Clone, Debug, PartialEq)]
pub enum Auth {
    /// No authorization.
    None,
    /// A bearer token, without "Bearer ".
    Token(Secret),
    /// A person's login.
    Login {
        /// Issuer; `None`: the one the server names.
        issuer: Option<String>,
    },
    /// OAuth client credentials.
    Client(ClientCredentials),
}

#[derive(Clone, Debug, PartialEq)]
pub struct ClientCredentials {
    /// Client id at the authorization server.
    pub client_id: String,
    pub credential: Credential,
    /// Authorization server that may receive the credential.
    pub authority: Authority,
    pub scopes: Vec<String>,
}

/// The authorization server a client is registered with, as configured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Authority {
    /// Its issuer, whose metadata names the token endpoint.
    pub issuer: Option<String>,
    /// Overrides the metadata's token endpoint.
    pub token_url: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Credential {
    Secret(Secret),
    /// A PEM private key that signs assertions.
    PrivateKey(Secret),
}

/// Trust in a server's own declarations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Tools are offered as listed.
    Auto,
    /// New and changed tools wait for approval; hints on side effects are ignored.
    Review,
}
