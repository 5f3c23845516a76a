//! Settings for reaching a server, and declarations about its tools.
//!
//! Entry type: [`ServerOptions`]. **Never**: prints a secret.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use reqwest::Url;

use super::{backoff::Reconnect, facts::Facts};
pub use crate::domain::Secret;
use crate::{
    domain::{Owner, fnv1a, redact},
    provider::Outbound,
    tools::Declared,
};

/// One configured server; two that are equal need no reconnection.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerOptions {
    /// Its name in the configuration.
    pub name: String,
    /// Stands for its name in identities of its tools.
    pub prefix: Option<String>,
    /// The way to it.
    pub reach: Reach,
    /// Without it nothing starts.
    pub required: bool,
    /// Longest wait for the connection and its list of tools.
    pub connect_timeout: Duration,
    /// Waits before it is tried again; `None`: it is not.
    pub reconnect: Option<Reconnect>,
    /// Its resources are read into the data of headers.
    pub resources: bool,
    /// Values for its resource templates; they may name `${session.*}`, `${campaign.*}` and `${data.*}`.
    pub resource_vars: BTreeMap<String, String>,
    /// Declarations of its tools in the configuration, by their names.
    pub tools: BTreeMap<String, Declared>,
    /// Trust in new and changed tools.
    pub trust: Trust,
    /// It may ask the chat model of the NPC that calls, for the table's money.
    pub allow_sampling: bool,
    /// Its stderr and its log lines are shown at level info.
    pub debug: bool,
}

impl ServerOptions {
    /// The server's part of the identities of its tools.
    pub fn identity(&self) -> &str {
        self.prefix.as_deref().unwrap_or(&self.name)
    }

    /// Values of its headers and of variables of its resources, which may name facts.
    pub fn templates(&self) -> impl Iterator<Item = &str> {
        let headers: &[(String, Secret)] = match &self.reach {
            Reach::Http { headers, .. } => headers,
            Reach::Stdio { .. } => &[],
        };
        let headers = headers.iter().map(|(_, template)| template.0.as_str());
        headers.chain(self.resource_vars.values().map(String::as_str))
    }

    /// The first name in its templates that only a session gives.
    pub(super) fn lacks(&self, facts: &Facts) -> Option<&'static str> {
        self.templates().find_map(|template| facts.lacks(template))
    }

    /// True if the two cannot coexist: they share a name or an identity.
    pub fn clashes(&self, other: &Self) -> bool {
        self.name == other.name || self.identity() == other.identity()
    }
}

/// A server at an address: what is elsewhere, or called otherwise, or somebody else's, is another
/// one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerAddress {
    /// The owner who added it; `None`: it is configured.
    pub owner: Option<Owner>,
    /// Name of the server.
    pub server: String,
    /// Location of the server, in a form that may be stored.
    pub endpoint: String,
}

impl ServerAddress {
    /// Key of records that hold for the server at this endpoint alone.
    pub fn key(&self) -> String {
        format!("{} {}", self.name(), self.endpoint)
    }

    /// Key of records that hold wherever the server is. No server is called so: their names have no `/`.
    pub fn name(&self) -> String {
        self.of_owner(&self.server)
    }

    /// Key of records that hold for the endpoint, whatever the server is called.
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

/// The way to a server.
#[derive(Clone, Debug, PartialEq)]
pub enum Reach {
    /// A child process that speaks over its standard streams.
    Stdio {
        /// Program and arguments, at least the program.
        command: Vec<String>,
        /// Working directory, its file's folder; `None`: ours.
        folder: Option<PathBuf>,
        /// Variables it gets beside PATH, HOME, LANG and TMPDIR.
        env: BTreeMap<String, Secret>,
        /// Files and folders it may reach.
        sandbox: Sandbox,
    },
    /// A server elsewhere, over streamable HTTP.
    Http {
        /// Address, `http://…` or `https://…`.
        url: String,
        /// It may be on this machine or a private network: who says so has written it down.
        may_be_inside: bool,
        /// Further headers; values may name `${session.*}`, `${campaign.*}` and `${data.*}`.
        headers: Vec<(String, Secret)>,
        /// Our credentials for it.
        auth: Auth,
    },
}

impl Reach {
    /// True if it is on this machine or its network: a program here, or an address that is not public.
    pub fn is_inside(&self) -> bool {
        match self {
            Self::Stdio { .. } => true,
            Self::Http { url, .. } => {
                !Url::parse(url).is_ok_and(|url| Outbound::public().check(&url).is_ok())
            }
        }
    }

    /// Says whether an address may be there.
    pub fn set_may_be_inside(&mut self, may: bool) {
        if let Self::Http { may_be_inside, .. } = self {
            *may_be_inside = may;
        }
    }

    /// The endpoint, for reports, without parts that may be keys.
    pub fn endpoint(&self) -> String {
        match self {
            Self::Stdio { command, .. } => {
                let program = command.first().map_or("", String::as_str);
                format!("stdio {program}{}", if command.len() > 1 { " …" } else { "" })
            }
            Self::Http { url, .. } => redact::address(url),
        }
    }

    /// Form of the endpoint for the keys of stored records.
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

/// Files and folders that a child process may reach.
#[derive(Clone, Debug, PartialEq)]
pub enum Sandbox {
    /// Everything that we may reach.
    Off,
    /// The system's folders, what it was installed with, the folder it runs in, what its command line
    /// names, a home of its own, and these.
    Confined {
        /// To be read.
        read: Vec<PathBuf>,
        /// To be written too.
        write: Vec<PathBuf>,
    },
    /// Like `Confined`, but opens neither the paths of the command line nor further ones, and its home is
    /// removed when it ends: an owner has added the server, not the operator.
    Foreign,
}

/// Our credentials for a server.
#[derive(Clone, Debug, PartialEq)]
pub enum Auth {
    /// Requests carry no authorization.
    None,
    /// Every request carries this token, kept without "Bearer ".
    Token(Secret),
    /// A person who has logged in.
    Login {
        /// The authorization server; `None`: the one that the server names.
        issuer: Option<String>,
    },
    /// A registered client with OAuth client credentials.
    Client(ClientCredentials),
}

/// A registered client.
#[derive(Clone, Debug, PartialEq)]
pub struct ClientCredentials {
    /// Its name at the authorization server.
    pub client_id: String,
    /// Proof that we are this client.
    pub credential: Credential,
    /// Authorization server that may receive the proof.
    pub authority: Authority,
    /// The scopes requested.
    pub scopes: Vec<String>,
}

/// The authorization server that a client is registered with, as its operator has written it down.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Authority {
    /// Its issuer, whose metadata says where tokens are given out.
    pub issuer: Option<String>,
    /// Token endpoint, whatever the metadata says.
    pub token_url: Option<String>,
}

/// The proof of a registered client.
#[derive(Clone, Debug, PartialEq)]
pub enum Credential {
    /// A shared secret.
    Secret(Secret),
    /// A private key in PEM that signs assertions.
    PrivateKey(Secret),
}

/// Trust in a server's own declarations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Its tools are offered as they come.
    Auto,
    /// New and changed tools wait until they are approved, and its hints on side effects do not
    /// count.
    Review,
}
