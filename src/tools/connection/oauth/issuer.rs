//! Authorization server metadata (RFC 8414). **Never**: accepts an issuer's metadata from another
//! origin.

use http::{Request, StatusCode, header::ACCEPT};
use reqwest::Url;
use rmcp::transport::auth::AuthorizationMetadata;

use super::wire::{Wire, WireError};

/// Well-known documents of issuers.
const DOCUMENTS: [&str; 2] = ["oauth-authorization-server", "openid-configuration"];

#[derive(Debug, thiserror::Error)]
pub enum IssuerError {
    #[error("the issuer '{0}' cannot be reached: {1}")]
    Silent(Url, WireError),
    #[error("the issuer '{0}' publishes no metadata (give token_url too)")]
    Nothing(Url),
    /// The document names another issuer.
    #[error("the issuer '{0}' calls itself '{1}' (write it like that)")]
    Other(Url, String),
    /// An endpoint without TLS.
    #[error("the issuer '{0}' names '{1}', which is not https://")]
    Unencrypted(Url, String),
}

/// Metadata of the configured issuer.
pub async fn metadata(wire: &Wire, issuer: &Url) -> Result<AuthorizationMetadata, IssuerError> {
    for url in places(issuer) {
        let silent = |error| IssuerError::Silent(issuer.clone(), error);
        let request = Request::get(url.as_str()).header(ACCEPT, "application/json");
        let request = request.body(Vec::new()).map_err(|error| silent(error.into()))?;
        let answer = wire.send(request).await.map_err(silent)?;
        if answer.status() != StatusCode::OK {
            continue;
        }
        let Ok(found) = serde_json::from_slice::<AuthorizationMetadata>(answer.body()) else {
            continue;
        };
        let named = found.issuer.as_deref().unwrap_or_default();
        if named.trim_end_matches('/') != issuer.as_str().trim_end_matches('/') {
            return Err(IssuerError::Other(issuer.clone(), named.to_owned()));
        }
        if issuer.scheme() == "https" && !found.token_endpoint.starts_with("https://") {
            return Err(IssuerError::Unencrypted(issuer.clone(), found.token_endpoint));
        }
        return Ok(found);
    }
    Err(IssuerError::Nothing(issuer.clone()))
}

/// Name of an issuer in tokens and assertions.
pub fn name(issuer: &Url) -> String {
    let text = issuer.as_str();
    match issuer.path() {
        "/" => text.trim_end_matches('/').to_owned(),
        _ => text.to_owned(),
    }
}

/// True if metadata read from `read` may speak for `issuer`: both have the same origin. Otherwise a
/// server could impersonate another issuer and receive its secrets.
pub fn is_its_own(read: Option<&Url>, issuer: &str) -> bool {
    let issuer = Url::parse(issuer);
    issuer.is_ok_and(|issuer| read.is_some_and(|read| read.origin() == issuer.origin()))
}

/// Candidate addresses: the issuer's path after the well-known one (RFC 8414), or before it.
fn places(issuer: &Url) -> Vec<Url> {
    let path = issuer.path().trim_end_matches('/');
    let inserted = DOCUMENTS.map(|name| format!("/.well-known/{name}{path}"));
    let appended = DOCUMENTS.map(|name| format!("{path}/.well-known/{name}"));
    let mut all = Vec::new();
    for place in inserted.into_iter().chain(appended) {
        let mut url = issuer.clone();
        url.set_path(&place);
        url.set_query(None);
        if !all.contains(&url) {
            all.push(url);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issuer_is_asked_at_its_own_address() {
        let url = |text| Url::parse(text).unwrap();
        let at = |text| places(&url(text)).into_iter().map(String::from).collect::<Vec<_>>();
        let root = "https://a.example/.well-known/";
        let expected = DOCUMENTS.map(|name| format!("{root}{name}"));
        assert_eq!(at("https://a.example"), expected);
        assert_eq!(at("https://a.example/t/").len(), 4);
        assert!(at("https://a.example/t")[3].ends_with("/t/.well-known/openid-configuration"));
        let read = url("https://evil.example/.well-known/x");
        assert!(!is_its_own(Some(&read), "https://a.example"));
        assert!(is_its_own(Some(&read), "https://evil.example/t"));
        assert!(!is_its_own(None, "https://a.example"));
        assert!(!is_its_own(Some(&read), "a.example"));
    }
}
