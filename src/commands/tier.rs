//! `/tier`: time and thought of answers. The table selects tiers itself.

use std::time::Duration;

use tokio::time::Instant;

use super::{
    answer::{Answer, Reply, with_status},
    call::Call,
    declared::{Command, Kind, Parameter, Subcommand, WORD_MAX},
    face::{Face, seat},
    text::{Refusal, Text},
};
use crate::{
    domain::Tier,
    session::{Command as TableCommand, SeatStatus, Status},
};

/// Half a day.
const MINUTES_MAX: u32 = 720;

const NPC: Parameter = Parameter::new("npc", "Only this NPC (default: all)", Kind::Npc);

pub static COMMAND: Command = Command {
    name: "tier",
    description: "Set how much time and thought answers may take",
    subs: &[
        Subcommand::new(
            "tier set",
            "Set the tier, whatever is asked, from the next answer on",
            &[
                Parameter::required(
                    "tier",
                    "Fast: quick and short; deep: slow, with every tool",
                    Kind::OneOf(&["fast", "standard", "deep"], WORD_MAX),
                ),
                NPC,
                Parameter::new(
                    "minutes",
                    "Number of minutes (default: until cleared)",
                    Kind::Count(MINUTES_MAX),
                ),
            ],
            set,
        ),
        Subcommand::new(
            "tier clear",
            "Remove the override: answers depend on what is asked again",
            &[NPC],
            |face, call| order(face, call, None, None),
        ),
        Subcommand::new("tier show", "Show each NPC's tier, and why", &[], |face, _| {
            with_status(face, |_, status| Ok(tiers(&status).of(status)))
        }),
    ],
};

fn set(face: &mut dyn Face, call: &Call) -> Result<Answer, Refusal> {
    let tier: Tier = call.words("tier")?.parse()?;
    let minutes = call.count("minutes", MINUTES_MAX)?;
    let length = minutes.map(|minutes| Duration::from_secs(u64::from(minutes) * 60));
    order(face, call, Some(tier), length.map(|length| Instant::now() + length))
}

fn order(
    face: &mut dyn Face,
    call: &Call,
    tier: Option<Tier>,
    until: Option<Instant>,
) -> Result<Answer, Refusal> {
    let seat = call.text("npc").map(|name| seat(face, name)).transpose()?.map(|(seat, _)| seat);
    face.tell(TableCommand::SetTier { seat, tier, until })?;
    with_status(face, |_, status| Ok(tiers(&status)))
}

fn tiers(status: &Status) -> Reply {
    Reply::private(Text::lines(status.seats.iter().map(shown))).titled("Tiers")
}

/// An NPC's tier: its own limit, the game master's setting, and its last turn's.
fn shown(seat: &SeatStatus) -> Text {
    let mut line = format!(" · up to {}", seat.ceiling);
    match seat.override_ {
        Some((tier, Some(left))) => {
            line.push_str(&format!(" · set to {tier}, {} left", time(left)));
        }
        Some((tier, None)) => line.push_str(&format!(" · set to {tier}")),
        None => {}
    }
    line.push_str(&match &seat.last_selection {
        Some(last) => format!(" · last answer: {} ({})", last.effective, last.reason),
        None => " · no answer yet".to_owned(),
    });
    Text::of(&seat.name).plain(line)
}

/// In whole minutes, near the end in seconds; never less than is left.
fn time(left: Duration) -> String {
    match left.as_millis().div_ceil(1_000) {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds => format!("{} min", seconds.div_ceil(60)),
    }
}

#[cfg(test)]
mod tests {
    use super::{super::stand_in::seat, *};
    use crate::session::TierLine;

    #[test]
    fn tier_is_shown_with_time_and_reason() {
        let mut bartok = seat("Bartok");
        let shown = |seat: &SeatStatus| super::shown(seat).rendered(|it| format!("{it:?} "));
        assert!(shown(&bartok).contains("\" · up to standard · no answer yet\""));
        bartok.override_ = Some((Tier::Deep, Some(Duration::from_millis(121_500))));
        bartok.last_selection = Some(TierLine {
            selected: Tier::Fast,
            effective: Tier::Deep,
            reason: "game master's override; else default".to_owned(),
        });
        assert!(
            shown(&bartok).contains(
                "Strong(\"Bartok\") Plain(\" · up to standard · set to deep, 3 min left · last \
                 answer: deep (game master's override; else default)\")"
            ),
            "{}",
            shown(&bartok)
        );
        bartok.override_ = Some((Tier::Fast, None));
        assert!(shown(&bartok).contains(" · set to fast · last"));
        assert_eq!(time(Duration::from_millis(900)), "1 s");
    }

    #[test]
    fn tiers_offered_are_all_there_are() {
        let kind = COMMAND.parameter("tier").map(|it| it.kind);
        let Some(Kind::OneOf(words, _)) = kind else { panic!("{kind:?}") };
        assert!(words.iter().copied().eq(Tier::ALL.iter().map(|it| it.name())));
    }
}
