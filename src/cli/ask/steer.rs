//! Slash lines: commands carried out at the table, and their answers.
//!
//! **Never**: says a slash line to an NPC.

use std::sync::Arc;

use super::{
    super::{Failure, complain},
    drive::Driver,
    face::Terminal,
    own,
    permits::LocalPermits,
    status,
    written::print_answer,
};
use crate::{
    campaign::{Assistant, Engines},
    commands::{self, Answer, Piece, Refusal, Reply, Subcommand},
    session::{Speaker, SpeakerId},
    tools::builtin::Music,
};

/// Parts that slash lines reach beside the table.
pub struct SlashContext<'a> {
    /// Answers the game master in writing.
    pub assistant: &'a Assistant,
    /// Tools that need no further approval.
    pub permits: &'a LocalPermits,
    /// The engines of the NPCs.
    pub engines: Arc<dyn Engines>,
    /// Music that the table may play.
    pub music: Music,
    /// The typist's name at the table.
    pub typist: &'a str,
    /// The typist is the game master.
    pub is_dm: bool,
}

impl Driver {
    /// Does what a typed line wants; false when it is to be said to the NPCs.
    pub(super) async fn steer(
        &mut self,
        line: &str,
        speaker: SpeakerId,
        context: &SlashContext<'_>,
    ) -> Result<bool, Failure> {
        let typist = Speaker { id: speaker, name: context.typist.to_owned(), is_dm: context.is_dm };
        let person = |name: &str| self.speakers.get(name).copied();
        let read = commands::read(&own::all(), line, typist, &person);
        match read {
            None => return Ok(false),
            Some(Ok((sub, call))) if sub.may(&call) => self.carry_out(sub, &call, context).await?,
            Some(Ok((sub, _))) => complain(&not_allowed(sub)),
            Some(Err(why)) => complain(&why.to_string()),
        }
        Ok(true)
    }

    /// Does what a command wants and shows its answer, once the table has taken it.
    async fn carry_out(
        &mut self,
        sub: &Subcommand,
        call: &commands::Call,
        context: &SlashContext<'_>,
    ) -> Result<(), Failure> {
        let mut face = Terminal {
            seats: Arc::clone(&self.table.seated.borrow()),
            people: self.speakers.values().copied().collect(),
            engines: &context.engines,
            music: &context.music,
            permits: context.permits,
            orders: Vec::new(),
            is_here: self.is_here,
            opted_out: self.opted_out,
        };
        let mut answered = sub.carry_out(&mut face, call);
        loop {
            let has_orders = !face.orders.is_empty();
            for order in face.orders.drain(..) {
                self.table.commands.send(order).await?;
            }
            (self.is_here, self.opted_out) = (face.is_here, face.opted_out);
            answered = match answered {
                Ok(Answer::Soon(work)) => {
                    let next = work.await;
                    next(&mut face)
                }
                Ok(Answer::Ask(question)) => {
                    let answer = context.assistant.ask(&question).await;
                    let name = context.assistant.name();
                    return Ok(print_answer(&self.printer, name, &question, answer)?);
                }
                Ok(Answer::Now(reply)) => {
                    if has_orders {
                        // Answers "done" only once the table has taken the orders.
                        self.taken().await?;
                    }
                    return self.show(&reply);
                }
                Err(Refusal(why)) => {
                    complain(&why);
                    return Ok(());
                }
            };
        }
    }

    fn show(&self, Reply { text, status, .. }: &Reply) -> Result<(), Failure> {
        if let (Some(status), true) = (status, self.printer.is_json()) {
            return Ok(self.printer.object(&serde_json::json!({ "status": status }))?);
        }
        let name = |id: &SpeakerId| {
            let known = self.speakers.iter().find(|(_, known)| *known == id);
            known.map_or_else(|| "somebody".to_owned(), |(name, _)| name.clone())
        };
        let text = text.rendered(|piece| match piece {
            Piece::Plain(words) | Piece::Strong(words) | Piece::Others(words) => words.clone(),
            Piece::Person(id) => name(id),
        });
        let lines = match status {
            Some(status) if text.is_empty() => status::lines(status),
            _ => text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect(),
        };
        Ok(lines.iter().try_for_each(|line| self.printer.told(line))?)
    }
}

/// Refuses a command of game masters to a player.
fn not_allowed(sub: &Subcommand) -> String {
    // Those who want to end an X-card know this command best.
    let card = if sub.path.starts_with("npc unmute") { "; /resume ends an X-card" } else { "" };
    format!("only the game master may /{} (start with --as-dm{card})", sub.path)
}
