//! Authorizers of all configured servers, one per server and login.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use reqwest::Url;
use secrecy::SecretString;

use super::{
    authorizer::Authorizer,
    client::{Authority, Client, Grant, Proof, Resource},
    credential_store::{CredentialStore, login_path},
};
use crate::tools::{
    connection::options::{Auth, Credential, Reach, ServerOptions},
    url::UrlError,
};

#[derive(Debug, thiserror::Error)]
pub enum NoAuthorizer {
    #[error("'{0}' is a process, which needs no login")]
    Process(String),
    #[error("'{0}' is configured without a login (give it auth: login)")]
    NotConfigured(String),
    #[error("'{url}': {source}")]
    Address { url: String, source: UrlError },
    #[error("'{key}' of '{server}': {source}")]
    Authority { key: &'static str, server: String, source: UrlError },
}

pub struct Tokens {
    /// Folder of logins.
    data_dir: PathBuf,
    /// By server name; valid for the stored address only.
    known: Mutex<BTreeMap<String, (Reach, Arc<Authorizer>)>>,
}

impl Tokens {
    /// Logins are stored under `data_dir`.
    pub fn new(data_dir: PathBuf) -> Self {
        Self { data_dir, known: Mutex::default() }
    }

    /// The server's authorizer, shared by its connections. Fails if the configuration names no
    /// usable login.
    pub fn source(&self, options: &ServerOptions) -> Result<Arc<Authorizer>, NoAuthorizer> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((reach, authorizer)) = known.get(&options.name)
            && *reach == options.reach
        {
            return Ok(Arc::clone(authorizer));
        }
        let store = |name: &str| CredentialStore::at(login_path(&self.data_dir, name));
        let authorizer = Arc::new(authorizer(options, store)?);
        known.insert(options.name.clone(), (options.reach.clone(), Arc::clone(&authorizer)));
        Ok(authorizer)
    }
}

/// An authorizer for a server, with a `store` for a person's login.
pub fn authorizer(
    options: &ServerOptions,
    store: impl FnOnce(&str) -> CredentialStore,
) -> Result<Authorizer, NoAuthorizer> {
    let name = &options.name;
    let Reach::Http { url, auth, may_be_inside, .. } = &options.reach else {
        return Err(NoAuthorizer::Process(name.clone()));
    };
    let address =
        Url::parse(url).map_err(|source| NoAuthorizer::Address { url: url.clone(), source })?;
    let resource = Resource { address, may_be_inside: *may_be_inside };
    let named = |key, text: &Option<String>| {
        let url = text.as_deref().map(Url::parse).transpose();
        url.map_err(|source| NoAuthorizer::Authority { key, server: name.clone(), source })
    };
    match auth {
        Auth::None | Auth::Token(_) => Err(NoAuthorizer::NotConfigured(name.clone())),
        Auth::Login { issuer } => {
            let authority = Authority { issuer: named("issuer", issuer)?, token_url: None };
            let client = Client { authority, ..Client::default() };
            Ok(Authorizer::new(name, resource, client, Grant::Person, store(name)))
        }
        Auth::Client(client) => {
            let authority = Authority {
                issuer: named("issuer", &client.authority.issuer)?,
                token_url: named("token_url", &client.authority.token_url)?,
            };
            let secret = |text: &str| SecretString::from(text);
            let client = Client {
                id: Some(client.client_id.clone()),
                proof: Some(match &client.credential {
                    Credential::Secret(text) => Proof::Secret(secret(&text.0)),
                    Credential::PrivateKey(pem) => Proof::Key(secret(&pem.0)),
                }),
                scopes: client.scopes.clone(),
                authority,
                metadata_url: None,
            };
            let store = CredentialStore::in_memory();
            Ok(Authorizer::new(name, resource, client, Grant::Program, store))
        }
    }
}
