//! `/privacy`: what is heard of one, where it goes, and how not to be heard.
//!
//! Entry item: [`COMMAND`]. **Never**: reveals to anyone whether another person is heard.

mod records;

use serenity::all::{CreateActionRow, CreateCommand};

pub use self::records::{delete_own, purge};

use super::{
    answer::{Answer, Refusal},
    command::{Call, Own, Who},
    parts, shared,
};
use crate::{
    campaign::{Consent, ServiceInfo, Services},
    commands::PRIVACY,
    discord::{
        guild::Guild,
        ui::{
            notices::{self, also_sent, in_turn},
            reply::Reply,
        },
    },
};

/// `/privacy`.
pub const COMMAND: Own = Own { name: "privacy", register, who, run, complete: |_, _| Vec::new() };

fn who(sub: &str) -> Who {
    if sub == "purge" { Who::Dm } else { Who::Everyone }
}

fn register() -> CreateCommand {
    let info = parts::command("privacy", PRIVACY.description)
        .add_option(parts::sub("info", "Show what I hear of you, and where it goes"));
    shared::subs(&PRIVACY)
        .fold(info, CreateCommand::add_option)
        .add_option(parts::sub(
            "export",
            "Get what is written down about you, as a file only you see",
        ))
        .add_option(parts::sub("delete", "Delete what you said, and what NPCs remember of you"))
        .add_option(
            parts::sub("purge", "Game masters: delete what a player said on this server")
                .add_sub_option(
                    parts::user("user", "Player whose lines are deleted").required(true),
                ),
        )
}

fn run(guild: &mut Guild, call: &Call) -> Result<Answer, Refusal> {
    let user = call.user.get();
    match call.path.as_str() {
        "export" => Ok(records::export(guild, user)),
        "delete" => Ok(records::confirm(guild, call, None)),
        "purge" => {
            let whose = call.user("user").ok_or("no player given (use /privacy purge user)")?;
            Ok(records::confirm(guild, call, Some(whose.get())))
        }
        "optout" | "optin" => shared::run(guild, call, &PRIVACY),
        _ => {
            let settings = guild.settings();
            let you = You {
                opted_out: settings.opted_out.contains(&user),
                is_asked: guild.consent() == Consent::Ask,
                agreed: settings.agreed.contains(&user),
                cannot_hear: guild.cannot_hear(),
            };
            let text = info(&guild.services(), &you);
            Ok(Reply::private(text).titled("Your privacy").with_rows(you.rows()).into())
        }
    }
}

/// Privacy state of the asker.
struct You {
    opted_out: bool,
    is_asked: bool,
    agreed: bool,
    /// Reason for hearing no player, with the fix.
    cannot_hear: Option<String>,
}

impl You {
    fn is_heard(&self) -> bool {
        !self.opted_out && (self.agreed || !self.is_asked)
    }

    /// The button that changes it; those of the notices do the same.
    fn rows(&self) -> Vec<CreateActionRow> {
        let button = if self.is_heard() { notices::opt_out() } else { notices::opt_in() };
        vec![CreateActionRow::Buttons(vec![button])]
    }
}

fn info(services: &Services, you: &You) -> String {
    let now = match you {
        You { opted_out: true, .. } => "You opted out: I don't hear you.".to_owned(),
        You { cannot_hear: Some(why), .. } => {
            format!("I can't hear anyone: {why}. Once this is fixed, the following applies.")
        }
        You { is_asked: true, agreed: false, .. } => {
            "You have not agreed: I don't hear you.".to_owned()
        }
        _ => "I hear you while a session runs and you are in its voice channel.".to_owned(),
    };
    let speaks =
        services.speaks.iter().map(ServiceInfo::where_it_is).collect::<Vec<_>>().join(", ");
    let leaves = match services.outside().next() {
        None => {
            "None of this leaves the machine and network I run on, unless an NPC uses a tool \
             that sends it out."
        }
        Some(_) => "Each outside service keeps what it gets under its own terms.",
    };
    let again = match services.sums_up {
        true => " After a session, everything written down in it may go there too, for the recap.",
        false => "",
    };
    format!(
        "**{now}**\n\nYour words are turned into text by {}. The part that NPCs hear goes, with \
         your name on this server, to {}, which answers for them; the answer is spoken by \
         {speaks}.{}{again} {leaves}\n\nI never store sound. I write down all I understand at the \
         table, said to an NPC or not, on the machine I run on, with your name on \
         this server, the time and who was there. I also store the NPCs' answers and the tool \
         calls they led to, so that the next session can go on from there. For this server I \
         store your character, and whether you opted out or agreed.\n\n/privacy optout: I discard \
         your sound before decoding it, delete what you said in this session, and remember this \
         after a restart. /privacy optin undoes it. /privacy export gives you what is written \
         down about you, /privacy delete deletes it.",
        services.hears.where_it_is(),
        in_turn(&services.thinks),
        also_sent(services),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::NpcService;

    fn services(thinks: Vec<ServiceInfo>) -> Services {
        let here = ServiceInfo::here;
        let (hears, speaks, sums_up) =
            (here("Whisper"), vec![here("flite")], thinks.iter().any(|it| !it.is_local()));
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
        }
    }

    #[test]
    fn privacy_info_names_services_and_outside_ones() {
        let you = You { opted_out: false, is_asked: false, agreed: false, cannot_hear: None };
        let local = ServiceInfo::here("written lines");
        let text = info(&services(vec![local.clone()]), &you);
        assert!(!text.contains("After a session"), "{text}");
        assert!(text.contains("Whisper (here, local)") && text.contains("flite"), "{text}");
        assert!(text.contains("None of this leaves"), "{text}");
        let far = ServiceInfo::at("gpt", "https://api.example.com/v1");
        let text = info(&services(vec![far.clone()]), &you);
        assert!(text.contains("After a session"), "{text}");
        assert!(text.contains("gpt at api.example.com (an outside service)"), "{text}");
        assert!(!text.contains("None of this leaves"), "{text}");
        // One that is asked only where the first cannot is named too, and leaves nothing local.
        let text = info(&services(vec![local, far]), &you);
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
        let you = You { opted_out: false, is_asked: false, agreed: false, cannot_hear: None };
        let mut services = services(vec![ServiceInfo::here("written lines")]);
        assert!(!info(&services, &you).contains("own voice"));
        let service = ServiceInfo::at("gpt-realtime-2.1", "https://api.openai.com/v1");
        services.speaks_and_hears = vec![NpcService { npcs: vec!["Bartok".to_owned()], service }];
        let text = info(&services, &you);
        let wanted = "When you talk, or seem to talk, to **Bartok**, **your own voice**, not only your words, is sent \
                      to gpt-realtime-2.1 at api.openai.com (an outside service)";
        assert!(text.contains(wanted), "{text}");
        assert!(!text.contains("None of this leaves"), "{text}");
    }

    #[test]
    fn search_service_outside_is_named() {
        let you = You { opted_out: false, is_asked: false, agreed: false, cannot_hear: None };
        let mut services = services(vec![ServiceInfo::here("written lines")]);
        services.searches = Some(ServiceInfo::at("brave", "https://api.search.brave.com"));
        let text = info(&services, &you);
        let wanted = "the query goes to brave at api.search.brave.com (an outside service).";
        assert!(text.contains(wanted), "{text}");
        assert!(!text.contains("None of this leaves"), "{text}");
    }

    #[test]
    fn it_says_whether_one_is_heard() {
        let you =
            |opted_out, is_asked, agreed| You { opted_out, is_asked, agreed, cannot_hear: None };
        assert!(you(false, false, false).is_heard());
        assert!(you(false, true, true).is_heard());
        assert!(!you(false, true, false).is_heard());
        assert!(!you(true, true, true).is_heard());
    }
}
