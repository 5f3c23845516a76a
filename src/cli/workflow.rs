//! `glyphoxa workflow`: lists workflows, checks them and runs one at a table of this machine.
//!
//! Entry function: [`run`]. `workflow run` is `glyphoxa ask --as-dm` with `/workflow run`.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

use clap::{Args, FromArgMatches, Subcommand};
use serde_json::{Map, Value, json};

use super::{Configured, DONE, Failure, ask, check, log_to_stderr, stderr, stdout};
use crate::{
    campaign::read_inputs,
    config::{Config, Use},
    domain::revealed,
    logic::workflow::Workflow,
    tools::builtin,
};

#[derive(Args)]
#[command(
    after_help = "example: glyphoxa workflow run the-evening-begins place='Old Mill' --out evening.wav"
)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Lists the workflows with their inputs.
    #[command(after_help = "example: glyphoxa workflow list --json")]
    List {
        /// Print one JSON object per workflow.
        #[arg(long)]
        json: bool,
    },
    /// Checks all files, those of workflows included.
    #[command(after_help = "example: glyphoxa workflow check")]
    Check {
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Runs a workflow at a table of this machine, and waits for its end.
    #[command(after_help = "example: glyphoxa workflow run the-evening-begins --out evening.wav")]
    Run(Wanted),
}

#[derive(Args)]
struct Wanted {
    /// Name of the workflow.
    name: String,
    /// Inputs; or one JSON object.
    #[arg(value_name = "NAME=VALUE")]
    inputs: Vec<String>,
    /// Continue this saved session, or start a new one; its runs are recorded.
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Save the whole session as one recording: 48 kHz mono, 16-bit PCM.
    #[arg(long, value_name = "FILE.wav")]
    out: Option<PathBuf>,
    /// Play nothing aloud [default: play it live, on a terminal].
    #[arg(long)]
    silent: bool,
    /// Decide in advance on calls that need approval [default: ask, on a terminal].
    #[arg(long, value_name = "all|none")]
    approve: Option<String>,
    /// Print one JSON object per line.
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand. Exit status 1 if a step of a run has failed.
pub fn run(configured: Configured, arguments: &Arguments) -> Result<u8, Failure> {
    match &arguments.command {
        Command::List { json } => {
            let config = configured.load_for(Use::Remember)?;
            list(&config, *json)?;
            Ok(DONE)
        }
        Command::Check { json } => {
            let outputs = check::Outputs { out: &mut stdout(), err: &mut stderr() };
            Ok(check::run(configured.path, *json, builtin::IDENTITIES, outputs)?)
        }
        Command::Run(wanted) => play(configured, wanted),
    }
}

fn list(config: &Config, as_json: bool) -> io::Result<()> {
    let mut out = stdout();
    if config.workflows.iter().next().is_none() && !as_json {
        writeln!(out, "no workflows (put files into the folder 'workflows' beside glyphoxa.yaml)")?;
    }
    for workflow in config.workflows.iter() {
        let Workflow { name, description, inputs, offer, .. } = &**workflow;
        if as_json {
            let line = json!({
                "name": name, "description": description, "inputs": inputs, "offer": offer,
            });
            writeln!(out, "{line}")?;
            continue;
        }
        let names = inputs.get("properties").and_then(Value::as_object);
        let names: Vec<&str> = names.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
        let names =
            if names.is_empty() { String::new() } else { format!(" [{}]", names.join(", ")) };
        let about = description.lines().next().unwrap_or_default();
        writeln!(out, "{}", revealed(&format!("{name}{names}: {about}")))?;
    }
    Ok(())
}

fn play(configured: Configured, wanted: &Wanted) -> Result<u8, Failure> {
    let config = configured.load()?;
    if config.workflows.get(&wanted.name).is_none() {
        let known: Vec<&str> = config.workflows.iter().map(|it| it.name.as_str()).collect();
        let (name, known) = (&wanted.name, known.join(", "));
        return Err(Failure::Usage(format!("unknown workflow '{name}' (known: {known})")));
    }
    let command = ask::Arguments::augment_args(clap::Command::new("ask"));
    let matches = command.try_get_matches_from(asked(wanted)?).map_err(Failure::usage)?;
    let ask = ask::Arguments::from_arg_matches(&matches).map_err(Failure::usage)?;
    let set_level = log_to_stderr(&config.log_level);
    let agreed = configured.agreements().with(&config);
    let path = configured.path.map(Path::to_owned);
    let files = ask::Files { path, agreed, set_level: &set_level };
    ask::run(&ask, &matches, config, files)
}

/// Arguments of `glyphoxa ask` that run the workflow.
fn asked(wanted: &Wanted) -> Result<Vec<String>, Failure> {
    let mut inputs = Map::new();
    for given in &wanted.inputs {
        if let Value::Object(given) = read_inputs(given).map_err(Failure::usage)? {
            inputs.extend(given);
        }
    }
    let line = format!("/workflow run {} inputs:{}", wanted.name, in_one_word(&inputs));
    let mut all: Vec<String> = ["ask", "--as-dm", "--text"].map(str::to_owned).into();
    all.push(line);
    let out = wanted.out.as_ref().map(|path| path.display().to_string());
    let values = [("--session", &wanted.session), ("--out", &out), ("--approve", &wanted.approve)];
    for (option, value) in values {
        all.extend(value.iter().map(|value| format!("{option}={value}")));
    }
    for (option, is_given) in [("--silent", wanted.silent), ("--json", wanted.json)] {
        all.extend(is_given.then(|| option.to_owned()));
    }
    Ok(all)
}

/// JSON without whitespace: after whitespace, a typed line may have the name of another value.
fn in_one_word(inputs: &Map<String, Value>) -> String {
    let text = Value::Object(inputs.clone()).to_string();
    let escaped = |c: char| match c.is_whitespace() {
        true => format!("\\u{:04x}", u32::from(c)),
        false => c.to_string(),
    };
    text.chars().map(escaped).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_one_word_of_a_line() {
        let inputs = json!({ "text": "Halt, name: none", "count": 3 });
        let Value::Object(inputs) = inputs else { unreachable!() };
        let word = in_one_word(&inputs);
        assert!(!word.contains(char::is_whitespace), "{word}");
        assert_eq!(read_inputs(&word), Ok(Value::Object(inputs)));
    }
}
