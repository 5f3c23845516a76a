//! What slash lines do, and what they show.
//!
//! **Never**: says a slash line to an NPC.

use std::{fmt::Write as _, sync::Arc};

use tokio::{sync::oneshot, time::Instant};

use super::{
    super::{Failure, complain},
    drive::Driver,
    permits::LocalPermits,
    print::Printer,
    slash::{self, Shown, Slash, Typist},
    written::print_answer,
};
use crate::{
    campaign::{Assistant, Engines, engine_changed},
    domain::{EngineKind, Tier},
    session::{Command, Quantiles, SeatStatus, SpeakerId, Status},
};

/// What slash lines reach beside the table.
pub struct SlashContext<'a> {
    /// Who answers the game master in writing.
    pub assistant: &'a Assistant,
    /// What is asked about no more.
    pub permits: &'a LocalPermits,
    /// The engines of the NPCs.
    pub engines: &'a dyn Engines,
    /// Who types, by the name the table uses.
    pub typist: &'a str,
    /// Who types is the game master.
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
        let cast = Arc::clone(&self.table.seated.borrow());
        let typist = Typist { speaker, is_dm: context.is_dm, cast: &cast, now: Instant::now() };
        let wanted = match slash::parse(line, &typist) {
            None => return Ok(false),
            Some(Ok(wanted)) => wanted,
            Some(Err(why)) => {
                complain(&why.to_string());
                return Ok(true);
            }
        };
        match wanted {
            Slash::Do(command, said) => {
                let is_kept =
                    matches!(command, Command::Mute { .. } | Command::Halt | Command::Scene(_));
                self.table.commands.send(command).await?;
                if is_kept {
                    // Who is told that somebody is muted can rely on it.
                    self.taken().await?;
                }
                self.printer.told(&said)?;
            }
            Slash::Show(shown) => self.show(shown).await?,
            Slash::Ask(question) => {
                let answer = context.assistant.ask(&question).await;
                print_answer(&self.printer, context.assistant.name(), &question, answer)?;
            }
            Slash::Engine { npc, engine, confirmed } => {
                self.printer.told(&change_engine(context.engines, &npc, engine, confirmed))?;
            }
            Slash::Permits => self.printer.told(&context.permits.listed())?,
            Slash::Revoke(tool) => self.printer.told(&context.permits.revoke(&tool))?,
            Slash::Help(usages) => {
                usages.iter().try_for_each(|usage| self.printer.told(usage))?;
                self.printer.told("quit or Ctrl-D leaves")?;
            }
            Slash::Leave => {
                self.table.commands.send(Command::Leave(speaker)).await?;
                self.is_here = false;
                self.printer.told("you have left; the next line brings you back")?;
            }
            Slash::OptOut(true) => {
                self.table.commands.send(Command::Forget(speaker)).await?;
                self.opted_out = true;
                self.printer.told("you are no longer heard (/optin undoes it)")?;
            }
            Slash::OptOut(false) => {
                self.opted_out = false;
                self.join(context.typist, context.is_dm).await?;
                self.printer.told("you are heard again")?;
            }
        }
        Ok(true)
    }

    async fn show(&self, shown: Shown) -> Result<(), Failure> {
        let (ask, answer) = oneshot::channel();
        self.table.commands.send(Command::Status(ask)).await?;
        let status = answer.await?;
        Ok(show(&self.printer, shown, &status)?)
    }
}

fn show(printer: &Printer, shown: Shown, status: &Status) -> anyhow::Result<()> {
    if printer.is_json() {
        return printer.object(&serde_json::json!({ "status": status }));
    }
    match shown {
        Shown::Status => {
            printer.told(&counts(status))?;
            printer.told(&scene(status))?;
            for seat in &status.seats {
                printer.told(&everything(seat))?;
            }
            printer.told(&latencies(status))
        }
        Shown::Scene => printer.told(&scene(status)),
        Shown::Tiers => status.seats.iter().try_for_each(|seat| printer.told(&tiers(seat))),
    }
}

/// Changes an engine once that is `confirmed`; what is said of it.
fn change_engine(engines: &dyn Engines, npc: &str, engine: EngineKind, confirmed: bool) -> String {
    let said = match confirmed {
        true => engines.change(npc, engine).map(|()| engine_changed(npc, engine)),
        false => engines.offer(npc, engine).map(|offer| {
            let engine = engine.short();
            format!("{offer} Nothing has changed yet: /engine {npc} {engine} confirm goes ahead.")
        }),
    };
    said.unwrap_or_else(|why| why.to_string())
}

fn counts(status: &Status) -> String {
    let Status { state, utterances, answered, silent, errors, spent, unwritten, .. } = status;
    let memory =
        if unwritten.is_troubled() { format!("; memory: {unwritten}") } else { String::new() };
    format!(
        "{state}; {utterances} utterances: {answered} answered, {silent} needed no answer, \
         {errors} failed; \
         spent {spent:.4}{memory}"
    )
}

fn scene(status: &Status) -> String {
    let scene = &status.scene;
    let place = scene.location.as_deref().unwrap_or("nowhere in particular");
    let time = scene.time_of_day.as_deref().map(|time| format!(", {time}")).unwrap_or_default();
    let here =
        if scene.present.is_empty() { "nobody".to_owned() } else { scene.present.join(", ") };
    format!("scene: {place}{time}; present: {here}")
}

fn tiers(seat: &SeatStatus) -> String {
    let mut text = format!("{}: up to {}", seat.name, seat.ceiling);
    match seat.override_ {
        Some((tier, Some(left))) => {
            // A text takes everything.
            let _ = write!(text, "; game master's {tier} for {} s", left.as_secs());
        }
        Some((tier, None)) => text.push_str(&until_cleared(tier)),
        None => {}
    }
    if let Some(last) = &seat.last_selection {
        let _ = write!(text, "; last {} ({})", last.effective, last.reason);
    }
    text
}

fn until_cleared(tier: Tier) -> String {
    format!("; game master's {tier}")
}

fn everything(seat: &SeatStatus) -> String {
    let mut text = tiers(seat);
    let _ = write!(text, "; {} and {}", seat.brain, seat.tts);
    if seat.engine == EngineKind::SpeechToSpeech {
        text.push_str("; engine s2s, which hears own voices");
    }
    if seat.muted {
        text.push_str("; muted");
    }
    if !seat.present {
        text.push_str("; not in the scene");
    }
    if seat.waiting > 0 {
        let _ = write!(text, "; {} waiting", seat.waiting);
    }
    if !seat.pinned_by.is_empty() {
        let _ = write!(text, "; hears {}", seat.pinned_by.join(", "));
    }
    match seat.note_turns_left {
        None => {}
        Some(None) => text.push_str("; has a note"),
        Some(Some(turns)) => {
            let _ = write!(text, "; has a note for {turns} turns");
        }
    }
    text
}

fn latencies(status: &Status) -> String {
    let ms = |of: Option<Quantiles>| {
        of.map_or_else(|| "-".to_owned(), |it| format!("{:.0}/{:.0}", it.p50, it.p95))
    };
    let it = &status.latency;
    format!(
        "ms, median/95th percentile: hearing {}, thinking {}, voice {}, whole {}",
        ms(it.speech_end_to_final),
        ms(it.final_to_first_text),
        ms(it.first_text_to_first_audio),
        ms(it.speech_end_to_first_audio)
    )
}
