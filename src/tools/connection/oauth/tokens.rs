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

use super::{Authorizer, Client, CredentialStore, Grant, Proof, login_path};
use crate::tools::connection::options::{Auth, Credential, Reach, ServerOptions};

/// Where tokens come from that are not simply configured.
pub struct Tokens {
    /// Folder of logins.
    data_dir: PathBuf,
    /// By name of the server, with the way to it that each is for.
    known: Mutex<BTreeMap<String, (Reach, Arc<Authorizer>)>>,
}

impl Tokens {
    /// Logins lie under `data_dir`.
    pub fn new(data_dir: PathBuf) -> Self {
        Self { data_dir, known: Mutex::default() }
    }

    /// The tokens for one server, the same ones for each of its connections.
    ///
    /// # Errors
    /// Why there are none, and the way out.
    pub fn source(&self, options: &ServerOptions) -> Result<Arc<Authorizer>, String> {
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
) -> Result<Authorizer, String> {
    let name = &options.name;
    let Reach::Http { url, auth, .. } = &options.reach else {
        return Err(format!("'{name}' is a process, which needs no login"));
    };
    let address = Url::parse(url).map_err(|error| format!("'{url}': {error}"))?;
    match auth {
        Auth::None | Auth::Token(_) => {
            Err(format!("'{name}' is configured without a login (give it auth: login)"))
        }
        Auth::Login => {
            Ok(Authorizer::new(name, address, (Client::default(), Grant::Person), store(name)))
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
                token_url: token_url.map_err(|error| format!("token_url of '{name}': {error}"))?,
                metadata_url: None,
            };
            Ok(Authorizer::new(
                name,
                address,
                (client, Grant::Program),
                CredentialStore::in_memory(),
            ))
        }
    }
}
