//! Requests that carry the token, and what is done when the server refuses it.
//!
//! Entry function: [`Authorizer::carry`]. **Never**: sends a request again that was not refused for
//! its token.

use std::io;

use rmcp::transport::streamable_http_client::StreamableHttpError;

use super::{Authorizer, OauthError};

/// Most attempts at one request: once as it is, and after each answer to a refusal.
const MAX_TRIES: usize = 4;

/// Error of a request.
type Failed = StreamableHttpError<reqwest::Error>;

impl Authorizer {
    /// Sends with the token there is, and again with a better one when that is refused: once for
    /// another token (401), then for more scopes as long as there are more to ask for (403).
    ///
    /// # Errors
    /// Those of the request; ours are [`OauthError`]s in an IO error.
    pub async fn carry<T, F>(&self, send: impl Fn(Option<String>) -> F) -> Result<T, Failed>
    where
        F: Future<Output = Result<T, Failed>>,
    {
        let mut token = self.token().await.map_err(ours)?;
        let mut renewed = false;
        for _ in 1..MAX_TRIES {
            let sent = token.as_deref();
            let refusal = match send(sent.map(str::to_owned)).await {
                Err(refusal) => refusal,
                outcome => return outcome,
            };
            let better = match (&refusal, challenge(&refusal)) {
                (StreamableHttpError::InsufficientScope(said), challenge) => {
                    let Some(scope) = said.get_required_scope() else { return Err(refusal) };
                    self.wider(sent, challenge, scope).await
                }
                (refusal, challenge) if is_unauthorized(refusal) && !renewed => {
                    renewed = true;
                    self.instead(sent, challenge).await
                }
                // Nor is a token better that has just been fetched and is refused.
                _ => return Err(refusal),
            };
            token = Some(better.map_err(ours)?);
        }
        send(token.as_deref().map(str::to_owned)).await
    }
}

/// The server's challenge: how requests are authorized.
fn challenge(refusal: &Failed) -> Option<&str> {
    match refusal {
        StreamableHttpError::AuthRequired(said) => Some(&said.www_authenticate_header),
        StreamableHttpError::InsufficientScope(said) => Some(&said.www_authenticate_header),
        _ => None,
    }
}

/// True if the server wants another token; rmcp has no type for a 401 that says nothing more.
fn is_unauthorized(refusal: &Failed) -> bool {
    match refusal {
        StreamableHttpError::AuthRequired(_) => true,
        StreamableHttpError::UnexpectedServerResponse(said) => said.starts_with("HTTP 401"),
        _ => false,
    }
}

/// Our reason as an error of rmcp's, which has no place for others.
fn ours(error: OauthError) -> Failed {
    StreamableHttpError::Io(io::Error::other(error))
}
