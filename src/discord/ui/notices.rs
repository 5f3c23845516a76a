//! The notice that the characters listen: aloud, and in writing with its buttons.
//!
//! Entry functions: [`spoken`], [`written`]. **Never**: decides who is told.

use serenity::all::{ButtonStyle, CreateActionRow, CreateButton, CreateMessage};

use crate::{
    campaign::Consent,
    discord::ui::{
        action::{Action, ConsentButton},
        names::escaped,
    },
};

/// What is said aloud.
pub fn spoken(consent: Consent) -> &'static str {
    match consent {
        Consent::Notice => {
            "Hello. The characters of this game listen in this channel. To opt out, type slash \
             privacy."
        }
        Consent::Ask => {
            "Hello. The characters of this game would like to listen in this channel. Nobody is \
             heard before pressing the button in the text channel."
        }
    }
}

/// What people of these names, in the channel `voice`, read.
pub fn written(names: &[&str], voice: u64, consent: Consent) -> CreateMessage {
    let names: Vec<String> = names.iter().map(|name| escaped(name)).collect();
    let names = names.join(", ");
    let (text, buttons) = match consent {
        Consent::Notice => (
            format!(
                "**{names}**: the characters of this game listen in <#{voice}>. What you say is \
                 turned into text, answered and written down; the sound is not kept. You may opt \
                 out at any time; /privacy info says where it goes."
            ),
            vec![opt_out()],
        ),
        Consent::Ask => (
            format!(
                "**{names}**: the characters of this game would like to listen in <#{voice}>. What \
                 you say is turned into text, answered and written down; the sound is not kept. \
                 You are not heard before you press the button. /privacy info says where it goes."
            ),
            vec![opt_in().style(ButtonStyle::Primary), opt_out()],
        ),
    };
    CreateMessage::new().content(text).components(vec![CreateActionRow::Buttons(buttons)])
}

/// The button that has the presser not be heard.
pub fn opt_out() -> CreateButton {
    CreateButton::new(Action::Consent(ConsentButton::Out).id())
        .label("Do not hear me")
        .style(ButtonStyle::Secondary)
}

/// The button that has the presser be heard.
pub fn opt_in() -> CreateButton {
    CreateButton::new(Action::Consent(ConsentButton::In).id())
        .label("Let the characters hear me")
        .style(ButtonStyle::Secondary)
}
