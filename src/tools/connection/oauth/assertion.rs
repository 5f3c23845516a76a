//! A signed client assertion (private-key JWT, RFC 7523).

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use rustls::{
    SignatureScheme,
    crypto::ring,
    pki_types::{
        PrivateKeyDer,
        pem::{self, PemObject},
    },
};
use serde_json::json;

/// Lifetime of an assertion.
const LIFE: Duration = Duration::from_secs(300);

/// JWT algorithm, signature scheme, and for elliptic curves the bytes of a coordinate.
type Kind = (&'static str, SignatureScheme, Option<usize>);

const KINDS: [Kind; 3] = [
    ("ES256", SignatureScheme::ECDSA_NISTP256_SHA256, Some(32)),
    ("ES384", SignatureScheme::ECDSA_NISTP384_SHA384, Some(48)),
    ("RS256", SignatureScheme::RSA_PKCS1_SHA256, None),
];

/// Reason a private key cannot sign. Holds no part of the key.
#[derive(Debug, thiserror::Error)]
pub enum AssertionError {
    #[error("private_key is not a private key in PEM form: {0}")]
    NotPem(pem::Error),
    #[error("private_key cannot be used: {0}")]
    Unusable(rustls::Error),
    #[error("private_key has an unsupported type (use RSA, P-256 or P-384)")]
    Kind,
    #[error("private_key: {0}")]
    Signing(rustls::Error),
    #[error("the signature has an unknown form")]
    Signature,
}

/// A JWT for `audience`, signed at `now` for the client `id` with the PEM key `pem`; `nonce` is its
/// unique id.
pub fn assertion(
    id: &str,
    audience: &str,
    pem: &str,
    now: SystemTime,
    nonce: u128,
) -> Result<String, AssertionError> {
    let key = PrivateKeyDer::from_pem_slice(pem.as_bytes()).map_err(AssertionError::NotPem)?;
    let key = ring::sign::any_supported_type(&key).map_err(AssertionError::Unusable)?;
    let (algorithm, signer, width) = KINDS
        .iter()
        .find_map(|(name, scheme, width)| Some((name, key.choose_scheme(&[*scheme])?, width)))
        .ok_or(AssertionError::Kind)?;
    let issued = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    let header = json!({ "alg": algorithm, "typ": "JWT" });
    let claims = json!({
        "iss": id,
        "sub": id,
        "aud": audience,
        "iat": issued.as_secs(),
        "exp": issued.saturating_add(LIFE).as_secs(),
        "jti": format!("{nonce:032x}"),
    });
    let part = |value: &serde_json::Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let signed = format!("{}.{}", part(&header), part(&claims));
    let signature = signer.sign(signed.as_bytes()).map_err(AssertionError::Signing)?;
    let signature = match width {
        None => signature,
        Some(width) => coordinates(&signature, *width).ok_or(AssertionError::Signature)?,
    };
    Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
}

/// The two numbers of an ECDSA signature side by side, `width` bytes each, as JWT requires; the
/// input is DER, a sequence of two integers.
fn coordinates(der: &[u8], width: usize) -> Option<Vec<u8>> {
    // Both curves' signatures are shorter than 128 bytes, so lengths are one byte.
    let (head, mut rest) = der.split_at_checked(2)?;
    if head.first() != Some(&0x30) || usize::from(*head.get(1)?) != rest.len() {
        return None;
    }
    let mut both = Vec::with_capacity(2 * width);
    for _ in 0..2 {
        let (head, behind) = rest.split_at_checked(2)?;
        let length = usize::from(*head.get(1)?);
        let (number, behind) = behind.split_at_checked(length)?;
        let zeros = number.iter().take_while(|byte| **byte == 0).count();
        let number = number.get(zeros..)?;
        if head.first() != Some(&0x02) || number.len() > width {
            return None;
        }
        both.resize(both.len() + width - number.len(), 0);
        both.extend_from_slice(number);
        rest = behind;
    }
    rest.is_empty().then_some(both)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn der_becomes_two_numbers_of_one_width() {
        let der = [0x30, 8, 2, 2, 0, 0x81, 2, 2, 0x12, 0x34];
        assert_eq!(coordinates(&der, 3), Some(vec![0, 0, 0x81, 0, 0x12, 0x34]));
        assert_eq!(coordinates(&der[..9], 3), None);
        assert_eq!(coordinates(&[0x30, 6, 2, 1, 1, 2, 1, 1, 0], 1), None, "something behind");
        assert_eq!(coordinates(&der, 1), None, "too wide");
        assert_eq!(coordinates(&[], 3), None);
    }

    #[test]
    fn bad_key_is_named() {
        let error = assertion("us", "http://a", "secret", UNIX_EPOCH, 1).unwrap_err().to_string();
        assert!(error.contains("not a private key in PEM form") && !error.contains("secret"));
    }
}
