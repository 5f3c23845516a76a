//! `/setup`: checks requirements, shows settings, and tests the microphone.
//!
//! Entry items: [`COMMAND`], [`choose`]. **Never**: changes settings of the configuration file.

use futures::FutureExt;
use serenity::all::{
    ButtonStyle, ChannelId, ChannelType, CreateActionRow, CreateButton, CreateCommand,
    CreateSelectMenu, CreateSelectMenuKind, CreateSelectMenuOption, Permissions, RoleId, UserId,
};

use super::{
    answer::{Answer, Refusal},
    command::{Call, Own, Who},
    parts,
};
use crate::{
    campaign::Consent,
    discord::{
        access,
        guild::Guild,
        ui::{
            action::{Action, ButtonPress, SetupChoice},
            notices,
            reply::Reply,
        },
    },
};

pub const COMMAND: Own =
    Own { name: "setup", register, who: |_| Who::Manager, run, complete: |_, _| Vec::new() };

fn register() -> CreateCommand {
    parts::command("setup", "Check my permissions, choose the game masters, test the sound")
        .default_member_permissions(Permissions::MANAGE_GUILD)
        .add_option(parts::words("code", "Code from the bot's owner that approves this server", 40))
}

fn run(guild: &mut Guild, call: &Call) -> Result<Answer, Refusal> {
    // Unapproved servers only get this far with the code.
    if call.text("code").is_some() && !guild.settings().let_in {
        guild.change_settings(|settings| settings.let_in = true);
    }
    Ok(view(guild, call.user, call.channel).into())
}

/// Handles a choice or a button below the answer of `/setup`, from members with the right to manage
/// the server.
pub fn choose(
    guild: &mut Guild,
    press: &ButtonPress,
    choice: SetupChoice,
) -> Result<Answer, Refusal> {
    if !press.may.manage_guild() {
        return Err("only members who may manage the server can do this".into());
    }
    let chosen = press.values.first().map(String::as_str);
    let id = chosen.and_then(|id| id.parse::<u64>().ok()).filter(|id| *id > 0);
    match choice {
        SetupChoice::Role => guild.change_settings(|settings| settings.dm_role = id),
        SetupChoice::Log => {
            if let Some(lacks) = id.and_then(|id| lacks(guild, ChannelId::new(id))) {
                return Err(lacks.into());
            }
            guild.change_settings(|settings| settings.log_channel = id);
        }
        SetupChoice::Consent => {
            let consent = match chosen {
                Some("ask") => Consent::Ask,
                Some("notice") => Consent::Notice,
                _ => return Err("unknown kind of consent (choose one from the list)".into()),
            };
            guild.change_settings(|settings| settings.consent = Some(consent));
        }
        SetupChoice::Test => {
            return Ok(Answer::later(guild.check_mic(press.user)?.map(Reply::private)));
        }
    }
    guild.seat_people();
    Ok(Answer::Replace(view(guild, press.user, press.channel)))
}

/// Reason the bot cannot write to channel `id`; `None`: it can, or the server is not cached yet.
fn lacks(guild: &Guild, id: ChannelId) -> Option<String> {
    let cached = guild.shared.cache.guild(guild.id)?;
    let Some(channel) = cached.channels.get(&id) else {
        return Some(format!("I cannot see <#{id}> (give me View Channel there)"));
    };
    let lacks = access::lacks_text(&cached, channel, guild.shared.me);
    let text = lacks.join(", ");
    (!lacks.is_empty())
        .then(|| format!("I lack {text} in <#{id}> (grant it there, then choose again)"))
}

fn view(guild: &Guild, user: UserId, channel: ChannelId) -> Reply {
    let mut text = permissions(guild, user, channel);
    if let Some(why) = guild.cannot_hear() {
        text.push_str(&format!("❌ {}\n\n", notices::cannot_hear(&why)));
    }
    text.push_str(&set(guild));
    text.push_str(&given(guild.shared.handles.settings.load().budget.session_max));
    let mut languages: Vec<String> = guild.cast().iter().map(|npc| npc.language.clone()).collect();
    languages.sort();
    languages.dedup();
    let languages = languages.join(", ");
    text.push_str(&format!("Language of the NPCs: {languages} (`language` in their files)\n"));
    if guild.session().is_err() {
        text.push_str("\nTo try the sound, use /session start, then press Test.");
    }
    Reply::private(text).titled("Setup").with_rows(rows(guild))
}

/// A tick or a cross for each requirement, with the fix.
fn permissions(guild: &Guild, user: UserId, channel: ChannelId) -> String {
    let me = guild.shared.me;
    let Some(cached) = guild.shared.cache.guild(guild.id) else {
        return "Discord hasn't described this server to me yet (try again in a few seconds)\n\n"
            .to_owned();
    };
    let voice = cached.voice_states.get(&user).and_then(|state| state.channel_id);
    let voice = voice.and_then(|id| cached.channels.get(&id));
    let text = cached.channels.get(&channel);
    let needs = access::needs(&cached, access::Channels { voice, text }, me);
    let mut lines: String = needs
        .iter()
        .map(|(name, has)| format!("{} {name}\n", if *has { "✅" } else { "❌" }))
        .collect();
    if needs.iter().any(|(_, has)| !has) {
        lines.push_str(
            "→ grant everything with a cross in the channel's settings, under Permissions\n",
        );
    }
    match voice {
        None => lines.push_str("➖ join a voice channel and use /setup again to check it too\n"),
        Some(voice) => {
            let other = access::lacks_voice(&cached, voice, me).filter(|_| {
                // Missing permissions are already marked with a cross.
                needs.iter().all(|(_, has)| *has)
            });
            lines.extend(other.map(|why| format!("❌ {why}\n")));
        }
    }
    lines.push('\n');
    lines
}

/// This server's settings as text.
fn set(guild: &Guild) -> String {
    let (settings, options) = (guild.settings(), &guild.shared.options);
    let role = match settings.dm_role.or(options.dm_role) {
        _ if options.everyone_is_dm => "everyone (everyone_is_dm in glyphoxa.yaml)".to_owned(),
        Some(role) => format!("<@&{role}>"),
        None => "members who may manage the server".to_owned(),
    };
    let log = settings.log_channel.map_or_else(
        || "in the channel of the session's panel".to_owned(),
        |channel| format!("<#{channel}>"),
    );
    let consent = match guild.consent() {
        Consent::Notice => "players are notified that they are heard, and may opt out",
        Consent::Ask => "players are heard only after pressing a button",
    };
    format!(
        "Game masters: {role}\nApprovals and messages to the game master: {log}\nConsent: \
         {consent}\n"
    )
}

/// The configuration's settings as text.
fn given(cap: Option<f64>) -> String {
    let budget = match cap {
        Some(cap) => format!("at most {cap:.2} per session"),
        None => "no cap".to_owned(),
    };
    format!("Budget: {budget} (budget.session_max in glyphoxa.yaml)\n")
}

fn rows(guild: &Guild) -> Vec<CreateActionRow> {
    let settings = guild.settings();
    let menu = |choice, kind, hint: &str| {
        CreateSelectMenu::new(Action::Setup(choice).id(), kind).placeholder(hint)
    };
    let default_roles = settings.dm_role.map(|role| vec![RoleId::new(role)]);
    let role = menu(
        SetupChoice::Role,
        CreateSelectMenuKind::Role { default_roles },
        "Role of game masters",
    );
    let channels = CreateSelectMenuKind::Channel {
        channel_types: Some(vec![ChannelType::Text]),
        default_channels: settings.log_channel.map(|channel| vec![ChannelId::new(channel)]),
    };
    let log =
        menu(SetupChoice::Log, channels, "Channel for approvals and messages to the game master");
    let way = |value: &str, label: &str, consent| {
        let is_set = guild.consent() == consent;
        CreateSelectMenuOption::new(label, value).default_selection(is_set)
    };
    let options = vec![
        way("notice", "Players are notified, and may opt out", Consent::Notice),
        way("ask", "Players are heard only after pressing a button", Consent::Ask),
    ];
    let consent = menu(SetupChoice::Consent, CreateSelectMenuKind::String { options }, "Consent");
    let test = CreateButton::new(Action::Setup(SetupChoice::Test).id())
        .label("Test")
        .style(ButtonStyle::Primary);
    vec![
        CreateActionRow::SelectMenu(role.min_values(0).max_values(1)),
        CreateActionRow::SelectMenu(log.min_values(0).max_values(1)),
        CreateActionRow::SelectMenu(consent),
        CreateActionRow::Buttons(vec![test.disabled(guild.session().is_err())]),
    ]
}
