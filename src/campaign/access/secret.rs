//! Secrets that programs outside hold. Entry functions: [`fresh`], [`has_form`], [`random`],
//! [`hash`].
//!
//! Secrets are too random to be guessed from a plain hash.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest as _, Sha256};

use crate::domain::{TOKEN_PREFIX, hex};

/// 256 bits in base64url.
const DIGITS: usize = 43;

/// Secret of an access token.
pub fn fresh() -> String {
    format!("{TOKEN_PREFIX}{}", random())
}

/// 43 digits of base64url.
pub fn random() -> String {
    URL_SAFE_NO_PAD.encode(rand::random::<[u8; 32]>())
}

/// True if `text` could be the secret of an access token.
pub fn has_form(text: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    text.strip_prefix(TOKEN_PREFIX)
        .is_some_and(|digits| digits.len() == DIGITS && digits.bytes().all(is_digit))
}

/// SHA-256, in lower-case hexadecimal digits.
pub fn hash(secret: &str) -> String {
    hex(&Sha256::digest(secret))
}
