//! `/tools permits|revoke`: permanently allowed tools. A face with more to manage adds subcommands.

use super::{
    answer::{Answer, Reply},
    call::Call,
    declared::{Command, Kind, Parameter, Subcommand, Suggested},
    face::{Face, Lasting},
    text::{Refusal, Text},
};

/// Longest identity of a tool, in characters.
const TOOL_MAX: u16 = 200;

pub static COMMAND: Command = Command {
    name: "tools",
    description: "Manage the tools of NPCs: permissions, speed and servers",
    subs: &[
        Subcommand::new(
            "tools permits",
            "List the tools that may run without asking you",
            &[],
            |face, _| permits(face),
        ),
        Subcommand::new(
            "tools revoke",
            "Make a tool that was allowed for good ask again",
            &[Parameter::required(
                "tool",
                "Tool to revoke",
                Kind::Suggested(Suggested::Tools, TOOL_MAX),
            )],
            revoke,
        ),
    ],
};

fn permits(face: &dyn Face) -> Result<Answer, Refusal> {
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
}

fn revoke(face: &mut dyn Face, call: &Call) -> Result<Answer, Refusal> {
    let tool = call.words("tool")?;
    face.keep(Lasting::Revoke(tool.to_owned()))?;
    Ok(Reply::private(Text::default().others(tool).plain(" asks again.")).into())
}

/// Refusal for a tool that was not allowed.
pub fn not_allowed(tool: &str) -> String {
    format!("'{tool}' was not allowed for good (/tools permits lists those that were)")
}
