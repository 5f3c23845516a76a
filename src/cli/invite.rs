//! `glyphoxa invite`: the link that adds the bot to a server. Entry function: [`run`].

use std::io::Write;

use clap::Args;
use serde_json::json;

use super::{DONE, Failure, stdout};
use crate::{
    app,
    config::Config,
    discord::{self, Invitation, Options},
};

#[derive(Args)]
#[command(after_help = "example: DISCORD_TOKEN=... glyphoxa invite")]
pub struct Arguments {
    /// Print one JSON object: bot, application, permissions, guild, link, public.
    #[arg(long)]
    json: bool,
}

/// Prints the link and its use. Fails without a token, or if Discord does not accept it or answer.
pub fn run(config: &Config, arguments: &Arguments) -> Result<u8, Failure> {
    let options = &app::bot_options(&config.discord);
    if options.token.0.is_empty() {
        return Err(Failure::Usage(NO_TOKEN.to_owned()));
    }
    super::block_on(async { print(options, &discord::invite(options).await?, arguments.json) })
}

fn print(options: &Options, invitation: &Invitation, json: bool) -> Result<u8, Failure> {
    let mut out = stdout();
    if json {
        let line = json!({
            "bot": invitation.bot,
            // As text: some JSON readers round large numbers.
            "application": invitation.application.to_string(),
            "permissions": invitation.permissions.to_string(),
            "guild": options.guild.map(|id| id.to_string()),
            "link": invitation.link,
            "public": invitation.is_public,
        });
        writeln!(out, "{line}")?;
    } else {
        writeln!(out, "{}", invitation.link)?;
        writeln!(
            out,
            "Open it in a browser, choose your server and let '{}' in; then start it with \
             'glyphoxa run' and type /session start in Discord.",
            invitation.bot
        )?;
        if invitation.is_public {
            writeln!(
                out,
                "Anyone can invite it, but it answers only on servers you approve. To make it private: {}.",
                discord::MAKE_PRIVATE
            )?;
        }
    }
    Ok(DONE)
}

/// Error without a token.
const NO_TOKEN: &str = "no bot token (create one at https://discord.com/developers/applications, \
                        under Bot, and put it into DISCORD_TOKEN or discord.token)";
