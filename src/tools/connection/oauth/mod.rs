//! OAuth for MCP servers: one token for all callers of a server, renewed before it expires. rmcp
//! does discovery, PKCE, registration and the checks of issuer and resource; we decide when to
//! fetch a token, how to get consent, and where it is stored. **Never**: shows or logs a token.

mod assertion;
mod authorizer;
mod carry;
mod client;
mod consent;
mod credential_store;
mod exchange;
mod issuer;
mod loopback;
mod tokens;
mod wire;

#[cfg(test)]
mod tests;

pub use self::{
    authorizer::Authorizer,
    client::{Authority, Client, Grant, Proof, Resource},
    consent::Headless,
    credential_store::{CredentialStore, login_path},
    loopback::Loopback,
    tokens::{NoAuthorizer, Tokens, authorizer},
};

use std::sync::Arc;

/// Reason a token could not be obtained.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OauthError {
    #[error("needs login: {why} (run glyphoxa mcp login {server})")]
    NeedsLogin { server: Arc<str>, why: &'static str },
    #[error("the authorization server of '{server}' could not be reached: {reason}")]
    Unreachable { server: Arc<str>, reason: String },
    #[error("'{server}' could not be authorized: {reason}")]
    Refused {
        server: Arc<str>,
        /// In our words or those of the authorization server.
        reason: String,
    },
    #[error(
        "'{server}' refuses the token, although Glyphoxa asked for the scope '{scope}' (grant it \
         there)"
    )]
    Scope { server: Arc<str>, scope: String },
    #[error("cannot save the login to '{server}' at '{path}': {reason}")]
    Kept { server: Arc<str>, path: String, reason: String },
}
