//! One exchange with an authorization server: discover it, prove our identity, return a token.
//! Entry type: [`Parties`].

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use http::{Request, header::CONTENT_TYPE};
use reqwest::Url;
use rmcp::transport::auth::{
    AuthError, AuthorizationCallback, AuthorizationManager, AuthorizationMetadata,
    ClientCredentialsConfig, CredentialStore, InMemoryCredentialStore, OAuthClientConfig,
    OAuthTokenResponse, StoredCredentials,
};
use secrecy::ExposeSecret;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    OauthError,
    assertion::assertion,
    client::{Client, Grant, Proof},
    consent::Consent,
    credential_store::{Login, Registered, Token},
    issuer::{self, IssuerError},
    wire::Wire,
};

/// Our name in dynamic registrations.
const CLIENT_NAME: &str = "Glyphoxa";
/// Scope for refresh tokens; client credentials need none.
const OFFLINE: &str = "offline_access";
/// Longest excerpt of an answer, in characters.
const SHOWN: usize = 200;

/// Server, client identity and grant of an exchange.
pub struct Parties {
    pub name: Arc<str>,
    pub server: Url,
    pub client: Client,
    pub wire: Arc<Wire>,
    pub grant: Grant,
    /// `None`: consent is impossible here.
    pub consent: Option<Arc<dyn Consent>>,
    pub now: fn() -> SystemTime,
}

#[derive(Deserialize)]
struct TokenResponse {
    access_token: String,
    refresh_token: Option<String>,
    expires_in: Option<u64>,
}

struct Discovered {
    manager: AuthorizationManager,
    metadata: AuthorizationMetadata,
}

struct Assertion<'a> {
    id: &'a str,
    pem: &'a str,
    scopes: &'a [String],
}

impl Discovered {
    /// Its issuer, or else its token endpoint.
    fn authority(&self) -> String {
        self.metadata.issuer.clone().unwrap_or_else(|| self.metadata.token_endpoint.clone())
    }

    /// True if its metadata lists `word` under `key`.
    fn lists(&self, key: &str, word: &str) -> bool {
        let listed = self.metadata.additional_fields.get(key).and_then(Value::as_array);
        listed.is_some_and(|listed| listed.iter().any(|it| it.as_str() == Some(word)))
    }
}

impl Parties {
    /// Uses the refresh token of `login`; `None`: the authorization server changed or rejects it,
    /// so a new consent is needed.
    pub async fn renew(
        &self,
        login: &Login,
        challenge: Option<&str>,
    ) -> Result<Option<Login>, OauthError> {
        let Some(refresh) = login.token.as_ref().and_then(|token| token.refresh.as_ref()) else {
            return Ok(None);
        };
        let mut found = self.find(challenge).await?;
        if found.authority() != login.authority {
            tracing::warn!(server = &*self.name, "its authorization server has changed");
            return Ok(None);
        }
        let token: OAuthTokenResponse = serde_json::from_value(json!({
            "access_token": "", "token_type": "bearer", "refresh_token": refresh,
        }))
        .map_err(|error| self.refused(error))?;
        let store = InMemoryCredentialStore::new();
        let id = login.client.id.clone();
        let kept = StoredCredentials::new(id, Some(token), login.asked.clone(), None);
        store.save(kept).await.map_err(|error| self.failed(&error))?;
        found.manager.set_credential_store(store);
        let client = configuration(&login.client, &login.asked);
        found.manager.configure_client(client).map_err(|error| self.failed(&error))?;
        match found.manager.refresh_token().await {
            Ok(answer) => {
                Ok(Some(Login { token: Some(self.token(json!(answer))?), ..login.clone() }))
            }
            Err(AuthError::TokenRefreshRejected(_) | AuthError::AuthorizationRequired) => Ok(None),
            Err(error) => Err(self.failed(&error)),
        }
    }

    /// A first token, or one with more scopes. `known`: previous login; `wider`: additional scopes.
    pub async fn obtain(
        &self,
        known: Option<&Login>,
        challenge: Option<&str>,
        wider: &[String],
    ) -> Result<Login, OauthError> {
        let mut found = self.find(challenge).await?;
        let by_program = match self.grant {
            Grant::Program => true,
            Grant::Person => false,
            Grant::Offered => {
                self.client.proof.is_some()
                    && found.lists("grant_types_supported", "client_credentials")
            }
        };
        let known = known.filter(|known| known.authority == found.authority());
        let mut asked = known.map(|known| known.asked.clone()).unwrap_or_default();
        if asked.is_empty() {
            asked.clone_from(&self.client.scopes);
        }
        if asked.is_empty() {
            asked = found.manager.select_initial_scopes(&[]).await;
            asked.retain(|scope| !by_program || scope != OFFLINE);
        }
        asked.extend(
            wider.iter().filter(|scope| !asked.contains(scope)).cloned().collect::<Vec<_>>(),
        );
        if by_program {
            self.mint(&mut found, asked).await
        } else {
            self.consented(found, known, asked).await
        }
    }

    /// Finds the authorization server: the configured one, else the one the server names.
    async fn find(&self, challenge: Option<&str>) -> Result<Discovered, OauthError> {
        let wire = Arc::clone(&self.wire);
        let manager = AuthorizationManager::new_with_oauth_http_client(self.server.clone(), wire);
        let mut manager = manager.await.map_err(|error| self.failed(&error))?;
        let authority = &self.client.authority;
        let metadata = if let Some(url) = &authority.token_url {
            let mut metadata = AuthorizationMetadata::default();
            metadata.token_endpoint = url.to_string();
            metadata.authorization_endpoint = url.to_string();
            metadata.issuer = authority.issuer.as_ref().map(issuer::name);
            metadata
        } else if let Some(issuer) = &authority.issuer {
            // The challenge still lists the scopes the server wants.
            if let Err(error) = manager.resolve_metadata_from_challenge(challenge).await {
                tracing::debug!(server = &*self.name, %error, "a server names no issuer of its own");
            }
            issuer::metadata(&self.wire, issuer).await.map_err(|error| match error {
                IssuerError::Silent(..) => self.unreachable(error),
                _ => self.refused(error),
            })?
        } else {
            let found = manager.resolve_metadata_from_challenge(challenge).await;
            let metadata = found.map_err(|error| self.failed(&error))?.metadata;
            self.check_speaker(&metadata)?;
            metadata
        };
        manager.set_metadata(metadata.clone());
        Ok(Discovered { manager, metadata })
    }

    /// Refuses metadata not published by its issuer.
    fn check_speaker(&self, metadata: &AuthorizationMetadata) -> Result<(), OauthError> {
        let read = self.wire.last_read();
        match &metadata.issuer {
            Some(issuer) if !issuer::is_its_own(read.as_ref(), issuer) => {
                let read = read.map(String::from).unwrap_or_default();
                Err(self.refused(format!(
                    "'{read}' publishes metadata for '{issuer}', which has another address"
                )))
            }
            _ => Ok(()),
        }
    }

    /// Our proof goes only to the configured authorization server.
    fn may_prove(&self) -> Result<(), OauthError> {
        if self.client.authority.is_unknown() {
            return Err(self.refused(
                "a client's secret or key is sent only to the issuer or token_url that the \
                 configuration names, but it names neither (give oauth an issuer)",
            ));
        }
        Ok(())
    }

    async fn mint(&self, found: &mut Discovered, asked: Vec<String>) -> Result<Login, OauthError> {
        self.may_prove()?;
        let id = self.client.id.clone().unwrap_or_default();
        let token = match &self.client.proof {
            Some(Proof::Key(pem)) => {
                let pem = pem.expose_secret();
                self.mint_by_key(found, Assertion { id: &id, pem, scopes: &asked }).await?
            }
            Some(Proof::Secret(secret)) => {
                let config = ClientCredentialsConfig::ClientSecret {
                    client_id: id.clone(),
                    client_secret: secret.expose_secret().to_owned(),
                    scopes: asked.clone(),
                    resource: Some(self.resource().into()),
                };
                let manager = &mut found.manager;
                manager
                    .validate_client_credentials_metadata(&config)
                    .and_then(|()| manager.configure_client_credentials(&config))
                    .map_err(|error| self.failed(&error))?;
                let answer = manager.exchange_client_credentials(&config).await;
                self.token(json!(answer.map_err(|error| self.failed(&error))?))?
            }
            None => return Err(self.refused("client_secret and private_key are both missing")),
        };
        let client = Registered { id, secret: None, redirect_uri: String::new() };
        Ok(self.login(found, client, asked, token))
    }

    /// Client credentials with a signed assertion instead of a secret.
    async fn mint_by_key(
        &self,
        found: &Discovered,
        asks: Assertion<'_>,
    ) -> Result<Token, OauthError> {
        let endpoint = Url::parse(&found.metadata.token_endpoint);
        let endpoint = endpoint.map_err(|error| self.refused(error))?;
        if endpoint.scheme() != "https" && self.server.scheme() == "https" {
            return Err(self.refused(format!("its token endpoint '{endpoint}' is not HTTPS")));
        }
        let audience = found.authority();
        let signed = assertion(asks.id, &audience, asks.pem, (self.now)(), rand::random());
        let signed = signed.map_err(|error| self.refused(error))?;
        let scope = asks.scopes.join(" ");
        let resource = self.resource();
        let mut form = vec![
            ("grant_type", "client_credentials"),
            ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
            ("client_assertion", &signed),
            ("resource", resource.as_str()),
        ];
        if !scope.is_empty() {
            form.push(("scope", &scope));
        }
        let body = Url::parse_with_params("http://form/", form);
        let body = body.map_err(|error| self.refused(error))?;
        let request = Request::post(endpoint.as_str())
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(body.query().unwrap_or_default().as_bytes().to_vec())
            .map_err(|error| self.refused(error))?;
        let sent = self.wire.send(request).await.map_err(|error| self.unreachable(error))?;
        let status = sent.status();
        let said: Value = serde_json::from_slice(sent.body()).unwrap_or_default();
        if !status.is_success() {
            let word = |key| said.get(key).and_then(Value::as_str).unwrap_or_default();
            let text = format!("{status} {} {}", word("error"), word("error_description"));
            let text: String = text.trim_end().chars().take(SHOWN).collect();
            return Err(if status.is_server_error() {
                self.unreachable(text)
            } else {
                self.refused(text)
            });
        }
        self.token(said)
    }

    /// Audience of the token: the server's address.
    fn resource(&self) -> Url {
        let mut resource = self.server.clone();
        resource.set_fragment(None);
        resource
    }

    async fn consented(
        &self,
        mut found: Discovered,
        known: Option<&Login>,
        asked: Vec<String>,
    ) -> Result<Login, OauthError> {
        let Some(consent) = &self.consent else {
            return Err(self.needs_login("no login yet"));
        };
        let redirect_uri = consent.redirect_uri();
        let client = self.registration(&mut found, known, redirect_uri, &asked).await?;
        let configured = found.manager.configure_client(configuration(&client, &asked));
        configured.map_err(|error| self.failed(&error))?;
        let scopes: Vec<&str> = asked.iter().map(String::as_str).collect();
        let url = found.manager.get_authorization_url(&scopes).await;
        let url = url.map_err(|error| self.failed(&error))?;
        // A browser would also open URLs of other schemes.
        let page = Url::parse(&url).map_err(|error| self.refused(error))?;
        self.wire.check(&page).map_err(|error| self.refused(error))?;
        let back = consent.ask(&url).await.map_err(|error| self.refused(error))?;
        if let Some(error) = refusal(&back) {
            return Err(self.refused(error));
        }
        let back = AuthorizationCallback::from_redirect_url(&back);
        let back = back.map_err(|error| self.failed(&error))?;
        let issuer = back.issuer.as_deref();
        let answer = found
            .manager
            .exchange_code_for_token_with_issuer(&back.code, &back.csrf_token, issuer)
            .await
            .map_err(|error| self.failed(&error))?;
        let token = self.token(json!(answer))?;
        Ok(self.login(&found, client, asked, token))
    }

    /// Our registration: configured, by metadata document, stored, or made now.
    async fn registration(
        &self,
        found: &mut Discovered,
        known: Option<&Login>,
        redirect_uri: &str,
        asked: &[String],
    ) -> Result<Registered, OauthError> {
        let registered = |id: &str, secret: Option<String>| Registered {
            id: id.to_owned(),
            secret,
            redirect_uri: redirect_uri.to_owned(),
        };
        if let Some(id) = &self.client.id {
            if self.client.proof.is_some() {
                self.may_prove()?;
            }
            let secret = match &self.client.proof {
                Some(Proof::Secret(secret)) => Some(secret.expose_secret().to_owned()),
                _ => None,
            };
            return Ok(registered(id, secret));
        }
        let takes_documents =
            found.metadata.additional_fields.get("client_id_metadata_document_supported");
        if let Some(url) = &self.client.metadata_url
            && takes_documents.and_then(Value::as_bool) == Some(true)
        {
            return Ok(registered(url, None));
        }
        if let Some(known) = known.filter(|known| known.client.redirect_uri == redirect_uri) {
            return Ok(known.client.clone());
        }
        let scopes: Vec<&str> = asked.iter().map(String::as_str).collect();
        let client = found.manager.register_client(CLIENT_NAME, redirect_uri, &scopes).await;
        let client = client.map_err(|error| self.failed(&error))?;
        Ok(registered(&client.client_id, client.client_secret))
    }

    fn login(
        &self,
        found: &Discovered,
        client: Registered,
        asked: Vec<String>,
        token: Token,
    ) -> Login {
        Login {
            server: self.server.to_string(),
            authority: found.authority(),
            client,
            asked,
            token: Some(token),
        }
    }

    fn token(&self, answer: Value) -> Result<Token, OauthError> {
        let answer: TokenResponse = serde_json::from_value(answer)
            .map_err(|_| self.refused("its token endpoint answers without an access token"))?;
        let life = answer.expires_in.map(Duration::from_secs);
        Ok(Token::new(answer.access_token, answer.refresh_token, life, (self.now)()))
    }

    /// Error: a person must log in, because of `why`.
    pub fn needs_login(&self, why: &'static str) -> OauthError {
        OauthError::NeedsLogin { server: self.name.clone(), why }
    }

    fn refused(&self, reason: impl ToString) -> OauthError {
        OauthError::Refused { server: self.name.clone(), reason: reason.to_string() }
    }

    fn unreachable(&self, reason: impl ToString) -> OauthError {
        OauthError::Unreachable { server: self.name.clone(), reason: reason.to_string() }
    }

    fn failed(&self, error: &AuthError) -> OauthError {
        if let Some(why) = self.wire.take_failure() {
            return self.unreachable(why);
        }
        match error {
            AuthError::DiscoveryRequestFailed { .. }
            | AuthError::HttpError(_)
            | AuthError::TokenRefreshFailed(_) => self.unreachable(error),
            AuthError::NoAuthorizationSupport => {
                self.refused("it wants authorization, but names no authorization server")
            }
            _ => self.refused(error),
        }
    }
}

fn configuration(client: &Registered, scopes: &[String]) -> OAuthClientConfig {
    let config = OAuthClientConfig::new(&client.id, &client.redirect_uri);
    let config = config.with_scopes(scopes.to_vec());
    match &client.secret {
        Some(secret) => config.with_client_secret(secret),
        None => config,
    }
}

/// The error in a redirect; `None`: it has none.
fn refusal(redirect: &str) -> Option<String> {
    let url = Url::parse(redirect).ok()?;
    let value = |name| url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value);
    let error = value("error")?;
    let text = match value("error_description") {
        Some(described) => format!("consent was not given: {error}: {described}"),
        None => format!("consent was not given: {error}"),
    };
    Some(text.chars().filter(|c| !c.is_control()).take(SHOWN).collect())
}
