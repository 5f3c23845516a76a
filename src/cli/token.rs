//! `glyphoxa token`: makes, lists and revokes access tokens of programs outside.
//!
//! Entry function: [`run`]; entry type: [`TokenOptions`], options of a new token. **Never**: prints
//! the secret of a token a second time.

use std::{io::Write, sync::Arc};

use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};

use super::{DONE, Failure, block_on, complain, stdout};
use crate::{
    app,
    campaign::{Access, NewToken, date, now, schedules_of_program},
    config::Config,
    domain::{AccessRole, Owner, TOKEN_PREFIX},
    memory::KeptToken,
    web::{self, tool_named},
};

#[derive(Args)]
#[command(after_help = "examples:
  glyphoxa token create --role player
  glyphoxa token create --role dm --guild 987654321 --days 30
  glyphoxa token create --role player --tools npc.list,dice.roll
  glyphoxa token list
  glyphoxa token revoke 1a2b3c4d
A program sends it as the header 'Authorization: Bearer TOKEN'. Anyone who has the token gets in.
To make one and an entry for an MCP client at once: glyphoxa mcp entry")]
pub struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Makes a token and prints it. It is shown only once; the store has its hash.
    Create {
        /// Role of its holder.
        #[arg(long, value_name = "ROLE")]
        role: TokenRole,
        #[command(flatten)]
        options: TokenOptions,
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Lists all tokens, oldest first.
    List {
        #[command(flatten)]
        of: OwnerOption,
        /// Print one JSON object per token.
        #[arg(long)]
        json: bool,
    },
    /// Revokes a token: its holder is refused at once.
    Revoke {
        /// Its id, as list shows it.
        id: String,
    },
}

/// Roles of a token.
#[derive(Clone, Copy, ValueEnum)]
pub enum TokenRole {
    /// Everything that players may see and do.
    Player,
    /// The rights of a game master.
    Dm,
}

/// Options for the owner of tokens.
#[derive(Args)]
pub struct OwnerOption {
    /// Tokens for the tables of this Discord server.
    #[arg(long, value_name = "ID", conflicts_with = "local")]
    guild: Option<u64>,
    /// Tokens for the tables of this machine.
    #[arg(long)]
    local: bool,
}

/// Options of a new token, besides its role; its owner is this machine unless they name another.
#[derive(Args)]
pub struct TokenOptions {
    #[command(flatten)]
    of: OwnerOption,
    /// Allow only these tools of the role, separated by commas [default: all].
    #[arg(long, value_name = "TOOLS", value_delimiter = ',', value_parser = tool_name)]
    tools: Option<Vec<String>>,
    /// End the token after N days [default: when it is revoked].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=3650))]
    days: Option<u32>,
}

impl OwnerOption {
    /// `None`: neither option is given.
    fn owner(&self) -> Option<Owner> {
        self.guild.map(Owner::Guild).or(self.local.then_some(Owner::Local))
    }
}

impl TokenOptions {
    /// Fails on tools that a token of `role` cannot have.
    pub fn wanted(self, role: TokenRole) -> Result<NewToken, Failure> {
        let role = match role {
            TokenRole::Player => AccessRole::Player,
            TokenRole::Dm => AccessRole::Dm,
        };
        check_tools(self.tools.as_deref().unwrap_or_default(), role)?;
        let owner = self.of.owner().unwrap_or(Owner::Local);
        Ok(NewToken { owner, role, tools: self.tools, days: self.days })
    }
}

pub fn run(config: &Config, arguments: Arguments) -> Result<u8, Failure> {
    block_on(async {
        let store = app::open_memory(config).await?;
        let access = Access::new(Arc::clone(&store));
        match arguments.action {
            Action::Create { role, options, json } => {
                let (secret, token) = access.create(options.wanted(role)?).await?;
                created(&secret, &token, json)?;
                note_owner(config, &token);
            }
            Action::List { of, json } => list(&access.list(of.owner()).await?, json)?,
            Action::Revoke { id } => {
                revoke(&access, &id).await?;
                note_schedules(schedules_of_program(&*store, &id).await?);
            }
        }
        Ok(DONE)
    })
}

/// For people: "1a2b3c4d: player of this machine, all tools, made 2026-11-22 10:00, until revoked".
pub fn described(token: &KeptToken) -> String {
    let owner = match token.owner {
        Owner::Local => "this machine".to_owned(),
        Owner::Guild(guild) => format!("the Discord server {guild}"),
    };
    let tools = match &token.tools {
        None => "all tools".to_owned(),
        Some(tools) => format!("tools {}", tools.join(" ")),
    };
    let ends = match token.ends {
        None => "until revoked".to_owned(),
        Some(at) if at <= now() => format!("ended {}", date(at)),
        Some(at) => format!("until {}", date(at)),
    };
    let KeptToken { id, role, made, .. } = token;
    format!("{id}: {} of {owner}, {tools}, made {}, {ends}", role.word(), date(*made))
}

/// Says that a token of this machine does not reach the tables of a configured bot.
pub fn note_owner(config: &Config, token: &KeptToken) {
    let discord = &config.discord;
    if token.owner != Owner::Local || discord.token.0.is_empty() {
        return;
    }
    let id = discord.guild.map_or_else(|| "ID".to_owned(), |guild| guild.to_string());
    let how = "Developer Mode, right-click the server, Copy Server ID";
    complain(&format!(
        "note: this token doesn't reach tables on Discord (for these: --guild {id}; ids: {how})"
    ));
}

/// Stdout gets the secret alone, so that a script can take it.
fn created(secret: &str, token: &KeptToken, json: bool) -> anyhow::Result<()> {
    let mut out = stdout();
    if json {
        let mut object = object(token);
        object["token"] = Value::from(secret);
        writeln!(out, "{object}")?;
        return Ok(());
    }
    writeln!(out, "{secret}")?;
    complain(&format!("note: {} (store it now, it is not shown again)", described(token)));
    Ok(())
}

fn list(tokens: &[KeptToken], json: bool) -> anyhow::Result<()> {
    let mut out = stdout();
    if tokens.is_empty() && !json {
        writeln!(out, "no tokens (use glyphoxa token create)")?;
    }
    for token in tokens {
        match json {
            true => writeln!(out, "{}", object(token))?,
            false => writeln!(out, "{}", described(token))?,
        }
    }
    Ok(())
}

async fn revoke(access: &Access, id: &str) -> Result<(), Failure> {
    let way_out = "glyphoxa token list shows all";
    if id.starts_with(TOKEN_PREFIX) {
        // Not repeated: a terminal's contents may be seen or stored.
        let text = format!("this is a token itself (give its id: {way_out})");
        return Err(Failure::Usage(text));
    }
    if !access.revoke(id).await? {
        return Err(Failure::Usage(format!("unknown token '{id}' ({way_out})")));
    }
    writeln!(stdout(), "token {id} is revoked")?;
    Ok(())
}

/// Says how many schedules of a revoked token go on.
fn note_schedules(made: usize) {
    if made > 0 {
        complain(&format!(
            "note: schedules that it made stay: {made} (glyphoxa schedule list shows all, and \
             schedule cancel ends one)"
        ));
    }
}

fn object(token: &KeptToken) -> Value {
    let KeptToken { id, owner, role, tools, made, ends, .. } = token;
    json!({
        "id": id, "role": role, "owner": owner.word(), "tools": tools, "made": made, "ends": ends,
    })
}

/// Fails on a tool that is not for `role`; a token with it alone could do nothing.
fn check_tools(tools: &[String], role: AccessRole) -> Result<(), Failure> {
    let known = web::tools_of(role);
    let Some(other) = tools.iter().find(|tool| !known.contains(&tool.as_str())) else {
        return Ok(());
    };
    let (role, known) = (role.word(), known.join(", "));
    let text = format!("a token with the role {role} can't have the tool '{other}' (use: {known})");
    Err(Failure::Usage(text))
}

fn tool_name(text: &str) -> Result<String, String> {
    tool_named(text).map(str::to_owned)
}
