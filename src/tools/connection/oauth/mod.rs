//! OAuth towards MCP servers: one token for all callers of a server, renewed before it expires.
//!
//! Entry type: [`Authorizer`]. Discovery, PKCE, registration and the checks of issuer and resource
//! are rmcp's; what is ours is when a token is fetched, by whom, and where it is kept.
//! **Never**: shows or logs a token, looks at a server's name to decide, asks a person itself (a
//! [`consent::Consent`] does).

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
