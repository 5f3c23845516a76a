//! Actions of buttons, menus and forms, and the ids that Discord stores for them.
//!
//! Entry types: [`Action`], [`ButtonPress`]. An id holds all that its button needs, so buttons
//! still work after a restart. **Never**: trusts that Discord showed a button only to those allowed
//! to press it.

use serenity::all::{ChannelId, Permissions, UserId};

use crate::{campaign::FactId, domain::CampaignKey};

/// A pressed button, a choice from a menu, or a submitted form.
#[derive(Debug)]
pub struct ButtonPress {
    pub user: UserId,
    pub name: String,
    pub is_dm: bool,
    pub may: Permissions,
    pub channel: ChannelId,
    /// Chosen values, or each field of the form, in order.
    pub values: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    Panel(PanelButton),
    /// The presser's own consent.
    Consent(ConsentButton),
    Decision {
        key: String,
        step: DecisionStep,
    },
    AnswerPage {
        key: String,
        page: usize,
    },
    Fact {
        place: FactPlace,
        id: FactId,
        step: FactStep,
    },
    /// Another page of the proposed facts; the number of facts before it.
    FactsPage(usize),
    /// Removes the entity with this id.
    RemoveEntity(String),
    KeepEntity,
    /// Imports the previewed file with this key.
    Import {
        key: String,
        knows_secrets: bool,
    },
    Setup(SetupChoice),
    /// Deletes this user's lines everywhere.
    DeleteOwn(u64),
    /// Deletes this user's lines on this server.
    Purge(u64),
    /// Lets the NPC whose name has this hash say how it sounds.
    HearVoice(u64),
}

/// A closed set of buttons, each with its word in an id.
macro_rules! buttons {
    ($(#[$doc:meta])* $name:ident { $($(#[$each:meta])* $button:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[$each])* $button,)+
        }

        impl $name {
            #[cfg(test)]
            const ALL: &[Self] = &[$(Self::$button,)+];

            fn word(self) -> &'static str {
                match self {
                    $(Self::$button => $word,)+
                }
            }

            fn read(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$button),)+
                    _ => None,
                }
            }
        }
    };
}

buttons! {
    PanelButton {
        Mute = "mute",
        /// The NPCs answer no one until resumed.
        Pause = "pause",
        Resume = "resume",
        Next = "next",
        /// Halts the table and takes back the last exchange.
        XCard = "xcard",
        StopMusic = "music",
        End = "end",
    }
}

buttons! {
    ConsentButton {
        In = "in",
        Out = "out",
    }
}

buttons! {
    DecisionStep {
        Approve = "approve",
        /// Approves this call and later ones of the tool.
        Always = "always",
        Deny = "deny",
        Edit = "edit",
        Edited = "edited",
        Accept = "accept",
        Decline = "decline",
        Fill = "fill",
    }
}

buttons! {
    FactPlace {
        Message = "fact",
        List = "facts",
    }
}

buttons! {
    FactStep {
        Accept = "accept",
        Reject = "reject",
        Edit = "edit",
        Edited = "edited",
    }
}

buttons! {
    SetupChoice {
        Role = "role",
        /// The channel for approvals and messages to the game master.
        Log = "log",
        Consent = "consent",
        /// Plays a test line.
        Test = "test",
    }
}

impl Action {
    /// Reads the id of a pressed button; `None`: an outdated one.
    pub fn read(id: &str) -> Option<Self> {
        let (kind, rest) = id.split_once(':')?;
        let (first, last) = rest.split_once(':').unwrap_or((rest, ""));
        match kind {
            "panel" => PanelButton::read(rest).map(Self::Panel),
            "consent" => ConsentButton::read(rest).map(Self::Consent),
            "setup" => SetupChoice::read(rest).map(Self::Setup),
            "desk" => {
                let key = last.to_owned();
                match first.strip_prefix("filled-") {
                    Some(page) => Some(Self::AnswerPage { key, page: page.parse().ok()? }),
                    None => DecisionStep::read(first).map(|step| Self::Decision { key, step }),
                }
            }
            "facts" if first == "page" => last.parse().ok().map(Self::FactsPage),
            "fact" | "facts" => {
                let (place, step) = (FactPlace::read(kind)?, FactStep::read(first)?);
                let (fact, campaign) = last.split_once(':')?;
                let campaign = CampaignKey(campaign.to_owned());
                let id = FactId { campaign, fact: fact.to_owned() };
                Some(Self::Fact { place, id, step })
            }
            "entity" if rest == "keep" => Some(Self::KeepEntity),
            "entity" => Some(Self::RemoveEntity(rest.strip_prefix("remove:")?.to_owned())),
            "import" => {
                let knows_secrets = first == "npc";
                let key = last.to_owned();
                (knows_secrets || first == "dm").then_some(Self::Import { key, knows_secrets })
            }
            "privacy" if first == "delete" => last.parse().ok().map(Self::DeleteOwn),
            "voice" if first == "hear" => last.parse().ok().map(Self::HearVoice),
            "privacy" if first == "purge" => last.parse().ok().map(Self::Purge),
            _ => None,
        }
    }

    /// The id that Discord stores. Messages of earlier versions have it too: **never** change it.
    pub fn id(&self) -> String {
        match self {
            Self::Panel(button) => format!("panel:{}", button.word()),
            Self::Consent(button) => format!("consent:{}", button.word()),
            Self::Decision { key, step } => format!("desk:{}:{key}", step.word()),
            Self::AnswerPage { key, page } => format!("desk:filled-{page}:{key}"),
            Self::Fact { place, id, step } => {
                format!("{}:{}:{}:{}", place.word(), step.word(), id.fact, id.campaign.0)
            }
            Self::FactsPage(after) => format!("facts:page:{after}"),
            Self::RemoveEntity(id) => format!("entity:remove:{id}"),
            Self::KeepEntity => "entity:keep".to_owned(),
            Self::Import { key, knows_secrets: true } => format!("import:npc:{key}"),
            Self::Import { key, knows_secrets: false } => format!("import:dm:{key}"),
            Self::Setup(choice) => format!("setup:{}", choice.word()),
            Self::DeleteOwn(user) => format!("privacy:delete:{user}"),
            Self::Purge(user) => format!("privacy:purge:{user}"),
            Self::HearVoice(npc) => format!("voice:hear:{npc}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_is_read_as_what_it_was_written_for() {
        let id = FactId { campaign: CampaignKey("the-mill".to_owned()), fact: "fact-7".to_owned() };
        let fact = |place, step| Action::Fact { place, id: id.clone(), step };
        let decision = |step| Action::Decision { key: "table-1.3".to_owned(), step };
        let mut all = vec![
            Action::FactsPage(8),
            Action::RemoveEntity("npc:bartok".to_owned()),
            Action::KeepEntity,
            Action::Import { key: "a1".to_owned(), knows_secrets: true },
            Action::Import { key: "a1".to_owned(), knows_secrets: false },
            Action::DeleteOwn(11),
            Action::Purge(12),
            Action::HearVoice(13),
            Action::AnswerPage { key: "table-1.3".to_owned(), page: 2 },
        ];
        all.extend(PanelButton::ALL.iter().map(|button| Action::Panel(*button)));
        all.extend(ConsentButton::ALL.iter().map(|button| Action::Consent(*button)));
        all.extend(SetupChoice::ALL.iter().map(|choice| Action::Setup(*choice)));
        all.extend(DecisionStep::ALL.iter().map(|step| decision(*step)));
        for place in FactPlace::ALL {
            all.extend(FactStep::ALL.iter().map(|step| fact(*place, *step)));
        }
        for action in all {
            assert_eq!(Action::read(&action.id()), Some(action));
        }
        for useless in
            ["", "panel", "panel:dance", "facts:page:x", "fact:accept:alone", "import:all:a1"]
        {
            assert_eq!(Action::read(useless), None, "{useless}");
        }
    }
}
