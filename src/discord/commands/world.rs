//! A server's campaigns and their worlds, for the shared commands.
//!
//! Entry function: [`names`]. **Never**: changes a running session.

use futures::FutureExt;

use crate::{
    campaign::{GuildSettings, PlayedCampaign, WorldAnswer, WorldOrder, shown_name},
    commands::{Campaigns, Chosen, OrderSoon, Refusal, Text, WorldSoon, Worlds},
    discord::guild::Guild,
};

/// Most campaigns per server.
const CAMPAIGNS_MAX: usize = 50;

impl Worlds for Guild {
    fn world(&mut self, order: OrderSoon) -> WorldSoon {
        // The world of the current campaign, even if it changes meanwhile.
        let mut request = self.asked_of_world(WorldOrder::Info);
        let world = self.shared.handles.world.clone();
        async move {
            request.order = order.await?;
            Ok::<_, Refusal>(world.carry_out(request).await?)
        }
        .boxed()
    }

    fn world_of_file(&mut self, order: OrderSoon) -> WorldSoon {
        let previewed = self.shared.handles.world.previewed.clone();
        let done = self.world(order);
        async move {
            // Every server may send files of 50 MB at once.
            let _turn = previewed.turn().await;
            done.await
        }
        .boxed()
    }

    fn learn(&mut self, answer: &WorldAnswer) {
        self.take_entities(answer);
    }

    fn has_own_cast(&self) -> bool {
        self.is_only_guild()
    }

    fn campaigns(&self) -> Campaigns {
        Campaigns { played: played(self), all: names(self), fixed: None }
    }

    fn play(&mut self, chosen: Chosen) -> Text {
        match chosen {
            Chosen::Loaded(campaign) => load(self, campaign),
            Chosen::Known(name) => switch(self, Some(name)),
            Chosen::Configured => switch(self, None),
        }
        let from = if self.session().is_ok() { "from the next session on" } else { "here" };
        Text::default()
            .marked(format!("**{}** is played {from}, with the same NPCs.", played(self)))
    }
}

/// The configured campaign, then the shared ones, then those loaded here.
pub fn names(guild: &Guild) -> Vec<String> {
    let settings = guild.shared.handles.settings.load();
    let shared = settings.shared.iter().map(|it| it.name.clone());
    let mut all: Vec<String> = std::iter::once(configured(guild)).chain(shared).collect();
    for loaded in &guild.settings().campaigns {
        if !all.contains(&loaded.name) {
            all.push(loaded.name.clone());
        }
    }
    all
}

/// Name of the configured campaign; `default` without one.
fn configured(guild: &Guild) -> String {
    shown_name(&guild.shared.handles.settings.load().campaign.name).to_owned()
}

/// Name of the campaign played here.
fn played(guild: &Guild) -> String {
    guild.played().map_or_else(|| configured(guild), |it| it.name.clone())
}

/// Plays a campaign loaded here.
fn load(guild: &mut Guild, campaign: PlayedCampaign) {
    let is_configured = campaign.name == guild.shared.handles.settings.load().campaign.name;
    guild.change_settings(|settings| {
        if is_configured {
            settings.campaign = None;
            return;
        }
        settings.campaign = Some(campaign.name.clone());
        keep(settings, campaign);
    });
}

fn switch(guild: &mut Guild, chosen: Option<String>) {
    let shared = guild.shared.handles.settings.load_full();
    let shared = shared.shared.iter().find(|it| chosen.as_ref() == Some(&it.name)).cloned();
    guild.change_settings(|settings| {
        settings.campaign = chosen;
        if let Some(shared) = shared {
            keep(settings, shared);
        }
    });
    guild.learn_entities();
}

/// Stores a campaign; drops the oldest beyond the limit.
fn keep(settings: &mut GuildSettings, campaign: PlayedCampaign) {
    settings.campaigns.retain(|it| it.name != campaign.name);
    if settings.campaigns.len() >= CAMPAIGNS_MAX {
        settings.campaigns.remove(0);
    }
    settings.campaigns.push(campaign);
}
