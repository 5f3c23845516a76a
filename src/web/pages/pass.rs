//! A browser's pass: a signed cookie that outlives a restart of the program.
//!
//! Entry types: [`Pass`], [`Seal`]. The key of the signature is random and stored for the owner
//! alone; deleting its file ends all passes. **Never**: logs a cookie or the key.

use std::{
    fmt,
    io::{self, ErrorKind},
    path::Path,
    sync::Arc,
};

use axum::http::{HeaderMap, header::COOKIE};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::{domain::hex, files};

/// File of the key, in `data_dir`.
const KEY_FILE: &str = "web.key";
/// Bytes of the key.
const KEY: usize = 32;
/// Bytes of a cookie above which it is none of ours.
const COOKIE_MAX: usize = 200;
/// Text whose MAC names a cookie.
const NAMING: &str = "glyphoxa cookie";
/// Prefix of the signed text, so that a signature is valid for nothing else.
const PURPOSE: &str = "glyphoxa pass 1";
/// Life of a pass, in s.
const LIFE: i64 = 30 * 24 * 60 * 60;

/// Identity of a browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pass {
    /// Random, one for each browser.
    pub session: String,
    /// Number of its player, from 1.
    pub player: u32,
    /// Unix time in ms.
    pub issued: i64,
}

/// Signs passes. Cloning shares the key.
#[derive(Clone)]
pub struct Seal(Arc<[u8; KEY]>);

impl fmt::Debug for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<secret>")
    }
}

impl Pass {
    /// A new browser's pass; `now`: Unix time in ms.
    pub fn new(player: u32, now: i64) -> Self {
        Self { session: hex(&rand::random::<[u8; 16]>()), player, issued: now }
    }
}

impl Seal {
    /// With the key stored in `data_dir`; a missing or broken one is made.
    pub fn open(data_dir: &Path) -> io::Result<Self> {
        let path = data_dir.join(KEY_FILE);
        match files::read(&path, 1024) {
            Ok(bytes) => match <[u8; KEY]>::try_from(bytes.as_slice()) {
                Ok(key) => return Ok(Self(Arc::new(key))),
                Err(_) => tracing::warn!("{KEY_FILE} is broken and made again"),
            },
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        let key = rand::random::<[u8; KEY]>();
        files::replace_private(&path, &key)?;
        Ok(Self(Arc::new(key)))
    }

    /// The value of `Set-Cookie` for `pass`; `secure`: sent over TLS only.
    pub fn cookie(&self, pass: &Pass, secure: bool) -> String {
        let body = format!("{}.{}.{}", pass.session, pass.player, pass.issued);
        let signature = self.mac(PURPOSE, &body).map(|it| it.finalize().into_bytes());
        let signature = signature.map(|it| URL_SAFE_NO_PAD.encode(it)).unwrap_or_default();
        let (name, secure) = (self.name(), if secure { "; Secure" } else { "" });
        format!(
            "{name}={body}.{signature}; Path=/; HttpOnly; SameSite=Strict; Max-Age={LIFE}{secure}"
        )
    }

    /// The valid pass among the cookies of a request; `now`: Unix time in ms.
    pub fn pass(&self, headers: &HeaderMap, now: i64) -> Option<Pass> {
        let texts = headers.get_all(COOKIE).iter().filter_map(|it| it.to_str().ok());
        let cookies = texts.flat_map(|it| it.split(';')).filter_map(|it| it.trim().split_once('='));
        // Another program of this machine may have set one of the same name.
        let ours = self.name();
        cookies.filter(|(name, _)| *name == ours).find_map(|(_, value)| self.read(value, now))
    }

    /// Name of the cookie, which depends on the key: browsers send cookies to every port of a
    /// machine, and a program with another `data_dir` must not replace this one's.
    fn name(&self) -> String {
        let mark = self.mac(NAMING, "").map(|it| it.finalize().into_bytes());
        format!("glx-{}", mark.map(|it| hex(&it[..4])).unwrap_or_default())
    }

    fn read(&self, value: &str, now: i64) -> Option<Pass> {
        let (body, signature) = value.rsplit_once('.').filter(|_| value.len() <= COOKIE_MAX)?;
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        self.mac(PURPOSE, body)?.verify_slice(&signature).ok()?;
        let mut parts = body.split('.');
        let (session, player, issued, None) =
            (parts.next()?, parts.next()?, parts.next()?, parts.next())
        else {
            return None;
        };
        let (player, issued) = (player.parse().ok()?, issued.parse().ok()?);
        let is_valid = now.saturating_sub(issued) < LIFE * 1_000;
        is_valid.then(|| Pass { session: session.to_owned(), player, issued })
    }

    /// The signature of `body` for `purpose`; HMAC takes keys of every length.
    fn mac(&self, purpose: &str, body: &str) -> Option<Hmac<Sha256>> {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.0.as_slice()).ok()?;
        mac.update(format!("{purpose}\n{body}").as_bytes());
        Some(mac)
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt};

    use super::*;

    const NOW: i64 = 1_800_000_000_000;

    fn seal() -> (Seal, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        (Seal::open(&folder.path().join("data")).unwrap(), folder)
    }

    fn value(seal: &Seal, pass: &Pass) -> String {
        seal.cookie(pass, false).split(';').next().unwrap().to_owned()
    }

    fn read(seal: &Seal, cookies: &str, now: i64) -> Option<Pass> {
        seal.pass(&HeaderMap::from_iter([(COOKIE, cookies.parse().unwrap())]), now)
    }

    #[test]
    fn pass_outlives_a_restart_for_30_days() {
        let (seal, folder) = seal();
        let pass = Pass::new(2, NOW);
        let cookie = value(&seal, &pass);
        let again = Seal::open(&folder.path().join("data")).unwrap();
        let days = |days: i64| NOW + days * 24 * 60 * 60 * 1_000;
        assert_eq!(read(&again, &cookie, days(29)), Some(pass.clone()));
        let beside = format!("a=b; {}=x.1.2.3; {cookie}; c", seal.name());
        assert_eq!(read(&again, &beside, NOW), Some(pass));
        assert_eq!(read(&again, &cookie, days(30)), None);
        let path = folder.path().join("data").join(KEY_FILE);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        fs::write(&path, "short").unwrap();
        let other = Seal::open(&folder.path().join("data")).unwrap();
        assert_eq!(read(&other, &cookie, NOW), None);
        assert_eq!(fs::read(&path).unwrap().len(), KEY);
    }

    #[test]
    fn cookie_is_for_this_server_alone() {
        let (seal, _folder) = seal();
        let cookie = seal.cookie(&Pass::new(1, NOW), true);
        for attribute in ["HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=2592000", "Secure"] {
            assert!(cookie.split("; ").any(|it| it == attribute), "{attribute}: {cookie}");
        }
        assert!(!cookie.contains("Domain"));
        assert!(!seal.cookie(&Pass::new(1, NOW), false).contains("Secure"));
    }

    #[test]
    fn forged_cookies_are_worth_nothing() {
        let (seal, _folder) = seal();
        let cookie = value(&seal, &Pass::new(1, NOW));
        let (body, signature) = cookie.rsplit_once('.').unwrap();
        let other = Seal(Arc::new([0; KEY]));
        assert_ne!(other.name(), seal.name(), "neither replaces the other's cookie");
        let mut forged = vec![
            format!("{}=", seal.name()),
            format!("{}=...", seal.name()),
            body.to_owned(),
            format!("{body}."),
            format!("{body}1.{signature}"),
            format!("{body}.{signature}A"),
            format!("{body}.{}.{signature}", "x".repeat(5_000)),
            cookie.replacen("glx", "glX", 1),
            cookie.replacen(".1.", ".2.", 1),
            value(&other, &Pass::new(1, NOW)),
            value(&other, &Pass::new(1, NOW)).replacen(&other.name(), &seal.name(), 1),
        ];
        forged.extend((1..signature.len()).map(|it| format!("{body}.{}", &signature[..it])));
        for cookies in forged {
            assert_eq!(read(&seal, &cookies, NOW), None, "{cookies}");
        }
        assert!(read(&seal, &cookie, NOW).is_some());
    }
}
