//! Settings of a server that go with its campaign.
//!
//! Entry type: [`CarriedSettings`]. An opt-out always goes along. **Never**: carries a consent, an
//! approval, a right, or the address or token of a service.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::campaign::{Consent, GuildSettings};

/// File of [`CarriedSettings`] in an export.
pub const SETTINGS: &str = "settings.json";
/// Loudest music, in percent.
const VOLUME_MAX: u8 = 100;

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
            all.characters.entry(*user).or_insert_with(|| character.clone());
        }
        all.consent = all.consent.or(self.consent);
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
        let there = GuildSettings {
            let_in: true,
            dm_role: Some(3),
            opted_out: [11].into(),
            agreed: [12].into(),
            characters: [(12, "Thorin".to_owned())].into(),
            servers: [("home".to_owned(), server)].into(),
            ..GuildSettings::default()
        };
        let text = serde_json::to_string(&CarriedSettings::of(&there)).unwrap();
        assert!(!text.contains("sesame") && !text.contains("agreed"), "{text}");
        let carried: CarriedSettings = serde_json::from_str(&text).unwrap();
        let here = GuildSettings { agreed: [11].into(), revision: 4, ..GuildSettings::default() };
        let all = carried.added_to(&here).unwrap();
        assert_eq!((all.revision, all.let_in, all.dm_role), (5, false, None));
        assert_eq!((&all.opted_out, &all.agreed), (&[11].into(), &BTreeSet::new()));
        assert_eq!(all.characters[&12], "Thorin");
        assert_eq!(carried.added_to(&all), None);
    }
}
