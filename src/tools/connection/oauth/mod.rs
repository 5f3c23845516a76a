//! OAuth for MCP servers: one token for all callers of a server, renewed before it expires. rmcp
//! does discovery, PKCE, registration and the checks of issuer and resource; we decide when to
//! fetch a token, how to get consent, and where it is stored. **Never**: shows or logs a token.

mod assertion;
mod authorizer;
mod carry;
mod client;
mod consent;
mod credential_store;
mod error;
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
    error::OauthError,
    loopback::Loopback,
    tokens::{NoAuthorizer, Tokens, authorizer},
};
