//! Authorizers against a real authorization server on loopback.

use std::{
    collections::BTreeSet,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures::future::join_all;
use reqwest::Url;
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, InsufficientScopeError, StreamableHttpError,
};
use secrecy::SecretString;

use super::{consent::Consent, *};
use protected::{Protected, SECRET};

#[path = "../../../../tests/support/protected.rs"]
mod protected;

/// The server, on this machine, which its operator has written down.
fn resource(server: &Protected) -> Resource {
    Resource { address: Url::parse(&server.url()).unwrap(), may_be_inside: true }
}

/// Consent without a login page.
fn headless(server: &Protected) -> Arc<Headless> {
    Arc::new(Headless::new(resource(server).outbound(&Authority::default())))
}

fn person(server: &Protected, store: &Path) -> Authorizer {
    Authorizer::new(
        "vtt",
        resource(server),
        Client::default(),
        Grant::Person,
        CredentialStore::at(store.to_owned()),
    )
}

fn program(server: &Protected, secret: &str) -> Authorizer {
    let client = Client {
        id: Some("program".into()),
        proof: Some(Proof::Secret(SecretString::from(secret))),
        scopes: vec!["play".into()],
        authority: Authority::issuer(&server.issuer()).unwrap(),
        ..Client::default()
    };
    Authorizer::new("vtt", resource(server), client, Grant::Program, CredentialStore::in_memory())
}

/// A login on disk, by a person who approves everything.
async fn logged_in(server: &Protected, path: &Path) {
    person(server, path).with_consent(headless(server)).log_in().await.unwrap();
}

/// A request that the server takes when it knows the token.
async fn request(
    server: &Protected,
    authorizer: &Authorizer,
) -> Result<String, StreamableHttpError<reqwest::Error>> {
    authorizer
        .carry(|token| async move {
            let token = token.unwrap_or_default();
            if server.state().access.contains_key(&token) {
                return Ok(token);
            }
            let said = AuthRequiredError::new("Bearer scope=\"play\"".to_owned());
            Err(StreamableHttpError::AuthRequired(said))
        })
        .await
}

fn ours(error: &StreamableHttpError<reqwest::Error>) -> &OauthError {
    let StreamableHttpError::Io(error) = error else { panic!("{error:?}") };
    error.get_ref().unwrap().downcast_ref().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn expired_token_is_renewed_once_for_ten_calls() {
    let server = Protected::start();
    let folder = tempfile::tempdir().unwrap();
    let path = login_path(folder.path(), "vtt");
    server.state().life = 0;
    logged_in(&server, &path).await;
    server.state().life = 3_600;
    let authorizer = person(&server, &path);
    let tokens = join_all((0..10).map(|_| request(&server, &authorizer))).await;
    let tokens: BTreeSet<String> = tokens.into_iter().map(Result::unwrap).collect();
    assert_eq!((tokens.len(), server.done("refresh")), (1, 1));
    // The next process has the new one.
    let again = person(&server, &path).token().await.unwrap();
    assert_eq!(again.as_deref(), tokens.first().map(String::as_str));
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_token_is_renewed_once_for_ten_calls() {
    let server = Protected::start();
    let folder = tempfile::tempdir().unwrap();
    let path = login_path(folder.path(), "vtt");
    logged_in(&server, &path).await;
    server.state().access.clear();
    let authorizer = person(&server, &path);
    let tokens = join_all((0..10).map(|_| request(&server, &authorizer))).await;
    assert!(tokens.iter().all(Result::is_ok), "{tokens:?}");
    assert_eq!(server.done("refresh"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn revoked_login_is_tried_once_then_needs_login() {
    let server = Protected::start();
    let folder = tempfile::tempdir().unwrap();
    let path = login_path(folder.path(), "vtt");
    logged_in(&server, &path).await;
    server.state().access.clear();
    server.state().refresh.clear();
    let authorizer = person(&server, &path);
    for answer in join_all((0..10).map(|_| request(&server, &authorizer))).await {
        let text = ours(&answer.unwrap_err()).to_string();
        assert!(text.starts_with("needs login: "), "{text}");
        assert!(text.ends_with("(run glyphoxa mcp login vtt)"), "{text}");
    }
    assert_eq!(server.done("refresh"), 1);
    // A login from elsewhere is found without a restart.
    logged_in(&server, &path).await;
    assert!(request(&server, &authorizer).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn request_without_login_sends_nothing() {
    let server = Protected::start();
    let folder = tempfile::tempdir().unwrap();
    let authorizer = person(&server, &login_path(folder.path(), "vtt"));
    let error = request(&server, &authorizer).await.unwrap_err();
    let why = "no login yet";
    assert_eq!(*ours(&error), OauthError::NeedsLogin { server: "vtt".into(), why });
    assert!(server.state().done.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_calls_mint_one_client_token() {
    let server = Protected::start();
    let authorizer = program(&server, SECRET);
    let tokens = join_all((0..10).map(|_| request(&server, &authorizer))).await;
    assert!(tokens.iter().all(Result::is_ok), "{tokens:?}");
    assert_eq!(server.done("mint"), 1);
    server.state().access.clear();
    let tokens = join_all((0..10).map(|_| request(&server, &authorizer))).await;
    assert!(tokens.iter().all(Result::is_ok), "{tokens:?}");
    assert_eq!(server.done("mint"), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_secret_is_said_and_not_shown() {
    let server = Protected::start();
    let error = request(&server, &program(&server, "my-guess")).await.unwrap_err();
    let text = ours(&error).to_string();
    assert!(text.starts_with("'vtt' could not be authorized: "), "{text}");
    assert!(text.contains("wrong secret") && !text.contains("my-guess"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn login_is_not_sent_to_another_issuer() {
    let server = Protected::start();
    let folder = tempfile::tempdir().unwrap();
    let path = login_path(folder.path(), "vtt");
    logged_in(&server, &path).await;
    server.state().access.clear();
    server.state().issuer = "/other";
    let error = request(&server, &person(&server, &path)).await.unwrap_err();
    assert!(matches!(ours(&error), OauthError::NeedsLogin { .. }), "{error:?}");
    assert_eq!(server.done("refresh"), 0, "the refresh token stays with who gave it");
}

/// A request that wants the scope `whisper`; `gives` says whether a token for it is taken.
async fn whisper(
    server: &Protected,
    authorizer: &Authorizer,
    gives: bool,
) -> Result<String, StreamableHttpError<reqwest::Error>> {
    let tries = AtomicUsize::new(0);
    let outcome = authorizer.carry(|token| {
        tries.fetch_add(1, Ordering::Relaxed);
        async move {
            let token = token.unwrap_or_default();
            let scope = server.state().access.get(&token).cloned();
            match scope {
                None => {
                    let said = AuthRequiredError::new("Bearer scope=\"play\"".to_owned());
                    Err(StreamableHttpError::AuthRequired(said))
                }
                Some(scope) if gives && scope.contains("whisper") => Ok(scope),
                Some(_) => {
                    let scope = Some("whisper".to_owned());
                    let said = InsufficientScopeError::new("Bearer".to_owned(), scope);
                    Err(StreamableHttpError::InsufficientScope(said))
                }
            }
        }
    });
    let outcome = outcome.await;
    assert!(tries.into_inner() <= 4);
    outcome
}

#[tokio::test(flavor = "multi_thread")]
async fn extra_scopes_are_added_and_requested_once() {
    let server = Protected::start();
    let folder = tempfile::tempdir().unwrap();
    let path = login_path(folder.path(), "vtt");
    let authorizer = person(&server, &path).with_consent(headless(&server));
    assert_eq!(whisper(&server, &authorizer, true).await.unwrap(), "play whisper");
    assert_eq!((server.done("authorize"), server.done("register")), (2, 1));
    let error = whisper(&server, &authorizer, false).await.unwrap_err();
    assert!(matches!(ours(&error), OauthError::Scope { .. }), "{error:?}");
    assert_eq!(server.done("authorize"), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn next_login_requests_missing_scopes() {
    let server = Protected::start();
    let folder = tempfile::tempdir().unwrap();
    let path = login_path(folder.path(), "vtt");
    logged_in(&server, &path).await;
    let authorizer = person(&server, &path);
    for _ in 0..2 {
        let error = whisper(&server, &authorizer, true).await.unwrap_err();
        assert!(ours(&error).to_string().contains("wants more"), "{error:?}");
    }
    assert!(request(&server, &authorizer).await.is_ok(), "good for the rest");
    logged_in(&server, &path).await;
    assert!(whisper(&server, &person(&server, &path), true).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn loopback_ignores_unrelated_requests() {
    // An error only says that there is one already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let (sender, mut shown) = tokio::sync::mpsc::channel(1);
    let show = move |url: &str| sender.try_send(url.to_owned()).unwrap();
    let loopback = Arc::new(Loopback::new(Duration::from_secs(30), show).await.unwrap());
    let waiting = Arc::clone(&loopback);
    let asked = tokio::spawn(async move { waiting.ask("http://a/?state=right").await });
    let address = tokio::time::timeout(Duration::from_secs(30), shown.recv()).await;
    assert_eq!(address.expect("it is shown").unwrap(), "http://a/?state=right");
    let http = reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(30));
    let http = http.build().unwrap();
    let at = |query: &str| format!("{}{query}", loopback.redirect_uri());
    let status = async |url: String| http.get(url).send().await.unwrap().status().as_u16();
    assert_eq!(status(at("/favicon.ico")).await, 404);
    assert_eq!(status(at("?code=1&state=wrong")).await, 200);
    assert_eq!(status(at("?code=2&state=right")).await, 200);
    assert_eq!(asked.await.unwrap().unwrap(), at("?code=2&state=right"));
    let hasty = Loopback::new(Duration::ZERO, |_| {}).await.unwrap();
    let error = hasty.ask("http://a/?state=s").await.unwrap_err().to_string();
    assert!(error.contains("no login within"), "{error}");
}
