//! `glyphoxa mcp entry`: a new token in an entry for an MCP client. Entry function: [`run`].

use std::io::Write;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::super::{
    DONE, Failure, complain, stdout,
    token::{TokenOptions, TokenRole, described, note_owner},
};
use crate::{app, campaign::Access, config::Config};

/// Name of the server in the client.
const NAME: &str = "glyphoxa";
/// Hosts that mcp-remote reaches without TLS and without being asked to.
const LOCAL: [&str; 2] = ["localhost", "127.0.0.1"];

#[derive(Args)]
#[command(after_help = "examples:
  glyphoxa mcp entry --role dm
  glyphoxa mcp entry --client cursor --role dm --guild 987654321
Each entry has a new token. glyphoxa token list shows all, glyphoxa token revoke ends one.")]
pub struct Arguments {
    /// Client that the entry is for.
    #[arg(long, value_name = "CLIENT", default_value = "claude-desktop")]
    client: Client,
    /// Role of the client.
    #[arg(long, value_name = "ROLE", default_value = "player")]
    role: TokenRole,
    #[command(flatten)]
    options: TokenOptions,
    /// Address at which the client reaches Glyphoxa [default: of web, then
    /// http://127.0.0.1:4100/mcp].
    #[arg(long, value_name = "URL", value_parser = address)]
    url: Option<String>,
}

/// Clients whose entries are known.
#[derive(Clone, Copy, ValueEnum)]
enum Client {
    /// Claude Desktop, by way of mcp-remote (needs Node.js).
    ClaudeDesktop,
    /// Visual Studio Code.
    Vscode,
    /// Cursor.
    Cursor,
}

impl Client {
    /// The file for the entry, and how to get there.
    const fn file(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => {
                "claude_desktop_config.json (in Claude Desktop: Settings, Developer, Edit Config; \
                 then restart it)"
            }
            Self::Vscode => ".vscode/mcp.json",
            Self::Cursor => "~/.cursor/mcp.json",
        }
    }

    fn entry(self, url: &str, secret: &str) -> Value {
        let bearer = format!("Bearer {secret}");
        let headers = json!({ "Authorization": bearer });
        match self {
            // The client starts only programs. The variable keeps the token out of the list of
            // processes, and blanks out of an argument, which some systems split there.
            Self::ClaudeDesktop => {
                let header = "Authorization:${GLYPHOXA_BEARER}";
                let mut arguments = vec!["-y", "mcp-remote", url, "--header", header];
                if is_plain_elsewhere(url) {
                    arguments.push("--allow-http");
                }
                json!({ "mcpServers": { NAME: {
                    "command": "npx",
                    "args": arguments,
                    "env": { "GLYPHOXA_BEARER": bearer },
                } } })
            }
            Self::Vscode => {
                json!({ "servers": { NAME: { "type": "http", "url": url, "headers": headers } } })
            }
            Self::Cursor => json!({ "mcpServers": { NAME: { "url": url, "headers": headers } } }),
        }
    }
}

/// Makes a token; stdout gets its entry alone.
pub async fn run(config: &Config, arguments: Arguments) -> Result<u8, Failure> {
    let Arguments { client, role, options, url } = arguments;
    let wanted = options.wanted(role)?;
    let is_off = url.is_none() && config.web.is_none();
    let url = url.unwrap_or_else(|| listener(config));
    let access = Access::new(app::open_memory(config).await?);
    let (secret, token) = access.create(wanted).await?;
    writeln!(stdout(), "{:#}", client.entry(&url, &secret))?;
    complain(&format!("note: {}", described(&token)));
    complain(&format!("note: put the entry into {}", client.file()));
    complain("note: if the file has other servers, add only the part \"glyphoxa\" beside them");
    if is_off {
        let way_out = "start glyphoxa serve, or set web.listen in glyphoxa.yaml for the bot";
        complain(&format!("note: no listener is configured ({way_out})"));
    }
    note_owner(config, &token);
    Ok(DONE)
}

/// True for an address without TLS that is not surely of this machine.
fn is_plain_elsewhere(url: &str) -> bool {
    url.strip_prefix("http://").is_some_and(|rest| {
        let host = rest.split(['/', ':']).next().unwrap_or_default();
        !LOCAL.contains(&host)
    })
}

/// Address of the MCP server on the configured listener, or on one with default settings.
fn listener(config: &Config) -> String {
    let options = config.web.clone().unwrap_or_default();
    format!("{}/mcp", options.url())
}

fn address(text: &str) -> Result<String, &'static str> {
    let rest = ["http://", "https://"].iter().find_map(|scheme| text.strip_prefix(*scheme));
    let is_wrong = |c: char| c.is_whitespace() || c.is_control() || c == '@';
    match rest {
        Some(rest) if !rest.is_empty() && !rest.contains(is_wrong) => Ok(text.to_owned()),
        _ => Err("invalid address (use one such as 'http://127.0.0.1:4100/mcp')"),
    }
}
