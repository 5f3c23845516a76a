//! Registers the commands with Discord, only when they have changed.
//!
//! Entry function: [`register`]. Failures are logged: outdated commands are better than no bot.

use std::{
    collections::hash_map::DefaultHasher,
    fs,
    hash::{Hash, Hasher},
    path::PathBuf,
};

use serenity::{
    all::{CreateCommand, GuildId},
    http::Http,
};

use super::{commands::ALL, options::Options};
use crate::files;

pub fn commands() -> Vec<CreateCommand> {
    ALL.iter().map(|command| command.register()).collect()
}

/// Registers every command in the configured guild, else globally, unless Discord has them.
pub async fn register(http: &Http, options: &Options) {
    let commands = commands();
    let (mark, file) = (hash(&commands), mark_file(http, options));
    // A server that removed and invited the bot again has lost its commands.
    if fs::read_to_string(&file).is_ok_and(|known| known == mark)
        && unknown(http, options).await.is_ok_and(|names| names.is_empty())
    {
        return;
    }
    let registered = match options.guild {
        Some(guild) => http.create_guild_commands(GuildId::new(guild), &commands).await.map(drop),
        None => http.create_global_commands(&commands).await.map(drop),
    };
    match registered {
        Ok(()) => {
            forget_elsewhere(http, options).await;
            let kept = files::replace_private(&file, mark.as_bytes());
            if let Err(error) = kept {
                tracing::warn!(%error, "commands will be registered again at the next start");
            }
            tracing::info!(commands = commands.len(), "commands registered");
        }
        Err(error) => tracing::error!(
            %error,
            "commands could not be registered (is the bot in discord.guild_id, invited with \
             applications.commands? see: glyphoxa invite)"
        ),
    }
}

/// Removes registrations in other places, or members would see every command twice.
async fn forget_elsewhere(http: &Http, options: &Options) {
    let here = mark_file(http, options);
    let before = mark_prefix(http);
    let Ok(files) = fs::read_dir(&options.folder) else { return };
    for path in files.flatten().map(|file| file.path()).filter(|path| *path != here) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let Some(place) = name.strip_prefix(&before) else { continue };
        let none: [CreateCommand; 0] = [];
        let taken_back = match place.parse() {
            Ok(guild) => http.create_guild_commands(GuildId::new(guild), &none).await.map(drop),
            Err(_) => http.create_global_commands(&none).await.map(drop),
        };
        match taken_back {
            // A remaining mark only repeats this.
            Ok(()) => _ = fs::remove_file(&path),
            Err(error) => {
                tracing::warn!(%error, place, "commands registered before are still there")
            }
        }
    }
}

/// Names of commands that Discord lacks in the configured guild or, without one, globally.
pub async fn unknown(http: &Http, options: &Options) -> serenity::Result<Vec<&'static str>> {
    let known = match options.guild {
        Some(guild) => http.get_guild_commands(GuildId::new(guild)).await?,
        None => http.get_global_commands().await?,
    };
    let is_known = |name: &str| known.iter().any(|it| it.name == name);
    Ok(ALL.iter().map(|it| it.name()).filter(|name| !is_known(name)).collect())
}

fn hash(commands: &[CreateCommand]) -> String {
    let mut hasher = DefaultHasher::new();
    serde_json::to_string(commands).unwrap_or_default().hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// File with the hash of the last registration.
fn mark_file(http: &Http, options: &Options) -> PathBuf {
    let place = options.guild.map_or("everywhere".to_owned(), |guild| guild.to_string());
    options.folder.join(format!("{}{place}", mark_prefix(http)))
}

fn mark_prefix(http: &Http) -> String {
    format!("commands-{}-", http.application_id().map_or(0, |id| id.get()))
}
