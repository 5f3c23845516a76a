//! `/campaign`: which campaign is played.
//!
//! Entry item: [`COMMAND`]. **Never**: changes a session that runs.

use super::{
    answer::{Answer, Reply},
    call::Call,
    declared::{Command, Kind, Parameter, Subcommand, Suggested},
    face::Face,
    text::{Refusal, Text},
    world::{OF_CAMPAIGN, order, order_of_file, text},
    worlds::{Campaigns, Chosen},
};
use crate::campaign::{WorldAnswer, WorldOrder};

/// `/campaign`.
pub static COMMAND: Command = Command {
    name: "campaign",
    description: "Show, load or switch the campaign of this server",
    subs: &[
        Subcommand::new(
            "campaign info",
            "Show the campaign played here and what I remember of it",
            &[],
            |face, _| Ok(order(face, WorldOrder::Info, described)),
        ),
        Subcommand::new(
            "campaign load",
            "Load a campaign file as a separate campaign, and play it",
            &[Parameter::required("file", "A campaign file (YAML)", Kind::File)],
            |face, call| order_of_file(face, call, OF_CAMPAIGN, WorldOrder::Load, loaded),
        ),
        Subcommand::new(
            "campaign switch",
            "Play another campaign from the next session on",
            &[Parameter::required(
                "name",
                "Name of the campaign",
                Kind::Suggested(Suggested::Campaigns, 100),
            )],
            switch,
        ),
    ],
};

fn described(face: &mut dyn Face, answer: WorldAnswer) -> Result<Reply, Refusal> {
    let Campaigns { played, all, fixed } = face.campaigns();
    let more = match fixed {
        None if all.len() > 1 => {
            Some(Text::from(format!("Campaigns: {} (/campaign switch)", all.join(", "))))
        }
        None => None,
        Some(why) => Some(Text::of(&played).plain(format!(" is played here: {why}"))),
    };
    let text = Text::lines([text(answer.text)].into_iter().chain(more));
    Ok(Reply::private(text).titled(played))
}

/// Plays the campaign whose file was taken in.
fn loaded(face: &mut dyn Face, answer: WorldAnswer) -> Result<Reply, Refusal> {
    let text = text(answer.text);
    let Some(campaign) = answer.campaign else { return Ok(Reply::private(text)) };
    let played = face.play(Chosen::Loaded(campaign));
    Ok(Reply::private(Text::lines([text, played])))
}

fn switch(face: &mut dyn Face, call: &Call) -> Result<Answer, Refusal> {
    let name = call.words("name")?;
    let Campaigns { all, fixed, .. } = face.campaigns();
    if let Some(why) = fixed {
        return Err(why.into());
    }
    let Some(at) = all.iter().position(|it| it.to_lowercase() == name.to_lowercase()) else {
        return Err(format!(
            "unknown campaign '{name}' (known: {}; /campaign load adds another)",
            all.join(", ")
        )
        .into());
    };
    let known = all.into_iter().nth(at).filter(|_| at > 0);
    let played = face.play(known.map_or(Chosen::Configured, Chosen::Known));
    let switched = Text::from("Campaign switched; each campaign has its own memory.");
    Ok(Reply::private(Text::lines([switched, played])).into())
}
