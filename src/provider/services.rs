//! Everybody who is given what is said or answered, for the consent notice and for reports.
//!
//! Entry type: [`Services`]. **Never**: leaves one out.

use super::{recognisers::HereOptions, service::ServiceInfo};

/// The services of a configuration, by what they are given of the talk at a table.
#[derive(Clone, Debug)]
pub struct Services {
    /// Hears the players' voices.
    pub hears: ServiceInfo,
    /// The recogniser of this machine, where it is the one that hears.
    pub here: Option<HereOptions>,
    /// Read what was said and answer, the preferred one first; each once.
    pub thinks: Vec<ServiceInfo>,
    /// Whether what thinks is given what was said once more, to say what happened.
    pub sums_up: bool,
    /// Speak the answers; each once.
    pub speaks: Vec<ServiceInfo>,
}

impl Services {
    /// Reason for hearing nobody, with the fix. Reads the folder of model files.
    pub fn cannot_hear(&self) -> Option<String> {
        let missing = self.here.as_ref()?.found().err()?;
        Some(missing.to_string())
    }

    /// Those that are neither on this machine nor on its network.
    pub fn outside(&self) -> impl Iterator<Item = &ServiceInfo> {
        let all = std::iter::once(&self.hears).chain(&self.thinks).chain(&self.speaks);
        all.filter(|service| !service.is_local())
    }
}
