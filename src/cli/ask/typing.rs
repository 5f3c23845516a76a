//! Lines typed to a table, or given as texts.

use super::{
    super::{Failure, complain},
    drive::Driver,
    face::{OPTED_OUT, SlashContext},
    terminal::Typed,
};
use crate::{logic::command::typed_x_card_in, session::Speaker};

/// Lines that end the evening.
const ENDS: [&str; 4] = ["quit", "exit", "/quit", "/exit"];

impl Driver {
    /// Reads lines until the end. Fails if nothing was typed at all.
    pub async fn typed_lines(
        &mut self,
        typed: &Typed,
        context: &SlashContext<'_>,
    ) -> Result<(), Failure> {
        self.join(context.typist, context.is_dm).await?;
        let (id, name) = (self.speakers[context.typist], context.typist.to_owned());
        let typist = Speaker { id, name, is_dm: context.is_dm };
        self.printer.welcome()?;
        loop {
            self.printer.prompt()?;
            let Some(line) = self.next_line(typed).await? else {
                // The end of input stops no workflow.
                self.runs_end(context).await?;
                break;
            };
            if line.trim().is_empty() {
                continue;
            }
            self.typed_anything = true;
            if ENDS.iter().any(|end| line.trim().eq_ignore_ascii_case(end)) {
                break;
            }
            self.take_line(&line, &typist, context).await?;
            self.settle().await?;
        }
        if self.typed_anything {
            return Ok(());
        }
        Err(Failure::Usage("no input (give --in FILE, --text TEXT, or type a line)".into()))
    }

    /// Executes a slash line of `typist`, or says the line to the NPCs.
    pub(super) async fn take_line(
        &mut self,
        line: &str,
        typist: &Speaker,
        context: &SlashContext<'_>,
    ) -> Result<(), Failure> {
        let is_unheard = self.opted_out.contains(&typist.id) && !line.trim().starts_with('/');
        // A player who opted out may play the X-card too.
        let line = if is_unheard && typed_x_card_in(line).is_some() { "/xcard" } else { line };
        if self.steer(line, typist, context).await? {
            return Ok(());
        }
        if self.opted_out.contains(&typist.id) {
            complain(OPTED_OUT);
            self.last_command = Some(false);
            return Ok(());
        }
        if self.away.remove(&typist.id) {
            self.join(&typist.name, typist.is_dm).await?;
        }
        self.say(typist.id, line.to_owned()).await
    }

    /// The next typed line; prints events of the table meanwhile.
    async fn next_line(&mut self, typed: &Typed) -> Result<Option<String>, Failure> {
        loop {
            tokio::select! {
                line = typed.next() => return Ok(line?),
                Some(event) = self.events.recv() => self.event(&event).await?,
            }
        }
    }
}
