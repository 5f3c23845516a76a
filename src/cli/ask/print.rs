//! Prints the outcome of each utterance, for people or for programs. Entry type: [`Printer`].

use std::{
    io::{self, Write},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressStyle};
use serde_json::Value;
use tokio::time::timeout;

use super::super::{complain, stdout, within};
use crate::{
    domain::revealed_name,
    session::{Outcome, State, TableEvent, ToolLine, TurnLine},
};

/// After this time, a wait is reported.
const SLOW: Duration = Duration::from_secs(5);
/// Longest arguments of a call, in characters.
const ARGUMENTS_MAX: usize = 500;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Speakers and their words, as in a play.
    Play,
    /// Also calls, tiers and times.
    Everything,
    /// One object per turn, for programs.
    Json,
}

pub struct Printer {
    form: Form,
    /// Typists need not see their own lines again.
    at_terminal: bool,
}

impl Printer {
    pub const fn new(form: Form, at_terminal: bool) -> Self {
        Self { form, at_terminal }
    }

    /// Prints one event.
    pub fn event(&self, event: &TableEvent) -> anyhow::Result<()> {
        match event {
            TableEvent::Notice(text) | TableEvent::Private(text) => complain(text),
            TableEvent::Halted { .. } => complain(
                "stopped: everyone is muted (\"everyone continue\" or /resume unmutes them)",
            ),
            TableEvent::State(state @ State::Thinking(_)) if self.at_terminal => {
                complain(&format!("  ({state})"));
            }
            // Heard and spoken text has its own line.
            TableEvent::Said(_)
            | TableEvent::Asked(_)
            | TableEvent::Forgotten(_)
            | TableEvent::State(_)
            | TableEvent::Stands(_)
            | TableEvent::Conversed(_)
            | TableEvent::Mark(_) => {}
            TableEvent::Missed(missed) => {
                complain(&format!("{missed} events of the table were skipped"));
            }
            TableEvent::Line(line) if self.is_json() => {
                writeln!(stdout(), "{}", serde_json::to_string(line)?)?;
            }
            TableEvent::Line(line) => self.line(line)?,
        }
        Ok(())
    }

    pub const fn is_json(&self) -> bool {
        matches!(self.form, Form::Json)
    }

    /// For people only.
    pub fn told(&self, text: &str) -> anyhow::Result<()> {
        match self.is_json() {
            true => complain(text),
            false => writeln!(stdout(), "  {}", within(text))?,
        }
        Ok(())
    }

    /// Prints a call, if calls are shown.
    pub fn tool(&self, tool: &ToolLine) -> anyhow::Result<()> {
        match self.form {
            Form::Everything => Ok(writeln!(stdout(), "{}", call(tool))?),
            Form::Play | Form::Json => Ok(()),
        }
    }

    /// Prints words of a speaker who is not at the table.
    pub fn line_of(&self, who: &str, text: &str) -> anyhow::Result<()> {
        Ok(writeln!(stdout(), "{}: {}", revealed_name(who), within(text))?)
    }

    /// For programs only: an object that is no turn.
    pub fn object(&self, object: &Value) -> anyhow::Result<()> {
        Ok(writeln!(stdout(), "{object}")?)
    }

    /// Explains typing.
    pub fn welcome(&self) -> io::Result<()> {
        if self.at_terminal {
            writeln!(
                io::stderr(),
                "type to the cast, a name first; /help lists commands; quit leaves"
            )?;
        }
        Ok(())
    }

    /// Prompts for a line.
    pub fn prompt(&self) -> io::Result<()> {
        if self.at_terminal {
            let mut err = io::stderr().lock();
            write!(err, "> ")?;
            err.flush()?;
        }
        Ok(())
    }

    fn line(&self, line: &TurnLine) -> anyhow::Result<()> {
        let mut out = stdout();
        let everything = self.form == Form::Everything;
        let is_known = self.at_terminal && line.stt == "typed";
        // The game master's words in an NPC's mouth have no other speaker.
        let is_puppet = line.understood.is_empty() && line.npc.is_some();
        if !is_known && !is_puppet {
            let (who, text) = (revealed_name(&line.speaker), within(said(&line.understood)));
            writeln!(out, "{who}: {text}")?;
        }
        if let Some(tier) = line.tier.as_ref().filter(|_| everything) {
            let npc = revealed_name(line.npc.as_deref().unwrap_or("nobody"));
            writeln!(out, "  to {npc}, tier {} ({})", tier.effective, tier.reason)?;
        }
        for tool in line.tools.iter().filter(|_| everything) {
            writeln!(out, "{}", call(tool))?;
        }
        let npc = revealed_name(line.npc.as_deref().unwrap_or("nobody"));
        if !line.reply.is_empty() {
            writeln!(out, "{npc}: {}", within(&line.reply))?;
        }
        if let Some(words) = &line.unspoken {
            writeln!(out, "{npc} (not heard): {}", within(words))?;
        }
        if let Some(why) = ending(line) {
            writeln!(out, "  {}", within(&why))?;
        }
        if everything && line.audio_ms > 0 {
            writeln!(out, "{}", times(line))?;
        }
        Ok(())
    }
}

fn times(line: &TurnLine) -> String {
    let ms = &line.ms;
    format!(
        "  {:.1} s of speech by {}; first sound {:.0} ms after the last word: {:.0} hearing, \
         {:.0} thinking, {:.0} voice",
        Duration::from_millis(line.audio_ms).as_secs_f64(),
        line.made_by.as_ref().map_or("nobody", |it| &it.spoke),
        ms.speech_end_to_first_audio,
        ms.speech_end_to_final,
        ms.final_to_first_text,
        ms.first_text_to_first_audio,
    )
}

fn call(tool: &ToolLine) -> String {
    let ToolLine { tool, arguments, result, ms, .. } = tool;
    let arguments = shortened(&arguments.to_string());
    within(&format!("  tool {tool} {arguments} -> {result} ({ms} ms)"))
}

/// Shortens a call's arguments for display.
fn shortened(arguments: &str) -> String {
    match arguments.char_indices().nth(ARGUMENTS_MAX) {
        Some((at, _)) => format!("{}… ({} bytes)", &arguments[..at], arguments.len()),
        None => arguments.to_owned(),
    }
}

fn said(understood: &str) -> &str {
    if understood.is_empty() { "(nothing understood)" } else { understood }
}

/// Explains a missing or partial answer; `None`: nothing needs explaining.
fn ending(line: &TurnLine) -> Option<String> {
    let detail = line.detail.as_deref();
    let what = match line.outcome {
        Outcome::Spoken => return None,
        Outcome::Interrupted => "(interrupted)",
        Outcome::CutShort => "(cut short)",
        Outcome::NobodyAddressed => "no NPC answers",
        // The line has said so already.
        Outcome::EmptyTranscript => return line.detail.clone(),
        Outcome::HearingError => "hearing failed",
        Outcome::ModelError => "the model failed",
        Outcome::VoiceError => "the voice failed",
        Outcome::EmptyReply => "the model had nothing to say",
        Outcome::OverBudget => "the spending cap is reached",
        Outcome::PutOff => "postponed",
        Outcome::Timeout => "no answer in time",
        Outcome::Cancelled => "dropped",
        Outcome::Stopped => "stop word, no answer needed",
        Outcome::Command => "order carried out",
        Outcome::Granted => "wish granted",
    };
    Some(detail.map_or_else(|| what.to_owned(), |detail| format!("{what}: {detail}")))
}

/// Shows a spinner until `done`.
pub async fn while_waiting<T>(what: &str, done: impl Future<Output = T>) -> T {
    let spinner = ProgressBar::new_spinner()
        .with_style(ProgressStyle::default_spinner())
        .with_message(what.to_owned());
    spinner.enable_steady_tick(Duration::from_millis(100));
    let hidden = spinner.is_hidden();
    tokio::pin!(done);
    let result = match timeout(SLOW, &mut done).await {
        Ok(result) => result,
        Err(_) => {
            // Without a spinner, print it once.
            if hidden {
                complain(&format!("still {what}"));
            }
            done.await
        }
    };
    spinner.finish_and_clear();
    result
}
