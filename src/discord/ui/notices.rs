//! The notice that the characters listen: spoken, and written with its buttons.
//!
//! Entry functions: [`spoken`], [`written`]. **Never**: selects the recipients.

use serenity::all::{ButtonStyle, CreateActionRow, CreateButton, CreateMessage};

use crate::{
    campaign::{Consent, ServiceInfo, Services},
    commands::also_sent,
    discord::ui::{
        action::{Action, ConsentButton},
        names::{escaped, strong},
    },
};

pub fn spoken(consent: Consent, services: &Services) -> String {
    let listens = match consent {
        Consent::Notice => {
            "Hello. The characters of this game listen in this channel. To opt out, type slash \
             privacy."
        }
        Consent::Ask => {
            "Hello. The characters of this game would like to listen in this channel. You are \
             heard only after you press the button in the text channel."
        }
    };
    let own_voice = spoken_names(services, "and", "others")
        .map(|npcs| format!(" When you talk to {npcs}, a service is sent your own voice."));
    let programs = may_listen(services)
        .then_some(" Programs of the game master may receive your words as text, too.");
    [listens, own_voice.as_deref().unwrap_or_default(), programs.unwrap_or_default()].concat()
}

pub fn spoken_german(consent: Consent, services: &Services) -> String {
    let listens = match consent {
        Consent::Notice => {
            "Hallo. Die Figuren dieses Spiels hören in diesem Kanal zu. Wer nicht gehört werden will, \
             schreibt Schrägstrich privacy."
        }
        Consent::Ask => {
            "Hallo. Die Figuren dieses Spiels möchten in diesem Kanal zuhören. Niemand wird gehört, \
             bevor er den Knopf im Textkanal gedrückt hat."
        }
    };
    let own_voice = spoken_names(services, "und", "anderen")
        .map(|npcs| format!(" Wer mit {npcs} spricht, dessen eigene Stimme erhält ein Dienst."));
    let programs = may_listen(services)
        .then_some(" Auch Programme der Spielleitung können das Gesagte als Text erhalten.");
    [listens, own_voice.as_deref().unwrap_or_default(), programs.unwrap_or_default()].concat()
}

/// True if programs outside may receive words as they are said.
fn may_listen(services: &Services) -> bool {
    services.programs.is_some_and(|programs| programs.may_listen)
}

/// Most names spoken in the notice.
const SPOKEN_MAX: usize = 3;

/// Spoken names of NPCs whose service receives players' voices; `None` without any.
fn spoken_names(services: &Services, and: &str, others: &str) -> Option<String> {
    let all = services.speaks_and_hears.iter().flat_map(|it| &it.npcs);
    let mut names: Vec<&str> = all.map(String::as_str).collect();
    if names.len() > SPOKEN_MAX {
        names.truncate(SPOKEN_MAX);
        names.push(others);
    }
    let (last, first) = names.split_last()?;
    Some(if first.is_empty() {
        (*last).to_owned()
    } else {
        format!("{} {and} {last}", first.join(", "))
    })
}

/// Spoken notice of a table that cannot hear.
pub const SPOKEN_UNHEARD: &str = "Hello. The characters of this game cannot hear you. Write to \
     them with slash say, and stop a scene with slash x card.";

/// Line of the panel while programs outside may listen.
pub const LISTENED: &str = "those with a token may listen here (voice.listen)";

/// Message for a table that cannot hear; `why` is the reason.
pub fn cannot_hear(why: &str) -> String {
    format!(
        "I can't hear anyone: {why}. The characters still speak, and answer text sent with /say. New \
         model files take effect with the next session."
    )
}

/// Written notice of a table that cannot hear, for these newcomers in the channel `voice`.
pub fn written_unheard(names: &[&str], voice: u64) -> CreateMessage {
    let names = people(names);
    CreateMessage::new().content(format!(
        "**{names}**: the characters of this game cannot hear you in <#{voice}>. Write to them with \
         /say. Saying \"X-card\" aloud does nothing: use /xcard, or the button of the panel."
    ))
}

/// Most characters of people's names in a notice.
const PEOPLE_MAX: usize = 240;

/// Every service that may receive speech or answers.
fn given_to(services: &Services) -> String {
    format!(
        "It is heard by {}, answered by {} and spoken by {}.{}",
        ServiceInfo::in_turn(&services.hears),
        ServiceInfo::in_turn(&services.thinks),
        services.speaks.iter().map(ServiceInfo::where_it_is).collect::<Vec<_>>().join(", "),
        also_sent(services, strong),
    )
}

fn people(names: &[&str]) -> String {
    let mut line = String::new();
    for (index, name) in names.iter().enumerate() {
        let name = escaped(name);
        if index > 0 && line.chars().count() + name.chars().count() > PEOPLE_MAX {
            return format!("{line} and {} more", names.len() - index);
        }
        if index > 0 {
            line += ", ";
        }
        line += &name;
    }
    line
}

/// The notice for these people in the channel `voice`; `services` receive their words.
pub fn written(names: &[&str], voice: u64, consent: Consent, services: &Services) -> CreateMessage {
    let given_to = given_to(services);
    let names = people(names);
    let (text, buttons) = match consent {
        Consent::Notice => (
            format!(
                "**{names}**: the characters of this game listen in <#{voice}>. Your words are \
                 turned into text, answered and written down; I keep no sound. You may opt \
                 out at any time; /privacy info says where it goes. {given_to}"
            ),
            vec![opt_out()],
        ),
        Consent::Ask => (
            format!(
                "**{names}**: the characters of this game would like to listen in <#{voice}>. \
                 Your words are turned into text, answered and written down; I keep no sound. I \
                 hear you only after you press the button. /privacy info says where it goes. \
                 {given_to}"
            ),
            vec![opt_in().style(ButtonStyle::Primary), opt_out()],
        ),
    };
    CreateMessage::new().content(text).components(vec![CreateActionRow::Buttons(buttons)])
}

pub fn opt_out() -> CreateButton {
    CreateButton::new(Action::Consent(ConsentButton::Out).id())
        .label("Do not hear me")
        .style(ButtonStyle::Secondary)
}

pub fn opt_in() -> CreateButton {
    CreateButton::new(Action::Consent(ConsentButton::In).id())
        .label("Let the characters hear me")
        .style(ButtonStyle::Secondary)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::{NpcService, OutsidePrograms};

    #[test]
    fn notice_names_every_service_that_may_be_asked() {
        let here = ServiceInfo::here;
        let services = Services {
            hears: vec![here("Whisper")],
            here: None,
            thinks: vec![ServiceInfo::at("gpt", "https://api.example.com/v1"), here("lines")],
            sums_up: true,
            speaks: vec![here("flite"), here("Piper")],
            speaks_and_hears: Vec::new(),
            compares: None,
            draws: None,
            searches: None,
            programs: None,
            collector: None,
        };
        for consent in [Consent::Notice, Consent::Ask] {
            let text = format!("{:?}", written(&["Anna"], 7, consent, &services));
            assert!(
                text.contains(
                    "answered by gpt at api.example.com (an outside service), else lines (here, \
                     local) and spoken by flite (here, local), Piper"
                ),
                "{text}"
            );
            assert!(!text.contains("own voice"), "no service is given any: {text}");
        }
    }

    #[test]
    fn service_that_compares_words_is_named() {
        let compares = Some(ServiceInfo::at("text-embedding-3-small", "https://api.openai.com/v1"));
        let services = Services { compares, ..hearing(Vec::new()) };
        let text = format!("{:?}", written(&["Anna"], 7, Consent::Notice, &services));
        let wanted =
            "your words also go to text-embedding-3-small at api.openai.com (an outside service).";
        assert!(text.contains(wanted), "{text}");
        let named = "text-embedding-3-small at api.openai.com";
        assert!(services.announced().any(|it| it == named), "it is announced");
    }

    #[test]
    fn search_service_is_named_with_its_place() {
        let searched = |name: &str, address: &str| {
            let searches = Some(ServiceInfo::at(name, address));
            let services = Services { searches, ..hearing(Vec::new()) };
            format!("{:?}", written(&["Anna"], 7, Consent::Notice, &services))
        };
        let near = searched("searxng", "http://127.0.0.1:8888");
        let wanted = "the query goes to searxng at 127.0.0.1:8888 (here, local), which passes it to \
                      public search engines.";
        assert!(near.contains(wanted), "{near}");
        let far = searched("brave", "https://search.example.org");
        assert!(far.contains("brave at search.example.org (an outside service)."), "{far}");
    }

    /// Services of which one, outside, hears and speaks for `npcs`.
    fn hearing(npcs: Vec<String>) -> Services {
        let here = ServiceInfo::here;
        let service = ServiceInfo::at("gpt-realtime-2.1", "https://api.openai.com/v1");
        Services {
            hears: vec![here("Whisper")],
            here: None,
            thinks: vec![here("lines")],
            sums_up: false,
            speaks: vec![here("flite")],
            speaks_and_hears: vec![NpcService { npcs, service }],
            compares: None,
            draws: None,
            searches: None,
            programs: None,
            collector: None,
        }
    }

    #[test]
    fn own_voices_are_announced_by_npc() {
        let services = hearing(vec!["Bartok".to_owned(), "Hale_".to_owned(), "Mira".to_owned()]);
        for consent in [Consent::Notice, Consent::Ask] {
            let text = serde_json::to_value(written(&["Anna"], 7, consent, &services)).unwrap();
            let text = text["content"].as_str().unwrap();
            let wanted = "When you talk, or seem to talk, to **Bartok**, **Hale\\_** and **Mira**, **your own voice**, \
                          not only your words, is sent to gpt-realtime-2.1 at api.openai.com (an \
                          outside service)";
            assert!(text.contains(wanted), "{text}");
        }
    }

    #[test]
    fn spoken_notice_names_npcs_that_hear_voices() {
        let odo = hearing(vec!["Odo".to_owned()]);
        let without = Services { speaks_and_hears: Vec::new(), ..hearing(Vec::new()) };
        for consent in [Consent::Notice, Consent::Ask] {
            let (english, german) = (spoken(consent, &odo), spoken_german(consent, &odo));
            let wanted = "When you talk to Odo, a service is sent your own voice.";
            assert!(english.ends_with(wanted), "{english}");
            let wanted = "Wer mit Odo spricht, dessen eigene Stimme erhält ein Dienst.";
            assert!(german.ends_with(wanted), "{german}");
            assert!(!spoken(consent, &without).contains("own voice"));
            assert!(!spoken_german(consent, &without).contains("Stimme"));
        }
        let names = |count: usize| (0..count).map(|n| format!("N{n}")).collect::<Vec<_>>();
        let said = |count| spoken(Consent::Notice, &hearing(names(count)));
        assert!(said(2).contains("talk to N0 and N1, a service"), "{}", said(2));
        assert!(said(9).contains("talk to N0, N1, N2 and others, a service"), "{}", said(9));
    }

    /// Programs of a listener on this machine.
    fn programs(may_listen: bool) -> Option<OutsidePrograms> {
        Some(OutsidePrograms { at: ([127, 0, 0, 1], 4100).into(), may_listen })
    }

    #[test]
    fn notice_says_what_programs_outside_may_do() {
        let odo = hearing(vec!["Odo".to_owned()]);
        for consent in [Consent::Notice, Consent::Ask] {
            let said = |programs| {
                let services = Services { programs, ..odo.clone() };
                let text = format!("{:?}", written(&["Anna"], 7, consent, &services));
                (text, spoken(consent, &services), spoken_german(consent, &services))
            };
            let (off, reads, listens) = (said(None), said(programs(false)), said(programs(true)));
            assert!(!off.0.contains("token"), "{}", off.0);
            let wanted = "a token of the game master may read what is written down and let characters \
                          speak.";
            assert!(reads.0.contains(wanted) && !reads.0.contains("voice.listen"), "{}", reads.0);
            assert!(listens.0.contains("listen** (voice.listen): they get your"), "{}", listens.0);
            assert_eq!((&reads.1, &reads.2), (&off.1, &off.2), "only listening is announced aloud");
            let wanted =
                "own voice. Programs of the game master may receive your words as text, too.";
            assert!(listens.1.ends_with(wanted), "{}", listens.1);
            let wanted =
                "Dienst. Auch Programme der Spielleitung können das Gesagte als Text erhalten.";
            assert!(listens.2.ends_with(wanted), "{}", listens.2);
        }
    }

    #[test]
    fn notice_of_many_npcs_still_fits() {
        let mut services = hearing((0..200).map(|n| format!("{n} {}", "x".repeat(90))).collect());
        let [one] = &services.speaks_and_hears[..] else { unreachable!("one service") };
        let service = ServiceInfo::at("gemini-3.8-live", "https://google.example");
        let other = NpcService { service, ..one.clone() };
        let far = format!("https://{}.example.org", "x".repeat(45));
        services.compares = Some(ServiceInfo::at("text-embedding-3-small", &far));
        services.draws = Some(ServiceInfo::at("gpt-image-1.5", &far));
        services.searches = Some(ServiceInfo::at("searxng", &far));
        services.programs = programs(true);
        let cloud = ServiceInfo::at("gpt-5.1-mini", "https://api.openai.com/v1");
        services.hears = vec![cloud.clone()];
        services.thinks.insert(0, cloud.clone());
        services.speaks = vec![cloud];
        let people = ["Anna the Bold"; 40];
        for named in 1..=2 {
            let message = written(&people, u64::MAX, Consent::Ask, &services);
            let text = serde_json::to_value(message).unwrap();
            let text = text["content"].as_str().unwrap();
            assert!(text.chars().count() < 2_000, "{text}");
            assert_eq!(text.matches(" more NPCs, **your own").count(), named, "{text}");
            services.speaks_and_hears.push(other.clone());
        }
    }
}
