//! `/tools permits|revoke`: tools that are no longer asked about. A face with more to manage adds
//! subcommands of its own.
//!
//! Entry item: [`COMMAND`]. **Never**: allows a tool.

use super::{
    answer::Reply,
    declared::{Command, Kind, Parameter, Subcommand, Suggested},
    face::Lasting,
    text::Text,
};

/// Longest identity of a tool, in characters.
const TOOL_MAX: u16 = 200;

/// `/tools`.
pub static COMMAND: Command = Command {
    name: "tools",
    description: "Manage the tools of NPCs: permissions, speed and servers",
    subs: &[
        Subcommand {
            command: "tools",
            name: "permits",
            description: "List the tools that may run without asking you",
            for_all: false,
            parameters: &[],
            run: |face, _| {
                let lines = face.permits()?;
                let text = match lines.as_slice() {
                    [] => "No tool has a permanent permission.".into(),
                    _ => {
                        let lines = lines.into_iter().map(|line| Text::default().others(line));
                        let way_out = "/tools revoke makes one ask again.".into();
                        Text::lines(lines.chain([way_out]))
                    }
                };
                Ok(Reply::private(text).titled("Allowed for good").into())
            },
        },
        Subcommand {
            command: "tools",
            name: "revoke",
            description: "Make a tool that was allowed for good ask again",
            for_all: false,
            parameters: &[Parameter::required(
                "tool",
                "Tool to revoke",
                Kind::Suggested(Suggested::Tools, TOOL_MAX),
            )],
            run: |face, call| {
                let tool = call.words("tool")?;
                face.keep(Lasting::Revoke(tool.to_owned()))?;
                Ok(Reply::private(Text::default().others(tool).plain(" asks again.")).into())
            },
        },
    ],
};

/// Refuses to revoke what was never allowed.
pub fn not_allowed(tool: &str) -> String {
    format!("'{tool}' was not allowed for good (/tools permits lists those that were)")
}
