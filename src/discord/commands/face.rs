//! A server as the shared commands see it.

use std::sync::Arc;

use futures::FutureExt;

use super::effects::CommandEffects;
use crate::{
    campaign::{Analytics, Dice, FoundVoice, Origin, Planner},
    commands::{
        AtTable, Counting, Face, Lasting, Planning, Refusal, RunsWorkflows, StatusSoon,
        WorkflowsHere, never_allowed,
    },
    discord::guild::Guild,
    domain::{EngineKind, Npc},
    logic::workflow::record::Starter,
    session::{Command as TableCommand, Speaker, SpeakerId},
    tools::Taint,
};

impl Face for Guild {
    fn table(&self) -> Result<AtTable, Refusal> {
        let session = self.session()?;
        Ok(AtTable {
            seats: session.cast(),
            people: session.people.ids().map(SpeakerId).collect(),
            engines: Arc::clone(&session.engines),
            music: self.shared.handles.music.library(),
        })
    }

    fn dice(&self) -> Dice {
        self.shared.handles.dice.clone()
    }

    fn cast(&self) -> Vec<Arc<Npc>> {
        Self::cast(self)
    }

    fn tell(&mut self, order: TableCommand) -> Result<(), Refusal> {
        Ok(Self::tell(self, order)?)
    }

    fn status(&mut self) -> Result<StatusSoon, Refusal> {
        Ok(Self::status(self)?.map(|status| status.map_err(Refusal::from)).boxed())
    }

    fn sit_down(&mut self, speaker: Speaker) -> Result<SpeakerId, Refusal> {
        Ok(Self::sit_down(self, speaker)?)
    }

    fn change_engine(&mut self, npc: &str, engine: EngineKind) -> Result<(), Refusal> {
        let engines = Arc::clone(&self.session()?.engines);
        // Settles the notices for the services used until now.
        self.tell_of_services();
        engines.change(npc, engine)?;
        self.tell_of_services();
        Ok(())
    }

    fn change_voice(&mut self, npc: &str, found: &FoundVoice) -> Result<(), Refusal> {
        let engines = Arc::clone(&self.session()?.engines);
        // Settles the notices for the services used until now.
        self.tell_of_services();
        engines.change_voice(npc, found)?;
        self.tell_of_services();
        Ok(())
    }

    fn keep(&mut self, change: Lasting) -> Result<(), Refusal> {
        match change {
            Lasting::Character(speaker, name) => {
                self.change_settings(|settings| settings.characters.insert(speaker.0, name));
            }
            Lasting::Received(speaker, true) => self.opt_in(speaker.0),
            Lasting::Received(speaker, false) => self.opt_out(speaker.0),
            Lasting::Volume(percent) => {
                self.change_settings(|settings| settings.music_volume = Some(percent));
            }
            Lasting::Revoke(tool) => {
                if !self.change_settings(|settings| settings.permits.revoke(&tool)) {
                    return Err(never_allowed(&tool).into());
                }
                if let Ok(session) = self.session() {
                    let permits = self.settings().permits.clone();
                    self.shared.handles.tools.set_permits(&session.id, permits);
                }
            }
        }
        Ok(())
    }

    fn permits(&self) -> Result<Vec<String>, Refusal> {
        Ok(self.settings().permits.standing(&self.tools().snapshot()))
    }
}

impl Planning for Guild {
    fn planner(&self) -> Result<Planner, Refusal> {
        Ok(self.shared.handles.schedules.within(self.scope()))
    }
}

impl Counting for Guild {
    fn analytics(&self) -> Result<Analytics, Refusal> {
        Ok(self.shared.handles.analytics(self.scope()))
    }
}

impl RunsWorkflows for Guild {
    fn workflows(&self, speaker: &Speaker) -> Result<WorkflowsHere, Refusal> {
        let effects = CommandEffects::new(self);
        // A run outlives the command's answer.
        drop(effects.take());
        let origin = Origin {
            starter: Starter::Person(self.owner().person(speaker.id.0, &speaker.name)),
            speaker: Some(speaker.clone()),
            effects,
            decided: Some(self.decided_tools()),
            taint: Taint::default(),
        };
        let runs = self.shared.handles.workflows.clone();
        Ok(WorkflowsHere { runs, scope: self.scope(), origin })
    }
}
