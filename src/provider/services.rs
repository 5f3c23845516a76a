//! All services that receive speech or text of a table, for the consent notice and for reports.
//!
//! Entry type: [`Services`]. **Never**: leaves one out.

use std::net::SocketAddr;

use super::{recognisers::HereOptions, service::ServiceInfo};

/// A service that receives the players' voices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NpcService {
    /// NPCs it speaks for, in the order of the cast; at least one.
    pub npcs: Vec<String>,
    pub service: ServiceInfo,
}

/// Programs outside that the listener lets in with a token of the game master.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutsidePrograms {
    /// Address of the listener.
    pub at: SocketAddr,
    /// True if they may receive words as they are said (`voice.listen`).
    pub may_listen: bool,
}

#[derive(Clone, Debug)]
pub struct Services {
    /// Recognisers in order of preference, each once.
    pub hears: Vec<ServiceInfo>,
    /// Set if only this machine's recogniser hears.
    pub here: Option<HereOptions>,
    pub thinks: Vec<ServiceInfo>,
    /// True if the chat model receives the transcript again, to summarise it.
    pub sums_up: bool,
    /// Voice services, each once.
    pub speaks: Vec<ServiceInfo>,
    pub speaks_and_hears: Vec<NpcService>,
    /// Receives text to compare meanings; `None`: shared words decide.
    pub compares: Option<ServiceInfo>,
    pub draws: Option<ServiceInfo>,
    pub searches: Option<ServiceInfo>,
    /// `None`: the listener is off.
    pub programs: Option<OutsidePrograms>,
    /// Receives words in traces (`telemetry.content`); `None`: nothing does.
    pub collector: Option<ServiceInfo>,
}

impl Services {
    /// Reason players cannot be heard, with the fix. Reads the folder of model files.
    pub fn cannot_hear(&self) -> Option<String> {
        let missing = self.here.as_ref()?.found().err()?;
        Some(missing.to_string())
    }

    /// Services that are neither on this machine nor on its network.
    pub fn outside(&self) -> impl Iterator<Item = &ServiceInfo> {
        let all = self.hears.iter().chain(&self.thinks).chain(&self.speaks);
        let all = all.chain(self.speaks_and_hears.iter().map(|it| &it.service));
        let all = all.chain(&self.compares).chain(&self.draws).chain(&self.searches);
        let all = all.chain(&self.collector);
        all.filter(|service| !service.is_local())
    }

    /// Everything announced before a session: each outside service, and each NPC for which one of
    /// them receives the players' voices.
    pub fn announced(&self) -> impl Iterator<Item = String> {
        let far = self.speaks_and_hears.iter().filter(|it| !it.service.is_local());
        let own_voice = far.flat_map(|it| {
            it.npcs.iter().map(move |npc| format!("own voice for {npc}: {}", it.service))
        });
        self.outside().map(ToString::to_string).chain(own_voice)
    }
}
