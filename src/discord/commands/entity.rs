//! `/entity`: what there is in the world of the campaign.
//!
//! Entry items: [`COMMAND`], [`removed`] and [`keep`] (its buttons). **Never**: removes anything at once.

use serenity::all::{ButtonStyle, CreateActionRow, CreateButton, CreateCommand};

use super::{
    answer::{Answer, Refusal},
    command::{Call, Own, Who},
    parts, world,
};
use crate::{
    campaign::{NewEntity, WorldAnswer, WorldOrder},
    discord::{
        guild::Guild,
        ui::{
            action::{Action, ButtonPress},
            reply::Reply,
        },
    },
    domain::EntityKind,
    import::campaign::kind,
};

/// `/entity`.
pub const COMMAND: Own = Own { name: "entity", register, who: |_| Who::Dm, run, complete };

/// Longest name, aliases and description, in characters.
const LONGEST_NAME: u16 = 80;
const LONGEST_ALIASES: u16 = 300;
const LONGEST_DESCRIPTION: u16 = 2_000;
/// Longest id of a button.
const BUTTON_MAX: usize = 100;
/// Kinds as they are typed, and shown.
const KINDS: &[&str] =
    &["npc", "player", "location", "item", "faction", "event", "quest", "concept", "lore"];

fn register() -> CreateCommand {
    let name = |text| parts::npc("name", text).required(true);
    let kind = |text| parts::one_of("type", text, 20, KINDS.iter().copied());
    parts::command("entity", "People, places and things of the campaign")
        .add_option(
            parts::sub(
                "add",
                "Add an entity; its name is recognised better from the next session on",
            )
            .add_sub_option(parts::words("name", "Its name", LONGEST_NAME).required(true))
            .add_sub_option(kind("Kind of entity").required(true))
            .add_sub_option(parts::words("description", "Description of it", LONGEST_DESCRIPTION))
            .add_sub_option(parts::words(
                "aliases",
                "Other names for it, separated by commas",
                LONGEST_ALIASES,
            ))
            .add_sub_option(parts::flag(
                "secret",
                "Only game masters see it; NPCs don't know about it",
            )),
        )
        .add_option(parts::sub("list", "List all entities").add_sub_option(kind("Only this kind")))
        .add_option(
            parts::sub("show", "Show an entity and its relations to others")
                .add_sub_option(name("Entity to show")),
        )
        .add_option(
            parts::sub("remove", "Remove an entity, after asking you to confirm")
                .add_sub_option(name("Entity to remove")),
        )
        .add_option(
            parts::sub("import", "Import a campaign file, as a whole or not at all")
                .add_sub_option(parts::file("file", "A campaign file (YAML)").required(true)),
        )
}

fn complete(guild: &Guild, option: &str) -> Vec<String> {
    if option == "name" { guild.entities().to_vec() } else { Vec::new() }
}

fn run(guild: &mut Guild, call: &Call) -> Result<Answer, Refusal> {
    let order = match call.path.as_str() {
        "add" => added(call)?,
        "show" => WorldOrder::Show(call.words("name")?.to_owned()),
        "remove" => return remove(guild, call),
        "import" => return world::order_with_file(guild, call, WorldOrder::Import, shown),
        _ => WorldOrder::List(call.text("type").map(kind_of).transpose()?),
    };
    Ok(world::order(guild, order, shown))
}

fn added(call: &Call) -> Result<WorldOrder, Refusal> {
    let aliases = call.text("aliases").unwrap_or_default().split(',').map(str::trim);
    Ok(WorldOrder::Add(NewEntity {
        name: call.words("name")?.to_owned(),
        kind: kind_of(call.words("type")?)?,
        description: call.text("description").unwrap_or_default().to_owned(),
        aliases: aliases.filter(|it| !it.is_empty()).map(str::to_owned).collect(),
        dm_only: call.flag("secret"),
    }))
}

fn kind_of(word: &str) -> Result<EntityKind, Refusal> {
    kind(word)
        .ok_or_else(|| format!("invalid kind '{word}' (use one of {})", KINDS.join(", ")).into())
}

/// Asks before anything is removed.
fn remove(guild: &Guild, call: &Call) -> Result<Answer, Refusal> {
    let order = WorldOrder::Find(call.words("name")?.to_owned());
    Ok(world::order(guild, order, |_, answer| {
        let id = Action::RemoveEntity(answer.entity.unwrap_or_default()).id();
        if id.chars().count() > BUTTON_MAX {
            return Reply::private("its id is too long for a button (choose a shorter id)");
        }
        let yes = CreateButton::new(id).label("Remove it").style(ButtonStyle::Danger);
        let no = CreateButton::new(Action::KeepEntity.id()).label("Keep it");
        let no = no.style(ButtonStyle::Secondary);
        let row = CreateActionRow::Buttons(vec![yes, no]);
        Reply::private(answer.text).with_rows(vec![row])
    }))
}

/// The button that removes the entity of this id.
///
/// # Errors
/// It is a game master's to press.
pub fn removed(guild: &Guild, press: &ButtonPress, id: String) -> Result<Answer, Refusal> {
    if !press.is_dm {
        return Err(guild.only_dms().into());
    }
    Ok(world::order(guild, WorldOrder::Remove(id), shown))
}

/// The button that keeps it.
///
/// # Errors
/// It is a game master's to press.
pub fn keep(guild: &Guild, press: &ButtonPress) -> Result<Answer, Refusal> {
    match press.is_dm {
        true => Ok(Answer::Replace(Reply::private("Nothing was removed."))),
        false => Err(guild.only_dms().into()),
    }
}

fn shown(_: &mut Guild, answer: WorldAnswer) -> Reply {
    Reply::private(answer.text)
}
