//! Discord's REST: the client, the bot's identity, and the meaning of errors.
//!
//! Entry functions: [`http()`], [`introduce`]. **Never**: opens the gateway.

use std::time::Duration;

use serenity::{
    all::{CreateAllowedMentions, CurrentApplicationInfo, CurrentUser},
    http::{Http, HttpError},
};

use super::options::Options;

/// Longest wait for an answer that a person waits for.
const PATIENCE: Duration = Duration::from_secs(20);
/// Wait before Discord is tried again, at first and at most.
pub const RETRY: Duration = Duration::from_secs(2);
const RETRY_MAX: Duration = Duration::from_secs(60);

/// Reason the bot cannot work, with the fix.
#[derive(Debug, thiserror::Error)]
pub enum Fatal {
    #[error(
        "discord does not accept the token (make a new one at https://discord.com/developers/applications, under Bot, and put it into DISCORD_TOKEN or discord.token)"
    )]
    Token,
    #[error("discord's gateway refuses this bot: {0}")]
    Refused(String),
    /// Shards, and how many Discord recommends.
    #[error(
        "discord's gateway refuses this bot: it is on too many servers for {shards} shards (set cluster.shards to {wanted} in glyphoxa.yaml)"
    )]
    TooFewShards { shards: u32, wanted: u32 },
    #[error("cannot serve beside other processes: {0}")]
    Leases(String),
    #[error(
        "discord cannot be reached as configured: {0} (see discord.api_base and SSL_CERT_FILE)"
    )]
    SetUp(String),
    #[error(
        "discord does not answer: {0} (is this machine online? https://discordstatus.com says how discord is)"
    )]
    Unreachable(String),
}

/// Discord's REST, at its own address or at that in the options.
pub fn http(options: &Options) -> Result<Http, Fatal> {
    Ok(http_over(client(options)?, options))
}

/// Like [`http()`], with the connections of `client`.
pub fn http_over(client: discord_http::Client, options: &Options) -> Http {
    // Messages ping only the people they name explicitly.
    serenity::all::HttpBuilder::new(&options.token.0)
        .default_allowed_mentions(CreateAllowedMentions::new())
        .client(client)
        .build()
}

/// A client that finds `discord.com` at its own address or at that in the options.
pub fn client(options: &Options) -> Result<discord_http::Client, Fatal> {
    let mut builder = discord_http::Client::builder();
    if let Some(address) = options.api {
        builder = builder.resolve("discord.com", address);
    }
    builder.build().map_err(|error| Fatal::SetUp(error.to_string()))
}

/// Fetches the token's application and user. Cancel safe.
pub async fn introduce(http: &Http) -> serenity::Result<(CurrentApplicationInfo, CurrentUser)> {
    let application = http.get_current_application_info().await?;
    http.set_application_id(application.id);
    Ok((application, http.get_current_user().await?))
}

/// Awaits `asked` for up to [`PATIENCE`]; describes refusals and silence. Cancel safe.
pub async fn patiently<T>(asked: impl Future<Output = serenity::Result<T>>) -> Result<T, Fatal> {
    match tokio::time::timeout(PATIENCE, asked).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) if is_bad_token(&error) => Err(Fatal::Token),
        Ok(Err(error)) => Err(Fatal::Unreachable(reason(&error))),
        Err(_) => Err(Fatal::Unreachable(format!("no answer for {} s", PATIENCE.as_secs()))),
    }
}

/// Logs that Discord does not answer and waits; returns the next wait.
pub async fn pause(error: &serenity::Error, wait: Duration) -> Duration {
    let reason = reason(error);
    tracing::warn!(reason, "discord does not answer; trying again in {} s", wait.as_secs());
    tokio::time::sleep(wait).await;
    (wait * 2).min(RETRY_MAX)
}

/// HTTP status of a refusal; `None`: another error.
pub fn status(error: &serenity::Error) -> Option<u16> {
    let serenity::Error::Http(error) = error else { return None };
    error.status_code().map(|status| status.as_u16())
}

/// True if the token is at fault: unknown to Discord, or not valid in a header.
pub fn is_bad_token(error: &serenity::Error) -> bool {
    status(error) == Some(401)
        || matches!(error, serenity::Error::Http(HttpError::InvalidHeader(_)))
}

/// The error with its causes, in one line.
pub fn reason(error: &serenity::Error) -> String {
    if let Some(status) = status(error) {
        return format!("status {status}, {error}");
    }
    let mut cause: &dyn std::error::Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string().replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Secret;

    #[test]
    fn messages_ping_nobody_by_default() {
        let options = Options { token: Secret("MTIz.a.b".to_owned()), ..Options::plain() };
        let http = http(&options).unwrap();
        let mentions = serde_json::to_value(http.default_allowed_mentions.unwrap()).unwrap();
        assert_eq!(mentions["parse"], serde_json::json!([]));
        assert!(mentions.get("users").is_none_or(|it| *it == serde_json::json!([])));
    }
}
