//! `/tier`: how much time and thought the answers may take.
//!
//! Entry item: [`COMMAND`]. **Never**: selects a tier itself.

use std::time::Duration;

use serenity::all::CreateCommand;
use tokio::time::Instant;

use super::{
    answer::{Answer, Refusal, with_status},
    choices::npc_names,
    command::{Call, Command, Who},
    parts,
};
use crate::{
    discord::{guild::Guild, ui::reply::Reply},
    domain::Tier,
    session::{Command as TableCommand, SeatStatus},
};

/// `/tier`.
pub const COMMAND: Command = Command { name: "tier", register, who: |_| Who::Dm, run, complete };

/// Longest time a tier can be set for: half a day.
const MINUTES_MAX: u32 = 720;

fn register() -> CreateCommand {
    let text = "Fast: quick and short; deep: slow, with every tool";
    let tier = parts::one_of("tier", text, 16, Tier::ALL.iter().map(|it| it.name())).required(true);
    let npc = |text| parts::npc("npc", text);
    let minutes =
        parts::count("minutes", "Number of minutes (default: until cleared)", MINUTES_MAX);
    parts::command("tier", "Set how much time and thought answers may take")
        .add_option(
            parts::sub("set", "Set the tier, whatever is asked, from the next answer on")
                .add_sub_option(tier)
                .add_sub_option(npc("Only this NPC (default: all)"))
                .add_sub_option(minutes),
        )
        .add_option(
            parts::sub("clear", "Remove the override: answers depend on what is asked again")
                .add_sub_option(npc("Only this NPC (default: all)")),
        )
        .add_option(parts::sub("show", "Show each NPC's tier, and why"))
}

fn complete(guild: &Guild, option: &str) -> Vec<String> {
    if option == "npc" { npc_names(guild) } else { Vec::new() }
}

fn run(guild: &mut Guild, call: &Call) -> Result<Answer, Refusal> {
    let seat = match call.text("npc") {
        Some(name) => Some(guild.seat(name)?.0),
        None => None,
    };
    let order = match call.path.as_str() {
        "set" => {
            let tier: Tier = call.words("tier")?.parse()?;
            let until = minutes(call)?.map(|length| Instant::now() + length);
            Some(TableCommand::SetTier { seat, tier: Some(tier), until })
        }
        "clear" => Some(TableCommand::SetTier { seat, tier: None, until: None }),
        _ => None,
    };
    if let Some(order) = order {
        guild.tell(order)?;
    }
    with_status(guild, |_, status| {
        let lines: Vec<String> = status.seats.iter().map(shown).collect();
        Ok(Reply::private(lines.join("\n")).titled("Tiers"))
    })
}

/// How long a tier is set for.
fn minutes(call: &Call) -> Result<Option<Duration>, Refusal> {
    let Some(given) = call.whole("minutes") else { return Ok(None) };
    match u32::try_from(given) {
        Ok(minutes @ 1..=MINUTES_MAX) => Ok(Some(Duration::from_secs(u64::from(minutes) * 60))),
        _ => Err(format!("invalid number of minutes '{given}' (use 1 to {MINUTES_MAX})").into()),
    }
}

/// One NPC's tier: how high it goes by itself, what the game master set, and its last turn's.
fn shown(seat: &SeatStatus) -> String {
    let mut line = format!("**{}** · up to {}", seat.name, seat.ceiling);
    match seat.override_ {
        Some((tier, Some(left))) => {
            line.push_str(&format!(" · set to {tier}, {} left", time(left)))
        }
        Some((tier, None)) => line.push_str(&format!(" · set to {tier}")),
        None => {}
    }
    line.push_str(&match &seat.last_selection {
        Some(last) => format!(" · last answer: {} ({})", last.effective, last.reason),
        None => " · no answer yet".to_owned(),
    });
    line
}

/// A time in whole minutes, near its end in seconds; never less than is left.
fn time(left: Duration) -> String {
    match left.as_millis().div_ceil(1_000) {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds => format!("{} min", seconds.div_ceil(60)),
    }
}

#[cfg(test)]
mod tests {
    use super::{super::tests::seat, *};
    use crate::session::TierLine;

    #[test]
    fn a_tier_is_shown_with_its_time_and_its_reason() {
        let mut bartok = seat("Bartok");
        assert_eq!(shown(&bartok), "**Bartok** · up to standard · no answer yet");
        bartok.override_ = Some((Tier::Deep, Some(Duration::from_millis(121_500))));
        bartok.last_selection = Some(TierLine {
            selected: Tier::Fast,
            effective: Tier::Deep,
            reason: "game master's override; else default".to_owned(),
        });
        assert_eq!(
            shown(&bartok),
            "**Bartok** · up to standard · set to deep, 3 min left · last answer: deep (game \
             master's override; else default)"
        );
        bartok.override_ = Some((Tier::Fast, None));
        assert!(shown(&bartok).contains(" · set to fast · last"));
        assert_eq!(time(Duration::from_millis(900)), "1 s");
    }
}
