//! What the configuration holds as secret, told to the filter of everything that is shown.
//!
//! Entry functions: [`watched`], [`keep`]. **Never**: keeps a value itself.

use super::Config;
use crate::{
    domain::redact,
    tools::connection::{Auth, Credential, Reach},
};

/// Looks up variables; the values of those with secret names are shown nowhere from then on.
pub fn watched(environment: &dyn Fn(&str) -> Option<String>) -> impl Fn(&str) -> Option<String> {
    move |name| {
        let value = environment(name);
        if let Some(value) = value.as_deref().filter(|_| redact::is_secret(name)) {
            redact::keep_secret(value);
        }
        value
    }
}

/// Has nothing of `config` shown that proves who we are.
pub fn keep(config: &Config) {
    redact::keep_secret(&config.discord.bot.token.0);
    for server in &config.mcp.servers {
        match &server.reach {
            Reach::Stdio { env, .. } => {
                let secret = env.iter().filter(|(name, _)| redact::is_secret(name));
                secret.for_each(|(_, value)| redact::keep_secret(&value.0));
            }
            Reach::Http { headers, auth, .. } => {
                // What is filled in with each request is no secret of the configuration.
                let fixed = headers.iter().filter(|(_, value)| !value.0.contains("${"));
                fixed.for_each(|(_, value)| redact::keep_secret(&value.0));
                match auth {
                    Auth::None | Auth::Login { .. } => {}
                    Auth::Token(token) => redact::keep_secret(&token.0),
                    Auth::Client(client) => match &client.credential {
                        Credential::Secret(secret) | Credential::PrivateKey(secret) => {
                            redact::keep_secret(&secret.0);
                        }
                    },
                }
            }
        }
    }
}
