//! Settings of a server that go with its campaign.
//!
//! Entry type: [`CarriedSettings`]. An opt-out always goes along. **Never**: carries a consent, an
//! approval, a right, or the address or token of a service.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{
    campaign::{Consent, GuildSettings},
    domain::one_line,
};

/// File of [`CarriedSettings`] in an export.
pub const SETTINGS: &str = "settings.json";
/// Loudest music, in percent.
const VOLUME_MAX: u8 = 100;
/// Longest name of a character, in characters.
const NAME_MAX: usize = 100;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CarriedSettings {
    /// Form of consent; `None`: the configured one.
    pub consent: Option<Consent>,
    /// Users who are never heard.
    pub opted_out: BTreeSet<u64>,
    /// Characters by user id; empty for a user who plays none.
    pub characters: BTreeMap<u64, String>,
    /// Volume of music, in percent.
    pub music_volume: Option<u8>,
}

impl CarriedSettings {
    pub fn of(settings: &GuildSettings) -> Self {
        Self {
            consent: settings.consent,
            opted_out: settings.opted_out.clone(),
            characters: settings.characters.clone(),
            music_volume: settings.music_volume,
        }
    }

    /// `settings` with what they lack; `None`: nothing.
    pub fn added_to(&self, settings: &GuildSettings) -> Option<GuildSettings> {
        let mut all = settings.clone();
        all.opted_out.extend(&self.opted_out);
        all.agreed.retain(|user| !self.opted_out.contains(user));
        for (user, character) in &self.characters {
            all.characters.entry(*user).or_insert_with(|| one_line(character, NAME_MAX));
        }
        // Only the stricter form may replace the configured one.
        all.consent = all.consent.or(self.consent.filter(|it| *it == Consent::Ask));
        all.music_volume = all.music_volume.or(self.music_volume.map(|it| it.min(VOLUME_MAX)));
        if all == *settings {
            return None;
        }
        all.revision += 1;
        Some(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::AddedServer;

    #[test]
    fn opt_outs_travel_and_rights_do_not() {
        let server = AddedServer { token: Some("sesame".to_owned()), ..AddedServer::default() };
        let mut there = GuildSettings::default();
        there.let_in = true;
        there.dm_role = Some(3);
        there.opted_out = [11].into();
        there.agreed = [12].into();
        there.characters = [(12, "Thorin".to_owned())].into();
        there.servers = [("home".to_owned(), server)].into();
        let text = serde_json::to_string(&CarriedSettings::of(&there)).unwrap();
        assert!(!text.contains("sesame") && !text.contains("agreed"), "{text}");
        let carried: CarriedSettings = serde_json::from_str(&text).unwrap();
        let mut here = GuildSettings::default();
        here.agreed = [11].into();
        here.revision = 4;
        let all = carried.added_to(&here).unwrap();
        assert_eq!((all.revision, all.let_in, all.dm_role), (5, false, None));
        assert_eq!(all.opted_out, BTreeSet::from([11]));
        assert!(all.agreed.is_empty());
        assert_eq!(all.characters[&12], "Thorin");
        assert_eq!(carried.added_to(&all), None);
    }
}
