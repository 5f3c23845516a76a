//! A voice for a person who came without one, of those that can speak here.
//!
//! Entry items: [`VoiceOffer`], [`choose`]; [`of_card`] for one that came with a voice of ours. Pure: the same person gets the same voice each time.

use serde_json::Value;

use super::looks::{Age, Gender, Looks, Size};
use crate::{domain::fnv1a, provider::VoiceService};

/// Names of Piper's and other networks' speakers.
const WOMEN: &[&str] = &[
    "amy", "alba", "cori", "eva", "jenny", "kathleen", "kerstin", "kristin", "lessac", "ljspeech",
    "ramona", "siwis", "female", "nova", "shimmer", "coral", "sage", "slt",
];
/// Names of Piper's and other networks' speakers.
const MEN: &[&str] = &[
    "alan", "bryce", "danny", "joe", "john", "karlsson", "kusal", "norman", "pavoque", "ryan",
    "thorsten", "male", "onyx", "echo", "ash", "ballad", "fable", "verse", "rms", "awb", "kal",
    "kal16",
];

/// Most voices named in a refusal.
const NAMED_MAX: usize = 12;

/// No voice has this name.
#[derive(Debug, thiserror::Error)]
#[error("unknown voice '{name}' (use one of: {known})")]
pub struct UnknownVoice {
    name: String,
    known: String,
}

/// A voice that can speak.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VoiceOffer {
    pub service: VoiceService,
    pub voice_id: String,
}

/// A voice with its settings.
#[derive(Clone, Debug, PartialEq)]
pub struct ChosenVoice {
    pub provider: &'static str,
    pub voice_id: String,
    /// Semitones.
    pub pitch_shift: f32,
    /// Semitones; 0 where the service does not shift them.
    pub formant_shift: f32,
    pub speed_factor: f32,
    /// Voice of flite that replaces this one if it fails.
    pub fallback: Option<&'static str>,
    /// Why this one, in a few words of ours.
    pub why: String,
}

impl ChosenVoice {
    /// The voice of `offer` as it is, since the game master has named it.
    pub fn named(offer: &VoiceOffer) -> Self {
        Self {
            provider: offer.service.name(),
            voice_id: offer.voice_id.clone(),
            pitch_shift: 0.0,
            formant_shift: 0.0,
            speed_factor: 1.0,
            fallback: None,
            why: "you named it".to_owned(),
        }
    }
}

impl VoiceOffer {
    /// The one of `offers` with this name: "amy" or "piper amy". Fails with some of their names.
    pub fn find<'o>(offers: &'o [Self], name: &str) -> Result<&'o Self, UnknownVoice> {
        let wanted = name.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        let is_wanted =
            |it: &&Self| [it.voice_id.to_lowercase(), it.name().to_lowercase()].contains(&wanted);
        offers.iter().find(is_wanted).ok_or_else(|| {
            let mut known: Vec<String> =
                offers.iter().take(NAMED_MAX).map(|it| format!("'{}'", it.name())).collect();
            if let Some(more) = offers.len().checked_sub(NAMED_MAX).filter(|&more| more > 0) {
                known.push(format!("{more} more"));
            }
            UnknownVoice { name: name.to_owned(), known: known.join(", ") }
        })
    }

    /// "piper amy".
    fn name(&self) -> String {
        format!("{} {}", self.service.name(), self.voice_id)
    }

    fn gender(&self) -> Option<Gender> {
        let id = self.voice_id.to_lowercase();
        if self.service == VoiceService::Kokoro {
            return match id.as_bytes().get(1) {
                Some(b'f') => Some(Gender::Female),
                Some(b'm') => Some(Gender::Male),
                _ => None,
            };
        }
        if let Some((_, variant)) = id.split_once('+') {
            let is_female = variant.starts_with('f');
            return Some(if is_female { Gender::Female } else { Gender::Male });
        }
        let mut parts = id.split(|c: char| !c.is_ascii_alphanumeric());
        parts.find_map(|part| match part {
            _ if WOMEN.contains(&part) => Some(Gender::Female),
            _ if MEN.contains(&part) => Some(Gender::Male),
            _ => None,
        })
    }

    /// True if it can speak `language`, an ISO 639-1 code, as far as its name says.
    fn speaks(&self, language: &str) -> bool {
        if self.service.traits().english_only {
            return language == "en";
        }
        let begin = self.voice_id.get(..3).unwrap_or_default().to_lowercase();
        match begin.strip_suffix(['_', '-', '+']) {
            Some(own) if own.chars().all(|c| c.is_ascii_lowercase()) => own == language,
            _ => self.voice_id != "joe" || language == "en",
        }
    }
}

/// The voice for a person called `name` who speaks `language`, of `offers`, the preferred ones first.
/// `None`: none is offered.
pub fn choose(
    name: &str,
    language: &str,
    looks: &Looks,
    offers: &[VoiceOffer],
) -> Option<ChosenVoice> {
    let wanted = looks.gender.map(|(gender, _)| gender);
    let fit = |offer: &VoiceOffer| {
        let of_gender = match (wanted, offer.gender()) {
            (Some(wanted), Some(own)) if wanted != own => 0,
            (Some(_), None) => 1,
            _ => 2_u8,
        };
        (offer.speaks(language), of_gender)
    };
    let best = offers.iter().map(fit).max()?;
    let service = offers.iter().find(|offer| fit(offer) == best)?.service;
    let equal: Vec<&VoiceOffer> =
        offers.iter().filter(|it| it.service == service && fit(it) == best).collect();
    // Different people sound different, each the same in every import.
    let count = u64::try_from(equal.len()).ok()?;
    let at = usize::try_from(fnv1a(name.bytes()).checked_rem(count)?).ok()?;
    let mut voice = adjusted(equal.get(at)?, looks);
    voice.fallback = fallback(service, wanted).filter(|_| language == "en");
    Some(voice)
}

/// English voice of flite that replaces a network's: its files may be missing one day, or the machine too slow.
fn fallback(service: VoiceService, gender: Option<Gender>) -> Option<&'static str> {
    let is_network = matches!(service, VoiceService::Piper | VoiceService::Kokoro);
    is_network.then_some(if gender == Some(Gender::Female) { "slt" } else { "rms" })
}

/// The voice in `extension` of a card that was exported here, if it is one of `offers`.
pub fn of_card(extension: &Value, offers: &[VoiceOffer]) -> Option<ChosenVoice> {
    let voice = extension.get("voice")?;
    let (service, id) = (voice.get("provider")?.as_str()?, voice.get("voice_id")?.as_str()?);
    let offer = offers.iter().find(|it| it.service.name() == service && it.voice_id == id)?;
    let number = |key: &str, default: f32| {
        let number: Option<f32> = voice.get(key).and_then(|it| it.to_string().parse().ok());
        number.filter(|it| it.is_finite()).unwrap_or(default)
    };
    let shifts = offer.service.traits().shifts_formants;
    Some(ChosenVoice {
        provider: offer.service.name(),
        voice_id: offer.voice_id.clone(),
        pitch_shift: number("pitch_shift", 0.0).clamp(-10.0, 10.0),
        formant_shift: if shifts { number("formant_shift", 0.0).clamp(-6.0, 6.0) } else { 0.0 },
        speed_factor: number("speed_factor", 1.0).clamp(0.5, 2.0),
        fallback: fallback(offer.service, offer.gender()).filter(|_| offer.speaks("en")),
        why: "the card names it".to_owned(),
    })
}

/// The voice of `offer`, closer to a person who looks so.
fn adjusted(offer: &VoiceOffer, looks: &Looks) -> ChosenVoice {
    let (mut pitch, mut formants, mut speed) = (0.0_f32, 0.0_f32, 1.0_f32);
    let mut why = Vec::new();
    if let Some((gender, word)) = looks.gender {
        why.push(format!("'{word}'"));
        let (up, other) = match gender {
            Gender::Female => (1.0, Gender::Male),
            Gender::Male => (-1.0, Gender::Female),
        };
        if offer.gender() == Some(other) {
            pitch += 4.0 * up;
            formants += 2.0 * up;
        }
    }
    if let Some((age, word)) = looks.age {
        why.push(format!("'{word}'"));
        match age {
            Age::Child => (pitch, formants) = (pitch + 3.0, formants + 2.5),
            Age::Young => (pitch, speed) = (pitch + 1.0, 1.04),
            Age::Old => (pitch, speed) = (pitch - 1.0, 0.92),
        }
    }
    if let Some((size, word)) = looks.size {
        why.push(format!("'{word}'"));
        let up = if size == Size::Small { 1.0 } else { -1.0 };
        pitch += 1.5 * up;
        formants += 2.0 * up;
    }
    let why = match why.is_empty() {
        true => "the text says neither gender nor age".to_owned(),
        false => format!("the text says {}", why.join(", ")),
    };
    let shifts = offer.service.traits().shifts_formants;
    ChosenVoice {
        provider: offer.service.name(),
        voice_id: offer.voice_id.clone(),
        pitch_shift: pitch.clamp(-10.0, 10.0),
        formant_shift: if shifts { formants.clamp(-6.0, 6.0) } else { 0.0 },
        speed_factor: speed,
        fallback: None,
        why,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offers(of: &[(VoiceService, &str)]) -> Vec<VoiceOffer> {
        let offer = |(service, id): &(VoiceService, &str)| VoiceOffer {
            service: *service,
            voice_id: (*id).to_owned(),
        };
        of.iter().map(offer).collect()
    }

    fn chosen(language: &str, text: &str, of: &[VoiceOffer]) -> ChosenVoice {
        choose("Luna", language, &Looks::of(&[], text), of).unwrap()
    }

    #[test]
    fn voice_fits_gender_before_the_order() {
        use VoiceService::{Flite, Kokoro, Piper};
        let all =
            offers(&[(Piper, "joe"), (Kokoro, "bm_george"), (Kokoro, "af_heart"), (Flite, "slt")]);
        let voice = chosen("en", "She trusts her sister.", &all);
        assert_eq!((voice.provider, voice.voice_id.as_str()), ("kokoro", "af_heart"));
        assert!((voice.pitch_shift, voice.formant_shift) == (0.0, 0.0), "{voice:?}");
        assert_eq!(voice.why, "the text says 'she'");
        assert_eq!(chosen("en", "He is here.", &all).voice_id, "joe");
        assert_eq!(chosen("en", "", &all).voice_id, "joe", "the first one offered");
    }

    #[test]
    fn only_voice_is_shifted_towards_the_person() {
        let joe = offers(&[(VoiceService::Piper, "joe")]);
        let voice = chosen("en", "She is a child, a goblin.", &joe);
        assert!(voice.pitch_shift > 5.0 && voice.formant_shift > 4.0, "{voice:?}");
        let slt = offers(&[(VoiceService::Flite, "slt")]);
        let voice = chosen("en", "He is an old man, an orc.", &slt);
        assert!(voice.pitch_shift < -5.0 && voice.speed_factor < 1.0, "{voice:?}");
        assert!(voice.formant_shift == 0.0, "flite does not shift them");
    }

    #[test]
    fn language_comes_before_gender() {
        use VoiceService::{Espeak, Flite, Piper};
        let all = offers(&[(Flite, "rms"), (Espeak, "de+f3"), (Piper, "de_DE-thorsten-medium")]);
        assert_eq!(chosen("de", "He is here.", &all).voice_id, "de_DE-thorsten-medium");
        assert_eq!(chosen("en", "He is here.", &all).voice_id, "rms");
        assert_eq!(choose("A", "en", &Looks::default(), &[]), None);
    }

    #[test]
    fn voice_of_an_exported_card_returns_if_offered() {
        let voice = serde_json::json!({
            "provider": "piper", "voice_id": "joe", "pitch_shift": -1.1, "speed_factor": 99,
        });
        let card = &serde_json::json!({ "voice": voice });
        let found = of_card(card, &offers(&[(VoiceService::Piper, "joe")])).unwrap();
        assert_eq!((found.provider, found.voice_id.as_str()), ("piper", "joe"));
        assert!((found.pitch_shift, found.speed_factor) == (-1.1, 2.0), "{found:?}");
        assert_eq!(of_card(card, &offers(&[(VoiceService::Flite, "joe")])), None);
        assert_eq!(of_card(&Value::Null, &[]), None);
    }

    #[test]
    fn same_person_gets_the_same_voice() {
        let many = ["af_sky", "af_nova", "am_puck", "am_onyx", "bf_lily", "bm_lewis"];
        let many = offers(&many.map(|id| (VoiceService::Kokoro, id)));
        let voice = |name: &str| choose(name, "en", &Looks::default(), &many).unwrap().voice_id;
        assert_eq!(voice("Luna"), voice("Luna"));
        assert!(["Anna", "Bert", "Carl", "Dora"].iter().any(|name| voice(name) != voice("Luna")));
    }

    #[test]
    fn named_voice_is_found_and_stays_as_it_is() {
        use VoiceService::{Kokoro, Piper};
        let all = offers(&[(Kokoro, "af_heart"), (Piper, "joe")]);
        for name in ["joe", "JOE", " piper  joe "] {
            assert_eq!(VoiceOffer::find(&all, name).unwrap(), &all[1], "{name}");
        }
        let voice = ChosenVoice::named(&all[1]);
        assert!(voice.pitch_shift == 0.0 && voice.speed_factor == 1.0, "{voice:?}");
        let why = VoiceOffer::find(&all, "kokoro joe").unwrap_err().to_string();
        let known = "unknown voice 'kokoro joe' (use one of: 'kokoro af_heart', 'piper joe')";
        assert_eq!(why, known);
    }
}
