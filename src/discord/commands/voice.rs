//! The button under `/npc voice` that lets the table hear the voice.
//!
//! Entry functions: [`button`], [`hear`]. **Never**: trusts that only game masters press.

use serenity::all::{ButtonStyle, CreateButton};

use super::answer::Refusal;
use crate::{
    commands::{self, Face},
    discord::{
        guild::Guild,
        ui::action::{Action, ButtonPress},
    },
    domain::fnv1a,
    session::{Speaker, SpeakerId},
};

/// The button for the NPC called `npc`.
pub fn button(npc: &str) -> CreateButton {
    CreateButton::new(Action::HearVoice(hash(npc)).id())
        .label("Hear it")
        .style(ButtonStyle::Secondary)
}

/// Lets the NPC of a pressed button say how it sounds; game masters only.
pub fn hear(guild: &mut Guild, press: &ButtonPress, npc: u64) -> Result<commands::Answer, Refusal> {
    if !press.is_dm {
        return Err(guild.only_dms().into());
    }
    let seats = guild.table()?.seats;
    let seated = seats.iter().find(|seated| hash(&seated.npc.name) == npc);
    let gone = "that NPC is not at the table any more (use /npc list)";
    let name = seated.ok_or(gone)?.npc.name.clone();
    let id = SpeakerId(press.user.get());
    let speaker = Speaker { id, name: press.name.clone(), is_dm: press.is_dm };
    commands::hear_voice(guild, speaker, &name)
}

/// A name may be longer than the id of a button.
fn hash(npc: &str) -> u64 {
    fnv1a(npc.bytes())
}
