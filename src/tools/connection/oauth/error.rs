//! Errors of obtaining a token.

use std::sync::Arc;

/// Reason a token could not be obtained.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OauthError {
    /// A person must log in.
    #[error("needs login: {why} (run glyphoxa mcp login {server})")]
    NeedsLogin {
        /// Name of the server.
        server: Arc<str>,
        /// Problem with the last login.
        why: &'static str,
    },
    /// It may work in a while.
    #[error("the authorization server of '{server}' could not be reached: {reason}")]
    Unreachable {
        /// Name of the server.
        server: Arc<str>,
        /// The failure on the way to it.
        reason: String,
    },
    /// It will not work as things are.
    #[error("'{server}' could not be authorized: {reason}")]
    Refused {
        /// Name of the server.
        server: Arc<str>,
        /// The refusal, in our words or those of the authorization server.
        reason: String,
    },
    /// The server wants a scope that was requested already, or that cannot be granted.
    #[error(
        "'{server}' refuses the token, although Glyphoxa asked for the scope '{scope}' (grant it \
         there)"
    )]
    Scope {
        /// Name of the server.
        server: Arc<str>,
        /// Scope that the server wants.
        scope: String,
    },
    /// The token could not be kept.
    #[error("cannot save the login to '{server}' at '{path}': {reason}")]
    Kept {
        /// Name of the server.
        server: Arc<str>,
        /// Path of the file.
        path: String,
        /// The system's error.
        reason: String,
    },
}
