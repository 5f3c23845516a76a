//! A page as a face of commands. Entry type: [`PageFace`].

use std::sync::Arc;

use futures::{FutureExt, future::BoxFuture};
use tokio::sync::oneshot;

use super::table::RehearsalTable;
use crate::{
    campaign::{
        Analytics, Deletion, Dice, ForgetFrom, FoundVoice, NamesOf, Origin, Planner, WorldRequest,
        key_of, now, shown_name,
    },
    commands::{
        AtTable, Campaigns, Chosen, Counting, Face, FaceWords, HeardState, Lasting, OrderSoon,
        Planning, Refusal, RunsWorkflows, StatusSoon, StoredWords, Text, WorkflowsHere, WorldSoon,
        Worlds, never_allowed,
    },
    domain::{EngineKind, Npc, Owner},
    logic::workflow::record::Starter,
    session::{Command as TableCommand, Speaker, SpeakerId},
    tools::Taint,
};

/// Refusal for a player who opted out.
pub const OPTED_OUT: &str = "you opted out of being heard (/privacy optin undoes it)";

/// Reason why pages play no other campaign, with the way out.
const FIXED: &str = "the configuration says which campaign is rehearsed (name its file as campaign: \
                     in glyphoxa.yaml, and start again)";

const PLACE: FaceWords = FaceWords {
    name: "the name you gave on the page",
    written: "I write down all I understand at the table, said to an NPC or not, on the machine I run \
              on, with the name you gave, the time and who was there. I also store the NPCs' answers \
              and the tool calls they led to.",
    opting_out: "I drop what you say in this browser unheard, until you opt in or I start again.",
    here: "on this machine",
    left: "What you said on Discord stays, and so do exported files.",
};

/// A player's page during one command. Its orders are sent by the caller.
pub struct PageFace {
    pub table: Arc<RehearsalTable>,
    pub player: Speaker,
    /// Random name of its browser.
    pub browser: String,
    /// Orders for the table, in sequence, not sent yet.
    pub orders: Vec<TableCommand>,
}

impl PageFace {
    fn deletion(&self, speaker: &Speaker) -> Deletion {
        let person = Owner::Local.person(speaker.id.0, &speaker.name);
        let from = ForgetFrom { owner: Owner::Local, session: None };
        let names = vec![speaker.name.clone()];
        Deletion { names, asker: String::new(), ..Deletion::of(person.0, from, now()) }
    }
}

impl Face for PageFace {
    fn table(&self) -> Result<AtTable, Refusal> {
        Ok(AtTable {
            seats: self.table.link.cast(),
            people: self.table.audience.players(),
            engines: Arc::clone(&self.table.engines),
            music: self.table.handles.music.library(),
        })
    }

    fn dice(&self) -> Dice {
        self.table.handles.dice.clone()
    }

    fn cast(&self) -> Vec<Arc<Npc>> {
        self.table.link.cast().iter().map(|seated| Arc::clone(&seated.npc)).collect()
    }

    fn tell(&mut self, order: TableCommand) -> Result<(), Refusal> {
        self.orders.push(order);
        Ok(())
    }

    fn status(&mut self) -> Result<StatusSoon, Refusal> {
        let (ask, answer) = oneshot::channel();
        self.orders.push(TableCommand::Status(ask));
        Ok(answer.map(|status| status.map_err(Refusal::from)).boxed())
    }

    fn sit_down(&mut self, speaker: Speaker) -> Result<SpeakerId, Refusal> {
        match self.table.is_heard(&self.browser) {
            true => Ok(speaker.id),
            false => Err(OPTED_OUT.into()),
        }
    }

    fn change_engine(&mut self, npc: &str, engine: EngineKind) -> Result<(), Refusal> {
        Ok(self.table.engines.change(npc, engine)?)
    }

    fn change_voice(&mut self, npc: &str, found: &FoundVoice) -> Result<(), Refusal> {
        Ok(self.table.engines.change_voice(npc, found)?)
    }

    fn keep(&mut self, change: Lasting) -> Result<(), Refusal> {
        match change {
            // The table keeps these while it runs.
            Lasting::Character(..) | Lasting::Volume(_) => Ok(()),
            Lasting::Received(speaker, is_heard) => {
                self.table.hear(&self.browser, is_heard);
                self.orders.push(match is_heard {
                    true => TableCommand::Join(self.player.clone()),
                    false => TableCommand::Forget(speaker),
                });
                Ok(())
            }
            // Nothing can be allowed for good here.
            Lasting::Revoke(tool) => Err(never_allowed(&tool).into()),
        }
    }

    fn permits(&self) -> Result<Vec<String>, Refusal> {
        Ok(Vec::new())
    }
}

impl Planning for PageFace {
    fn planner(&self) -> Result<Planner, Refusal> {
        Ok(self.table.handles.schedules.within(self.table.scope.clone()))
    }
}

impl Counting for PageFace {
    fn analytics(&self) -> Result<Analytics, Refusal> {
        Ok(self.table.handles.analytics(self.table.scope.clone()))
    }
}

impl RunsWorkflows for PageFace {
    fn workflows(&self, speaker: &Speaker) -> Result<WorkflowsHere, Refusal> {
        let RehearsalTable { handles, scope, link, .. } = &*self.table;
        let origin = Origin {
            starter: Starter::Person(Owner::Local.person(speaker.id.0, &speaker.name)),
            speaker: Some(speaker.clone()),
            effects: Arc::clone(&link.effects),
            decided: None,
            taint: Taint::default(),
        };
        Ok(WorkflowsHere { runs: handles.workflows.clone(), scope: scope.clone(), origin })
    }
}

impl Worlds for PageFace {
    fn world(&mut self, order: OrderSoon) -> WorldSoon {
        let (scope, world) = (self.table.scope.clone(), self.table.handles.world.clone());
        async move {
            let order = order.await?;
            Ok::<_, Refusal>(world.carry_out(WorldRequest { scope, played: None, order }).await?)
        }
        .boxed()
    }

    fn campaigns(&self) -> Campaigns {
        let settings = self.table.handles.settings.load();
        let played = shown_name(&settings.campaign.name).to_owned();
        Campaigns { all: vec![played.clone()], played, fixed: Some(FIXED) }
    }

    fn play(&mut self, chosen: Chosen) -> Text {
        match chosen {
            Chosen::Loaded(campaign) if key_of(&campaign.name) == self.table.scope.campaign => {
                Text::of(campaign.name).plain(" is played here.")
            }
            Chosen::Loaded(campaign) => Text::of(campaign.name)
                .plain(format!(" is stored as a campaign of its own: {FIXED}.")),
            Chosen::Configured | Chosen::Known(_) => FIXED.into(),
        }
    }
}

impl StoredWords for PageFace {
    fn face_words(&self) -> FaceWords {
        PLACE
    }

    fn hearing(&self, _: SpeakerId) -> Result<HeardState, Refusal> {
        let is_heard = self.table.is_heard(&self.browser);
        let now = match (is_heard, &self.table.cannot_hear) {
            (false, _) => "You opted out: I don't hear you.".to_owned(),
            (true, Some(why)) => format!("I can't hear anyone: {why}."),
            (true, None) => "I hear you while you talk, and what you type.".to_owned(),
        };
        let services = self.table.engines.services();
        Ok(HeardState { now, is_heard, services, named: str::to_owned })
    }

    fn written(&mut self) -> BoxFuture<'static, bool> {
        let RehearsalTable { handles, link, .. } = &*self.table;
        let (transcripts, link) = (handles.sessions.transcripts().clone(), link.clone());
        async move { transcripts.answers_for(Owner::Local, &link.events).await }.boxed()
    }

    fn own_words(&self, speaker: &Speaker) -> BoxFuture<'static, Result<String, Refusal>> {
        let person = Owner::Local.person(speaker.id.0, &speaker.name);
        let lines = self.table.handles.privacy.clone().own_lines(Owner::Local, person.0);
        async move { Ok::<_, Refusal>(lines.await?) }.boxed()
    }

    fn names_of(&self, speaker: &Speaker) -> BoxFuture<'static, Result<NamesOf, Refusal>> {
        let names = self.table.handles.privacy.clone().names(self.deletion(speaker));
        async move { Ok::<_, Refusal>(names.await?) }.boxed()
    }

    fn forget(&mut self, speaker: &Speaker) -> BoxFuture<'static, Result<u64, Refusal>> {
        let done = self.table.handles.privacy.clone().forget(self.deletion(speaker));
        async move {
            done.await.map_err(|why| {
                Refusal(format!("I couldn't delete everything yet: {why}. I keep trying."))
            })
        }
        .boxed()
    }
}
