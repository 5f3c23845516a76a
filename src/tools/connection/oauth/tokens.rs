//! The authorizers of all configured servers.
//!
//! Entry type: [`Tokens`]. **Never**: makes a second one for the same server and the same login.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use reqwest::Url;
use secrecy::SecretString;

use super::{
    authorizer::Authorizer,
    client::{Client, Grant, Proof},
    credential_store::{CredentialStore, login_path},
};
use crate::tools::{
    connection::options::{Auth, Credential, Reach, ServerOptions},
    url::UrlError,
};

/// Why a server has no tokens.
#[derive(Debug, thiserror::Error)]
pub enum NoAuthorizer {
    /// It is a process of ours.
    #[error("'{0}' is a process, which needs no login")]
    Process(String),
    /// Its configuration names no login.
    #[error("'{0}' is configured without a login (give it auth: login)")]
    NotConfigured(String),
    /// Its address is not a URL.
    #[error("'{url}': {source}")]
    Address {
        /// As it is configured.
        url: String,
        /// What is wrong with it.
        source: UrlError,
    },
    /// `token_url` is not a URL.
    #[error("token_url of '{server}': {source}")]
    TokenUrl {
        /// Name of the server.
        server: String,
        /// What is wrong with it.
        source: UrlError,
    },
}

/// Makes and keeps an authorizer for each server that needs one.
pub struct Tokens {
    /// Folder of logins.
    data_dir: PathBuf,
    /// By server name; each is valid for the address it was made for.
    known: Mutex<BTreeMap<String, (Reach, Arc<Authorizer>)>>,
}

impl Tokens {
    /// Logins are kept under `data_dir`.
    pub fn new(data_dir: PathBuf) -> Self {
        Self { data_dir, known: Mutex::default() }
    }

    /// The tokens for one server, the same ones for each of its connections.
    ///
    /// # Errors
    /// The server needs no authorization, or its configuration is wrong.
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

/// What authorizes us to a server, with a `store` for the login of a person.
///
/// # Errors
/// It needs no authorization, or cannot be told how.
pub fn authorizer(
    options: &ServerOptions,
    store: impl FnOnce(&str) -> CredentialStore,
) -> Result<Authorizer, NoAuthorizer> {
    let name = &options.name;
    let Reach::Http { url, auth, .. } = &options.reach else {
        return Err(NoAuthorizer::Process(name.clone()));
    };
    let address =
        Url::parse(url).map_err(|source| NoAuthorizer::Address { url: url.clone(), source })?;
    match auth {
        Auth::None | Auth::Token(_) => Err(NoAuthorizer::NotConfigured(name.clone())),
        Auth::Login => {
            Ok(Authorizer::new(name, address, Client::default(), Grant::Person, store(name)))
        }
        Auth::Client(client) => {
            let token_url = client.token_url.as_deref().map(Url::parse).transpose();
            let secret = |text: &str| SecretString::from(text);
            let client = Client {
                id: Some(client.client_id.clone()),
                proof: Some(match &client.credential {
                    Credential::Secret(text) => Proof::Secret(secret(&text.0)),
                    Credential::PrivateKey(pem) => Proof::Key(secret(&pem.0)),
                }),
                scopes: client.scopes.clone(),
                token_url: token_url
                    .map_err(|source| NoAuthorizer::TokenUrl { server: name.clone(), source })?,
                metadata_url: None,
            };
            Ok(Authorizer::new(name, address, client, Grant::Program, CredentialStore::in_memory()))
        }
    }
}
