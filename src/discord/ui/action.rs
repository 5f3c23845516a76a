//! Actions of buttons, menus and forms, and the ids that Discord stores for them.
//!
//! Entry types: [`Action`], [`ButtonPress`]. An id holds all that its button needs, so that it outlives a
//! restart. **Never**: trusts that only those can press who were meant.

use serenity::all::{ChannelId, Permissions, UserId};

use crate::{campaign::FactId, domain::CampaignKey};

/// Somebody pressed a button, chose from a menu, or filled in a form.
#[derive(Debug)]
pub struct ButtonPress {
    /// The user who pressed.
    pub user: UserId,
    /// Their display name in the server.
    pub name: String,
    /// True if they are a game master here.
    pub is_dm: bool,
    /// Their permissions in this channel.
    pub may: Permissions,
    /// The channel of the message.
    pub channel: ChannelId,
    /// Chosen values, or each field of the form, in order.
    pub values: Vec<String>,
}

/// Everything that can be pressed, chosen or filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// A button of the panel.
    Panel(PanelButton),
    /// Choice of the presser to be heard or not from now on.
    Consent(ConsentButton),
    /// A step towards a decision that waits.
    Decision {
        /// The request's key.
        key: String,
        /// Button that was pressed.
        step: DecisionStep,
    },
    /// A page of a server's question was filled in.
    AnswerPage {
        /// The request's key.
        key: String,
        /// Number of the page, from 0.
        page: usize,
    },
    /// A verdict on a proposed fact, or the form for it.
    Fact {
        /// Place where the fact is shown.
        place: FactPlace,
        /// The fact, and the campaign it is of.
        id: FactId,
        /// Button that was pressed.
        step: FactStep,
    },
    /// Another page of the facts that wait, after so many of them.
    FactsPage(usize),
    /// Removes the entity of this id.
    RemoveEntity(String),
    /// Keeps the entity whose removal was asked for.
    KeepEntity,
    /// A choice below the answer of `/setup`.
    Setup(SetupChoice),
    /// Deletes what this user has said, wherever it was heard.
    DeleteOwn(u64),
    /// Deletes what this user has said on this server.
    Purge(u64),
}

/// A closed set of buttons, each with the word that stands for it in an id.
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
    /// Buttons of the panel.
    PanelButton {
        /// Silences every NPC.
        Mute = "mute",
        /// Nobody is answered until resumed.
        Pause = "pause",
        /// The NPCs answer again.
        Resume = "resume",
        /// Drops what is being said.
        Next = "next",
        /// Stops everything and takes the last exchange back.
        XCard = "xcard",
        /// Fades the music out.
        StopMusic = "music",
        /// Ends the session.
        End = "end",
    }
}

buttons! {
    /// Buttons of a notice.
    ConsentButton {
        /// They agree to be heard.
        In = "in",
        /// They are not heard any more.
        Out = "out",
    }
}

buttons! {
    /// Steps towards a decision.
    DecisionStep {
        /// The call may be made.
        Approve = "approve",
        /// So may later ones of the tool.
        Always = "always",
        /// The call may not be made.
        Deny = "deny",
        /// The form with the call's arguments is wanted.
        Edit = "edit",
        /// The call may be made with the arguments of the form.
        Edited = "edited",
        /// The question, which has no field, is accepted.
        Accept = "accept",
        /// The question is not answered.
        Decline = "decline",
        /// The form of the question's next page is wanted.
        Fill = "fill",
    }
}

buttons! {
    /// Place where a fact is shown; its buttons begin with that word.
    FactPlace {
        /// In a message of its own.
        Message = "fact",
        /// In the list of `/session facts`.
        List = "facts",
    }
}

buttons! {
    /// Verdicts on a fact.
    FactStep {
        /// It holds as it stands.
        Accept = "accept",
        /// It does not hold.
        Reject = "reject",
        /// The form with its words is wanted.
        Edit = "edit",
        /// It holds in the words of the form.
        Edited = "edited",
    }
}

buttons! {
    /// Choices below the answer of `/setup`.
    SetupChoice {
        /// The role of game masters.
        Role = "role",
        /// The channel of approvals and of words to the game master.
        Log = "log",
        /// Consent required of players.
        Consent = "consent",
        /// A test line is played.
        Test = "test",
    }
}

impl Action {
    /// Reads the id of what was pressed; `None`: it is of no use any more.
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
            "privacy" if first == "delete" => last.parse().ok().map(Self::DeleteOwn),
            "privacy" if first == "purge" => last.parse().ok().map(Self::Purge),
            _ => None,
        }
    }

    /// The id that Discord keeps; messages of earlier runs have it too, so it never changes.
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
            Self::Setup(choice) => format!("setup:{}", choice.word()),
            Self::DeleteOwn(user) => format!("privacy:delete:{user}"),
            Self::Purge(user) => format!("privacy:purge:{user}"),
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
            Action::DeleteOwn(11),
            Action::Purge(12),
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
        for useless in ["", "panel", "panel:dance", "facts:page:x", "fact:accept:alone"] {
            assert_eq!(Action::read(useless), None, "{useless}");
        }
    }
}
