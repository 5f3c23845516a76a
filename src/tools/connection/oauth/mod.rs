//! OAuth towards MCP servers: one token for all callers of a server, renewed before it expires.
//!
//! Entry type: [`Authorizer`]. Discovery, PKCE, registration and the checks of issuer and resource
//! are rmcp's; what is ours is when a token is fetched, by whom, and where it is kept.
//! **Never**: shows or logs a token, looks at a server's name to decide, asks a person itself (a
//! [`Consent`] does).

mod assertion;
mod authorizer;
mod carry;
mod consent;
mod credential_store;
mod exchange;
mod loopback;
mod tokens;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use reqwest::Url;
use secrecy::SecretString;

pub use self::{
    authorizer::Authorizer,
    consent::{Consent, Headless},
    credential_store::{CredentialStore, login_path},
    loopback::Loopback,
    tokens::{Tokens, authorizer},
};

/// Who we are towards an authorization server.
#[derive(Clone, Debug, Default)]
pub struct Client {
    /// Registered beforehand; `None`: we register ourselves.
    pub id: Option<String>,
    /// How we prove to be it; `None`: we are a public client.
    pub proof: Option<Proof>,
    /// HTTPS address of our client metadata document, taken instead of a registration where the
    /// authorization server supports it.
    pub metadata_url: Option<String>,
    /// What is asked for; empty: what the server says it wants.
    pub scopes: Vec<String>,
    /// Where tokens come from; `None`: found by discovery.
    pub token_url: Option<Url>,
}

/// What proves who a client is.
#[derive(Clone, Debug)]
pub enum Proof {
    /// A shared secret.
    Secret(SecretString),
    /// A private key, PEM (PKCS#8, PKCS#1 or SEC1; RSA, P-256 or P-384), for signed assertions.
    Key(SecretString),
}

/// Who consents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grant {
    /// Nobody has to: the program is the client (client credentials).
    Program,
    /// A person (authorization code with PKCE).
    Person,
    /// The program where the authorization server offers that, else a person.
    Offered,
}

/// Why there is no token.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OauthError {
    /// A person must log in.
    #[error("needs login: {why} (run glyphoxa mcp login {server})")]
    NeedsLogin {
        /// Name of the server.
        server: Arc<str>,
        /// What was wrong with the last login.
        why: &'static str,
    },
    /// It may work in a while.
    #[error("the authorization server of '{server}' could not be reached: {reason}")]
    Unreachable {
        /// Name of the server.
        server: Arc<str>,
        /// What was tried.
        reason: String,
    },
    /// It will not work as things are.
    #[error("'{server}' could not be authorized: {reason}")]
    Refused {
        /// Name of the server.
        server: Arc<str>,
        /// What was said.
        reason: String,
    },
    /// The server wants a scope that it was given, or that nobody gives.
    #[error(
        "'{server}' refuses the token, though the scope '{scope}' was asked for (have it granted there)"
    )]
    Scope {
        /// Name of the server.
        server: Arc<str>,
        /// What it wants.
        scope: String,
    },
    /// The token could not be kept.
    #[error("the login to '{server}' could not be kept at '{path}': {reason}")]
    Kept {
        /// Name of the server.
        server: Arc<str>,
        /// The file.
        path: String,
        /// What was said.
        reason: String,
    },
}
