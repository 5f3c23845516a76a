//! Requests that carry the token, with retries after refusals.

use std::io;

use rmcp::transport::streamable_http_client::StreamableHttpError;

use super::{Authorizer, OauthError};

/// Most attempts at one request: the first, and one after each answered refusal.
const MAX_TRIES: usize = 4;

type Failed = StreamableHttpError<reqwest::Error>;

impl Authorizer {
    /// Sends with the current token and retries if it is refused: once for another token (401),
    /// then for more scopes while there are more (403). Our failures are [`OauthError`]s in an IO
    /// error.
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
                // A token that was just fetched cannot be improved.
                _ => return Err(refusal),
            };
            token = Some(better.map_err(ours)?);
        }
        send(token.as_deref().map(str::to_owned)).await
    }
}

fn challenge(refusal: &Failed) -> Option<&str> {
    match refusal {
        StreamableHttpError::AuthRequired(said) => Some(&said.www_authenticate_header),
        StreamableHttpError::InsufficientScope(said) => Some(&said.www_authenticate_header),
        _ => None,
    }
}

/// rmcp has no type for a 401 without details.
fn is_unauthorized(refusal: &Failed) -> bool {
    match refusal {
        StreamableHttpError::AuthRequired(_) => true,
        StreamableHttpError::UnexpectedServerResponse(said) => said.starts_with("HTTP 401"),
        _ => false,
    }
}

/// rmcp has no variant for our errors.
fn ours(error: OauthError) -> Failed {
    StreamableHttpError::Io(io::Error::other(error))
}
