//! Errors of obtaining a token.

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
