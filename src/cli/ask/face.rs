//! A terminal as a face of commands. Entry types: [`Terminal`], [`SlashContext`].

use std::sync::Arc;

use futures::FutureExt;
use tokio::sync::oneshot;

use super::{super::complain, local::LocalMemory};
use crate::{
    app,
    campaign::{
        Analytics, Assistant, AssistantSettings, Dice, Engines, FileError, FoundVoice, KeptPermits,
        Origin, Planner, Scoped, Transcript, TranscriptWriter, WorkflowRuns, Writer, recap,
    },
    commands::{
        AtTable, Counting, Face, Lasting, Planning, RecapSoon, Refusal, RunsWorkflows, StatusSoon,
        WorkflowsHere, never_allowed,
    },
    config::Config,
    domain::{EngineKind, Npc, Owner, Person, Scope, SessionId},
    engine::Budget,
    logic::workflow::record::Starter,
    memory::Viewer,
    session::{Command as TableCommand, Explanations, Seated, Speaker, SpeakerId},
    tools::{Effects, Taint, ToolHost, builtin::Music},
};

/// Refusal for a typist who opted out.
pub const OPTED_OUT: &str = "you opted out of being heard (/privacy optin undoes it)";

/// For recaps of the running session.
#[derive(Clone)]
pub struct RecapParts {
    pub transcripts: TranscriptWriter,
    pub written: Transcript,
    /// The assistant, whose model writes recaps.
    pub assistant: AssistantSettings,
    /// Pays for the model.
    pub budget: Budget,
}

impl RecapParts {
    async fn text(self, for_dm: bool) -> Result<String, Refusal> {
        self.transcripts.caught_up().await?;
        let writer = Writer::new(&self.assistant, self.budget)?;
        let viewer = if for_dm { Viewer::Dm } else { Viewer::Everyone };
        let (store, Transcript { scope, session }) = (self.transcripts.store(), &self.written);
        let told = recap(Scoped::new(&*store, scope), &session.0, viewer, writer.as_ref()).await?;
        told.map(|it| it.text()).ok_or_else(|| "nothing was said yet (say something first)".into())
    }
}

/// Parts of slash commands beside the table.
pub struct SlashContext<'a> {
    /// Answers the game master in writing.
    pub assistant: &'a Assistant,
    /// Tools that need no more approval.
    pub permits: &'a LocalPermits,
    pub engines: Arc<dyn Engines>,
    pub music: Music,
    /// `None`: the session is not saved.
    pub recap: Option<RecapParts>,
    /// The memory of this machine.
    pub memory: LocalMemory,
    pub runs: LocalRuns,
    /// The typist's name at the table.
    pub typist: &'a str,
    pub is_dm: bool,
}

/// Workflows that use the table, and the dice of people.
pub struct LocalRuns {
    pub service: WorkflowRuns,
    pub scope: Scope,
    pub effects: Arc<dyn Effects>,
    /// Dice that people roll themselves.
    pub dice: Dice,
}

impl LocalRuns {
    /// Waits until no workflow is running. Cancel safe.
    pub async fn idle(&self) {
        self.service.idle(&self.scope).await;
    }
}

impl RunsWorkflows for Terminal<'_> {
    fn workflows(&self, speaker: &Speaker) -> Result<WorkflowsHere, Refusal> {
        let LocalRuns { service, scope, effects, .. } = &self.context.runs;
        let origin = Origin {
            starter: Starter::Person(Owner::Local.person(speaker.id.0, &speaker.name)),
            speaker: Some(speaker.clone()),
            effects: Arc::clone(effects),
            decided: None,
            taint: Taint::default(),
        };
        Ok(WorkflowsHere { runs: service.clone(), scope: scope.clone(), origin })
    }
}

/// A terminal during one typed command, and the command's effects.
pub struct Terminal<'a> {
    pub seats: Arc<[Seated]>,
    pub people: Vec<SpeakerId>,
    pub context: &'a SlashContext<'a>,
    /// Orders for the table, in sequence, not sent yet.
    pub orders: Vec<TableCommand>,
    pub is_here: bool,
    pub opted_out: bool,
    /// The lines so far are written before the answer is shown.
    pub writes_first: bool,
    /// A person whose words the command deletes, in the record of the session too.
    pub forgotten: Option<Person>,
    pub explanations: Option<Explanations>,
}

impl Face for Terminal<'_> {
    fn table(&self) -> Result<AtTable, Refusal> {
        Ok(AtTable {
            seats: Arc::clone(&self.seats),
            people: self.people.clone(),
            engines: Arc::clone(&self.context.engines),
            music: self.context.music.library(),
        })
    }

    fn dice(&self) -> Dice {
        self.context.runs.dice.clone()
    }

    fn cast(&self) -> Vec<Arc<Npc>> {
        self.seats.iter().map(|seated| Arc::clone(&seated.npc)).collect()
    }

    fn tell(&mut self, order: TableCommand) -> Result<(), Refusal> {
        self.is_here &= !matches!(order, TableCommand::Leave(_));
        self.orders.push(order);
        Ok(())
    }

    fn status(&mut self) -> Result<StatusSoon, Refusal> {
        let (ask, answer) = oneshot::channel();
        self.orders.push(TableCommand::Status(ask));
        Ok(answer.map(|status| status.map_err(Refusal::from)).boxed())
    }

    fn sit_down(&mut self, speaker: Speaker) -> Result<SpeakerId, Refusal> {
        if self.opted_out {
            return Err(OPTED_OUT.into());
        }
        let id = speaker.id;
        if !self.is_here {
            self.orders.push(TableCommand::Join(speaker));
            self.is_here = true;
        }
        Ok(id)
    }

    fn change_engine(&mut self, npc: &str, engine: EngineKind) -> Result<(), Refusal> {
        Ok(self.context.engines.change(npc, engine)?)
    }

    fn change_voice(&mut self, npc: &str, found: &FoundVoice) -> Result<(), Refusal> {
        Ok(self.context.engines.change_voice(npc, found)?)
    }

    fn keep(&mut self, change: Lasting) -> Result<(), Refusal> {
        match change {
            // The table keeps these while it runs.
            Lasting::Character(..) | Lasting::Volume(_) => {}
            Lasting::Received(_, true) => (self.opted_out, self.is_here) = (false, false),
            Lasting::Received(speaker, false) => {
                self.orders.push(TableCommand::Forget(speaker));
                self.opted_out = true;
            }
            Lasting::Revoke(tool) => {
                if !self.context.permits.revoke(&tool)? {
                    return Err(never_allowed(&tool).into());
                }
            }
        }
        Ok(())
    }

    fn recap(&self, for_dm: bool) -> Result<RecapSoon, Refusal> {
        let unsaved =
            "this session is not saved, so it has no recap (start it with --session NAME)";
        let parts = self.context.recap.as_ref().ok_or(unsaved)?;
        Ok(parts.clone().text(for_dm).boxed())
    }

    fn explanations(&self) -> Result<Explanations, Refusal> {
        let unasked = "answers are explained to the game master alone (start with --as-dm)";
        Ok(self.explanations.clone().ok_or(unasked)?)
    }

    fn permits(&self) -> Result<Vec<String>, Refusal> {
        Ok(self.context.permits.standing()?)
    }
}

impl Planning for Terminal<'_> {
    fn planner(&self) -> Result<Planner, Refusal> {
        let unsaved = "nothing can be scheduled while the session is not saved (start it with \
                       --session NAME)";
        self.context.memory.schedules.planner().ok_or_else(|| unsaved.into())
    }
}

impl Counting for Terminal<'_> {
    fn analytics(&self) -> Result<Analytics, Refusal> {
        let unsaved = "no costs are shown while the session is not saved (start it with --session \
                       NAME, or use glyphoxa cost)";
        self.context.memory.analytics().ok_or_else(|| unsaved.into())
    }
}

/// Permits for this and later sessions.
pub struct LocalPermits {
    kept: KeptPermits,
    host: ToolHost,
    session: SessionId,
}

impl LocalPermits {
    /// Applies the permits stored for the campaign of `config` to `session`.
    pub fn open(config: &Config, host: &ToolHost, session: SessionId) -> Arc<Self> {
        let kept = KeptPermits::new(&config.data_dir, app::campaign_key(config));
        match kept.read() {
            Ok(permits) => host.set_permits(&session, permits),
            Err(error) => complain(&format!("{error} (every tool asks again)")),
        }
        Arc::new(Self { kept, host: host.clone(), session })
    }

    /// `tool` needs no more approval while its definition stays the same.
    pub fn allow(&self, tool: &str, definition: &str) {
        if let Err(error) = self.kept.change(|permits| permits.allow(tool, definition)) {
            complain(&format!("{error} (the permission lasts until you leave)"));
        }
    }

    /// Permanently allowed tools, one per line, and whether that is still valid.
    pub fn standing(&self) -> Result<Vec<String>, FileError> {
        let snapshot = self.host.snapshot();
        self.kept.read().map(|permits| permits.standing(&snapshot))
    }

    /// Makes `tool` ask again; false if it was not allowed. On an error nothing changes.
    pub fn revoke(&self, tool: &str) -> Result<bool, FileError> {
        let mut was_allowed = false;
        let permits = self.kept.change(|permits| was_allowed = permits.revoke(tool))?;
        self.host.set_permits(&self.session, permits);
        Ok(was_allowed)
    }
}
