//! `/entity`: people, places and things of the campaign that is played.
//!
//! Entry items: [`COMMAND`], [`remove`] (once it is confirmed). **Never**: removes anything without
//! a confirmation.

use futures::{FutureExt, future::ready};

use super::{
    answer::{Answer, NextStep, Reply},
    call::Call,
    declared::{Command, Kind, Parameter, Subcommand, Suggested},
    face::Face,
    import,
    text::Refusal,
    world::{order, order_soon, text, told},
};
use crate::{
    campaign::{NewEntity, WorldOrder},
    domain::EntityKind,
    import::campaign::kind,
};

/// Kinds as they are given, and shown.
const KINDS: &[&str] =
    &["npc", "player", "location", "item", "faction", "event", "quest", "concept", "lore"];
/// One of these kinds.
const OF_KIND: Kind = Kind::OneOf(KINDS, 20);
/// The name of an entity that is known.
const KNOWN: Kind = Kind::Suggested(Suggested::Entities, 100);

/// `/entity`.
pub static COMMAND: Command = Command {
    name: "entity",
    description: "People, places and things of the campaign",
    subs: &[
        Subcommand::new(
            "entity add",
            "Add an entity; its name is recognised better from the next session on",
            &[
                Parameter::required("name", "Its name", Kind::Words(80)),
                Parameter::required("type", "Kind of entity", OF_KIND),
                Parameter::new("description", "Description of it", Kind::Words(2_000)),
                Parameter::new(
                    "aliases",
                    "Other names for it, separated by commas",
                    Kind::Words(300),
                ),
                Parameter::new(
                    "secret",
                    "Only game masters see it; NPCs don't know about it",
                    Kind::Flag,
                ),
            ],
            add,
        ),
        Subcommand::new(
            "entity list",
            "List all entities",
            &[Parameter::new("type", "Only this kind", OF_KIND)],
            |face, call| {
                let of = call.text("type").map(kind_of).transpose()?;
                Ok(order(face, WorldOrder::List(of), told))
            },
        ),
        Subcommand::new(
            "entity show",
            "Show an entity and its relations to others",
            &[Parameter::required("name", "Entity to show", KNOWN)],
            |face, call| {
                let name = call.words("name")?.to_owned();
                Ok(order(face, WorldOrder::Show(name), told))
            },
        ),
        Subcommand::new(
            "entity remove",
            "Remove an entity, after asking you to confirm",
            &[
                Parameter::required("name", "Entity to remove", KNOWN),
                Parameter::new("confirm", "Remove it at once", Kind::Flag).only_typed(),
            ],
            ask_to_remove,
        ),
        Subcommand::new(
            "entity import",
            "Import a campaign file, or a file of another program after showing what it brings",
            &[
                Parameter::required(
                    "file",
                    "Campaign file, character card, file of Foundry VTT or Roll20, or notes (a ZIP)",
                    Kind::File,
                ),
                import::SECRETS,
                import::CONFIRM,
            ],
            import::entities,
        ),
    ],
};

fn add(face: &mut dyn Face, call: &Call) -> Result<Answer, Refusal> {
    let aliases = call.text("aliases").unwrap_or_default().split(',').map(str::trim);
    let new = NewEntity {
        name: call.words("name")?.to_owned(),
        kind: kind_of(call.words("type")?)?,
        description: call.text("description").unwrap_or_default().to_owned(),
        aliases: aliases.filter(|it| !it.is_empty()).map(str::to_owned).collect(),
        dm_only: call.flag("secret"),
    };
    Ok(order(face, WorldOrder::Add(new), told))
}

fn kind_of(word: &str) -> Result<EntityKind, Refusal> {
    kind(&word.to_lowercase())
        .ok_or_else(|| format!("invalid kind '{word}' (use one of {})", KINDS.join(", ")).into())
}

/// Asks before anything is removed, unless the caller has confirmed it.
fn ask_to_remove(face: &mut dyn Face, call: &Call) -> Result<Answer, Refusal> {
    let name = call.words("name")?.to_owned();
    let find = WorldOrder::Find(name.clone());
    if call.flag("confirm") {
        let found = face.world(ready(Ok(find)).boxed());
        let removing =
            found.map(|found| found.map(|it| WorldOrder::Remove(it.entity.unwrap_or_default())));
        return Ok(order_soon(face, removing.boxed(), told));
    }
    Ok(order(face, find, |_, answer| {
        let next_step = NextStep::RemoveEntity { id: answer.entity.unwrap_or_default(), name };
        Ok(Reply::private(text(answer.text)).followed_by(next_step))
    }))
}

/// Removes the entity of this id, as its caller has confirmed.
pub fn remove(face: &mut dyn Face, id: String) -> Answer {
    order(face, WorldOrder::Remove(id), told)
}

#[cfg(test)]
mod tests {
    use super::{super::stand_in::Recorded, *};
    use crate::{
        commands::Value,
        session::{Speaker, SpeakerId},
    };

    fn answered(sub: &str, values: Vec<(&'static str, Value)>) -> (Vec<String>, String) {
        let speaker = Speaker { id: SpeakerId(11), name: "Max".to_owned(), is_dm: true };
        let mut table = Recorded::table();
        let answer = table.carries_out(COMMAND.sub(sub).unwrap(), &Call::new(speaker, values));
        (table.orders, answer)
    }

    #[test]
    fn entity_is_removed_only_when_confirmed() {
        let name = || ("name", Value::Words("mill".to_owned()));
        let (orders, answer) = answered("remove", vec![name()]);
        assert_eq!(orders, ["world Find(\"mill\")"]);
        assert!(answer.ends_with("/entity remove mill confirm"), "{answer}");
        let (orders, answer) = answered("remove", vec![name(), ("confirm", Value::Flag(true))]);
        assert_eq!(orders, ["world Find(\"mill\")", "world Remove(\"old-mill\")"]);
        assert!(!answer.contains("confirm"), "{answer}");
    }

    #[test]
    fn new_entity_has_what_was_given() {
        let words = |name, text: &str| (name, Value::Words(text.to_owned()));
        let mut given = vec![words("name", "Old Mill"), words("type", "Location")];
        given.push(words("aliases", "the mill, , ruin"));
        given.push(("secret", Value::Flag(true)));
        let (orders, _) = answered("add", given);
        let [order] = orders.as_slice() else { panic!("{orders:?}") };
        for part in ["Location", r#"aliases: ["the mill", "ruin"]"#, "dm_only: true"] {
            assert!(order.contains(part), "{part}: {order}");
        }
        let (orders, why) = answered("add", vec![words("name", "Inn"), words("type", "pub")]);
        assert!(orders.is_empty() && why.starts_with("invalid kind 'pub'"), "{why}");
    }
}
