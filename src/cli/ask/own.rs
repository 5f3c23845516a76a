//! Commands of terminals only. Entry function: [`all`].

use crate::{
    commands::{
        self, Call, Command, Face, Kind, Parameter, Refusal, Reply, Subcommand, Text, usage,
    },
    session::Command as TableCommand,
};

/// Longest dice expression, in characters.
const DICE_MAX: u16 = 200;

/// `/session`, with a recap.
static SESSION: Command = Command {
    name: "session",
    description: commands::OF_SESSION,
    subs: &[commands::SESSION_STATUS, commands::SESSION_RECAP],
};

static ROLL: Command = Command {
    name: "roll",
    description: "Roll dice",
    subs: &[Subcommand::new(
        "roll",
        "Roll dice yourself: 2d6+3, 1d20 adv, 4d6kh3, again",
        &[Parameter::required(
            "expression",
            "Dice, as notation or in words",
            Kind::Words(DICE_MAX),
        )],
        |face, call| Ok(Reply::public(Text::lines(thrown(face, call)?)).into()),
    )
    .for_all()],
};

static SKIP: Command = Command {
    name: "skip",
    description: "End the current answer",
    subs: &[Subcommand::new(
        "skip",
        "End the current answer and go on with the next speaker",
        &[],
        |face, _| commands::skip(face),
    )],
};

static PAUSE: Command = Command {
    name: "pause",
    description: "Have no NPC answer",
    subs: &[Subcommand::new("pause", "Have no NPC answer until /resume", &[], |face, _| {
        commands::pause(face)
    })],
};

static RESUME: Command = Command {
    name: "resume",
    description: "Have NPCs answer again",
    subs: &[Subcommand::new(
        "resume",
        "Have NPCs answer again, after an X-card too",
        &[],
        commands::resume_all,
    )
    .for_all()],
};

static LEAVE: Command = Command {
    name: "leave",
    description: "Leave the table",
    subs: &[Subcommand::new("leave", "Leave the table until your next line", &[], |face, call| {
        face.tell(TableCommand::Leave(call.speaker.id))?;
        Ok(Reply::private("You have left; the next line brings you back.").into())
    })
    .for_all()],
};

static HELP: Command = Command {
    name: "help",
    description: "List the commands",
    subs: &[Subcommand::new("help", "List the commands", &[], |_, call| {
        let subs = all().into_iter().flat_map(|command| command.subs);
        let may = subs.filter(|sub| sub.for_all || call.speaker.is_dm);
        let lines = may.map(|sub| format!("{} · {}", usage(sub), sub.description));
        let lines = lines.chain(["quit or Ctrl-D leaves".to_owned()]);
        Ok(Reply::private(Text::lines(lines.map(Text::from))).into())
    })
    .for_all()],
};

/// Rolls the dice of a call: one text per roll.
fn thrown(face: &dyn Face, call: &Call) -> Result<Vec<Text>, Refusal> {
    let fallen = face.dice().roll(call.words("expression")?, &call.speaker.name)?;
    Ok(fallen.into_iter().map(|it| Text::from(it.text)).collect())
}

/// Every command of a terminal, in the order of `/help`.
pub fn all() -> Vec<&'static Command> {
    let own =
        |shared: &'static Command| if shared.name == SESSION.name { &SESSION } else { shared };
    commands::ALL
        .into_iter()
        .map(own)
        .chain([&commands::WHY, &ROLL, &SKIP, &PAUSE, &RESUME, &LEAVE, &HELP])
        .collect()
}
