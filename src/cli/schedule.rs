//! `glyphoxa schedule`: lists, makes and cancels schedules. Entry function: [`run`].

use std::io::Write;

use clap::{Args, Subcommand};
use serde_json::json;

use super::{DONE, Failure, block_on, stdout, whose::Whose};
use crate::{
    app::{self, LiveConfig},
    campaign::{
        Evenings, NewSchedule, Planner, ScheduleEntry, ScheduleError, Schedules, SchedulesParts,
        read_inputs,
    },
    config::Config,
    logic::schedule::Planned,
    provider::Registry,
};

#[derive(Args)]
#[command(after_help = "examples:
  glyphoxa schedule list
  glyphoxa schedule create 'at 21:30' --npc 'Captain Hale' --text 'Close the gates!'
  glyphoxa schedule create 'every 15m' --workflow bells --inputs 'times=3'
  glyphoxa schedule create 'every friday 19:30' --workflow the-evening-begins
  glyphoxa schedule create 'session +20m' --workflow the-evening-begins --guild 987654321
  glyphoxa schedule cancel a1b2c3
A schedule fires while the bot runs, or a session of glyphoxa ask that is saved.")]
pub struct Arguments {
    #[command(flatten)]
    whose: Whose,
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Lists all schedules, by their next time.
    List {
        /// Print one JSON object per schedule.
        #[arg(long)]
        json: bool,
    },
    /// Starts a workflow, or has an NPC say a line, at a time.
    Create {
        /// The time: 'at 21:30', 'in 90m', 'every 15m', 'every friday 19:30' or 'session +20m'.
        when: String,
        /// Workflow to start.
        #[arg(long, value_name = "NAME", conflicts_with_all = ["npc", "text"])]
        workflow: Option<String>,
        /// Its inputs: NAME=VALUE, NAME=VALUE; or a JSON object.
        #[arg(long, value_name = "INPUTS", requires = "workflow")]
        inputs: Option<String>,
        /// NPC that says the text.
        #[arg(long, value_name = "NAME", requires = "text", required_unless_present = "workflow")]
        npc: Option<String>,
        /// The line of the NPC.
        #[arg(long, value_name = "TEXT", requires = "npc")]
        text: Option<String>,
    },
    /// Cancels a schedule.
    Cancel {
        /// Its id, as list shows it.
        id: String,
    },
}

pub fn run(config: &Config, Arguments { whose, action }: Arguments) -> Result<u8, Failure> {
    block_on(async {
        let store = app::open_memory(config).await?;
        let live = LiveConfig::new(config.clone(), Registry::default());
        let schedules = Schedules::new(SchedulesParts {
            settings: live.settings(),
            store,
            evenings: Evenings::default(),
        });
        let planner = schedules.within(whose.scope(config));
        let mut out = stdout();
        match action {
            Action::List { json } => list(&planner, json, &mut out).await?,
            Action::Create { when, workflow, inputs, npc, text } => {
                let action = match (workflow, npc, text) {
                    (Some(name), ..) => {
                        let inputs =
                            read_inputs(&inputs.unwrap_or_default()).map_err(Failure::usage)?;
                        Planned::Workflow { name, inputs }
                    }
                    (None, npc, text) => Planned::Line {
                        npc: npc.unwrap_or_default(),
                        text: text.unwrap_or_default(),
                    },
                };
                let made = planner.create(NewSchedule { when, action, by: None }).await;
                let made = made.map_err(failure)?;
                writeln!(out, "scheduled: {}", planner.line(&made))?;
            }
            Action::Cancel { id } => {
                writeln!(
                    out,
                    "schedule {} is cancelled",
                    planner.cancel(&id).await.map_err(failure)?
                )?;
            }
        }
        Ok(DONE)
    })
}

/// Any error but one of the store is wrong usage.
fn failure(error: ScheduleError) -> Failure {
    match error {
        ScheduleError::Store(error) => error.into(),
        wrong => Failure::usage(wrong),
    }
}

async fn list(planner: &Planner, json: bool, out: &mut dyn Write) -> anyhow::Result<()> {
    let entries = planner.list().await?;
    if entries.is_empty() && !json {
        writeln!(out, "nothing is scheduled (use glyphoxa schedule create)")?;
    }
    for entry in &entries {
        match json {
            true => writeln!(out, "{}", object(entry))?,
            false => writeln!(out, "{}", planner.line(entry))?,
        }
    }
    Ok(())
}

fn object(entry: &ScheduleEntry) -> serde_json::Value {
    let ScheduleEntry { id, when, action, made, next, last, .. } = entry;
    json!({
        "id": id, "when": when, "action": action, "made": made, "next": next, "last": last,
    })
}
