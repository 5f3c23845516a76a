//! Stored state of a login: token, registration, scopes; in memory, and in a file readable by its
//! owner only. **Never**: leaves a half-written file, uses a login stored for another server.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};

use super::OauthError;
use crate::{domain::fnv1a, files};

/// A token is renewed this long before it expires.
const MARGIN: Duration = Duration::from_secs(30);
/// A token shorter-lived than four margins is renewed in its last quarter.
const QUARTERS: u32 = 4;

#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct Login {
    pub server: String,
    /// Issuer of the tokens, or the token endpoint if the issuer is unknown.
    pub authority: String,
    pub client: Registered,
    pub asked: Vec<String>,
    /// `None`: it was refused; the rest is still useful.
    pub token: Option<Token>,
}

#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct Registered {
    /// Client id.
    pub id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    pub redirect_uri: String,
}

#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct Token {
    pub access: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh: Option<String>,
    /// In Unix seconds; `None`: renew once refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renew_at: Option<u64>,
}

impl Token {
    /// A token that expires `life` after `now`.
    pub fn new(
        access: String,
        refresh: Option<String>,
        life: Option<Duration>,
        now: SystemTime,
    ) -> Self {
        let renew_at = life.map(|life| {
            let usable = life.saturating_sub(MARGIN.min(life / QUARTERS));
            seconds(now).saturating_add(usable.as_secs())
        });
        Self { access, refresh, renew_at }
    }

    pub fn is_fresh(&self, now: SystemTime) -> bool {
        self.renew_at.is_none_or(|at| seconds(now) < at)
    }
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// File of the login to the server `name` under `data_dir`; distinct for each name.
pub fn login_path(data_dir: &Path, name: &str) -> PathBuf {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let file = if !name.is_empty() && name.chars().all(is_plain) {
        format!("{name}.json")
    } else {
        let plain: String = name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
        format!("{plain}.{:016x}.json", fnv1a(name.bytes()))
    };
    data_dir.join("logins").join(file)
}

pub struct CredentialStore {
    /// `None`: memory only.
    path: Option<PathBuf>,
    login: Mutex<Option<Arc<Login>>>,
}

impl CredentialStore {
    pub fn in_memory() -> Self {
        Self { path: None, login: Mutex::default() }
    }

    /// The file at `path` need not exist.
    pub fn at(path: PathBuf) -> Self {
        Self { path: Some(path), login: Mutex::default() }
    }

    /// The login as last read or stored.
    pub fn get(&self) -> Option<Arc<Login>> {
        self.login.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Rereads the file, which another process may have written. A missing or broken file, or one
    /// for another address, counts as no login; without a file, memory stays.
    pub fn reload(&self, address: &str) -> Option<Arc<Login>> {
        let Some(path) = &self.path else { return self.get() };
        let login = fs::read_to_string(path)
            .ok()
            .and_then(|text| serde_json::from_str::<Login>(&text).ok())
            .filter(|login| login.server == address)
            .map(Arc::new);
        self.login.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&login);
        login
    }

    /// Replaces the login, on disk first. If writing fails, memory has it all the same.
    pub fn put(&self, server: &Arc<str>, login: Option<Login>) -> Result<(), OauthError> {
        let login = login.map(Arc::new);
        let kept = self.path.as_deref().map_or(Ok(()), |path| write(path, login.as_deref()));
        *self.login.lock().unwrap_or_else(PoisonError::into_inner) = login;
        kept.map_err(|error| OauthError::Kept {
            server: server.clone(),
            path: self.path.as_deref().unwrap_or(Path::new("")).display().to_string(),
            reason: error.to_string(),
        })
    }
}

/// Writes atomically, readable by the owner only; `None` removes the file.
fn write(path: &Path, login: Option<&Login>) -> io::Result<()> {
    let Some(login) = login else {
        return match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        };
    };
    files::replace_private(path, &serde_json::to_vec_pretty(login)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn login(access: &str) -> Login {
        let client = Registered { id: "us".into(), secret: None, redirect_uri: "http://l/".into() };
        Login {
            server: "http://h/mcp".into(),
            authority: "http://a".into(),
            client,
            asked: vec!["play".into()],
            token: Some(Token { access: access.into(), refresh: None, renew_at: Some(7) }),
        }
    }

    #[test]
    fn login_file_survives_restart_and_is_private() {
        let folder = tempfile::tempdir().unwrap();
        let path = login_path(folder.path(), "vtt");
        let server: Arc<str> = "vtt".into();
        let store = CredentialStore::at(path.clone());
        assert!(store.reload("http://h/mcp").is_none());
        store.put(&server, Some(login("one"))).unwrap();
        store.put(&server, Some(login("two"))).unwrap();
        let again = CredentialStore::at(path.clone());
        assert!(again.reload("http://h/mcp").is_some_and(|kept| *kept == login("two")));
        assert!(again.reload("http://elsewhere/mcp").is_none(), "a token for another address");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode(&path), 0o600);
            assert_eq!(mode(path.parent().unwrap()), 0o700);
        }
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "nothing beside it");
        store.put(&server, None).unwrap();
        store.put(&server, None).unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn names_have_files_of_their_own() {
        let at = |name| login_path(Path::new("d"), name);
        assert_eq!(at("home-lab"), Path::new("d/logins/home-lab.json"));
        assert_ne!(at("a/b"), at("a_b"));
        assert_eq!(at("../x").parent(), Some(Path::new("d/logins")));
        assert_ne!(at(""), at("_"));
    }

    #[test]
    fn token_is_renewed_before_it_expires() {
        let now = UNIX_EPOCH + Duration::from_secs(1_000);
        let token = |life| Token::new("a".into(), None, life, now).renew_at;
        assert_eq!(token(Some(Duration::from_secs(3_600))), Some(4_570));
        assert_eq!(token(Some(Duration::from_secs(20))), Some(1_015));
        assert_eq!(token(None), None);
        let short = Token::new("a".into(), None, Some(Duration::from_secs(20)), now);
        assert!(short.is_fresh(now) && !short.is_fresh(now + Duration::from_secs(15)));
    }
}
