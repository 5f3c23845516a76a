//! Everybody who is given what is said or answered, for the consent notice and for reports.
//!
//! Entry type: [`Services`]. **Never**: leaves one out.

use super::{recognisers::HereOptions, service::ServiceInfo};

/// A service that is given the players' own voices, and not only their words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NpcService {
    /// Names of the NPCs it hears and speaks for, in the order of the cast; at least one.
    pub npcs: Vec<String>,
    /// The service.
    pub service: ServiceInfo,
}

/// The services of a configuration, by what they are given of the talk at a table.
#[derive(Clone, Debug)]
pub struct Services {
    /// Hears the players' voices.
    pub hears: ServiceInfo,
    /// The recogniser of this machine, where it is the one that hears.
    pub here: Option<HereOptions>,
    /// Read what was said and answer, the preferred one first; each once.
    pub thinks: Vec<ServiceInfo>,
    /// True if the language model receives the transcript again, to sum it up.
    pub sums_up: bool,
    /// Speak the answers; each once.
    pub speaks: Vec<ServiceInfo>,
    /// Hear the players themselves, and answer for the NPCs they name; each once.
    pub speaks_and_hears: Vec<NpcService>,
    /// Receives what is said, to compare meanings; `None`: words in common decide.
    pub compares: Option<ServiceInfo>,
    /// Receives descriptions of pictures; `None`: no picture service is configured.
    pub draws: Option<ServiceInfo>,
    /// Receives search queries; `None`: web search is not configured.
    pub searches: Option<ServiceInfo>,
}

impl Services {
    /// Reason for hearing no player, with the fix. Reads the folder of model files.
    pub fn cannot_hear(&self) -> Option<String> {
        let missing = self.here.as_ref()?.found().err()?;
        Some(missing.to_string())
    }

    /// Services that are neither on this machine nor on its network.
    pub fn outside(&self) -> impl Iterator<Item = &ServiceInfo> {
        let all = std::iter::once(&self.hears).chain(&self.thinks).chain(&self.speaks);
        let all = all.chain(self.speaks_and_hears.iter().map(|it| &it.service));
        let all = all.chain(&self.compares).chain(&self.draws).chain(&self.searches);
        all.filter(|service| !service.is_local())
    }

    /// Everything that is announced before it begins: each service outside, and each NPC for which
    /// one of them is given the players' own voices.
    pub fn announced(&self) -> impl Iterator<Item = String> {
        let far = self.speaks_and_hears.iter().filter(|it| !it.service.is_local());
        let own_voice = far.flat_map(|it| {
            it.npcs.iter().map(move |npc| format!("own voice for {npc}: {}", it.service))
        });
        self.outside().map(ToString::to_string).chain(own_voice)
    }
}
