//! Keys that mark their values as secret.
//!
//! Entry functions: [`is_secret`], [`is_session`].

/// Words of keys whose values are secret.
const WORDS: [&str; 19] = [
    "auth",
    "authorization",
    "bearer",
    "cookie",
    "cookies",
    "cred",
    "creds",
    "jwt",
    "key",
    "otp",
    "pass",
    "passcode",
    "pin",
    "psk",
    "pwd",
    "sid",
    "signature",
    "totp",
    "token",
];
/// Parts of secret keys even inside a word, as in `authtoken`.
const PARTS: [&str; 10] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "authorization",
    "credential",
    "privatekey",
    "cookie",
];

pub fn is_secret(key: &str) -> bool {
    let plain: String =
        key.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    // "max_tokens" is a count, not a token.
    if plain.ends_with("tokens") {
        return false;
    }
    PARTS.iter().any(|part| plain.contains(part)) || words(key).any(|word| is_word(&word))
}

fn is_word(word: &str) -> bool {
    WORDS.iter().any(|it| it.eq_ignore_ascii_case(word))
}

/// True if a key may name a session id, a service's or ours.
pub fn is_session(key: &str) -> bool {
    let words: Vec<String> = words(key).map(|word| word.to_ascii_lowercase()).collect();
    match words.as_slice() {
        [.., session, id] if id == "id" => session == "session",
        [.., last] => last == "session" || last.ends_with("sessid") || last.ends_with("sessionid"),
        [] => false,
    }
}

/// The words of a key: `apiKey`, `API_KEY` and `api-key` are `api` and `key`.
fn words(key: &str) -> impl Iterator<Item = String> {
    let (mut words, mut word, mut was_lower) = (Vec::new(), String::new(), false);
    for c in key.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && was_lower) {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.push(c);
        }
        was_lower = c.is_lowercase();
    }
    words.push(word);
    words.into_iter().filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_secret_by_whole_words() {
        for key in [
            "auth",
            "pwd",
            "jwt",
            "bearer",
            "key",
            "pin",
            "apiKey",
            "API_KEY",
            "x-api-key",
            "Access-Token",
            "authtoken",
            "Authorization",
            "session_cookie",
            "clientSecret",
            "pass",
        ] {
            assert!(is_secret(key), "{key}");
        }
        for key in [
            "author",
            "spin",
            "keyboard",
            "monkey",
            "pinned",
            "compass",
            "max_tokens",
            "side",
            "tokens",
            "authority_name_of_nobody",
            "",
        ] {
            assert!(!is_secret(key), "{key}");
        }
    }
}
