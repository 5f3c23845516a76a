//! The text of `/privacy info`: whether a person is heard, and who receives and stores their words.
//!
//! Entry function: [`text`].

use super::sent::also_sent;
use crate::{
    campaign::{OutsidePrograms, ServiceInfo},
    commands::stored::{FaceWords, HeardState},
};

/// Describes `hearing` to the person, in the words of `place`.
pub fn text(hearing: &HeardState, place: &FaceWords) -> String {
    let HeardState { now, services, named, .. } = hearing;
    let FaceWords { name, written, opting_out, .. } = place;
    let speaks =
        services.speaks.iter().map(ServiceInfo::where_it_is).collect::<Vec<_>>().join(", ");
    let leaves = match (services.outside().next(), services.programs) {
        (None, None) => {
            "None of this leaves the machine and network I run on, unless an NPC uses a tool \
             that sends it out."
        }
        (None, Some(_)) => {
            "None of this leaves the machine and network I run on, unless an NPC uses a tool \
             that sends it out, or one of these programs does."
        }
        (Some(_), _) => "Each outside service keeps what it gets under its own terms.",
    };
    let again = match services.sums_up {
        true => " After a session, everything written down in it may go there too, for the recap.",
        false => "",
    };
    format!(
        "**{now}**\n\nYour words are turned into text by {}. The part that NPCs hear goes, with \
         {name}, to {}, which answers for them; the answer is spoken by \
         {speaks}.{}{}{again} {leaves}\n\nI never store sound. {written}\n\n/privacy optout: \
         {opting_out} /privacy optin undoes it. /privacy export gives you what is written \
         down about you, /privacy delete deletes it.",
        ServiceInfo::in_turn(&services.hears),
        ServiceInfo::in_turn(&services.thinks),
        also_sent(services, *named),
        services.programs.map(connected).unwrap_or_default(),
    )
}

/// Where programs outside connect.
fn connected(programs: OutsidePrograms) -> String {
    let from = match programs.at.ip().is_loopback() {
        true => "on this machine",
        false => "which other machines reach",
    };
    format!(" They connect to my listener at {}, {from}.", programs.at)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        campaign::{NpcService, Services},
        commands::stand_in::PLACE,
    };

    fn services(thinks: Vec<ServiceInfo>) -> Services {
        let here = ServiceInfo::here;
        let (hears, speaks, sums_up) =
            (vec![here("Whisper")], vec![here("flite")], thinks.iter().any(|it| !it.is_local()));
        Services {
            hears,
            here: None,
            thinks,
            sums_up,
            speaks,
            speaks_and_hears: Vec::new(),
            compares: None,
            draws: None,
            searches: None,
            programs: None,
            collector: None,
        }
    }

    /// The text for a person who is heard by these services.
    fn told(services: &Services) -> String {
        let (now, services) = ("I hear you.".to_owned(), Arc::new(services.clone()));
        let named = |name: &str| format!("**{name}**");
        text(&HeardState { now, is_heard: true, services, named }, &PLACE)
    }

    #[test]
    fn privacy_info_names_services_and_outside_ones() {
        let local = ServiceInfo::here("written lines");
        let text = told(&services(vec![local.clone()]));
        assert!(!text.contains("After a session"), "{text}");
        assert!(text.contains("Whisper (here, local)") && text.contains("flite"), "{text}");
        assert!(text.contains("None of this leaves"), "{text}");
        let far = ServiceInfo::at("gpt", "https://api.example.com/v1");
        let text = told(&services(vec![far.clone()]));
        assert!(text.contains("After a session"), "{text}");
        assert!(text.contains("gpt at api.example.com (an outside service)"), "{text}");
        assert!(!text.contains("None of this leaves"), "{text}");
        // A fallback is named too; an outside one means that words may leave.
        let text = told(&services(vec![local, far]));
        assert!(
            text.contains(
                "written lines (here, local), else gpt at api.example.com (an outside service)"
            ),
            "{text}"
        );
        assert!(!text.contains("None of this leaves"), "{text}");
    }

    #[test]
    fn it_says_which_npcs_hear_ones_own_voice() {
        let mut services = services(vec![ServiceInfo::here("written lines")]);
        assert!(!told(&services).contains("own voice"));
        let service = ServiceInfo::at("gpt-realtime-2.1", "https://api.openai.com/v1");
        services.speaks_and_hears = vec![NpcService { npcs: vec!["Bartok".to_owned()], service }];
        let text = told(&services);
        let wanted = "When you talk, or seem to talk, to **Bartok**, **your own voice**, not only your words, is sent \
                      to gpt-realtime-2.1 at api.openai.com (an outside service)";
        assert!(text.contains(wanted), "{text}");
        assert!(!text.contains("None of this leaves"), "{text}");
    }

    #[test]
    fn collector_that_receives_words_is_named() {
        let mut services = services(vec![ServiceInfo::here("written lines")]);
        let collector = ServiceInfo::at("a collector of traces", "https://t.example/v1/traces");
        services.collector = Some(collector);
        let text = told(&services);
        let wanted = "goes to a collector of traces at t.example (an outside service).";
        assert!(text.contains(wanted), "{text}");
        assert!(!text.contains("None of this leaves"), "{text}");
    }

    #[test]
    fn listener_and_what_it_hears_are_named() {
        let mut services = services(vec![ServiceInfo::here("written lines")]);
        assert!(!told(&services).contains("token"), "the listener is off");
        let mut programs = OutsidePrograms { at: ([127, 0, 0, 1], 4100).into(), may_listen: false };
        services.programs = Some(programs);
        let text = told(&services);
        let wanted = "Programs with a token of the game master may read what is written down and let \
                      characters speak. They connect to my listener at 127.0.0.1:4100, on this \
                      machine.";
        assert!(text.contains(wanted), "{text}");
        assert!(text.contains("sends it out, or one of these programs does."), "{text}");
        assert!(!text.contains("voice.listen"), "{text}");
        programs = OutsidePrograms { at: ([0, 0, 0, 0], 4100).into(), may_listen: true };
        services.programs = Some(programs);
        let text = told(&services);
        let wanted = "let characters speak, and **listen** (voice.listen): they get your words as \
                      text at once. They connect to my listener at 0.0.0.0:4100, \
                      which other machines reach.";
        assert!(text.contains(wanted), "{text}");
    }

    #[test]
    fn search_service_outside_is_named() {
        let mut services = services(vec![ServiceInfo::here("written lines")]);
        services.searches = Some(ServiceInfo::at("brave", "https://api.search.brave.com"));
        let text = told(&services);
        let wanted = "the query goes to brave at api.search.brave.com (an outside service).";
        assert!(text.contains(wanted), "{text}");
        assert!(!text.contains("None of this leaves"), "{text}");
    }
}
