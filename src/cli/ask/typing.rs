//! Lines that are typed to a table.
//!
//! Entry function: [`Driver::typed_lines`]. **Never**: says a slash line to an NPC.

use super::{
    super::{Failure, complain},
    drive::Driver,
    face::OPTED_OUT,
    steer::SlashContext,
    terminal::Typed,
};
use crate::session::SpeakerId;

/// Lines that end the evening.
const ENDS: [&str; 4] = ["quit", "exit", "/quit", "/exit"];

impl Driver {
    /// Reads lines until there are no more.
    ///
    /// # Errors
    /// Nothing was typed at all, the table is gone, or stdout is.
    pub async fn typed_lines(
        &mut self,
        typed: &Typed,
        context: &SlashContext<'_>,
    ) -> Result<(), Failure> {
        self.join(context.typist, context.is_dm).await?;
        let speaker = self.speakers[context.typist];
        self.printer.welcome()?;
        loop {
            self.printer.prompt()?;
            let Some(line) = self.next_line(typed).await? else { break };
            if line.trim().is_empty() {
                continue;
            }
            self.typed_anything = true;
            if ENDS.iter().any(|end| line.trim().eq_ignore_ascii_case(end)) {
                break;
            }
            if !self.steer(&line, speaker, context).await? {
                self.say_if_heard(speaker, line, context).await?;
            }
            self.settle().await?;
        }
        if self.typed_anything {
            return Ok(());
        }
        Err(Failure::Usage("no input (give --in FILE, --text TEXT, or type a line)".into()))
    }

    /// Says a typed line, unless its typist is not to be heard.
    async fn say_if_heard(
        &mut self,
        speaker: SpeakerId,
        line: String,
        context: &SlashContext<'_>,
    ) -> Result<(), Failure> {
        if self.opted_out {
            complain(OPTED_OUT);
            return Ok(());
        }
        if !self.is_here {
            self.join(context.typist, context.is_dm).await?;
            self.is_here = true;
        }
        self.say(speaker, line).await
    }

    /// The next typed line; what the table says meanwhile is printed.
    async fn next_line(&mut self, typed: &Typed) -> Result<Option<String>, Failure> {
        loop {
            tokio::select! {
                line = typed.next() => return Ok(line?),
                Some(event) = self.events.recv() => self.event(&event).await?,
            }
        }
    }
}
