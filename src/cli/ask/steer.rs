//! Executes slash commands, typed or given as texts. **Never**: says a slash line to an NPC.

use std::{collections::HashSet, path::Path, sync::Arc};

use super::{
    super::{Failure, complain},
    drive::Driver,
    face::{SlashContext, Terminal},
    handed, own, status,
    written::print_answer,
};
use crate::{
    campaign::SentFile,
    commands::{self, Answer, Finders, NextStep, Piece, Refusal, Reply, Subcommand},
    session::{Speaker, SpeakerId},
};

impl Driver {
    /// Executes a slash line of `typist`; false if `line` is not one and goes to the NPCs.
    pub(super) async fn steer(
        &mut self,
        line: &str,
        typist: &Speaker,
        context: &SlashContext<'_>,
    ) -> Result<bool, Failure> {
        let person = |name: &str| self.speakers.get(name).copied();
        let found = Finders { person: &person, file: &handed::given };
        let read = commands::read(&own::all(), line, typist.clone(), found);
        let is_done = match read {
            None => return Ok(false),
            Some(Ok((sub, call))) if sub.may(&call) => self.carry_out(sub, &call, context).await?,
            Some(Ok((sub, _))) => refused(&not_allowed(sub)),
            Some(Err(why)) => refused(&why.to_string()),
        };
        self.last_command = Some(is_done);
        Ok(true)
    }

    /// Executes a command and shows its answer once the table has taken it; false if it is refused.
    async fn carry_out(
        &mut self,
        sub: &Subcommand,
        call: &commands::Call,
        context: &SlashContext<'_>,
    ) -> Result<bool, Failure> {
        let caller = call.speaker.id;
        let mut face = Terminal {
            seats: Arc::clone(&self.table.seated.borrow()),
            people: self.speakers.values().copied().collect(),
            context,
            orders: Vec::new(),
            is_here: !self.away.contains(&caller),
            opted_out: self.opted_out.contains(&caller),
            writes_first: false,
            forgotten: None,
            explanations: self.table.explanations.clone(),
        };
        let mut answered = sub.carry_out(&mut face, call);
        loop {
            let has_orders = !face.orders.is_empty();
            for order in face.orders.drain(..) {
                self.table.commands.send(order).await?;
            }
            set(&mut self.away, caller, !face.is_here);
            set(&mut self.opted_out, caller, face.opted_out);
            if let Some(person) = face.forgotten.take() {
                self.forget(person).await?;
            }
            answered = match answered {
                Ok(Answer::Soon(work)) => {
                    let next = work.await;
                    next(&mut face)
                }
                Ok(Answer::Later(work)) => {
                    let then = work.await;
                    then(&mut face).map(Answer::Now)
                }
                Ok(Answer::Ask(question)) => {
                    let answer = context.assistant.ask(&question).await;
                    let (name, is_answered) = (context.assistant.name(), answer.is_ok());
                    print_answer(&self.printer, name, &question, answer)?;
                    return Ok(is_answered);
                }
                Ok(Answer::Now(reply)) => {
                    if has_orders || face.writes_first {
                        // Answers "done" only once the table has taken the orders.
                        self.taken().await?;
                    }
                    return self.show(&reply);
                }
                Err(Refusal(why)) => return Ok(refused(&why)),
            };
        }
    }

    /// Shows a reply; false if its file cannot be written.
    fn show(&self, reply: &Reply) -> Result<bool, Failure> {
        let Reply { text, status, explanation, next_step, file, .. } = reply;
        let object = match (status, explanation) {
            (Some(status), _) => Some(serde_json::json!({ "status": status })),
            (None, Some(explanation)) => Some(serde_json::json!({ "why": **explanation })),
            (None, None) => None,
        };
        if let (Some(object), true) = (object, self.printer.is_json()) {
            self.printer.object(&object)?;
            return Ok(true);
        }
        let name = |id: &SpeakerId| {
            let known = self.speakers.iter().find(|(_, known)| *known == id);
            known.map_or_else(|| "somebody".to_owned(), |(name, _)| name.clone())
        };
        let text = text.rendered(|piece| match piece {
            Piece::Plain(words) | Piece::Strong(words) | Piece::Others(words) => words.clone(),
            Piece::Person(id) => name(id),
            Piece::Marked(words) => words.replace("**", ""),
        });
        let lines = match status {
            Some(status) if text.is_empty() => status::lines(status),
            _ => text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect(),
        };
        let way_on =
            next_step.as_ref().and_then(NextStep::line).map(|line| format!("{line} does it"));
        let secrets = next_step.as_ref().and_then(NextStep::line_with_secrets);
        let or = secrets.map(|line| format!("{line} also lets the NPC know its secrets"));
        lines.iter().chain(&way_on).chain(&or).try_for_each(|line| self.printer.told(line))?;
        file.as_ref().map_or(Ok(true), |file| self.export(file))
    }

    /// Writes the file of a reply into the current folder, and names it; false if it cannot be written.
    fn export(&self, SentFile { name, bytes }: &SentFile) -> Result<bool, Failure> {
        match handed::export(Path::new(""), name, bytes) {
            Ok(name) => {
                self.printer.told(&format!("written to '{name}'"))?;
                Ok(true)
            }
            Err(error) => Ok(refused(&format!(
                "cannot write '{name}': {error} (start glyphoxa in a folder that you may write to)"
            ))),
        }
    }
}

/// Reports a refusal; always false.
fn refused(why: &str) -> bool {
    complain(why);
    false
}

fn set(ids: &mut HashSet<SpeakerId>, id: SpeakerId, is_in: bool) {
    if is_in {
        ids.insert(id);
    } else {
        ids.remove(&id);
    }
}

/// Refuses a command of game masters to a player.
fn not_allowed(sub: &Subcommand) -> String {
    // People try this command to end an X-card.
    let card = if sub.path.starts_with("npc unmute") { "; /resume ends an X-card" } else { "" };
    format!("only the game master may /{} (start with --as-dm{card})", sub.path)
}
